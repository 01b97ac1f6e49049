//! The session, as modules name its parts.

use hookrail::Json;
use hookrail::host::{SessionChange, SessionQuery};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Answer, OpError};
use crate::shared::Shared;

/// Reading needs the identity of a part that has one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub(super) enum SessionOp<'a> {
    Read { call: u32, part: Part, id: Option<String> },
    Write { call: u32, part: Addition, value: Option<&'a RawValue> },
}

/// A part of the session that can be read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Part {
    Cwd,
    SessionDir,
    SessionId,
    SessionFile,
    SessionName,
    LeafId,
    LeafEntry,
    Entry,
    Label,
    Branch,
    Header,
    Entries,
    Tree,
    UsageStatistics,
    ArtifactsDir,
    ArtifactPath,
}

/// What can be added to the session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Addition {
    Message,
    Entry,
    CustomMessage,
    Artifact,
}

impl SessionOp<'_> {
    pub(super) fn run(self, shared: &Shared) -> Result<Answer, OpError> {
        match self {
            Self::Read { call, part, id } => Ok(shared.host_of(call).session(&part.query(id)).into()),
            Self::Write { call, part, value } => {
                let value = value.and_then(|value| Json::parse(value.get()).ok()).unwrap_or_else(Json::null);
                let change = match part {
                    Addition::Message => SessionChange::Message(value),
                    Addition::Entry => SessionChange::Entry(value),
                    Addition::CustomMessage => SessionChange::CustomMessage(value),
                    Addition::Artifact => SessionChange::Artifact(value),
                };
                Ok(shared.host_of(call).write_session(&change)?.into())
            }
        }
    }
}

impl Part {
    fn query(self, id: Option<String>) -> SessionQuery {
        match self {
            Self::Cwd => SessionQuery::Cwd,
            Self::SessionDir => SessionQuery::Dir,
            Self::SessionId => SessionQuery::Id,
            Self::SessionFile => SessionQuery::File,
            Self::SessionName => SessionQuery::Name,
            Self::LeafId => SessionQuery::LeafId,
            Self::LeafEntry => SessionQuery::LeafEntry,
            Self::Entry => SessionQuery::Entry(id.unwrap_or_default()),
            Self::Label => SessionQuery::Label(id.unwrap_or_default()),
            Self::Branch => SessionQuery::Branch(id),
            Self::Header => SessionQuery::Header,
            Self::Entries => SessionQuery::Entries,
            Self::Tree => SessionQuery::Tree,
            Self::UsageStatistics => SessionQuery::Usage,
            Self::ArtifactsDir => SessionQuery::ArtifactsDir,
            Self::ArtifactPath => SessionQuery::ArtifactPath(id.unwrap_or_default()),
        }
    }
}
