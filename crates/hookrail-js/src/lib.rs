//! Runs hookrail's module hooks: JavaScript and TypeScript files, on an embedded engine, with no Node, Bun or npm.
//!
//! ```no_run
//! let hooks = hookrail::HookSystem::builder(".").runner(hookrail_js::modules()).build();
//! ```
//!
//! Every module has a runtime of its own, with a limit on memory, stack and uninterrupted work, and a thread on which
//! it is loaded and waits. A module that misbehaves fails alone: neither the host nor another module notices more than
//! its failure.
//!
//! `source` turns files into code, `vm` is one runtime, `ops` is everything a module can ask of the machine or the
//! host, `stage` is a runtime with everything that waits for it, `worker` is the thread around that, and `modules` gives
//! it all to the engine. What an event means and how the results of several modules combine is not known here; the rules
//! inside one module are in `prelude/events.js`.

#![forbid(unsafe_code)]

mod account;
mod clock;
mod component;
mod left;
mod limits;
mod machine;
mod modules;
mod ops;
mod outcome;
mod processes;
mod rules;
mod shared;
mod slot;
mod source;
mod stack;
mod stage;
mod vm;
mod worker;

pub use limits::Limits;
pub use modules::{Modules, modules};
pub use processes::SharedProcesses;
