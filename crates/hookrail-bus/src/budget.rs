//! What requests may occupy while they wait, in bytes.
//!
//! A short line is read whenever its connection is read, and is bounded by what one connection may have of them. A longer
//! one is read only with a reservation from the budget that all connections share. Reservations are given in the order in
//! which they were asked for, and each for the longest line there may be: if lines grew piece by piece, several that are
//! half read could wait for each other for ever.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::transport::Pending;

/// Up to this many bytes a line needs no reservation.
pub(crate) const SHORT_LINE: usize = 64 * 1024;

/// How many bytes the short requests of one connection may have in all.
pub(crate) const SHORT_LINES: usize = 1024 * 1024;

/// The unit of reservations, so that any budget fits the counter.
const UNIT: usize = 1024;

/// The budget that all connections share.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    all: u32,
}

/// A part of the budget. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Reservation(Option<OwnedSemaphorePermit>);

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        let all = units(bytes).clamp(1, u32::MAX >> 1);
        Self { units: Arc::new(Semaphore::new(usize::try_from(all).unwrap_or(1))), all }
    }

    /// Waits for room for so many bytes, or for the whole budget if it is smaller.
    pub(crate) fn reserve(&self, bytes: usize) -> Pending<'static, Reservation> {
        let acquired = Arc::clone(&self.units).acquire_many_owned(units(bytes).min(self.all));
        // Nothing closes the semaphore; if something did, the line would be read without a reservation.
        Box::pin(async move { Reservation(acquired.await.ok()) })
    }
}

impl Reservation {
    /// Gives back what is more than so many bytes.
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

/// What messages that arrive over one connection may occupy.
#[derive(Clone, Debug)]
pub struct MessageLimits {
    pub(crate) longest: usize,
    /// The budget, and how long a reservation is held for a client that sends nothing. None for a connection whose messages
    /// are not kept.
    pub(crate) budget: Option<(Budget, Duration)>,
}

impl MessageLimits {
    /// How many bytes a message may have. A longer one is refused: see [`Refusal::too_long`](crate::Refusal::too_long).
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Waits until there is room for a message of so many bytes among those of all connections, and returns what
    /// [`Source::weight`](crate::Source::weight) gives for it. A transport keeps the message while it waits, and also this
    /// future if [`Source::next`](crate::Source::next) is dropped meanwhile: it has a place in a queue.
    #[must_use]
    pub fn reserve(&self, bytes: usize) -> Pending<'static, Weight> {
        let budget = self.budget.as_ref().filter(|_| bytes > SHORT_LINE);
        let reservation = budget.map(|(budget, _)| budget.reserve(bytes));
        Box::pin(async move {
            match reservation {
                Some(reservation) => Weight { bytes, reservation: Some(reservation.await) },
                None => Weight::of(bytes),
            }
        })
    }
}

/// What a message occupies from its arrival to its answer.
#[derive(Debug, Default)]
pub struct Weight {
    pub(crate) bytes: usize,
    pub(crate) reservation: Option<Reservation>,
}

impl Weight {
    /// The weight of a message that had so many bytes when it arrived.
    #[must_use]
    pub fn of(bytes: usize) -> Self {
        Self { bytes, reservation: None }
    }
}

/// What the requests of one connection occupy.
#[derive(Debug, Default)]
pub(crate) struct Occupied {
    short: usize,
    long: usize,
}

impl Occupied {
    pub(crate) fn add(&mut self, weight: &Weight) {
        *self.of(weight) += weight.bytes;
    }

    pub(crate) fn remove(&mut self, weight: &Weight) {
        let occupied = self.of(weight);
        *occupied = occupied.saturating_sub(weight.bytes);
    }

    /// Whether the connection may be read: a connection without requests always may.
    pub(crate) fn has_room(&self, most_long: usize) -> bool {
        self.short < SHORT_LINES && (self.long == 0 || self.long < most_long)
    }

    fn of(&mut self, weight: &Weight) -> &mut usize {
        if weight.bytes > SHORT_LINE { &mut self.long } else { &mut self.short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reservations_wait_for_each_other_in_turn_and_shrink() {
        let budget = Budget::new(10 * UNIT);
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
        occupied.add(&Weight::of(SHORT_LINE + 1));
        assert!(!occupied.has_room(SHORT_LINE) && occupied.has_room(SHORT_LINE + 2));
        occupied.remove(&Weight::of(SHORT_LINE + 1));
        assert!(occupied.has_room(0));
    }
}
