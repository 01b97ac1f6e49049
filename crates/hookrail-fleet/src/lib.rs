//! One policy for many machines.
//!
//! A *bundle* is an archive of what the system layer may hold, with a signed manifest. This crate makes bundles, fetches them,
//! verifies them and puts them in force. The engine knows nothing of it: it reads the one file that [`install`] writes.
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | the configuration of a machine: its tenant, its channel, the keys it accepts |
//! | [`places`] | where configuration and state are, and who may own them |
//! | [`manifest`] | what a publisher signs, and the rules for accepting it |
//! | [`signature`] | keys and signatures in the format of minisign |
//! | [`archive`] | packing and unpacking, with limits |
//! | [`source`] | where bundles come from, behind one trait |
//! | [`publish`] | the folder that a publisher fills: building, signing, verifying, comparing |
//! | [`install`] | putting a bundle in force with one atomic switch |
//! | [`status`] | what is in force on a machine |
//! | [`announce`] | storing bundles on the servers, announcing them, and hearing of them |
//! | [`ask`] | asking remote hooks, and answering them as a worker |
//! | [`audit`] | shipping the journal of a machine, and verifying every machine from the stream |
//! | [`servers`] | a configuration for the servers, their members and what those may do, their streams |
//! | [`nats`] | the connection to the servers of a fleet: settings, keys of members, subjects |
//!
//! Nothing here starts hooks or decides about events.

#![forbid(unsafe_code)]

pub mod announce;
pub mod archive;
pub mod ask;
pub mod audit;
pub mod config;
mod digest;
mod error;
mod files;
pub mod install;
mod machine;
pub mod manifest;
mod name;
pub mod nats;
pub mod places;
pub mod publish;
mod published_entry;
mod random;
pub mod servers;
pub mod signature;
pub mod source;
pub mod status;
mod store;
mod time;

pub use digest::ArchiveDigest;
pub use error::{BundleError, MachineIdProblem};
pub use machine::MachineId;
pub use manifest::parse_version;
pub use time::{Timestamp, parse_duration};
