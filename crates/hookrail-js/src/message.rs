//! The messages to a module's thread, and the work that they bring.

use hookrail::module::{ModuleContext, ModuleReturn};
use tokio::sync::oneshot;

use crate::account::MemoryHold;
use crate::call::CallState;
use crate::op_answer::OpAnswer;
use crate::op_error::OpError;

/// A message to a module's thread.
pub(crate) enum WorkerMessage {
    /// Do some work, and answer.
    Work(Box<ModuleWork>),
    /// A call was abandoned.
    Abandon(u32),
    /// An operation has ended; without an answer if it was cancelled.
    Settled { generation: u32, number: u32, answer: Option<TaskResult> },
    /// A watched file has changed.
    Changed { watcher: u32, kind: &'static str, name: String },
    /// Draw a component.
    Draw { component: u32, width: usize, reply: oneshot::Sender<ModuleReturn> },
    /// Give a component a key press.
    Key { component: u32, data: String },
    /// The next timer is due earlier than the thread waits for.
    Rearm,
}

/// Work for a module.
pub(crate) struct ModuleWork {
    pub(crate) number: u32,
    pub(crate) job: ModuleJob,
    pub(crate) world: ModuleContext,
    pub(crate) call: CallState,
}

pub(crate) enum ModuleJob {
    Event { name: String, payload: String },
    Command { name: String, arguments: String },
    Render { message: String, expanded: bool, width: usize },
}

/// The answer of an operation, with the memory that it takes.
pub(crate) type TaskResult = (Result<OpAnswer, OpError>, Option<MemoryHold>);
