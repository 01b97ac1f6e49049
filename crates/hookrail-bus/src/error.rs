//! The errors of requests, with codes that programs rely on, and the refusal of data that is not a message.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::correlation_id::CorrelationIdScanner;

macro_rules! codes {
    ($($variant:ident, $name:literal, $about:literal;)*) => {
        /// The reason why a request was not executed. The names are stable; codes may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $about] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name in a message.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the meaning of the code, for people.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => $about,)*
                }
            }
        }
    };
}

codes! {
    InvalidRequest, "invalid_request", "The line is not a JSON object, a field is missing, or a field has the wrong type; the message names it.";
    UnsupportedType, "unsupported_type", "No message has this `type`.";
    UnsupportedEvent, "unsupported_event", "No dialect has an event of this name.";
    UnsupportedProtocol, "unsupported_protocol", "The client's `hello` named a protocol that this server does not support. Requests are refused until a `hello` names a supported one.";
    SystemUnusable, "system_unusable", "A system configuration exists and cannot be used, so the operation is denied.";
    InvalidProject, "invalid_project", "The project is not a directory that can be read.";
    UnsupportedCaller, "unsupported_caller", "The server cannot run hooks as the `caller` of the request would. No hook was run.";
    LineTooLong, "line_too_long", "The line is longer than the limit. It was skipped.";
    AnswerTooLong, "answer_too_long", "The hooks were run, but their changes do not fit on a line. Treat the operation as not guarded.";
    DuplicateCorrelationId, "duplicate_correlation_id", "A request with this correlationId is still in flight on this connection. That one is not affected.";
    Cancelled, "cancelled", "The client cancelled the request; its hooks were ended.";
    ShuttingDown, "shutting_down", "The server is shutting down: it finishes running requests and accepts no new ones.";
    Overloaded, "overloaded", "The limit of connections is reached.";
    InternalError, "internal_error", "The server failed. Treat the operation as not guarded.";
}

impl ErrorCode {
    /// Returns the code with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of a request that was not executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message} ({code})")]
pub struct BusError {
    /// The name of a code; codes may be added.
    #[schemars(extend("examples" = names()))]
    code: String,
    /// The reason, for people.
    pub message: String,
}

fn names() -> Vec<&'static str> {
    ErrorCode::ALL.iter().map(|code| code.name()).collect()
}

impl BusError {
    /// An error with one of the known codes.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code.name().to_owned(), message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// The error of a server that refuses a request without a reason.
    pub(crate) fn without_reason() -> Self {
        Self { code: String::new(), message: String::new() }
    }

    /// Returns the name of the code as it was sent, for logs. Programs should use [`BusError::known`].
    #[must_use]
    pub fn code_name(&self) -> &str {
        &self.code
    }

    /// Returns the code, or `None` if this crate does not know it because the server is newer.
    #[must_use]
    pub fn known(&self) -> Option<ErrorCode> {
        ErrorCode::from_name(&self.code)
    }
}

/// The reason why data is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRefusal {
    /// The correlation id, if the data shows one.
    pub correlation_id: Option<String>,
    /// What is wrong with it.
    pub error: BusError,
}

impl MessageRefusal {
    /// Makes a refusal without a correlation id.
    #[must_use]
    pub fn new(error: BusError) -> Self {
        Self { correlation_id: None, error }
    }

    /// Makes the refusal of a message that is longer than the limit, with the correlation id that it shows.
    #[must_use]
    pub fn too_long(message: &[u8], limit: usize) -> Self {
        let error = BusError::new(ErrorCode::LineTooLong, format!("the message has more than {limit} bytes"));
        Self { correlation_id: CorrelationIdScanner::id_in(message), error }
    }
}
