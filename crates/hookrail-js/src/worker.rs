//! The thread around a runtime: it takes calls, drives the runtime, and answers.
//!
//! The runtime is made at the first call, and thrown away when the module had to be interrupted or ran out of memory;
//! the next call then begins with a fresh one.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hookrail::{Digest, Host, How, LoadFailure, ModuleReturn, ModuleWorld, NoHost, Registrations};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::clock::{Budget, WallClock};
use crate::limits::{Limits, THREAD_STACK};
use crate::outcome::{self, Failure, Report};
use crate::shared::{CallState, Shared};
use crate::vm::Vm;

/// What a module's thread is told.
pub(crate) enum Message {
    /// Do something, and answer.
    Work(Work),
    /// Nobody waits for that answer any more.
    Abandon(u32),
    /// A watched file has changed.
    Changed { watcher: u32, kind: &'static str, name: String },
    /// Draw a component.
    Draw { component: u32, width: usize, reply: oneshot::Sender<Vec<String>> },
    /// Give a component a key press.
    Key { component: u32, data: String },
}

/// Something to be done by a module.
pub(crate) struct Work {
    pub(crate) number: u32,
    pub(crate) job: Job,
    pub(crate) world: ModuleWorld,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) clock: Option<Arc<WallClock>>,
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
    /// The files the module was made of when it was loaded last.
    pub(crate) files: Arc<Mutex<Vec<(PathBuf, Digest)>>>,
}

impl Worker {
    pub(crate) fn start(module: &Path, limits: Limits) -> std::io::Result<Self> {
        let (to, inbox) = mpsc::unbounded_channel();
        let kill = Arc::new(AtomicBool::new(false));
        let files = Arc::new(Mutex::new(Vec::new()));
        let seat = Seat {
            module: module.to_owned(),
            limits,
            inbox: to.downgrade(),
            kill: Arc::clone(&kill),
            files: Arc::clone(&files),
        };
        spawn(move |runtime| runtime.block_on(serve(seat, inbox)))?;
        Ok(Self { to, kill, files })
    }
}

/// What a thread knows about its module.
struct Seat {
    module: PathBuf,
    limits: Limits,
    inbox: mpsc::WeakUnboundedSender<Message>,
    kill: Arc<AtomicBool>,
    files: Arc<Mutex<Vec<(PathBuf, Digest)>>>,
}

fn spawn(body: impl FnOnce(tokio::runtime::Runtime) + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let thread = thread::Builder::new().name("hookrail-module".to_owned()).stack_size(THREAD_STACK);
    thread.spawn(move || body(runtime)).map(drop)
}

/// Loads a module on a thread of its own and throws it away again. Gives what it registered, and the files it is
/// made of; `Err` with true means that only a refused capability kept it from loading.
pub(crate) fn look_into(module: &Path, world: ModuleWorld, limits: Limits) -> Looked {
    let (send, receive) = std::sync::mpsc::channel();
    let kill = Arc::new(AtomicBool::new(false));
    let (to, inbox) = mpsc::unbounded_channel();
    let seat = Seat {
        module: module.to_owned(),
        limits,
        inbox: to.downgrade(),
        kill: Arc::clone(&kill),
        files: Arc::default(),
    };
    let started = spawn(move |runtime| {
        let looked = runtime.block_on(async {
            let mut stage = Stage::new(&seat);
            stage.open(world, Arc::new(NoHost));
            stage.until_loaded().await
        });
        let files = seat.files.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let _ = send.send(Looked { files, ..looked });
        drop(inbox);
    });
    if let Err(error) = started {
        return Looked::failed(LoadFailure::new(format!("Failed to load hook: {error}")));
    }
    receive.recv_timeout(limits.load).unwrap_or_else(|_| {
        kill.store(true, Ordering::Relaxed);
        let message = format!("Failed to load hook: it took longer than {} s", limits.load.as_secs());
        Looked::failed(LoadFailure::new(message))
    })
}

/// What looking into a module found.
pub(crate) struct Looked {
    pub(crate) result: Result<Registrations, LoadFailure>,
    /// Whether something was refused on the way.
    pub(crate) refused: bool,
    pub(crate) files: Vec<(PathBuf, Digest)>,
}

