//! Asking modules about events, and what else they offer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host::{Listener, Listeners, ListeningHost};
use super::{CommandOffer, HookFailure, LoadHooksResult, ModuleReturn, loader};
use crate::event::{Event, EventKind};
use crate::json::Json;
use crate::outcome::{Decision, Outcome};
use crate::system::{FireOptions, HookSystem, Host, NoHost};

/// Asks the hooks of a [`HookSystem`] about events, as xcsh's runner does. Cloning shares the listeners.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// use hookrail::module::HookRunner;
/// use hookrail::{EventKind, HookSystem, Json};
///
/// let hooks = HookSystem::builder("/project").build(); // .runner(hookrail_js::modules())
/// let runner = HookRunner::new(hooks);
/// let listening = runner.on_error(|failure| eprintln!("{}: {}", failure.hook, failure.message));
/// if runner.has_handlers(EventKind::SessionStart) {
///     runner.emit(runner.hooks().event(EventKind::SessionStart).with_text("source", "startup")).await;
/// }
/// let messages = vec![Json::parse(r#"{"role": "user", "content": "hello"}"#).unwrap()];
/// let messages = runner.emit_context(messages).await;
/// assert_eq!(messages.len(), 1);
/// drop(listening);
/// # });
/// ```
#[derive(Clone)]
pub struct HookRunner {
    hooks: HookSystem,
    host: Arc<dyn Host>,
    listeners: Arc<Listeners>,
}

/// A tool call that must not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Blocked {
    /// Why, for the model and the user.
    pub reason: String,
}

/// A listener for failures, which is called until this is dropped.
#[must_use = "dropping it ends the subscription"]
pub struct ErrorSubscription {
    _listener: Arc<Listener>,
}

impl std::fmt::Debug for ErrorSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ErrorSubscription")
    }
}

impl HookRunner {
    /// A runner whose hooks find a host that offers nothing: no user, no session, no models.
    #[must_use]
    pub fn new(hooks: HookSystem) -> Self {
        Self { hooks, host: Arc::new(NoHost), listeners: Arc::default() }
    }

    /// The runner with the program that hooks find behind `ctx` and `pi`.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = host;
        self
    }

    /// The hooks that are asked.
    #[must_use]
    pub fn hooks(&self) -> &HookSystem {
        &self.hooks
    }

    /// The modules that are loaded now, and those that could not be.
    #[must_use]
    pub fn loaded(&self) -> LoadHooksResult {
        loader::loaded(&self.hooks.snapshot())
    }

    /// The files of the modules, in load order.
    #[must_use]
    pub fn hook_paths(&self) -> Vec<PathBuf> {
        self.loaded().hooks.into_iter().map(|hook| hook.path).collect()
    }

    /// Whether any hook has a handler for an event, so that events need not be built for nothing.
    #[must_use]
    pub fn has_handlers(&self, event: EventKind) -> bool {
        self.hooks.snapshot().has_hooks(event)
    }

    /// Calls a function for every handler that fails, and for every failure outside of events. A guard of tool calls that
    /// fails is not among them: it blocks the call, and the reason says so. The listener is called on a thread of the hook's
    /// own and must not block it.
    pub fn on_error(&self, listener: impl Fn(&HookFailure) + Send + Sync + 'static) -> ErrorSubscription {
        let listener: Arc<Listener> = Arc::new(listener);
        self.listeners.add(&listener);
        ErrorSubscription { _listener: listener }
    }

    /// Tells the listeners of a failure.
    pub fn emit_error(&self, failure: &HookFailure) {
        self.listeners.tell(failure);
    }

    /// Asks the hooks about an event, and gives everything they said. A caller that acts on the outcome of an event that can
    /// be denied uses [`Guard`](crate::guard::Guard), which applies every effect.
    pub async fn emit(&self, event: Event) -> Outcome {
        self.hooks.fire_with(event, FireOptions::new().host(self.host())).await
    }

    /// Asks whether a tool may run. A hook that fails blocks, and so does one that wants the user asked, because nothing
    /// here can ask; [`HookToolWrapper`](super::HookToolWrapper) can, and also applies a rewritten input.
    ///
    /// # Errors
    /// When the tool must not run.
    pub async fn emit_tool_call(&self, call_id: &str, tool: &str, input: Json) -> Result<(), Blocked> {
        let event = self.hooks.event(EventKind::BeforeTool).with_text("tool_name", tool);
        let effects = self.emit(event.with_text("tool_call_id", call_id).with("tool_input", input)).await.effects;
        let blocked = |reason: Option<String>| {
            Err(Blocked { reason: reason.unwrap_or_else(|| "Tool execution was blocked by a hook".to_owned()) })
        };
        match effects.decision {
            Some(Decision::Deny | Decision::Ask) => blocked(effects.reason),
            Some(Decision::Allow) | None => match effects.stop {
                Some(stop) => blocked(Some(stop.reason)),
                None => Ok(()),
            },
        }
    }

    /// Gives the messages of a model call to the hooks, each of which receives the messages that the one before it returned.
    pub async fn emit_context(&self, messages: Vec<Json>) -> Vec<Json> {
        let Ok(list) = Json::of(&messages) else { return messages };
        let outcome = self.emit(self.hooks.event(EventKind::BeforeModel).with("messages", list)).await;
        let result = outcome.effects.result.as_ref().and_then(Json::as_object);
        result.and_then(|result| result.get("messages")?.as_array()).unwrap_or(messages)
    }

    /// Tells the hooks of a prompt before the agent begins; gives the messages that they add to the conversation.
    pub async fn emit_before_agent_start(&self, prompt: &str, images: Option<Json>) -> Vec<Json> {
        let event = self.hooks.event(EventKind::Prompt).with_text("prompt", prompt);
        let event = match images {
            Some(images) => event.with("images", images),
            None => event,
        };
        self.emit(event).await.effects.messages
    }

    /// Every command of every module, in load order. A name may stand there more than once.
    #[must_use]
    pub fn registered_commands(&self) -> Vec<CommandOffer> {
        self.hooks.commands()
    }

    /// The command of that name; of several, the first that was loaded.
    #[must_use]
    pub fn command(&self, name: &str) -> Option<CommandOffer> {
        self.registered_commands().into_iter().find(|command| command.name == name)
    }

    /// Runs a command; none when no module has one of that name. `arguments` is what the user typed behind the name.
    pub async fn run_command(&self, name: &str, arguments: &str) -> Option<ModuleReturn> {
        self.hooks.run_command(name, arguments, self.host()).await
    }

    /// The module that draws messages of this type; of several, the first that was loaded.
    #[must_use]
    pub fn message_renderer(&self, custom_type: &str) -> Option<Arc<Path>> {
        let snapshot = self.hooks.snapshot();
        let draws = |renderers: &[String]| renderers.iter().any(|known| known == custom_type);
        snapshot.modules.iter().find(|module| draws(&module.renderers)).map(|module| Arc::clone(&module.path))
    }

    /// Lets a module draw a message with a `customType`; none means that the default drawing is to be used.
    pub async fn render_message(&self, message: &Json, expanded: bool, width: usize) -> Option<Vec<String>> {
        self.hooks.render_message(message, expanded, width, self.host()).await
    }

    fn host(&self) -> Arc<dyn Host> {
        Arc::new(ListeningHost::new(Arc::clone(&self.host), Arc::clone(&self.listeners)))
    }
}

impl std::fmt::Debug for HookRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookRunner").field("hooks", &self.hooks).finish_non_exhaustive()
    }
}
