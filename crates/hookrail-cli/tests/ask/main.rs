//! Remote hooks over a real NATS server: the real binary as a worker, and as the program that asks.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod chaos;
mod ends;
mod load;
mod servers;
mod support;
