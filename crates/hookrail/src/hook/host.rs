//! The trait through which a hook reaches the embedding program.
//!
//! Every method has a default that means "this host has no such thing", so a host implements what it has. Names are
//! the host's own; what a module calls them is known only to the runner.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::json::Json;
use crate::text::log::log;

/// A future that a runner or a host gives back.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a hook may ask of the program it takes part in, while it runs.
///
/// No lock of the engine is held meanwhile, so a host may fire another event from here. The methods that give no
/// future are called on a thread of the hook's own and have to answer at once.
///
/// ```
/// use hookrail::Host;
/// use hookrail::host::HostFuture;
///
/// struct Terminal;
///
/// impl Host for Terminal {
///     fn has_user(&self) -> bool {
///         true
///     }
///
///     fn confirm<'a>(&'a self, title: &'a str, message: &'a str) -> HostFuture<'a, bool> {
///         println!("{title}: {message} [y/N]");
///         Box::pin(async { false })
///     }
/// }
/// ```
pub trait Host: Send + Sync {
    /// Whether there is a user who can be asked.
    fn has_user(&self) -> bool {
        false
    }

    /// Lets the user choose one of these; none when nothing was chosen.
    fn select<'a>(&'a self, _title: &'a str, _options: &'a [String]) -> HostFuture<'a, Option<String>> {
        ready(None)
    }

    /// Lets the user say yes or no.
    fn confirm<'a>(&'a self, _title: &'a str, _message: &'a str) -> HostFuture<'a, bool> {
        ready(false)
    }

    /// Lets the user type a line.
    fn input<'a>(&'a self, _title: &'a str, _placeholder: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        ready(None)
    }

    /// Lets the user edit a text.
    fn edit<'a>(&'a self, _title: &'a str, _text: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        ready(None)
    }

    /// Shows a component that draws itself, until it is done.
    fn show(&self, _component: Arc<dyn Component>) -> HostFuture<'_, Result<(), HostError>> {
        ready(Err(HostError::new("this program cannot show components")))
    }

    /// Shows the user a notice.
    fn notify(&self, _text: &str, _level: NoticeLevel) {}

    /// Sets or, with none, removes one part of the status line. [`StatusLine`](crate::host::StatusLine) keeps them.
    fn set_status(&self, _key: &str, _text: Option<&str>) {}

    /// The text in the prompt's editor.
    fn editor_text(&self) -> String {
        String::new()
    }

    /// Replaces the text in the prompt's editor.
    fn set_editor_text(&self, _text: &str) {}

    /// A text in a style of the host's theme, such as `fg:accent`, `bg:error` or `bold`.
    fn styled(&self, _style: &str, text: &str) -> String {
        text.to_owned()
    }

    /// Reads the session; null if there is nothing to read.
    fn session(&self, _query: &SessionQuery) -> Json {
        Json::null()
    }

    /// Adds to the session that is current now.
    ///
    /// # Errors
    /// When that cannot be done.
    fn write_session(&self, _change: &SessionChange) -> Result<Json, HostError> {
        Ok(Json::null())
    }

    /// Begins a new session.
    fn new_session<'a>(&'a self, _parent: Option<&'a str>) -> HostFuture<'a, Result<SessionMove, HostError>> {
        ready(Ok(SessionMove::Done))
    }

    /// Branches the session at an entry.
    fn branch<'a>(&'a self, _entry: &'a str) -> HostFuture<'a, Result<SessionMove, HostError>> {
        ready(Ok(SessionMove::Done))
    }

    /// Moves to another place in the session tree, with a summary of what is left behind if that is wanted.
    fn navigate<'a>(&'a self, _target: &'a str, _summarize: bool) -> HostFuture<'a, Result<SessionMove, HostError>> {
        ready(Ok(SessionMove::Done))
    }

    /// Takes a message that a module sends while no event is being handled, for example from a timer.
    fn send_message(&self, _message: &Json) {}

    /// Takes an entry that a module adds while no event is being handled.
    fn append_entry(&self, _entry: &Json) {}

    /// Whether the agent waits for its user.
    fn is_idle(&self) -> bool {
        true
    }

    /// Whether messages are queued.
    fn has_queued_messages(&self) -> bool {
        false
    }

    /// Ends what the agent is doing.
    fn abort(&self) {}

    /// Waits until the agent waits for its user.
    fn wait_for_idle(&self) -> HostFuture<'_, ()> {
        ready(())
    }

    /// Reads what is known about models; null if there is nothing.
    fn models(&self, _query: &ModelQuery) -> Json {
        Json::null()
    }

    /// The key for a model.
    fn api_key<'a>(&'a self, _model: &'a Json) -> HostFuture<'a, Option<String>> {
        ready(None)
    }

    /// Asks a model: `model`, `context` and `options` as the module gave them.
    fn complete<'a>(&'a self, _request: &'a Json) -> HostFuture<'a, Result<Json, HostError>> {
        ready(Err(HostError::new("this program gives modules no access to a model")))
    }

    /// Takes the failure of a hook that nothing else reports.
    fn hook_failed(&self, _failure: &HookFailure) {}

    /// Takes a line for the log: what a module gives to its logger or prints. The default passes it on to `tracing`,
    /// with the target `hookrail::module`.
    fn log(&self, level: NoticeLevel, text: &str) {
        match level {
            NoticeLevel::Debug => log!(debug, target: "hookrail::module", "{text}"),
            NoticeLevel::Info => log!(info, target: "hookrail::module", "{text}"),
            NoticeLevel::Warning => log!(warn, target: "hookrail::module", "{text}"),
            NoticeLevel::Error => log!(error, target: "hookrail::module", "{text}"),
        }
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> HostFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

/// A host that offers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}

/// Something a hook draws on the screen by itself.
pub trait Component: Send + Sync {
    /// Its lines at this width.
    fn render(&self, width: usize) -> HostFuture<'_, Vec<String>>;

    /// Gives it a key press.
    fn key(&self, data: &str);

    /// Waits until it wants to be drawn again; false when it is done.
    fn changed(&self) -> HostFuture<'_, bool>;
}

/// How important a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// For a user who looks for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

/// What is asked of the session.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionQuery {
    /// The working directory.
    Cwd,
    /// The directory of session files.
    Dir,
    /// The session's identity.
    Id,
    /// The session's file; null when it is not kept.
    File,
    /// The session's name.
    Name,
    /// The identity of the last entry.
    LeafId,
    /// The last entry.
    LeafEntry,
    /// The entry with that identity.
    Entry(String),
    /// The label of the entry with that identity.
    Label(String),
    /// The entries from the root to that entry, or to the last one.
    Branch(Option<String>),
    /// The session's header.
    Header,
    /// All entries.
    Entries,
    /// The entries as a tree.
    Tree,
    /// What was used so far.
    Usage,
    /// The directory of artifacts.
    ArtifactsDir,
    /// The path of the artifact with that identity.
    ArtifactPath(String),
}

