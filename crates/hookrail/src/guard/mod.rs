//! Guards: a host that uses them cannot skip the hooks or ignore their effects.
//!
//! A tool runs only with a [`Permit`], a model is called only with a [`ModelPermit`], and nothing but a guard can make
//! one. The guard fires the events around the operation, applies every effect, asks the user where hooks want that, and
//! returns what happened with a [`Receipt`].
//!
//! A guard knows what effects mean for an operation. It knows no dialect, no terminal and no particular model or tool.

mod approval;
mod cancel;
mod lifecycle;
mod model;
mod model_tools;
mod notes;
mod permission;
mod prompt;
mod receipt;
mod tool;

pub use approval::{Approval, Approver, NoApprover};
pub use lifecycle::{CompactionGuard, CompactionPlan, NotificationResult};
pub use model::{ModelEnd, ModelPermit, ModelResult};
pub use notes::Notes;
pub use prompt::{AgentEnd, PromptEnd};
pub use receipt::{Receipt, ReceiptEntry};
pub use tool::{Permit, ToolCall, ToolEnd, ToolFailure, ToolOutput, ToolResult, Visibility};

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use hookrail_spawn::lock_mutex;

use crate::event::{Event, EventKind};
use crate::outcome::Outcome;
use crate::system::{FireOptions, HookSystem, Host, NoHost};

/// The sub-agent that guards belong to.
#[derive(Clone)]
struct SubAgent {
    id: Arc<str>,
    kind: Arc<str>,
}

/// The guards of one session. Cloning shares the session's state.
#[derive(Clone)]
pub struct Guard {
    hooks: HookSystem,
    session_id: Arc<str>,
    transcript: Arc<str>,
    /// The model of the session, for dialects whose hooks are told it with every event.
    model_id: Arc<Mutex<Arc<str>>>,
    approver: Arc<dyn Approver>,
    host: Arc<dyn Host>,
    /// How often in a row hooks have sent the agent back to work.
    sent_back: Arc<AtomicU32>,
    /// Cancels the events that are under way.
    running: Arc<cancel::RunningEvents>,
    max_times_sent_back: u32,
    sub_agent: Option<SubAgent>,
}

impl Guard {
    /// The guards of a session. Until an approver is given no user can be asked, so a question is a deny.
    #[must_use]
    pub fn new(hooks: HookSystem, session_id: &str) -> Self {
        Self {
            hooks,
            session_id: session_id.into(),
            transcript: Arc::from(""),
            approver: Arc::new(NoApprover),
            model_id: Arc::new(Mutex::new(Arc::from(""))),
            host: Arc::new(NoHost),
            sent_back: Arc::default(),
            running: Arc::default(),
            max_times_sent_back: 5,
            sub_agent: None,
        }
    }

    /// The guards with an approver, which asks the user.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// The guards with a way back to the host for hooks that need one.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = host;
        self
    }

    /// The guards with the path of the session's transcript.
    #[must_use]
    pub fn transcript(mut self, path: &str) -> Self {
        self.transcript = path.into();
        self
    }

    /// The guards with the name of the session's model, which every event then carries as `model_id`.
    #[must_use]
    pub fn model_id(self, id: &str) -> Self {
        self.set_model_id(id);
        self
    }

    /// Sets the name of the session's model, also for the clones of these guards.
    pub fn set_model_id(&self, id: &str) {
        *lock_mutex(&self.model_id) = id.into();
    }

    /// How often in a row hooks may send the agent back to work. After that it ends.
    #[must_use]
    pub fn max_times_sent_back(mut self, times: u32) -> Self {
        self.max_times_sent_back = times;
        self
    }

    /// The guards of a sub-agent, whose tool events carry its identity and its kind as `agent_id` and `agent_type`.
    #[must_use]
    pub fn sub_agent(mut self, id: &str, kind: &str) -> Self {
        self.sub_agent = Some(SubAgent { id: id.into(), kind: kind.into() });
        self
    }

    /// The hooks behind the guards.
    #[must_use]
    pub fn hooks(&self) -> &HookSystem {
        &self.hooks
    }

    /// Whether parts of a model's response may be shown before the response is complete: only when no hook could still
    /// want to change or hide it.
    #[must_use]
    pub fn may_stream(&self) -> bool {
        !self.hooks.has_hooks_for(EventKind::AfterModel)
    }

    fn event(&self, kind: EventKind) -> Event {
        let event = self.hooks.event(kind).session(&*self.session_id).transcript(&*self.transcript);
        let model = Arc::clone(&lock_mutex(&self.model_id));
        if model.is_empty() { event } else { event.with_text("model_id", &model) }
    }

    /// Cancels the hooks that the guards of this session wait for now, and says how many events that ends. An operation
    /// that could have been denied then does not happen: no answer of an interrupted guard is known.
    pub fn cancel_hooks(&self) -> usize {
        self.running.cancel()
    }

    async fn fire(&self, event: Event) -> Outcome {
        let token = self.running.token();
        let options = FireOptions::new().host(Arc::clone(&self.host)).cancelled_by(&token);
        let fire = self.hooks.fire_with(event, options);
        // An event in which no hook takes part cannot be interrupted.
        let has_hooks = fire.id().is_some();
        let outcome = fire.await;
        if has_hooks && token.is_cancelled() { cancel::deny_if_gating(outcome) } else { outcome }
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}
