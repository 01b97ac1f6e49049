//! The macro with which dialects declare their events, and look-ups over all of them.

use super::DialectId;
use crate::event::{DialectEvent, EventKind, EventSpec, FieldSpec};

/// Declares the events of a dialect as the function `column`: each as a column over a common base. A field that the event
/// does not have does not compile. The dialect has no other events, and no hook can be configured for one.
macro_rules! columns {
    (
        $($kind:ident => $base:ident { name: $name:literal, fields: [$($field:ident),* $(,)?] $(, $key:ident: $value:expr)* $(,)? })*
    ) => {
        /// The event as this dialect knows it.
        pub(super) fn column(kind: $crate::event::EventKind) -> Option<&'static $crate::event::DialectEvent> {
            use $crate::event::{DialectEvent, EventKind};
            match kind {
                $(EventKind::$kind => {
                    static COLUMN: DialectEvent = DialectEvent {
                        name: $name,
                        fields: &[$($crate::dialect::columns::field(EventKind::$kind, stringify!($field))),*],
                        $($key: $value,)*
                        ..$base
                    };
                    Some(&COLUMN)
                })*
                _ => None,
            }
        }
    };
}

pub(crate) use columns;

/// A field of an event, while columns are compiled.
#[expect(clippy::panic, reason = "the compiler evaluates it, and reports a field that the event does not have")]
pub(super) const fn field(kind: EventKind, name: &str) -> FieldSpec {
    match kind.spec().field(name) {
        Some(field) => *field,
        None => panic!("the event has no such field"),
    }
}

impl EventSpec {
    /// The event as that dialect knows it; none if the dialect does not have it.
    #[must_use]
    pub fn column(&self, dialect: DialectId) -> Option<&'static DialectEvent> {
        dialect.contract().column(self.kind)
    }

    /// Whether a deny of a hook of that dialect has an effect. For a dialect without the event the answer is yes.
    #[must_use]
    pub fn gated_by(&self, dialect: DialectId) -> bool {
        self.is_gating() && self.column(dialect).is_none_or(|column| column.gates)
    }

    /// The field a matcher of that dialect is compared with.
    #[must_use]
    pub fn matched_on(&self, dialect: DialectId) -> Option<&'static str> {
        self.column(dialect)?.matched_on
    }
}

/// Finds an event by its name in any dialect or its neutral one.
#[must_use]
pub fn find_event(name: &str) -> Option<EventKind> {
    let called = |kind: &EventKind| {
        let mut dialects = DialectId::CONFIGURED.into_iter();
        kind.name() == name || dialects.any(|dialect| kind.spec().column(dialect).is_some_and(|it| it.name == name))
    };
    EventKind::all().find(called)
}

/// The names of the events of a dialect.
pub(super) fn event_names(dialect: DialectId) -> impl Iterator<Item = &'static str> {
    EventKind::all().filter_map(move |kind| kind.spec().column(dialect)).map(|column| column.name)
}

/// Finds an event by its name in a dialect.
pub(crate) fn event_named(dialect: DialectId, name: &str) -> Option<EventKind> {
    EventKind::all().find(|kind| kind.spec().column(dialect).is_some_and(|column| column.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Abilities;

    fn columns() -> impl Iterator<Item = (EventKind, &'static DialectEvent)> {
        DialectId::ORDER
            .into_iter()
            .flat_map(|dialect| EventKind::all().filter_map(move |kind| Some((kind, kind.spec().column(dialect)?))))
    }

    #[test]
    fn a_name_means_one_event() {
        for (kind, column) in columns() {
            assert_eq!(find_event(kind.name()), Some(kind));
            assert_eq!(find_event(column.name), Some(kind), "{}", column.name);
        }
        assert_eq!(find_event("beforetool"), None);
    }

    #[test]
    fn a_deny_counts_only_in_events_that_can_be_denied_and_only_such_columns_can_deny() {
        for (kind, column) in columns() {
            assert!(!column.gates || kind.spec().is_gating(), "{} gates, {kind} does not", column.name);
            assert!(
                !column.can.includes(Abilities::DENY) || column.gates,
                "{} can deny and does not gate",
                column.name
            );
        }
    }

    #[test]
    fn every_gating_event_is_gated_by_a_dialect() {
        for kind in EventKind::all().filter(|kind| kind.spec().is_gating()) {
            assert!(DialectId::CONFIGURED.into_iter().any(|dialect| kind.spec().gated_by(dialect)), "{kind}");
        }
    }

    #[test]
    fn a_matcher_is_compared_with_a_field_the_column_has() {
        for (_, column) in columns() {
            if let Some(field) = column.matched_on {
                assert!(column.fields.iter().any(|known| known.name == field), "{}", column.name);
            }
        }
    }
}
