//! What an instance and the functions that its JavaScript calls have in common.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hookrail::host::HookFailure;
use hookrail::module::{LoadFailure, ModuleWorld};
use hookrail::trust::Digest;
use hookrail::{Host, Json};
use hookrail_spawn::CancelToken;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::account::{Account, Held};
use crate::clock::{Budget, Stop, WallClock};
use crate::component::State as ComponentState;
use crate::ops::OpError;
use crate::processes::{Owner, Processes};
use crate::source::{Maps, Version};
use crate::worker::{Message, ModuleConfig};

/// Something the host does for a module that takes time; it ends in an answer as JSON text.
pub(crate) type PendingOp = Pin<Box<dyn Future<Output = String> + Send>>;

/// What one instance and the functions that its JavaScript calls have in common.
///
/// JavaScript cannot be handed `&mut Instance`, so everything that changes is in one [`State`] behind one lock. Only the thread
/// that has the turn uses it, beside the end of a task, which takes it for a moment; it is never held while code of the
/// module or of the embedding program runs.
pub(crate) struct Shared {
    pub(crate) module: PathBuf,
    pub(crate) processes: Processes,
    /// The how manieth instance of the module this is.
    generation: u32,
    /// What the host holds for the module.
    pub(crate) account: Account,
    most_source: usize,
    /// The limit on what a call may hand over.
    pub(crate) most_result: usize,
    /// How many changes of watched files the module was not told of yet. Watchers count them on threads of their own.
    pub(crate) changes: Arc<AtomicUsize>,
    /// What the module was made of when it was inspected; none during an inspection.
    pub(crate) version: Option<Arc<Version>>,
    pub(crate) inbox: mpsc::WeakUnboundedSender<Message>,
    /// The loop of the module's own thread.
    pub(crate) runtime: Handle,
    state: Mutex<State>,
}

/// Everything about an instance that changes.
pub(crate) struct State {
    pub(crate) world: Arc<ModuleWorld>,
    pub(crate) budget: Budget,
    /// The calls that are being worked on, by number. Number zero is loading.
    pub(crate) calls: BTreeMap<u32, CallState>,
    /// The host of the last call, for what happens between calls.
    pub(crate) host: Arc<dyn Host>,
    /// Calls that have ended.
    pub(crate) finished: Vec<Finished>,
    /// Tasks that were begun and are not yet being polled.
    pub(crate) begun: Vec<Begun>,
    pub(crate) cancels: HashMap<u32, CancelToken>,
    /// How many bytes of source it is made of so far.
    source: usize,
    /// How many bytes it has sent since the last call began, while none was going on.
    between: usize,
    /// Calls that were given up and have not ended, each with what ends it when its time is up.
    pub(crate) abandoned: HashMap<u32, AbortHandle>,
    pub(crate) timers: Timers,
    pub(crate) watchers: HashMap<u32, AbortHandle>,
    pub(crate) components: HashMap<u32, Shown>,
    /// Rejected promises that are not handled yet.
    pub(crate) rejections: Vec<Rejection>,
    /// Whether something was refused because it needs a capability.
    pub(crate) refused: bool,
    /// Whether the machine ran out of something that the module needed.
    pub(crate) exhausted: bool,
    pub(crate) maps: Maps,
    /// What the import declarations of its files name, each with the file that it stands in.
    pub(crate) static_imports: HashSet<(String, String)>,
    /// The files the module is made of.
    pub(crate) files: Vec<(PathBuf, Digest)>,
    /// The bytes of those files.
    pub(crate) sources: Version,
    /// Files that were looked for and could not be read.
    pub(crate) missing: Vec<PathBuf>,
    pub(crate) load_failure: Option<LoadFailure>,
    next: u32,
}

/// A task that was begun and is not yet being polled.
pub(crate) struct Begun {
    pub(crate) number: u32,
    pub(crate) op: PendingOp,
    pub(crate) held: Held,
}

/// A component that is shown.
pub(crate) struct Shown {
    pub(crate) state: watch::Sender<ComponentState>,
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
    /// Cancelled when the call is given up.
    pub(crate) over: CancelToken,
    pub(crate) messages: Vec<Json>,
    pub(crate) entries: Vec<Json>,
    /// How many bytes the messages and entries have.
    taken: usize,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// A rejection that was not handled while the call was going on.
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
    pub(crate) fn new(
        config: &ModuleConfig,
        generation: u32,
        world: ModuleWorld,
        host: Arc<dyn Host>,
        runtime: Handle,
    ) -> Arc<Self> {
        let state = State {
            world: Arc::new(world),
            budget: Budget::new(&config.limits, Arc::clone(&config.retired)),
            calls: BTreeMap::new(),
            host,
            finished: Vec::new(),
            begun: Vec::new(),
            cancels: HashMap::new(),
            source: 0,
            between: 0,
            abandoned: HashMap::new(),
            timers: Timers::default(),
            watchers: HashMap::new(),
            components: HashMap::new(),
            rejections: Vec::new(),
            refused: false,
            exhausted: false,
            maps: Maps::default(),
            static_imports: HashSet::new(),
            files: Vec::new(),
            sources: Version::default(),
            missing: Vec::new(),
            load_failure: None,
            next: 1,
        };
        Arc::new(Self {
            module: config.module.clone(),
            processes: config.processes.clone(),
            generation,
            account: Account::new(config.limits.memory),
            most_source: config.limits.source,
            most_result: config.limits.result,
            changes: Arc::default(),
            version: config.version.clone(),
            inbox: config.inbox.clone(),
            runtime,
            state: Mutex::new(state),
        })
    }

