//! The module runner that the engine calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hookrail::ModuleRunner;
use hookrail::host::HostFuture;
use hookrail::module::{
    CutOffProcess, ModuleCall, ModuleCommand, ModuleContext, ModuleInspection, ModuleRender, ModuleReturn,
};
use hookrail::process::{RawEnd, SpawnFailure};
use hookrail::trust::NamedFile;
use hookrail_spawn::{CancelToken, lock_mutex};
use tokio::sync::oneshot;

use crate::call::CallState;
use crate::clock::WallClock;
use crate::late::{LateHandlers, LateListener};
use crate::limits::RuntimeLimits;
use crate::loaded::Version;
use crate::message::{ModuleJob, ModuleWork, WorkerMessage};
use crate::module_host::{InspectionResult, runtime_ended};
use crate::processes::{self, Processes, SharedProcesses};
use crate::stack;
use crate::worker::{Worker, inspect_module, send_answers};

/// How long the processes of modules have to end by themselves when the program shuts down. A handler of the last
/// events, such as `agent_end`, may start one and not wait for it; detached hooks have the same time.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(1_500);

/// Runs module hooks, for [`Builder::runner`](hookrail::Builder::runner).
#[must_use]
pub fn modules() -> Modules {
    Modules::with_limits(RuntimeLimits::default())
}

/// The modules of one hook system. An instance of a module is made when it is first needed and ends with this.
pub struct Modules {
    limits: RuntimeLimits,
    shared: Option<SharedProcesses>,
    table: Mutex<ModuleTable>,
    next: AtomicU32,
}

/// The known modules. The lock around this is held only for look-ups, never while a module works.
#[derive(Default)]
struct ModuleTable {
    workers: HashMap<PathBuf, Worker>,
    /// What inspections found.
    inspected: HashMap<PathBuf, InspectionRecord>,
    /// Processes of modules that were ended, until they are gone.
    ending: Vec<Processes>,
    /// What modules registered after their factories had ended.
    late: HashMap<PathBuf, Arc<LateHandlers>>,
    /// Whom to tell of that.
    listener: Option<LateListener>,
}

/// What an inspection of a module left for later calls.
#[derive(Default)]
struct InspectionRecord {
    /// The files with which it last loaded. Calls run these and not the current files.
    good: Option<Arc<Version>>,
    /// The files that the last inspection read or looked for.
    files: Vec<NamedFile>,
}

impl ModuleTable {
    /// Drops a module's thread. Its processes end with it, and are kept in a list until they have.
    fn retire(&mut self, module: &Path) {
        if let Some(worker) = self.workers.remove(module) {
            self.ending.retain(|processes| !processes.are_gone());
            self.ending.push(worker.config.processes.clone());
        }
    }

    fn late_handlers(&mut self, module: &Path) -> Arc<LateHandlers> {
        let listener = self.listener.clone();
        Arc::clone(self.late.entry(module.to_owned()).or_insert_with(|| LateHandlers::heard_by(listener)))
    }

    /// Drops a module's thread and interrupts what it is doing.
    fn retire_now(&mut self, module: &Path) {
        if let Some(worker) = self.workers.get(module) {
            worker.config.retired.store(true, Ordering::Relaxed);
        }
        self.retire(module);
    }

    /// Records the result of an inspection. A version that cannot be loaded never replaces one that can.
    fn remember(&mut self, module: &Path, looked: &InspectionResult) {
        let known = self.inspected.entry(module.to_owned()).or_default();
        if looked.can_run() {
            known.good = Some(Arc::new(looked.version.clone()));
        }
        let read = looked.version.files().iter().map(|file| NamedFile::new(&file.path, Some(file.digest)));
        let files: Vec<NamedFile> = read.chain(looked.missing.iter().map(|path| NamedFile::new(path, None))).collect();
        // A module whose loading did not start says nothing about its files.
        if !files.is_empty() {
            known.files = files;
        }
    }
}

