//! Planning: which hooks run for an event, in which order and mode.
//!
//! Planning is pure, and the same for every caller: the live engine, `explain` and the tests. It looks only at hooks
//! whose matchers match; `reasons` determines why the other hooks do not run, when a caller asks for it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::reasons;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::registry::DialectId;
use crate::event::{Event, EventKind, Occurrences, Stage};
use crate::hook::{Action, Authority, Hook, OnFailure, Trust};
use crate::matcher::MatchResult;
use crate::skips::{Skipped, Skips, UnplannedHooks};
use crate::snapshot::{Snapshot, Subscribers};

/// What would happen.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The event.
    pub event: EventKind,
    /// Each dialect's part, in the order they take part.
    pub parts: Vec<PartPlan>,
    /// The hooks that are not enforced: each is a part of its own, runs beside the event as it was fired, and has no effect.
    pub shadow: Vec<PartPlan>,
    /// Hooks that will not run.
    pub skipped: Skips,
    /// What planning noticed.
    pub diagnostics: Vec<Diagnostic>,
}

/// One dialect's part of a plan.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// The dialect.
    pub dialect: DialectId,
    /// How its hooks run.
    pub stage: Stage,
    /// The hooks that run, in order.
    pub hooks: Vec<PlannedHook>,
}

/// A hook that runs, with its settings after deduplication.
#[derive(Clone, Debug)]
pub struct PlannedHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Its timeout: the longest of all its duplicates.
    pub timeout: Duration,
    /// Its failure policy: the strictest of all its duplicates.
    pub on_failure: OnFailure,
    /// Its authority: the highest of all its duplicates.
    pub authority: Authority,
}

impl PlannedHook {
    /// Whether it is a guard that has changed since it was granted. It does not run, and is treated as a failed run.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        matches!(self.hook.trust, Trust::Changed(_))
    }

    /// Whether it guards the event, itself or through one of its duplicates.
    #[must_use]
    pub fn guards(&self, event: EventKind) -> bool {
        self.authority == Authority::System || self.on_failure != OnFailure::Allow || self.hook.guards(event)
    }
}

impl Plan {
    /// Plans an event.
    #[must_use]
    pub fn new(snapshot: &Arc<Snapshot>, event: &Event) -> Self {
        let unplanned = Arc::new(Unplanned {
            snapshot: Arc::clone(snapshot),
            input: PlanInput::new(snapshot, event),
            skipped: OnceLock::new(),
        });
        let skipped = Skips::of_plan(Arc::clone(&unplanned) as Arc<dyn UnplannedHooks>);
        let mut plan =
            Self { event: event.kind(), parts: Vec::new(), shadow: Vec::new(), skipped, diagnostics: Vec::new() };
        for dialect in DialectId::ORDER {
            plan.add_part(snapshot, &unplanned.input, dialect);
        }
        plan
    }

    /// How the hooks of that dialect run. A part without hooks is parallel.
    #[must_use]
    pub fn stage_of(&self, dialect: DialectId) -> Stage {
        self.parts.iter().find(|part| part.dialect == dialect).map_or(Stage::Parallel, |part| part.stage)
    }

    /// The hooks that run, of all dialects in order.
    pub fn hooks(&self) -> impl Iterator<Item = (&PartPlan, &PlannedHook)> {
        self.parts.iter().flat_map(|part| part.hooks.iter().map(move |hook| (part, hook)))
    }

    /// The hooks that run without an effect, of all dialects in order.
    pub fn shadow_hooks(&self) -> impl Iterator<Item = (&PartPlan, &PlannedHook)> {
        self.shadow.iter().flat_map(|part| part.hooks.iter().map(move |hook| (part, hook)))
    }

    /// Whether no hook runs at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.shadow.is_empty()
    }

    fn add_part(&mut self, snapshot: &Snapshot, input: &PlanInput, dialect: DialectId) {
        let Some(subscribers) = snapshot.subscribers(input.event, dialect) else { return };
        if !input.concerns(dialect) {
            return;
        }
        let (mut planned, mut shadow) = (Vec::new(), Vec::new());
        let subject = input.subject_for(snapshot, dialect);
        for (hook, verdict) in matching(subscribers, subject.as_ref()) {
            if reasons::skip_reason(snapshot, hook, input.event).is_some() {
                continue;
            }
            if verdict == MatchResult::LimitReached && !hook.is_shadow() {
                self.diagnostics.push(limit_reached(hook, subject.as_ref().map_or("", |subject| subject.text)));
            }
            match hook.action {
                Action::NotExecutable(_) => {}
                // They leave before anything is decided that concerns the others.
                _ if hook.is_shadow() => shadow.push(hook),
                _ => planned.push(hook),
            }
        }
        for only in without_duplicates(&shadow, |_, _| {}) {
            let stage = dialect.contract().stage(input.event, &[&only.hook]);
            self.shadow.push(PartPlan { dialect, stage, hooks: vec![only] });
        }
        if planned.is_empty() {
            return;
        }
        // The mode is decided before duplicates leave, so that dropping the one sequential entry cannot turn a
        // chain of guards into a race.
        let stage = dialect.contract().stage(input.event, &planned);
        let hooks = without_duplicates(&planned, |_, _| {});
        self.parts.push(PartPlan { dialect, stage, hooks });
    }
}

