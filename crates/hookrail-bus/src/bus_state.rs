//! The phases of a bus.

/// The phase of the bus between start and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusState {
    /// Requests are accepted.
    Serving,
    /// Running requests are finished, and no new ones are accepted.
    Draining,
    /// Running requests are ended.
    Ending,
}
