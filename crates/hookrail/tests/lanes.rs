//! The faster ways a hook can ask for, with the live engine and real processes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod common;
mod lane;
