//! What an instance and the functions that its JavaScript calls have in common.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use hookrail::host::{HookFailure, NoticeLevel};
use hookrail::module::{LoadFailure, ModuleReturn, ModuleWorld};
use hookrail::{Host, Json};
use hookrail_spawn::CancelToken;
use notify::Watcher;
use tokio::sync::{oneshot, watch};

use crate::account::{HostMemory, MemoryHold};
use crate::clock::{Budget, StopReason, WallClock};
use crate::component::ComponentState;
use crate::ops::{OpError, PendingOp};
use crate::processes::ProcessOwner;
use crate::source::{SourceMaps, Version};
use crate::worker::ModuleConfig;

/// What one instance and the functions that its JavaScript calls have in common.
///
/// It is part of the instance, behind the lock of its module. JavaScript cannot be handed a reference to it, so while a
/// thread runs the module's code, the value is lent to that thread, where those functions find it: see [`Shared::lend`].
/// No other thread reaches it. What ends elsewhere sends a message.
pub(crate) struct Shared {
    pub(crate) config: Arc<ModuleConfig>,
    /// The how manieth instance of the module this is.
    generation: u32,
    /// What the host holds for the module. Tasks on the module's thread count in it, too, so it is made of atomics.
    pub(crate) account: HostMemory,
    /// How many changes of watched files the module was not told of yet. Watchers count them on threads of their own.
    pub(crate) changes: Arc<AtomicUsize>,
    state: RefCell<InstanceState>,
}

/// Everything about an instance that changes.
pub(crate) struct InstanceState {
    pub(crate) world: Arc<ModuleWorld>,
    pub(crate) budget: Budget,
    /// The calls that are being worked on, by number. Number zero is loading.
    pub(crate) calls: BTreeMap<u32, CallState>,
    /// The host of the last call, for what happens between calls.
    pub(crate) host: Arc<dyn Host>,
    /// Calls that have ended.
    pub(crate) finished: Vec<FinishedCall>,
    /// Tasks that were begun and are not yet being polled.
    pub(crate) begun: Vec<StartedTask>,
    pub(crate) cancels: HashMap<u32, CancelToken>,
    /// How many bytes it has sent since the last call began, while none was going on.
    between: usize,
    /// How many bytes it has printed since the last call began, while none was going on.
    printed_between: usize,
    /// What the module printed while it was loaded, for the first call.
    pub(crate) printed_at_load: Option<(Vec<u8>, Vec<u8>)>,
    /// Calls that were given up and have not ended, each with the rest of its time.
    pub(crate) abandoned: HashMap<u32, Arc<WallClock>>,
    pub(crate) timers: Timers,
    pub(crate) watchers: HashMap<u32, Box<dyn Watcher + Send>>,
    pub(crate) components: HashMap<u32, ShownComponent>,
    /// Rejected promises that are not handled yet.
    pub(crate) rejections: Vec<Rejection>,
    /// Whether something was refused because it needs a capability.
    pub(crate) refused: bool,
    /// Whether the machine ran out of something that the module needed.
    pub(crate) exhausted: bool,
    pub(crate) sources: LoadedSources,
    next: u32,
}

/// What a module is made of, as far as it is loaded.
#[derive(Default)]
pub(crate) struct LoadedSources {
    /// How many bytes of source it is made of so far.
    pub(crate) bytes: usize,
    pub(crate) maps: SourceMaps,
    /// What the import declarations of its files name, each with the file that it stands in.
    pub(crate) static_imports: HashSet<(String, String)>,
    /// The files the module is made of.
    pub(crate) version: Version,
    /// Files that were looked for and could not be read.
    pub(crate) missing: Vec<std::path::PathBuf>,
    pub(crate) failure: Option<LoadFailure>,
}

/// A task that was begun and is not yet being polled.
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

/// A promise that was rejected, by a number that stands for it, and what it was rejected with.
pub(crate) struct Rejection {
    pub(crate) promise: u64,
    pub(crate) message: String,
    pub(crate) _held: MemoryHold,
}

/// A call that has ended, with its result and its failures as JSON text, where there are any.
pub(crate) struct FinishedCall {
    pub(crate) call: u32,
    pub(crate) result: Option<String>,
    pub(crate) failures: Option<String>,
    /// Names of members of the handlers' results that mean nothing in the event, as JSON text.
    pub(crate) unknown: Option<String>,
}

/// One call while it is being worked on.
pub(crate) struct CallState {
    /// What its failures are reported under; none for a call whose failures the host is not told of.
    pub(crate) event: Option<String>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) clock: Option<Arc<WallClock>>,
    /// Cancelled when the call is given up.
    pub(crate) over: CancelToken,
    pub(crate) reply: Option<oneshot::Sender<ModuleReturn>>,
    pub(crate) messages: Vec<Json>,
    pub(crate) entries: Vec<Json>,
    /// How many bytes the messages and entries have.
    pub(crate) taken: usize,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// A rejection that was not handled while the call was going on.
    pub(crate) lost: Option<String>,
}

