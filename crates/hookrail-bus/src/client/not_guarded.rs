//! The error type of a client.

use std::time::Duration;

use crate::error::BusError;
use crate::message::FromServer;

/// The reason why there is no outcome. The operation is not guarded then: a host must treat it like a guard that cannot be
/// run, and never as allowed.
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
    /// The server sent an answer that cannot be read.
    #[error("not guarded: the server's answer cannot be read: {0}")]
    Unreadable(BusError),
    /// A request with this correlation id is already in flight.
    #[error("not guarded: a request with the correlationId `{0}` is still in flight")]
    DuplicateName(String),
    /// There is no server, or it cannot be trusted.
    #[cfg(unix)]
    #[error("not guarded: {0}")]
    Unreachable(crate::transport::ConnectError),
}

impl NotGuarded {
    /// Returns the error for an answer of another type than the message requires.
    pub(super) fn unexpected(message: FromServer) -> Self {
        match message {
            FromServer::Response(response) => match response.result {
                Err(error) => Self::Refused(error),
                Ok(_) => Self::wrong_type(),
            },
            FromServer::Welcome(_)
            | FromServer::Cancelled(_)
            | FromServer::Lifecycle(_)
            | FromServer::Pong(_)
            | FromServer::Reloaded(_) => Self::wrong_type(),
        }
    }

    fn wrong_type() -> Self {
        Self::Unreadable(BusError::invalid("the answer has the type of another message"))
    }
}
