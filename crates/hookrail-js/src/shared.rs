//! The state that an instance shares with the functions that its JavaScript calls.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use hookrail::host::{HookFailure, NoticeLevel};
use hookrail::module::ModuleContext;
use hookrail::{Host, Json};
use hookrail_spawn::CancelToken;
use notify::Watcher;
use tokio::sync::watch;

use crate::account::{HostMemory, MemoryHold};
use crate::call::{CallState, FinishedCall};
use crate::clock::{Budget, WallClock};
use crate::component::ComponentState;
use crate::limits::StopReason;
use crate::loaded::LoadedSources;
use crate::module_config::ModuleConfig;
use crate::op_answer::PendingOp;
use crate::op_error::OpError;
use crate::processes::ProcessOwner;

/// The state that one instance shares with the functions that its JavaScript calls.
///
/// It is part of the instance, behind the lock of its module. JavaScript cannot be handed a reference to it, so while a
/// thread runs the module's code, the value is lent to that thread, where those functions find it: see
/// [`Shared::lend`]. No other thread reaches it. An operation that ends on another thread sends a message.
pub(crate) struct Shared {
    pub(crate) config: Arc<ModuleConfig>,
    /// The number of this instance among all instances of the module.
    pub(crate) generation: u32,
    /// The memory that the host holds for the module. Tasks on the module's thread reserve from it too, so it is
    /// atomic.
    pub(crate) account: HostMemory,
    /// How many changes of watched files wait to be reported to the module. Watchers count them on their own threads.
    pub(crate) changes: Arc<AtomicUsize>,
    state: RefCell<InstanceState>,
}

/// The state of an instance that changes.
pub(crate) struct InstanceState {
    pub(crate) world: Arc<ModuleContext>,
    pub(crate) budget: Budget,
    /// The calls in progress, by number. Number zero is loading.
    pub(crate) calls: BTreeMap<u32, CallState>,
    /// The host of the last call, for requests that are made between calls.
    pub(crate) host: Arc<dyn Host>,
    /// Calls that have ended.
    pub(crate) finished: Vec<FinishedCall>,
    /// Tasks that were started and are not polled yet.
    pub(crate) started_tasks: Vec<StartedTask>,
    pub(crate) cancels: HashMap<u32, CancelToken>,
    /// How many bytes the module has sent to the session since the last call started, while no call was in progress.
    between: usize,
    /// How many bytes the module has printed since the last call started, while no call was in progress.
    printed_between: usize,
    /// What the module printed while it was loaded. The first call reports it.
    pub(crate) printed_at_load: Option<(Vec<u8>, Vec<u8>)>,
    /// Calls that were abandoned and have not ended, each with the rest of its time.
    pub(crate) abandoned: HashMap<u32, Arc<WallClock>>,
    pub(crate) timers: Timers,
    /// Until when calls wait for work that the factory started and did not wait for. `None` if nothing is waited for.
    pub(crate) tail: Option<Instant>,
    pub(crate) watchers: HashMap<u32, Box<dyn Watcher + Send>>,
    pub(crate) components: HashMap<u32, ShownComponent>,
    /// Rejected promises that have no handler yet.
    pub(crate) rejections: Vec<Rejection>,
    /// Why operations were refused that need a capability. The next call that ends reports them.
    pub(crate) refusals: Vec<String>,
    /// Whether the machine was short of a resource that the module needed.
    pub(crate) exhausted: bool,
    pub(crate) sources: LoadedSources,
    next: u32,
}

/// A task that was started and is not polled yet.
pub(crate) struct StartedTask {
    pub(crate) number: u32,
    pub(crate) op: PendingOp,
    pub(crate) held: MemoryHold,
}

/// A component that is shown.
pub(crate) struct ShownComponent {
    pub(crate) state: watch::Sender<ComponentState>,
    pub(crate) _held: MemoryHold,
}

/// A rejected promise, by a number that identifies it, and the reason.
pub(crate) struct Rejection {
    pub(crate) promise: u64,
    pub(crate) message: String,
    pub(crate) _held: MemoryHold,
}

