//! Why commands of a fleet fail, with advice.

use hookrail_fleet::BundleError;
use hookrail_fleet::announce::PublishError;
use hookrail_fleet::audit::ShipError;
use hookrail_fleet::nats::NatsError;
use hookrail_fleet::servers::MembersError;

use crate::failure::Failure;
use crate::records::failure as unreadable_journal;

/// Turns an error of a bundle into a failure with advice.
pub fn bundle_failure(error: &BundleError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        BundleError::BadSignature | BundleError::WrongDigest { .. } | BundleError::WrongSize { .. } => {
            failure.hint("the bundle was changed, or is being published at this moment; nothing was put in force")
        }
        BundleError::UnknownKey(_) => failure.hint("add the public key to `keys` of the configuration if you trust it"),
        BundleError::OlderVersion { .. } | BundleError::VersionReused(_) => {
            failure.hint("publish a higher version; a rollback is one that names the old archive")
        }
        BundleError::Expired(_) => failure.hint("build and sign the bundle again"),
        BundleError::HookrailTooOld { .. } => failure.hint("install a newer hookrail on this machine"),
        BundleError::Configuration { .. } => failure.hint("`hookrail docs how-to/fleet` describes the configuration"),
        BundleError::State { .. } => failure.hint("remove the file to begin anew; until then events are denied"),
        BundleError::Content(_) | BundleError::Archive(_) => {
            failure.hint("correct the content of the bundle and build it again")
        }
        _ => failure,
    }
}

/// Turns an error of the servers into a failure with advice.
pub fn nats_failure(error: &NatsError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        NatsError::NotConfigured => failure.hint("`hookrail docs how-to/fleet` describes `[nats]`"),
        NatsError::Key(_) => failure.hint("`hookrail fleet enroll` makes a key"),
        NatsError::Refused(_) => failure
            .hint("admit the key with `hookrail fleet admit`, and let the servers read their configuration again"),
        NatsError::NotPermitted(_) => failure.hint("the key was admitted with another name or another role"),
        NatsError::StreamMissing(_) => failure.hint("run `hookrail fleet setup` with the file of the administrator"),
        _ => failure,
    }
}

/// Turns an error of the list of members into a failure with advice.
pub fn members_failure(error: &MembersError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        MembersError::NoTenant { .. } => failure.hint("name the folder that `hookrail fleet init` wrote"),
        MembersError::Exists(_) => failure.hint("the old key is worth nothing then"),
        _ => failure,
    }
}

/// Turns an error of shipping into a failure with advice.
pub fn ship_failure(error: &ShipError) -> Failure {
    match error {
        ShipError::Nats(error) => nats_failure(error),
        ShipError::Journal(error) => unreadable_journal(error),
        ShipError::Alarm(alarm) => Failure::new(format!("alarm: {alarm}"))
            .hint("nothing was stored; find out which machine uses the key, then enrol this one under another name"),
        ShipError::Busy => Failure::new(error.to_string()).hint("end the other one, or let it go on"),
        _ => Failure::new(error.to_string()),
    }
}

/// Turns an error of publishing into a failure with advice.
pub fn publish_failure(error: &PublishError) -> Failure {
    match error {
        PublishError::Bundle(error) => bundle_failure(error),
        PublishError::NotSigned => Failure::new(error.to_string()).hint("run `hookrail bundle sign FOLDER --key FILE`"),
        PublishError::NotHigher { newest, .. } | PublishError::Lost { stored: newest, .. } => {
            let next = newest.saturating_add(1);
            Failure::new(error.to_string()).hint(format!(
                "nothing has changed; compare with what was published, then build version {next} (`--version {next}`), sign and publish it"
            ))
        }
        PublishError::Undecided { .. } => {
            Failure::new(error.to_string()).hint("publish it again once a server answers; that says which it is")
        }
        PublishError::OldFormLeft { .. } => Failure::new(error.to_string()).hint("the next publication tries it again"),
        PublishError::Nats(error) => nats_failure(error),
        _ => Failure::new(error.to_string()),
    }
}
