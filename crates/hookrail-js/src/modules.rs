//! Modules as the engine sees them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use hookrail::{
    HostFuture, How, ModuleCall, ModuleCommand, ModuleInspection, ModuleRender, ModuleReturn, ModuleRunner,
    ModuleWorld, NamedFile,
};
use hookrail_spawn::{CancelToken, lock};
use tokio::sync::oneshot;

use crate::clock::WallClock;
use crate::limits::Limits;
use crate::processes::{Processes, SharedProcesses};
use crate::source::Version;
use crate::stack;
use crate::worker::{Job, Looked, Message, Work, Worker, look_into};

/// Runs module hooks, for [`Builder::runner`](hookrail::Builder::runner).
#[must_use]
pub fn modules() -> Modules {
    Modules::with_limits(Limits::default())
}

/// The modules of one hook system. A module's runtime is made when it is first needed and ends with this.
pub struct Modules {
    limits: Limits,
    shared: Option<SharedProcesses>,
    workers: Mutex<HashMap<PathBuf, Worker>>,
    /// What is known of modules that were looked into.
    inspected: Mutex<HashMap<PathBuf, Inspected>>,
    /// The processes of modules that are gone, for as long as there may be some.
    ending: Mutex<Vec<Processes>>,
    next: AtomicU32,
}

/// What looking into a module left behind.
#[derive(Default)]
struct Inspected {
    /// What it was made of when it could last be loaded. This is what runs.
    good: Option<Arc<Version>>,
    /// What was read or looked for last.
    files: Vec<NamedFile>,
}

impl Modules {
    /// Modules with limits of their own.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self {
            limits,
            shared: None,
            workers: Mutex::default(),
            inspected: Mutex::default(),
            ending: Mutex::default(),
            next: AtomicU32::new(1),
        }
    }

    /// Modules that share a number of processes with others, beside their own limit.
    #[must_use]
    pub fn sharing_processes(mut self, shared: &SharedProcesses) -> Self {
        self.shared = Some(shared.clone());
        self
    }

    fn workers(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Worker>> {
        lock(&self.workers)
    }

    fn inspected(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Inspected>> {
        lock(&self.inspected)
    }

    /// Gives work to a module's thread, which is started if there is none.
    fn send(&self, module: &Path, work: Work) -> std::io::Result<()> {
        let mut workers = self.workers();
        if let Some(worker) = workers.get(module)
            && !worker.to.is_closed()
        {
            worker.send(work);
            return Ok(());
        }
        let version = self.inspected().get(module).and_then(|known| known.good.clone());
        let worker = Worker::start(module, self.limits, self.shared.clone(), version)?;
        worker.send(work);
        workers.insert(module.to_owned(), worker);
        Ok(())
    }

    /// Does some work on this thread, if the module is free and there is room for it; otherwise gives it back.
    fn work_here(&self, module: &Path, work: Work) -> Option<Work> {
        let alive =
            self.workers().get(module).filter(|worker| !worker.to.is_closed()).map(|worker| Arc::clone(&worker.stage));
        let Some(stage) = alive.filter(|_| stack::has_room(&self.limits)) else { return Some(work) };
        let (left, answers) = {
            let Ok(mut stage) = stage.try_lock() else { return Some(work) };
            (stage.work_here(work), stage.take_answers())
        };
        answers.send();
        left
    }

    /// Forgets a module's thread and ends whatever it is doing.
    fn discard(&self, module: &Path) {
        if let Some(worker) = self.workers().remove(module) {
            worker.kill.store(true, Ordering::Relaxed);
            self.part_with(worker);
        }
    }

    /// Keeps what was found out about a module; what could not be loaded never takes the place of what could.
    fn remember(&self, module: &Path, looked: &Looked) {
        let mut inspected = self.inspected();
        let known = inspected.entry(module.to_owned()).or_default();
        if looked.can_run() {
            known.good = Some(Arc::new(looked.sources.clone()));
        }
        let read = looked.files.iter().map(|(path, digest)| NamedFile::new(path, Some(*digest)));
        let files: Vec<NamedFile> = read.chain(looked.missing.iter().map(|path| NamedFile::new(path, None))).collect();
        // A module that was not even begun says nothing about its files.
        if !files.is_empty() {
            known.files = files;
        }
    }

    async fn event(&self, call: ModuleCall<'_>, place: Place) -> ModuleReturn {
        let job = Job::Event { name: call.event.to_owned(), payload: call.payload.to_owned() };
        let clock = WallClock::new(call.timeout, self.limits.dialogs);
        self.work(call.module, job, call.world, call.host, Some(clock), place).await
    }

    /// Lets go of a module's thread. Its processes end with it, and are remembered until they have.
    fn part_with(&self, worker: Worker) {
        let mut ending = lock(&self.ending);
        ending.retain(|processes| !processes.are_gone());
        ending.push(worker.processes.clone());
        drop(worker);
    }

    async fn work(
        &self,
        module: &Path,
        job: Job,
        world: ModuleWorld,
        host: Arc<dyn hookrail::Host>,
        clock: Option<Arc<WallClock>>,
        place: Place,
    ) -> ModuleReturn {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let over = CancelToken::new();
        let work = Work { number, job, world, host, clock: clock.clone(), over: over.clone(), reply };
        let left = match place {
            Place::Here => self.work_here(module, work),
            Place::Thread => Some(work),
        };
        if let Some(Err(error)) = left.map(|work| self.send(module, work)) {
            let failure = hookrail::SpawnFailure::Other(format!("no thread for the module: {error}"));
            return ModuleReturn::new(How::SpawnFailed(failure));
        }
        let mut waiting = Waiting { modules: self, module, number, over, answered: false };
        let answer = match clock {
            Some(clock) => match clock.limit(answer).await {
                Some(answer) => answer,
                None => {
                    waiting.answered = true;
                    self.discard(module);
                    return ModuleReturn::new(How::TimedOut(clock.length));
                }
            },
            None => answer.await,
        };
        waiting.answered = true;
        answer
            .unwrap_or_else(|_| ModuleReturn::new(How::Threw("its runtime was ended while it was at work".to_owned())))
    }
}

/// Where work is done.
#[derive(Clone, Copy)]
enum Place {
    /// On the thread of whoever waits for it, if that is possible.
    Here,
    /// On the module's own thread.
    Thread,
}

/// Somebody who waits for an answer. When they are gone, the module is told.
struct Waiting<'a> {
    modules: &'a Modules,
    module: &'a Path,
    number: u32,
    over: CancelToken,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        // Its processes end at once, even while the module stands still for one of them.
        self.over.cancel();
        if let Some(worker) = self.modules.workers().get(self.module) {
            let _ = worker.to.send(Message::Abandon(self.number));
        }
    }
}

