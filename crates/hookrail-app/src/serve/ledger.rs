//! The record of running hooks, with which the next server ends the processes that a killed server left behind.

use hookrail::process::RunLedger;

use super::ServeNotice;
use crate::project::Project;

/// Ends the processes that a killed server left behind and opens the record. Without a record the server still serves:
/// only this clean-up is lost.
pub(super) fn open_ledger(tell: &dyn Fn(ServeNotice<'_>)) -> Option<RunLedger> {
    let store = Project::trust_store().ok()?;
    let directory = store.path().parent()?.join("running");
    match RunLedger::open(&directory) {
        Ok((ledger, left)) => {
            if left.ended > 0 {
                tell(ServeNotice::LeftoversEnded(left.ended));
            }
            Some(ledger)
        }
        Err(error) => {
            tell(ServeNotice::LedgerUnusable { directory, error });
            None
        }
    }
}
