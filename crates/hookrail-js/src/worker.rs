//! The thread of a module: it receives messages, waits for timers and polls tasks.
//!
//! The module is behind one lock, and the thread that holds it has the turn. That is mostly this thread; for an event
//! whose caller blocks anyway it can be the caller's.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use hookrail::Host;
use hookrail::host::NoticeLevel;
use hookrail::module::{LoadFailure, ModuleInspection, ModuleReturn, ModuleWorld};
use hookrail_spawn::lock;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::late::LateHandlers;
use crate::limits::RuntimeLimits;
use crate::machine::EventLoop;
use crate::module_host::{Answers, ModuleHost, TaskResult};
use crate::processes::{Processes, SharedProcesses};
use crate::shared::{CallState, FACTORY_TAIL};
use crate::source::Version;

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
    pub(crate) world: ModuleWorld,
    pub(crate) call: CallState,
}

pub(crate) enum ModuleJob {
    Event { name: String, payload: String },
    Command { name: String, arguments: String },
    Render { message: String, expanded: bool, width: usize },
}

/// The handle of a module's thread. Dropping it ends the thread.
pub(crate) struct Worker {
    pub(crate) to: mpsc::UnboundedSender<WorkerMessage>,
    /// The module. The thread that holds the lock has the turn.
    pub(crate) host: Arc<Mutex<ModuleHost>>,
    pub(crate) config: Arc<ModuleConfig>,
}

impl Worker {
    pub(crate) fn start(
        module: &Path,
        limits: RuntimeLimits,
        shared: Option<SharedProcesses>,
        version: Option<Arc<Version>>,
        late: Arc<LateHandlers>,
    ) -> std::io::Result<Self> {
        let (to, inbox) = mpsc::unbounded_channel();
        let config = ModuleConfig::new(module, limits, shared, version, late, &to);
        let events = EventLoop::new()?;
        let host = Arc::new(Mutex::new(ModuleHost::new(Arc::clone(&config), events.handle()?)));
        let own = Arc::clone(&host);
        spawn(&limits, move || events.run(serve_module(own, inbox)))?;
        Ok(Self { to, host, config })
    }

    /// Gives work to the thread.
    pub(crate) fn send(&self, work: ModuleWork) {
        self.config.queued.fetch_add(1, Ordering::Relaxed);
        // The receiver lives as long as the thread, and the thread as long as this sender.
        let _ = self.to.send(WorkerMessage::Work(Box::new(work)));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.config.processes.end();
    }
}

/// The configuration of every instance of a module. It is outside the lock, so members that change are atomic.
pub(crate) struct ModuleConfig {
    pub(crate) module: PathBuf,
    pub(crate) limits: RuntimeLimits,
    pub(crate) inbox: mpsc::WeakUnboundedSender<WorkerMessage>,
    /// Set by a thread that does not have the turn, to interrupt the module.
    pub(crate) retired: Arc<AtomicBool>,
    pub(crate) processes: Processes,
    /// The files of the module, if it was inspected before.
    pub(crate) version: Option<Arc<Version>>,
    /// How many messages with work the module's thread has not received yet.
    pub(crate) queued: AtomicUsize,
    /// Handlers that were registered after the factory had ended.
    pub(crate) late: Arc<LateHandlers>,
}

impl ModuleConfig {
    fn new(
        module: &Path,
        limits: RuntimeLimits,
        shared: Option<SharedProcesses>,
        version: Option<Arc<Version>>,
        late: Arc<LateHandlers>,
        to: &mpsc::UnboundedSender<WorkerMessage>,
    ) -> Arc<Self> {
        Arc::new(Self {
            module: module.to_owned(),
            limits,
            inbox: to.downgrade(),
            retired: Arc::default(),
            processes: Processes::new(limits.processes, shared),
            version,
            queued: AtomicUsize::default(),
            late,
        })
    }
}

fn spawn(limits: &RuntimeLimits, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = thread::Builder::new().name("hookrail-module".to_owned()).stack_size(limits.thread_stack());
    thread.spawn(body).map(drop)
}

