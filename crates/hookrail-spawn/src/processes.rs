//! What the system tells about processes, and how they are ended: by descriptor, by kinship, and by a record.

pub(crate) mod family;
pub(crate) mod pidfd;
pub(crate) mod recorded;
