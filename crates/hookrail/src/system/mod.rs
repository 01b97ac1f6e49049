//! The facade: one object a host makes, clones cheaply, and fires events through.
//!
//! It owns the snapshot and one thread, which is started at the first event that neither the calling
//! thread nor a runtime of the host drives. It is a guest in the process of the host:
//! no signal handlers, no change of directory or environment, no global state.

mod admission;
mod builder;
mod detached;
pub mod document;
mod drive;
mod engine;
mod fire;
mod host_runtime;
mod late_words;
mod modules;
mod notify;
mod options;
mod parker;
mod plans;
mod recording;
mod reloads;
mod remote;
mod run_starts;
mod runtime_pool;
mod shadow;
mod status;
mod typed;

pub use crate::hook::host::{
    Component, HookFailure, Host, HostError, ModelQuery, NoHost, NoticeLevel, SessionChange, SessionMove, SessionQuery,
};
pub use builder::Builder;
pub use fire::Fire;
pub use modules::CommandOffer;
pub use notify::{FireId, Notification, Notifications};
pub use options::FireOptions;
pub use status::StatusLine;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use arc_swap::ArcSwap;
use hookrail_spawn::{CancelToken, lock_mutex};

use crate::config::LoadMode;
use crate::config::diagnostic::Diagnostic;
use crate::dialect::Loader;
use crate::dialect::snapshot::{Configuration, Snapshot};
use crate::event::{Event, EventKind, EventSet};
use crate::firing::{Firing, Plan};
use crate::hook::Hook;
use crate::outcome::Outcome;
use crate::rules::Purpose;
use crate::trust::places::ProtectedPlaces;
use builder::Settings;
use engine::{Engine, EngineRuntime};
use options::Detached;
use recording::{PendingRecord, RecordedOutcome};

/// How deep hooks may start agents that fire hooks. Two levels are in use (a hook that asks an agent for a review); a
/// third is most likely an endless recursion.
const DEEPEST: u32 = 3;

/// The hooks of one project, ready to take part in events. Cloning shares everything.
///
/// ```
/// use hookrail::guard::{Guard, ToolCall, ToolEnd, ToolOutput};
/// use hookrail::{Effects, Environment, EventKind, Hook, HookSystem, Json, NativeHook};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard).build();
/// // A guard fires the events around an operation and applies everything that hooks answer.
/// let guard = Guard::new(hooks, "session-1");
/// let call = ToolCall::new("call-1", "write_file", Json::empty_object());
/// let result = guard.tool_call(call, |_permit| async { Ok(ToolOutput::text("written")) }).await;
/// assert_eq!(result.end, ToolEnd::Denied);
/// assert_eq!(result.content.as_str().as_deref(), Some("not today"));
/// # });
/// ```
#[derive(Clone)]
pub struct HookSystem {
    inner: Arc<Inner>,
    used_by: UsedBy,
}

/// Whether events are fired by the agent or by a sub-agent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UsedBy {
    Session,
    SubAgent,
}

impl UsedBy {
    /// Whether an event of this kind is fired: a sub-agent has no session, so its session events are not.
    fn may_fire(self, kind: EventKind) -> bool {
        self == Self::Session || !matches!(kind, EventKind::SessionStart | EventKind::SessionEnd)
    }
}

struct Inner {
    settings: Settings,
    in_force: ArcSwap<plans::ActiveConfiguration>,
    /// The events that a hook may take part in, so that all others cost one load.
    wanted: AtomicU64,
    /// The same with the events that are recorded although no hook wants them.
    noted: AtomicU64,
    loader: Mutex<Loader>,
    native: Mutex<Vec<Hook>>,
    /// Whether the last load lacked resources, so that the next event loads again.
    load_again: AtomicBool,
    /// Whether a module has registered a handler since the last load, so that the next event loads again.
    late_handlers: AtomicBool,
    engine: OnceLock<Engine>,
    /// Held while the engine is started, so that it is started once.
    engine_start: Mutex<()>,
    runtimes: runtime_pool::RuntimePool,
    host_runtimes: host_runtime::HostRuntimes,
    shut_down: AtomicBool,
}

impl Inner {
    /// Has every event looked at, so that the next one loads again.
    fn want_every_event(&self) {
        self.wanted.store(u64::MAX, Ordering::SeqCst);
        self.noted.store(u64::MAX, Ordering::SeqCst);
    }
}

