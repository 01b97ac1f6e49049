//! One line of a session: its identity, its place in the tree, and what it says.

use hookrail::{Json, JsonObject};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A message of the conversation.
    Message,
    /// A text for the model that is nobody's message: a hook's, a rule's, a reminder.
    System,
    /// A summary in place of what came before `firstKeptEntryId`.
    Compaction,
    /// A summary of what was left behind in another place of the tree.
    BranchSummary,
    /// Everything before it is out of the model's sight.
    Cleared,
    /// Something a hook keeps; the model does not see it.
    Custom,
    /// A message a hook put into the conversation.
    CustomMessage,
    /// The list of tasks as it is from now on.
    Todo,
    /// What hooks did to an operation. Not part of the tree.
    Receipt,
    /// The place in the tree is another one from now on. Not part of the tree.
    Leaf,
}

const NAMES: [(EntryKind, &str); 10] = [
    (EntryKind::Message, "message"),
    (EntryKind::System, "system"),
    (EntryKind::Compaction, "compaction"),
    (EntryKind::BranchSummary, "branch_summary"),
    (EntryKind::Cleared, "cleared"),
    (EntryKind::Custom, "custom"),
    (EntryKind::CustomMessage, "custom_message"),
    (EntryKind::Todo, "todo"),
    (EntryKind::Receipt, "receipt"),
    (EntryKind::Leaf, "leaf"),
];

impl EntryKind {
    /// The name in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("message", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Whether entries of this kind have a place in the tree.
    pub(super) fn in_tree(self) -> bool {
        !matches!(self, Self::Receipt | Self::Leaf)
    }
}

/// One entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its identity.
    pub id: String,
    /// The entry before it.
    pub parent: Option<String>,
    /// What it is.
    pub kind: EntryKind,
    /// The whole line.
    line: JsonObject,
}

impl Entry {
    pub(super) fn new(id: String, parent: Option<String>, kind: EntryKind, fields: &[(&str, Json)]) -> Self {
        let mut line = JsonObject::new();
        line.set("type", Json::string(kind.name()));
        line.set("id", Json::string(&id));
        line.set("parentId", parent.as_deref().map_or_else(Json::null, Json::string));
        for (name, value) in fields {
            line.set(*name, value.clone());
        }
        Self { id, parent, kind, line }
    }

    /// Reads a line; none when it is not an entry.
    pub(super) fn read(line: &Json) -> Option<Self> {
        let line = line.as_object()?;
        let text = |name: &str| line.get(name).and_then(Json::as_str);
        let kind = EntryKind::from_name(&text("type")?)?;
        Some(Self { id: text("id")?, parent: text("parentId"), kind, line })
    }

    /// The line as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.line.to_json()
    }

    /// One of its fields.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.line.get(name)
    }

    /// One of its fields, as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.field(name).and_then(Json::as_str)
    }
}
