//! The agent: one conversation at a time, every operation through the guards.
//!
//! It knows sessions, models and tools, and applies what the guards return. How hooks are matched or merged, and how
//! anything looks, is not known here.

mod call;
mod compact;
mod completion;
mod host;
mod moves;
mod news;
mod record;
mod subagent;
mod tools;
mod work;

pub use compact::{Compacted, CompactionCause};
pub use moves::Moved;
pub use work::TurnEnd;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hookrail::guard::Guard;
use hookrail::{EventKind, HookSystem, Json, Stop};
use hookrail_spawn::{CancelToken, lock};

use crate::error::AgentError;
use crate::model::Model;
use crate::session::{Damage, Session, SessionStore};
use crate::settings::Settings;
use crate::tool::Place;
use crate::user::User;
use crate::view::{Shown, View};

/// Everything the agent works with.
pub struct Parts {
    /// The hooks.
    pub hooks: HookSystem,
    /// The model.
    pub model: Arc<dyn Model>,
    /// Where tools may read and write.
    pub place: Place,
    /// Where sessions are.
    pub store: SessionStore,
    /// Who shows things.
    pub view: Arc<dyn View>,
    /// Who is asked.
    pub user: Arc<dyn User>,
    /// Limits and habits.
    pub settings: Settings,
}

impl Parts {
    /// The parts with default settings.
    #[must_use]
    pub fn new(
        hooks: HookSystem,
        model: Arc<dyn Model>,
        place: Place,
        store: SessionStore,
        view: Arc<dyn View>,
        user: Arc<dyn User>,
    ) -> Self {
        Self { hooks, model, place, store, view, user, settings: Settings::default() }
    }
}

/// How a session begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// With nothing.
    New,
    /// With what was said before: in the session of this identity, or the one that was used last.
    Resume(Option<String>),
    /// With a copy of what was said before, in a new session.
    Fork(Option<String>),
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The work is done, or the user said so.
    Exit,
    /// The conversation is cleared.
    Clear,
    /// The user, or the provider, ended the account's sign-in.
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

/// How deep sub-agents may start sub-agents.
const DEEPEST: u32 = 2;

/// The agent.
pub struct Agent {
    parts: Arc<Parts>,
    model: Arc<dyn Model>,
    session: Arc<Mutex<Session>>,
    guard: Mutex<Guard>,
    /// What ends the work that is under way.
    cancel: Mutex<CancelToken>,
    /// How deep it is inside other agents.
    depth: u32,
    calls: AtomicU64,
    turns: AtomicU64,
    /// The rules that have acted already, by their place.
    used_rules: Mutex<Vec<usize>>,
    /// How much work is under way.
    busy: Arc<AtomicUsize>,
    /// A stop that came from deeper inside.
    stop: Mutex<Option<Stop>>,
    /// The guards of the sub-agents that work now.
    inside: Arc<Mutex<Vec<Guard>>>,
    me: host::Me,
}

impl Agent {
    /// Begins: opens the session and tells hooks. A hook may say that the agent must not begin.
    ///
    /// # Errors
    /// When the session cannot be opened or made, or its beginning cannot be recorded.
    pub async fn begin(parts: Parts, begin: &Begin) -> Result<(Arc<Self>, Option<Stop>), AgentError> {
        let (session, damage, source) = match begin {
            Begin::New => (parts.store.create(None)?, Vec::new(), "startup"),
            Begin::Resume(id) => {
                let (session, damage) = parts.store.open(id.as_deref())?;
                (session, damage, "resume")
            }
            Begin::Fork(id) => {
                let (session, damage) = parts.store.open_copy(id.as_deref())?;
                (session, damage, "resume")
            }
        };
        let model = Arc::clone(&parts.model);
        let agent = Arc::new(Self::with(Arc::new(parts), model, session, 0));
        let _ = agent.me.agent.set(Arc::downgrade(&agent));
        agent.report_damage(&damage);
        agent.report_loading();
        let stop = agent.session_started(source).await;
        if let Err(error) = agent.recorded() {
            // What hooks want the model to know is not in the session: to begin all the same would be to begin without it.
            agent.end(EndReason::Other).await;
            return Err(error);
        }
        Ok((agent, stop))
    }

