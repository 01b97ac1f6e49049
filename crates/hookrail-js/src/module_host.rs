//! The instance of a module and everything that waits for it. The thread that has the turn holds the lock around this.
//!
//! The first call makes the instance. It is ended when the module had to be stopped or ran out of memory, and the next
//! call makes a new one. Nothing here blocks: an operation that takes time is started on the module's thread, and its
//! end comes back as a message.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hookrail::Host;
use hookrail::module::{LoadFailure, ModuleContext, ModuleInspection, ModuleReturn, Registrations};
use hookrail::process::{RawEnd, SpawnFailure};
use rquickjs::function::IntoArgs;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::call::CallState;
use crate::clock::WallClock;
use crate::limits::StopReason;
use crate::loaded::Version;
use crate::message::{ModuleJob, ModuleWork, TaskResult, WorkerMessage};
use crate::module_config::ModuleConfig;
use crate::op_error::OpError;
use crate::ops;
use crate::returned::{self, CallReport, HandlerFailure};
use crate::rules::{Combine, Rule};
use crate::shared::{InstanceState, Shared, StartedTask};
use crate::vm::{PreludeFunction, Vm};

/// One module: its instance while there is one, and everything that waits for it. The lock around this is the turn.
pub(crate) struct ModuleHost {
    config: Arc<ModuleConfig>,
    /// The loop of the module's own thread.
    runtime: Handle,
    instance: Option<Instance>,
    /// How many instances there have been.
    generation: u32,
    /// Operations that were started and have not ended, by number.
    ops: HashMap<u32, AbortHandle>,
    /// When the thread has to check timers and abandoned calls next.
    armed: Option<Instant>,
    /// The call that runs on its caller's thread.
    on_caller: Option<u32>,
    /// Why there is no instance, when one could not be made.
    unopened: Option<ModuleInspection>,
    /// What an inspection found, while it waits for what the factory started.
    registered: Option<Registrations>,
    /// Work that has not started.
    waiting: VecDeque<ModuleWork>,
    answers: Answers,
}

/// A runtime with the module in it.
struct Instance {
    vm: Vm,
    shared: Shared,
}

/// Answers that are sent after the turn, so that the receiver's next call finds the lock free.
pub(crate) type Answers = Vec<(oneshot::Sender<ModuleReturn>, ModuleReturn)>;

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

/// How long a command may continue after its caller abandoned it.
const ABANDONED_CALL_TIME: Duration = Duration::from_secs(60);

/// The end of a call whose instance was ended for another reason.
pub(crate) fn runtime_ended() -> RawEnd {
    RawEnd::Threw("its runtime was ended while it was at work".to_owned())
}

/// The result of an inspection, which loads a module only to see what it registers.
fn inspection_of(state: &InstanceState, result: Result<Registrations, LoadFailure>) -> ModuleInspection {
    match result {
        Ok(registered) => ModuleInspection::Registered(registered),
        Err(failure) if state.exhausted => ModuleInspection::OutOfResources(failure),
        Err(failure) if !state.refusals.is_empty() => ModuleInspection::Unknown(failure.message),
        Err(failure) => ModuleInspection::Failed(failure),
    }
}

/// Tells the module's thread that an operation has ended. Dropping it tells the thread too, so that a cancelled
/// operation is reported.
struct TaskReport {
    inbox: mpsc::WeakUnboundedSender<WorkerMessage>,
    generation: u32,
    number: u32,
    answer: Option<TaskResult>,
}

impl TaskReport {
    fn end(mut self, answer: TaskResult) {
        self.answer = Some(answer);
    }
}

impl Drop for TaskReport {
    fn drop(&mut self) {
        if let Some(inbox) = self.inbox.upgrade() {
            let answer = self.answer.take();
            let _ = inbox.send(WorkerMessage::Settled { generation: self.generation, number: self.number, answer });
        }
    }
}

impl ModuleHost {
    pub(crate) fn new(config: Arc<ModuleConfig>, runtime: Handle) -> Self {
        Self {
            config,
            runtime,
            instance: None,
            generation: 0,
            ops: HashMap::new(),
            armed: None,
            on_caller: None,
            unopened: None,
            registered: None,
            waiting: VecDeque::new(),
            answers: Answers::new(),
        }
    }

