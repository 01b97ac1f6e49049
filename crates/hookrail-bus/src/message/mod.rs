//! The messages as types, from which everything about their form is derived: how they are read and written, the JSON
//! Schemas and the reference page. The documentation of a field is its description in all of them.

mod client;
mod input;
mod server;
mod words;

use std::sync::OnceLock;

use serde::{Deserialize, Deserializer};

pub use client::{Cancel, Hello, Ping, Reload, Request, Subscribe, Wait};
pub(crate) use server::ResponsePayload;
pub use server::{Cancelled, Lifecycle, Phase, Reloaded, Response, Welcome};
pub(crate) use words::words;

use crate::schema::MessageKind;
use crate::transport::Refusal;
use crate::wire::{self, Payload as _};

/// A message in its JSON form, for transports that carry bytes. Both sides of the protocol have one: [`ToServer`] and
/// [`FromServer`].
pub trait Message: Contract + Send + Sync + 'static {
    /// The message as one JSON object without line ends, of at most so many bytes.
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
    /// When the text is not a message. The refusal has the name of the message if the text shows one, so that it can be
    /// answered: see [`Received::Refused`](crate::Received::Refused).
    fn decode(text: &[u8]) -> Result<Self, Refusal> {
        wire::decode(text)
    }
}

impl<M: Contract + Send + Sync + 'static> Message for M {}

/// What the tables below say about a side of the protocol. No other crate can add messages.
pub trait Contract: Sized {
    /// The file name part for this side.
    #[doc(hidden)]
    const SENDER: &'static str;

    /// Every message of this side.
    #[doc(hidden)]
    fn kinds() -> &'static [MessageKind];

    /// Reads the payload of a message of this type; none when no message has this type.
    #[doc(hidden)]
    fn read<'de, D: Deserializer<'de>>(kind: &str, payload: D) -> Result<Option<Self>, D::Error>;

    #[doc(hidden)]
    fn write(&self, limit: usize) -> String;
}

/// Declares the messages of one side: each with its meaning, its payload and its `type`, once.
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
                    vec![$(MessageKind::of::<$payload>($sender, $kind, concat!($($about),+).trim()),)*]
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
    /// What a client sends.
    "client" ToServer {
        /// Runs the hooks of an event. There is exactly one `HOOK_EXECUTION_RESPONSE` for it.
        Request(Box<Request>) = "HOOK_EXECUTION_REQUEST",
        /// Agrees on a protocol. A client that never says hello gets protocol 1.
        Hello(Hello) = "hello",
        /// Ends a request and its hooks. The request still gets its one response, with the code `cancelled`.
        Cancel(Cancel) = "cancel",
        /// Asks to be told what happens to this client's requests, or not to be told any more.
        Subscribe(Subscribe) = "notify",
        /// Asks for a sign of life. It is answered while requests run.
        Ping(Ping) = "ping",
        /// Reads all configuration again, and accepts the removal of sources whose last good version was kept. The same as
        /// SIGHUP to a server on a socket.
        Reload(Reload) = "reload",
    }
}

messages! {
    /// What a server sends.
    "server" FromServer {
        /// What came of a request, or of a line that could not be served.
        Response(Box<Response>) = "HOOK_EXECUTION_RESPONSE",
        /// The answer to `hello`.
        Welcome(Welcome) = "hello",
        /// The answer to `cancel`.
        Cancelled(Cancelled) = "cancel",
        /// Something happened to a request. It is told as far as there is room, and never holds up an answer.
        Lifecycle(Lifecycle) = "notify",
        /// The answer to `ping`.
        Pong(Ping) = "pong",
        /// The answer to `reload`.
        Reloaded(Reloaded) = "reload",
    }
}

impl ToServer {
    /// The name under which it is answered, if it has one.
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
