//! Models, which answer requests. The agent knows a model only through this trait, which providers implement as the
//! scripted model does.
//!
//! A model is called only with a [`ModelPermit`], so no call can bypass the hooks.

mod script;
mod scripted;

pub use scripted::ScriptedModel;

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use hookrail::Json;
use hookrail::guard::ModelPermit;

/// The future of a response.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, ModelError>> + Send + 'a>>;

/// A model.
///
/// Requests and responses are JSON: a request has `model`, `contents` (a list of `{"role", "parts"}`),
/// `systemInstruction`, `tools` (with `functionDeclarations`) and, where hooks chose tools, `toolConfig`; a response has
/// `candidates` and `usageMetadata`. A request for a summary has `purpose` set to `summary`.
pub trait Model: Send + Sync {
    /// Returns the model's name.
    fn name(&self) -> &str;

    /// Returns the highest number of tokens of a request.
    fn context_window(&self) -> u64;

    /// Answers a request. Passes text to `stream` as it comes, and returns the whole response.
    fn respond<'a>(&'a self, permit: &'a ModelPermit, stream: &'a mut dyn ResponseStream) -> ModelFuture<'a>;

    /// Returns the model of a sub-agent; none by default, so that there are no sub-agents.
    fn for_agent(&self, _name: &str) -> Option<Arc<dyn Model>> {
        None
    }
}

/// The receiver of a response while it is streamed.
pub trait ResponseStream: Send {
    /// Receives a piece of text. After a break the model must return [`ModelError::Interrupted`].
    fn text(&mut self, text: &str) -> ControlFlow<()>;
}

/// The reason why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A failure that may not occur again, such as a lost connection.
    #[error("{0}")]
    Transient(String),
    /// The request is too long.
    #[error("{0}")]
    Overflow(String),
    /// The account is not signed in.
    #[error("{0}")]
    SignedOut(String),
    /// A failure that a retry does not change.
    #[error("{0}")]
    Failed(String),
    /// The receiver of the stream interrupted the response.
    #[error("the response was interrupted")]
    Interrupted,
}
