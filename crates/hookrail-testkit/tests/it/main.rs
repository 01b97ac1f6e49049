//! What holds for the whole repository.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod citations;
mod faults;
mod features;
mod layers;
mod map;
mod one_place;
mod originals;
mod rules;
#[cfg(target_os = "linux")]
mod started;
mod style;

hookrail_testkit::start_with_default_signals!();
