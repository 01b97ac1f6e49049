//! How messages get from one side to the other.
//!
//! A [`Transport`] is one connection with two directions, and a [`Listener`] is where a server gets connections from. The
//! bus and the client know only these traits, so another crate can carry messages in another way: over a message broker,
//! for example. A transport must not know what messages mean.
//!
//! To write one:
//!
//! * Messages are values. A transport between processes writes them with [`Message::encode`] and reads them with
//!   [`Message::decode`]; what cannot be read is passed on as [`Received::Refused`], and is answered.
//! * [`Source::next`] must lose nothing when its future is dropped: the bus waits for several things at once.
//! * When the other side sends nothing more, or is gone, [`Source::next`] gives [`Received::End`]. It still gets its answers
//!   then, unless [`Source::gone`] ends, which says that it cannot read them any more: the hooks that run for it are ended.
//! * A server transport keeps to its [`MessageLimits`], and says in [`Source::weight`] what a message occupies, so that the
//!   bus stops reading when there is too much.
//! * [`Sink::send`] waits while there is no room. The bus gives up a client for which it waits too long.
//!
//! `tests/message_transport.rs` in this crate is a transport over subjects with request and reply, written like this.
//!
//! [`Message::encode`]: crate::Message::encode
//! [`Message::decode`]: crate::Message::decode

mod channel;
mod lines;
#[cfg(unix)]
mod place;
mod reader;
#[cfg(unix)]
mod socket;
mod stdio;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use channel::{Channel, channel};
pub use lines::{Lines, Probe};
#[cfg(unix)]
pub use place::UnsafePlace;
#[cfg(unix)]
pub use socket::{BindError, ConnectError, SocketListener, connect};
pub use stdio::stdio;

pub use crate::budget::{MessageLimits, Weight};
use crate::error::{BusError, ErrorCode};
use crate::message::{FromServer, ToServer};
use crate::wire::NameScanner;

/// A future behind a pointer, so that transports can be chosen while the program runs.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One connection. `In` is what arrives, `Out` is what is sent.
pub trait Transport<In, Out>: Send {
    /// Takes the two directions apart.
    fn split(self: Box<Self>) -> (Box<dyn Source<In>>, Box<dyn Sink<Out>>);

    /// Sets what messages that arrive may occupy. [`Bus::listen`](crate::Bus::listen) calls this before
    /// [`Transport::split`]. By default it changes nothing, which is right for messages that are not copied on their way.
    fn set_limits(&mut self, _limits: MessageLimits) {}
}

/// Where a server gets its connections from.
pub trait Listener: Send {
    /// The connection to one client.
    type Connection: Transport<ToServer, FromServer> + 'static;
    /// Why clients cannot reach this server any more.
    type Error: Send;

    /// Waits for the next client; none for one that must not be served, and was sent away. Dropping the future loses no
    /// client.
    ///
    /// # Errors
    /// What may pass, such as a lack of descriptors. It is tried again after a moment.
    fn accept(&mut self) -> Pending<'_, io::Result<Option<Self::Connection>>>;

    /// Checks whether clients can still reach this server, and does what it can about it. It is called about once a second
    /// and must not block. By default there is nothing to check.
    ///
    /// # Errors
    /// When no client will reach it any more. [`Bus::listen`](crate::Bus::listen) then ends with this error.
    fn check(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The direction in which messages arrive.
pub trait Source<In>: Send {
    /// The next message. Dropping the future loses nothing.
    fn next(&mut self) -> Pending<'_, Received<In>>;

    /// Waits until the other side is known to read nothing any more. This is asked only while [`Source::next`] is not:
    /// when everything has arrived, or when there is too much to do to take more.
    fn gone(&mut self) -> Pending<'_, ()>;

    /// What the message that [`Source::next`] gave last occupies until it is answered. Nothing by default, which is right
    /// for messages that were not copied on their way.
    fn weight(&mut self) -> Weight {
        Weight::default()
    }
}

/// The direction in which messages are sent.
pub trait Sink<Out>: Send {
    /// Sends a message, and waits until there is room for it.
    ///
    /// # Errors
    /// When the other side cannot be reached any more.
    fn send(&mut self, message: Out) -> Pending<'_, Result<(), Closed>>;

    /// A counter that grows while a message is being taken, so that a slow reader can be told from one that reads
    /// nothing. By default it stands still: such a message is taken at once or not at all.
    fn progress(&self) -> Arc<AtomicU64> {
        Arc::default()
    }

    /// Whether messages are written as text, so that what is only for reading by people may be cut.
    fn is_text(&self) -> bool {
        false
    }
}

/// What arrived.
#[derive(Debug)]
pub enum Received<In> {
    /// A message.
    Message(In),
    /// Something that is not a message, and why.
    Refused(Refusal),
    /// The other side sends nothing more. It may still wait for answers.
    End,
}

/// Why something is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name it has all the same.
    pub correlation_id: Option<String>,
    /// What is wrong with it.
    pub error: BusError,
}

impl Refusal {
    /// A refusal of something without a name.
    #[must_use]
    pub fn new(error: BusError) -> Self {
        Self { correlation_id: None, error }
    }

    /// The refusal of a message that is longer than it may be, under the name it has.
    #[must_use]
    pub fn too_long(message: &[u8], limit: usize) -> Self {
        let error = BusError::new(ErrorCode::LineTooLong, format!("the message has more than {limit} bytes"));
        Self { correlation_id: NameScanner::name_in(message), error }
    }
}

/// The other side cannot be reached any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct Closed;
