//! A fired event as a pure state machine: plan it, hand out what to run next, take the ends back in any order, fold
//! the answers in plan order, and give the outcome.
//!
//! There is no clock, no I/O and no async in here, and no dialect's name: the live engine, `explain`, the blocking
//! form and the property tests all drive this same machine.

mod failure;
mod machine;
mod part;
mod plan;
mod reasons;
mod shadow;
mod unasked;

pub use machine::{Batch, Firing, Step};
pub use plan::{AskedAbout, CarriedCallPlan, PartPlan, Plan, PlannedHook};

pub(crate) use failure::report as report_failure;
pub(crate) use machine::TOOL_INPUT;
pub(crate) use shadow::ShadowFiring;
