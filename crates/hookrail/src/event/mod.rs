//! Events: the neutral list, the one table that says everything about each, and a fired event as a value.
//!
//! Adding an event means a line in [`kind`], a row in [`table`] and, where an answer to it has an effect no other
//! event has, a place in the dialect that folds it. Nothing else may list events.

mod fired;
mod kind;
mod spec;
mod table;
mod time;

pub(crate) use time::timestamp;

pub use fired::{Event, EventError};
pub use kind::{EventKind, EventSet};
pub use spec::{Abilities, Column, EventSpec, FieldKind, FieldSpec, Fold, Gating, Stage};
pub use table::find_event;
