//! `hookrail fleet`: servers, members, the audit of all machines, and announcements of bundles.

use std::collections::BTreeMap;
use std::time::Duration;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::fleet::{
    ShippingStatus, apply_bundle, bundle_failure, enroll as enroll_machine, manifest_document, may_work_later, member,
    members_failure, nats_failure, places, set_up_streams, ship_failure, ship_once, shipping_document,
    verification_document,
};
use hookrail_app::runtime::runtime;
use hookrail_app::text::{counted, one_line};
use hookrail_fleet::BundleError;
use hookrail_fleet::announce::{self, LookEnd, WatchCause, WatchOptions};
use hookrail_fleet::audit::{ShipError, ShippedCount, Shipper, VerifyOptions, verify_fleet};
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::install::ApplyEnd;
use hookrail_fleet::nats::{FleetMember, MemberPublicKey, ReconnectPace};
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::servers::{Admission, FleetPlan, MemberRole, Members, TenantMember};
use hookrail_journal::Journal;
use serde_json::json;

use super::journal;
use crate::args::{
    FleetAdmitArgs, FleetArgs, FleetCommand, FleetEnrollArgs, FleetInitArgs, FleetMemberArgs, FleetRevokeArgs,
    FleetRoleArg, FleetSetupArgs, FleetShipArgs, FleetStatusArgs, FleetVerifyArgs, FleetWatchArgs,
};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::fleet::{label, shipping_status, verification};
use hookrail_app::signals::Interrupts;

/// How often servers that could not be reached at the start are tried again.
const START_AGAIN: Duration = Duration::from_secs(5);

/// With `--follow`, servers are tried again for ever, and each time after so long a warning says so.
const FOLLOW_PATIENCE: Duration = Duration::from_secs(60);

/// The number of servers that keep each message, if there are that many.
const REPLICAS: usize = 3;

pub(crate) fn run(args: &FleetArgs) -> Result<Exit> {
    match &args.command {
        FleetCommand::Init(args) => init(args),
        FleetCommand::Setup(args) => setup(args),
        FleetCommand::Enroll(args) => enroll(args),
        FleetCommand::Admit(args) => admit(args),
        FleetCommand::Revoke(args) => revoke(args),
        FleetCommand::Ship(args) => ship(args),
        FleetCommand::Verify(args) => verify(args),
        FleetCommand::Watch(args) => watch(args),
        FleetCommand::Status(args) => status(args),
    }
}

fn member_of(args: &FleetMemberArgs) -> Result<FleetMember> {
    member(args.member.as_deref(), args.scope.enrolment())
}

fn init(args: &FleetInitArgs) -> Result<Exit> {
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

fn setup(args: &FleetSetupArgs) -> Result<Exit> {
    let member = FleetMember::read(&args.member).map_err(|error| bundle_failure(&error))?;
    let enough = member.settings().servers.len() >= REPLICAS;
    let replicas = args.replicas.map_or(if enough { REPLICAS } else { 1 }, usize::from);
    let created = runtime()?.block_on(set_up_streams(&member, replicas, &args.channels));
    let created = created.map_err(|error| nats_failure(&error))?;
    let copies = counted(replicas, "copy").replace("copys", "copies");
    let text: String = created.iter().map(|stream| format!("stream {stream}: {copies}\n")).collect();
    output::text(&text)?;
    Ok(Exit::Fine)
}

fn enroll(args: &FleetEnrollArgs) -> Result<Exit> {
    let member = member_of(&args.of)?;
    let channel = member.channel().unwrap_or(&args.channel);
    let entry = enroll_machine(&member, args.rotate, channel)?;
    let (seed, tenant) = (&member.settings().seed, member.subjects().tenant());
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
        let signing_key = entry.signing_key.as_ref().map(ToString::to_string).unwrap_or_default();
        let replace = if args.rotate { " --replace" } else { "" };
        let text = format!(
            "seed: {}\nkey: {}\nsigning key: {}\nadmit it with: hookrail fleet admit DIR --tenant {tenant} --name {} --channel {channel} --key {} --signing-key {}{replace}\nor add to the users of account {tenant}:\n{block}",
            one_line(&seed.display().to_string()),
            entry.key,
            signing_key,
            entry.name,
            entry.key,
            signing_key,
        );
        output::text(&text)?;
    }
    Ok(Exit::Fine)
}

