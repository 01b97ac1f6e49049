//! Transports for messages.
//!
//! A [`Transport`] is one connection with two directions, and a [`Listener`] accepts the connections of a server. The bus and
//! the client use only these traits, so another crate can add a transport, for example over a message broker. A transport
//! must not know what messages mean.
//!
//! To write one:
//!
//! * Messages are values. A transport between processes writes them with [`Message::encode`] and reads them with
//!   [`Message::decode`]; what cannot be read is passed on as [`Received::Refused`], and the bus answers it.
//! * [`MessageSource::next`] must lose nothing when its future is dropped: the bus waits for several things at once.
//! * When the other side sends nothing more, or is gone, [`MessageSource::next`] gives [`Received::End`]. It still gets its answers
//!   then, unless [`MessageSource::gone`] ends, which says that it cannot read them any more: the hooks that run for it are ended.
//! * A server transport keeps to its [`MessageLimits`], and says in [`MessageSource::weight`] what a message occupies, so that the
//!   bus stops reading when there is too much.
//! * [`MessageSink::send`] waits while there is no room. The bus gives up a client for which it waits too long.
//!
//! `tests/it/message_transport.rs` in this crate is a transport over subjects with request and reply, written like this.
//!
//! [`Message::encode`]: crate::Message::encode
//! [`Message::decode`]: crate::Message::decode

mod channel;
mod lines;
#[cfg(unix)]
mod own_program;
#[cfg(unix)]
mod peer;
mod reader;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod socket_path;
mod stdio;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use channel::{Channel, channel};
pub use lines::{Lines, Probe};
#[cfg(unix)]
pub use own_program::{ForeignSender, OwnProgramReader};
#[cfg(unix)]
pub use socket::{BindError, ConnectError, SocketListener, connect, connect_to_own_program};
#[cfg(unix)]
pub use socket_path::UnsafeSocketPath;
pub use stdio::stdio;

pub use crate::budget::{MessageLimits, MessageWeight};
pub use crate::error::MessageRefusal;
use crate::message::{FromServer, ToServer};

/// A boxed future, so that transports can be chosen at run time.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One connection. `In` is what arrives, `Out` is what is sent.
pub trait Transport<In, Out>: Send {
    /// Splits the connection into its two directions.
    fn split(self: Box<Self>) -> (Box<dyn MessageSource<In>>, Box<dyn MessageSink<Out>>);

    /// Sets the limits for messages that arrive. [`Bus::listen`](crate::Bus::listen) calls this before
    /// [`Transport::split`]. By default it changes nothing, which is right for messages that are not copied on their way.
    fn set_limits(&mut self, _limits: MessageLimits) {}
}

/// Accepts the connections of a server.
pub trait Listener: Send {
    /// The connection to one client.
    type Connection: Transport<ToServer, FromServer> + 'static;
    /// The reason why clients cannot reach this server any more.
    type Error: Send;

    /// Waits for the next client; returns `None` for a client that must not be served and was disconnected. Dropping the
    /// future loses no client.
    ///
    /// # Errors
    /// If a temporary problem occurs, such as a lack of descriptors. The bus tries again after a moment.
    fn accept(&mut self) -> Pending<'_, io::Result<Option<Self::Connection>>>;

    /// Checks whether clients can still reach this server, and repairs what it can. It is called about once a second and
    /// must not block. By default there is nothing to check.
    ///
    /// # Errors
    /// If no client can reach it any more. [`Bus::listen`](crate::Bus::listen) then ends with this error.
    fn check(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The direction in which messages arrive.
pub trait MessageSource<In>: Send {
    /// Returns the next message. Dropping the future loses nothing.
    fn next(&mut self) -> Pending<'_, Received<In>>;

    /// Waits until the other side is known to read no more answers. It is called only while [`MessageSource::next`] is not:
    /// after the last message, or while too much is in flight to read more.
    fn gone(&mut self) -> Pending<'_, ()>;

    /// What the message that [`MessageSource::next`] gave last occupies until it is answered. Nothing by default, which is right
    /// for messages that were not copied on their way.
    fn weight(&mut self) -> MessageWeight {
        MessageWeight::default()
    }
}

/// The direction in which messages are sent.
pub trait MessageSink<Out>: Send {
    /// Sends a message, and waits until there is room for it.
    ///
    /// # Errors
    /// If the other side cannot be reached any more.
    fn send(&mut self, message: Out) -> Pending<'_, Result<(), ConnectionClosed>>;

    /// Returns a counter that grows while the other side reads a message, which distinguishes a slow reader from one that
    /// reads nothing. By default it does not change, for a transport that sends a message at once or not at all.
    fn progress(&self) -> Arc<AtomicU64> {
        Arc::default()
    }

    /// Whether messages are written as text, so that parts that are only for people may be cut.
    fn is_text(&self) -> bool {
        false
    }
}

/// The result of [`MessageSource::next`].
#[derive(Debug)]
pub enum Received<In> {
    /// A message.
    Message(In),
    /// Data that is not a message, and the reason.
    Refused(MessageRefusal),
    /// The other side sends nothing more. It may still wait for answers.
    End,
}

/// The other side cannot be reached any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct ConnectionClosed;
