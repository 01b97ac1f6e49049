//! The same behaviour when the thread that starts a child itself waits for it.

#![cfg(target_os = "linux")]
#![allow(clippy::duplicate_mod, reason = "each part brings what it shares with the others")]

#[path = "endings.rs"]
mod endings;
#[path = "in_time.rs"]
mod in_time;
#[path = "parked.rs"]
mod parked;
#[path = "starting.rs"]
mod starting;
#[path = "streams.rs"]
mod streams;

const WAY: &str = "holding the thread";