fn admit(args: &FleetAdmitArgs) -> Result<Exit> {
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

fn revoke(args: &FleetRevokeArgs) -> Result<Exit> {
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

fn ship(args: &FleetShipArgs) -> Result<Exit> {
    let member = member_of(&args.of)?;
    let journal = journal::open()?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let mut interrupts =
            Interrupts::listen().map_err(|error| Failure::new(format!("signals cannot be listened to: {error}")))?;
        if args.follow {
            tokio::select! {
                // A service is ended in this way, and has not failed.
                _ = interrupts.next() => Ok(Exit::Fine),
                ended = follow(args, &member, &journal) => ended,
            }
        } else {
            let mut shipped = ShippedCount::default();
            let end = tokio::select! {
                signal = interrupts.next() => return Ok(Exit::Signalled(signal.number())),
                end = ship_once(args.patience, &member, &journal, &mut shipped) => end,
            };
            report_shipped(args.json, end, shipped)
        }
    })
}

/// Ships what is recorded until a signal comes or an alarm is raised. Servers that cannot be reached are waited for.
async fn follow(args: &FleetShipArgs, member: &FleetMember, journal: &Journal) -> Result<Exit> {
    let connection = loop {
        match member.connect(ReconnectPace::Spread).await {
            Ok(connection) => break connection,
            Err(error) if error.is_temporary() => {
                crate::logging::write_stderr(format!("warning: {}\n", one_line(&error.to_string())));
                tokio::time::sleep(START_AGAIN).await;
            }
            Err(error) => return Err(nats_failure(&error)),
        }
    };
    let mut shipper = match Shipper::open(member.clone(), journal.clone(), connection) {
        Ok(shipper) => shipper,
        Err(error) => return report_shipped(args.json, Err(error), ShippedCount::default()),
    };
    loop {
        match shipper.ship(FOLLOW_PATIENCE).await {
            Ok(()) => {}
            Err(ShipError::Nats(error)) if error.is_temporary() => {
                crate::logging::write_stderr(format!("warning: {}\n", one_line(&error.to_string())));
            }
            Err(error) => return report_shipped(args.json, Err(error), shipper.count()),
        }
        tokio::time::sleep(args.interval).await;
    }
}

fn report_shipped(as_json: bool, end: std::result::Result<u64, ShipError>, shipped: ShippedCount) -> Result<Exit> {
    let counts = json!({"records": shipped.records, "slices": shipped.slices, "known": shipped.known});
    match end {
        Ok(seq) if as_json => {
            output::json(&json!({"end": "shipped", "shipped": counts, "seq": seq}).into())?;
            Ok(Exit::Fine)
        }
        Ok(seq) => {
            let records = counted(usize::try_from(shipped.records).unwrap_or(usize::MAX), "record");
            output::text(&format!("shipped: {records}; the journal is stored up to record {seq}\n"))?;
            Ok(Exit::Fine)
        }
        Err(error) => {
            let exit = if matches!(error, ShipError::Alarm(_)) { Exit::Alarm } else { Exit::Failed };
            if as_json {
                let document =
                    json!({"end": "failed", "reason": error.reason(), "message": error.to_string(), "shipped": counts});
                output::json(&document.into())?;
                return Ok(exit);
            }
            output::failure(&ship_failure(&error));
            Ok(exit)
        }
    }
}

fn verify(args: &FleetVerifyArgs) -> Result<Exit> {
    let member = FleetMember::read(&args.member).map_err(|error| bundle_failure(&error))?;
    let mut keys: BTreeMap<String, MemberPublicKey> = BTreeMap::new();
    if let Some(folder) = &args.fleet {
        let members = Members::read(folder, member.subjects().tenant());
        let members = members.map_err(|error| Failure::new(error.to_string()))?;
        let signing =
            members.list().iter().filter_map(|known| Some((known.name.to_string(), known.signing_key.clone()?)));
        keys.extend(signing);
    }
    let options = VerifyOptions { keys, longest_silence: args.silence, machine: args.machine.clone() };
    let found = runtime()?.block_on(async {
        let connection = member.connect(ReconnectPace::AtOnce).await?;
        verify_fleet(&member, &connection, &options).await
    });
    let found = found.map_err(|error| nats_failure(&error))?;
    if args.json {
        output::json(&verification_document(&found).into())?;
    } else {
        output::text(&verification(&found))?;
    }
    Ok(if found.is_sound() { Exit::Fine } else { Exit::Alarm })
}

