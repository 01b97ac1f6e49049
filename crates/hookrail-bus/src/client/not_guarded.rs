//! The one error of a client.

use std::time::Duration;

use crate::error::BusError;
use crate::message::FromServer;

/// Why there is no outcome. The operation is not guarded then: a host treats it as it treats a guard that cannot be asked,
/// and never as a yes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotGuarded {
    /// The server did not execute the request.
    #[error("not guarded: {0}")]
    Refused(BusError),
    /// The connection ended before the answer.
    #[error("not guarded: the connection to the server is closed")]
    Closed,
    /// No answer came in time. The request was cancelled.
    #[error("not guarded: no answer came within {0:?}")]
    TimedOut(Duration),
    /// The server said something that cannot be read.
    #[error("not guarded: the server's answer cannot be read: {0}")]
    Unreadable(BusError),
    /// A request of this name is in flight already.
    #[error("not guarded: a request with the correlationId `{0}` is still in flight")]
    DuplicateName(String),
    /// There is no server, or not one to be trusted.
    #[cfg(unix)]
    #[error("not guarded: {0}")]
    Unreachable(crate::transport::ConnectError),
}

impl NotGuarded {
    /// What it means that the answer is of another kind than the question.
    pub(super) fn unexpected(message: FromServer) -> Self {
        match message {
            FromServer::Response(response) => match response.result {
                Err(error) => Self::Refused(error),
                Ok(_) => Self::of_another_kind(),
            },
            FromServer::Welcome(_)
            | FromServer::Cancelled(_)
            | FromServer::Lifecycle(_)
            | FromServer::Pong(_)
            | FromServer::Reloaded(_) => Self::of_another_kind(),
        }
    }

    fn of_another_kind() -> Self {
        Self::Unreadable(BusError::invalid("it is the answer to another kind of message"))
    }
}
