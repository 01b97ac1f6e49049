//! `hookrail bundle`: the real binary as a publisher and as machines, and what a bundle in force does to events.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod bundles;
mod killed;
mod nats;
mod offline;
mod serving;
mod support;
mod web;
