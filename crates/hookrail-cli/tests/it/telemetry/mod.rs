//! Telemetry of the real binary: what `serve` and `agent` export, and who may ask for it.

#![cfg(unix)]

mod configured;
mod exported;
mod support;
