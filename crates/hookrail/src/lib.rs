//! One hook engine for coding agents, for three hook dialects at once.
//!
//! A host fires one event; hooks of all dialects take part; the host gets one deterministic [`Outcome`] with a typed
//! reason for everything.
//!
//! ```no_run
//! use hookrail::{Event, EventKind, HookSystem, Json};
//!
//! let hooks = HookSystem::builder(".").build();
//! let event = Event::new(EventKind::BeforeTool, hooks.project())
//!     .with_text("tool_name", "write_file")
//!     .with("tool_input", Json::parse(r#"{"path": "a.txt"}"#).unwrap());
//! let outcome = hooks.fire_blocking(event);
//! if outcome.is_denied() {
//!     println!("blocked: {}", outcome.effects.reason.unwrap_or_default());
//! }
//! ```

#![forbid(unsafe_code)]

// The unit tests include a test of the public API, because they alone are always built with the dialect it is about.
#[cfg(test)]
#[path = "../tests/a_new_dialect.rs"]
mod a_new_dialect;
#[cfg(test)]
extern crate self as hookrail;

mod breadcrumb;
mod config;
mod diagnostic;
pub mod dialect;
mod document;
mod effects;
mod event;
mod exec_options;
mod firing;
pub mod guard;
mod hidden;
mod hook;
mod json;
mod log;
pub mod module;
mod native;
mod outcome;
pub mod payload;
mod repeated;
mod run;
mod sandbox;
mod skips;
mod snapshot;
mod source;
mod system;
mod tools;
mod trust;

use hookrail_matcher as matcher;

pub use config::{
    KeptReason, KeptSource, ReadProblem, UnusableSource, is_want_of_resources, nearest, read_file, without_dots,
};
pub use diagnostic::{Code, Diagnostic, Level};
pub use dialect::{DialectId, find_event};
pub use document::{diagnostics_document, explain_document, list_document, outcome_document};
pub use event::{
    Abilities, Column, Event, EventError, EventKind, EventSet, EventSpec, FieldKind, FieldSpec, Fold, Stage,
};
pub use exec_options::{ExecOptions, ProcessLifetime, ShellUse, StdinKind};
pub use firing::{Batch, Firing, PartPlan, Plan, PlannedHook, Step};
pub use hidden::is_hidden;
pub use hook::{Action, Authority, EventScope, GroupOrder, Hook, OnFailure, Owner, Standing, Trust};
pub use hookrail_matcher::{Compiled, Language, Matcher, MatcherKind, OnInvalid, Problem, Scope, Verdict};
#[doc(hidden)]
pub use hookrail_spawn::lock;
pub use json::{Json, JsonKind, JsonObject};
pub use native::{NativeCall, NativeHook};
pub use outcome::{Aggregated, Decision, Effects, EndKind, Health, HookRun, Outcome, Refusal, Stop};
pub use repeated::repeated_member;
pub use run::{
    CAPABILITY_NAMES, CancelToken, Capabilities, CapabilityError, CapabilityProblem, CapabilityScope, Environment,
    HostFuture, How, LeftBehind, LoadFailure, LoadPlace, ModuleCall, ModuleCommand, ModuleInspection, ModuleRender,
    ModuleReport, ModuleReturn, ModuleRunner, ModuleWorld, ModulesOwner, Network, Output, OutputLimits, ProcessReport,
    Protection, Readable, RegisteredCommand, Registrations, Relocation, RelocationReason, RunEnd, RunId, RunInput,
    RunLedger, RunRequest, RunnerReport, Sandbox, SpawnFailure, Terms,
};
pub use sandbox::{SandboxFloors, SandboxProblem, SandboxProfile, SandboxRequirement};
pub use skips::{SkipReason, Skipped, Skips};
pub use snapshot::{Configuration, ModelDecisions, Policy, Snapshot, Switch};
pub use source::{Location, Origin, SourceKind};
pub use system::{
    Builder, CommandOffer, Component, Fire, FireId, FireOptions, HookFailure, HookSystem, Host, HostError, ModelQuery,
    NoHost, NoticeLevel, Notification, Notifications, SessionChange, SessionMove, SessionQuery, StatusLine,
};
pub use tools::ToolNames;
pub use trust::{
    ChangeKind, Definition, Digest, FileChange, FileState, FileTrustStore, Fingerprint, Grant, GrantedFile, Grants,
    HookChange, NamedFile, OpenEnd, PROTECTED_FOLDERS, TrustError, TrustStore,
};
