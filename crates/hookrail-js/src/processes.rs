//! The processes that one module has started. They end with the module.
//!
//! They are driven on a separate thread and not on the module's: a module that is blocked, or ended in the middle of
//! something, must not keep its processes from being ended. What a module wants of a process is not known here.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use hookrail_spawn::{CancelToken, ChildCommand, ChildResult, Environment, SpawnError};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::leftovers;
use crate::shortage::EventLoop;

/// A limit on the processes that several modules may have at a time, all together.
#[derive(Clone, Debug)]
pub struct SharedProcesses {
    places: Arc<Semaphore>,
    most: u32,
}

impl SharedProcesses {
    /// A limit of this many processes, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = u32::try_from(most.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX).max(1);
        Self { places: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(1))), most }
    }
}

/// How a process ended. Its termination, if it needed one, is complete.
pub(crate) struct EndedProcess {
    pub(crate) how: Result<ChildResult, SpawnError>,
    /// The places are held until the output has been read, because the output takes memory until then.
    _places: Vec<OwnedSemaphorePermit>,
}

/// The processes of one module. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Processes {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Cancelled when the module has ended.
    over: CancelToken,
    under_way: watch::Sender<UnderWay>,
    /// The limit of this module.
    places: Arc<Semaphore>,
    /// The limit of several modules.
    shared: Option<SharedProcesses>,
    /// The identifier of the module in the environment of its processes. The numbers of instance and call follow it.
    mark: String,
    /// Whether a process was ever started. A module without processes need not scan for leftovers.
    any: AtomicBool,
}

/// The processes that have started and not ended, by the name of their program. A scan for leftovers counts too, and has no
/// name.
#[derive(Debug, Default)]
struct UnderWay {
    begun: u64,
    programs: BTreeMap<u64, Option<String>>,
}

/// The owner of a process: an instance of the module, and the call in which it was started. Call 0 is the module
/// itself.
#[derive(Clone, Debug)]
pub(crate) struct ProcessOwner {
    pub(crate) generation: u32,
    pub(crate) call: u32,
    /// Cancelled when the call is abandoned.
    pub(crate) over: CancelToken,
}

/// What to do if the limit of processes is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// Wait until a process has ended.
    Wait,
    /// Fail.
    Refuse,
}

/// A process to start.
pub(crate) struct ProcessRequest {
    pub(crate) command: ChildCommand,
    pub(crate) environment: Arc<Environment>,
    pub(crate) owner: ProcessOwner,
    /// How many places of the limit it takes.
    pub(crate) places: u32,
    pub(crate) when_full: WhenFull,
}

/// Why a process was not started.
#[derive(Debug)]
pub(crate) enum NotStarted {
    /// The thread that drives processes could not be started.
    NoThread(io::Error),
    /// The limit of processes is reached.
    Full,
}

impl Processes {
    /// No processes yet, with a limit for this module and one that it shares with others.
    pub(crate) fn new(places: usize, shared: Option<SharedProcesses>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Unique on this machine: leftover processes are found by it.
        let mark = format!("{}-{:x}-{number}.", std::process::id(), now.as_nanos());
        let places = Arc::new(Semaphore::new(places.clamp(2, Semaphore::MAX_PERMITS)));
        let (over, under_way, any) = (CancelToken::new(), watch::Sender::default(), AtomicBool::new(false));
        Self { inner: Arc::new(Inner { over, under_way, places, shared, mark, any }) }
    }

    /// Counts a process that is about to start.
    pub(crate) fn announce(&self, program: &str) -> RunningProcess {
        RunningProcess::new(&self.inner, Some(program.to_owned()))
    }

    /// Starts a process that was announced, and calls `tell` with its end. The process is ended when the token is cancelled,
    /// when its call is abandoned and when the module ends.
    pub(crate) fn start(
        &self,
        wanted: ProcessRequest,
        announced: RunningProcess,
        cancel: CancelToken,
        tell: impl FnOnce(EndedProcess) + Send + 'static,
    ) -> Result<(), NotStarted> {
        let thread = thread_of_processes().map_err(NotStarted::NoThread)?;
        let inner = Arc::clone(&self.inner);
        let taken = inner.try_acquire_places(wanted.places);
        if taken.is_none() && wanted.when_full == WhenFull::Refuse {
            return Err(NotStarted::Full);
        }
        inner.any.store(true, Ordering::Relaxed);
        let ProcessOwner { generation, call, over } = wanted.owner;
        let environment = Environment::clone(&wanted.environment)
            .with(leftovers::MARK, format!("{}{generation}.{call}.", inner.mark));
        let command = wanted.command.env(Arc::new(environment));
        thread.spawn(async move {
            let stopping = async {
                tokio::select! {
                    () = inner.over.cancelled() => {}
                    () = over.cancelled() => {}
                    () = cancel.cancelled() => {}
                }
                cancel.cancel();
                std::future::pending::<Infallible>().await
            };
            let running = async {
                let places = match taken {
                    Some(places) => places,
                    // A process that is cancelled before it has its places is not started: `run` returns at once.
                    None => tokio::select! {
                        () = cancel.cancelled() => Vec::new(),
                        places = inner.acquire_places(wanted.places) => places,
                    },
                };
                let mut how = hookrail_spawn::run(&command, &cancel).await;
                if let Ok(finished) = &mut how
                    && let Some(termination) = finished.termination.take()
                {
                    termination.finish().await;
                }
                EndedProcess { how, _places: places }
            };
            let ended = tokio::select! {
                biased;
                never = stopping => match never {},
                ended = running => ended,
            };
            tell(ended);
            drop(announced);
        });
        Ok(())
    }

