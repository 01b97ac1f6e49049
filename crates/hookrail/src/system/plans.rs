//! The configuration in force, with the plans that were made under it.
//!
//! What an event's plan depends on is a few short texts, above all the tool's name, and a session asks about the same
//! few tools again and again. A plan is kept when it is asked for the second time: to keep one costs as much as to make
//! one, and a name that somebody has invented never comes again. A new configuration begins without plans.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::dialect::registry::DialectId;
use crate::event::{Event, EventKind};
use crate::firing::Plan;
use crate::snapshot::Snapshot;

/// How many plans are kept for one event. When there are more, all are forgotten: somebody is inventing names.
const MOST_PLANS: usize = 512;

/// How many texts are remembered that were asked about once.
const ASKED_ONCE: usize = 256;

/// The longest text that is remembered, in bytes.
const LONGEST: usize = 256;

/// Plans by the text they depend on.
type ByText = HashMap<Box<str>, Arc<Plan>>;

/// A snapshot and its plans.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) snapshot: Arc<Snapshot>,
    /// By the number of the event.
    plans: Box<[RwLock<ByText>]>,
    /// Fingerprints of what was asked about once, each in the place it gives itself. Two that want the same place push each
    /// other out, and two that are equal count as the same text; both only change when a plan is kept.
    asked_once: Box<[AtomicU64; ASKED_ONCE]>,
}

impl Default for InForce {
    fn default() -> Self {
        Self::new(Snapshot::default())
    }
}

impl InForce {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        let plans = EventKind::all().map(|_| RwLock::default()).collect();
        let asked_once = Box::new([const { AtomicU64::new(0) }; ASKED_ONCE]);
        Self { snapshot: Arc::new(snapshot), plans, asked_once }
    }

    /// The plan for an event.
    pub(super) fn plan(&self, event: &Event) -> Arc<Plan> {
        let known = self.plans.get(event.kind() as usize);
        let Some((known, key)) = known.zip(key(event)) else {
            return Arc::new(Plan::new(&self.snapshot, event));
        };
        if let Some(plan) = known.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return Arc::clone(plan);
        }
        let plan = Arc::new(Plan::new(&self.snapshot, event));
        if self.is_new(event.kind(), key) {
            return plan;
        }
        let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_PLANS {
            known.clear();
        }
        known.insert(key.into(), Arc::clone(&plan));
        plan
    }

    /// Whether nobody has asked about that lately. The next time it is not new.
    fn is_new(&self, event: EventKind, key: &str) -> bool {
        let fingerprint = fingerprint(event, key);
        let place = usize::try_from(fingerprint % ASKED_ONCE as u64).ok().and_then(|at| self.asked_once.get(at));
        place.is_none_or(|place| place.swap(fingerprint, Ordering::Relaxed) != fingerprint)
    }
}

/// A number that differs for most texts (FNV-1a). Nothing but speed depends on it.
fn fingerprint(event: EventKind, key: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ event as u64;
    key.bytes().fold(start, |number, byte| (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The text of the one field that the matchers of all dialects are compared with; none when there are several, or when
/// it is too long to be worth remembering.
fn key(event: &Event) -> Option<&str> {
    let spec = event.kind().spec();
    let mut fields = DialectId::ORDER.into_iter().filter_map(|dialect| spec.matched_on(dialect));
    let Some(field) = fields.next() else { return Some("") };
    if fields.any(|other| other != field) {
        return None;
    }
    let text = event.field(field).map_or("", |value| value.text());
    (text.len() <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn event(tool: &str) -> Event {
        Event::new(EventKind::BeforeTool, "/p").with("tool_name", Json::string(tool))
    }

    #[test]
    fn a_plan_is_kept_when_it_is_asked_for_again() {
        let in_force = InForce::default();
        let once = in_force.plan(&event("edit"));
        let first = in_force.plan(&event("edit"));
        assert!(!Arc::ptr_eq(&once, &first));
        assert!(Arc::ptr_eq(&first, &in_force.plan(&event("edit").with("tool_input", Json::empty_object()))));
        assert!(!Arc::ptr_eq(&first, &in_force.plan(&event("write"))));
        assert!(!Arc::ptr_eq(
            &first,
            &in_force.plan(&Event::new(EventKind::AfterTool, "/p").with_text("tool_name", "edit"))
        ));
    }

    #[test]
    fn invented_names_do_not_fill_the_memory() {
        let in_force = InForce::default();
        let kept = || in_force.plans.get(EventKind::BeforeTool as usize).unwrap().read().unwrap();
        for number in 0..3 * MOST_PLANS {
            let _ = in_force.plan(&event(&format!("tool-{number}")));
        }
        assert_eq!(kept().len(), 0, "nobody has asked for any of them again");
        for number in 0..6 * MOST_PLANS {
            let _ = in_force.plan(&event(&format!("tool-{}", number / 2)));
        }
        for _ in 0..2 {
            let _ = in_force.plan(&event(&"x".repeat(LONGEST)));
        }
        let plans = kept();
        assert!(!plans.is_empty());
        assert!(plans.len() <= MOST_PLANS);
        assert!(plans.keys().all(|key| key.len() <= LONGEST));
    }
}
