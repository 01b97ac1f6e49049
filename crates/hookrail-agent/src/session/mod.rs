//! Sessions: a tree of entries and the current entry, in a file to which complete lines are added.
//!
//! A session knows which of its entries the model sees. It does not know hooks, models or the screen.

mod entry;
mod file;
mod order;
mod store;

pub use entry::{SessionEntry, SessionEntryKind};
pub use file::DamagedLine;
pub use store::{SessionStore, StoredSession};

use std::path::Path;

use hookrail::{Json, JsonObject};

use crate::error::AgentError;
use crate::message::{RequestedCall, calls_of, content_text, has_results, message, text_message, tool_response};
use file::{SessionFile, SessionFileContent, SessionFileError};

/// One session.
#[derive(Debug)]
pub struct Session {
    id: String,
    header: Json,
    entries: Vec<SessionEntry>,
    leaf: Option<String>,
    next: u64,
    lines: Option<SessionFile>,
    /// The reason why an entry could not be recorded, until the work that depends on it has ended.
    unrecorded: Option<String>,
}

impl Session {
    /// Makes a session without a file, such as that of a sub-agent.
    pub(crate) fn in_memory(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            header: header(id, Path::new(""), None),
            entries: Vec::new(),
            leaf: None,
            next: 1,
            lines: None,
            unrecorded: None,
        }
    }

    /// Creates a session in a new file.
    fn create(file: &Path, id: &str, cwd: &Path, parent: Option<&str>) -> Result<Self, AgentError> {
        let header = header(id, cwd, parent);
        let lines = SessionFile::create(file, &header)?;
        Ok(Self { header, lines: Some(lines), ..Self::in_memory(id) })
    }

    /// Opens a session for this process alone. Returns also the lines that could not be read.
    fn open(file: &Path) -> Result<(Self, Vec<DamagedLine>), SessionFileError> {
        let (lines, found) = SessionFile::open(file)?;
        let (mut session, damage) = Self::from_content(file, found);
        session.lines = Some(lines);
        Ok((session, damage))
    }

    /// Reads a session that another process may be writing. Entries added to it are not written to the file.
    fn read(file: &Path) -> Result<(Self, Vec<DamagedLine>), AgentError> {
        SessionFile::read(file).map(|found| Self::from_content(file, found))
    }

    fn from_content(file: &Path, found: SessionFileContent) -> (Self, Vec<DamagedLine>) {
        let fallback = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let mut session = Self::in_memory(&fallback);
        for line in &found.lines {
            let Some(entry) = SessionEntry::read(line) else {
                session.take_header(line);
                continue;
            };
            session.add_entry(entry);
        }
        (session, found.damage)
    }

    fn take_header(&mut self, line: &Json) {
        let Some(object) = line.as_object() else { return };
        if object.get("type").and_then(Json::as_str).as_deref() == Some("session") {
            if let Some(id) = object.get("id").and_then(Json::as_str) {
                self.id = id;
            }
            self.header = line.clone();
        }
    }

    /// Adds an entry from the file. If its parent was lost, its parent becomes the last entry before it.
    fn add_entry(&mut self, mut entry: SessionEntry) {
        if let Some(used) = entry.id.strip_prefix('e').and_then(|number| number.parse::<u64>().ok()) {
            self.next = self.next.max(used + 1);
        }
        if entry.kind == SessionEntryKind::Leaf {
            self.leaf = entry.text("leafId").filter(|id| self.entry(id).is_some());
        } else if entry.kind.in_tree() {
            if entry.parent.as_deref().is_some_and(|parent| self.entry(parent).is_none()) {
                entry.parent.clone_from(&self.leaf);
            }
            self.leaf = Some(entry.id.clone());
        }
        self.entries.push(entry);
    }

    /// Returns the session's ID.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the session's file.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.lines.as_ref().map(SessionFile::path)
    }

    /// Returns the path of the file as text; empty if there is none.
    pub(crate) fn file_text(&self) -> String {
        self.file().map(|file| file.display().to_string()).unwrap_or_default()
    }

    /// Returns the first line.
    #[must_use]
    pub fn header(&self) -> &Json {
        &self.header
    }

    /// Returns all entries, in the order they were added.
    #[must_use]
    pub fn entries(&self) -> &[SessionEntry] {
        &self.entries
    }

    /// Returns the ID of the current entry.
    #[must_use]
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Returns the entry with this ID.
    #[must_use]
    pub fn entry(&self, id: &str) -> Option<&SessionEntry> {
        self.entries.iter().rev().find(|entry| entry.id == id)
    }

    /// Adds an entry after the current one.
    pub(crate) fn append(&mut self, kind: SessionEntryKind, fields: &[(&str, Json)]) -> Result<String, AgentError> {
        let id = format!("e{}", self.next);
        let parent = if kind.in_tree() { self.leaf.clone() } else { None };
        let entry = SessionEntry::new(id.clone(), parent, kind, fields);
        self.write(&entry.to_json())?;
        self.next += 1;
        if kind.in_tree() {
            self.leaf = Some(id.clone());
        }
        self.entries.push(entry);
        Ok(id)
    }

    /// Adds a message of the conversation.
    pub(crate) fn append_message(&mut self, message: &Json) -> Result<String, AgentError> {
        self.append(SessionEntryKind::Message, &[("message", message.clone())])
    }

    /// Moves to another entry, or to the root.
    pub(crate) fn move_to(&mut self, id: Option<&str>) -> Result<(), AgentError> {
        self.append(SessionEntryKind::Leaf, &[("leafId", id.map_or_else(Json::null, Json::string))])?;
        self.leaf = id.map(str::to_owned);
        Ok(())
    }

    /// Copies entries of another session, with their IDs.
    pub(crate) fn copy(&mut self, entries: &[SessionEntry]) -> Result<(), AgentError> {
        for entry in entries {
            self.write(&entry.to_json())?;
            self.add_entry(entry.clone());
        }
        Ok(())
    }

    fn write(&mut self, line: &Json) -> Result<(), AgentError> {
        let written = self.lines.as_mut().map_or(Ok(()), |lines| lines.append(line));
        self.remember_failure(written)
    }

    /// Waits until all added entries are on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), AgentError> {
        let synced = self.lines.as_mut().map_or(Ok(()), SessionFile::sync);
        self.remember_failure(synced)
    }

    fn remember_failure(&mut self, done: Result<(), AgentError>) -> Result<(), AgentError> {
        if let Err(error) = &done {
            self.unrecorded.get_or_insert_with(|| error.to_string());
        }
        done
    }

    /// Returns the reason why an entry could not be recorded. No further work may depend on it.
    pub(crate) fn unrecorded(&self) -> Option<&str> {
        self.unrecorded.as_deref()
    }

    /// Returns and clears that reason, after the work that depends on it has ended.
    pub(crate) fn take_unrecorded(&mut self) -> Option<String> {
        self.unrecorded.take()
    }

    /// Returns the entries from the root to an entry.
    #[must_use]
    pub fn path_to(&self, id: Option<&str>) -> Vec<&SessionEntry> {
        let mut path = Vec::new();
        let mut at = id.and_then(|id| self.entry(id));
        // A damaged file can make an entry its own ancestor, so a path has at most as many entries as there are.
        while let Some(entry) = at.filter(|_| path.len() <= self.entries.len()) {
            path.push(entry);
            at = entry.parent.as_deref().and_then(|parent| self.entry(parent));
        }
        path.reverse();
        path
    }

    /// Returns the entries from the root to the current one.
    #[must_use]
    pub fn branch(&self) -> Vec<&SessionEntry> {
        self.path_to(self.leaf())
    }

    /// Returns the part of the branch that the model sees, and the summary of what came before it.
    pub(crate) fn visible_entries(&self) -> (Option<&SessionEntry>, Vec<&SessionEntry>) {
        let branch = self.branch();
        let border = branch
            .iter()
            .rposition(|entry| matches!(entry.kind, SessionEntryKind::Compaction | SessionEntryKind::Cleared));
        let Some(border) = border else { return (None, branch) };
        let (before, after) = branch.split_at(border);
        let Some((at, after)) = after.split_first() else { return (None, branch) };
        if at.kind == SessionEntryKind::Cleared {
            return (None, after.to_vec());
        }
        let kept = at.text("firstKeptEntryId");
        let from = before.iter().position(|entry| Some(&entry.id) == kept.as_ref()).unwrap_or(before.len());
        let kept = before.iter().skip(from).chain(after).copied().collect();
        (Some(at), kept)
    }

    /// Returns the messages that are sent to a model.
    #[must_use]
    pub fn contents(&self) -> Vec<Json> {
        self.contents_as(|_, message| message)
    }

    /// Returns the messages that are sent to a model, each changed by a function that also knows its entry.
    pub(crate) fn contents_as(&self, shape: impl Fn(&SessionEntry, Json) -> Json) -> Vec<Json> {
        let (summary, entries) = self.visible_entries();
        let summary = summary.and_then(|entry| Some(shape(entry, summary_content(entry)?)));
        let messages = entries.into_iter().filter_map(|entry| Some(shape(entry, content(entry)?)));
        with_all_results(summary.into_iter().chain(messages))
    }

    /// Returns whether a hook's message asks for a turn that has not run yet.
    #[must_use]
    pub fn wants_turn(&self) -> bool {
        let role = |entry: &SessionEntry| entry.field("message")?.as_object()?.get("role")?.as_str();
        let branch = self.branch();
        let answered = branch.iter().rposition(|entry| role(entry).as_deref() == Some("model"));
        let since = branch.iter().skip(answered.map_or(0, |at| at + 1));
        let wants = |entry: &&SessionEntry| entry.field("triggerTurn").and_then(Json::as_bool) == Some(true);
        since.copied().any(|entry| entry.kind == SessionEntryKind::CustomMessage && wants(&entry))
    }

    /// Returns the present list of tasks, open and completed.
    #[must_use]
    pub fn todos(&self) -> Vec<Json> {
        let last = self.branch().into_iter().rev().find(|entry| entry.kind == SessionEntryKind::Todo);
        last.and_then(|entry| entry.field("todos")?.as_array()).unwrap_or_default()
    }
}

