//! The record of the hooks that a server runs, for the server that follows one that was killed.

use std::io::Write as _;

use hookrail::RunLedger;

use crate::project::Project;

/// The record of the hooks that run, after those were ended that a killed server has left. A server without a place for
/// it serves all the same.
pub(super) fn open() -> Option<RunLedger> {
    let store = Project::trust_store().ok()?;
    let directory = store.path().parent()?.join("running");
    // Standard error may be closed, and that is no reason not to serve.
    let say = |text: String| drop(writeln!(std::io::stderr(), "{text}"));
    match RunLedger::open(&directory) {
        Ok((ledger, left)) => {
            if left.ended > 0 {
                say(format!("note: ended {} processes of hooks that a killed server had left running", left.ended));
            }
            Some(ledger)
        }
        Err(error) => {
            say(format!("warning: running hooks cannot be recorded in `{}`: {error}", directory.display()));
            None
        }
    }
}