/// Inspects a module: loads it on a thread of its own and drops it. Returns what it registered, and its files.
pub(crate) fn inspect_module(module: &Path, world: ModuleWorld, limits: RuntimeLimits) -> InspectionResult {
    let failure = |why: String| LoadFailure::new(format!("Failed to load hook: {why}"));
    let (send, receive) = std::sync::mpsc::channel();
    let (to, inbox) = mpsc::unbounded_channel();
    // A module can start no process while it is inspected.
    let config = ModuleConfig::new(module, limits, None, None, LateHandlers::unheard(), &to);
    let retired = Arc::clone(&config.retired);
    let started = EventLoop::new().and_then(|events| {
        let runtime = events.handle()?;
        spawn(&limits, move || {
            events.run(async move {
                let looked = drive_inspection(config, runtime, world, inbox).await;
                // The caller may have stopped waiting.
                let _ = send.send(looked);
            });
        })
    });
    if let Err(error) = started {
        let failure = failure(format!("there is no thread for it: {error}"));
        return InspectionResult::without_files(ModuleInspection::OutOfResources(failure));
    }
    receive.recv_timeout(limits.load + FACTORY_TAIL).unwrap_or_else(|_| {
        retired.store(true, Ordering::Relaxed);
        let failure = failure(format!("it took longer than {} s", limits.load.as_secs()));
        InspectionResult::without_files(ModuleInspection::Failed(failure))
    })
}

/// The result of an inspection.
pub(crate) struct InspectionResult {
    pub(crate) found: ModuleInspection,
    pub(crate) version: Version,
    /// Files that were looked for and could not be read.
    pub(crate) missing: Vec<PathBuf>,
}

impl InspectionResult {
    pub(crate) fn without_files(found: ModuleInspection) -> Self {
        Self { found, version: Version::default(), missing: Vec::new() }
    }

    /// Whether the module can be called, as far as its inspection shows.
    pub(crate) fn can_run(&self) -> bool {
        match &self.found {
            ModuleInspection::Registered(_) | ModuleInspection::Unknown(_) => true,
            ModuleInspection::Failed(_) | ModuleInspection::OutOfResources(_) => false,
        }
    }
}

/// A host that offers nothing and drops log lines: the module is loaded again before it is called, and logs them then.
struct SilentHost;

impl Host for SilentHost {
    fn log(&self, _level: NoticeLevel, _text: &str) {}
}

/// Drives a runtime until the module is loaded or has failed to load.
async fn drive_inspection(
    config: Arc<ModuleConfig>,
    runtime: Handle,
    world: ModuleWorld,
    mut inbox: mpsc::UnboundedReceiver<WorkerMessage>,
) -> InspectionResult {
    let mut host = ModuleHost::new(config, runtime);
    host.open(world, Arc::new(SilentHost));
    loop {
        host.spawn_begun();
        if let Some(looked) = host.inspection_result() {
            return looked;
        }
        let due = host.arm();
        let goes_on = due.is_some() || host.has_ops();
        tokio::select! {
            Some(message) = inbox.recv(), if goes_on => host.take_message(message),
            () = sleep_until(due), if due.is_some() => host.look_after(),
            else => {
                let failure = LoadFailure::new("Failed to load hook: its factory never ends");
                return InspectionResult::without_files(ModuleInspection::Failed(failure));
            }
        }
    }
}

async fn serve_module(host: Arc<Mutex<ModuleHost>>, mut inbox: mpsc::UnboundedReceiver<WorkerMessage>) {
    loop {
        let due = lock(&host).arm();
        let message = tokio::select! {
            message = inbox.recv() => match message {
                Some(message) => Some(message),
                None => return,
            },
            () = sleep_until(due), if due.is_some() => None,
        };
        take_turn(&host, |host| {
            match message {
                Some(message) => host.take_message(message),
                None => host.look_after(),
            }
            host.after_turn();
        });
        while lock(&host).has_waiting() {
            take_turn(&host, ModuleHost::begin_waiting);
        }
    }
}

/// Takes a turn, and sends the answers after it.
fn take_turn(host: &Mutex<ModuleHost>, work: impl FnOnce(&mut ModuleHost)) {
    let answers = {
        let mut host = lock(host);
        work(&mut host);
        host.take_answers()
    };
    send_answers(answers);
}

/// Sends answers, after the turn. A caller may have stopped waiting.
pub(crate) fn send_answers(answers: Answers) {
    for (reply, returned) in answers {
        let _ = reply.send(returned);
    }
}

async fn sleep_until(due: Option<std::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
