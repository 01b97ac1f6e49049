//! Planning: which hooks run for an event, in which order and mode.
//!
//! Planning is pure, and the same for every caller: the live engine, `explain` and the tests. It looks only at hooks
//! whose matchers match; `reasons` determines why the other hooks do not run, when a caller asks for it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::reasons;
use super::rules::MatchedRules;
use super::subject::{AskedAbout, NO_TOOL, Otherwise, PlanInput, Subject, ambiguous, knows, matching};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::snapshot::Snapshot;
use crate::dialect_id::DialectId;
use crate::event::{Event, EventKind, Stage};
use crate::hook::{Action, Authority, Hook, HookDelivery, OnFailure, Trust};
use crate::matcher::MatchResult;
use crate::outcome::skips::{Skipped, Skips, UnplannedHooks};
use crate::rules::{Purpose, RuleMatch};
use crate::tools::ToolMeaning;

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
    /// The calls that the event's call carries, where hooks are asked about them too. Only what [`HookSystem::explain`] returns has them.
    ///
    /// [`HookSystem::explain`]: crate::HookSystem::explain
    pub calls: Vec<CarriedCallPlan>,
    /// Why a hook runs whose matcher does not name the tool. These are for who asks for the plan; an outcome has none of them.
    pub notes: Vec<Diagnostic>,
    /// What the tool of the event is to the hooks that run.
    pub(crate) tool: ToolMeaning,
    /// What the tool of the event is.
    pub(crate) meaning: ToolMeaning,
}

/// What would happen about a call that another one carries.
#[derive(Clone, Debug)]
pub struct CarriedCallPlan {
    /// The tool, as the call names it.
    pub tool: String,
    /// The plan of the call, with the calls that it carries itself.
    pub plan: Plan,
}

