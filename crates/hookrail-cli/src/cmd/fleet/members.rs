//! The servers and who may use them.

use std::time::{Duration, Instant};

use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::counted;
use hookrail_app::text::one_line;
use hookrail_fleet::manifest::Name;
use hookrail_fleet::nats::{FleetMember, MemberKey, ReconnectPace};
use hookrail_fleet::servers::{Admission, FleetPlan, MemberRole, Members, MembersError, TenantMember, create_streams};
use serde_json::json;

use super::super::bundle::failure as bundle_failure;
use super::{member, nats_failure};
use crate::args::{FleetAdmitArgs, FleetEnrollArgs, FleetInitArgs, FleetRevokeArgs, FleetRoleArg, FleetSetupArgs};
use crate::cmd::exit::Exit;
use crate::output;

/// How long servers may need until streams can be created.
const SETUP_PATIENCE: Duration = Duration::from_secs(30);

/// The number of servers that keep each message, if there are that many.
const REPLICAS: usize = 3;

pub(super) fn init(args: &FleetInitArgs) -> Result<Exit> {
    let absolute = |path: &std::path::Path| std::path::absolute(path).map_err(|error| Failure::new(error.to_string()));
    let plan = FleetPlan {
        servers: args.servers.clone(),
        tenants: args.tenants.clone(),
        store: absolute(&args.store)?,
        tls: args.tls.as_deref().map(absolute).transpose()?,
    };
    plan.write(&args.folder).map_err(|error| Failure::new(error.to_string()))?;
    let folder = one_line(&args.folder.display().to_string());
    let mut text = format!(
        "written: {folder}, {}, {}\n",
        counted(args.servers.len(), "server"),
        counted(args.tenants.len(), "tenant")
    );
    for server in &args.servers {
        text.push_str(&format!("start: nats-server -c {folder}/{}.conf\n", server.name));
    }
    for tenant in &args.tenants {
        text.push_str(&format!("next: hookrail fleet setup --member {folder}/tenants/{tenant}/administrator.toml\n"));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
}

pub(super) fn setup(args: &FleetSetupArgs) -> Result<Exit> {
    let member = FleetMember::read(&args.member).map_err(|error| bundle_failure(&error))?;
    let enough = member.settings().servers.len() >= REPLICAS;
    let replicas = args.replicas.map_or(if enough { REPLICAS } else { 1 }, usize::from);
    let created = hookrail_app::runtime::runtime()?.block_on(async {
        let begin = Instant::now();
        loop {
            let created = match member.connect(ReconnectPace::AtOnce).await {
                Ok(connection) => create_streams(&member, &connection, replicas, &args.channels).await,
                Err(error) => Err(error),
            };
            match created {
                // Servers that were started a moment ago do not listen yet, or have not agreed on a leader.
                Err(error) if error.is_temporary() && begin.elapsed() < SETUP_PATIENCE => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                end => return end,
            }
        }
    });
    let created = created.map_err(|error| nats_failure(&error))?;
    let copies = counted(replicas, "copy").replace("copys", "copies");
    let text: String = created.iter().map(|stream| format!("stream {stream}: {copies}\n")).collect();
    output::text(&text)?;
    Ok(Exit::Fine)
}

pub(super) fn enroll(args: &FleetEnrollArgs) -> Result<Exit> {
    let member = member(&args.of)?;
    let seed = &member.settings().seed;
    let made = if args.rotate {
        MemberKey::rotate(seed)
    } else {
        MemberKey::generate().and_then(|key| key.write_new(seed).map(|()| key))
    };
    let key = made.map_err(|problem| {
        Failure::new(problem.to_string()).hint("`fleet enroll --rotate` replaces the key of a machine")
    })?;
    let tenant = member.subjects().tenant();
    let name: Name = member.id().to_string().parse().map_err(|error| Failure::new(format!("{error}")))?;
    let channel = member.channel().unwrap_or(&args.channel);
    let entry = TenantMember {
        name,
        key: key.public(),
        signing_key: Some(key.signing_public()),
        role: MemberRole::Machine { channel: channel.clone() },
    };
    let block = entry.permission_block(tenant);
    if args.json {
        let document = json!({
            "tenant": tenant,
            "name": entry.name,
            "key": entry.key,
            "signingKey": entry.signing_key,
            "channel": channel,
            "seed": seed.display().to_string(),
            "permissions": block,
        });
        output::json(&document.into())?;
    } else {
        let replace = if args.rotate { " --replace" } else { "" };
        let text = format!(
            "seed: {}\nkey: {}\nsigning key: {}\nadmit it with: hookrail fleet admit DIR --tenant {tenant} --name {} --channel {channel} --key {} --signing-key {}{replace}\nor add to the users of account {tenant}:\n{block}",
            one_line(&seed.display().to_string()),
            key.public(),
            key.signing_public(),
            entry.name,
            key.public(),
            key.signing_public(),
        );
        output::text(&text)?;
    }
    Ok(Exit::Fine)
}

pub(super) fn admit(args: &FleetAdmitArgs) -> Result<Exit> {
    let role = match args.role {
        FleetRoleArg::Machine => MemberRole::Machine { channel: args.channel.clone() },
        FleetRoleArg::Worker => MemberRole::Worker { group: args.group.clone() },
        FleetRoleArg::Publisher => MemberRole::Publisher,
        FleetRoleArg::Auditor => MemberRole::Auditor,
    };
    let admission = if args.replace { Admission::Replacing } else { Admission::New };
    let member =
        TenantMember { name: args.name.clone(), key: args.key.clone(), signing_key: args.signing_key.clone(), role };
    let admitted = Members::read(&args.folder, &args.tenant).and_then(|mut members| {
        members.admit(member.clone(), admission)?;
        members.write()
    });
    admitted.map_err(|error| members_failure(&error))?;
    output::text(&format!(
        "admitted: {} `{}` of tenant `{}`\nnext: nats-server --signal reload, on each server\n",
        member.role.name(),
        member.name,
        args.tenant
    ))?;
    Ok(Exit::Fine)
}

pub(super) fn revoke(args: &FleetRevokeArgs) -> Result<Exit> {
    let removed = Members::read(&args.folder, &args.tenant).and_then(|mut members| {
        let removed = members.remove(&args.name)?;
        members.write()?;
        Ok(removed)
    });
    let removed = removed.map_err(|error| members_failure(&error))?;
    output::text(&format!(
        "removed: {} `{}` of tenant `{}`\nnext: nats-server --signal reload, on each server\n",
        removed.role.name(),
        removed.name,
        args.tenant
    ))?;
    Ok(Exit::Fine)
}

fn members_failure(error: &MembersError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        MembersError::NoTenant { .. } => failure.hint("name the folder that `hookrail fleet init` wrote"),
        MembersError::Exists(_) => failure.hint("the old key is worth nothing then"),
        _ => failure,
    }
}
