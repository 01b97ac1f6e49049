//! Telemetry of the real binary: what `serve` and `agent` export, and who may ask for it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail the test as the tests themselves do")]

mod configured;
mod exported;
mod support;
