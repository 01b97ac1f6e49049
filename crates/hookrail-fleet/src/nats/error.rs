//! Why the servers of a fleet could not be used.

use std::time::Duration;

use super::key::MemberKeyProblem;
use crate::error::MachineIdProblem;

/// Why the servers of a fleet could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// The configuration names no servers.
    #[error("the configuration has no `[nats]` with servers")]
    NotConfigured,
    /// The member has no name.
    #[error(transparent)]
    Machine(#[from] MachineIdProblem),
    /// The key of the member cannot be used.
    #[error(transparent)]
    Key(#[from] MemberKeyProblem),
    /// No server can be reached.
    #[error("no server of {servers} can be reached: {problem}")]
    Unreachable {
        /// The servers that were tried.
        servers: String,
        /// What the last one said.
        problem: String,
    },
    /// The certificate of a server is not accepted, or ours is not.
    #[error("the encrypted connection to {servers} failed: {problem}")]
    Tls {
        /// The servers that were tried.
        servers: String,
        /// What went wrong.
        problem: String,
    },
    /// The servers do not know the key.
    #[error("the servers do not accept key {0}")]
    Refused(String),
    /// The servers know the key, and do not let it do this.
    #[error("the servers do not permit this: {0}")]
    NotPermitted(String),
    /// No server answered in time.
    #[error("no server answered within {0:?}")]
    TimedOut(Duration),
    /// The servers have no such stream or bucket.
    #[error("the servers have no stream `{0}`")]
    StreamMissing(String),
    /// What the servers have was not stored by a program of this kind.
    #[error("{what} cannot be read: {problem}")]
    Unreadable {
        /// What it is.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A server refused a request.
    #[error("{what}: {problem}")]
    Request {
        /// What was requested.
        what: &'static str,
        /// What the server said.
        problem: String,
    },
}

impl NatsError {
    /// Returns the stable name of the reason, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotConfigured => "nats-not-configured",
            Self::Machine(_) => "machine",
            Self::Key(_) => "member-key",
            Self::Unreachable { .. } => "unreachable",
            Self::Tls { .. } => "tls",
            Self::Refused(_) => "key-refused",
            Self::NotPermitted(_) => "not-permitted",
            Self::TimedOut(_) => "timed-out",
            Self::StreamMissing(_) => "stream-missing",
            Self::Unreadable { .. } => "unreadable",
            Self::Request { .. } => "request-refused",
        }
    }

    /// Returns whether the same request may succeed later without any change of the configuration.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut(_) | Self::Request { .. } | Self::StreamMissing(_) => true,
            Self::NotConfigured
            | Self::Machine(_)
            | Self::Key(_)
            | Self::Tls { .. }
            | Self::Refused(_)
            | Self::Unreadable { .. }
            | Self::NotPermitted(_) => false,
        }
    }

    /// Returns a function that says what was requested when a server refused it.
    pub(crate) fn request<E: std::error::Error>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Request { what, problem: with_sources(&error) }
    }
}

/// Returns an error with its causes, which the client of NATS keeps apart.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
