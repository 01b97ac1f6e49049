//! The payloads of the messages as types. Their JSON form, the JSON Schemas and the reference page are derived from them. The
//! documentation of a field is its description in all of them.

mod caller;
mod client;
mod duplicate_keys;
mod field;
mod input;
mod server;

pub use caller::{CallerContext, CallerRefusal};
pub use client::{Cancel, Hello, Ping, Reload, Request, Subscribe, WaitFor};
pub(crate) use duplicate_keys::DuplicateKeyRecorder;
pub(crate) use server::ResponsePayload;
pub use server::{Cancelled, Lifecycle, Phase, Reloaded, Response, Welcome};
