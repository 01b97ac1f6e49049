//! The agent: one conversation at a time, every operation through the guards.
//!
//! It knows sessions, models and tools, and applies what the guards return. It does not know how hooks are matched or
//! merged, or how anything is displayed.

mod call;
mod compact;
mod completion;
mod configuration;
mod host;
mod moves;
mod pending;
mod record;
mod session_start;
mod subagent;
mod tools;
mod work;

pub use compact::{CompactionCause, CompactionOutcome};
pub use moves::MoveOutcome;
pub use work::TurnEnd;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hookrail::guard::Guard;
use hookrail::{Code, Diagnostic, EventKind, HookSystem, Json, Stop};
use hookrail_spawn::{CancelToken, lock_mutex};

use self::configuration::FileFacts;
use self::session_start::SessionStartHooks;
use crate::error::AgentError;
use crate::message::TokenUsage;
use crate::model::Model;
use crate::session::{DamagedLine, Session, SessionStore};
use crate::settings::AgentSettings;
use crate::tool::Workspace;
use crate::user::User;
use crate::view::{View, ViewEvent};

/// Everything the agent works with.
pub struct AgentParts {
    /// The hooks.
    pub hooks: HookSystem,
    /// The model.
    pub model: Arc<dyn Model>,
    /// The folders that tools may read and write.
    pub place: Workspace,
    /// The store of sessions.
    pub store: SessionStore,
    /// The view that displays what happens.
    pub view: Arc<dyn View>,
    /// The user.
    pub user: Arc<dyn User>,
    /// The limits and defaults.
    pub settings: AgentSettings,
    /// The findings about the configuration that were shown since it was loaded. Every outcome repeats some of them.
    shown_findings: Mutex<Vec<Diagnostic>>,
}

impl AgentParts {
    /// Makes the parts with default settings.
    #[must_use]
    pub fn new(
        hooks: HookSystem,
        model: Arc<dyn Model>,
        place: Workspace,
        store: SessionStore,
        view: Arc<dyn View>,
        user: Arc<dyn User>,
    ) -> Self {
        Self {
            hooks,
            model,
            place,
            store,
            view,
            user,
            settings: AgentSettings::default(),
            shown_findings: Mutex::default(),
        }
    }
}

/// The session that the agent starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOpening {
    /// A new session.
    New,
    /// The session with this ID, or the one used last.
    Resume(Option<String>),
    /// A new session with a copy of the session with this ID, or of the one used last.
    Fork(Option<String>),
}

/// The reason why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The work is done, or the user ended the agent.
    Exit,
    /// The conversation is cleared.
    Clear,
    /// The user or the provider signed the account out.
    Logout,
    /// The user closed the prompt.
    PromptInputExit,
    /// Something else: a signal, another session in its place.
    Other,
}

impl EndReason {
    fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Clear => "clear",
            Self::Logout => "logout",
            Self::PromptInputExit => "prompt_input_exit",
            Self::Other => "other",
        }
    }
}

/// Whether the start or end of a session is that of the agent itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionScope {
    /// The agent starts or ends.
    Launch,
    /// The agent runs on: a clear, a resumed session, a compaction.
    InsideRun,
}

impl SessionScope {
    /// Returns the field `launch` of a session event. Hooks of agents whose session is the run of the agent take part only
    /// if it is true.
    fn field(self) -> (&'static str, Json) {
        ("launch", Json::boolean(self == Self::Launch))
    }
}

/// The highest depth of sub-agents inside of sub-agents.
const MAX_DEPTH: u32 = 2;

