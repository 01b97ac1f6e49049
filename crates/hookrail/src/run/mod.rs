//! Runs command hooks, and holds the types with which every runner is called and reports how a run ended.
//!
//! Nothing here knows a dialect, selects hooks or combines their answers.

mod answer_wait;
mod command;
mod end;
mod input;
mod limits;
mod module_environment;
mod pool;
mod process;
pub(crate) mod project_share;
mod redaction;
mod request;
mod runner;
mod sandboxes;
pub(crate) mod sentences;
mod shell;

pub use crate::hook::capabilities::{
    CAPABILITY_NAMES, Capabilities, CapabilityError, CapabilityProblem, CapabilityScope,
};
pub(crate) use crate::hook::variables::with_private_byte_code;
pub(crate) use answer_wait::{AnswerWait, ExitMeaning, HookRole};
pub(crate) use end::joined_protections;
pub use end::{
    HeldAnswer, ModuleEnd, NativeEnd, Output, ProcessEnd, RawEnd, Relocation, RelocationReason, RemoteEnd, RunEnd,
    SpawnFailure, Surroundings,
};
pub(crate) use hookrail_spawn::ChildExit;
pub use hookrail_spawn::{
    CancelToken, Environment, Network, OrphanCleanup, OutputHolder, Protection, Readable, RunLedger, Sandbox,
};
pub use input::RunInput;
pub use limits::{OutputLimits, RunLimits};
pub(crate) use module_environment::ModuleEnvironment;
pub use project_share::is_code_variable;
pub(crate) use redaction::Redaction;
pub use request::{PlannedRun, RunId};
pub use runner::{
    CutOffProcess, EnforceExport, HostFuture, LoadFailure, LoadPlace, ModuleCall, ModuleCommand, ModuleContext,
    ModuleInspection, ModuleRender, ModuleReturn, ModuleRunner, ModulesOwner, RegisteredCommand, RegistrationKind,
    RegistrationMistake, Registrations, UnreadableResult,
};

pub(crate) use command::{ProcessContext, ProcessRun};
pub(crate) use limits::EngineLimits;
pub(crate) use pool::ProcessPool;
pub(crate) use process::{existing_directory, run_process};
pub(crate) use sandboxes::Sandboxes;
