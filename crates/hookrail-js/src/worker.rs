//! The thread around a runtime: the loop that takes messages, waits for timers and drives what was begun.
//!
//! The runtime itself stands on a stage, which whoever has the lock may use; most of the time that is this thread, and
//! for an event that somebody waits for on a thread of their own it can be that one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use hookrail::{Digest, Host, LoadFailure, ModuleInspection, ModuleReturn, ModuleWorld, NoHost};
use hookrail_spawn::{CancelToken, lock};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::account::Held;
use crate::clock::WallClock;
use crate::limits::Limits;
use crate::machine::EventLoop;
use crate::processes::{Processes, SharedProcesses};
use crate::source::Version;
use crate::stage::Stage;

/// What a module's thread is told.
pub(crate) enum Message {
    /// Do something, and answer.
    Work(Box<Work>),
    /// Nobody waits for that answer any more.
    Abandon(u32),
    /// An operation has ended; without an answer when it was broken off.
    Settled { act: u32, number: u32, answer: Option<(String, Held)> },
    /// A call that nobody waits for has not ended in its time.
    Overdue { act: u32, call: u32 },
    /// A watched file has changed.
    Changed { watcher: u32, kind: &'static str, name: String },
    /// Draw a component.
    Draw { component: u32, width: usize, reply: oneshot::Sender<Vec<String>> },
    /// Give a component a key press.
    Key { component: u32, data: String },
    /// The next timer is another one than the thread waits for.
    Rearm,
}

/// Something to be done by a module.
pub(crate) struct Work {
    pub(crate) number: u32,
    pub(crate) job: Job,
    pub(crate) world: ModuleWorld,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) clock: Option<Arc<WallClock>>,
    /// Whether nobody wants it any more.
    pub(crate) over: CancelToken,
    pub(crate) reply: oneshot::Sender<ModuleReturn>,
}

pub(crate) enum Job {
    Event { name: String, payload: String },
    Command { name: String, arguments: String },
    Render { message: String, expanded: bool, width: usize },
}

/// A module's thread, seen from outside. It ends when this is gone.
pub(crate) struct Worker {
    pub(crate) to: mpsc::UnboundedSender<Message>,
    /// Ends whatever the module is doing.
    pub(crate) kill: Arc<AtomicBool>,
    /// What it has started.
    pub(crate) processes: Processes,
    /// The files the module was made of when it was loaded last.
    pub(crate) files: Arc<Mutex<Vec<(PathBuf, Digest)>>>,
    pub(crate) stage: Arc<Mutex<Stage>>,
    /// What the module is made of, if it was looked into before.
    pub(crate) version: Option<Arc<Version>>,
    queued: Arc<AtomicUsize>,
}

impl Worker {
    pub(crate) fn start(
        module: &Path,
        limits: Limits,
        shared: Option<SharedProcesses>,
        version: Option<Arc<Version>>,
    ) -> std::io::Result<Self> {
        let (to, inbox) = mpsc::unbounded_channel();
        let seat = Seat { version: version.clone(), ..Seat::new(module, limits, shared, &to) };
        let (kill, processes, files) = (Arc::clone(&seat.kill), seat.processes.clone(), Arc::clone(&seat.files));
        let queued = Arc::clone(&seat.queued);
        let events = EventLoop::new()?;
        let stage = Arc::new(Mutex::new(Stage::new(seat, events.handle()?)));
        let own = Arc::clone(&stage);
        spawn(&limits, move || events.run(serve(own, inbox)))?;
        Ok(Self { to, kill, processes, files, stage, version, queued })
    }

    /// Gives work to the thread.
    pub(crate) fn send(&self, work: Work) {
        self.queued.fetch_add(1, Ordering::Relaxed);
        // The receiver lives as long as the thread, and the thread as long as this sender.
        let _ = self.to.send(Message::Work(Box::new(work)));
    }
}

/// What is known about a module without its runtime.
pub(crate) struct Seat {
    pub(crate) module: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) inbox: mpsc::WeakUnboundedSender<Message>,
    pub(crate) kill: Arc<AtomicBool>,
    pub(crate) processes: Processes,
    pub(crate) files: Arc<Mutex<Vec<(PathBuf, Digest)>>>,
    /// What the module is made of, if it was looked into before.
    pub(crate) version: Option<Arc<Version>>,
    /// How much work was sent and has not come to the stage.
    pub(crate) queued: Arc<AtomicUsize>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.processes.end();
    }
}

