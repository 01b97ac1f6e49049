//! Helpers for tests: a project in a temporary folder, misbehaving child processes, and functions that observe processes.
//!
//! It must not depend on the crates under test, so that they can use it in their own tests.

// `started` alone needs some.
#![deny(unsafe_code)]

pub mod conformance;
pub mod layers;
pub mod model;

mod children;
mod holdings;
mod ledger;
mod nats;
mod otlp;
mod processes;
mod programs;
mod project;
mod random;
mod running;
#[cfg(target_os = "linux")]
mod soak;
mod started;
mod talk;
#[cfg(unix)]
mod terminals;

pub use children::{child, hookrail, measure};
pub use holdings::Holdings;
pub use ledger::SoakLedger;
pub use nats::{NatsServerProcess, free_server_ports, nats_server_program};
pub use otlp::{OtlpReceiver, PARENT, SilentCollector, TRACE, traceparent};
#[cfg(unix)]
pub use processes::is_root;
pub use processes::{process_state, processes_with_marker, wait_until};
pub use programs::{has_program, search_path, search_path_after};
pub use project::{ProgramOutput, TestProject, enabled_hooks, write_hooks};
pub use random::Random;
pub use running::{HANG, RunningProgram};
#[cfg(unix)]
pub use running::{Signal, send_signal};
#[cfg(target_os = "linux")]
pub use soak::Soak;
#[doc(hidden)]
#[cfg(target_os = "linux")]
pub use started::restore_default_signals;
pub use talk::Talk;
#[cfg(unix)]
pub use terminals::open_terminal;
