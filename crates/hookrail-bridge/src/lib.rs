//! Connects hookrail to the hooks of existing coding agents.
//!
//! An agent calls `hookrail bridge AGENT` as its hook. This crate reads the agent's payload ([`request`]), gives the caller
//! the neutral events to fire, and makes of what the hooks said one answer in exactly the form that this agent honours
//! ([`answer`]). It starts no process and opens no file: the command line does that.
//!
//! ```text
//!  agent ── payload ──► request::read ──► Request ── events ──► engine ── effects ──► Answer::compose ──► agent
//!                          │                                                            │
//!                          ├ Pass: nothing to fire                                      ├ losses: what the agent cannot do
//!                          └ RefusedRequest: gating events are denied                   └ session: what the next event needs
//! ```
//!
//! Everything that is known about an agent is an [`AgentSpec`]. What an agent cannot express is never dropped silently. [`Agent::handling`] is the table that says for every agent, event
//! and effect how the effect is expressed and what takes its place.

#![forbid(unsafe_code)]

mod agents;
pub mod answer;
pub mod doctor;
mod effect;
mod forms;
pub mod install;
mod loss;
mod pieces;
pub mod request;
pub mod session;
mod settings;
pub mod spec;
mod tool_call;
pub mod tools;
mod whole_response;

pub use agents::{Agent, SAMPLE_SESSION};
pub use answer::{AllowPolicy, Answer, AnswerOptions, AnswerStatus, Attendance, EventResult, Lateness, OnError};
pub use effect::{EffectKind, Handling};
pub use forms::{AnswerContent, AnswerForm, AnsweredEvent, OutputFit, StopText};
pub use loss::Loss;
pub use pieces::{PiecePlace, ResponsePiece, UnfinishedResponse};
pub use request::{AgentRequest, Incoming, NoisyEvents, Pass, Reading, RefusedRequest, RequestError, UnknownName};
pub use session::BridgeSession;
pub use settings::SettingsLayout;
pub use spec::{AgentEvent, AgentSpec};
