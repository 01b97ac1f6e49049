//! The reference agent end to end: the real binary, real scripts as hooks, a scripted model.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod bad_input;
mod dialects;
mod documentation;
mod endings;
mod errors;
mod events;
mod model;
mod modes;
mod modules;
mod originals;
mod published_modules;
mod records;
mod review;
mod screen;
mod sessions;
mod stops;
mod talk;
mod terminal;
mod tools;
mod world;

hookrail_testkit::start_with_default_signals!();
