//! The events of closures: all of them, as they are. A closure may answer with anything.

use std::sync::LazyLock;
use std::time::Duration;

use crate::event::{Abilities, Column, EventKind, EventSpec, Fold, Occurrences, Stage};

static COLUMNS: LazyLock<Box<[Column]>> = LazyLock::new(|| EventKind::all().map(|kind| neutral(kind.spec())).collect());

/// The event as closures know it.
pub(super) fn column(kind: EventKind) -> Option<&'static Column> {
    COLUMNS.get(kind as usize)
}

fn neutral(spec: &'static EventSpec) -> Column {
    let gates = spec.is_gating();
    Column {
        name: spec.name,
        matched_on: spec.subject,
        fields: spec.fields,
        can: if gates { Abilities::ALL } else { Abilities::ALL.difference(Abilities::DENY) },
        gates,
        fold: Fold::AnyDenies,
        stage: Stage::Chain,
        timeout: Duration::from_secs(60),
        occurrences: Occurrences::All,
    }
}
