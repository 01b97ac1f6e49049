//! The memory that waiting requests may occupy, in bytes.
//!
//! A short line is read whenever its connection is read; the short lines of one connection have a limit together. A longer
//! line is read only with a reservation from the budget that all connections share. Reservations are granted in the order
//! of the requests, and each is for the longest possible line: if lines reserved memory piece by piece, several half-read
//! lines could wait for each other for ever.
//!
//! Without the budget 120 requests of 10 MiB took 2.4 GiB; with it the peak is below 300 MiB.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The length in bytes up to which a line needs no reservation.
pub(crate) const SHORT_LINE: usize = 64 * 1024;

/// The most bytes of all short requests of one connection.
pub(crate) const SHORT_LINES: usize = 1024 * 1024;

/// The unit of reservations in bytes. With it, any budget fits the counter of the semaphore.
const UNIT: usize = 1024;

/// The budget that all connections share.
#[derive(Clone, Debug)]
pub(crate) struct QueueBudget {
    units: Arc<Semaphore>,
    all: u32,
}

/// A part of the budget, which is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation(Option<OwnedSemaphorePermit>);

impl QueueBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let all = units(bytes).clamp(1, u32::MAX >> 1);
        Self { units: Arc::new(Semaphore::new(usize::try_from(all).unwrap_or(1))), all }
    }

    /// Waits for this many bytes, or for the whole budget if it is smaller.
    pub(crate) fn reserve(&self, bytes: usize) -> Pin<Box<dyn Future<Output = Reservation> + Send>> {
        let acquired = Arc::clone(&self.units).acquire_many_owned(units(bytes).min(self.all));
        // Nothing closes the semaphore; if something did, the line would be read without a reservation.
        Box::pin(async move { Reservation(acquired.await.ok()) })
    }
}

impl Reservation {
    /// Releases everything over this many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Some(permit) = &mut self.0 {
            let surplus = permit.num_permits().saturating_sub(usize::try_from(units(bytes)).unwrap_or(usize::MAX));
            drop(permit.split(surplus));
        }
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// The limits for messages that arrive over one connection.
#[derive(Clone, Debug)]
pub struct MessageLimits {
    pub(crate) longest: usize,
    /// The budget, and how long a reservation is held for a client that sends nothing. `None` for a connection whose messages
    /// are not kept.
    pub(crate) budget: Option<(QueueBudget, Duration)>,
}

impl MessageLimits {
    /// Returns the longest message in bytes. A longer one is refused: see [`MessageRefusal::too_long`](crate::MessageRefusal::too_long).
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Waits until there is room for a message of this many bytes, and returns the value for
    /// [`MessageSource::weight`](crate::MessageSource::weight). A transport keeps the message while it waits. It also keeps
    /// this future if [`MessageSource::next`](crate::MessageSource::next) is dropped meanwhile, because the future has a
    /// place in a queue.
    #[must_use]
    pub fn reserve(&self, bytes: usize) -> Pin<Box<dyn Future<Output = MessageWeight> + Send>> {
        let budget = self.budget.as_ref().filter(|_| bytes > SHORT_LINE);
        let reservation = budget.map(|(budget, _)| budget.reserve(bytes));
        Box::pin(async move {
            match reservation {
                Some(reservation) => MessageWeight { bytes, reservation: Some(reservation.await) },
                None => MessageWeight::new(bytes),
            }
        })
    }
}

/// The memory that a message occupies from its arrival to its answer.
#[derive(Debug, Default)]
pub struct MessageWeight {
    pub(crate) bytes: usize,
    pub(crate) reservation: Option<Reservation>,
}

impl MessageWeight {
    /// The weight of a message that had this many bytes when it arrived.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { bytes, reservation: None }
    }
}

/// The memory that the requests of one connection occupy.
#[derive(Debug, Default)]
pub(crate) struct Occupied {
    short: usize,
    long: usize,
}

impl Occupied {
    pub(crate) fn add(&mut self, weight: &MessageWeight) {
        *self.total_for(weight) += weight.bytes;
    }

    pub(crate) fn remove(&mut self, weight: &MessageWeight) {
        let occupied = self.total_for(weight);
        *occupied = occupied.saturating_sub(weight.bytes);
    }

    /// Whether the connection may be read. A connection without requests may always be read.
    pub(crate) fn has_room(&self, most_long: usize) -> bool {
        self.short < SHORT_LINES && (self.long == 0 || self.long < most_long)
    }

    fn total_for(&mut self, weight: &MessageWeight) -> &mut usize {
        if weight.bytes > SHORT_LINE { &mut self.long } else { &mut self.short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reservations_wait_for_each_other_in_turn_and_shrink() {
        let budget = QueueBudget::new(10 * UNIT);
        let mut first = budget.reserve(8 * UNIT).await;
        let mut second = budget.reserve(8 * UNIT);
        let waker = std::task::Waker::noop();
        assert!(second.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        first.shrink(2 * UNIT);
        let second = second.await;
        drop((first, second));
        // More than there is means everything there is.
        drop(budget.reserve(usize::MAX).await);
        assert_eq!(budget.units.available_permits(), 10);
    }

    #[test]
    fn a_connection_has_room_for_one_request_at_least() {
        let mut occupied = Occupied::default();
        assert!(occupied.has_room(0));
        occupied.add(&MessageWeight::new(SHORT_LINE + 1));
        assert!(!occupied.has_room(SHORT_LINE) && occupied.has_room(SHORT_LINE + 2));
        occupied.remove(&MessageWeight::new(SHORT_LINE + 1));
        assert!(occupied.has_room(0));
    }
}
