//! A small but complete coding agent, with which hooks can be tried, tested and shown without a commercial agent.
//!
//! Every tool and every model call goes through the engine's guards, in every mode. The agent applies every effect of a
//! hook and writes its receipt to the session's file. The model is behind a trait: here it follows a script.
//!
//! The agent knows sessions, tools and modes. The engine finds, matches and merges hooks.

#![forbid(unsafe_code)]

mod agent;
mod clock;
mod error;
mod message;
mod mode;
mod model;
mod rules;
mod session;
mod settings;
mod shape;
pub mod text;
mod tool;
mod user;
mod view;

pub use agent::{
    AgentParts, CompactionCause, CompactionOutcome, EndReason, MoveOutcome, ReferenceAgent, SessionOpening, TurnEnd,
};
pub use error::AgentError;
pub use mode::{AgentExit, AgentMode, AgentSetup, run};
pub use model::{Model, ModelError, ModelFuture, ResponseStream, ScriptedModel};
pub use rules::StreamRule;
pub use session::{DamagedLine, Session, SessionEntry, SessionEntryKind, SessionStore, StoredSession};
pub use settings::AgentSettings;
pub use tool::{TOOL_VARIABLE, Workspace, declare, tool_names};
pub use user::{NoUser, User, UserFuture};
pub use view::{HeadlessView, TerminalView, View, ViewEvent};
