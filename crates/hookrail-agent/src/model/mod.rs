//! Models: who answers a request. The agent knows nothing of a model but this trait; real providers will implement it
//! as the scripted one does.
//!
//! A model is called only with a [`ModelPermit`], so no call can be made beside the hooks.

mod script;
mod scripted;

pub use scripted::ScriptedModel;

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use hookrail::Json;
use hookrail::guard::ModelPermit;

/// A response on its way.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, ModelError>> + Send + 'a>>;

/// A model.
///
/// Requests and responses are JSON: a request has `model`, `contents` (a list of `{"role", "parts"}`),
/// `systemInstruction`, `tools` (with `functionDeclarations`) and, where hooks chose tools, `toolConfig`; a response has
/// `candidates` and `usageMetadata`. A request for a summary has `purpose` set to `summary`.
pub trait Model: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// How many tokens a request may have.
    fn context_window(&self) -> u64;

    /// Answers a request. Text is given to `stream` as it comes; the whole response is what the future gives.
    fn respond<'a>(&'a self, permit: &'a ModelPermit, stream: &'a mut dyn Stream) -> ModelFuture<'a>;

    /// The model of a sub-agent; by default there is none of its own.
    fn for_agent(&self, _name: &str) -> Option<Arc<dyn Model>> {
        None
    }
}

/// Who takes a response while it comes.
pub trait Stream: Send {
    /// Takes a piece of text. A break means that the rest is not wanted; the model then gives
    /// [`ModelError::Interrupted`].
    fn text(&mut self, text: &str) -> ControlFlow<()>;
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// It may work when it is tried again.
    #[error("{0}")]
    Transient(String),
    /// The request is too long.
    #[error("{0}")]
    Overflow(String),
    /// The account is not signed in, or not any more.
    #[error("{0}")]
    SignedOut(String),
    /// It will not work.
    #[error("{0}")]
    Failed(String),
    /// Whoever took the stream did not want the rest.
    #[error("the response was interrupted")]
    Interrupted,
}
