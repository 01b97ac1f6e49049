//! The instance of a module and everything that waits for it, for the thread that has the turn.
//!
//! An instance is made at the first call, and ended when the module had to be stopped or ran out of memory; the next call
//! then begins with a fresh one. Nothing here waits: what takes time is begun on the module's own thread, and its end comes
//! back as a message.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hookrail::Host;
use hookrail::module::{LoadFailure, ModuleInspection, ModuleReturn, ModuleWorld, Registrations};
use hookrail::process::{How, SpawnFailure};
use hookrail_spawn::CancelToken;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::account::Held;
use crate::clock::{Stop, WallClock};
use crate::outcome::{self, Failure, Report};
use crate::shared::{Begun, CallState, Rejection, Shared};
use crate::vm::{Entry, Vm};
use crate::worker::{Job, Looked, Message, ModuleConfig, Work};

/// One module: its instance while there is one, and everything that waits for it. The lock around this is the turn.
pub(crate) struct ModuleHost {
    config: ModuleConfig,
    /// The loop of the module's own thread.
    runtime: Handle,
    instance: Option<Instance>,
    /// How many instances there were.
    generation: u32,
    /// What was begun and has not ended, by number.
    ops: HashMap<u32, AbortHandle>,
    /// The timer that the thread waits for.
    armed: Option<Instant>,
    /// The call that runs on its caller's thread.
    on_caller: Option<u32>,
    /// Why there is no instance, when one could not be made.
    unopened: Option<ModuleInspection>,
    /// Work that has not begun.
    waiting: VecDeque<Work>,
    replies: BTreeMap<u32, Reply>,
    answers: Answers,
}

/// A runtime with the module in it.
struct Instance {
    vm: Vm,
    shared: Arc<Shared>,
    phase: Phase,
}

/// How far an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its files and its factory run; calls wait.
    Loading,
    /// It takes calls.
    Ready,
}

enum Reply {
    Call(oneshot::Sender<ModuleReturn>),
    Lines(oneshot::Sender<Vec<String>>),
}

/// How long a command may go on that was given up.
const AFTER_CANCEL: Duration = Duration::from_secs(60);

/// The end of a call whose instance was ended for something else.
fn ended() -> How {
    How::Threw("its runtime was ended while it was at work".to_owned())
}

/// Answers that are to be sent once the turn is over, so that the next call of a receiver finds the module free.
#[derive(Default)]
#[must_use]
pub(crate) struct Answers {
    calls: Vec<(oneshot::Sender<ModuleReturn>, ModuleReturn)>,
    lines: Vec<(oneshot::Sender<Vec<String>>, Vec<String>)>,
}

impl Answers {
    /// Sends them. A caller may be gone by now.
    pub(crate) fn send(self) {
        for (reply, returned) in self.calls {
            let _ = reply.send(returned);
        }
        for (reply, lines) in self.lines {
            let _ = reply.send(lines);
        }
    }
}

/// What came of loading a module only to look into it.
fn inspected(shared: &Shared, result: Result<Registrations, LoadFailure>) -> ModuleInspection {
    match result {
        Ok(registered) => ModuleInspection::Registered(registered),
        Err(failure) if shared.lock().exhausted => ModuleInspection::OutOfResources(failure),
        Err(failure) if shared.lock().refused => ModuleInspection::Unknown(failure.message),
        Err(failure) => ModuleInspection::Failed(failure),
    }
}

/// Tells the module's thread that an operation has ended, even when it was broken off.
struct Settling {
    inbox: mpsc::WeakUnboundedSender<Message>,
    generation: u32,
    number: u32,
    answer: Option<(String, Held)>,
}

impl Settling {
    fn end(mut self, answer: Option<(String, Held)>) {
        self.answer = answer;
    }
}

impl Drop for Settling {
    fn drop(&mut self) {
        if let Some(inbox) = self.inbox.upgrade() {
            let answer = self.answer.take();
            let _ = inbox.send(Message::Settled { generation: self.generation, number: self.number, answer });
        }
    }
}

