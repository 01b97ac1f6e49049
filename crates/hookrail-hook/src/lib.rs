//! Hooks for coding agents in Rust.
//!
//! A hook is a program that an agent starts when an event fires. It reads one JSON object from standard input and answers
//! with one on standard output. This crate has a type for each event, answers that can only hold what the event allows, and
//! [`run`], which does the reading and the writing:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use hookrail_hook::{BeforeTool, HookAnswer};
//!
//! fn main() -> ExitCode {
//!     hookrail_hook::run(|event: BeforeTool| match event.input_text("path") {
//!         Some(path) if path.ends_with(".env") => HookAnswer::deny("files named `.env` hold secrets"),
//!         _ => HookAnswer::none(),
//!     })
//! }
//! ```
//!
//! # Failures
//!
//! Input that is not the expected event, an error that the handler returns and a panic end the program with a status that is
//! neither 0 nor 2. The engine then does what the hook's `onFailure` says. So a guard never allows by accident if it is
//! configured with `"onFailure": "block"`.
//!
//! # Workers
//!
//! With `"mode": "worker"` in the settings the engine keeps the process and asks it about one event after the other. [`run`]
//! notices that by itself; the same program works in both modes.
//!
//! # What it is not for
//!
//! It does not find, configure or run hooks: that is the engine, the crate `hookrail`.

#![forbid(unsafe_code)]

mod ability;
mod answer;
mod event;
mod field;
mod program;

pub use ability::{
    AddsContext, ChoosesTools, ClearsContext, Denies, GivesResponse, HookEvent, RewritesRequest, RewritesToolInput,
};
pub use answer::{HookAnswer, Reply, ToolMode};
pub use event::{
    AfterAgent, AfterModel, AfterTool, AnyEvent, BeforeAgent, BeforeModel, BeforeTool, BeforeToolSelection,
    Notification, PreCompress, SessionEnd, SessionInfo, SessionStart,
};
pub use field::{EventField, FieldShape, FieldValue, InputError};
pub use program::{Streams, run, run_with};
pub use serde_json::{Map, Value, json};

/// The examples of the crate's page are compiled too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeExamples;
