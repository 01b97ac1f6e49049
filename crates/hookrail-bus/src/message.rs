//! The messages of both sides, each with its `type` and its payload.

use std::sync::OnceLock;

use serde::{Deserialize as _, Deserializer};

use crate::error::MessageRefusal;
use crate::message_kind::MessageKind;
use crate::payload::{
    Cancel, Cancelled, Hello, Lifecycle, Ping, Reload, Reloaded, Request, Response, Subscribe, Welcome,
};
use crate::wire::{self, Contract, Payload as _};

/// A message in its JSON form, for transports that carry bytes. Both sides of the protocol have one: [`ToServer`] and
/// [`FromServer`].
pub trait Message: Contract + Send + Sync + 'static {
    /// Encodes the message as one JSON object without line ends, of at most this many bytes.
    ///
    /// Only a [`FromServer::Response`] can be longer than the limit, and it is cut as the reference describes; other
    /// messages have no parts that could be left out.
    #[must_use]
    fn encode(&self, limit: usize) -> String {
        self.write(limit)
    }

    /// Reads a message.
    ///
    /// # Errors
    /// If the text is not a message. The refusal has the correlation id if the text shows one, so that it can be
    /// answered: see [`Received::Refused`](crate::Received::Refused).
    fn decode(text: &[u8]) -> Result<Self, MessageRefusal> {
        wire::decode(text)
    }
}

impl<M: Contract + Send + Sync + 'static> Message for M {}

/// Declares the messages of one side, each with its meaning, its payload and its `type`.
macro_rules! messages {
    ($(#[$outer:meta])* $sender:literal $name:ident {
        $($(#[doc = $about:literal])+ $variant:ident($payload:ty) = $kind:literal,)*
    }) => {
        $(#[$outer])*
        #[derive(Clone, Debug)]
        pub enum $name {
            $($(#[doc = $about])+ $variant($payload),)*
        }

        impl Contract for $name {
            const SENDER: &'static str = $sender;

            fn kinds() -> &'static [MessageKind] {
                static KINDS: OnceLock<Vec<MessageKind>> = OnceLock::new();
                KINDS.get_or_init(|| {
                    vec![$(MessageKind::new::<$payload>($sender, $kind, concat!($($about),+).trim()),)*]
                })
            }

            fn read<'de, D: Deserializer<'de>>(kind: &str, payload: D) -> Result<Option<Self>, D::Error> {
                Ok(Some(match kind {
                    $($kind => Self::$variant(<$payload>::deserialize(payload)?),)*
                    _ => return Ok(None),
                }))
            }

            fn write(&self, limit: usize) -> String {
                match self {
                    $(Self::$variant(payload) => payload.line($kind, limit),)*
                }
            }
        }
    };
}

messages! {
    /// A message from a client.
    "client" ToServer {
        /// Runs the hooks of an event. There is exactly one `HOOK_EXECUTION_RESPONSE` for it.
        Request(Box<Request>) = "HOOK_EXECUTION_REQUEST",
        /// Agrees on a protocol. A client that sends no hello gets protocol 1.
        Hello(Hello) = "hello",
        /// Ends a request and its hooks. The request still gets its one response, with the code `cancelled`.
        Cancel(Cancel) = "cancel",
        /// Subscribes to progress reports of this client's requests, or ends the subscription.
        Subscribe(Subscribe) = "notify",
        /// Checks that the server answers. It is answered while requests run.
        Ping(Ping) = "ping",
        /// Reads all configuration again, and drops the last good versions of removed sources. SIGHUP to a server on a socket
        /// does the same.
        Reload(Reload) = "reload",
    }
}

messages! {
    /// A message from a server.
    "server" FromServer {
        /// The result of a request, or of a line that could not be served.
        Response(Box<Response>) = "HOOK_EXECUTION_RESPONSE",
        /// The answer to `hello`.
        Welcome(Welcome) = "hello",
        /// The answer to `cancel`.
        Cancelled(Cancelled) = "cancel",
        /// Reports the progress of a request. Reports are dropped if there is no room, and never delay an answer.
        Lifecycle(Lifecycle) = "notify",
        /// The answer to `ping`.
        Pong(Ping) = "pong",
        /// The answer to `reload`.
        Reloaded(Reloaded) = "reload",
    }
}

impl ToServer {
    /// Returns the correlation id of its answer, if it has one.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        match self {
            Self::Request(request) => request.correlation_id.as_deref(),
            Self::Hello(hello) => hello.correlation_id.as_deref(),
            Self::Cancel(cancel) => Some(cancel.correlation_id.as_str()),
            Self::Subscribe(_) => None,
            Self::Ping(ping) => ping.correlation_id.as_deref(),
            Self::Reload(reload) => reload.correlation_id.as_deref(),
        }
        .filter(|name| !name.is_empty())
    }
}
