//! Hooks that are answered elsewhere: the group of workers such a hook asks, and the trait through which the embedding program
//! carries the question and the answer.
//!
//! Nothing here knows a network, a message or a server. Which servers are asked is the business of the client, so that a
//! project that names a group cannot say where its events go.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::hook::host::HostFuture;
use crate::json::Json;

/// The name of a group of workers, any of which may answer.
///
/// ```
/// use hookrail::remote::GroupName;
///
/// assert_eq!(GroupName::new("guards").unwrap().as_str(), "guards");
/// // A name is one word, so that it cannot reach subjects of other groups.
/// assert!(GroupName::new("guards.>").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupName(Arc<str>);

/// Why a text is not the name of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a group has 1 to {LONGEST_NAME} letters a to z, digits, `-` and `_`, and begins with a letter or digit")]
pub struct GroupNameError;

/// The longest name of a group, in bytes.
const LONGEST_NAME: usize = 63;

impl GroupName {
    /// Checks a name.
    ///
    /// # Errors
    /// If it is empty, too long, or has other characters than small letters of ASCII, digits, `-` and `_`.
    pub fn new(name: &str) -> Result<Self, GroupNameError> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins_well = name.bytes().next().is_some_and(is_word);
        let is_known = name.bytes().all(|byte| is_word(byte) || matches!(byte, b'-' | b'_'));
        if begins_well && is_known && name.len() <= LONGEST_NAME { Ok(Self(name.into())) } else { Err(GroupNameError) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a remote hook asks, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteTarget {
    /// The group that is asked.
    pub group: GroupName,
    /// How often a question is sent again if it had no answer. All attempts together have the timeout of the hook.
    pub retries: u8,
}

impl RemoteTarget {
    /// The timeout of a remote hook whose entry names none. The answer to a lost question costs a part of it, and so does every
    /// event while no worker can be reached, so it is short.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(500);

    /// How often a question is sent again if the entry does not say it: once survives the loss of one worker or one server.
    pub const DEFAULT_RETRIES: u8 = 1;

    /// The most retries that an entry may ask for.
    pub const MOST_RETRIES: u8 = 3;

    /// A target with the default number of retries.
    #[must_use]
    pub fn new(group: GroupName) -> Self {
        Self { group, retries: Self::DEFAULT_RETRIES }
    }
}

/// Asks groups of workers. An embedding program registers one with
/// [`Builder::remote_client`](crate::Builder::remote_client); without one, remote hooks fail.
///
/// ```
/// use hookrail::remote::{RemoteClient, RemoteFailure, RemoteQuestion};
/// use hookrail::{Json, host::HostFuture};
///
/// /// A client for a network that is down.
/// struct Offline;
///
/// impl RemoteClient for Offline {
///     fn ask<'a>(&'a self, _question: &'a RemoteQuestion) -> HostFuture<'a, Result<Json, RemoteFailure>> {
///         Box::pin(async { Err(RemoteFailure::NotConnected("no route to host".to_owned())) })
///     }
/// }
/// ```
pub trait RemoteClient: Send + Sync {
    /// Asks once and returns the outcome document of the worker that answered. The engine drops the future when the time of
    /// the attempt is up, and calls again for a retry.
    fn ask<'a>(&'a self, question: &'a RemoteQuestion) -> HostFuture<'a, Result<Json, RemoteFailure>>;
}

impl<C: RemoteClient + ?Sized> RemoteClient for Arc<C> {
    fn ask<'a>(&'a self, question: &'a RemoteQuestion) -> HostFuture<'a, Result<Json, RemoteFailure>> {
        (**self).ask(question)
    }
}

/// One question.
#[derive(Clone, Debug)]
pub struct RemoteQuestion {
    /// The name of the question, which its answer has too. A retry has the same name.
    pub correlation_id: String,
    /// The group that is asked.
    pub group: GroupName,
    /// The event, in the words of the hook's dialect.
    pub event_name: &'static str,
    /// What a command of the same dialect would receive on standard input.
    pub input: Json,
    /// The time that this attempt has.
    pub timeout: Duration,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteFailure {
    /// No server can be reached.
    #[error("no server can be reached: {0}")]
    NotConnected(String),
    /// The server knows of no worker in the group.
    #[error("the group has no worker")]
    NoResponders,
    /// No answer came in time.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The worker has as many questions as it takes, or is shutting down.
    #[error("the worker takes no more questions at the moment: {0}")]
    Overloaded(String),
    /// The question was not sent, or the worker did not execute it, for a reason that a retry does not change.
    #[error("the question was refused: {0}")]
    Refused(String),
    /// What came back is not an answer.
    #[error("the answer cannot be understood: {0}")]
    NotUnderstood(String),
}

impl RemoteFailure {
    /// Whether another attempt may get an answer: from another worker, or over another server.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::NotConnected(_) | Self::NoResponders | Self::TimedOut(_) | Self::Overloaded(_) => true,
            Self::Refused(_) | Self::NotUnderstood(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_one_word() {
        for good in ["a", "guards", "2-guards_b", &"x".repeat(63)] {
            assert_eq!(GroupName::new(good).unwrap().to_string(), good);
        }
        for bad in ["", "a.b", "a b", "*", ">", "ü", "a\n", "-a", "Guards", &"x".repeat(64)] {
            assert_eq!(GroupName::new(bad), Err(GroupNameError), "{bad}");
        }
    }
}