impl ModuleHost {
    pub(crate) fn new(config: ModuleConfig, runtime: Handle) -> Self {
        Self {
            config,
            runtime,
            instance: None,
            generation: 0,
            ops: HashMap::new(),
            armed: None,
            on_caller: None,
            unopened: None,
            waiting: VecDeque::new(),
            replies: BTreeMap::new(),
            answers: Answers::default(),
        }
    }

    /// When the thread has to be back for a timer.
    pub(crate) fn arm(&mut self) -> Option<Instant> {
        self.armed = self.next_timer();
        self.armed
    }

    fn next_timer(&self) -> Option<Instant> {
        self.instance.as_ref().and_then(|instance| instance.shared.lock().timers.next())
    }

    pub(crate) fn has_ops(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Does some work at once, on the calling thread, if the module is loaded and nothing is before it; otherwise gives it
    /// back. What the module then waits for is up to its own thread.
    pub(crate) fn work_on_caller(&mut self, work: Work) -> Option<Work> {
        let is_next = self.waiting.is_empty() && self.config.queued.load(Ordering::Relaxed) == 0;
        if !self.is_loaded() || !is_next {
            return Some(work);
        }
        self.on_caller = Some(work.number);
        if let (Some(instance), Some(clock)) = (&self.instance, &work.clock) {
            instance.shared.lock().budget.watch(Arc::clone(clock));
        }
        self.begin(work);
        self.on_caller = None;
        if self.next_timer() != self.armed
            && let Some(inbox) = self.config.inbox.upgrade()
        {
            let _ = inbox.send(Message::Rearm);
        }
        None
    }

    /// Makes a runtime and begins to load the module into it.
    pub(crate) fn open(&mut self, world: ModuleWorld, host: Arc<dyn Host>) {
        self.generation += 1;
        let shared = Shared::new(&self.config, self.generation, world, Arc::clone(&host), self.runtime.clone());
        shared.begin_call(0, CallState::new("load", host, None, CancelToken::new()));
        match Vm::new(&shared, &self.config.limits) {
            Ok(vm) => {
                vm.load(&self.config.module);
                self.instance = Some(Instance { vm, shared, phase: Phase::Loading });
            }
            Err(message) => {
                let failure = LoadFailure::new(format!("Failed to load hook: there is no runtime for it: {message}"));
                self.refuse_waiting(&shared, &failure);
                self.unopened = Some(inspected(&shared, Err(failure)));
            }
        }
    }

    /// What came of loading, once that is known.
    pub(crate) fn looked(&mut self) -> Option<Looked> {
        let Some(instance) = &self.instance else { return self.unopened.take().map(Looked::without_files) };
        let shared = Arc::clone(&instance.shared);
        let (files, sources, missing, stopped, finished, lost) = {
            let mut state = shared.lock();
            let lost = state.rejections.drain(..).next().map(|rejection| rejection.message);
            let (files, sources, missing) = (state.files.clone(), state.sources.clone(), state.missing.clone());
            (files, sources, missing, state.budget.stopped(), state.finished.pop(), lost)
        };
        if let Some(stop) = stopped {
            let report = Report::failed(Failure::new(self.why_stopped(stop)));
            let result = outcome::loaded(&shared, &self.config.limits, &report, None);
            return Some(Looked { found: inspected(&shared, result), files, sources, missing });
        }
        let report = match (finished, &lost) {
            (Some(finished), _) => Report::read(&finished),
            (None, Some(_)) => Report::default(),
            (None, None) => return None,
        };
        let result = outcome::loaded(&shared, &self.config.limits, &report, lost);
        Some(Looked { found: inspected(&shared, result), files, sources, missing })
    }

    pub(crate) fn take(&mut self, message: Message) {
        match message {
            // It is begun in its turn.
            Message::Work(work) => {
                self.config.queued.fetch_sub(1, Ordering::Relaxed);
                self.waiting.push_back(*work);
            }
            Message::Abandon(number) => {
                self.replies.remove(&number);
                self.waiting.retain(|work| work.number != number);
                self.abandon(number);
            }
            Message::Overdue { generation, call } => {
                let is_late = generation == self.generation
                    && self.instance.as_ref().is_some_and(|it| it.shared.lock().abandoned.remove(&call).is_some());
                if is_late {
                    self.close(&|_| ended());
                }
            }
            Message::Settled { generation, number, answer } => self.settle(generation, number, answer),
            Message::Changed { watcher, kind, name } => {
                if let Some(instance) = &self.instance {
                    instance.shared.changes.fetch_sub(1, Ordering::Relaxed);
                    instance.vm.turn(Entry::Changed, (watcher, kind, name));
                }
            }
            Message::Draw { component, width, reply } => {
                if let Some(instance) = &self.instance {
                    // Calls are numbered by the runner; these come from here.
                    let number = instance.shared.next_number() | 1 << 30;
                    let host = Arc::clone(&instance.shared.lock().host);
                    instance.shared.begin_call(number, CallState::new("render", host, None, CancelToken::new()));
                    self.replies.insert(number, Reply::Lines(reply));
                    instance.vm.turn(Entry::Draw, (number, component, width));
                }
            }
            Message::Key { component, data } => {
                if let Some(instance) = &self.instance {
                    instance.vm.turn(Entry::Key, (component, data));
                }
            }
            // Waiting begins anew after every message.
            Message::Rearm => {}
        }
    }

    fn is_loaded(&self) -> bool {
        self.instance.as_ref().is_some_and(|instance| instance.phase == Phase::Ready)
    }

    /// Whether there is work that waits for nothing but its turn.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty() && self.instance.as_ref().is_none_or(|instance| instance.phase == Phase::Ready)
    }

