//! The audit of a fleet: a machine ships its journal to a stream, and every machine is verified from the stream alone.
//!
//! The journal is the outbox. Slices of it are published to one subject for each machine, each with the number of the message that
//! must be the last one of that subject. So a slice is stored once, however often it is sent, and a second writer of the same
//! subject is found at once: a cloned machine, or a journal that was written anew.

mod ship;
mod slice;
mod verify;

pub use ship::{ShipError, ShippedCount, Shipper, ShippingAlarm};
pub use slice::{AuditSlice, Checkpoint, SliceError};
pub use verify::{AuditProblem, AuditProblemKind, FleetVerification, MachineVerification, VerifyOptions, verify_fleet};