/// Adds a result to every tool call that has none. A process that was killed during a turn leaves such calls, which no
/// model accepts.
fn with_all_results(messages: impl Iterator<Item = Json>) -> Vec<Json> {
    let mut out: Vec<Json> = Vec::new();
    let mut open: Vec<RequestedCall> = Vec::new();
    for message in messages {
        if !open.is_empty() && !has_results(&message) {
            out.push(no_results(&open));
        }
        open = calls_of(&message);
        out.push(message);
    }
    if !open.is_empty() {
        out.push(no_results(&open));
    }
    out
}

fn no_results(calls: &[RequestedCall]) -> Json {
    let why =
        Json::string("the result of this call is not known: the agent was ended, or the result could not be recorded");
    let parts: Vec<Json> = calls.iter().map(|call| tool_response(call, &why, true)).collect();
    message("user", &parts)
}

/// Returns an entry as the model sees it.
fn content(entry: &SessionEntry) -> Option<Json> {
    match entry.kind {
        SessionEntryKind::Message => entry.field("message").cloned(),
        SessionEntryKind::System => Some(text_message("user", &format!("System message: {}", entry.text("text")?))),
        SessionEntryKind::BranchSummary => {
            Some(text_message("user", &format!("What was tried elsewhere, in short:\n\n{}", entry.text("summary")?)))
        }
        SessionEntryKind::CustomMessage => custom_content(entry),
        SessionEntryKind::Compaction
        | SessionEntryKind::Cleared
        | SessionEntryKind::Custom
        | SessionEntryKind::Todo
        | SessionEntryKind::Receipt
        | SessionEntryKind::Leaf => None,
    }
}

/// Returns a compaction as the model sees it, in the place of what came before.
fn summary_content(entry: &SessionEntry) -> Option<Json> {
    Some(text_message("user", &format!("The conversation so far, in short:\n\n{}", entry.text("summary")?)))
}

/// Returns a message of a hook as the model sees it, which is as the user's. It keeps its type and its details, by which
/// modules that look at the request know their own messages.
fn custom_content(entry: &SessionEntry) -> Option<Json> {
    let mut message = text_message("user", &content_text(entry.field("content")?)).as_object()?;
    for name in ["customType", "display", "details"] {
        if let Some(value) = entry.field(name) {
            message.set(name, value.clone());
        }
    }
    Some(message.to_json())
}

fn header(id: &str, cwd: &Path, parent: Option<&str>) -> Json {
    let mut header = JsonObject::new();
    header.set("type", Json::string("session"));
    header.set("version", crate::message::number(1));
    header.set("id", Json::string(id));
    header.set("timestamp", Json::string(&crate::clock::iso(crate::clock::now())));
    header.set("cwd", Json::string(&cwd.display().to_string()));
    if let Some(parent) = parent {
        header.set("parentSession", Json::string(parent));
    }
    header.to_json()
}

#[cfg(test)]
mod tests;
