//! The neutral facts about an event and its fields. No dialect is known here.

use super::kind::EventKind;

/// What is true of an event in every dialect.
#[derive(Debug)]
pub struct EventSpec {
    /// The event.
    pub kind: EventKind,
    /// Its neutral name.
    pub name: &'static str,
    /// When it fires, for people.
    pub fires: &'static str,
    pub(super) gating: bool,
    /// The event's own fields, of all dialects together.
    pub fields: &'static [FieldSpec],
    /// The field that says what the event is about, such as the tool's name. Matchers of closures are compared with it.
    pub subject: Option<&'static str>,
    /// The field that hooks are asked about, where hooks can change it.
    pub judged: Option<&'static str>,
    /// The field that hooks replace as a whole, so that the rewrite of the most authoritative hook comes last. A prompt is
    /// judged and not rewritable: hooks add context to it, and what one adds takes nothing away from another.
    pub rewritable: Option<&'static str>,
}

impl EventSpec {
    /// Whether the event can be denied. A dialect may still say that its own hooks cannot.
    #[must_use]
    pub const fn is_gating(&self) -> bool {
        self.gating
    }

    /// The field of that name.
    #[must_use]
    pub const fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        find(self.fields, name)
    }

    /// The field about which a guard is asked once more when other hooks changed it: only where it can still deny.
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
    /// Whether a hook may rely on it. The engine gives an empty value where the host gives none.
    pub required: bool,
    /// Whether an event without it means nothing, so that an empty value must not stand for it. Programs that take events
    /// from others insist on it.
    pub needed: bool,
    /// Whether it must not be empty.
    pub non_empty: bool,
}

impl FieldSpec {
    pub(super) const fn new(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, required: true, needed: false, non_empty: false }
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

/// Whether two texts are equal, for the compiler: it cannot evaluate `==` of texts.
const fn equal_bytes(one: &[u8], two: &[u8]) -> bool {
    match (one, two) {
        ([first, one @ ..], [second, two @ ..]) => *first == *second && equal_bytes(one, two),
        ([], []) => true,
        _ => false,
    }
}
