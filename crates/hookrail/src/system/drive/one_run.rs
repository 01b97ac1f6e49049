//! Running one hook of an event, whatever kind of action it has.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hookrail_spawn::CancelToken;

use super::super::detached::failures;
use super::super::notify::Notification;
use super::super::remote::ask_remote;
use super::{Driver, EngineShared, FireContext, Leftovers};
use crate::hook::native::{ClosureThreads, NativeCall, NativeHook, Panicked};
use crate::hook::{Action, HookDelivery};
use crate::run::{
    ModuleCall, ModuleEnd, ModuleReturn, NativeEnd, PlannedRun, ProcessRun, RawEnd, Relocation, RelocationReason,
    RunEnd, SpawnFailure, Surroundings, existing_directory, run_process,
};
use crate::text::log::log;

impl Driver {
    pub(super) async fn run_one(&self, context: &FireContext, request: PlannedRun) -> RunEnd {
        let (fire, run, hook) = (context.id, request.id, Arc::clone(&request.hook));
        log!(debug, target: "hookrail::runner", %hook, input_bytes = request.input.len(), "started");
        log!(trace, target: "hookrail::runner", %hook, input = %String::from_utf8_lossy(&request.input), "input");
        self.parts.notify.tell(|| Notification::Started {
            fire,
            run,
            hook: Arc::clone(&hook),
            input: request.input.clone(),
            at: Instant::now(),
        });
        let end = self.run_action(&request, context).await;
        if hook.delivery == HookDelivery::HeardLater
            && let Some(text) = hook.dialect.contract().late_words(&end)
        {
            self.parts.late_words.add(request.event.session_id(), &text);
        }
        log!(debug, target: "hookrail::runner", %hook, how = ?end.how(), duration = ?end.duration(), "ended");
        log!(trace, target: "hookrail::runner", %hook, stdout = %end.stdout().lossy(), stderr = %end.stderr().lossy(), "output");
        self.parts.debug_log.append(&hook.dialect.contract().run_log(&hook, request.event.kind(), &end));
        self.parts.notify.tell(|| {
            let findings = if hook.is_detached() { failures(&hook, &end) } else { Vec::new() };
            Notification::Ended { fire, run, hook, how: end.how().clone(), duration: end.duration(), findings }
        });
        end
    }

    pub(super) async fn run_action(&self, request: &PlannedRun, context: &FireContext) -> RunEnd {
        match &request.hook.action {
            Action::Native(native) => {
                let began = Instant::now();
                let closures =
                    if request.hook.is_shadow() { &self.parts.shadow.closures } else { &self.parts.closures };
                let how = call_native(closures, native, request, context).await;
                RunEnd::Native(NativeEnd { how, duration: began.elapsed() })
            }
            Action::Module(path) => RunEnd::Module(self.run_module(path, request, context).await),
            Action::Remote(target) => {
                RunEnd::Remote(ask_remote(&self.parts.remote, target, request, &context.cancel).await)
            }
            Action::Shell(_)
            | Action::Program(_)
            | Action::Http(_)
            | Action::Rule(_)
            | Action::NotExecutable(_)
            | Action::Unusable(_)
            | Action::Missing(_) => self.run_process(request, &context.cancel).await,
        }
    }

    /// Calls a module. Its working directory is checked as that of a command is.
    async fn run_module(&self, path: &Path, request: &PlannedRun, context: &FireContext) -> ModuleEnd {
        let began = Instant::now();
        let project = &self.parts.world.project;
        let relocated = match request.reason_to_run_at_root(project) {
            Some(why) => Some((why, project.to_path_buf())),
            None if request.cwd.is_dir() => None,
            None => Some((RelocationReason::Unusable, existing_directory(&request.cwd, project))),
        };
        let cwd = relocated.as_ref().map_or(&request.cwd, |(_, used)| used);
        let mut surroundings = Surroundings::default();
        let called = self.call_module(path, cwd, request, context, &mut surroundings).await;
        surroundings.relocated = relocated.map(|(why, used)| Relocation { why, unusable: request.cwd.clone(), used });
        let returned = called.unwrap_or_else(ModuleReturn::new);
        ModuleEnd { returned, duration: began.elapsed(), surroundings }
    }

