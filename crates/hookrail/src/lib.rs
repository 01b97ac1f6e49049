//! One hook engine for coding agents, for several hook dialects at once.
//!
//! A host fires one event; hooks of all dialects take part; the host gets one deterministic [`Outcome`] with a typed
//! reason for everything.
//!
//! ```
//! use hookrail::guard::{Guard, ToolCall, ToolEnd, ToolOutput};
//! use hookrail::{Environment, HookSystem, Json};
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
//! let hooks = HookSystem::builder(".").environment(Environment::new()).build();
//! let guard = Guard::new(hooks, "session-1");
//! let call = ToolCall::new("call-1", "write_file", Json::parse(r#"{"path": "a.txt"}"#).unwrap());
//! let result = guard
//!     .tool_call(call, |permit| async move { Ok(ToolOutput::text(&format!("wrote {}", permit.input().text()))) })
//!     .await;
//! match result.end {
//!     ToolEnd::Ran | ToolEnd::Failed => println!("the model reads: {}", result.content.text()),
//!     ToolEnd::Denied => println!("the model reads why: {}", result.content.text()),
//! }
//! if let Some(stop) = result.stop {
//!     println!("the agent stops: {}", stop.reason);
//! }
//! # });
//! ```
//!
//! # Where to begin
//!
//! * [`guide`] is the guide for authors of agents, from the first event to trust and shutdown.
//! * [`HookSystem`] loads the hooks of a project and fires events; [`guard::Guard`] does so around an operation and applies
//!   everything that hooks answer. A host that uses [`HookSystem::fire`] itself has to honour every field of [`Effects`]:
//!   a decision may also be *ask*, inputs may be rewritten, and the agent may have to stop.
//! * [`Hook::native`] makes a hook of a closure.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | [`event`] | what there is to know about each event |
//! | [`hook`] | a hook as it was configured |
//! | [`plan`] | which hooks run for an event and why others do not; the state machine behind every event |
//! | [`outcome`] | the result of an event |
//! | [`recorder`] | recording what hooks decided |
//! | [`guard`] | events around prompts, model calls and tool calls, with every effect applied |
//! | [`places`] | the files and folders that decide which hooks run |
//! | [`rules`] | guards without a program: conditions over what a tool call does |
//! | [`trust`] | what was granted, and what a grant covers |
//! | [`module`] | hooks in JavaScript and TypeScript |
//! | [`remote`] | hooks that are answered by workers elsewhere |
//! | [`http`] | hooks that are answered by a web server |
//! | [`process`] | how processes of hooks run and end |
//! | [`host`] | what hooks may ask of the embedding program, and notifications |
//! | [`payload`] | typed views of tool responses, model requests and model responses |
//! | [`dialect`] | what only one dialect has, such as the documented types of LLxprt |
//! | [`matcher`] | patterns |
//! | [`sources`] | where configuration was read |
//! | [`document`] | the JSON documents that programs rely on |

#![forbid(unsafe_code)]

mod config;
pub mod dialect;
mod dialect_id;
pub mod event;
mod firing;
pub mod guard;
#[cfg(doc)]
pub mod guide;
pub mod hook;
mod json;
pub mod module;
pub mod outcome;
pub mod payload;
mod record;
pub mod rules;
mod run;
mod system;
mod text;
pub mod tools;
pub mod trust;

pub use hookrail_matcher as matcher;

pub use config::diagnostic::{Code, Diagnostic, GuardEffect, Level};
pub use dialect_id::DialectId;
pub use event::{Event, EventError, EventKind};
pub use hook::native::{NativeCall, NativeHook};
pub use hook::{Hook, OnFailure, http, remote};
#[doc(hidden)]
pub use hookrail_spawn::lock_mutex;
pub use json::{Json, JsonKind, JsonObject};
pub use outcome::{Asker, Decision, Effects, EndKind, Health, HookRun, Outcome, ShadowRun, Stop};
pub use run::{CancelToken, Environment, ModuleRunner};
pub use system::{Builder, Fire, FireOptions, HookSystem, Host, HostError, document};
#[doc(hidden)]
pub use text::secret_table;
pub use tools::ToolNames;
pub use trust::places;
pub use trust::protect::Protect;

/// Which hooks run for an event, and why others do not.
pub mod plan {
    pub use crate::dialect::snapshot::{Configuration, ModelDecisions, Policy, Snapshot, Switch};
    pub use crate::firing::{AskedAbout, Batch, CarriedCallPlan, Firing, PartPlan, Plan, PlannedHook, Step};
    pub use crate::outcome::skips::{SkipReason, Skipped, Skips};
}

/// How processes of hooks are run, and how they end.
pub mod process {
    pub use crate::run::{
        HeldAnswer, ModuleEnd, NativeEnd, Network, OrphanCleanup, Output, OutputHolder, OutputLimits, PlannedRun,
        ProcessEnd, Protection, RawEnd, Readable, Relocation, RelocationReason, RemoteEnd, RunEnd, RunId, RunInput,
        RunLedger, RunLimits, Sandbox, SpawnFailure, Surroundings, is_code_variable,
    };
}

/// Recording what hooks decided: the trait behind a journal, and what it is given.
pub mod recorder {
    pub use crate::record::*;
}

/// What hooks may ask of the embedding program, and what they tell it.
pub mod host {
    pub use crate::hook::host::HostFuture;
    pub use crate::system::{
        Component, FireId, HookFailure, Host, HostError, ModelQuery, NoHost, NoticeLevel, Notification, Notifications,
        SessionChange, SessionMove, SessionQuery, StatusLine,
    };
}

/// Where configuration was read, and whether it could be used.
pub mod sources {
    pub use crate::config::source::{Location, Origin, SourceKind};
    pub use crate::config::user_folders::{
        UserFolderFault, UserFolderProblem, user_folder_problems, user_folder_variables,
    };
    pub use crate::config::{
        Document, KeptReason, KeptSource, PlacedKey, PlacedValue, ReadProblem, SyntaxFault, UnusableSource, ValueShape,
        explain_syntax, is_want_of_resources, nearest, one_of, read_file, without_dots,
    };
    pub use crate::dialect::has_system_layer;
}
