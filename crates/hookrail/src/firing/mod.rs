//! A fired event as a pure state machine: plan it, hand out what to run next, take the ends back in any order, fold
//! the answers in plan order, and give the outcome.
//!
//! There is no clock, no I/O and no async in here, and no dialect's name: the live engine, `explain`, the blocking
//! form and the property tests all drive this same machine.

mod part;
mod plan;
mod reasons;
mod ruled_call;
pub(crate) mod rules;
mod shadow;
mod state;
mod subject;
mod unasked;

pub use plan::{CarriedCallPlan, PartPlan, Plan, PlannedHook};
pub use state::{Batch, Firing, Step};
pub use subject::AskedAbout;

pub(crate) use shadow::ShadowFiring;
pub(crate) use state::TOOL_INPUT;
