//! The translations between agents and the engine, from data.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod callers;
mod compatibility;
mod conformance;
mod names;
mod tables;