/// What is added to the session.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionChange {
    /// A message of the conversation.
    Message(Json),
    /// A custom entry, an object with `customType` and `data`.
    Entry(Json),
    /// A custom message, an object with `customType` and `content`.
    CustomMessage(Json),
    /// An artifact: an object with `content` and `type`.
    Artifact(Json),
}

/// What became of a move to another session or place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMove {
    /// It happened.
    Done,
    /// A hook or the user did not want it.
    Cancelled,
}

/// What is asked about models.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelQuery {
    /// The current one.
    Current,
    /// The one of that provider and name.
    Find {
        /// The provider.
        provider: String,
        /// The model's own name.
        id: String,
    },
    /// All that are known.
    All,
    /// All that can be used.
    Available,
}

/// Why a host could not do what it was asked.
///
/// ```
/// use hookrail::HostError;
///
/// assert_eq!(HostError::new("there is no such model").to_string(), "there is no such model");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// The cause, in words.
    pub message: String,
}

impl HostError {
    /// An error in words.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// A hook that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFailure {
    /// The module's path.
    pub hook: String,
    /// The event, in the module's own words.
    pub event: String,
    /// What happened.
    pub message: String,
}

impl HookFailure {
    /// A failure from its parts.
    #[must_use]
    pub fn new(hook: impl Into<String>, event: impl Into<String>, message: impl Into<String>) -> Self {
        Self { hook: hook.into(), event: event.into(), message: message.into() }
    }
}
