//! Running hooks: the only part of the engine that touches the operating system.
//!
//! A runner executes a request and reports how that ended. It knows no dialect, no matching and no merging.

pub(crate) mod capabilities;
mod command;
#[cfg(unix)]
mod direct;
mod end;
mod environment;
mod ground;
mod input;
mod kept;
#[cfg(unix)]
mod plain;
mod process;
mod recipe;
mod redaction;
mod request;
mod runner;
mod sandboxes;
mod shell;
mod spare;
mod surroundings;
mod terms;
mod worker;

pub use capabilities::{CAPABILITY_NAMES, Capabilities, CapabilityError, CapabilityProblem, CapabilityScope};
pub(crate) use end::joined as joined_protections;
pub use end::{How, Output, Relocation, RelocationReason, RunEnd, SpawnFailure};
pub(crate) use environment::for_hooks as environment_for_hooks;
pub(crate) use ground::{ModuleGround, protected_places};
pub use hookrail_spawn::{
    Environment, LeftBehind, Network, Protection, Readable, RunLedger, Sandbox, Start as ProcessStart,
};
pub use input::RunInput;
pub(crate) use redaction::Redaction;
pub(crate) use request::SharedInput;
pub use request::{RunId, RunRequest};
pub use runner::{
    HostFuture, LoadFailure, LoadPlace, ModuleCall, ModuleCommand, ModuleInspection, ModuleRender, ModuleReturn,
    ModuleRunner, ModuleWorld, ModulesOwner, RegisteredCommand, Registrations,
};
pub use terms::{OutputLimits, Terms};

pub(crate) use command::{ProcessWorld, Wait};
pub(crate) use kept::Kept;
pub(crate) use process::run_process;
pub(crate) use sandboxes::Sandboxes;
pub(crate) use surroundings::Surroundings;
pub(crate) use terms::AllTerms;
