//! `hookrail fleet`: servers, members, the audit of all machines, and announcements of bundles. What travels and what counts is
//! decided in `hookrail-fleet`; here is what people and programs see of it.

mod audit;
mod members;
mod watch;

use hookrail_app::failure::{Failure, Result};
use hookrail_fleet::nats::{FleetMember, NatsError};

use super::bundle::{failure as bundle_failure, machine::places};
use crate::args::{FleetArgs, FleetCommand, FleetMemberArgs};
use crate::cmd::exit::Exit;

pub(crate) fn run(args: &FleetArgs) -> Result<Exit> {
    match &args.command {
        FleetCommand::Init(args) => members::init(args),
        FleetCommand::Setup(args) => members::setup(args),
        FleetCommand::Enroll(args) => members::enroll(args),
        FleetCommand::Admit(args) => members::admit(args),
        FleetCommand::Revoke(args) => members::revoke(args),
        FleetCommand::Ship(args) => audit::ship(args),
        FleetCommand::Verify(args) => audit::verify(args),
        FleetCommand::Watch(args) => watch::watch(args),
        FleetCommand::Status(args) => audit::status(args),
    }
}

/// Returns who connects: the member of a file, or the machine that is enrolled.
fn member(args: &FleetMemberArgs) -> Result<FleetMember> {
    match &args.member {
        Some(file) => FleetMember::read(file).map_err(|error| bundle_failure(&error)),
        None => {
            let config = places(&args.scope)?.read_configuration().map_err(|error| bundle_failure(&error))?;
            FleetMember::of_machine(&config).map_err(|error| nats_failure(&error))
        }
    }
}

/// Turns an error of the servers into a failure with advice.
pub(super) fn nats_failure(error: &NatsError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        NatsError::NotConfigured => failure.hint("`hookrail docs fleet` describes `[nats]`"),
        NatsError::Key(_) => failure.hint("`hookrail fleet enroll` makes a key"),
        NatsError::Refused(_) => failure
            .hint("admit the key with `hookrail fleet admit`, and let the servers read their configuration again"),
        NatsError::NotPermitted(_) => failure.hint("the key was admitted with another name or another role"),
        NatsError::StreamMissing(_) => failure.hint("run `hookrail fleet setup` with the file of the administrator"),
        _ => failure,
    }
}
