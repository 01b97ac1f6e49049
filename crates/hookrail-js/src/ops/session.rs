//! Requests about the session, by the names that modules use.

use hookrail::host::{SessionChange, SessionQuery};
use serde::Deserialize;

use super::{OpAnswer, OpError};
use crate::shared::Shared;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum SessionOp {
    Read { call: u32, query: SessionQuery },
    Write { call: u32, change: SessionChange },
}

impl SessionOp {
    pub(super) fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        match self {
            Self::Read { call, query } => Ok(shared.host_of(call).session(&query).into()),
            Self::Write { call, change } => Ok(shared.host_of(call).write_session(&change)?.into()),
        }
    }
}