    /// The state. It must not be locked while something is called that may lock it again.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What surrounds the module now.
    pub(crate) fn world(&self) -> Arc<ModuleWorld> {
        Arc::clone(&self.lock().world)
    }

    /// The module has to stop, for this reason.
    pub(crate) fn stop(&self, why: Stop) {
        self.lock().budget.stop(why);
    }

    /// Why the module had to be stopped.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.lock().budget.stopped()
    }

    /// Whether the module has to stop now. The engine asks this while the module works.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().budget.is_over()
    }

    /// A number that was not used before.
    pub(crate) fn next_number(&self) -> u32 {
        let mut state = self.lock();
        let number = state.next;
        state.next = number.wrapping_add(1);
        number
    }

    /// Takes so much of what the host may hold; none, and the module has to stop, when it is too much.
    pub(crate) fn hold(&self, bytes: usize) -> Option<Held> {
        let held = self.account.take(bytes);
        if held.is_none() {
            self.stop(Stop::Memory);
        }
        held
    }

    /// How many bytes of source may still be added.
    pub(crate) fn source_left(&self) -> usize {
        self.most_source.saturating_sub(self.lock().source)
    }

    /// The module is made of so much more source. None is too small to count.
    pub(crate) fn add_source(&self, bytes: usize) {
        let mut state = self.lock();
        state.source = state.source.saturating_add(bytes.max(LEAST_SOURCE));
    }

    /// Makes room for a message or an entry while no call is going on, or refuses it.
    pub(crate) fn take_between(&self, value: &Json) -> Result<(), OpError> {
        let mut state = self.lock();
        state.between = state.between.saturating_add(value.text().len());
        if state.between > self.most_result {
            return Err(OpError::new(format!(
                "between two calls no more than {} KiB are sent",
                self.most_result >> 10
            )));
        }
        Ok(())
    }

    /// A call begins.
    pub(crate) fn begin_call(&self, number: u32, call: CallState) {
        let mut state = self.lock();
        state.between = 0;
        state.calls.insert(number, call);
    }

    /// Whose a process is that is started now: the call's that was begun last, or the module's own.
    pub(crate) fn owner(&self) -> Result<Owner, OpError> {
        let state = self.lock();
        let cancelled = || OpError::new("the call was cancelled").code("ECANCELED");
        match state.calls.last_key_value() {
            Some((_, call)) if call.over.is_cancelled() => Err(cancelled()),
            Some((number, call)) => Ok(Owner { generation: self.generation, call: *number, over: call.over.clone() }),
            None if !state.abandoned.is_empty() => Err(cancelled()),
            None => Ok(Owner { generation: self.generation, call: 0, over: CancelToken::new() }),
        }
    }

    /// What is cancelled when a call is given up.
    pub(crate) fn over_of(&self, call: u32) -> CancelToken {
        self.lock().calls.get(&call).map_or_else(CancelToken::new, |call| call.over.clone())
    }

    /// The host of a call, or of the last one.
    pub(crate) fn host_of(&self, call: u32) -> Arc<dyn Host> {
        let state = self.lock();
        Arc::clone(state.calls.get(&call).map_or(&state.host, |call| &call.host))
    }

    /// The clock of a call, if it has one.
    pub(crate) fn clock_of(&self, call: u32) -> Option<Arc<WallClock>> {
        self.lock().calls.get(&call).and_then(|call| call.clock.clone())
    }

    /// Does something with the call that was begun last.
    pub(crate) fn with_current<T>(&self, work: impl FnOnce(&mut CallState) -> T) -> Option<T> {
        self.lock().calls.values_mut().next_back().map(work)
    }

    /// Sets a timer, if there is room for it.
    pub(crate) fn set_timer(&self, number: u32, wait: Duration) {
        if let Some(held) = self.hold(TIMER) {
            self.lock().timers.set(number, wait, held);
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
        let host = Arc::clone(&self.lock().host);
        host.hook_failed(&failure);
    }
}

impl State {
    /// Whether anything is outstanding that could still settle a promise.
    pub(crate) fn can_go_on(&self) -> bool {
        !(self.timers.is_empty() && self.watchers.is_empty() && self.begun.is_empty())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for task in state.watchers.values().chain(state.abandoned.values()) {
            task.abort();
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