    /// Ends what the processes of a call, or of a whole instance, left behind. The processes themselves have been told
    /// to end.
    pub(crate) fn sweep(&self, generation: u32, call: Option<u32>) {
        let scope = call.map_or_else(|| format!("{generation}."), |call| format!("{generation}.{call}."));
        self.sweep_all(&scope);
    }

    fn sweep_all(&self, scope: &str) {
        if !self.inner.any.load(Ordering::Relaxed) {
            return;
        }
        let mark = format!("{}{scope}", self.inner.mark);
        // Without the thread no process was started.
        if let Ok(thread) = thread_of_processes() {
            let counted = RunningProcess::new(&self.inner, None);
            thread.spawn(async move {
                leftovers::end_marked(&mark).await;
                drop(counted);
            });
        }
    }

    /// Ends all processes and everything that they left behind. A process that is started later is ended too.
    pub(crate) fn end(&self) {
        self.inner.over.cancel();
        self.sweep_all("");
    }

    /// Whether no process is running.
    pub(crate) fn are_gone(&self) -> bool {
        self.inner.under_way.borrow().programs.is_empty()
    }

    /// Waits until no process is running.
    pub(crate) async fn all_gone(&self) {
        // The sender belongs to `self`, so the channel is not closed and this returns only when no process is left.
        let _ = self.inner.under_way.subscribe().wait_for(|under_way| under_way.programs.is_empty()).await;
    }

    /// The programs of the processes that have not ended, in the order in which they were begun.
    pub(crate) fn programs(&self) -> Vec<String> {
        self.inner.under_way.borrow().programs.values().flatten().cloned().collect()
    }
}

/// Waits until none of these processes is running, for at most this long in total.
pub(crate) async fn drain(running: impl Iterator<Item = Processes>, longest: Duration) {
    let running: Vec<Processes> = running.filter(|processes| !processes.are_gone()).collect();
    // A module that started no process needs no thread. Without the thread no process was started.
    if !running.is_empty()
        && let Ok(thread) = thread_of_processes()
    {
        // The wait runs on that thread because the caller may have no tokio runtime, and a timeout needs one.
        let drained = thread.spawn(async move {
            let all_gone = async {
                for processes in &running {
                    processes.all_gone().await;
                }
            };
            tokio::time::timeout(longest, all_gone).await.is_ok()
        });
        let _ = drained.await;
    }
}

impl Inner {
    /// The limits that a process takes places of. The module's own limit comes first, so that a module which waits for
    /// it holds no place of the shared limit. A process that needs more places than the shared limit has takes all of
    /// them.
    fn places(&self, places: u32) -> impl Iterator<Item = (Arc<Semaphore>, u32)> {
        let shared = self.shared.as_ref().map(|all| (Arc::clone(&all.places), places.min(all.most)));
        std::iter::once((Arc::clone(&self.places), places)).chain(shared)
    }

    fn try_acquire_places(&self, places: u32) -> Option<Vec<OwnedSemaphorePermit>> {
        self.places(places).map(|(all, count)| all.try_acquire_many_owned(count).ok()).collect()
    }

    /// Waits for places. The semaphores are never closed, so no place is missing.
    async fn acquire_places(&self, places: u32) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::new();
        for (all, count) in self.places(places) {
            taken.extend(all.acquire_many_owned(count).await);
        }
        taken
    }
}

/// Counts one running process while it exists.
pub(crate) struct RunningProcess {
    inner: Arc<Inner>,
    number: u64,
}

impl RunningProcess {
    fn new(inner: &Arc<Inner>, program: Option<String>) -> Self {
        let mut number = 0;
        inner.under_way.send_modify(|under_way| {
            number = under_way.begun;
            under_way.begun += 1;
            under_way.programs.insert(number, program);
        });
        Self { inner: Arc::clone(inner), number }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.inner.under_way.send_modify(|under_way| drop(under_way.programs.remove(&self.number)));
    }
}

/// The thread that drives the processes of all modules. It is started with the first process.
fn thread_of_processes() -> io::Result<Handle> {
    static THREAD: OnceLock<Handle> = OnceLock::new();
    if let Some(handle) = THREAD.get() {
        return Ok(handle.clone());
    }
    let events = EventLoop::new()?;
    let handle = events.handle()?;
    // If two threads are started at once, one of them stays unused; it costs nothing but its stack.
    thread::Builder::new().name("hookrail-exec".to_owned()).spawn(move || events.run(std::future::pending()))?;
    Ok(THREAD.get_or_init(|| handle).clone())
}
