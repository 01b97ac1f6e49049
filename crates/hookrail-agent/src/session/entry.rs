//! One entry of a session: its ID, its parent, its kind and its fields.

use hookrail::{Json, JsonObject};

use crate::clock;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEntryKind {
    /// A message of the conversation.
    Message,
    /// A text for the model from a hook, a rule or a reminder.
    System,
    /// A summary that replaces everything before `firstKeptEntryId`.
    Compaction,
    /// A summary of the branch of the tree that was left.
    BranchSummary,
    /// The model does not see what is before this entry.
    Cleared,
    /// An entry of a hook, which the model does not see.
    Custom,
    /// A message that a hook added to the conversation.
    CustomMessage,
    /// The list of tasks as it is from now on.
    Todo,
    /// The receipt of an operation. Not part of the tree.
    Receipt,
    /// A move to another entry of the tree. Not part of the tree.
    Leaf,
}

const NAMES: [(SessionEntryKind, &str); 10] = [
    (SessionEntryKind::Message, "message"),
    (SessionEntryKind::System, "system"),
    (SessionEntryKind::Compaction, "compaction"),
    (SessionEntryKind::BranchSummary, "branch_summary"),
    (SessionEntryKind::Cleared, "cleared"),
    (SessionEntryKind::Custom, "custom"),
    (SessionEntryKind::CustomMessage, "custom_message"),
    (SessionEntryKind::Todo, "todo"),
    (SessionEntryKind::Receipt, "receipt"),
    (SessionEntryKind::Leaf, "leaf"),
];

impl SessionEntryKind {
    /// Returns the name in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("message", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Returns whether entries of this kind are part of the tree.
    pub(crate) fn in_tree(self) -> bool {
        !matches!(self, Self::Receipt | Self::Leaf)
    }
}

/// One entry.
#[derive(Clone, Debug)]
pub struct SessionEntry {
    /// The ID.
    pub id: String,
    /// The entry before it.
    pub parent: Option<String>,
    /// The kind.
    pub kind: SessionEntryKind,
    /// The whole line.
    line: JsonObject,
}

impl SessionEntry {
    pub(super) fn new(id: String, parent: Option<String>, kind: SessionEntryKind, fields: &[(&str, Json)]) -> Self {
        let mut line = JsonObject::new();
        line.set("type", Json::string(kind.name()));
        line.set("id", Json::string(&id));
        line.set("parentId", parent.as_deref().map_or_else(Json::null, Json::string));
        line.set("timestamp", Json::string(&clock::iso(clock::now())));
        for (name, value) in fields {
            line.set(*name, value.clone());
        }
        Self { id, parent, kind, line }
    }

    /// Reads a line; none if it is not an entry.
    pub(super) fn read(line: &Json) -> Option<Self> {
        let line = line.as_object()?;
        let text = |name: &str| line.get(name).and_then(Json::as_str);
        let kind = SessionEntryKind::from_name(&text("type")?)?;
        Some(Self { id: text("id")?, parent: text("parentId"), kind, line })
    }

    /// Returns when the entry was recorded, in milliseconds since 1970; none for an entry without a time.
    pub(crate) fn milliseconds(&self) -> Option<u64> {
        clock::read_iso(&self.text("timestamp")?)
    }

    /// Returns the line as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.line.to_json()
    }

    /// Returns a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.line.get(name)
    }

    /// Returns a field that is a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.field(name).and_then(Json::as_str)
    }
}
