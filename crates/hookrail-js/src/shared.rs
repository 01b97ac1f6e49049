//! What a runtime and the functions it calls have in common. It is used by whoever has the module's turn.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hookrail::{Digest, HookFailure, Host, Json, LoadFailure, ModuleWorld, NoHost};
use hookrail_spawn::CancelToken;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::account::{Account, Held};
use crate::clock::{Budget, Stop, WallClock};
use crate::component::State;
use crate::ops::OpError;
use crate::processes::{Owner, Processes};
use crate::slot::Slot;
use crate::source::{Maps, Version};
use crate::worker::{Message, Seat};

/// Something the host does for a module that takes time; it ends in an answer as JSON text.
pub(crate) type PendingOp = Pin<Box<dyn Future<Output = String> + Send>>;

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
    pub(crate) begun: Slot<Vec<Begun>>,
    pub(crate) cancels: Slot<HashMap<u32, CancelToken>>,
    pub(crate) processes: Processes,
    /// Which of the module's runtimes this is.
    act: u32,
    /// What the host holds for the module.
    pub(crate) account: Account,
    /// How many bytes of source it is made of so far.
    source: AtomicUsize,
    most_source: usize,
    /// How many bytes it has sent since the last call began, while none was going on.
    between: AtomicUsize,
    /// Calls that nobody waits for any more and that have not ended, each with what ends it when its time is up.
    pub(crate) abandoned: Slot<HashMap<u32, AbortHandle>>,
    /// The limit on what a call may hand over.
    pub(crate) most_result: usize,
    pub(crate) timers: Slot<Timers>,
    pub(crate) watchers: Slot<HashMap<u32, AbortHandle>>,
    /// How many changes of watched files the module was not told of yet.
    pub(crate) changes: Arc<AtomicUsize>,
    pub(crate) components: Slot<HashMap<u32, Shown>>,
    /// Rejected promises that nobody has handled yet.
    pub(crate) rejections: Slot<Vec<Rejection>>,
    /// Whether something was refused because it needs a capability.
    pub(crate) refused: AtomicBool,
    /// Whether the machine ran out of something that the module needed.
    pub(crate) exhausted: AtomicBool,
    pub(crate) maps: Slot<Maps>,
    /// What the import declarations of its files name, each with the file that it stands in.
    pub(crate) static_imports: Slot<HashSet<(String, String)>>,
    /// The files the module is made of.
    pub(crate) files: Slot<Vec<(PathBuf, Digest)>>,
    /// The bytes of those files.
    pub(crate) sources: Slot<Version>,
    /// Files that were looked for and could not be read.
    pub(crate) missing: Slot<Vec<PathBuf>>,
    /// What the module was made of when it was looked into; none while it is looked into.
    pub(crate) version: Option<Arc<Version>>,
    pub(crate) load_failure: Slot<Option<LoadFailure>>,
    pub(crate) inbox: mpsc::WeakUnboundedSender<Message>,
    /// The loop of the module's own thread.
    pub(crate) runtime: Handle,
    next: AtomicU32,
}

/// An operation that was begun and is not yet being polled.
pub(crate) struct Begun {
    pub(crate) number: u32,
    pub(crate) op: PendingOp,
    pub(crate) held: Held,
}

/// A component that is shown.
pub(crate) struct Shown {
    pub(crate) state: watch::Sender<State>,
    pub(crate) _held: Held,
}

