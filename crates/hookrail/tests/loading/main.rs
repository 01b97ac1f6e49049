//! A guard never vanishes because of how configuration is loaded.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod enrolment;
mod policy;
mod resources;
mod running;
mod system_layer;
mod watched;
mod world;
