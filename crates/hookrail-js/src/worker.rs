//! The thread of a module: it receives messages, waits for timers and polls tasks.
//!
//! The module is behind one lock, and the thread that holds it has the turn. That is mostly this thread; for an event
//! whose caller blocks anyway it can be the caller's.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;

use hookrail::Host;
use hookrail::host::NoticeLevel;
use hookrail::module::{LoadFailure, ModuleContext, ModuleInspection};
use hookrail_spawn::lock_mutex;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::late::LateHandlers;
use crate::limits::RuntimeLimits;
use crate::loaded::Version;
use crate::message::{ModuleWork, WorkerMessage};
use crate::module_config::ModuleConfig;
use crate::module_host::{Answers, InspectionResult, ModuleHost};
use crate::processes::SharedProcesses;
use crate::shared::FACTORY_TAIL;
use crate::shortage::EventLoop;

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

fn spawn(limits: &RuntimeLimits, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = thread::Builder::new().name("hookrail-module".to_owned()).stack_size(limits.thread_stack());
    thread.spawn(body).map(drop)
}

/// Inspects a module: loads it on a thread of its own and drops it. Returns what it registered, and its files.
pub(crate) fn inspect_module(module: &Path, world: ModuleContext, limits: RuntimeLimits) -> InspectionResult {
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

/// A host that offers nothing and drops log lines: the module is loaded again before it is called, and logs them then.
struct SilentHost;

impl Host for SilentHost {
    fn log(&self, _level: NoticeLevel, _text: &str) {}
}

/// Drives a runtime until the module is loaded or has failed to load.
async fn drive_inspection(
    config: Arc<ModuleConfig>,
    runtime: Handle,
    world: ModuleContext,
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
        let due = lock_mutex(&host).arm();
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
        while lock_mutex(&host).has_waiting() {
            take_turn(&host, ModuleHost::begin_waiting);
        }
    }
}

/// Takes a turn, and sends the answers after it.
fn take_turn(host: &Mutex<ModuleHost>, work: impl FnOnce(&mut ModuleHost)) {
    let answers = {
        let mut host = lock_mutex(host);
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