/// A stream that a module prints to.
#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

/// What a module sends to its session.
#[derive(Clone, Copy)]
pub(crate) enum SessionAddition {
    Message,
    Entry,
}

/// How many bytes of a module's output are kept for one call.
const OUTPUT_LIMIT: usize = 64 * 1024;

thread_local! {
    /// The state of the module whose code this thread runs.
    static LENT: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

/// The state of the module whose code this thread runs. It must be dropped before the turn ends.
pub(crate) fn lent() -> Option<Rc<Shared>> {
    LENT.with_borrow(Clone::clone)
}

impl Shared {
    pub(crate) fn new(config: &Arc<ModuleConfig>, generation: u32, world: ModuleContext, host: Arc<dyn Host>) -> Self {
        let loading = CallState::new(Arc::clone(&host));
        let state = InstanceState {
            world: Arc::new(world),
            budget: Budget::new(&config.limits, Arc::clone(&config.retired)),
            calls: BTreeMap::from([(0, loading)]),
            host,
            finished: Vec::new(),
            started_tasks: Vec::new(),
            cancels: HashMap::new(),
            between: 0,
            printed_between: 0,
            printed_at_load: None,
            abandoned: HashMap::new(),
            timers: Timers::default(),
            tail: None,
            watchers: HashMap::new(),
            components: HashMap::new(),
            rejections: Vec::new(),
            refusals: Vec::new(),
            exhausted: false,
            sources: LoadedSources::default(),
            next: 1,
        };
        let account = HostMemory::new(config.limits.memory);
        let config = Arc::clone(config);
        Self { config, generation, account, changes: Arc::default(), state: RefCell::new(state) }
    }

    /// Lends this to the thread while it runs the module's code, and returns it. The result is `None` if a reference to
    /// it is still held, which ends the instance. A function of the host may run another module on the same thread, so
    /// the value that was lent before is restored afterwards. The work must not panic.
    pub(crate) fn lend<T>(self, work: impl FnOnce(&Self) -> T) -> (Option<Self>, T) {
        let shared = Rc::new(self);
        let outer = LENT.replace(Some(Rc::clone(&shared)));
        let done = work(&shared);
        LENT.set(outer);
        (Rc::into_inner(shared), done)
    }

    /// The state, for functions that JavaScript calls. It is a `RefCell`: it must not be held across a call that may
    /// borrow it again.
    pub(crate) fn state(&self) -> RefMut<'_, InstanceState> {
        self.state.borrow_mut()
    }

    /// The state, between turns.
    pub(crate) fn state_mut(&mut self) -> &mut InstanceState {
        self.state.get_mut()
    }

    /// The directory, environment and capabilities that the module has now.
    pub(crate) fn world(&self) -> Arc<ModuleContext> {
        Arc::clone(&self.state().world)
    }

    /// Stops the module for this reason.
    pub(crate) fn stop(&self, why: StopReason) {
        self.state().budget.stop(why);
    }

    /// Why the module had to be stopped.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.state().budget.stopped()
    }

    /// Whether the module has to stop now. The JavaScript engine asks this while the module works.
    pub(crate) fn is_over(&self) -> bool {
        self.state().budget.is_over()
    }

    /// A number that was not used before.
    pub(crate) fn next_number(&self) -> u32 {
        let mut state = self.state();
        let number = state.next;
        state.next = number.wrapping_add(1);
        number
    }

    /// Reserves memory that the host holds. If it is too much, the result is `None` and the module has to stop.
    pub(crate) fn hold_memory(&self, bytes: usize) -> Option<MemoryHold> {
        let held = self.account.reserve(bytes);
        if held.is_none() {
            self.stop(StopReason::Memory);
        }
        held
    }

    /// Takes a message or an entry as part of the call in progress, or gives it to the host between calls. What a call
    /// sends is kept outside the module's heap, so it has a limit.
    pub(crate) fn send_to_session(&self, what: SessionAddition, value: Json) -> Result<(), OpError> {
        let most = self.config.limits.result;
        let mut state = self.state();
        let InstanceState { calls, between, host, .. } = &mut *state;
        let mut call = calls.values_mut().next_back();
        let taken = call.as_mut().map_or(between, |call| &mut call.taken);
        *taken = taken.saturating_add(value.text().len());
        if *taken > most {
            let kib = most >> 10;
            return Err(OpError::new(match call {
                Some(_) => format!("one call sends no more than {kib} KiB"),
                None => format!("between two calls no more than {kib} KiB are sent"),
            }));
        }
        match (call, what) {
            (Some(call), SessionAddition::Message) => call.messages.push(value),
            (Some(call), SessionAddition::Entry) => call.entries.push(value),
            (None, _) => {
                let host = Arc::clone(host);
                drop(state);
                match what {
                    SessionAddition::Message => host.send_message(&value),
                    SessionAddition::Entry => host.append_entry(&value),
                }
            }
        }
        Ok(())
    }

    /// The owner of a process that is started now: the call that was started last, or the module itself.
    pub(crate) fn owner(&self) -> Result<ProcessOwner, OpError> {
        let state = self.state();
        let cancelled = || OpError::new("the call was cancelled").code("ECANCELED");
        match state.calls.last_key_value() {
            Some((_, call)) if call.over.is_cancelled() => Err(cancelled()),
            Some((number, call)) => {
                Ok(ProcessOwner { generation: self.generation, call: *number, over: call.over.clone() })
            }
            None if !state.abandoned.is_empty() => Err(cancelled()),
            None => Ok(ProcessOwner { generation: self.generation, call: 0, over: CancelToken::new() }),
        }
    }

    /// The host of a call, or of the last one.
    pub(crate) fn host_of(&self, call: u32) -> Arc<dyn Host> {
        let state = self.state();
        Arc::clone(state.calls.get(&call).map_or(&state.host, |call| &call.host))
    }

    /// Records an exception or a rejection that was not handled as a failure of the call that was started last, if
    /// there is one, and tells the host.
    pub(crate) fn record_unhandled(&self, event: &str, message: String) {
        let mut state = self.state();
        match state.calls.values_mut().next_back() {
            Some(call) => call.lost = Some(message),
            None => {
                drop(state);
                self.report_failure(event, &message);
            }
        }
    }

    /// Sets a timer, if the account has memory for it.
    pub(crate) fn set_timer(&self, number: u32, wait: Duration, turn: TimerTurn) {
        if let Some(held) = self.hold_memory(TIMER_MEMORY) {
            self.state().timers.set(number, wait, SetTimer { turn, _held: held });
        }
    }

    /// Keeps output of the module with the call in progress, and gives it to the host's log.
    pub(crate) fn print(&self, stream: u32, text: &str) {
        let (stream, level) = match stream {
            1 => (Stream::Out, NoticeLevel::Info),
            _ => (Stream::Err, NoticeLevel::Warning),
        };
        let kept = self.keep_output(stream, text);
        let line = text.get(..kept).unwrap_or_default().trim_end_matches('\n');
        if !line.is_empty() {
            self.host_of(0).log(level, line);
        }
    }

    /// Gives a line of the module's logger to the host's log, and keeps it with the output of the call in progress.
    pub(crate) fn log(&self, level: NoticeLevel, text: &str) {
        let name = match level {
            NoticeLevel::Debug => "debug",
            NoticeLevel::Info => "info",
            NoticeLevel::Warning => "warning",
            NoticeLevel::Error => "error",
        };
        if self.keep_output(Stream::Err, &format!("{name}: {text}\n")) > 0 {
            self.host_of(0).log(level, text);
        }
    }

    /// Keeps output of the call in progress up to the limit. Returns how many bytes were kept. Between calls nothing is
    /// kept, and the same limit holds for what the host's log gets.
    fn keep_output(&self, stream: Stream, text: &str) -> usize {
        let mut state = self.state();
        let InstanceState { calls, printed_between, .. } = &mut *state;
        let kept = calls.values_mut().next_back().map(|call| match stream {
            Stream::Out => &mut call.stdout,
            Stream::Err => &mut call.stderr,
        });
        let taken = kept.as_ref().map_or(*printed_between, |kept| kept.len());
        let room = text.floor_char_boundary(OUTPUT_LIMIT.saturating_sub(taken));
        match kept {
            Some(kept) => kept.extend(text.bytes().take(room)),
            None => *printed_between += room,
        }
        room
    }

    /// Tells the host of a failure that belongs to no call.
    pub(crate) fn report_failure(&self, event: &str, message: &str) {
        let failure = HookFailure::new(self.config.module.to_string_lossy(), event, message);
        self.host_of(0).hook_failed(&failure);
    }
}