    async fn call_module(
        &self,
        path: &Path,
        cwd: &Path,
        request: &PlannedRun,
        context: &FireContext,
        surroundings: &mut Surroundings,
    ) -> Result<ModuleReturn, RawEnd> {
        let EngineShared { world: shared, modules, .. } = &*self.parts;
        let hook = &request.hook;
        if !hook.trust.still_holds(cwd) {
            return Err(RawEnd::ContentChanged);
        }
        let sandbox = shared.sandboxes.sandbox_for(hook, shared.sandbox_place()).map_err(RawEnd::SpawnFailed)?;
        let runner = modules.as_ref().ok_or(RawEnd::SpawnFailed(SpawnFailure::NoRunner))?;
        surroundings.unenforced = sandbox.as_ref().map(|sandbox| sandbox.missing().to_vec()).unwrap_or_default();
        let payload = String::from_utf8_lossy(&request.input);
        let event = request.event.kind().spec().column(hook.dialect).map_or("", |column| column.name);
        let world = shared
            .module_world(cwd, hook.authority())
            .with_capabilities(shared.limits.for_trust(&hook.trust).capabilities)
            .covering(&hook.trust)
            .in_sandbox(sandbox);
        let call = ModuleCall {
            module: path,
            event,
            payload: &payload,
            timeout: request.timeout,
            world,
            host: Arc::clone(&context.host),
        };
        // The runner measures the time, because the time in which the user is asked is not counted.
        let cancel = &context.cancel;
        match self.leftovers {
            // Nothing waits for it, so it has no thread of a caller.
            _ if hook.is_shadow() => guarded(runner.call(call), None, cancel).await,
            Leftovers::Engine { .. } => guarded(runner.call(call), None, cancel).await,
            Leftovers::CallingThread { .. } => guarded(runner.call_here(call), None, cancel).await,
            Leftovers::Task { .. } => guarded(blocking_in_place(runner.call_here(call)), None, cancel).await,
        }
    }

    async fn run_process(&self, request: &PlannedRun, cancel: &CancelToken) -> RunEnd {
        // Waiting for a place does not count against the hook's timeout, which starts inside.
        let EngineShared { shadow, processes, .. } = &*self.parts;
        let places = if request.hook.is_shadow() { &shadow.processes } else { processes };
        let place = guarded(places.acquire(), None, cancel);
        let Ok(Ok(_place)) = place.await else {
            return RunEnd::NotRun(RawEnd::Cancelled);
        };
        // Whether the hook is still what was granted is checked inside, because a file can change while its hook waits.
        let EngineShared { world, pool, .. } = &*self.parts;
        let result = run_process(ProcessRun { world, pool, cancel }, request).await;
        result.terminations.into_iter().for_each(|termination| self.finish_later(termination));
        RunEnd::Process(result.end)
    }
}

/// Calls a closure on a thread of its own, so that its deadline is kept whatever it does with the thread.
async fn call_native(
    closures: &ClosureThreads,
    native: &NativeHook,
    request: &PlannedRun,
    context: &FireContext,
) -> RawEnd {
    let call = NativeCall { event: Arc::clone(&request.event), host: Arc::clone(&context.host) };
    let answer = match closures.call(native.clone(), call) {
        Ok(answer) => answer,
        Err(error) => return RawEnd::SpawnFailed(SpawnFailure::Other(format!("there is no thread for it: {error}"))),
    };
    match guarded(answer, Some(request.timeout), &context.cancel).await {
        Ok(Ok(effects)) => RawEnd::Decided(Box::new(effects)),
        Ok(Err(Panicked)) => RawEnd::Threw("the closure panicked".to_owned()),
        Err(how) => how,
    }
}

/// Runs code of the host until it is done, its time is up, the event is cancelled, or it panics.
pub(in crate::system) async fn guarded<F: Future>(
    work: F,
    timeout: Option<Duration>,
    cancel: &CancelToken,
) -> Result<F::Output, RawEnd> {
    let mut work = pin!(work);
    let mut cancelled = pin!(cancel.cancelled());
    let mut time_up = pin!(async {
        match timeout {
            Some(timeout) => {
                tokio::time::sleep(timeout).await;
                RawEnd::TimedOut(timeout)
            }
            None => std::future::pending().await,
        }
    });
    std::future::poll_fn(move |context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(RawEnd::Cancelled));
        }
        match std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Ready(output)) => return Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => {}
            Err(_) => return Poll::Ready(Err(RawEnd::Threw("the closure panicked".to_owned()))),
        }
        time_up.as_mut().poll(context).map(Err)
    })
    .await
}

/// Polls work that may block its thread. Only for tasks of a multi-thread runtime, which moves the other tasks of that
/// thread to another one meanwhile; elsewhere `block_in_place` panics.
async fn blocking_in_place<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    std::future::poll_fn(|context| tokio::task::block_in_place(|| work.as_mut().poll(context))).await
}
