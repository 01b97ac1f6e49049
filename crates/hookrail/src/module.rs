//! Module hooks for embedders: loading them, running them, and wrapping tools with them.
//!
//! xcsh exports a loader, a runner and a tool wrapper for its hooks. These are their counterparts:
//!
//! | xcsh | here |
//! |---|---|
//! | `discoverAndLoadHooks` | [`discover_and_load_hooks`] |
//! | `loadHooks` | [`load_hooks`] |
//! | the discovery alone | [`discoverable_modules`], [`find_module_file`] |
//! | `LoadHooksResult`, `LoadedHook` | [`LoadHooksResult`], [`LoadedHook`], [`HookLoadError`] |
//! | `HookRunner` | [`HookRunner`] |
//! | `HookRunner.initialize` | [`HookRunner::with_host`]; what it takes is the trait [`Host`] |
//! | `emit`, `emitToolCall`, `emitContext`, `emitBeforeAgentStart` | [`HookRunner::emit`], [`HookRunner::emit_tool_call`], [`HookRunner::emit_context`], [`HookRunner::emit_before_agent_start`] |
//! | `hasHandlers`, `getHookPaths` | [`HookRunner::has_handlers`], [`HookRunner::hook_paths`] |
//! | `getCommand`, `getRegisteredCommands`, `getMessageRenderer` | [`HookRunner::command`], [`HookRunner::registered_commands`], [`HookRunner::message_renderer`] |
//! | `onError`, `emitError`, `HookError` | [`HookRunner::on_error`], [`HookRunner::emit_error`], [`HookFailure`] |
//! | `HookToolWrapper` | [`HookToolWrapper`], [`wrap_tools`] |
//! | `execCommand` | [`exec_command`] |
//!
//! A program that has its own loop around models and tools needs [`HookToolWrapper`] or [`Guard`](crate::guard::Guard) and
//! nothing else of this page. JavaScript itself is run by a [`ModuleRunner`] of another crate, such as `hookrail-js`; the
//! second half of this page is what such a crate implements.

mod exec;
mod host;
mod loader;
mod runner;
mod tool;

pub use exec::{ExecCommandOptions, ExecError, ExecResult, exec_command};
pub use loader::{
    DiscoverableModule, HookLoadError, LoadHooksResult, LoadedHook, discover_and_load_hooks, discoverable_modules,
    find_module_file, load_hooks,
};
pub use runner::{Blocked, ErrorSubscription, HookRunner};
pub use tool::{HookToolWrapper, Tool, wrap_tools};

pub use crate::dialect::xcsh::result_members;
pub use crate::json::without_lone_surrogates;

pub use crate::run::{
    CAPABILITY_NAMES, Capabilities, CapabilityError, CapabilityProblem, CapabilityScope, CutOffProcess, EnforceExport,
    HostFuture, LoadFailure, LoadPlace, ModuleCall, ModuleCommand, ModuleContext, ModuleInspection, ModuleRender,
    ModuleReturn, ModuleRunner, ModulesOwner, RegisteredCommand, RegistrationKind, RegistrationMistake, Registrations,
    UnreadableResult,
};
pub use crate::system::{CommandOffer, HookFailure, Host};
