//! hookrail's message bus: agents in any language ask for hooks to be run and get one answer for every request.
//!
//! The contract is one message out and one message back: `HOOK_EXECUTION_REQUEST` and `HOOK_EXECUTION_RESPONSE`. A
//! [`Bus`] serves any number of clients over [`Transport`]s: in this process over channels and without serialisation,
//! on standard input and output, and on a Unix socket. `docs/reference/bus.md` lists every message, field and error
//! code; it is made from the types of the messages.
//!
//! ```no_run
//! use hookrail::{HookSystem, Json};
//! use hookrail_bus::{Bus, Request, Settings};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let bus = Bus::new(Settings::new(".", |project| HookSystem::builder(project)));
//! let client = bus.client();
//! let input = Json::parse(r#"{"tool_name": "write_file", "tool_input": {"path": ".env"}}"#)?;
//! // An error means that the operation is not guarded. It is never a yes.
//! let report = client.execute(Request::new("BeforeTool", input)).await?.report;
//! if report.is_denied() {
//!     println!("blocked: {}", report.reason().unwrap_or_default());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What this crate must not know: how a hook is found, matched, run or merged. It hands an event to the engine and
//! reports what came of it.

#![forbid(unsafe_code)]

mod budget;
mod bus;
mod client;
mod configuration;
mod connection;
mod error;
mod event;
mod execute;
#[doc(hidden)]
pub mod fuzzing;
mod id;
mod log;
mod message;
mod metrics;
mod outbox;
mod projects;
mod reference;
mod report;
mod schedule;
mod schema;
pub mod transport;
mod watch;
mod wire;

pub use bus::{Bus, Settings};
pub use client::{Client, Executed, Lifecycles, NotGuarded};
pub use configuration::ConfigurationStatus;
pub use error::{BusError, ErrorCode};
pub use message::{
    Cancel, Cancelled, FromServer, Hello, Lifecycle, Message, Phase, Ping, Reload, Reloaded, Request, Response,
    Subscribe, ToServer, Wait, Welcome,
};
pub use metrics::{Metrics, MetricsServer};
pub use reference::reference;
pub use report::Report;
pub use schema::schemas;
pub use transport::{Closed, Listener, MessageLimits, Received, Refusal, Sink, Source, Transport, Weight};
pub use watch::WatchMode;

/// The protocol's major version. A client that names a higher one is refused; one that names none gets this.
pub const PROTOCOL: u64 = 1;

/// How many bytes a line may have, its end not counted.
pub const LINE_LIMIT: usize = 16 * 1024 * 1024;
