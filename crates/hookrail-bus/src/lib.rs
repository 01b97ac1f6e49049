//! hookrail's message bus: agents in any language request hook runs and get one answer for every request.
//!
//! The contract is one message out and one message back: `HOOK_EXECUTION_REQUEST` and `HOOK_EXECUTION_RESPONSE`. A
//! [`Bus`] serves any number of clients over [`Transport`]s: in this process over channels and without serialisation,
//! on standard input and output, and on a Unix socket. `docs/reference/bus.md` lists every message, field and error
//! code; it is made from the types of the messages.
//!
//! ```no_run
//! use hookrail::{HookSystem, Json};
//! use hookrail_bus::{Bus, Request, BusOptions};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let bus = Bus::new(BusOptions::new(".", |project| HookSystem::builder(project)));
//! let client = bus.client();
//! let input = Json::parse(r#"{"tool_name": "write_file", "tool_input": {"path": ".env"}}"#)?;
//! // An error means that the operation is not guarded. It never means that the operation is allowed.
//! let report = client.execute(Request::new("BeforeTool", input)).await?.report;
//! if report.is_denied() {
//!     println!("blocked: {}", report.reason().unwrap_or_default());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! This crate must not know how a hook is found, matched, run or merged. It passes an event to the engine and reports the
//! outcome.

#![forbid(unsafe_code)]

mod budget;
mod bus;
mod bus_core;
mod bus_state;
mod client;
mod configuration;
mod connection;
mod correlation_id;
mod error;
mod event;
mod execute;
#[doc(hidden)]
pub mod fuzzing;
mod load_counter;
mod log;
mod message;
mod message_kind;
mod metrics;
mod outbox;
mod payload;
mod projects;
mod reference;
mod report;
mod schedule;
mod schema;
pub mod transport;
mod watch;
mod wire;
mod words;

pub use bus::{Bus, BusOptions};
pub use client::{Client, ExecutedRequest, Lifecycles, NotGuarded};
pub use configuration::{ConfigurationStatus, Readiness};
pub use error::{BusError, ErrorCode, MessageRefusal};
pub use message::{FromServer, Message, ToServer};
pub use metrics::{Metrics, MetricsServer};
pub use payload::{
    CallerContext, CallerRefusal, Cancel, Cancelled, Hello, Lifecycle, Phase, Ping, Reload, Reloaded, Request,
    Response, Subscribe, WaitFor, Welcome,
};
pub use reference::reference;
pub use report::HookReport;
pub use schema::schemas;
pub use transport::{
    ConnectionClosed, Listener, MessageLimits, MessageSink, MessageSource, MessageWeight, Received, Transport,
};
pub use watch::{PathWatcher, WatchMode};
pub use wire::{LINE_LIMIT, PROTOCOL};
