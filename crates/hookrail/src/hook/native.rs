//! Hooks that are closures of the embedding program.

mod pool;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::event::Event;
use crate::event::effects::Effects;
use crate::hook::host::Host;
pub(crate) use pool::{ClosureThreads, Panicked};

type Answering = Pin<Box<dyn Future<Output = Effects> + Send>>;
type Closure = dyn Fn(NativeCall) -> Answering + Send + Sync;

/// A hook written in Rust.
///
/// It runs on a thread that the engine keeps for closures, never on the engine's own thread or on the caller's. One that
/// blocks past its timeout has failed at the deadline and holds up no other event; its thread is lost until it returns. A
/// future finds the tokio runtime in which its event is driven.
///
/// ```
/// use hookrail::{Effects, Json, NativeHook};
///
/// let hook = NativeHook::new(|call| match call.event.text("tool_name").as_deref() {
///     Some("run_shell_command") => Effects::ask("this runs a command"),
///     _ => Effects::none(),
/// });
/// ```
#[derive(Clone)]
pub struct NativeHook(Arc<Closure>);

/// What a native hook is given.
///
/// ```
/// use hookrail::{Effects, NativeCall};
///
/// fn answer(call: NativeCall) -> Effects {
///     if call.host.has_user() { Effects::ask("really?") } else { Effects::deny("no user can be asked") }
/// }
/// ```
#[derive(Clone)]
pub struct NativeCall {
    /// What happened, with every rewrite so far.
    pub event: Arc<Event>,
    /// The way back to the embedding program.
    pub host: Arc<dyn Host>,
}

impl NativeHook {
    /// A hook that answers at once.
    pub fn new(answer: impl Fn(NativeCall) -> Effects + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |call| {
            let effects = answer(call);
            Box::pin(async move { effects })
        }))
    }

    /// A hook that answers later.
    pub fn waiting<F: Future<Output = Effects> + Send + 'static>(
        answer: impl Fn(NativeCall) -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |call| Box::pin(answer(call))))
    }

    pub(crate) fn call(&self, call: NativeCall) -> Answering {
        (self.0)(call)
    }
}

impl fmt::Debug for NativeHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NativeHook")
    }
}
