//! A small but real coding agent, so that hooks can be tried, tested and shown without anybody's product.
//!
//! Every tool and every model call goes through the engine's guards, in every mode; what a hook says is applied, and the
//! receipt of it is in the session's file. The model is behind a trait: here it follows a script.
//!
//! The agent knows sessions, tools and modes. How hooks are found, matched and merged is the engine's business.

#![forbid(unsafe_code)]

mod agent;
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

pub use agent::{Agent, Begin, Compacted, CompactionCause, EndReason, Moved, Parts, TurnEnd};
pub use error::AgentError;
pub use mode::{Exit, Mode, Setup, run};
pub use model::{Model, ModelError, ModelFuture, ScriptedModel, Stream};
pub use rules::Rule;
pub use session::{Damage, Entry, EntryKind, Session, SessionStore, Stored};
pub use settings::Settings;
pub use tool::{Place, declare};
pub use user::{NoUser, User, UserFuture};
pub use view::{HeadlessView, Shown, TerminalView, View};