    /// Begins the next work that waits, or to load the module for it when there is no runtime.
    pub(crate) fn begin_waiting(&mut self) {
        if self.is_loaded() {
            if let Some(work) = self.waiting.pop_front() {
                self.begin(work);
            }
        } else if self.instance.is_none()
            && let Some(work) = self.waiting.front()
        {
            let (world, host) = (work.world.clone(), Arc::clone(&work.host));
            self.open(world, host);
            self.after_turn();
        }
    }

    /// Begins some work with a module that is loaded, and answers it when it has already ended.
    fn begin(&mut self, work: Work) {
        let Some(instance) = &self.instance else { return };
        let number = work.number;
        let event = match &work.job {
            Job::Event { name, .. } => name.as_str(),
            Job::Command { .. } => "command",
            Job::Render { .. } => "render",
        };
        let state = CallState::new(event, Arc::clone(&work.host), work.clock, work.over);
        instance.shared.begin_call(number, state);
        {
            let mut state = instance.shared.lock();
            (state.world, state.host) = (Arc::new(work.world), work.host);
        }
        self.replies.insert(number, Reply::Call(work.reply));
        match work.job {
            Job::Event { name, payload } => instance.vm.turn(Entry::Dispatch, (number, name, payload)),
            Job::Command { name, arguments } => instance.vm.turn(Entry::Command, (number, name, arguments)),
            Job::Render { message, expanded, width } => {
                instance.vm.turn(Entry::Render, (number, message, expanded, width));
            }
        }
        self.after_turn();
    }

    /// A call is given up. Its processes have been told to end; what its handlers still do has the rest of the
    /// call's time.
    fn abandon(&self, number: u32) {
        let Some(instance) = &self.instance else { return };
        let Some(call) = instance.shared.lock().calls.remove(&number) else { return };
        call.over.cancel();
        self.config.processes.sweep(self.generation, Some(number));
        let clock = call.clock.unwrap_or_else(|| WallClock::new(AFTER_CANCEL, self.config.limits.dialogs));
        let (inbox, generation) = (self.config.inbox.clone(), self.generation);
        let overdue = self.runtime.spawn(async move {
            let up = clock.limit(std::future::pending::<()>()).await;
            if let (None, Some(inbox)) = (up, inbox.upgrade()) {
                let _ = inbox.send(Message::Overdue { generation, call: number });
            }
        });
        instance.shared.lock().abandoned.insert(number, overdue.abort_handle());
        instance.vm.turn(Entry::Abandon, (number,));
    }

    fn settle(&mut self, generation: u32, number: u32, answer: Option<(String, Held)>) {
        if generation != self.generation {
            return;
        }
        self.ops.remove(&number);
        let Some(instance) = &self.instance else { return };
        instance.shared.lock().cancels.remove(&number);
        if let Some((answer, held)) = answer {
            instance.vm.turn(Entry::Settle, (number, answer));
            drop(held);
        }
    }