impl HookSystem {
    /// Begins to describe the hooks of a project.
    pub fn builder(project: impl Into<PathBuf>) -> Builder {
        Builder::new(project.into())
    }

    fn new(settings: Settings) -> Self {
        let inner = Inner {
            settings,
            in_force: ArcSwap::default(),
            wanted: AtomicU64::new(0),
            noted: AtomicU64::new(0),
            loader: Mutex::default(),
            native: Mutex::default(),
            load_again: AtomicBool::new(false),
            late_handlers: AtomicBool::new(false),
            engine: OnceLock::new(),
            engine_start: Mutex::default(),
            runtimes: runtime_pool::RuntimePool::default(),
            host_runtimes: host_runtime::HostRuntimes::default(),
            shut_down: AtomicBool::new(false),
        };
        let system = Self { inner: Arc::new(inner), used_by: UsedBy::Session };
        system.load(LoadMode::First);
        system.hear_of_late_handlers();
        system
    }

    /// The project's directory.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.parts().world.project
    }

    /// The same hooks for a sub-agent of this session: they take part in everything it does, but its beginning and
    /// its end are no session's, and shutting it down leaves the session alone.
    #[must_use]
    pub fn for_sub_agent(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), used_by: UsedBy::SubAgent }
    }

    /// Whether any hook may take part in an event. Costs one load.
    #[must_use]
    pub fn has_hooks_for(&self, event: EventKind) -> bool {
        if !self.used_by.may_fire(event) {
            return false;
        }
        EventSet::from_bits(self.inner.wanted.load(Ordering::Relaxed)).contains(event)
    }

    /// Whether an event has to be looked at: a hook may take part in it, or it is recorded all the same.
    fn is_observed(&self, event: EventKind) -> bool {
        if !self.used_by.may_fire(event) {
            return false;
        }
        EventSet::from_bits(self.inner.noted.load(Ordering::Relaxed)).contains(event)
    }

    /// The hooks and diagnostics as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.inner.in_force.load().snapshot)
    }

    /// Reads all configuration anew and puts it in force at once, for events fired from now on: what a person or a
    /// program asks for. A source that is gone was removed on purpose. One that is empty, broken or unreadable keeps
    /// its last good version. Returns what loading noticed.
    pub fn reload(&self) -> Vec<Diagnostic> {
        self.load(LoadMode::Reload)
    }

    /// Like [`HookSystem::reload`], for what happens by itself, such as a change that a watcher saw: a source that is
    /// gone keeps its last good version too, until a reload accepts that. Blocks for some 20 ms when a file has
    /// changed, because a file is read when it is stable.
    pub fn refresh(&self) -> Vec<Diagnostic> {
        self.load(LoadMode::Refresh)
    }

    /// Which configuration is in force.
    #[must_use]
    pub fn configuration(&self) -> Configuration {
        self.snapshot().configuration()
    }

    /// Everything whose change may change the configuration in force, whether it exists or not: what a watcher has to
    /// watch. A folder is meant with what is directly in it.
    #[must_use]
    pub fn watched_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.snapshot().files().to_vec();
        paths.extend(self.inner.settings.trust_files());
        paths.sort();
        paths.dedup();
        paths
    }

    /// Adds a hook that is code of the embedding program. It takes part from now on, after all configured ones.
    pub fn register(&self, hook: Hook) {
        lock_mutex(&self.inner.native).push(hook);
        self.refresh();
    }

    /// The files and folders that decide which hooks run under the configuration in force. A host keeps its tools from
    /// writing these and what is below them.
    #[must_use]
    pub fn protected_places(&self) -> Arc<ProtectedPlaces> {
        Arc::clone(&self.snapshot().protection.places)
    }

    /// Every file and folder whose change would change which hooks run, or what they do, whether it exists yet or not:
    /// the [protected places](HookSystem::protected_places), and `.git`, whose configuration and hooks run programs. No file
    /// of a project that is not trusted is read for this.
    #[must_use]
    pub fn protected_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.protected_places().paths();
        paths.push(self.project().join(".git"));
        paths
    }

    /// What would happen if the event were fired. Starts nothing. Under one configuration events that are about the
    /// same thing, such as a tool's name, mostly share one plan.
    #[must_use]
    pub fn explain(&self, event: &Event) -> Arc<Plan> {
        let in_force = self.inner.in_force.load();
        let plan = in_force.plan(event, Purpose::Explanation);
        if !plan.carries_calls() {
            return plan;
        }
        Arc::new(Plan::clone(&plan).with_carried_calls(&in_force.snapshot, event))
    }

    /// Finds out which versions of its hooks and of the configuration an event has, which the document of its outcome says. A
    /// program that fires one event does this while the hooks run.
    pub fn find_versions(&self, event: &Event) {
        let in_force = self.snapshot().in_force();
        for (_, planned) in self.explain(event).hooks() {
            let _ = planned.hook.identity(&in_force.places);
        }
    }

    /// What the engine itself says about a tool call, whatever hooks answer. Most calls do not concern it.
    #[must_use]
    pub fn own_finding(&self, event: &Event) -> Option<Diagnostic> {
        let snapshot = self.snapshot();
        let judged = snapshot.protection.judge_call(&snapshot.tools, event, snapshot.tools.meaning(event));
        judged.map(|judged| judged.finding)
    }

    /// Fires an event. Dropping the future cancels the hooks that still run.
    ///
    /// The hooks start at once, and the future works under any executor. Inside a multi-thread tokio runtime with
    /// timers and I/O (`enable_all`) a task of that runtime drives the event; the hooks' deadlines are then kept as
    /// long as the runtime has a free worker, and an event whose runtime ends before it is abandoned, which for a gate
    /// means denied. Elsewhere, also in a current-thread runtime that was not lent with [`Builder::lend_runtime`], the
    /// engine's own thread drives it.
    ///
    /// Inside a multi-thread runtime an event whose hooks are all modules starts when the future is first polled. As
    /// long as its modules work without waiting they do so on that thread, through `tokio::task::block_in_place`: what
    /// the task does at the same time, such as a timeout around the future, waits for them.
    pub fn fire(&self, event: Event) -> Fire {
        self.fire_with(event, FireOptions::new())
    }

    /// [`HookSystem::fire`] with options.
    pub fn fire_with(&self, event: Event, options: FireOptions) -> Fire {
        self.remember_approval(&event);
        if options.detached == Detached::LeftAlone && !self.is_observed(event.kind()) {
            return Fire::untouched(event.kind());
        }
        let firing = match self.admit(event, options.detached) {
            ControlFlow::Continue(firing) => firing,
            ControlFlow::Break(outcome) => return Fire::with_outcome(outcome),
        };
        if self.inner.settings.engine_runtime() == EngineRuntime::Lent {
            // The lent runtime is that of the first event, whichever thread drives that event.
            let _ = self.engine();
        }
        if let Some(runtime) = self.inner.host_runtimes.current()
            && let Some(in_flight) = self.inner.runtimes.enter()
        {
            // A shutdown may have completed since the event was admitted.
            if self.inner.shut_down.load(Ordering::Relaxed) {
                return Fire::with_outcome(
                    self.record_outcome(self.pending(&firing), Outcome::abandoned(firing.plan().event)),
                );
            }
            return host_runtime::drive(self, runtime, self.fired(firing, options), in_flight);
        }
        match self.engine() {
            Ok(engine) => engine.fire(self.fired(firing, options)),
            Err(why) => {
                let pending = self.pending(&firing);
                Fire::with_outcome(self.record_outcome(pending, engine::without_engine(firing, &why)))
            }
        }
    }

    /// Fires an event and blocks until it is over. Outside of an asynchronous runtime the calling thread does the work
    /// itself, which saves waking another one.
    pub fn fire_blocking(&self, event: Event) -> Outcome {
        self.fire_blocking_with(event, FireOptions::new())
    }

    /// [`HookSystem::fire_blocking`] with options.
    pub fn fire_blocking_with(&self, event: Event, options: FireOptions) -> Outcome {
        let kind = event.kind();
        self.remember_approval(&event);
        if options.detached == Detached::LeftAlone && !self.is_observed(kind) {
            return Outcome::untouched(kind);
        }
        let firing = match self.admit(event, options.detached) {
            ControlFlow::Continue(firing) => firing,
            ControlFlow::Break(outcome) => return outcome.wait(),
        };
        match self.inner.runtimes.borrow() {
            // A shutdown may have completed since the event was admitted.
            Some(_) if self.inner.shut_down.load(Ordering::Relaxed) => {
                self.record_outcome(self.pending(&firing), Outcome::abandoned(kind)).wait()
            }
            Some(runtime) => runtime.drive(self, self.fired(firing, options)),
            // A caller that blocks the thread the engine needs, such as a hook that fires another event, would
            // deadlock.
            None => match self.engine() {
                Ok(engine) if engine.needs_this_thread() => {
                    runtime_pool::drive_on_new_thread(self.clone(), self.fired(firing, options))
                }
                Ok(engine) => parker::block_on(engine.fire(self.fired(firing, options))),
                Err(why) => {
                    let pending = self.pending(&firing);
                    self.record_outcome(pending, engine::without_engine(firing, &why)).wait()
                }
            },
        }
    }

    /// What happens to hooks, as it happens.
    #[must_use]
    pub fn subscribe(&self) -> Notifications {
        self.parts().notify.subscribe()
    }

    /// Takes the findings about detached hooks that failed since the last call. No outcome has them, because their
    /// events were over; a host shows them between turns. Those that are not taken come from [`HookSystem::shutdown`].
    pub async fn detached_findings(&self) -> Vec<Diagnostic> {
        match self.inner.engine.get() {
            Some(engine) => engine.take_detached_report().await,
            None => Vec::new(),
        }
    }

    /// Waits until nothing of any hook is left that has to end, and fires nothing from now on. Hooks that run detached
    /// have their own time to end in, which those of one plugin share, or less where their event must not hold up the
    /// host. Returns which of them were ended for that reason, which have failed, and which processes of modules were ended.
    pub async fn shutdown(&self) -> Vec<Diagnostic> {
        if self.used_by == UsedBy::SubAgent {
            return Vec::new();
        }
        self.inner.shut_down.store(true, Ordering::Relaxed);
        self.inner.runtimes.close().await;
        // Ending pooled processes needs a runtime, even if all events were driven by their callers.
        let engine = if self.parts().pool.is_empty() { self.inner.engine.get() } else { self.engine().ok() };
        let mut findings = match engine {
            Some(engine) => engine.drain().await,
            None => Vec::new(),
        };
        if let Some(modules) = &self.parts().modules {
            let snapshot = self.snapshot();
            findings
                .extend(modules.shutdown().await.iter().map(|process| detached::process_cut_off(&snapshot, process)));
        }
        // A closure that blocks cannot be ended, so it is not waited for.
        self.parts().closures.close();
        self.parts().shadow.closures.close();
        findings
    }

    /// [`HookSystem::shutdown`], blocking.
    pub fn shutdown_blocking(&self) -> Vec<Diagnostic> {
        parker::block_on(self.shutdown())
    }

    /// An event with everything that driving it needs.
    fn fired(&self, firing: Box<Firing>, options: FireOptions) -> drive::FireJob {
        let id = self.parts().notify.next_id();
        let pending = self.parts().recording.as_ref().map(|recording| PendingRecord::of_firing(recording, &firing, id));
        drive::FireJob {
            id,
            pending,
            firing,
            host: options.host.unwrap_or_else(|| Arc::new(NoHost)),
            detached: options.detached,
            cancel: CancelToken::new(),
            cancelled_by: options.cancelled_by,
        }
    }

    /// A pending for an event that was planned and is not driven, if events are recorded.
    fn pending(&self, firing: &Firing) -> Option<PendingRecord> {
        let recording = self.parts().recording.as_ref()?;
        Some(PendingRecord::of_firing(recording, firing, self.parts().notify.next_id()))
    }

    /// Records the outcome of an event that is not driven.
    fn record_outcome(&self, pending: Option<PendingRecord>, outcome: Outcome) -> RecordedOutcome {
        match pending {
            Some(pending) => pending.record_outcome(outcome),
            None => outcome.into(),
        }
    }

    /// The engine's thread, which is started when it is first needed. A start that failed is tried again for the next
    /// event: a short lack of descriptors must not disable guards for good.
    fn engine(&self) -> Result<&Engine, String> {
        if let Some(engine) = self.inner.engine.get() {
            return Ok(engine);
        }
        let _starting = lock_mutex(&self.inner.engine_start);
        if let Some(engine) = self.inner.engine.get() {
            return Ok(engine);
        }
        match Engine::start(Arc::clone(self.parts()), self.inner.settings.engine_runtime()) {
            Ok(engine) => Ok(self.inner.engine.get_or_init(|| engine)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn parts(&self) -> &Arc<drive::EngineShared> {
        &self.inner.settings.parts
    }
}

impl std::fmt::Debug for HookSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookSystem").field("project", &self.project()).finish_non_exhaustive()
    }
}
