//! What a runtime and the functions it calls have in common. It is used by whoever has the module's turn.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hookrail::{Digest, HookFailure, Host, Json, LoadFailure, ModuleWorld, NoHost};
use hookrail_spawn::CancelToken;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::clock::{Budget, WallClock};
use crate::component::State;
use crate::ops::OpError;
use crate::processes::Processes;
use crate::slot::Slot;
use crate::source::Maps;
use crate::worker::{Message, Seat};

/// Something the host does for a module that takes time; it ends in an answer as JSON text.
pub(crate) type Op = Pin<Box<dyn Future<Output = String> + Send>>;

/// The state of one runtime.
pub(crate) struct Shared {
    pub(crate) module: PathBuf,
    pub(crate) world: Slot<ModuleWorld>,
    pub(crate) budget: Budget,
    /// The calls that are being worked on, by number. Number zero is loading.
    pub(crate) calls: Slot<BTreeMap<u32, CallState>>,
    /// The host of the last call, for what happens between calls.
    pub(crate) host: Slot<Arc<dyn Host>>,
    /// Calls that have ended.
    pub(crate) finished: Slot<Vec<Finished>>,
    /// Operations that were begun and are not yet being polled.
    pub(crate) begun: Slot<Vec<(u32, Op)>>,
    pub(crate) cancels: Slot<HashMap<u32, CancelToken>>,
    pub(crate) processes: Processes,
    /// The limit on what a call may hand over.
    pub(crate) most_result: usize,
    pub(crate) timers: Slot<Timers>,
    pub(crate) watchers: Slot<HashMap<u32, AbortHandle>>,
    pub(crate) components: Slot<HashMap<u32, watch::Sender<State>>>,
    /// Rejected promises that nobody has handled yet, with what they were rejected with.
    pub(crate) rejections: Slot<Vec<(u64, String)>>,
    /// Whether something was refused because it needs a capability.
    pub(crate) refused: AtomicBool,
    /// Whether the machine ran out of something that the module needed.
    pub(crate) exhausted: AtomicBool,
    pub(crate) maps: Slot<Maps>,
    /// The files the module is made of.
    pub(crate) files: Slot<Vec<(PathBuf, Digest)>>,
    pub(crate) load_failure: Slot<Option<LoadFailure>>,
    pub(crate) inbox: mpsc::WeakUnboundedSender<Message>,
    /// The loop of the module's own thread.
    pub(crate) runtime: Handle,
    next: AtomicU32,
}

/// A call that has ended, with its result and its failures as JSON text, where there are any.
pub(crate) struct Finished {
    pub(crate) call: u32,
    pub(crate) result: Option<String>,
    pub(crate) failures: Option<String>,
}

/// One call while it is being worked on.
pub(crate) struct CallState {
    pub(crate) event: String,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) clock: Option<Arc<WallClock>>,
    pub(crate) messages: Vec<Json>,
    pub(crate) entries: Vec<Json>,
    /// How many bytes the messages and entries have.
    taken: usize,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// A rejection nobody handled while the call was going on.
    pub(crate) lost: Option<String>,
}

impl CallState {
    pub(crate) fn new(event: &str, host: Arc<dyn Host>, clock: Option<Arc<WallClock>>) -> Self {
        Self {
            event: event.to_owned(),
            host,
            clock,
            messages: Vec::new(),
            entries: Vec::new(),
            taken: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            lost: None,
        }
    }
}

impl CallState {
    /// Makes room for a message or an entry, or refuses it: they are kept here, outside the module's own memory.
    pub(crate) fn take(&mut self, value: &Json, most: usize) -> Result<(), OpError> {
        self.taken = self.taken.saturating_add(value.text().len());
        if self.taken > most {
            return Err(OpError::new(format!("one call sends no more than {} KiB", most >> 10)));
        }
        Ok(())
    }
}

/// How much of what a module prints is kept for one call.
const MOST_OUTPUT: usize = 64 * 1024;

impl Shared {
    pub(crate) fn new(seat: &Seat, world: ModuleWorld, budget: Budget, runtime: Handle) -> Arc<Self> {
        Arc::new(Self {
            module: seat.module.clone(),
            world: Slot::new(world),
            budget,
            calls: Slot::default(),
            host: Slot::new(Arc::new(NoHost)),
            finished: Slot::default(),
            begun: Slot::default(),
            cancels: Slot::default(),
            processes: seat.processes.clone(),
            most_result: seat.limits.result,
            timers: Slot::default(),
            watchers: Slot::default(),
            components: Slot::default(),
            rejections: Slot::default(),
            refused: AtomicBool::new(false),
            exhausted: AtomicBool::new(false),
            maps: Slot::default(),
            files: Slot::default(),
            load_failure: Slot::default(),
            inbox: seat.inbox.clone(),
            runtime,
            next: AtomicU32::new(1),
        })
    }

    /// A number that was not used before.
    pub(crate) fn next_number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The host of a call, or of the last one.
    pub(crate) fn host_of(&self, call: u32) -> Arc<dyn Host> {
        let calls = self.calls.lock();
        calls.get(&call).map_or_else(|| Arc::clone(&self.host.lock()), |state| Arc::clone(&state.host))
    }

    /// Keeps the time of a call standing still, when it has one.
    pub(crate) fn clock_of(&self, call: u32) -> Option<Arc<WallClock>> {
        self.calls.lock().get(&call).and_then(|state| state.clock.clone())
    }

    /// Does something with the call that was begun last.
    pub(crate) fn with_current<T>(&self, work: impl FnOnce(&mut CallState) -> T) -> Option<T> {
        let mut calls = self.calls.lock();
        calls.iter_mut().next_back().map(|(_, state)| work(state))
    }

    /// Keeps what a module prints.
    pub(crate) fn print(&self, stream: u32, text: &str) {
        self.with_current(|call| {
            let kept = if stream == 1 { &mut call.stdout } else { &mut call.stderr };
            let room = MOST_OUTPUT.saturating_sub(kept.len());
            kept.extend(text.bytes().take(room));
        });
    }

    /// Tells the host of a failure that no call can be blamed for.
    pub(crate) fn report(&self, event: &str, message: &str) {
        let failure = HookFailure::new(self.module.to_string_lossy(), event, message);
        let host = Arc::clone(&self.host.lock());
        host.hook_failed(&failure);
    }

    /// Whether anything is outstanding that could still settle a promise.
    pub(crate) fn can_go_on(&self) -> bool {
        !self.timers.lock().is_empty() || !self.watchers.lock().is_empty() || !self.begun.lock().is_empty()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for watcher in self.watchers.lock().values() {
            watcher.abort();
        }
    }
}

/// Timers by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeMap<(Instant, u32), ()>,
    by_number: HashMap<u32, Instant>,
}

impl Timers {
    pub(crate) fn set(&mut self, number: u32, wait: Duration) {
        self.clear(number);
        if let Some(at) = Instant::now().checked_add(wait) {
            self.due.insert((at, number), ());
            self.by_number.insert(number, at);
        }
    }

    pub(crate) fn clear(&mut self, number: u32) {
        if let Some(at) = self.by_number.remove(&number) {
            self.due.remove(&(at, number));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    /// Takes one that is due.
    pub(crate) fn take_due(&mut self) -> Option<u32> {
        let (at, number) = *self.due.keys().next()?;
        (at <= Instant::now()).then(|| {
            self.clear(number);
            number
        })
    }
}
