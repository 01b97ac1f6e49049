//! The record of running hooks, with which the next server ends the processes that a killed server left behind.

use hookrail::process::RunLedger;
use hookrail_app::project::Project;

use crate::logging;

/// Ends the processes that a killed server left behind and opens the record. Without a record the server still serves:
/// only this clean-up is lost.
pub(super) fn open_ledger() -> Option<RunLedger> {
    let store = Project::trust_store().ok()?;
    let directory = store.path().parent()?.join("running");
    match RunLedger::open(&directory) {
        Ok((ledger, left)) => {
            if left.ended > 0 {
                let processes = if left.ended == 1 { "process" } else { "processes" };
                logging::write_stderr(format!(
                    "note: ended {} {processes} of hooks that a killed server had left running\n",
                    left.ended
                ));
            }
            Some(ledger)
        }
        Err(error) => {
            let directory = directory.display();
            logging::write_stderr(format!("warning: running hooks cannot be recorded in `{directory}`: {error}\n"));
            None
        }
    }
}
