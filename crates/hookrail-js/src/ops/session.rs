//! The session, as modules name its parts.

use hookrail::{Host, Json, SessionChange, SessionQuery};

use super::{Args, OpError};

/// Reads the session. The second argument names the part, the third is its identity where it needs one.
pub(super) fn read(host: &dyn Host, args: &Args<'_>) -> Result<Json, OpError> {
    let id = || args.optional_text(2).unwrap_or_default();
    let query = match args.text(1)?.as_str() {
        "cwd" => SessionQuery::Cwd,
        "sessionDir" => SessionQuery::Dir,
        "sessionId" => SessionQuery::Id,
        "sessionFile" => SessionQuery::File,
        "sessionName" => SessionQuery::Name,
        "leafId" => SessionQuery::LeafId,
        "leafEntry" => SessionQuery::LeafEntry,
        "entry" => SessionQuery::Entry(id()),
        "label" => SessionQuery::Label(id()),
        "branch" => SessionQuery::Branch(args.optional_text(2)),
        "header" => SessionQuery::Header,
        "entries" => SessionQuery::Entries,
        "tree" => SessionQuery::Tree,
        "usageStatistics" => SessionQuery::Usage,
        "artifactsDir" => SessionQuery::ArtifactsDir,
        "artifactPath" => SessionQuery::ArtifactPath(id()),
        other => return Err(OpError::new(format!("the session has no `{other}`"))),
    };
    Ok(host.session(&query))
}

/// Adds to the session. The second argument says what, the third is it.
pub(super) fn write(host: &dyn Host, args: &Args<'_>) -> Result<Json, OpError> {
    let value = args.json(2);
    let change = match args.text(1)?.as_str() {
        "message" => SessionChange::Message(value),
        "entry" => SessionChange::Entry(value),
        "customMessage" => SessionChange::CustomMessage(value),
        "artifact" => SessionChange::Artifact(value),
        other => return Err(OpError::new(format!("the session takes no `{other}`"))),
    };
    Ok(host.write_session(&change)?)
}
