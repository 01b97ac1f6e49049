//! Waiting for announcements of bundles.

use std::time::Duration;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::one_line;
use hookrail_fleet::announce::{self, LookEnd, WatchCause, WatchOptions};
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::install::{self, ApplyEnd};
use hookrail_fleet::nats::{FleetMember, ReconnectPace};
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::source::SourceError;
use hookrail_fleet::{BundleError, Timestamp};
use serde_json::json;

use super::super::bundle::{failure as bundle_failure, label, machine, manifest_document, trial};
use super::nats_failure;
use crate::args::FleetWatchArgs;
use crate::cmd::exit::Exit;
use crate::output;
use hookrail_app::signals::Interrupts;

/// How often servers that could not be reached at the start are tried again.
const START_AGAIN: Duration = Duration::from_secs(5);

pub(super) fn watch(args: &FleetWatchArgs) -> Result<Exit> {
    let places = machine::places(&args.scope)?;
    let config = places.read_configuration().map_err(|error| bundle_failure(&error))?;
    let member = FleetMember::of_machine(&config).map_err(|error| nats_failure(&error))?;
    hookrail_app::runtime::runtime()?.block_on(async {
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
            let applied = tokio::task::spawn_blocking(move || apply(&places)).await;
            match applied {
                Ok(applied) => report_look(args.json, cause, applied),
                Err(_) => LookEnd::Retry,
            }
        }
    };
    let watched = announce::watch(member, &connection, &config.channel.name, options, look).await;
    watched.map(|()| Exit::Fine).map_err(|error| nats_failure(&error))
}

fn apply(places: &FleetPlaces) -> std::result::Result<ApplyEnd, BundleError> {
    let config = places.read_configuration()?;
    let scratch = machine::scratch().map_err(|failure| BundleError::Content(failure.message().to_owned()))?;
    let mut source = config.source.open(scratch.path(), Some(&config))?;
    let check = |archive: &[u8], _: &_| trial::check_content(archive, trial::Trial::OfMachine);
    install::apply(places, &config, &mut *source, Timestamp::now(), &check)
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

/// Whether the same look may end otherwise a little later: the source was not reached, or a bundle was being published.
fn may_work_later(error: &BundleError) -> bool {
    matches!(
        error,
        BundleError::Source(SourceError::Unreachable { .. })
            | BundleError::BadSignature
            | BundleError::WrongDigest { .. }
            | BundleError::WrongSize { .. }
            | BundleError::Io { .. }
    )
}
