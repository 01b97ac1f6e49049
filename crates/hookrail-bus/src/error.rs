//! What can go wrong with a request, as codes that programs rely on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($variant:ident, $name:literal, $about:literal;)*) => {
        /// Why a request was not executed. The names are stable; codes may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $about] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in a message.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What it means, for people.
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
    UnsupportedProtocol, "unsupported_protocol", "The client's `hello` named a protocol this server does not speak. Requests are refused until a `hello` names one it does.";
    SystemUnusable, "system_unusable", "A system configuration exists and cannot be used, so the operation is denied.";
    InvalidProject, "invalid_project", "The project is not a directory that can be read.";
    LineTooLong, "line_too_long", "The line is longer than the limit. It was skipped.";
    AnswerTooLong, "answer_too_long", "The hooks were run, and what they changed does not fit on a line. Treat the operation as not guarded.";
    DuplicateCorrelationId, "duplicate_correlation_id", "A request with this correlationId is still in flight on this connection. That one is not affected.";
    Cancelled, "cancelled", "The client cancelled the request; its hooks were ended.";
    ShuttingDown, "shutting_down", "The server finishes what runs and takes nothing new.";
    Overloaded, "overloaded", "The server has as many connections as it may have.";
    InternalError, "internal_error", "The server failed. Treat the operation as not guarded.";
}

impl ErrorCode {
    /// The code of that name.
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

/// Why a request was not executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message} ({code})")]
pub struct BusError {
    /// The name of a code; codes may be added.
    #[schemars(extend("examples" = names()))]
    code: String,
    /// Why, in words.
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

    /// What is said by a server that refuses a request and does not say why.
    pub(crate) fn unnamed() -> Self {
        Self { code: String::new(), message: String::new() }
    }

    /// The name of the code as it was sent, for logs. Programs look at [`BusError::known`].
    #[must_use]
    pub fn code_name(&self) -> &str {
        &self.code
    }

    /// The code; none if this crate does not know it, because the server is newer.
    #[must_use]
    pub fn known(&self) -> Option<ErrorCode> {
        ErrorCode::from_name(&self.code)
    }
}
