//! `hookrail test --watch`: runs the cases again when a file changes.

use hookrail_app::failure::Result;
use hookrail_bus::PathWatcher;

use super::refusal::Refusal;
use super::standing::CopyTrust;
use super::{Selection, exit_of, pool};
use crate::args::TestArgs;
use crate::exit::Exit;
use crate::interrupt::StopSignal;
use crate::output;
use crate::style::{QUIET, paint};

/// Runs the cases, and again whenever a case file or a hook changes, until a signal comes. The user has consented to the
/// first selection, and `--watch` says that what changes is to be run too.
pub(super) fn run(args: &TestArgs, first: Selection, trust: CopyTrust, stop: &StopSignal) -> Result<Exit> {
    let runtime = hookrail_app::runtime::runtime()?;
    let watcher = PathWatcher::new();
    let mut found: std::result::Result<Selection, Refusal> = Ok(first);
    loop {
        // The paths are followed before any case runs, so that no change is missed.
        watcher.follow(match &found {
            Ok(selection) => selection.watched(),
            Err(_) => super::places_to_watch(args)?,
        });
        let last = match found {
            Ok(selection) => {
                let report = pool::run_cases(args, &selection, trust, &stop.token)?;
                report.print(args.format)?;
                exit_of(&report)
            }
            // A file that is being edited is broken for a while.
            Err(refusal) => {
                output::failure(&refusal.report(args.format));
                Exit::Failed
            }
        };
        if !stop.token.is_cancelled() {
            output::text(&format!("{}\n", paint(QUIET, "waiting for a change; Ctrl-C ends")))?;
            runtime.block_on(async {
                tokio::select! {
                    () = watcher.wait_for_change() => {}
                    () = stop.token.cancelled() => {}
                }
            });
        }
        if stop.token.is_cancelled() {
            return Ok(stop.number().map_or(last, Exit::Signalled));
        }
        found = Selection::find(args);
    }
}