impl Modules {
    /// A runner with these limits for each module.
    #[must_use]
    pub fn with_limits(limits: RuntimeLimits) -> Self {
        Self { limits, shared: None, table: Mutex::default(), next: AtomicU32::new(1) }
    }

    /// A runner whose modules share a number of processes with other runners, beside the limit of each module.
    #[must_use]
    pub fn sharing_processes(mut self, shared: &SharedProcesses) -> Self {
        self.shared = Some(shared.clone());
        self
    }

    fn table(&self) -> MutexGuard<'_, ModuleTable> {
        lock_mutex(&self.table)
    }

    /// Gives work to a module's thread, and starts the thread if there is none.
    fn send(&self, module: &Path, work: ModuleWork) -> std::io::Result<()> {
        let mut known = self.table();
        if let Some(worker) = known.workers.get(module)
            && !worker.to.is_closed()
        {
            worker.send(work);
            return Ok(());
        }
        let version = known.inspected.get(module).and_then(|inspected| inspected.good.clone());
        let late = known.late_handlers(module);
        let worker = Worker::start(module, self.limits, self.shared.clone(), version, late)?;
        worker.send(work);
        known.workers.insert(module.to_owned(), worker);
        Ok(())
    }

    /// Does some work on the calling thread if the module is idle and the stack is large enough; otherwise returns the
    /// work.
    fn work_on_caller(&self, module: &Path, work: ModuleWork) -> Option<ModuleWork> {
        let host = {
            let known = self.table();
            known.workers.get(module).filter(|worker| !worker.to.is_closed()).map(|worker| Arc::clone(&worker.host))
        };
        let Some(host) = host.filter(|_| stack::has_room(&self.limits)) else { return Some(work) };
        let (left, answers) = {
            let Ok(mut host) = host.try_lock() else { return Some(work) };
            (host.work_on_caller(work), host.take_answers())
        };
        send_answers(answers);
        left
    }

    async fn event(&self, call: ModuleCall<'_>, thread: CallThread) -> ModuleReturn {
        let job = ModuleJob::Event { name: call.event.to_owned(), payload: call.payload.to_owned() };
        let clock = Some(WallClock::new(call.timeout, self.limits.dialogs));
        let state = CallState { event: Some(call.event.to_owned()), clock, ..CallState::new(call.host) };
        self.work(call.module, job, call.world, state, thread).await
    }

    async fn work(
        &self,
        module: &Path,
        job: ModuleJob,
        world: ModuleContext,
        mut call: CallState,
        thread: CallThread,
    ) -> ModuleReturn {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        call.reply = Some(reply);
        let (clock, over) = (call.clock.clone(), call.over.clone());
        let work = ModuleWork { number, job, world, call };
        let left = match thread {
            CallThread::Caller => self.work_on_caller(module, work),
            CallThread::Own => Some(work),
        };
        if let Some(Err(error)) = left.map(|work| self.send(module, work)) {
            let failure = SpawnFailure::Other(format!("no thread for the module: {error}"));
            return ModuleReturn::new(RawEnd::SpawnFailed(failure));
        }
        let mut waiting = PendingCall { modules: self, module, number, over, answered: false };
        let answer = match clock {
            Some(clock) => clock.limit(answer).await.ok_or(clock.length),
            None => Ok(answer.await),
        };
        waiting.answered = true;
        match answer {
            Ok(answer) => answer.unwrap_or_else(|_| ModuleReturn::new(runtime_ended())),
            Err(length) => {
                self.table().retire_now(module);
                ModuleReturn::new(RawEnd::TimedOut(length))
            }
        }
    }
}

/// The thread on which work is done.
#[derive(Clone, Copy)]
enum CallThread {
    /// The calling thread, if that is possible.
    Caller,
    /// The module's thread.
    Own,
}

/// A caller that waits for an answer. Dropping it tells the module that the call was abandoned.
struct PendingCall<'a> {
    modules: &'a Modules,
    module: &'a Path,
    number: u32,
    over: CancelToken,
    answered: bool,
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        // The processes end at once, even if the module is blocked waiting for one of them.
        self.over.cancel();
        if let Some(worker) = self.modules.table().workers.get(self.module) {
            let _ = worker.to.send(WorkerMessage::Abandon(self.number));
        }
    }
}

