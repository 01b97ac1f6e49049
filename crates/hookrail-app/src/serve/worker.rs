//! A worker of a group: remote hooks of other machines, over the servers of a fleet.

use hookrail_bus::{Bus, Readiness};
use hookrail_fleet::ask::{AskWorker, find_member};
use hookrail_fleet::manifest::Name;
use hookrail_fleet::nats::{FleetMember, NatsError, ReconnectPace, connect};

use super::clients::ServedClients;
use super::{ServeNotice, WorkerOptions};
use crate::failure::{Failure, Result};
use crate::remote_client;

/// How many requests run at once if neither the command line nor the configuration says it.
const LIMIT: usize = 64;

/// Joins the group.
pub(super) async fn join_group(
    options: &WorkerOptions,
    limit: Option<usize>,
    bus: Bus,
    tell: &dyn Fn(ServeNotice<'_>),
) -> Result<ServedClients> {
    let (group, member) = (&options.group, member(options)?);
    let name: Name = group.as_str().parse().map_err(|error| Failure::new(format!("{error}")))?;
    let mut servers = member.settings().clone();
    servers.servers.clone_from(&options.servers);
    let subject = member.subjects().ask(&name);
    let limit = limit.unwrap_or(LIMIT);
    // Requests must find hooks that are loaded: the first ones would wait longer than their clients do. A worker without hooks would
    // answer for its whole group that nothing objects.
    let not_joined = |why: String| {
        Failure::new(format!("this worker does not join group `{group}`: {why}"))
            .hint("`hookrail check` and `hookrail list` show what is configured here")
    };
    match bus.readiness().await.map_err(|error| not_joined(error.message))? {
        Readiness::Ready => {}
        missing @ (Readiness::NoHooks | Readiness::Unusable(_)) => return Err(not_joined(missing.to_string())),
    }
    let connection = connect(&servers, member.subjects(), member.id(), ReconnectPace::AtOnce).await.map_err(failure)?;
    let (worker, handle) = AskWorker::join(connection, subject, group, limit).await.map_err(failure)?;
    tell(ServeNotice::Answering { group, tenant: member.subjects().tenant().to_string() });
    let leaving = handle.clone();
    Ok(ServedClients {
        work: Box::pin(async move { bus.listen(worker).await.map_err(failure) }),
        before_drain: Box::pin(async move { leaving.leave().await }),
        after_drain: Box::pin(async move { handle.flush().await }),
    })
}

/// The member that the worker is: its tenant, its name and its key.
fn member(options: &WorkerOptions) -> Result<FleetMember> {
    let found = match &options.member {
        Some(file) => FleetMember::read(file).map(Some).map_err(|error| error.to_string()),
        None => find_member(&remote_client::places()),
    };
    let hint =
        "name a file with `tenant`, `member` and `[nats]` with `--member`; `hookrail docs how-to/fleet` describes it";
    match found {
        Ok(Some(member)) => Ok(member),
        Ok(None) => Err(Failure::new("no key for the servers is configured").hint(hint)),
        Err(problem) => Err(Failure::new(problem).hint(hint)),
    }
}

fn failure(error: NatsError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        NatsError::NotPermitted(_) | NatsError::Refused(_) => {
            failure.hint("the servers' configuration says which keys may answer a group")
        }
        _ => failure.hint("check the address and whether a server runs there"),
    }
}