impl Looked {
    fn failed(failure: LoadFailure) -> Self {
        Self { result: Err(failure), refused: false, files: Vec::new() }
    }
}

async fn serve(seat: Seat, mut inbox: mpsc::UnboundedReceiver<Message>) {
    let mut stage = Stage::new(&seat);
    loop {
        let due = stage.next_timer();
        tokio::select! {
            message = inbox.recv() => match message {
                Some(message) => stage.take(message),
                None => return,
            },
            Some(ended) = stage.ops.join_next(), if !stage.ops.is_empty() => stage.settle(ended),
            () = sleep_until(due), if due.is_some() => stage.fire_timers(),
        }
        stage.after_turn();
    }
}

async fn sleep_until(due: Option<std::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// The runtime while it exists, and everything that waits for it.
struct Stage<'s> {
    seat: &'s Seat,
    act: Option<Act>,
    ops: JoinSet<(u32, String)>,
    /// Why there is no runtime, when one could not be made.
    unopened: Option<LoadFailure>,
    /// Work that came while the module was being loaded.
    waiting: VecDeque<Work>,
    replies: std::collections::BTreeMap<u32, Reply>,
}

/// A runtime and its state.
struct Act {
    vm: Vm,
    shared: Arc<Shared>,
    loaded: bool,
}

enum Reply {
    Call(oneshot::Sender<ModuleReturn>),
    Lines(oneshot::Sender<Vec<String>>),
}

impl<'s> Stage<'s> {
    fn new(seat: &'s Seat) -> Self {
        Self {
            seat,
            act: None,
            unopened: None,
            ops: JoinSet::new(),
            waiting: VecDeque::new(),
            replies: Default::default(),
        }
    }

    fn next_timer(&self) -> Option<std::time::Instant> {
        self.act.as_ref().and_then(|act| act.shared.timers.lock().next())
    }

    /// Makes a runtime and begins to load the module into it.
    fn open(&mut self, world: ModuleWorld, host: Arc<dyn Host>) {
        let budget = Budget::new(self.seat.limits.cpu, Arc::clone(&self.seat.kill));
        let shared = Shared::new(&self.seat.module, world, budget, self.seat.inbox.clone());
        shared.host.set(Arc::clone(&host));
        shared.calls.lock().insert(0, CallState::new("load", host, None));
        match Vm::new(&shared, &self.seat.limits) {
            Ok(vm) => {
                vm.load(&self.seat.module);
                self.act = Some(Act { vm, shared, loaded: false });
            }
            Err(message) => {
                let failure = LoadFailure::new(format!("Failed to load hook: there is no runtime for it: {message}"));
                self.refuse_waiting(&failure);
                self.unopened = Some(failure);
            }
        }
    }

    /// Drives the runtime until the module is loaded or cannot be.
    async fn until_loaded(&mut self) -> Looked {
        loop {
            self.spawn_begun();
            if let Some(looked) = self.looked() {
                return looked;
            }
            let due = self.next_timer();
            tokio::select! {
                Some(ended) = self.ops.join_next(), if !self.ops.is_empty() => self.settle(ended),
                () = sleep_until(due), if due.is_some() => self.fire_timers(),
                else => return Looked::failed(LoadFailure::new("Failed to load hook: its factory never ends")),
            }
        }
    }

