//! Measures hookrail against the floor of the machine and against its peers, all in one run.
//!
//! A *case* has *variants* that do the same work in different ways: the floor, hookrail, a peer. The variants take turns
//! inside one run, in an order that rotates, and the result is the median of the ratios of each round. So a machine that is
//! busy or changes its speed affects all variants alike. Absolute times are kept as information only.
//!
//! `harness` takes turns, `cases` say what is measured, `peers` holds the others, `results` is the raw data, and
//! `targets` and `table` are made from it. The crate uses nothing but the public API of the others.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

pub mod args;
#[allow(unsafe_code, reason = "the floor is what the kernel offers, without a safe layer")]
mod bare_spawn;
mod cases;
mod floor;
mod harness;
mod lab;
mod machine;
mod peers;
mod probe;
pub mod results;
mod run;
mod stats;
pub mod table;
mod targets;
mod worker;

pub use bare_spawn::BareSpawn;

/// An error with a message for people.
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;

/// A result with such an error.
pub type BenchResult<T> = std::result::Result<T, BenchError>;

pub use run::main;
