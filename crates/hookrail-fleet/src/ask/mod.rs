//! Asking a group of workers over NATS: the client that an engine asks its remote hooks with, and the transport of a worker.
//!
//! What travels are the messages of the bus, as on a socket: a `HOOK_EXECUTION_REQUEST` in a request of NATS, and its
//! `HOOK_EXECUTION_RESPONSE` in the reply. Nothing is stored on the way: a question that no worker takes is answered at once by
//! the server, and one whose answer is lost is asked again or fails.
//!
//! Which servers are asked comes from the configuration of the user or the machine, never from a project.

mod client;
mod find;
mod worker;

pub use client::AskClient;
pub use find::{MemberPlaces, find_member};
pub use worker::{AskExchange, AskWorker, WorkerHandle};