    fn looked(&mut self) -> Option<Looked> {
        let Some(act) = &self.act else { return self.unopened.take().map(Looked::failed) };
        let shared = Arc::clone(&act.shared);
        let refused = shared.refused.load(Ordering::Relaxed);
        *self.seat.files.lock().unwrap_or_else(PoisonError::into_inner) = shared.files.lock().clone();
        if shared.budget.has_tripped() {
            let failure =
                Failure::new(format!("it worked for {} s without giving way", self.seat.limits.cpu.as_secs_f64()));
            let report = Report::failed(failure);
            let result = outcome::loaded(&shared, &self.seat.limits, &report, None);
            return Some(Looked { result, refused, files: Vec::new() });
        }
        let report = shared.finished.lock().pop().map(|(_, text)| Report::read(&text));
        let lost = shared.rejections.lock().drain(..).next().map(|(_, message)| message);
        let report = match (report, &lost) {
            (Some(report), _) => report,
            (None, Some(_)) => Report::default(),
            (None, None) => return None,
        };
        let result = outcome::loaded(&shared, &self.seat.limits, &report, lost);
        Some(Looked { result, refused, files: Vec::new() })
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Work(work) => {
                let is_open = self.act.is_some();
                let (world, host) = (work.world.clone(), Arc::clone(&work.host));
                self.waiting.push_back(work);
                if !is_open {
                    self.open(world, host);
                }
                self.begin_waiting();
            }
            Message::Abandon(number) => {
                self.replies.remove(&number);
                self.waiting.retain(|work| work.number != number);
                if let Some(act) = &self.act
                    && act.shared.calls.lock().remove(&number).is_some()
                {
                    act.vm.turn("abandon", (number,));
                }
            }
            Message::Changed { watcher, kind, name } => {
                if let Some(act) = &self.act {
                    act.vm.turn("changed", (watcher, kind, name));
                }
            }
            Message::Draw { component, width, reply } => {
                if let Some(act) = &self.act {
                    // Calls are numbered by whoever makes them; these come from here.
                    let number = act.shared.next_number() | 1 << 30;
                    let host = Arc::clone(&act.shared.host.lock());
                    act.shared.calls.lock().insert(number, CallState::new("render", host, None));
                    self.replies.insert(number, Reply::Lines(reply));
                    act.vm.turn("draw", (number, component, width));
                }
            }
            Message::Key { component, data } => {
                if let Some(act) = &self.act {
                    act.vm.turn("key", (component, data));
                }
            }
        }
    }

    /// Begins the work that waits, once the module is loaded.
    fn begin_waiting(&mut self) {
        while let Some(act) = self.act.as_ref().filter(|act| act.loaded) {
            let Some(work) = self.waiting.pop_front() else { return };
            let number = work.number;
            let event = match &work.job {
                Job::Event { name, .. } => name.as_str(),
                Job::Command { .. } => "command",
                Job::Render { .. } => "render",
            };
            let state = CallState::new(event, Arc::clone(&work.host), work.clock);
            act.shared.calls.lock().insert(number, state);
            act.shared.world.set(work.world);
            act.shared.host.set(work.host);
            self.replies.insert(number, Reply::Call(work.reply));
            match work.job {
                Job::Event { name, payload } => act.vm.turn("dispatch", (number, name, payload)),
                Job::Command { name, arguments } => act.vm.turn("command", (number, name, arguments)),
                Job::Render { message, expanded, width } => {
                    act.vm.turn("render", (number, message, expanded, width));
                }
            }
            self.after_turn_of_calls();
        }
    }

    fn settle(&mut self, ended: Result<(u32, String), tokio::task::JoinError>) {
        let (Some(act), Ok((number, answer))) = (&self.act, ended) else { return };
        act.shared.cancels.lock().remove(&number);
        act.vm.turn("settle", (number, answer));
    }

    fn fire_timers(&mut self) {
        let Some(act) = &self.act else { return };
        // Each timer is a turn of its own: one that loops must not take the budget of another.
        let due = act.shared.timers.lock().take_due();
        if let Some(number) = due {
            act.vm.turn("fire", (number,));
        }
    }

    fn spawn_begun(&mut self) {
        if let Some(act) = &self.act {
            for (number, op) in act.shared.begun.lock().drain(..) {
                self.ops.spawn(async move { (number, op.await) });
            }
        }
    }

    /// What has to be done after every turn: begin what was asked for, and answer what has ended.
    fn after_turn(&mut self) {
        self.after_turn_of_calls();
        self.begin_waiting();
    }

    fn after_turn_of_calls(&mut self) {
        self.spawn_begun();
        let Some(act) = &self.act else { return };
        let shared = Arc::clone(&act.shared);
        if shared.budget.has_tripped() {
            self.close(&|limits| ModuleReturn::new(How::TimedOut(limits.cpu)));
            return;
        }
        self.take_rejections(&shared);
        let finished = shared.finished.take();
        let mut out_of_memory = false;
        for (number, text) in finished {
            let report = Report::read(&text);
            out_of_memory |= report.ran_out_of_memory();
            self.finish(&shared, number, report);
        }
        // A promise that waits for what there was no memory for is stuck, too; the memory is what is to be told of.
        if out_of_memory || self.act.as_ref().is_some_and(|act| act.vm.is_full()) {
            let memory = self.seat.limits.memory >> 20;
            self.close(&|_| ModuleReturn::new(How::OverLimit(format!("memory limit of {memory} MiB"))));
            return;
        }
        self.fail_stuck(&shared);
    }

    /// A rejection that nobody handled belongs to the call that was going on, or else to nobody.
    fn take_rejections(&self, shared: &Shared) {
        for (_, message) in shared.rejections.lock().drain(..) {
            if shared.with_current(|call| call.lost = Some(message.clone())).is_none() {
                shared.report("unhandledRejection", &message);
            }
        }
    }

    fn finish(&mut self, shared: &Arc<Shared>, number: u32, report: Report) {
        let Some(call) = shared.calls.lock().remove(&number) else { return };
        if number == 0 {
            self.loaded(shared, call, &report);
            return;
        }
        match self.replies.remove(&number) {
            Some(Reply::Call(reply)) => {
                // Whoever asked may be gone; then nobody wants the answer.
                let _ = reply.send(outcome::returned(shared, &self.seat.limits, call, report));
            }
            Some(Reply::Lines(reply)) => {
                let lines = report.result.and_then(|lines| lines.decode()).unwrap_or_default();
                let _ = reply.send(lines);
            }
            None => {}
        }
    }

    fn loaded(&mut self, shared: &Arc<Shared>, mut call: CallState, report: &Report) {
        *self.seat.files.lock().unwrap_or_else(PoisonError::into_inner) = shared.files.lock().clone();
        match outcome::loaded(shared, &self.seat.limits, report, call.lost.take()) {
            Ok(_) => {
                if let Some(act) = &mut self.act {
                    act.loaded = true;
                }
            }
            Err(failure) => {
                self.refuse_waiting(&failure);
                self.close(&|_| ModuleReturn::new(How::Cancelled));
            }
        }
    }

    /// Promises that are pending while nothing is outstanding can never settle.
    fn fail_stuck(&mut self, shared: &Arc<Shared>) {
        let busy = !self.ops.is_empty() || shared.can_go_on() || self.act.as_ref().is_some_and(|act| act.vm.has_work());
        if busy {
            return;
        }
        let stuck: Vec<u32> = shared.calls.lock().keys().copied().collect();
        for number in stuck {
            let lost = shared.calls.lock().get_mut(&number).and_then(|call| call.lost.take());
            let message = match lost {
                Some(message) => format!("a promise was rejected and nobody handled it: {message}"),
                None => "it waits for something that can never happen: nothing is outstanding".to_owned(),
            };
            self.finish(shared, number, Report::failed(Failure::new(message)));
        }
    }

    fn refuse_waiting(&mut self, failure: &LoadFailure) {
        let message = match &failure.place {
            Some(place) => format!("{} ({}:{}:{})", failure.message, place.file.display(), place.line, place.column),
            None => failure.message.clone(),
        };
        for work in self.waiting.drain(..) {
            let _ = work.reply.send(ModuleReturn::new(How::Threw(message.clone())));
        }
    }

    /// Throws the runtime away. Everything it was doing has ended this way.
    fn close(&mut self, end: &dyn Fn(&Limits) -> ModuleReturn) {
        let Some(act) = self.act.take() else { return };
        self.ops.abort_all();
        self.ops = JoinSet::new();
        let calls = act.shared.calls.take();
        for (number, call) in calls {
            if let Some(Reply::Call(reply)) = self.replies.remove(&number) {
                let mut returned = end(&self.seat.limits);
                (returned.messages, returned.entries) = (call.messages, call.entries);
                let _ = reply.send(returned);
            }
        }
        if !act.loaded {
            for work in self.waiting.drain(..) {
                let _ = work.reply.send(end(&self.seat.limits));
            }
        }
    }
}