/// The agent.
pub struct ReferenceAgent {
    parts: Arc<AgentParts>,
    model: Arc<dyn Model>,
    session: Arc<Mutex<Session>>,
    guard: Mutex<Guard>,
    /// Cancels the work in progress.
    cancel: Mutex<CancelToken>,
    /// The number of agents around this one.
    depth: u32,
    /// The identity of this agent if it is a sub-agent.
    identity: Option<host::SubAgentIdentity>,
    calls: AtomicU64,
    /// The number of sub-agents that this agent has started.
    sub_agents: AtomicU64,
    /// The turns of the present prompt.
    turns: AtomicU64,
    /// The number of entries that the session had when the present prompt began.
    prompt_begin: Mutex<usize>,
    /// What the model calls of this session used.
    usage: Mutex<TokenUsage>,
    /// The detached hooks of the session's start that the first prompt waits for.
    session_start: Mutex<Option<SessionStartHooks>>,
    /// What is known about the configuration files, to notice when one changes.
    configuration: Arc<Mutex<FileFacts>>,
    /// The rules that have acted already, by their index.
    used_rules: Mutex<Vec<usize>>,
    /// The number of pieces of work in progress.
    busy: Arc<AtomicUsize>,
    /// The message in the place of an answer that a failed or aborted model did not give.
    unanswered: Mutex<Option<Json>>,
    /// The guards of the sub-agents that work now.
    inside: Arc<Mutex<Vec<Guard>>>,
    host_state: host::SharedHostState,
}

impl ReferenceAgent {
    /// Opens the session and fires its start event. Returns the agent, and the stop that a hook asked for.
    ///
    /// # Errors
    /// If the session cannot be opened or created, or its start cannot be recorded.
    pub async fn begin(parts: AgentParts, begin: &SessionOpening) -> Result<(Arc<Self>, Option<Stop>), AgentError> {
        let (session, damage, source) = match begin {
            SessionOpening::New => (parts.store.create(None)?, Vec::new(), "startup"),
            SessionOpening::Resume(id) => {
                let (session, damage) = parts.store.open(id.as_deref())?;
                (session, damage, "resume")
            }
            SessionOpening::Fork(id) => {
                let (session, damage) = parts.store.open_copy(id.as_deref())?;
                (session, damage, "resume")
            }
        };
        let model = Arc::clone(&parts.model);
        let agent = Arc::new(Self::with_session(Arc::new(parts), model, session, 0, None));
        let _ = agent.host_state.agent.set(Arc::downgrade(&agent));
        agent.report_damage(&damage);
        agent.report_loading();
        let started = SessionStartHooks::subscribe(agent.hooks());
        let (stop, detached) = agent.session_start(source, SessionScope::Launch).await;
        *lock_mutex(&agent.session_start) = started.with_detached(detached);
        if let Err(error) = agent.require_recorded() {
            // The context that hooks gave for the model is not in the session, so the agent must not start without it.
            agent.end(EndReason::Other).await;
            return Err(error);
        }
        Ok((agent, stop))
    }

    fn with_session(
        parts: Arc<AgentParts>,
        model: Arc<dyn Model>,
        session: Session,
        depth: u32,
        identity: Option<host::SubAgentIdentity>,
    ) -> Self {
        let session = Arc::new(Mutex::new(session));
        let busy = Arc::default();
        let host_state = host::SharedHostState::default();
        let guard = host::guard(&parts, &session, &busy, model.name(), identity.as_ref(), &host_state);
        let configuration = Arc::new(Mutex::new(FileFacts::of(&parts.hooks.watched_paths())));
        Self {
            parts,
            model,
            session,
            guard: Mutex::new(guard),
            cancel: Mutex::default(),
            depth,
            identity,
            calls: AtomicU64::new(0),
            sub_agents: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            prompt_begin: Mutex::default(),
            usage: Mutex::default(),
            session_start: Mutex::default(),
            configuration,
            used_rules: Mutex::default(),
            busy,
            unanswered: Mutex::default(),
            inside: Arc::default(),
            host_state,
        }
    }

    /// Returns the hook system.
    #[must_use]
    pub fn hooks(&self) -> &HookSystem {
        &self.parts.hooks
    }

    /// Returns the view.
    #[must_use]
    pub fn view(&self) -> &dyn View {
        &*self.parts.view
    }

