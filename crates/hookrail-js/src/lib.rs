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
//! # The states of an instance
//!
//! An instance is one runtime with the module in it. There is at most one for each module, and one lock around it
//! (`Mutex<ModuleHost>`): the thread that holds it has the turn, which is the module's own thread or that of a caller.
//! Nothing in an instance has a lock of its own: for the length of a turn its state is lent to the thread that has the
//! turn, and that is where the functions that JavaScript calls find it. A thread without the turn sends a message to
//! the module's thread, except for what cannot wait until the turn is over, which is atomic: the flag that retires a
//! module, the token that cancels a call, and the counts of queued work, of changed files and of memory held outside
//! the heap.
//!
//! ```text
//!   caller ── call, on its own thread ──► try_lock ─┐
//!   caller ── call ─────────────┐                   ▼
//!   task ──── end ──────────────┤          Mutex<ModuleHost> ── Instance: the runtime and its state
//!   watcher ─ change of a file ─┼─► inbox ─► lock ──▲
//!   host ──── key, draw ────────┘    (the module's thread)
//!
//!   any thread ── retired, cancelled (atomic) ──► what runs under the lock is interrupted
//! ```
//!
//! ```text
//!                  loading
//!                     │ its factory has returned
//!                     ▼
//!      ┌──────────► idle
//!      │              │ call, timer, key, change of a file
//!      │              ▼
//!      ├────────── running ◄──────────────────────────────┐
//!      │              │                                   │ end of a task, call,
//!      │              │ it returns while a call is open   │ timer, key
//!      │              ▼                                   │
//!      │           waiting for a dialog or another task ──┘
//!      │
//!      └ it returns and no call is open
//!
//!   loading ── it cannot be loaded ─────────────────────────────────────► ended
//!   running ── it exceeds a limit, or a function of the host panics ────► ended
//!   waiting ── a call was abandoned and does not end in its time ───────► ended
//!   any     ── a call's time is up, other files, forget, shutdown ──► retired ──► ended
//!   ended   ── the next call ───────────────────────────────────────────► loading
//! ```
//!
//! * **Loading:** calls wait in a queue. A module that cannot be loaded fails them all.
//! * **Idle:** a call that may run on its caller's thread takes the turn there; any other is sent to the module's thread.
//! * **Running:** one thread has the turn, and the budget of uninterrupted work runs. Others queue.
//! * **Waiting:** the turn is free, so that other calls run meanwhile. An open dialog stops the clock of its call. If nothing is
//!   outstanding that could settle a promise, the open calls fail.
//! * **Retired:** no new call reaches it. What runs is interrupted, or ends with the last message in its queue.
//! * **Ended:** its calls are answered, its tasks are cancelled, its processes end. The next call makes a new instance.
//!
//! # Modules of the crate
//!
//! `source` turns files into code and `loaded` holds them, `vm` is one runtime, `ops` is everything a module can ask of the
//! machine or the host as typed operations, `shared` is the state that both need, `module_host` is an instance with
//! everything that waits for it, `worker` is the thread around that, `message` what is sent to the thread, and `modules`
//! gives it all to the engine. `rules` takes from the engine's event table how the results of
//! handlers combine inside one module; how the results of several modules combine is not known here. `types` writes the
//! declarations for authors in TypeScript.

#![forbid(unsafe_code)]

mod account;
mod call;
mod clock;
mod component;
mod late;
mod leftovers;
mod limits;
mod loaded;
mod message;
mod module_config;
mod module_host;
mod modules;
mod op_answer;
mod op_error;
mod ops;
mod processes;
mod returned;
mod rules;
mod shared;
mod shortage;
mod source;
mod stack;
mod types;
mod vm;
mod worker;

pub use limits::RuntimeLimits;
pub use modules::{Modules, modules};
pub use processes::SharedProcesses;
pub use source::{MistakeKind, ModuleMistake, check_script_syntax, find_module_mistakes, find_script_mistakes};
pub use types::{module_declarations, world_declarations};
