//! The processes that one module has started, which end with it.
//!
//! They are driven on a thread of their own and not on the module's: a module that stands still, or is thrown away in
//! the middle of something, must not keep its processes from being ended properly. This does not know what a module
//! wants of a process.

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
use crate::machine::EventLoop;

/// How many processes the modules that share this may have at a time, all of them together.
#[derive(Clone, Debug)]
pub struct SharedProcesses {
    places: Arc<Semaphore>,
    most: u32,
}

impl SharedProcesses {
    /// With so many places, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = u32::try_from(most.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX).max(1);
        Self { places: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(1))), most }
    }
}

/// How a process ended. Whatever had to be done to end it has been done by then.
pub(crate) struct EndedProcess {
    pub(crate) how: Result<ChildResult, SpawnError>,
    /// Its place is taken until its output has been read, because that is kept until then.
    _places: Vec<OwnedSemaphorePermit>,
}

/// The processes of one module. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Processes {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Whether the module is gone.
    over: CancelToken,
    under_way: watch::Sender<UnderWay>,
    /// How many may be there at a time.
    places: Arc<Semaphore>,
    /// How many all modules may have at a time.
    shared: Option<SharedProcesses>,
    /// What every process of this module has in its environment, before what says which call it is of.
    mark: String,
    /// Whether there was any.
    any: AtomicBool,
}

/// What has begun and has not ended: processes, by the name of their program, and the ending of what they left behind, which
/// has none.
#[derive(Debug, Default)]
struct UnderWay {
    begun: u64,
    programs: BTreeMap<u64, Option<String>>,
}

/// Whose process it is: the instance of the module, and the call that was going on. Without a call it is the module's own.
#[derive(Clone, Debug)]
pub(crate) struct ProcessOwner {
    pub(crate) generation: u32,
    pub(crate) call: u32,
    /// Cancelled when the call is given up.
    pub(crate) over: CancelToken,
}

/// What to do when as many processes are there as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// Wait until one has ended.
    Wait,
    /// Do without.
    Refuse,
}

/// A process that is to be started.
pub(crate) struct ProcessRequest {
    pub(crate) command: ChildCommand,
    pub(crate) environment: Arc<Environment>,
    pub(crate) owner: ProcessOwner,
    /// How many places it takes.
    pub(crate) places: u32,
    pub(crate) when_full: WhenFull,
}

/// Why a process is not even tried to be started.
#[derive(Debug)]
pub(crate) enum NotStarted {
    /// There is no thread for processes.
    NoThread(io::Error),
    /// There are as many as there may be.
    Full,
}

impl Processes {
    /// With so many places, and a share of those that all modules have.
    pub(crate) fn new(places: usize, shared: Option<SharedProcesses>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Unique on this machine, because processes are found by it when they have to end.
        let mark = format!("{}-{:x}-{number}.", std::process::id(), now.as_nanos());
        let places = Arc::new(Semaphore::new(places.clamp(2, Semaphore::MAX_PERMITS)));
        let (over, under_way, any) = (CancelToken::new(), watch::Sender::default(), AtomicBool::new(false));
        Self { inner: Arc::new(Inner { over, under_way, places, shared, mark, any }) }
    }

    /// Counts a process that is about to be started.
    pub(crate) fn announce(&self, program: &str) -> RunningProcess {
        RunningProcess::new(&self.inner, Some(program.to_owned()))
    }

    /// Starts a process that was announced, and tells how it ended. Cancelling the token ends it, and so does the end of its call and of
    /// the module.
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
                    // When it was stopped before it had its places, it is not started at all.
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

    /// Ends what the processes of a call, or of a whole runtime, have left behind. They themselves have been told to end.
    pub(crate) fn sweep(&self, generation: u32, call: Option<u32>) {
        let scope = call.map_or_else(|| format!("{generation}."), |call| format!("{generation}.{call}."));
        self.sweep_all(&scope);
    }

    fn sweep_all(&self, scope: &str) {
        if !self.inner.any.load(Ordering::Relaxed) {
            return;
        }
        let mark = format!("{}{scope}", self.inner.mark);
        // Without a thread there was no process.
        if let Ok(thread) = thread_of_processes() {
            let counted = RunningProcess::new(&self.inner, None);
            thread.spawn(async move {
                leftovers::end_marked(&mark).await;
                drop(counted);
            });
        }
    }

    /// Ends all of them, everything that they have left behind, and every one that is still to come.
    pub(crate) fn end(&self) {
        self.inner.over.cancel();
        self.sweep_all("");
    }

    /// Whether none is left.
    pub(crate) fn are_gone(&self) -> bool {
        self.inner.under_way.borrow().programs.is_empty()
    }

    /// Waits until none is left.
    pub(crate) async fn all_gone(&self) {
        // The sender is kept here, so this ends only when the last one has ended.
        let _ = self.inner.under_way.subscribe().wait_for(|under_way| under_way.programs.is_empty()).await;
    }

    /// The programs of the processes that have not ended, in the order in which they were begun.
    pub(crate) fn programs(&self) -> Vec<String> {
        self.inner.under_way.borrow().programs.values().flatten().cloned().collect()
    }
}

/// Waits until none of these processes is left, but no longer than that in all.
pub(crate) async fn drain(running: impl Iterator<Item = Processes>, longest: Duration) {
    let running: Vec<Processes> = running.filter(|processes| !processes.are_gone()).collect();
    // Without a thread there was no process.
    if let Ok(thread) = thread_of_processes()
        && !running.is_empty()
    {
        // The caller may have no runtime, and waiting takes a clock.
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
    /// Where a process takes how many places. Those of the module itself come first, so that a module that waits takes
    /// nothing from the others. A process that wants more than all modules have takes all of those.
    fn places(&self, places: u32) -> impl Iterator<Item = (Arc<Semaphore>, u32)> {
        let shared = self.shared.as_ref().map(|all| (Arc::clone(&all.places), places.min(all.most)));
        std::iter::once((Arc::clone(&self.places), places)).chain(shared)
    }

    fn try_acquire_places(&self, places: u32) -> Option<Vec<OwnedSemaphorePermit>> {
        self.places(places).map(|(all, count)| all.try_acquire_many_owned(count).ok()).collect()
    }

    /// Waits for places. The semaphores are never closed.
    async fn acquire_places(&self, places: u32) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::new();
        for (all, count) in self.places(places) {
            taken.extend(all.acquire_many_owned(count).await);
        }
        taken
    }
}

/// One process that is under way, until this is dropped.
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

/// The thread on which the processes of all modules are driven; it is started with the first of them.
fn thread_of_processes() -> io::Result<Handle> {
    static THREAD: OnceLock<Handle> = OnceLock::new();
    if let Some(handle) = THREAD.get() {
        return Ok(handle.clone());
    }
    let events = EventLoop::new()?;
    let handle = events.handle()?;
    // Of two threads that are started at once, one is not used; it costs nothing but its stack.
    thread::Builder::new().name("hookrail-exec".to_owned()).spawn(move || events.run(std::future::pending()))?;
    Ok(THREAD.get_or_init(|| handle).clone())
}