    fn with(parts: Arc<Parts>, model: Arc<dyn Model>, session: Session, depth: u32) -> Self {
        let session = Arc::new(Mutex::new(session));
        let busy = Arc::default();
        let me = host::Me::default();
        let guard = host::guard(&parts, &session, &busy, depth, &me);
        Self {
            parts,
            model,
            session,
            guard: Mutex::new(guard),
            cancel: Mutex::default(),
            depth,
            calls: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            used_rules: Mutex::default(),
            busy,
            stop: Mutex::default(),
            inside: Arc::default(),
            me,
        }
    }

    /// The hooks.
    #[must_use]
    pub fn hooks(&self) -> &HookSystem {
        &self.parts.hooks
    }

    /// Who shows things.
    #[must_use]
    pub fn view(&self) -> &dyn View {
        &*self.parts.view
    }

    /// The session, to be looked at.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    /// Limits and habits.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// Where sessions are.
    #[must_use]
    pub fn store(&self) -> &SessionStore {
        &self.parts.store
    }

    /// The way back for hooks that need one.
    #[must_use]
    pub fn host(&self) -> Arc<dyn hookrail::Host> {
        host::host(&self.parts, &self.session, &self.busy, &self.me)
    }

    pub(crate) fn guard(&self) -> Guard {
        lock(&self.guard).clone()
    }

    /// Interrupts: first the hooks that are waited for, and only when there are none the work itself.
    pub fn interrupt(&self) {
        if self.cancel_hooks() == 0 {
            self.cancel_work();
        } else {
            self.view().show(&Shown::Note { text: "the hook was interrupted; once more ends the turn" });
        }
    }

    /// Interrupts everything, for good: nobody is asked any more.
    pub fn leave(&self) {
        self.parts.user.leave();
        self.interrupt_all();
    }

    /// Interrupts everything.
    pub fn interrupt_all(&self) {
        self.cancel_work();
        self.cancel_hooks();
    }

    /// Cancels the hooks that are waited for, here and in sub-agents.
    fn cancel_hooks(&self) -> usize {
        let inside = lock(&self.inside);
        inside.iter().map(Guard::cancel_hooks).sum::<usize>() + self.guard().cancel_hooks()
    }

    fn cancel_work(&self) {
        self.token().cancel();
    }

    /// The token of the work under way.
    fn token(&self) -> CancelToken {
        lock(&self.cancel).clone()
    }

    fn is_cancelled(&self) -> bool {
        self.token().is_cancelled()
    }

    /// Marks the beginning of a piece of work.
    fn working(&self) -> Working {
        *lock(&self.cancel) = CancelToken::new();
        self.busy.fetch_add(1, Ordering::Relaxed);
        Working(Arc::clone(&self.busy))
    }

    /// Ends the session: tells hooks, and waits for those that still run.
    pub async fn end(&self, reason: EndReason) {
        self.session_ended(reason).await;
        for diagnostic in self.parts.hooks.shutdown().await {
            self.warn(&diagnostic);
        }
    }

    async fn session_ended(&self, reason: EndReason) {
        self.tell(EventKind::SessionEnd, &[("reason", Json::string(reason.name()))]).await;
    }

    /// Tells hooks that a session began, and gives the model what they have to say.
    async fn session_started(&self, source: &str) -> Option<Stop> {
        {
            let session = self.session();
            let file = session.file_text();
            self.view().show(&Shown::Session { id: session.id(), file: &file, source });
        }
        let fields = [("source", Json::string(source)), ("model_id", Json::string(self.model.name()))];
        let told = self.tell(EventKind::SessionStart, &fields).await;
        if let Some(stop) = &told.stop {
            self.view().show(&Shown::Stopped { reason: &stop.reason });
        }
        told.stop
    }

    fn report_damage(&self, damage: &[Damage]) {
        for damage in damage {
            let Damage { line, bytes, message, .. } = damage;
            let text = format!(
                "line {line} of the session's file cannot be read ({bytes} bytes: {message}); all other lines are used"
            );
            self.view().show(&Shown::Warning { code: Some("session-damaged"), text: &text });
        }
    }
}

/// A piece of work under way.
struct Working(Arc<AtomicUsize>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