impl ModuleRunner for Modules {
    fn call<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        Box::pin(self.event(call, Place::Thread))
    }

    fn call_here<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        Box::pin(self.event(call, Place::Here))
    }

    fn inspect(&self, module: &Path, world: &ModuleWorld) -> ModuleInspection {
        let looked = look_into(module, world.clone(), self.limits);
        self.remember(module, &looked);
        // One that cannot be loaded any more goes on as it was.
        let can_run = looked.can_run();
        let is_stale = can_run
            && self.workers().get(module).is_some_and(|worker| {
                let files = lock(&worker.files);
                let is_other = worker.version.as_ref().is_some_and(|version| !version.is_made_of(&looked.files));
                is_other || (!files.is_empty() && *files != looked.files)
            });
        if is_stale && let Some(worker) = self.workers().remove(module) {
            self.part_with(worker);
        }
        looked.found
    }

    fn inspected_files(&self, module: &Path, _world: &ModuleWorld) -> Vec<NamedFile> {
        self.inspected().get(module).map(|known| known.files.clone()).unwrap_or_default()
    }

    fn forget(&self, module: &Path) {
        self.inspected().remove(module);
        if let Some(worker) = self.workers().remove(module) {
            self.part_with(worker);
        }
    }

    fn shutdown(&self) -> HostFuture<'_, ()> {
        Box::pin(async {
            for (_, worker) in std::mem::take(&mut *self.workers()) {
                worker.kill.store(true, Ordering::Relaxed);
                self.part_with(worker);
            }
            let ending = std::mem::take(&mut *lock(&self.ending));
            for processes in ending {
                processes.all_gone().await;
            }
        })
    }

    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        let job = Job::Command { name: command.name.to_owned(), arguments: command.arguments.to_owned() };
        // A command waits for models and people as long as it takes.
        Box::pin(self.work(command.module, job, command.world, command.host, None, Place::Thread))
    }

    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        let job =
            Job::Render { message: render.message.text().to_owned(), expanded: render.expanded, width: render.width };
        Box::pin(async move {
            let returned = self.work(render.module, job, render.world, render.host, None, Place::Thread).await;
            match returned.how {
                How::Returned(Some(lines)) => lines.decode(),
                _ => None,
            }
        })
    }
}

impl std::fmt::Debug for Modules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Modules").field("limits", &self.limits).finish_non_exhaustive()
    }
}
