//! The trait through which a satellite crate runs module hooks.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::json::Json;
use crate::run::How;
use crate::system::Host;

/// Runs the handlers of modules. The engine itself has no JavaScript engine; whoever wants module hooks registers
/// a runner with the builder.
///
/// Implementers own the modules' runtimes, their limits and their threads. `call` is polled on the engine's thread
/// and must not block it; dropping the future means the answer is not wanted any more.
pub trait ModuleRunner: Send + Sync {
    /// Calls every handler a module registered for an event.
    fn call<'a>(&'a self, call: ModuleCall<'a>) -> Pin<Box<dyn Future<Output = ModuleReturn> + Send + 'a>>;
}

/// One call of a module.
#[non_exhaustive]
pub struct ModuleCall<'a> {
    /// The module's file.
    pub module: &'a Path,
    /// The event, in the module's own words.
    pub event: &'a str,
    /// The event's payload as JSON text.
    pub payload: &'a str,
    /// The wall-clock time the handlers have.
    pub timeout: Duration,
    /// The way back to the embedding program.
    pub host: Arc<dyn Host>,
}

/// What came of calling a module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModuleReturn {
    /// How it ended.
    pub how: How,
    /// Messages it sent to the conversation.
    pub messages: Vec<Json>,
    /// Entries it added to the session.
    pub entries: Vec<Json>,
}

impl ModuleReturn {
    /// A return without messages or entries.
    #[must_use]
    pub fn new(how: How) -> Self {
        Self { how, messages: Vec::new(), entries: Vec::new() }
    }
}