impl CallState {
    /// A call that has no limit on its time and is not answered.
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

/// How much of what a module prints is kept for one call.
const MOST_OUTPUT: usize = 64 * 1024;

thread_local! {
    /// What belongs to the module whose code this thread runs.
    static LENT: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

/// What belongs to the module whose code this thread runs. It must be let go of before the turn is over.
pub(crate) fn lent() -> Option<Rc<Shared>> {
    LENT.with_borrow(Clone::clone)
}

impl Shared {
    pub(crate) fn new(config: &Arc<ModuleConfig>, generation: u32, world: ModuleWorld, host: Arc<dyn Host>) -> Self {
        let loading = CallState::new(Arc::clone(&host));
        let state = InstanceState {
            world: Arc::new(world),
            budget: Budget::new(&config.limits, Arc::clone(&config.retired)),
            calls: BTreeMap::from([(0, loading)]),
            host,
            finished: Vec::new(),
            begun: Vec::new(),
            cancels: HashMap::new(),
            between: 0,
            printed_between: 0,
            printed_at_load: None,
            abandoned: HashMap::new(),
            timers: Timers::default(),
            watchers: HashMap::new(),
            components: HashMap::new(),
            rejections: Vec::new(),
            refused: false,
            exhausted: false,
            sources: LoadedSources::default(),
            next: 1,
        };
        let account = HostMemory::new(config.limits.memory);
        let config = Arc::clone(config);
        Self { config, generation, account, changes: Arc::default(), state: RefCell::new(state) }
    }

    /// Lends this to the thread while it runs the module's code, and gives it back; none when something still holds it,
    /// which ends the instance. A function of the host may run another module on the same thread, so what was lent
    /// before is put aside. The work must not panic.
    pub(crate) fn lend<T>(self, work: impl FnOnce(&Self) -> T) -> (Option<Self>, T) {
        let shared = Rc::new(self);
        let outer = LENT.replace(Some(Rc::clone(&shared)));
        let done = work(&shared);
        LENT.set(outer);
        (Rc::into_inner(shared), done)
    }

    /// The state, for the functions that JavaScript calls. It must not be held while something is called that may ask for
    /// it again.
    pub(crate) fn state(&self) -> RefMut<'_, InstanceState> {
        self.state.borrow_mut()
    }

    /// The state, between turns.
    pub(crate) fn state_mut(&mut self) -> &mut InstanceState {
        self.state.get_mut()
    }

    /// What surrounds the module now.
    pub(crate) fn world(&self) -> Arc<ModuleWorld> {
        Arc::clone(&self.state().world)
    }

    /// The module has to stop, for this reason.
    pub(crate) fn stop(&self, why: StopReason) {
        self.state().budget.stop(why);
    }

    /// Why the module had to be stopped.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.state().budget.stopped()
    }

    /// Whether the module has to stop now. The engine asks this while the module works.
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

    /// Takes so much of what the host may hold; none, and the module has to stop, when it is too much.
    pub(crate) fn hold_memory(&self, bytes: usize) -> Option<MemoryHold> {
        let held = self.account.reserve(bytes);
        if held.is_none() {
            self.stop(StopReason::Memory);
        }
        held
    }

    /// Takes a message or an entry: as part of the call that is going on, or for the host itself between calls. What a
    /// call sends is kept here, outside the module's own memory, so it has a limit.
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

    /// Whose a process is that is started now: the call's that was begun last, or the module's own.
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

    /// Something was thrown, or a promise rejected, and not handled: that is a failure of the call that was begun last, or
    /// else of none, and the host is told.
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

    /// Sets a timer, if there is room for it.
    pub(crate) fn set_timer(&self, number: u32, wait: Duration) {
        if let Some(held) = self.hold_memory(TIMER) {
            self.state().timers.set(number, wait, held);
        }
    }

    /// Keeps what a module prints with the call that is going on, and gives it to the host's log.
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

    /// Gives a line of the module's logger to the host's log, and keeps it with what the call that is going on prints.
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

    /// Keeps output of the call that is going on, as far as there is room. Returns how many bytes there was room for.
    /// Between calls nothing is kept, and the same limit holds for what the host's log gets.
    fn keep_output(&self, stream: Stream, text: &str) -> usize {
        let mut state = self.state();
        let InstanceState { calls, printed_between, .. } = &mut *state;
        let kept = calls.values_mut().next_back().map(|call| match stream {
            Stream::Out => &mut call.stdout,
            Stream::Err => &mut call.stderr,
        });
        let taken = kept.as_ref().map_or(*printed_between, |kept| kept.len());
        let room = text.floor_char_boundary(MOST_OUTPUT.saturating_sub(taken));
        match kept {
            Some(kept) => kept.extend(text.bytes().take(room)),
            None => *printed_between += room,
        }
        room
    }

    /// Tells the host of a failure that no call can be blamed for.
    pub(crate) fn report_failure(&self, event: &str, message: &str) {
        let failure = HookFailure::new(self.config.module.to_string_lossy(), event, message);
        self.host_of(0).hook_failed(&failure);
    }
}

impl InstanceState {
    /// A call begins. The first one also has what the module printed while it was loaded, which has no run of its own.
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

    /// Whether anything is outstanding that could still settle a promise.
    pub(crate) fn can_go_on(&self) -> bool {
        !(self.timers.due.is_empty() && self.watchers.is_empty() && self.begun.is_empty())
    }

    /// When the module has to be looked after, if nothing happens before: a timer is due, or the time is up of a call that
    /// was given up.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let timer = self.timers.due.keys().next().map(|(at, _)| *at);
        let overdue = self.abandoned.values().filter_map(|clock| Instant::now().checked_add(clock.remaining()));
        overdue.chain(timer).min()
    }
}

/// Timers by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeMap<(Instant, u32), MemoryHold>,
    by_number: HashMap<u32, Instant>,
}

/// What a timer takes.
const TIMER: usize = 192;

impl Timers {
    fn set(&mut self, number: u32, wait: Duration, held: MemoryHold) {
        self.clear(number);
        if let Some(at) = Instant::now().checked_add(wait) {
            self.due.insert((at, number), held);
            self.by_number.insert(number, at);
        }
    }

    pub(crate) fn clear(&mut self, number: u32) {
        if let Some(at) = self.by_number.remove(&number) {
            self.due.remove(&(at, number));
        }
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
