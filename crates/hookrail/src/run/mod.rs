//! Running hooks: the only part of the engine that touches the operating system.
//!
//! A runner executes a request and reports how that ended. It knows no dialect, no matching and no merging.

pub(crate) mod capabilities;
mod command;
#[cfg(unix)]
mod direct;
mod end;
pub(crate) mod environment;
mod ground;
mod input;
mod limits;
#[cfg(unix)]
mod plain;
mod pool;
mod process;
mod redaction;
mod request;
mod runner;
mod sandboxes;
mod shell;

pub use capabilities::{CAPABILITY_NAMES, Capabilities, CapabilityError, CapabilityProblem, CapabilityScope};
pub(crate) use end::joined as joined_protections;
pub use end::{
    ModuleEnd, NativeEnd, Output, ProcessEnd, RawEnd, Relocation, RelocationReason, RunEnd, SpawnFailure, Surroundings,
};
pub(crate) use environment::for_hooks as environment_for_hooks;
pub(crate) use ground::{ModuleGround, protected_places};
pub use hookrail_spawn::{CancelToken, Environment, Network, OrphanCleanup, Protection, Readable, RunLedger, Sandbox};
pub use input::RunInput;
pub use limits::{OutputLimits, RunLimits};
pub(crate) use redaction::Redaction;
pub use request::{RunId, RunRequest};
pub use runner::{
    CutOffProcess, HostFuture, LoadFailure, LoadPlace, ModuleCall, ModuleCommand, ModuleInspection, ModuleRender,
    ModuleReturn, ModuleRunner, ModuleWorld, ModulesOwner, RegisteredCommand, Registrations,
};

pub(crate) use command::{ProcessRun, ProcessWorld, Wait};
pub(crate) use limits::EngineLimits;
pub(crate) use pool::ProcessPool;
pub(crate) use process::run_process;
pub(crate) use sandboxes::Sandboxes;