    /// Locks the session.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        lock_mutex(&self.session)
    }

    /// Returns the limits and defaults.
    #[must_use]
    pub fn settings(&self) -> &AgentSettings {
        &self.parts.settings
    }

    /// Returns the store of sessions.
    #[must_use]
    pub fn store(&self) -> &SessionStore {
        &self.parts.store
    }

    /// Returns the host interface for hooks and commands of modules.
    #[must_use]
    pub fn host(&self) -> Arc<dyn hookrail::Host> {
        host::host(&self.parts, &self.session, &self.busy, &self.host_state)
    }

    pub(crate) fn guard(&self) -> Guard {
        lock_mutex(&self.guard).clone()
    }

    /// Cancels the hooks that the agent waits for; if there are none, cancels the work itself.
    pub fn interrupt(&self) {
        if self.cancel_hooks() == 0 {
            self.cancel_work();
        } else {
            self.view().show(&ViewEvent::Note { text: "the hook was interrupted; interrupt again to end the turn" });
        }
    }

    /// Cancels everything, and ends all questions to the user.
    pub fn leave(&self) {
        self.parts.user.leave();
        self.interrupt_all();
    }

    /// Cancels the work and all hooks.
    pub fn interrupt_all(&self) {
        self.cancel_work();
        self.cancel_hooks();
    }

    /// Cancels the hooks that this agent and its sub-agents wait for. Returns their number.
    fn cancel_hooks(&self) -> usize {
        let inside = lock_mutex(&self.inside);
        inside.iter().map(Guard::cancel_hooks).sum::<usize>() + self.guard().cancel_hooks()
    }

    fn cancel_work(&self) {
        self.token().cancel();
    }

    /// Returns the cancel token of the work in progress.
    fn token(&self) -> CancelToken {
        lock_mutex(&self.cancel).clone()
    }

    fn is_cancelled(&self) -> bool {
        self.token().is_cancelled()
    }

    /// Marks the start of a piece of work, with a cancel token of its own.
    fn working(&self) -> BusyGuard {
        *lock_mutex(&self.cancel) = CancelToken::new();
        self.busy.fetch_add(1, Ordering::Relaxed);
        BusyGuard(Arc::clone(&self.busy))
    }

    /// Ends the session: fires its end event, and waits for hooks that still run.
    pub async fn end(&self, reason: EndReason) {
        self.session_ended(reason, SessionScope::Launch).await;
        for finding in self.parts.hooks.shutdown().await {
            // Hooks that failed were shown when they ended.
            if finding.code == Code::HookCancelled {
                self.warn_cut_off(&finding);
            }
        }
    }

    async fn session_ended(&self, reason: EndReason, scope: SessionScope) {
        self.fire_event(EventKind::SessionEnd, &[("reason", Json::string(reason.name())), scope.field()]).await;
    }

    /// Fires the start event of a session inside the run, and adds the context of its hooks to the conversation.
    async fn session_started(&self, source: &str) -> Option<Stop> {
        self.session_start(source, SessionScope::InsideRun).await.0
    }

    /// Fires the start event of a session. Returns the stop that a hook asked for, and how many hooks run detached.
    async fn session_start(&self, source: &str, scope: SessionScope) -> (Option<Stop>, usize) {
        {
            let session = self.session();
            let file = session.file_text();
            self.view().show(&ViewEvent::Session { id: session.id(), file: &file, source });
        }
        let told = self.fire_event(EventKind::SessionStart, &[("source", Json::string(source)), scope.field()]).await;
        if let Some(stop) = &told.stop {
            self.view().show(&ViewEvent::Stopped { reason: &stop.reason });
        }
        let detached = told.receipt.ran.iter().filter(|judged| judged.end == hookrail::EndKind::Detached).count();
        (told.stop, detached)
    }

    fn report_damage(&self, damage: &[DamagedLine]) {
        for damage in damage {
            let DamagedLine { line, bytes, message, .. } = damage;
            let text = format!(
                "line {line} of the session's file cannot be read ({bytes} bytes: {message}); all other lines are used"
            );
            self.view().show(&ViewEvent::Warning { code: Some("session-damaged"), text: &text });
        }
    }
}

/// A piece of work in progress, until it is dropped.
struct BusyGuard(Arc<AtomicUsize>);

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
