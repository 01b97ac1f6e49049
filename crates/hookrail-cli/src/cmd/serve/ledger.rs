//! The record of the hooks that run, so that the next server can end those that a killed one left.

use hookrail::process::RunLedger;

use crate::logging;
use crate::project::Project;

/// Opens the record, after the processes were ended that a killed server has left. A server without a place for the record
/// serves all the same.
pub(super) fn open_ledger() -> Option<RunLedger> {
    let store = Project::trust_store().ok()?;
    let directory = store.path().parent()?.join("running");
    match RunLedger::open(&directory) {
        Ok((ledger, left)) => {
            if left.ended > 0 {
                let processes = if left.ended == 1 { "process" } else { "processes" };
                logging::say(format!(
                    "note: ended {} {processes} of hooks that a killed server had left running\n",
                    left.ended
                ));
            }
            Some(ledger)
        }
        Err(error) => {
            let directory = directory.display();
            logging::say(format!("warning: running hooks cannot be recorded in `{directory}`: {error}\n"));
            None
        }
    }
}
