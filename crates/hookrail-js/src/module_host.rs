//! A module's runtime and everything that waits for it, for whoever has the turn.
//!
//! The runtime is made at the first call, and thrown away when the module had to be stopped or ran out of memory; the
//! next call then begins with a fresh one. Nothing here waits: what takes time is begun on the module's own thread, and
//! its end comes back as a message.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use hookrail::{Host, How, LoadFailure, ModuleInspection, ModuleReturn, ModuleWorld, Registrations, SpawnFailure};
use hookrail_spawn::CancelToken;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::account::Held;
use crate::clock::{Budget, Stop, WallClock};
use crate::outcome::{self, Failure, Report};
use crate::shared::{Begun, CallState, Rejection, Shared};
use crate::vm::{Entry, Vm};
use crate::worker::{Job, Looked, Message, Seat, Work};

/// The runtime while it exists, and everything that waits for it.
pub(crate) struct Stage {
    seat: Seat,
    /// The loop of the module's own thread.
    runtime: Handle,
    act: Option<Act>,
    /// How many runtimes there were.
    acts: u32,
    /// What was begun and has not ended, by number.
    ops: HashMap<u32, AbortHandle>,
    /// The timer that the thread waits for.
    armed: Option<Instant>,
    /// The call that is made on the thread of whoever waits for it.
    here: Option<u32>,
    /// Why there is no runtime, when one could not be made.
    unopened: Option<ModuleInspection>,
    /// Work that has not begun.
    waiting: VecDeque<Work>,
    replies: BTreeMap<u32, Reply>,
    answers: Answers,
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

/// How long a command may go on that nobody waits for any more.
const AFTER_CANCEL: Duration = Duration::from_secs(60);

/// The end of what a runtime was doing when it was thrown away for something else.
fn ended() -> How {
    How::Threw("its runtime was ended while it was at work".to_owned())
}

/// Answers that are to be sent once the stage is free, so that whoever gets one finds it free.
#[derive(Default)]
#[must_use]
pub(crate) struct Answers {
    calls: Vec<(oneshot::Sender<ModuleReturn>, ModuleReturn)>,
    lines: Vec<(oneshot::Sender<Vec<String>>, Vec<String>)>,
}

impl Answers {
    /// Sends them. Whoever asked may be gone; then nobody wants the answer.
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
        Err(failure) if shared.exhausted.load(Ordering::Relaxed) => ModuleInspection::OutOfResources(failure),
        Err(failure) if shared.refused.load(Ordering::Relaxed) => ModuleInspection::Unknown(failure.message),
        Err(failure) => ModuleInspection::Failed(failure),
    }
}

/// Tells the module's thread that an operation has ended, even when it was broken off.
struct Settling {
    inbox: mpsc::WeakUnboundedSender<Message>,
    act: u32,
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
            // A thread that is gone has nobody to tell.
            let _ = inbox.send(Message::Settled { act: self.act, number: self.number, answer });
        }
    }
}