fn limit_reached(hook: &Hook, subject: &str) -> Diagnostic {
    let message = format!("the matcher of hook `{hook}` took too many steps on `{subject}` and counts as matching");
    Diagnostic::new(Code::MatcherLimit, message)
        .at(hook.origin.location.clone())
        .hint("write the pattern without nested repetition")
}

/// The input from which the reasons of unplanned hooks are computed, and the reasons once they are.
struct Unplanned {
    snapshot: Arc<Snapshot>,
    input: PlanInput,
    skipped: OnceLock<Vec<Skipped>>,
}

impl UnplannedHooks for Unplanned {
    fn skipped(&self) -> &[Skipped] {
        self.skipped.get_or_init(|| reasons::skipped_hooks(&self.snapshot, &self.input))
    }
}

/// Everything of an event that its plan depends on.
pub(super) struct PlanInput {
    pub(super) event: EventKind,
    /// Whether the agent itself starts or ends with the event.
    launch: bool,
    /// The text that each dialect's matchers are compared with, in the order of the dialects. One is kept with every
    /// plan, so it holds nothing that can be found again.
    subjects: [Option<Box<str>>; DialectId::ORDER.len()],
}

/// What the matchers of one dialect are compared with.
pub(super) struct Subject<'a> {
    pub(super) field: &'static str,
    pub(super) text: &'a str,
    /// The name of the same tool in the dialect, if the host has declared one. A matcher may match either.
    pub(super) in_dialect: Option<&'a str>,
}

impl PlanInput {
    fn new(snapshot: &Snapshot, event: &Event) -> Self {
        let subject = |dialect: DialectId| {
            snapshot.subscribers(event.kind(), dialect)?;
            let field = event.kind().spec().matched_on(dialect)?;
            Some(dialect.contract().matcher_subject(event, field).into_boxed_str())
        };
        Self { event: event.kind(), launch: event.is_launch(), subjects: DialectId::ORDER.map(subject) }
    }

    /// Whether the dialect takes part in this occurrence of the event.
    pub(super) fn concerns(&self, dialect: DialectId) -> bool {
        let occurrences = self.event.spec().column(dialect).map_or(Occurrences::All, |column| column.occurrences);
        match occurrences {
            Occurrences::All => true,
            Occurrences::LaunchOnly => self.launch,
        }
    }

    /// The text that the dialect's matchers are compared with; nothing if its hooks for the event have no matchers.
    pub(super) fn subject_for<'a>(&'a self, snapshot: &'a Snapshot, dialect: DialectId) -> Option<Subject<'a>> {
        let field = self.event.spec().matched_on(dialect)?;
        let mut subjects = DialectId::ORDER.into_iter().zip(&self.subjects);
        let text = subjects.find_map(|(other, text)| text.as_deref().filter(|_| other == dialect))?;
        let in_dialect = if field == "tool_name" { snapshot.tools.name_in(dialect, text) } else { None };
        Some(Subject { field, text, in_dialect })
    }
}

/// The hooks that match, in order.
fn matching<'a>(subscribers: &'a Subscribers, subject: Option<&Subject<'_>>) -> Vec<(&'a Arc<Hook>, MatchResult)> {
    match subject {
        Some(subject) => subscribers.matching(subject.text, subject.in_dialect),
        None => subscribers.hooks.iter().map(|hook| (hook, MatchResult::Matches)).collect(),
    }
}

/// The hooks without duplicates of the same work. `dropped` receives each duplicate with the hook that stays.
pub(super) fn without_duplicates(
    matching: &[&Arc<Hook>],
    mut dropped: impl FnMut(&Arc<Hook>, &PlannedHook),
) -> Vec<PlannedHook> {
    let mut kept: Vec<PlannedHook> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for hook in matching {
        // A hook that has changed since it was granted fails under its own policy, so it is neither replaced by a
        // duplicate nor replaces one.
        let work = hook.dialect.contract().work_key(hook).filter(|_| hook.trust.allows());
        let first = work.as_ref().and_then(|work| seen.get(work)).and_then(|at| kept.get_mut(*at));
        if let Some(first) = first {
            first.timeout = first.timeout.max(hook.timeout);
            first.on_failure = first.on_failure.max(hook.on_failure);
            let exec = first.hook.exec.common(hook.exec);
            if exec != first.hook.exec {
                first.hook = Arc::new(Hook { exec, ..Hook::clone(&first.hook) });
            }
            first.authority = first.authority.max(hook.authority());
            // The same command from a place that needs no grant would have run in any case.
            if hook.trust == Trust::NotNeeded && first.hook.trust != Trust::NotNeeded {
                first.hook = Arc::new(Hook { trust: Trust::NotNeeded, ..Hook::clone(&first.hook) });
            }
            dropped(hook, first);
        } else {
            if let Some(work) = work {
                seen.insert(work, kept.len());
            }
            kept.push(PlannedHook {
                hook: Arc::clone(hook),
                timeout: hook.timeout,
                on_failure: hook.policy_in_force(),
                authority: hook.authority(),
            });
        }
    }
    kept
}