    pub(crate) fn fire_timers(&mut self) {
        let Some(instance) = &self.instance else { return };
        // Each timer is a turn of its own: one that loops must not take the budget of another.
        let due = instance.shared.lock().timers.take_due();
        if let Some(number) = due {
            instance.vm.turn(Entry::Fire, (number,));
        }
    }

    /// Hands what was begun to the module's own thread.
    pub(crate) fn spawn_begun(&mut self) {
        let Some(instance) = &self.instance else { return };
        let begun = std::mem::take(&mut instance.shared.lock().begun);
        for Begun { number, op, held } in begun {
            let inbox = self.config.inbox.clone();
            let settling = Settling { inbox, generation: self.generation, number, answer: None };
            let shared = Arc::downgrade(&instance.shared);
            let task = self.runtime.spawn(async move {
                let answer = op.await;
                drop(held);
                // Many answers may wait for their turn.
                let held = shared.upgrade().and_then(|shared| shared.hold(answer.len()));
                settling.end(held.map(|held| (answer, held)));
            });
            self.ops.insert(number, task.abort_handle());
        }
    }

    /// The answers that are to be sent.
    pub(crate) fn take_answers(&mut self) -> Answers {
        std::mem::take(&mut self.answers)
    }

    /// What has to be done after every turn: begin what was asked for, and answer what has ended.
    pub(crate) fn after_turn(&mut self) {
        self.spawn_begun();
        let Some(instance) = &self.instance else { return };
        let shared = Arc::clone(&instance.shared);
        if let Some(stop) = shared.stopped() {
            self.stop(stop);
            return;
        }
        self.take_rejections(&shared);
        let finished = std::mem::take(&mut shared.lock().finished);
        let mut out_of_memory = false;
        for finished in finished {
            let report = Report::read(&finished);
            out_of_memory |= report.ran_out_of_memory();
            self.finish(&shared, finished.call, report);
        }
        // A promise that waits for what there was no memory for is stuck, too; the memory is what is to be told of.
        if out_of_memory || self.instance.as_ref().is_some_and(|instance| instance.vm.is_full()) {
            let memory = self.config.limits.memory >> 20;
            self.close(&|_| How::OverLimit(format!("memory limit of {memory} MiB")));
            return;
        }
        self.fail_stuck(&shared);
    }

    /// A rejection that is not handled belongs to the call that was going on, or else to none.
    fn take_rejections(&self, shared: &Shared) {
        const MOST_TOLD: usize = 16;
        let rejections = std::mem::take(&mut shared.lock().rejections);
        let more = rejections.len().saturating_sub(MOST_TOLD);
        for Rejection { message, .. } in rejections.into_iter().take(MOST_TOLD) {
            if shared.with_current(|call| call.lost = Some(message.clone())).is_none() {
                shared.report("unhandledRejection", &message);
            }
        }
        if more > 0 && shared.lock().calls.is_empty() {
            shared.report("unhandledRejection", &format!("and {more} more"));
        }
    }

    fn finish(&mut self, shared: &Arc<Shared>, number: u32, report: Report) {
        let (overdue, call) = {
            let mut state = shared.lock();
            (state.abandoned.remove(&number), state.calls.remove(&number))
        };
        if let Some(overdue) = overdue {
            overdue.abort();
        }
        let Some(call) = call else { return };
        if number == 0 {
            self.loaded(shared, call, &report);
            return;
        }
        match self.replies.remove(&number) {
            Some(Reply::Call(reply)) => {
                self.answers.calls.push((reply, outcome::returned(shared, &self.config.limits, call, report)));
            }
            Some(Reply::Lines(reply)) => {
                let lines = report.result.and_then(|lines| lines.decode()).unwrap_or_default();
                self.answers.lines.push((reply, lines));
            }
            None => {}
        }
    }

