//! The events of rules: all of them, under their neutral names.

use std::sync::LazyLock;
use std::time::Duration;

use crate::event::{Abilities, DialectEvent, EventKind, EventSpec, MergeRule, Occurrences, Stage};

static COLUMNS: LazyLock<Box<[DialectEvent]>> =
    LazyLock::new(|| EventKind::all().map(|kind| neutral(kind.spec())).collect());

/// The event as rules know it.
pub(super) fn column(kind: EventKind) -> Option<&'static DialectEvent> {
    COLUMNS.get(kind as usize)
}

fn neutral(spec: &'static EventSpec) -> DialectEvent {
    let gates = spec.is_gating();
    let can = Abilities::STOP.union(Abilities::ADD_CONTEXT);
    DialectEvent {
        name: spec.name,
        matched_on: None,
        fields: spec.fields,
        can: if gates { can.union(Abilities::DENY).union(Abilities::ASK) } else { can },
        gates,
        fold: MergeRule::AnyDenies,
        stage: Stage::Parallel,
        timeout: Duration::from_secs(60),
        occurrences: Occurrences::All,
    }
}
