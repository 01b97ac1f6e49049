//! What every event can be asked, and small sets of events.

use std::fmt;

pub use super::table::EventKind;

// An `EventSet` has one bit for each event.
const _: () = assert!(EventKind::ALL.len() <= 64);

impl EventKind {
    /// Every event, in the order of the table.
    pub fn all() -> impl Iterator<Item = EventKind> {
        Self::ALL.into_iter()
    }

    /// The neutral name, such as `before-tool`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The event's bit in an [`EventSet`].
    const fn bit(self) -> u64 {
        1 << self as u8
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of events in one word, so that looking for an event in it is one load and one test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSet(u64);

impl EventSet {
    /// The set of no events.
    pub const EMPTY: Self = Self(0);

    /// Adds an event.
    pub fn insert(&mut self, kind: EventKind) {
        self.0 |= kind.bit();
    }

    /// Whether the event is in the set.
    #[must_use]
    pub fn contains(self, kind: EventKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// The word behind the set, for an atomic.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The set behind a word made by [`EventSet::bits`].
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}