impl InstanceState {
    /// Starts a call. The first one also gets what the module printed while it was loaded.
    pub(crate) fn begin_call(&mut self, number: u32, mut call: CallState) {
        (self.between, self.printed_between) = (0, 0);
        if let Some((stdout, stderr)) = self.printed_at_load.take() {
            (call.stdout, call.stderr) = (stdout, stderr);
        }
        self.calls.insert(number, call);
    }

    /// Whether the module is still being loaded.
    pub(crate) fn is_loading(&self) -> bool {
        self.calls.contains_key(&0)
    }

    /// Whether an operation is outstanding that could still settle a promise.
    pub(crate) fn can_go_on(&self) -> bool {
        !(self.timers.due.is_empty() && self.watchers.is_empty() && self.started_tasks.is_empty())
    }

    /// Begins to wait for the work that the factory started and did not wait for.
    pub(crate) fn begin_tail(&mut self) {
        self.tail = Instant::now().checked_add(FACTORY_TAIL);
    }

    /// Whether a timer or an operation that has not started could still register a handler before this time.
    pub(crate) fn has_tail(&self, until: Instant) -> bool {
        !self.started_tasks.is_empty() || self.timers.next_first().is_some_and(|at| at < until)
    }

    /// When the next timer is due or the time of an abandoned call is used up.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let timer = self.timers.due.keys().next().map(|(at, _)| *at);
        let overdue = self.abandoned.values().filter_map(|clock| Instant::now().checked_add(clock.remaining()));
        overdue.chain(timer).min()
    }
}