/// One dialect's part of a plan.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// The dialect.
    pub dialect: DialectId,
    /// How its hooks run.
    pub stage: Stage,
    /// What its hooks are asked about.
    pub about: AskedAbout,
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
    /// The neutral tools of the files of a patch that it is asked about.
    pub(crate) file_tools: Vec<&'static str>,
    /// Why it matches, if it is a rule.
    pub rule: Option<Arc<RuleMatch>>,
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
        let rules = MatchedRules::of(snapshot, event, Purpose::Event);
        Self::about_tool(snapshot, event, snapshot.tools.meaning(event), rules)
    }

    /// Plans an event whose tool is this, and which these rules match.
    pub(crate) fn about_tool(snapshot: &Arc<Snapshot>, event: &Event, tool: ToolMeaning, rules: MatchedRules) -> Self {
        let unplanned = Arc::new(Unplanned {
            snapshot: Arc::clone(snapshot),
            input: PlanInput::new(snapshot, event, tool, rules),
            skipped: OnceLock::new(),
        });
        let skipped = Skips::of_plan(Arc::clone(&unplanned) as Arc<dyn UnplannedHooks>);
        let mut plan = Self {
            event: event.kind(),
            parts: Vec::new(),
            shadow: Vec::new(),
            skipped,
            diagnostics: Vec::new(),
            calls: Vec::new(),
            notes: Vec::new(),
            tool,
            meaning: tool,
        };
        if let (ToolMeaning::Ambiguous(_), Some(table)) = (tool, snapshot.tools.table()) {
            plan.notes.push(ambiguous(table, &event.text("tool_name").unwrap_or_default()));
        }
        for dialect in snapshot.subscribed(event.kind()) {
            plan.add_part(snapshot, &unplanned.input, dialect);
            plan.add_other_parts(snapshot, &unplanned.input, dialect);
        }
        if let Some(rules) = unplanned.input.rules() {
            plan.diagnostics.extend(rules.findings.iter().cloned());
            for planned in plan.parts.iter_mut().chain(&mut plan.shadow).flat_map(|part| &mut part.hooks) {
                planned.rule = rules.of_hook(&planned.hook).cloned();
            }
        }
        // Only for a guard that knows other tools an unknown one gets further names of its arguments.
        if matches!(tool, ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_)) && !plan.is_a_guard_reached() {
            plan.tool = ToolMeaning::AsGiven;
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

    /// The shadow hooks, of all dialects in order.
    pub fn shadow_hooks(&self) -> impl Iterator<Item = (&PartPlan, &PlannedHook)> {
        self.shadow.iter().flat_map(|part| part.hooks.iter().map(move |hook| (part, hook)))
    }

    /// Whether no hook runs at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.shadow.is_empty()
    }

    fn is_a_guard_reached(&self) -> bool {
        self.notes.iter().any(|note| note.code == Code::ToolUnknown)
    }

    fn add_part(&mut self, snapshot: &Snapshot, input: &PlanInput, dialect: DialectId) {
        if !input.concerns(dialect) || input.is_known_otherwise(snapshot, dialect) {
            return;
        }
        let subject = input.subject_for(snapshot, dialect);
        let selected = self.select(snapshot, input, dialect, subject.as_ref());
        self.push_parts(dialect, AskedAbout::Event, selected);
    }

    /// Adds the hooks that know only file tools if the tool is a patch, and those that know only patches if it is a file tool.
    fn add_other_parts(&mut self, snapshot: &Snapshot, input: &PlanInput, dialect: DialectId) {
        let others = input.subjects_otherwise(snapshot, dialect);
        if others.is_empty() {
            return;
        }
        let mut files: Vec<PlannedHook> = Vec::new();
        let mut shadow: Vec<PlannedHook> = Vec::new();
        let all = input.is_known_otherwise(snapshot, dialect);
        for Otherwise { about, tool, subject } in others {
            let selected = self.select(snapshot, input, dialect, subject.as_ref());
            match about {
                AskedAbout::EachFile => {
                    let names_a_tool =
                        |planned: &PlannedHook| all || !planned.hook.matcher_in_force().test(NO_TOOL).is_match();
                    for planned in without_duplicates(&selected.planned, |_, _| {}) {
                        let is_new = names_a_tool(&planned);
                        self.add_file_tool(tool.name, planned, is_new, &mut files, |plan| &mut plan.parts);
                    }
                    for planned in without_duplicates(&selected.shadow, |_, _| {}) {
                        let is_new = names_a_tool(&planned);
                        self.add_file_tool(tool.name, planned, is_new, &mut shadow, |plan| &mut plan.shadow);
                    }
                }
                AskedAbout::Patch | AskedAbout::Event => {
                    let is_new =
                        |hook: &&Arc<Hook>| self.planned(hook).is_none() && (all || knows(hook, subject.as_ref()));
                    let planned = selected.planned.into_iter().filter(is_new).collect();
                    let shadow = selected.shadow.into_iter().filter(is_new).collect();
                    self.push_parts(dialect, about, Selected { planned, shadow });
                }
            }
        }
        let only = |hooks: Vec<PlannedHook>| {
            let all: Vec<&Arc<Hook>> = hooks.iter().map(|planned| &planned.hook).collect();
            let stage = dialect.contract().stage(input.event, &all);
            PartPlan { dialect, stage, about: AskedAbout::EachFile, hooks }
        };
        if !files.is_empty() {
            self.parts.push(only(files));
        }
        self.shadow.extend(shadow.into_iter().map(|planned| only(vec![planned])));
    }

    /// Notes that a hook is asked about files of a patch with this tool: where it is planned already, else among those that are
    /// asked about nothing else, if it is to be asked about them.
    fn add_file_tool(
        &mut self,
        tool: &'static str,
        planned: PlannedHook,
        is_asked: bool,
        files: &mut Vec<PlannedHook>,
        parts: impl Fn(&mut Self) -> &mut Vec<PartPlan>,
    ) {
        let hooks = parts(self).iter_mut().flat_map(|part| &mut part.hooks);
        let known = hooks.chain(files.iter_mut()).find(|known| Arc::ptr_eq(&known.hook, &planned.hook));
        match known {
            Some(known) => known.file_tools.push(tool),
            None if !is_asked => {}
            None => files.push(PlannedHook { file_tools: vec![tool], ..planned }),
        }
    }

    /// The hooks that match, without those that cannot run.
    fn select<'s>(
        &mut self,
        snapshot: &'s Snapshot,
        input: &PlanInput,
        dialect: DialectId,
        subject: Option<&Subject<'_>>,
    ) -> Selected<'s> {
        let event = input.event;
        let mut selected = Selected::default();
        let Some(subscribers) = snapshot.subscribers(event, dialect) else { return selected };
        for (hook, verdict, reach) in matching(subscribers, subject, event) {
            if input.is_unmet(hook) || reasons::skip_reason(snapshot, hook, event).is_some() {
                continue;
            }
            if verdict == MatchResult::LimitReached && !hook.is_shadow() {
                self.diagnostics.push(limit_reached(hook, subject.map_or("", |subject| subject.text)));
            }
            self.notes.extend(reach.and_then(|reach| reach.note(hook, subject?)));
            match hook.action {
                Action::NotExecutable(_) => {}
                // They leave before anything is decided that concerns the others.
                _ if hook.is_shadow() => selected.shadow.push(hook),
                _ => selected.planned.push(hook),
            }
        }
        selected
    }

    fn push_parts(&mut self, dialect: DialectId, about: AskedAbout, selected: Selected<'_>) {
        // Most hooks are about something else than most events.
        if selected.planned.is_empty() && selected.shadow.is_empty() {
            return;
        }
        for only in without_duplicates(&selected.shadow, |_, _| {}) {
            let stage = dialect.contract().stage(self.event, &[&only.hook]);
            self.shadow.push(PartPlan { dialect, stage, about, hooks: vec![only] });
        }
        if selected.planned.is_empty() {
            return;
        }
        let (awaited, detached): (Vec<_>, Vec<_>) =
            selected.planned.into_iter().partition(|hook| hook.delivery == HookDelivery::Awaited);
        // The mode is decided before duplicates leave, so that dropping the one sequential entry cannot turn a
        // chain of guards into a race.
        let stage = dialect.contract().stage(self.event, &awaited);
        for (stage, hooks) in [(stage, awaited), (Stage::Detached, detached)] {
            let hooks = without_duplicates(&hooks, |_, _| {});
            if !hooks.is_empty() {
                self.parts.push(PartPlan { dialect, stage, about, hooks });
            }
        }
    }

    fn planned(&self, hook: &Arc<Hook>) -> Option<&PlannedHook> {
        let mut all = self.hooks().chain(self.shadow_hooks()).map(|(_, planned)| planned);
        all.find(|planned| Arc::ptr_eq(&planned.hook, hook))
    }
}

/// The hooks that match, in order.
#[derive(Default)]
struct Selected<'s> {
    planned: Vec<&'s Arc<Hook>>,
    shadow: Vec<&'s Arc<Hook>>,
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
            let lifetime = first.hook.lifetime.common(hook.lifetime);
            if lifetime != first.hook.lifetime {
                first.hook = Arc::new(Hook { lifetime, ..Hook::clone(&first.hook) });
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
                file_tools: Vec::new(),
                rule: None,
            });
        }
    }
    kept
}
