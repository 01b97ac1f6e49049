//! The configuration in force, with the plans that were made under it.
//!
//! The plan of an event depends on one short text, mostly the tool's name, and a session uses the same few tools again
//! and again. The plan of a text that occurs twice is cached in a slot that is chosen by a hash of the text, so the
//! number of plans is bounded for any names. A new configuration starts with an empty cache.

use std::sync::{Arc, LazyLock, Mutex};

use hookrail_spawn::lock_mutex;

use crate::dialect::snapshot::Snapshot;
use crate::dialect_id::DialectId;
use crate::event::{Event, EventKind};
use crate::firing::Plan;
use crate::firing::rules::MatchedRules;
use crate::json::Json;
use crate::rules::Purpose;
use crate::tools::ToolMeaning;

/// The number of cached plans. Two texts with the same slot replace each other, which costs planning again and nothing
/// else.
const PLACES: usize = 256;

/// The longest text whose plan is cached, in bytes.
const LONGEST: usize = 256;

/// A snapshot and its cached plans.
#[derive(Debug)]
pub(super) struct ActiveConfiguration {
    pub(super) snapshot: Arc<Snapshot>,
    plans: Box<[Mutex<CachedPlan>]>,
}

/// The last text of a slot, and its plan.
#[derive(Debug, Default)]
struct CachedPlan {
    /// The kind of the event, the text and what the tool of that name is: all that a plan depends on.
    event: Option<EventKind>,
    text: String,
    tool: ToolMeaning,
    /// The plan, if the text has occurred at least twice. For a tool that is called once, caching would only cost the
    /// time of dropping the replaced plan: a third of the time of planning one hook.
    plan: Option<Arc<Plan>>,
}

impl CachedPlan {
    fn is_for(&self, event: EventKind, text: &str, tool: ToolMeaning) -> bool {
        self.event == Some(event) && self.text == text && self.tool == tool
    }

    /// The plan, if it was made for an event like this.
    fn plan_for(&self, event: EventKind, text: &str, tool: ToolMeaning) -> Option<Arc<Plan>> {
        self.plan.as_ref().filter(|_| self.is_for(event, text, tool)).cloned()
    }

    /// Remembers a text in place of the one before. Returns the plan of that one, to be dropped without the lock.
    fn remember(&mut self, event: EventKind, text: &str, tool: ToolMeaning) -> Option<Arc<Plan>> {
        self.event = Some(event);
        self.tool = tool;
        self.text.clear();
        self.text.push_str(text);
        self.plan.take()
    }
}

impl Default for ActiveConfiguration {
    fn default() -> Self {
        Self::new(Snapshot::default())
    }
}

impl ActiveConfiguration {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        let plans = (0..PLACES).map(|_| Mutex::default()).collect();
        Self { snapshot: Arc::new(snapshot), plans }
    }

    /// The plan for an event.
    pub(super) fn plan(&self, event: &Event, purpose: Purpose) -> Arc<Plan> {
        let tool = self.snapshot.tools.meaning(event);
        let rules = MatchedRules::of(&self.snapshot, event, purpose);
        if !rules.is_empty() {
            return Arc::new(Plan::about_tool(&self.snapshot, event, tool, rules));
        }
        let make = || Arc::new(Plan::about_tool(&self.snapshot, event, tool, MatchedRules::default()));
        let Some(text) = deciding_text(event) else { return make() };
        let Some(place) = self.place(event.kind(), text) else { return make() };
        let mut kept = lock_mutex(place);
        if let Some(plan) = kept.plan_for(event.kind(), text, tool) {
            return plan;
        }
        if !kept.is_for(event.kind(), text, tool) {
            let before = kept.remember(event.kind(), text, tool);
            drop(kept);
            drop(before);
            return make();
        }
        drop(kept);
        // Planned without the lock: with very many hooks a plan takes a moment.
        let plan = make();
        let mut kept = lock_mutex(place);
        if kept.is_for(event.kind(), text, tool) {
            kept.plan = Some(Arc::clone(&plan));
        }
        plan
    }

    /// The cached plan for events of a kind with this text, such as a tool's name, if nothing else decides.
    pub(super) fn cached_plan(&self, event: EventKind, text: &str) -> Option<Arc<Plan>> {
        // With a table, a rule or a condition the plan also depends on what the input carries.
        let has_conditions = || self.snapshot.conditional(event).next().is_some();
        if self.snapshot.tools.table().is_some() || !self.snapshot.rules(event).is_empty() || has_conditions() {
            return None;
        }
        lock_mutex(self.place(event, text)?).plan_for(event, text, ToolMeaning::AsGiven)
    }

    fn place(&self, event: EventKind, text: &str) -> Option<&Mutex<CachedPlan>> {
        let place = usize::try_from(fingerprint(event, text) % PLACES as u64).ok()?;
        self.plans.get(place)
    }
}