/// How long the first call of an instance waits for work that the factory started and did not wait for. A process that
/// fires one event would otherwise end before a handler is registered that a running agent would have.
pub(crate) const FACTORY_TAIL: Duration = Duration::from_secs(1);

/// Whether a timer was due before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerTurn {
    First,
    Again,
}

#[derive(Debug)]
struct SetTimer {
    turn: TimerTurn,
    _held: MemoryHold,
}

/// Timers, ordered by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeMap<(Instant, u32), SetTimer>,
    by_number: HashMap<u32, Instant>,
}

/// The number of bytes that are counted for a timer.
const TIMER_MEMORY: usize = 192;

impl Timers {
    fn set(&mut self, number: u32, wait: Duration, timer: SetTimer) {
        self.clear(number);
        if let Some(at) = Instant::now().checked_add(wait) {
            self.due.insert((at, number), timer);
            self.by_number.insert(number, at);
        }
    }

    pub(crate) fn clear(&mut self, number: u32) {
        if let Some(at) = self.by_number.remove(&number) {
            self.due.remove(&(at, number));
        }
    }

    /// When the next timer is due that was not due before. What an interval does again and again, it did the first time.
    fn next_first(&self) -> Option<Instant> {
        self.due.iter().find(|(_, timer)| timer.turn == TimerTurn::First).map(|((at, _), _)| *at)
    }

    /// Removes a timer that is due, and returns it.
    pub(crate) fn take_due(&mut self) -> Option<u32> {
        let (at, number) = *self.due.keys().next()?;
        (at <= Instant::now()).then(|| {
            self.clear(number);
            number
        })
    }
}
