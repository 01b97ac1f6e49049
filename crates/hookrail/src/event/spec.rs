//! The neutral facts about an event and its fields. No dialect is known here.

use super::kind::EventKind;

/// What is true of an event in every dialect.
#[derive(Debug)]
pub struct EventSpec {
    /// The event.
    pub kind: EventKind,
    /// Its neutral name.
    pub name: &'static str,
    /// When it fires, as text for users.
    pub fires: &'static str,
    pub(super) gating: bool,
    /// The event's own fields, of all dialects together.
    pub fields: &'static [FieldSpec],
    /// The field that says what the event is about, such as the tool's name. Matchers of closures are compared with it.
    pub subject: Option<&'static str>,
    /// The field that hooks decide about and can change. Each run records the value that its hook received.
    pub judged: Option<&'static str>,
    /// The field that hooks replace as a whole, so that the rewrite of the most authoritative hook comes last. A prompt is
    /// judged and not rewritable: hooks add context to it, and the contexts of several hooks do not conflict.
    pub rewritable: Option<&'static str>,
}

impl EventSpec {
    /// Whether the event can be denied. A dialect may still say that its own hooks cannot.
    #[must_use]
    pub const fn is_gating(&self) -> bool {
        self.gating
    }

    /// Whether the event comes before a call of a tool and can keep it from happening.
    #[must_use]
    pub fn guards_a_call(&self) -> bool {
        self.gating && self.field("tool_input").is_some()
    }

    /// Whether the event gives hooks a part of the conversation, which they may repeat in what they print.
    #[must_use]
    pub fn has_conversation(&self) -> bool {
        self.fields.iter().any(|field| field.conversation != Conversation::None)
    }

    /// The field of that name.
    #[must_use]
    pub const fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        find(self.fields, name)
    }

    /// The field about which a guard is asked again if other hooks changed it. Only gating events have one,
    /// because a guard cannot deny any other.
    #[must_use]
    pub const fn guarded(&self) -> Option<&'static str> {
        if self.gating { self.judged } else { None }
    }
}

/// A field of an event.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    /// The neutral name.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether hooks always receive it. If the host gives no value, the engine passes the empty value of its type.
    pub required: bool,
    /// Whether the host must give it, because the event has no meaning without it. The engine does not check this; programs
    /// that accept events from other programs do.
    pub needed: bool,
    /// Whether it must not be empty.
    pub non_empty: bool,
    /// Whether it holds what the user, the model and the agent said to each other.
    pub conversation: Conversation,
}

impl FieldSpec {
    pub(super) const fn new(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, required: true, needed: false, non_empty: false, conversation: Conversation::None }
    }

    pub(super) const fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    pub(super) const fn needed(self) -> Self {
        Self { needed: true, ..self }
    }

    pub(super) const fn non_empty(self) -> Self {
        Self { non_empty: true, ..self }
    }

    pub(super) const fn conversation(self) -> Self {
        Self { conversation: Conversation::Whole, ..self }
    }

    pub(super) const fn quoting(self) -> Self {
        Self { conversation: Conversation::Inside, ..self }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Text.
    Text,
    /// An object.
    Object,
    /// A list.
    List,
    /// True or false.
    Flag,
    /// A number.
    Number,
    /// Anything.
    Any,
}

/// How much of a field is what the user, the model and the agent said to each other. A program that keeps events does not
/// keep that without being told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// Nothing.
    None,
    /// Some of its members, such as a `prompt`.
    Inside,
    /// All of it.
    Whole,
}

const fn find(fields: &'static [FieldSpec], name: &str) -> Option<&'static FieldSpec> {
    match fields {
        [first, rest @ ..] => {
            if equal_bytes(first.name.as_bytes(), name.as_bytes()) {
                Some(first)
            } else {
                find(rest, name)
            }
        }
        [] => None,
    }
}

/// Whether two texts are equal. A `const fn` cannot use `==` on texts.
const fn equal_bytes(one: &[u8], two: &[u8]) -> bool {
    match (one, two) {
        ([first, one @ ..], [second, two @ ..]) => *first == *second && equal_bytes(one, two),
        ([], []) => true,
        _ => false,
    }
}
