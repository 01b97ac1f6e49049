//! The connection to the NATS servers of a fleet: its settings, the keys of its members, the names of subjects and streams,
//! and why something does not work.
//!
//! What travels over it is decided elsewhere.
//!
//! ```no_run
//! # async fn example(config: &hookrail_fleet::config::FleetConfig) -> Result<(), hookrail_fleet::nats::NatsError> {
//! use hookrail_fleet::nats::{FleetMember, ReconnectPace};
//!
//! let member = FleetMember::of_machine(config)?;
//! let connection = member.connect(ReconnectPace::Spread).await?;
//! let subject = member.subjects().audit(member.id());
//! # Ok(())
//! # }
//! ```

pub(crate) mod connection;
pub(crate) mod error;
mod key;
mod member;
pub(crate) mod retry;
mod subjects;

pub use crate::config::{NatsServer, NatsSettings, NotANatsServer};
pub use connection::{LinkState, NatsConnection, ReconnectPace, connect};
pub use error::NatsError;
pub use key::{Handover, MemberKey, MemberKeyProblem, MemberPublicKey, NotAMemberKey};
pub use member::FleetMember;
pub use subjects::{AUDIT_STREAM, Subjects};