    fn state(&mut self) -> Option<&mut InstanceState> {
        self.instance.as_mut().map(|instance| instance.shared.state_mut())
    }

    /// When the thread has to check timers and abandoned calls, or stop waiting for what the factory started.
    pub(crate) fn arm(&mut self) -> Option<Instant> {
        let _ = self.has_settled();
        self.armed = self.state().and_then(|state| state.next_due().into_iter().chain(state.tail).min());
        self.armed
    }

    /// Whether everything has ended that the factory started and did not wait for, or the time for that is up.
    fn has_settled(&mut self) -> bool {
        let Some(Instance { vm, shared }) = &mut self.instance else { return true };
        let state = shared.state_mut();
        let Some(until) = state.tail else { return true };
        let goes_on = !self.ops.is_empty() || vm.has_work() || state.has_tail(until);
        if goes_on && Instant::now() < until && state.budget.stopped().is_none() {
            return false;
        }
        state.tail = None;
        true
    }

    pub(crate) fn has_ops(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Enters the module's code, if there is an instance.
    fn turn<A>(&mut self, entry: PreludeFunction, args: A)
    where
        A: for<'js> IntoArgs<'js>,
    {
        if let Some(Instance { vm, shared }) = self.instance.take() {
            self.instance = vm.turn(shared, entry, args).map(|shared| Instance { vm, shared });
        }
    }

    /// Does some work now, on the calling thread, if the module is loaded and no other work waits; otherwise returns
    /// the work. If the module then waits for something, its own thread continues.
    pub(crate) fn work_on_caller(&mut self, work: ModuleWork) -> Option<ModuleWork> {
        let is_next = self.waiting.is_empty() && self.config.queued.load(Ordering::Relaxed) == 0;
        let is_next = is_next && self.has_settled();
        let Some(state) = self.state().filter(|state| is_next && !state.is_loading()) else { return Some(work) };
        if let Some(clock) = &work.call.clock {
            state.budget.watch(Arc::clone(clock));
        }
        self.on_caller = Some(work.number);
        self.begin(work);
        self.on_caller = None;
        if self.state().and_then(|state| state.next_due()) != self.armed
            && let Some(inbox) = self.config.inbox.upgrade()
        {
            let _ = inbox.send(WorkerMessage::Rearm);
        }
        None
    }

    /// Makes a runtime and starts to load the module into it.
    pub(crate) fn open(&mut self, world: ModuleContext, host: Arc<dyn Host>) {
        self.generation += 1;
        let (shared, made) = Shared::new(&self.config, self.generation, world, host).lend(Vm::new);
        let Some(mut shared) = shared else {
            // The calls that wait are told that their runtime was ended.
            self.waiting.clear();
            return;
        };
        match made {
            Ok(vm) => {
                self.instance = Some(Instance { vm, shared });
                let module = self.config.module.to_string_lossy().into_owned();
                self.turn(PreludeFunction::Open, (module,));
            }
            Err(message) => {
                let failure = LoadFailure::new(format!("Failed to load hook: there is no runtime for it: {message}"));
                self.refuse_waiting(shared.state_mut().exhausted, &failure);
                self.unopened = Some(inspection_of(shared.state_mut(), Err(failure)));
            }
        }
    }

    /// The result of loading, once there is one and everything has settled that the factory started.
    pub(crate) fn inspection_result(&mut self) -> Option<InspectionResult> {
        if self.instance.is_none() {
            return self.unopened.take().map(InspectionResult::without_files);
        }
        let mut result = match self.registered.take() {
            Some(registered) => Ok(registered),
            None => self.load_result()?,
        };
        if let Ok(registered) = &mut result {
            if !self.has_settled() {
                self.registered = result.ok();
                return None;
            }
            registered.add_events(self.config.late.events());
            registered.unsettled = self.left_behind();
        }
        let state = self.instance.as_mut()?.shared.state_mut();
        let found = inspection_of(state, result);
        Some(InspectionResult { found, version: state.sources.version.clone(), missing: state.sources.missing.clone() })
    }

    /// What the factory registered, once it has ended.
    fn load_result(&mut self) -> Option<Result<Registrations, LoadFailure>> {
        let instance = self.instance.as_mut()?;
        let state = instance.shared.state_mut();
        let lost = state.rejections.drain(..).next().map(|rejection| rejection.message);
        let report = match (state.budget.stopped(), state.finished.pop()) {
            (Some(stop), _) => CallReport::failed(HandlerFailure::new(self.config.limits.why_stopped(stop))),
            (None, Some(finished)) => CallReport::read(&finished),
            (None, None) if lost.is_some() => CallReport::default(),
            (None, None) => return None,
        };
        let result = returned::load_result(&mut instance.shared, &report, lost);
        instance.shared.state_mut().begin_tail();
        Some(result)
    }

    /// Why the module may register more than its inspection saw.
    fn left_behind(&mut self) -> Option<String> {
        let Instance { vm, shared } = self.instance.as_mut()?;
        let state = shared.state_mut();
        if let Some(stop) = state.budget.stopped() {
            return Some(self.config.limits.why_stopped(stop));
        }
        let goes_on = !self.ops.is_empty() || vm.has_work() || state.can_go_on();
        let goes_on = || goes_on.then(|| "its factory started work that has not ended".to_owned());
        state.refusals.first().cloned().or_else(goes_on)
    }

    pub(crate) fn take_message(&mut self, message: WorkerMessage) {
        match message {
            // The work starts when it is first in the queue.
            WorkerMessage::Work(work) => {
                self.config.queued.fetch_sub(1, Ordering::Relaxed);
                self.waiting.push_back(*work);
            }
            WorkerMessage::Abandon(number) => {
                self.waiting.retain(|work| work.number != number);
                self.abandon(number);
            }
            WorkerMessage::Settled { generation, number, answer } => self.settle(generation, number, answer),
            WorkerMessage::Changed { watcher, kind, name } => {
                if let Some(instance) = &self.instance {
                    instance.shared.changes.fetch_sub(1, Ordering::Relaxed);
                }
                self.turn(PreludeFunction::Changed, (watcher, kind, name));
            }
            WorkerMessage::Draw { component, width, reply } => {
                if let Some(instance) = &mut self.instance {
                    // The runner counts its calls from 1. The high bit keeps the numbers that are made here apart from
                    // those.
                    let number = instance.shared.next_number() | 1 << 30;
                    let state = instance.shared.state_mut();
                    let call = CallState { reply: Some(reply), ..CallState::new(Arc::clone(&state.host)) };
                    state.begin_call(number, call);
                    self.turn(PreludeFunction::Draw, (number, component, width));
                }
            }
            WorkerMessage::Key { component, data } => self.turn(PreludeFunction::Key, (component, data)),
            // A message may have changed the time of the next check.
            WorkerMessage::Rearm => {}
        }
    }

    /// Whether the next work in the queue could start now.
    pub(crate) fn has_waiting(&mut self) -> bool {
        !self.waiting.is_empty() && self.state().is_none_or(|state| !state.is_loading()) && self.has_settled()
    }

    /// Starts the next work in the queue. If there is no instance, starts to load the module for it.
    pub(crate) fn begin_waiting(&mut self) {
        if self.instance.is_none()
            && let Some(work) = self.waiting.front()
        {
            let (world, host) = (work.world.clone(), Arc::clone(&work.call.host));
            self.open(world, host);
            self.after_turn();
        } else if let Some(work) = self.waiting.pop_front() {
            self.begin(work);
        }
    }

    /// Starts some work in a loaded module, and answers it if it has ended already.
    fn begin(&mut self, work: ModuleWork) {
        let ModuleWork { number, job, world, mut call } = work;
        if let ModuleJob::Event { name, .. } = &job
            && self.config.late.is_lost(name, self.generation)
            && Rule::of_event(name).is_some_and(|rule| rule.combine == Combine::Block)
        {
            let why = format!("its handler for `{name}`, which it registered while it ran, is gone with its runtime");
            self.answers.extend(call.reply.take().map(|reply| (reply, ModuleReturn::new(RawEnd::Threw(why)))));
            return;
        }
        let Some(state) = self.state() else { return };
        (state.world, state.host) = (Arc::new(world), Arc::clone(&call.host));
        state.begin_call(number, call);
        match job {
            ModuleJob::Event { name, payload } => self.turn(PreludeFunction::Dispatch, (number, name, payload)),
            ModuleJob::Command { name, arguments } => self.turn(PreludeFunction::Command, (number, name, arguments)),
            ModuleJob::Render { message, expanded, width } => {
                self.turn(PreludeFunction::Render, (number, message, expanded, width));
            }
        }
        self.after_turn();
    }

    /// Abandons a call. Its processes have been told to end; its handlers may continue for the rest of the call's time.
    fn abandon(&mut self, number: u32) {
        let dialogs = self.config.limits.dialogs;
        let Some(state) = self.state() else { return };
        let Some(call) = state.calls.remove(&number) else { return };
        call.over.cancel();
        state.abandoned.insert(number, call.clock.unwrap_or_else(|| WallClock::new(ABANDONED_CALL_TIME, dialogs)));
        self.config.processes.sweep(self.generation, Some(number));
        self.turn(PreludeFunction::Abandon, (number,));
    }

    fn settle(&mut self, generation: u32, number: u32, answer: Option<TaskResult>) {
        if generation != self.generation {
            return;
        }
        self.ops.remove(&number);
        let Some(instance) = &mut self.instance else { return };
        instance.shared.state_mut().cancels.remove(&number);
        if let Some((answer, held)) = answer {
            let answer = ops::encode(&instance.shared, answer);
            self.turn(PreludeFunction::Settle, (number, answer));
            drop(held);
        }
    }

    /// Runs timers that are due, and ends the instance if an abandoned call has not ended in its time.
    pub(crate) fn look_after(&mut self) {
        let Some(state) = self.state() else { return };
        if state.abandoned.values().any(|clock| clock.is_up()) {
            self.close(&|_| runtime_ended());
            return;
        }
        // Each timer is a separate turn, so that one that loops does not use up the budget of another.
        if let Some(number) = state.timers.take_due() {
            self.turn(PreludeFunction::Fire, (number,));
        }
    }

    /// Gives operations that were started to the event loop of the module's thread.
    pub(crate) fn spawn_begun(&mut self) {
        let Some(instance) = &mut self.instance else { return };
        for StartedTask { number, op, held } in std::mem::take(&mut instance.shared.state_mut().started_tasks) {
            let inbox = self.config.inbox.clone();
            let settling = TaskReport { inbox, generation: self.generation, number, answer: None };
            let account = instance.shared.account.clone();
            let task = self.runtime.spawn(async move {
                let answer = op.await;
                drop(held);
                // Many answers may wait for their turn.
                let held = account.reserve(answer.as_ref().map_or(0, |answer| answer.text().len()));
                let answer = if held.is_some() { answer } else { Err(OpError::over_memory()) };
                settling.end((answer, held));
            });
            self.ops.insert(number, task.abort_handle());
        }
    }

    /// The answers to send after the turn.
    pub(crate) fn take_answers(&mut self) -> Answers {
        std::mem::take(&mut self.answers)
    }

    /// Does what follows every turn: starts the operations that were asked for, and answers the calls that have ended.
    pub(crate) fn after_turn(&mut self) {
        self.spawn_begun();
        let Some(instance) = &mut self.instance else { return };
        if let Some(stop) = instance.shared.stopped() {
            self.stop(stop);
            return;
        }
        take_rejections(&mut instance.shared);
        let mut out_of_memory = false;
        for finished in std::mem::take(&mut instance.shared.state_mut().finished) {
            let report = CallReport::read(&finished);
            out_of_memory |= report.ran_out_of_memory();
            self.finish(finished.call, report);
        }
        // A promise that waits for an operation which failed for lack of memory is stuck too; the memory is the cause
        // to report.
        if out_of_memory || self.instance.as_ref().is_some_and(|instance| instance.vm.is_full()) {
            self.stop(StopReason::Memory);
            return;
        }
        self.fail_stuck();
    }

    fn finish(&mut self, number: u32, report: CallReport) {
        let Some(Instance { shared, .. }) = &mut self.instance else { return };
        let state = shared.state_mut();
        state.abandoned.remove(&number);
        let Some(mut call) = state.calls.remove(&number) else { return };
        if number == 0 {
            if let Err(failure) = returned::load_result(shared, &report, call.lost.take()) {
                let exhausted = shared.state_mut().exhausted;
                self.refuse_waiting(exhausted, &failure);
                self.close(&|_| RawEnd::Cancelled);
            } else {
                let state = shared.state_mut();
                state.printed_at_load = Some((call.stdout, call.stderr));
                state.begin_tail();
            }
        } else if let Some(reply) = call.reply.take() {
            self.answers.push((reply, returned::call_return(shared, call, report)));
        }
    }

    /// Fails the open calls if promises are pending and nothing is outstanding that could settle them.
    fn fail_stuck(&mut self) {
        let Some(Instance { vm, shared }) = &mut self.instance else { return };
        let state = shared.state_mut();
        if !self.ops.is_empty() || vm.has_work() || state.can_go_on() {
            return;
        }
        state.abandoned.clear();
        let stuck: Vec<_> = state.calls.iter_mut().map(|(number, call)| (*number, call.lost.take())).collect();
        for (number, lost) in stuck {
            let message = match lost {
                Some(message) => returned::unhandled_rejection(&message),
                None => "it waits for something that can never happen: nothing is outstanding".to_owned(),
            };
            self.finish(number, CallReport::failed(HandlerFailure::new(message)));
        }
    }

    fn refuse_waiting(&mut self, exhausted: bool, failure: &LoadFailure) {
        let message = match &failure.place {
            Some(place) => format!("{} ({}:{}:{})", failure.message, place.file.display(), place.line, place.column),
            None => failure.message.clone(),
        };
        let how = if exhausted { RawEnd::SpawnFailed(SpawnFailure::Other(message)) } else { RawEnd::Threw(message) };
        self.answer_waiting(&|_| how.clone());
    }

    /// Answers all work that has not started with this end.
    fn answer_waiting(&mut self, end: &dyn Fn(u32) -> RawEnd) {
        let unbegun = self.waiting.drain(..);
        self.answers.extend(unbegun.filter_map(|work| Some((work.call.reply?, ModuleReturn::new(end(work.number))))));
    }

    /// Ends an instance whose module had to be stopped.
    fn stop(&mut self, stop: StopReason) {
        let (limits, on_caller) = (self.config.limits, self.on_caller);
        self.close(&|number| match stop {
            StopReason::Work => RawEnd::TimedOut(limits.cpu),
            StopReason::Host => RawEnd::TimedOut(limits.host),
            StopReason::Memory => RawEnd::OverLimit(limits.of_memory()),
            StopReason::Source => RawEnd::OverLimit(limits.of_source()),
            // Only one call's time was used up; the others are ended together with it.
            StopReason::Wall(length) if on_caller == Some(number) => RawEnd::TimedOut(length),
            StopReason::Wall(_) | StopReason::Panic => runtime_ended(),
        });
    }

    /// Ends the instance, and everything it was doing with this end.
    fn close(&mut self, end: &dyn Fn(u32) -> RawEnd) {
        let Some(mut instance) = self.instance.take() else { return };
        self.ops.drain().for_each(|(_, op)| op.abort());
        self.config.processes.sweep(self.generation, None);
        let state = instance.shared.state_mut();
        if state.is_loading() || state.tail.is_some() {
            self.answer_waiting(end);
        }
        for (number, call) in std::mem::take(&mut state.calls) {
            if let Some(reply) = call.reply {
                let mut returned = ModuleReturn::new(end(number));
                (returned.messages, returned.entries) = (call.messages, call.entries);
                self.answers.push((reply, returned));
            }
        }
    }
}

/// Records an unhandled rejection as a failure of the call that was started last, if there is one.
fn take_rejections(shared: &mut Shared) {
    const MOST_TOLD: usize = 16;
    let rejections = std::mem::take(&mut shared.state_mut().rejections);
    let more = rejections.len().saturating_sub(MOST_TOLD);
    for rejection in rejections.into_iter().take(MOST_TOLD) {
        shared.record_unhandled("unhandledRejection", rejection.message);
    }
    if more > 0 && shared.state_mut().calls.is_empty() {
        shared.report_failure("unhandledRejection", &format!("and {more} more"));
    }
}