    fn loaded(&mut self, shared: &Arc<Shared>, mut call: CallState, report: &Report) {
        match outcome::loaded(shared, &self.config.limits, report, call.lost.take()) {
            Ok(_) => {
                if let Some(instance) = &mut self.instance {
                    instance.phase = Phase::Ready;
                }
            }
            Err(failure) => {
                self.refuse_waiting(shared, &failure);
                self.close(&|_| How::Cancelled);
            }
        }
    }

    /// Promises that are pending while nothing is outstanding can never settle.
    fn fail_stuck(&mut self, shared: &Arc<Shared>) {
        let has_work = self.instance.as_ref().is_some_and(|instance| instance.vm.has_work());
        let busy = self.has_ops() || has_work || shared.lock().can_go_on();
        if busy {
            return;
        }
        let (given_up, stuck) = {
            let mut state = shared.lock();
            let stuck: Vec<_> = state.calls.iter_mut().map(|(number, call)| (*number, call.lost.take())).collect();
            (std::mem::take(&mut state.abandoned), stuck)
        };
        given_up.values().for_each(AbortHandle::abort);
        for (number, lost) in stuck {
            let message = match lost {
                Some(message) => outcome::unhandled(&message),
                None => "it waits for something that can never happen: nothing is outstanding".to_owned(),
            };
            self.finish(shared, number, Report::failed(Failure::new(message)));
        }
    }

    fn refuse_waiting(&mut self, shared: &Shared, failure: &LoadFailure) {
        let message = match &failure.place {
            Some(place) => format!("{} ({}:{}:{})", failure.message, place.file.display(), place.line, place.column),
            None => failure.message.clone(),
        };
        let how =
            if shared.lock().exhausted { How::SpawnFailed(SpawnFailure::Other(message)) } else { How::Threw(message) };
        for work in self.waiting.drain(..) {
            self.answers.calls.push((work.reply, ModuleReturn::new(how.clone())));
        }
    }

    /// Ends an instance whose module had to be stopped.
    fn stop(&mut self, stop: Stop) {
        let (limits, on_caller) = (self.config.limits, self.on_caller);
        match stop {
            Stop::Work => self.close(&|_| How::TimedOut(limits.cpu)),
            Stop::Host => self.close(&|_| How::TimedOut(limits.host)),
            Stop::Memory => self.close(&|_| How::OverLimit(format!("memory limit of {} MiB", limits.memory >> 20))),
            Stop::Source => self.close(&|_| How::OverLimit(format!("source limit of {} MiB", limits.source >> 20))),
            // The time was that of one call; the others are ended with it.
            Stop::Wall(length) => {
                self.close(&|number| if on_caller == Some(number) { How::TimedOut(length) } else { ended() });
            }
            Stop::Panic => self.close(&|_| ended()),
        }
    }

    /// Why loading was stopped, in words.
    fn why_stopped(&self, stop: Stop) -> String {
        let limits = &self.config.limits;
        match stop {
            Stop::Work => format!("it worked for {} s without giving way", limits.cpu.as_secs_f64()),
            Stop::Host => format!("it stood still for {} s", limits.host.as_secs_f64()),
            Stop::Wall(length) => format!("it took longer than {} s", length.as_secs_f64()),
            Stop::Memory => format!("it went over its memory limit of {} MiB", limits.memory >> 20),
            Stop::Source => format!("it went over its source limit of {} MiB", limits.source >> 20),
            Stop::Panic => "a function of the host panicked".to_owned(),
        }
    }

    /// Ends the instance. Everything it was doing has ended this way.
    fn close(&mut self, end: &dyn Fn(u32) -> How) {
        let Some(instance) = self.instance.take() else { return };
        for (_, op) in self.ops.drain() {
            op.abort();
        }
        self.config.processes.sweep(self.generation, None);
        let calls = std::mem::take(&mut instance.shared.lock().calls);
        for (number, call) in calls {
            if let Some(Reply::Call(reply)) = self.replies.remove(&number) {
                let mut returned = ModuleReturn::new(end(number));
                (returned.messages, returned.entries) = (call.messages, call.entries);
                self.answers.calls.push((reply, returned));
            }
        }
        if instance.phase == Phase::Loading {
            for work in self.waiting.drain(..) {
                self.answers.calls.push((work.reply, ModuleReturn::new(end(work.number))));
            }
        }
    }
}
