//! One call of a module: its state while it is in progress, and its end.

use std::sync::Arc;

use hookrail::module::ModuleReturn;
use hookrail::{Host, Json};
use hookrail_spawn::CancelToken;
use tokio::sync::oneshot;

use crate::clock::WallClock;

/// A call that has ended, with its result and its failures as JSON text, if there are any.
pub(crate) struct FinishedCall {
    pub(crate) call: u32,
    pub(crate) result: Option<String>,
    pub(crate) failures: Option<String>,
    /// What means nothing in the handlers' results, as JSON text.
    pub(crate) remarks: Option<String>,
}

/// One call in progress.
pub(crate) struct CallState {
    /// The name under which its failures are reported, or `None` if the host does not receive them.
    pub(crate) event: Option<String>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) clock: Option<Arc<WallClock>>,
    /// Cancelled when the call is abandoned.
    pub(crate) over: CancelToken,
    pub(crate) reply: Option<oneshot::Sender<ModuleReturn>>,
    pub(crate) messages: Vec<Json>,
    pub(crate) entries: Vec<Json>,
    /// How many bytes the messages and entries have in total.
    pub(crate) taken: usize,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// A rejection that was not handled during the call.
    pub(crate) lost: Option<String>,
}

impl CallState {
    /// A call without a time limit whose result is not sent.
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        Self {
            event: None,
            host,
            clock: None,
            over: CancelToken::new(),
            reply: None,
            messages: Vec::new(),
            entries: Vec::new(),
            taken: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            lost: None,
        }
    }
}