impl Stage {
    pub(crate) fn new(seat: Seat, runtime: Handle) -> Self {
        Self {
            seat,
            runtime,
            act: None,
            acts: 0,
            ops: HashMap::new(),
            armed: None,
            here: None,
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
        self.act.as_ref().and_then(|act| act.shared.timers.lock().next())
    }

    pub(crate) fn has_ops(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Does some work at once, on this thread, where the module is loaded and nothing is before it; otherwise gives it
    /// back. What the module then waits for is up to its own thread.
    pub(crate) fn work_here(&mut self, work: Work) -> Option<Work> {
        let is_next = self.waiting.is_empty() && self.seat.queued.load(Ordering::Relaxed) == 0;
        if !self.is_loaded() || !is_next {
            return Some(work);
        }
        self.here = Some(work.number);
        if let (Some(act), Some(clock)) = (&self.act, &work.clock) {
            act.shared.budget.watch(Arc::clone(clock));
        }
        self.begin(work);
        self.here = None;
        if self.next_timer() != self.armed
            && let Some(inbox) = self.seat.inbox.upgrade()
        {
            let _ = inbox.send(Message::Rearm);
        }
        None
    }

    /// Makes a runtime and begins to load the module into it.
    pub(crate) fn open(&mut self, world: ModuleWorld, host: Arc<dyn Host>) {
        let budget = Budget::new(&self.seat.limits, Arc::clone(&self.seat.kill));
        self.acts += 1;
        let shared = Shared::new(&self.seat, self.acts, world, budget, self.runtime.clone());
        shared.host.set(Arc::clone(&host));
        shared.begin_call(0, CallState::new("load", host, None, CancelToken::new()));
        match Vm::new(&shared, &self.seat.limits) {
            Ok(vm) => {
                vm.load(&self.seat.module);
                self.act = Some(Act { vm, shared, loaded: false });
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
        let Some(act) = &self.act else { return self.unopened.take().map(Looked::without_files) };
        let shared = Arc::clone(&act.shared);
        let files = shared.files.lock().clone();
        let (sources, missing) = (shared.sources.lock().clone(), shared.missing.lock().clone());
        if let Some(stop) = shared.budget.stopped() {
            let report = Report::failed(Failure::new(self.why_stopped(stop)));
            let result = outcome::loaded(&shared, &self.seat.limits, &report, None);
            return Some(Looked { found: inspected(&shared, result), files, sources, missing });
        }
        let report = shared.finished.lock().pop().map(|finished| Report::read(&finished));
        let lost = shared.rejections.lock().drain(..).next().map(|rejection| rejection.message);
        let report = match (report, &lost) {
            (Some(report), _) => report,
            (None, Some(_)) => Report::default(),
            (None, None) => return None,
        };
        let result = outcome::loaded(&shared, &self.seat.limits, &report, lost);
        Some(Looked { found: inspected(&shared, result), files, sources, missing })
    }

    pub(crate) fn take(&mut self, message: Message) {
        match message {
            // It is begun in its turn.
            Message::Work(work) => {
                self.seat.queued.fetch_sub(1, Ordering::Relaxed);
                self.waiting.push_back(*work);
            }
            Message::Abandon(number) => {
                self.replies.remove(&number);
                self.waiting.retain(|work| work.number != number);
                self.abandon(number);
            }
            Message::Overdue { act, call } => {
                let is_late = act == self.acts
                    && self.act.as_ref().is_some_and(|act| act.shared.abandoned.lock().remove(&call).is_some());
                if is_late {
                    self.close(&|_| ended());
                }
            }
            Message::Settled { act, number, answer } => self.settle(act, number, answer),
            Message::Changed { watcher, kind, name } => {
                if let Some(act) = &self.act {
                    act.shared.changes.fetch_sub(1, Ordering::Relaxed);
                    act.vm.turn(Entry::Changed, (watcher, kind, name));
                }
            }
            Message::Draw { component, width, reply } => {
                if let Some(act) = &self.act {
                    // Calls are numbered by whoever makes them; these come from here.
                    let number = act.shared.next_number() | 1 << 30;
                    let host = Arc::clone(&act.shared.host.lock());
                    act.shared.begin_call(number, CallState::new("render", host, None, CancelToken::new()));
                    self.replies.insert(number, Reply::Lines(reply));
                    act.vm.turn(Entry::Draw, (number, component, width));
                }
            }
            Message::Key { component, data } => {
                if let Some(act) = &self.act {
                    act.vm.turn(Entry::Key, (component, data));
                }
            }
            // Waiting begins anew after every message.
            Message::Rearm => {}
        }
    }

    fn is_loaded(&self) -> bool {
        self.act.as_ref().is_some_and(|act| act.loaded)
    }

    /// Whether there is work that waits for nothing but its turn.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty() && self.act.as_ref().is_none_or(|act| act.loaded)
    }

    /// Begins the next work that waits, or to load the module for it when there is no runtime.
    pub(crate) fn begin_waiting(&mut self) {
        if self.is_loaded() {
            if let Some(work) = self.waiting.pop_front() {
                self.begin(work);
            }
        } else if self.act.is_none()
            && let Some(work) = self.waiting.front()
        {
            let (world, host) = (work.world.clone(), Arc::clone(&work.host));
            self.open(world, host);
            self.after_turn();
        }
    }

    /// Begins some work with a module that is loaded, and answers it when it has already ended.
    fn begin(&mut self, work: Work) {
        let Some(act) = &self.act else { return };
        let number = work.number;
        let event = match &work.job {
            Job::Event { name, .. } => name.as_str(),
            Job::Command { .. } => "command",
            Job::Render { .. } => "render",
        };
        let state = CallState::new(event, Arc::clone(&work.host), work.clock, work.over);
        act.shared.begin_call(number, state);
        act.shared.world.set(work.world);
        act.shared.host.set(work.host);
        self.replies.insert(number, Reply::Call(work.reply));
        match work.job {
            Job::Event { name, payload } => act.vm.turn(Entry::Dispatch, (number, name, payload)),
            Job::Command { name, arguments } => act.vm.turn(Entry::Command, (number, name, arguments)),
            Job::Render { message, expanded, width } => act.vm.turn(Entry::Render, (number, message, expanded, width)),
        }
        self.after_turn();
    }

    /// Nobody wants a call any more. Its processes have been told to end; what its handlers still do has the rest of the
    /// call's time.
    fn abandon(&self, number: u32) {
        let Some(act) = &self.act else { return };
        let Some(call) = act.shared.calls.lock().remove(&number) else { return };
        call.over.cancel();
        self.seat.processes.sweep(self.acts, Some(number));
        let clock = call.clock.unwrap_or_else(|| WallClock::new(AFTER_CANCEL, self.seat.limits.dialogs));
        let (inbox, generation) = (self.seat.inbox.clone(), self.acts);
        let overdue = self.runtime.spawn(async move {
            let up = clock.limit(std::future::pending::<()>()).await;
            if let (None, Some(inbox)) = (up, inbox.upgrade()) {
                let _ = inbox.send(Message::Overdue { act: generation, call: number });
            }
        });
        act.shared.abandoned.lock().insert(number, overdue.abort_handle());
        act.vm.turn(Entry::Abandon, (number,));
    }

    fn settle(&mut self, act: u32, number: u32, answer: Option<(String, Held)>) {
        if act != self.acts {
            return;
        }
        self.ops.remove(&number);
        let Some(act) = &self.act else { return };
        act.shared.cancels.lock().remove(&number);
        if let Some((answer, held)) = answer {
            act.vm.turn(Entry::Settle, (number, answer));
            drop(held);
        }
    }

    pub(crate) fn fire_timers(&mut self) {
        let Some(act) = &self.act else { return };
        // Each timer is a turn of its own: one that loops must not take the budget of another.
        let due = act.shared.timers.lock().take_due();
        if let Some(number) = due {
            act.vm.turn(Entry::Fire, (number,));
        }
    }

    /// Hands what was begun to the module's own thread.
    pub(crate) fn spawn_begun(&mut self) {
        let Some(act) = &self.act else { return };
        for Begun { number, op, held } in act.shared.begun.take() {
            let settling = Settling { inbox: self.seat.inbox.clone(), act: self.acts, number, answer: None };
            let shared = Arc::downgrade(&act.shared);
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
        let Some(act) = &self.act else { return };
        let shared = Arc::clone(&act.shared);
        if let Some(stop) = shared.budget.stopped() {
            self.stop(stop);
            return;
        }
        self.take_rejections(&shared);
        let finished = shared.finished.take();
        let mut out_of_memory = false;
        for finished in finished {
            let report = Report::read(&finished);
            out_of_memory |= report.ran_out_of_memory();
            self.finish(&shared, finished.call, report);
        }
        // A promise that waits for what there was no memory for is stuck, too; the memory is what is to be told of.
        if out_of_memory || self.act.as_ref().is_some_and(|act| act.vm.is_full()) {
            let memory = self.seat.limits.memory >> 20;
            self.close(&|_| How::OverLimit(format!("memory limit of {memory} MiB")));
            return;
        }
        self.fail_stuck(&shared);
    }

    /// A rejection that nobody handled belongs to the call that was going on, or else to nobody.
    fn take_rejections(&self, shared: &Shared) {
        const MOST_TOLD: usize = 16;
        let rejections = shared.rejections.take();
        let more = rejections.len().saturating_sub(MOST_TOLD);
        for Rejection { message, .. } in rejections.into_iter().take(MOST_TOLD) {
            if shared.with_current(|call| call.lost = Some(message.clone())).is_none() {
                shared.report("unhandledRejection", &message);
            }
        }
        if more > 0 && shared.calls.lock().is_empty() {
            shared.report("unhandledRejection", &format!("and {more} more"));
        }
    }

    fn finish(&mut self, shared: &Arc<Shared>, number: u32, report: Report) {
        if let Some(overdue) = shared.abandoned.lock().remove(&number) {
            overdue.abort();
        }
        let Some(call) = shared.calls.lock().remove(&number) else { return };
        if number == 0 {
            self.loaded(shared, call, &report);
            return;
        }
        match self.replies.remove(&number) {
            Some(Reply::Call(reply)) => {
                self.answers.calls.push((reply, outcome::returned(shared, &self.seat.limits, call, report)));
            }
            Some(Reply::Lines(reply)) => {
                let lines = report.result.and_then(|lines| lines.decode()).unwrap_or_default();
                self.answers.lines.push((reply, lines));
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
                self.refuse_waiting(shared, &failure);
                self.close(&|_| How::Cancelled);
            }
        }
    }

    /// Promises that are pending while nothing is outstanding can never settle.
    fn fail_stuck(&mut self, shared: &Arc<Shared>) {
        let busy = self.has_ops() || shared.can_go_on() || self.act.as_ref().is_some_and(|act| act.vm.has_work());
        if busy {
            return;
        }
        for (_, overdue) in shared.abandoned.take() {
            overdue.abort();
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

    fn refuse_waiting(&mut self, shared: &Shared, failure: &LoadFailure) {
        let message = match &failure.place {
            Some(place) => format!("{} ({}:{}:{})", failure.message, place.file.display(), place.line, place.column),
            None => failure.message.clone(),
        };
        let how = if shared.exhausted.load(Ordering::Relaxed) {
            How::SpawnFailed(SpawnFailure::Other(message))
        } else {
            How::Threw(message)
        };
        for work in self.waiting.drain(..) {
            self.answers.calls.push((work.reply, ModuleReturn::new(how.clone())));
        }
    }

    /// Throws away a runtime whose module had to be stopped.
    fn stop(&mut self, stop: Stop) {
        let (limits, here) = (self.seat.limits, self.here);
        match stop {
            Stop::Work => self.close(&|_| How::TimedOut(limits.cpu)),
            Stop::Host => self.close(&|_| How::TimedOut(limits.host)),
            Stop::Memory => self.close(&|_| How::OverLimit(format!("memory limit of {} MiB", limits.memory >> 20))),
            Stop::Source => self.close(&|_| How::OverLimit(format!("source limit of {} MiB", limits.source >> 20))),
            // The time was that of one call; the others are ended with it.
            Stop::Wall(length) => {
                self.close(&|number| if here == Some(number) { How::TimedOut(length) } else { ended() });
            }
            Stop::Panic => self.close(&|_| ended()),
        }
    }

    /// Why loading was stopped, in words.
    fn why_stopped(&self, stop: Stop) -> String {
        let limits = &self.seat.limits;
        match stop {
            Stop::Work => format!("it worked for {} s without giving way", limits.cpu.as_secs_f64()),
            Stop::Host => format!("it stood still for {} s", limits.host.as_secs_f64()),
            Stop::Wall(length) => format!("it took longer than {} s", length.as_secs_f64()),
            Stop::Memory => format!("it went over its memory limit of {} MiB", limits.memory >> 20),
            Stop::Source => format!("it went over its source limit of {} MiB", limits.source >> 20),
            Stop::Panic => "a function of the host panicked".to_owned(),
        }
    }

    /// Throws the runtime away. Everything it was doing has ended this way.
    fn close(&mut self, end: &dyn Fn(u32) -> How) {
        let Some(act) = self.act.take() else { return };
        for (_, op) in self.ops.drain() {
            op.abort();
        }
        self.seat.processes.sweep(self.acts, None);
        let calls = act.shared.calls.take();
        for (number, call) in calls {
            if let Some(Reply::Call(reply)) = self.replies.remove(&number) {
                let mut returned = ModuleReturn::new(end(number));
                (returned.messages, returned.entries) = (call.messages, call.entries);
                self.answers.calls.push((reply, returned));
            }
        }
        if !act.loaded {
            for work in self.waiting.drain(..) {
                self.answers.calls.push((work.reply, ModuleReturn::new(end(work.number))));
            }
        }
    }
}
