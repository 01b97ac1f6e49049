//! Events: the one table of neutral facts, the types of a dialect's columns, and a fired event as a value.
//!
//! A new event is one declaration in `table`, and a column in each dialect that has it. Nothing else may
//! list events, and no dialect is known here.

mod dialect_event;
pub(crate) mod effects;
mod fired;
mod kind;
mod spec;
mod table;
mod time;

pub use dialect_event::{Abilities, DialectEvent, MergeRule, Occurrences, Stage};
pub use fired::{Event, EventError};
pub use kind::{EventKind, EventSet};
pub use spec::{Conversation, EventSpec, FieldKind, FieldSpec};
pub use time::timestamp;