/// A hash of the event and the text, eight bytes at a time. It only has to be fast; a collision costs planning again.
fn fingerprint(event: EventKind, text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks();
    let last = rest.iter().fold(text.len() as u64, |last, byte| last << 8 | u64::from(*byte));
    let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain([last]);
    words.fold(event as u64, |number, word| (number ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32))
}

/// By the number of the event: the only field that the matchers of dialects are compared with, and nothing if there are several.
/// The empty name is that of no field.
static DECIDING_FIELDS: LazyLock<Box<[Option<&'static str>]>> =
    LazyLock::new(|| EventKind::all().map(deciding_field).collect());

fn deciding_field(event: EventKind) -> Option<&'static str> {
    let mut fields = DialectId::ORDER.into_iter().filter_map(|dialect| event.spec().matched_on(dialect));
    let field = fields.next().unwrap_or_default();
    fields.all(|other| other == field).then_some(field)
}

/// The text of that field; nothing if it is too long to be cached or contains escapes, or if something else decides too.
fn deciding_text(event: &Event) -> Option<&str> {
    // A plan also depends on whether every dialect takes part. An event in which some do not is too rare to be cached.
    if !event.is_for_all() {
        return None;
    }
    let field = DECIDING_FIELDS.get(event.kind() as usize).copied()??;
    // Some dialects add the server to a tool's name, and look for the type of a sub-agent in several fields.
    if field == "agent" || event.field("mcp_context").is_some() {
        return None;
    }
    let text = event.field(field).map_or(Some(""), Json::plain_str)?;
    (text.len() <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(in_force: &ActiveConfiguration, event: &Event) -> Arc<Plan> {
        in_force.plan(event, Purpose::Event)
    }

    fn event(tool: &str) -> Event {
        Event::new(EventKind::BeforeTool, "/p").with("tool_name", Json::string(tool))
    }

    #[test]
    fn a_plan_is_kept_from_the_second_event_about_the_same_tool() {
        let in_force = ActiveConfiguration::default();
        let once = plan(&in_force, &event("edit"));
        let first = plan(&in_force, &event("edit"));
        assert!(!Arc::ptr_eq(&once, &first));
        assert!(Arc::ptr_eq(&first, &plan(&in_force, &event("edit").with("tool_input", Json::empty_object()))));
        assert!(!Arc::ptr_eq(&first, &plan(&in_force, &event("write"))));
        let after = plan(&in_force, &Event::new(EventKind::AfterTool, "/p").with_text("tool_name", "edit"));
        assert!(!Arc::ptr_eq(&first, &after));
        assert_eq!(after.event, EventKind::AfterTool);
    }

    #[test]
    fn two_texts_in_one_place_push_each_other_out() {
        let in_force = ActiveConfiguration::default();
        let place = |tool: &str| fingerprint(EventKind::BeforeTool, tool) % PLACES as u64;
        let other = (0..).map(|number| format!("tool-{number}")).find(|name| place(name) == place("edit")).unwrap();
        let twice = |tool: &str| (plan(&in_force, &event(tool)), plan(&in_force, &event(tool))).1;
        let first = twice("edit");
        let pushing = twice(&other);
        assert!(Arc::ptr_eq(&pushing, &plan(&in_force, &event(&other))));
        assert!(!Arc::ptr_eq(&first, &plan(&in_force, &event("edit"))));
    }

    #[test]
    fn a_long_text_is_not_kept() {
        let in_force = ActiveConfiguration::default();
        let long = event(&"x".repeat(LONGEST + 1));
        assert!(!Arc::ptr_eq(&plan(&in_force, &long), &plan(&in_force, &long)));
    }
}
