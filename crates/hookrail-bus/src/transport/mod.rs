//! How messages get from one side to the other.
//!
//! A transport is one connection with two directions. The bus and the client know only these traits, so another way of
//! carrying messages is another implementation and nothing else. A transport must not know what messages mean.

mod channel;
mod lines;
#[cfg(unix)]
mod place;
mod reader;
#[cfg(unix)]
mod socket;
mod stdio;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use channel::{Channel, channel};
pub use lines::{Lines, Probe};
#[cfg(unix)]
pub use place::UnsafePlace;
#[cfg(unix)]
pub(crate) use socket::Presence;
#[cfg(unix)]
pub use socket::{BindError, ConnectError, Listener, connect};
pub use stdio::stdio;

pub use crate::budget::Weight;
use crate::error::BusError;

/// A future behind a pointer, so that transports can be chosen while the program runs.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One connection. `In` is what arrives, `Out` is what is sent.
pub trait Transport<In, Out>: Send {
    /// Takes the two directions apart.
    fn split(self: Box<Self>) -> (Box<dyn Source<In>>, Box<dyn Sink<Out>>);
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
#[non_exhaustive]
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
#[non_exhaustive]
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
}

/// The other side cannot be reached any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct Closed;