fn status(args: &FleetStatusArgs) -> Result<Exit> {
    let member = member_of(&args.of)?;
    let status = ShippingStatus::read(&member, &journal::open()?, !args.offline)?;
    if args.json {
        output::json(&shipping_document(&member, &status).into())?;
    } else {
        output::text(&shipping_status(&member, &status))?;
    }
    Ok(if status.is_well() { Exit::Fine } else { Exit::Failed })
}

fn watch(args: &FleetWatchArgs) -> Result<Exit> {
    let places = places(args.scope.enrolment())?;
    let config = places.read_configuration().map_err(|error| bundle_failure(&error))?;
    let member = FleetMember::of_machine(&config).map_err(|error| nats_failure(&error))?;
    runtime()?.block_on(async {
        let mut interrupts =
            Interrupts::listen().map_err(|error| Failure::new(format!("signals cannot be listened to: {error}")))?;
        tokio::select! {
            _ = interrupts.next() => Ok(Exit::Fine),
            ended = watch_until_the_end(args, &places, &config, &member) => ended,
        }
    })
}

async fn watch_until_the_end(
    args: &FleetWatchArgs,
    places: &FleetPlaces,
    config: &FleetConfig,
    member: &FleetMember,
) -> Result<Exit> {
    let connection = loop {
        match member.connect(ReconnectPace::Spread).await {
            Ok(connection) => break connection,
            Err(error) if error.is_temporary() => {
                crate::logging::write_stderr(format!("warning: {}\n", one_line(&error.to_string())));
                tokio::time::sleep(START_AGAIN).await;
            }
            Err(error) => return Err(nats_failure(&error)),
        }
    };
    let options = WatchOptions { jitter: args.jitter, interval: args.interval };
    let look = |cause: WatchCause| {
        let places = places.clone();
        async move {
            // The configuration may have changed; what it says now counts.
            let applied = tokio::task::spawn_blocking(move || apply_bundle(&places, None)).await;
            match applied {
                Ok(applied) => report_look(args.json, cause, applied),
                Err(_) => LookEnd::Retry,
            }
        }
    };
    let watched = announce::watch(member, &connection, &config.channel.name, options, look).await;
    watched.map(|()| Exit::Fine).map_err(|error| nats_failure(&error))
}

fn report_look(as_json: bool, cause: WatchCause, applied: std::result::Result<ApplyEnd, BundleError>) -> LookEnd {
    let (document, text, end) = match &applied {
        Ok(ApplyEnd::Switched { from, to }) => (
            json!({"cause": cause.name(), "end": "switched", "from": from, "manifest": manifest_document(to)}),
            Some(format!("in force: {}\n", label(to))),
            LookEnd::Current,
        ),
        Ok(ApplyEnd::UpToDate(manifest)) => (
            json!({"cause": cause.name(), "end": "up-to-date", "manifest": manifest_document(manifest)}),
            None,
            LookEnd::Current,
        ),
        Ok(ApplyEnd::NotReached(manifest)) => (
            json!({"cause": cause.name(), "end": "not-reached", "manifest": manifest_document(manifest)}),
            None,
            LookEnd::Current,
        ),
        Err(error) => {
            let document = json!({"cause": cause.name(), "end": "refused", "reason": error.reason(), "message": error.to_string()});
            let end = if may_work_later(error) { LookEnd::Retry } else { LookEnd::Current };
            (document, Some(format!("warning: {}\n", one_line(&error.to_string()))), end)
        }
    };
    // A look whose report cannot be written has been done all the same.
    let _ = match (as_json, text) {
        (true, _) => output::json(&document.into()),
        (false, Some(text)) if applied.is_err() => {
            crate::logging::write_stderr(text);
            Ok(())
        }
        (false, Some(text)) => output::text(&text),
        (false, None) => Ok(()),
    };
    end
}
