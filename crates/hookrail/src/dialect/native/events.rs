//! The events of closures: all of them, as they are. A closure may answer with anything.

use std::sync::LazyLock;
use std::time::Duration;

use crate::event::{Abilities, DialectEvent, EventKind, EventSpec, MergeRule, Occurrences, Stage};

static COLUMNS: LazyLock<Box<[DialectEvent]>> =
    LazyLock::new(|| EventKind::all().map(|kind| neutral(kind.spec())).collect());

/// The event as closures know it.
pub(super) fn column(kind: EventKind) -> Option<&'static DialectEvent> {
    COLUMNS.get(kind as usize)
}

fn neutral(spec: &'static EventSpec) -> DialectEvent {
    let gates = spec.is_gating();
    let of_gates = Abilities::DENY.union(Abilities::ASK);
    let can = Abilities::ALL.difference(Abilities::DENY_RESULT);
    let can = if gates { can } else { can.difference(of_gates) };
    let can = if spec.kind == EventKind::Prompt { can } else { can.difference(Abilities::REPLACE_PROMPT) };
    DialectEvent {
        name: spec.name,
        matched_on: spec.subject,
        fields: spec.fields,
        can,
        gates,
        fold: MergeRule::AnyDenies,
        stage: Stage::Chain,
        timeout: Duration::from_secs(60),
        occurrences: Occurrences::All,
    }
}