impl Seat {
    fn new(
        module: &Path,
        limits: Limits,
        shared: Option<SharedProcesses>,
        to: &mpsc::UnboundedSender<Message>,
    ) -> Self {
        let (kill, processes, files) = (Arc::default(), Processes::new(limits.processes, shared), Arc::default());
        Self {
            module: module.to_owned(),
            limits,
            inbox: to.downgrade(),
            kill,
            processes,
            files,
            version: None,
            queued: Arc::default(),
        }
    }
}

fn spawn(limits: &Limits, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = thread::Builder::new().name("hookrail-module".to_owned()).stack_size(limits.thread_stack());
    thread.spawn(body).map(drop)
}

/// Loads a module on a thread of its own and throws it away again. Gives what it registered, and the files it is
/// made of.
pub(crate) fn look_into(module: &Path, world: ModuleWorld, limits: Limits) -> Looked {
    let failure = |why: String| LoadFailure::new(format!("Failed to load hook: {why}"));
    let (send, receive) = std::sync::mpsc::channel();
    let (to, inbox) = mpsc::unbounded_channel();
    // While it is looked into, it can start no process.
    let seat = Seat::new(module, limits, None, &to);
    let kill = Arc::clone(&seat.kill);
    let started = EventLoop::new().and_then(|events| {
        let runtime = events.handle()?;
        spawn(&limits, move || {
            events.run(async move {
                let looked = look(seat, runtime, world, inbox).await;
                // Whoever asked may have given up.
                let _ = send.send(looked);
            });
        })
    });
    if let Err(error) = started {
        let failure = failure(format!("there is no thread for it: {error}"));
        return Looked::without_files(ModuleInspection::OutOfResources(failure));
    }
    receive.recv_timeout(limits.load).unwrap_or_else(|_| {
        kill.store(true, Ordering::Relaxed);
        Looked::failed(failure(format!("it took longer than {} s", limits.load.as_secs())))
    })
}

/// What looking into a module found.
pub(crate) struct Looked {
    pub(crate) found: ModuleInspection,
    pub(crate) files: Vec<(PathBuf, Digest)>,
    /// The bytes of those files.
    pub(crate) sources: Version,
    /// Files that were looked for and could not be read.
    pub(crate) missing: Vec<PathBuf>,
}

impl Looked {
    pub(crate) fn failed(failure: LoadFailure) -> Self {
        Self::without_files(ModuleInspection::Failed(failure))
    }

    pub(crate) fn without_files(found: ModuleInspection) -> Self {
        Self { found, files: Vec::new(), sources: Version::default(), missing: Vec::new() }
    }

    /// Whether the module can be asked, as far as looking into it could tell.
    pub(crate) fn can_run(&self) -> bool {
        match &self.found {
            ModuleInspection::Registered(_) | ModuleInspection::Unknown(_) => true,
            // A later kind of answer says nothing that could be relied on.
            _ => false,
        }
    }
}

/// Drives a runtime until the module is loaded or cannot be.
async fn look(seat: Seat, runtime: Handle, world: ModuleWorld, mut inbox: mpsc::UnboundedReceiver<Message>) -> Looked {
    let mut stage = Stage::new(seat, runtime);
    stage.open(world, Arc::new(NoHost));
    loop {
        stage.spawn_begun();
        if let Some(looked) = stage.looked() {
            return looked;
        }
        let due = stage.arm();
        if due.is_none() && !stage.has_ops() {
            return Looked::failed(LoadFailure::new("Failed to load hook: its factory never ends"));
        }
        tokio::select! {
            Some(message) = inbox.recv() => stage.take(message),
            () = sleep_until(due), if due.is_some() => stage.fire_timers(),
            else => return Looked::failed(LoadFailure::new("Failed to load hook: its factory never ends")),
        }
    }
}

async fn serve(stage: Arc<Mutex<Stage>>, mut inbox: mpsc::UnboundedReceiver<Message>) {
    loop {
        let due = lock(&stage).arm();
        let message = tokio::select! {
            message = inbox.recv() => match message {
                Some(message) => Some(message),
                None => return,
            },
            () = sleep_until(due), if due.is_some() => None,
        };
        turn(&stage, |stage| {
            match message {
                Some(message) => stage.take(message),
                None => stage.fire_timers(),
            }
            stage.after_turn();
        });
        while lock(&stage).has_waiting() {
            turn(&stage, Stage::begin_waiting);
        }
    }
}

/// Does something with the stage, and sends the answers when it is free again.
fn turn(stage: &Mutex<Stage>, work: impl FnOnce(&mut Stage)) {
    let answers = {
        let mut stage = lock(stage);
        work(&mut stage);
        stage.take_answers()
    };
    answers.send();
}

async fn sleep_until(due: Option<std::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