impl ModuleRunner for Modules {
    fn call<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        Box::pin(self.event(call, CallThread::Own))
    }

    /// Work on the calling thread is done in the first poll. That poll enters no tokio runtime and blocks on none, so
    /// it may be made inside `tokio::task::block_in_place`. If the module has answered by then, the future is ready and
    /// has set no timer. Otherwise the module continues on its own thread, and the future is like that of `call`.
    fn call_here<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        Box::pin(self.event(call, CallThread::Caller))
    }

    fn inspect(&self, module: &Path, world: &ModuleContext) -> ModuleInspection {
        let mut looked = inspect_module(module, world.clone(), self.limits);
        let mut known = self.table();
        known.remember(module, &looked);
        // A module that cannot be loaded any more, or whose files are the same as before, keeps its running version.
        let is_other = |version: &Arc<Version>| !version.is_same(&looked.version);
        let is_stale =
            known.workers.get(module).is_some_and(|worker| worker.config.version.as_ref().is_none_or(is_other));
        let is_stale = looked.can_run() && is_stale;
        if is_stale {
            known.retire(module);
        }
        if let ModuleInspection::Registered(registered) = &mut looked.found {
            let late = known.late_handlers(module);
            if is_stale {
                late.settle(&registered.events);
            }
            registered.add_events(late.events());
            late.set_inspected(&registered.events);
        }
        looked.found
    }

    fn inspected_files(&self, module: &Path, _world: &ModuleContext) -> Vec<NamedFile> {
        self.table().inspected.get(module).map(|inspected| inspected.files.clone()).unwrap_or_default()
    }

    fn tell_of_late_handlers(&self, told: LateListener) {
        let mut known = self.table();
        known.late.values().for_each(|late| late.set_listener(&told));
        known.listener = Some(told);
    }

    fn forget(&self, module: &Path) {
        let mut known = self.table();
        known.inspected.remove(module);
        known.late.remove(module);
        known.retire(module);
    }

    fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>> {
        Box::pin(async {
            let mut running: Vec<(PathBuf, Processes)> = {
                let known = self.table();
                known.workers.iter().map(|(module, worker)| (module.clone(), worker.config.processes.clone())).collect()
            };
            // The table has no order, and what is reported has one.
            running.sort_by(|one, other| one.0.cmp(&other.0));
            processes::drain(running.iter().map(|(_, processes)| processes.clone()), SHUTDOWN_GRACE).await;
            let cut_off = running.iter().flat_map(|(module, processes)| {
                let programs = processes.programs().into_iter();
                programs.map(|program| CutOffProcess { module: module.clone(), program, granted: SHUTDOWN_GRACE })
            });
            let cut_off: Vec<CutOffProcess> = cut_off.collect();
            let ending = {
                let mut known = self.table();
                let modules: Vec<PathBuf> = known.workers.keys().cloned().collect();
                modules.iter().for_each(|module| known.retire_now(module));
                std::mem::take(&mut known.ending)
            };
            for processes in ending {
                processes.all_gone().await;
            }
            cut_off
        })
    }

    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        let job = ModuleJob::Command { name: command.name.to_owned(), arguments: command.arguments.to_owned() };
        // A command has no time limit: it may wait for a model or for the user.
        let state = CallState { event: Some("command".to_owned()), ..CallState::new(command.host) };
        Box::pin(self.work(command.module, job, command.world, state, CallThread::Own))
    }

    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        let job = ModuleJob::Render {
            message: render.message.text().to_owned(),
            expanded: render.expanded,
            width: render.width,
        };
        let state = CallState { event: Some("render".to_owned()), ..CallState::new(render.host) };
        Box::pin(async move {
            let returned = self.work(render.module, job, render.world, state, CallThread::Own).await;
            match returned.how {
                RawEnd::Returned(Some(lines)) => lines.decode(),
                // If the module fails to render, the host's default rendering is used.
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