/// A promise that was rejected, by a number that stands for it, and what it was rejected with.
pub(crate) struct Rejection {
    pub(crate) promise: u64,
    pub(crate) message: String,
    pub(crate) _held: Held,
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
    /// Whether nobody wants it any more.
    pub(crate) over: CancelToken,
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
    pub(crate) fn new(event: &str, host: Arc<dyn Host>, clock: Option<Arc<WallClock>>, over: CancelToken) -> Self {
        Self {
            event: event.to_owned(),
            host,
            clock,
            over,
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

/// What every file counts as source at least, because something is kept of each.
const LEAST_SOURCE: usize = 1 << 10;

/// How much of what a module prints is kept for one call.
const MOST_OUTPUT: usize = 64 * 1024;

impl Shared {
    pub(crate) fn new(seat: &Seat, act: u32, world: ModuleWorld, budget: Budget, runtime: Handle) -> Arc<Self> {
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
            act,
            account: Account::new(seat.limits.memory),
            source: AtomicUsize::new(0),
            most_source: seat.limits.source,
            between: AtomicUsize::new(0),
            abandoned: Slot::default(),
            most_result: seat.limits.result,
            timers: Slot::default(),
            watchers: Slot::default(),
            changes: Arc::default(),
            components: Slot::default(),
            rejections: Slot::default(),
            refused: AtomicBool::new(false),
            exhausted: AtomicBool::new(false),
            maps: Slot::default(),
            static_imports: Slot::default(),
            files: Slot::default(),
            sources: Slot::default(),
            missing: Slot::default(),
            version: seat.version.clone(),
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

    /// Takes so much of what the host may hold; none, and the module has to stop, when it is too much.
    pub(crate) fn hold(&self, bytes: usize) -> Option<Held> {
        let held = self.account.take(bytes);
        if held.is_none() {
            self.budget.stop(Stop::Memory);
        }
        held
    }

    /// How many bytes of source may still be added.
    pub(crate) fn source_left(&self) -> usize {
        self.most_source.saturating_sub(self.source.load(Ordering::Relaxed))
    }

    /// The module is made of so much more source. None is too small to count.
    pub(crate) fn add_source(&self, bytes: usize) {
        self.source.fetch_add(bytes.max(LEAST_SOURCE), Ordering::Relaxed);
    }

    /// Makes room for a message or an entry while no call is going on, or refuses it.
    pub(crate) fn take_between(&self, value: &Json) -> Result<(), OpError> {
        let length = value.text().len();
        let taken = self.between.fetch_add(length, Ordering::Relaxed).saturating_add(length);
        if taken > self.most_result {
            return Err(OpError::new(format!(
                "between two calls no more than {} KiB are sent",
                self.most_result >> 10
            )));
        }
        Ok(())
    }

    /// A call begins.
    pub(crate) fn begin_call(&self, number: u32, state: CallState) {
        self.between.store(0, Ordering::Relaxed);
        self.calls.lock().insert(number, state);
    }

    /// Whose a process is that is started now: the call's that was begun last, or the module's own.
    pub(crate) fn owner(&self) -> Result<Owner, OpError> {
        let current = self.calls.lock().iter().next_back().map(|(number, state)| (*number, state.over.clone()));
        let cancelled = || OpError::new("the call was cancelled").code("ECANCELED");
        match current {
            Some((_, over)) if over.is_cancelled() => Err(cancelled()),
            Some((call, over)) => Ok(Owner { act: self.act, call, over }),
            None if !self.abandoned.lock().is_empty() => Err(cancelled()),
            None => Ok(Owner { act: self.act, call: 0, over: CancelToken::new() }),
        }
    }

    /// What tells that nobody wants a call any more.
    pub(crate) fn over_of(&self, call: u32) -> CancelToken {
        self.calls.lock().get(&call).map_or_else(CancelToken::new, |state| state.over.clone())
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

    /// Sets a timer, if there is room for it.
    pub(crate) fn set_timer(&self, number: u32, wait: Duration) {
        if let Some(held) = self.hold(TIMER) {
            self.timers.lock().set(number, wait, held);
        }
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
        for (_, overdue) in self.abandoned.take() {
            overdue.abort();
        }
    }
}

/// Timers by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeMap<(Instant, u32), ()>,
    by_number: HashMap<u32, (Instant, Held)>,
}

/// What a timer takes.
const TIMER: usize = 192;

impl Timers {
    fn set(&mut self, number: u32, wait: Duration, held: Held) {
        self.clear(number);
        if let Some(at) = Instant::now().checked_add(wait) {
            self.due.insert((at, number), ());
            self.by_number.insert(number, (at, held));
        }
    }

    pub(crate) fn clear(&mut self, number: u32) {
        if let Some((at, _)) = self.by_number.remove(&number) {
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
