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
use crate::tools::{NameElsewhere, ToolMeaning, ToolTable};

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
    /// Why a hook runs whose matcher does not name the tool. These are for who asks for the plan; an outcome has none of them.
    pub notes: Vec<Diagnostic>,
    /// What the tool of the event is.
    pub(crate) tool: ToolMeaning,
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
        Self::about_tool(snapshot, event, snapshot.tools.meaning(event))
    }

    /// Plans an event whose tool is this.
    pub(crate) fn about_tool(snapshot: &Arc<Snapshot>, event: &Event, tool: ToolMeaning) -> Self {
        let unplanned = Arc::new(Unplanned {
            snapshot: Arc::clone(snapshot),
            input: PlanInput::new(snapshot, event, tool),
            skipped: OnceLock::new(),
        });
        let skipped = Skips::of_plan(Arc::clone(&unplanned) as Arc<dyn UnplannedHooks>);
        let mut plan = Self {
            event: event.kind(),
            parts: Vec::new(),
            shadow: Vec::new(),
            skipped,
            diagnostics: Vec::new(),
            notes: Vec::new(),
            tool,
        };
        if let (ToolMeaning::Ambiguous(_), Some(table)) = (tool, snapshot.tools.table()) {
            plan.notes.push(ambiguous(table, &event.text("tool_name").unwrap_or_default()));
        }
        for dialect in DialectId::ORDER {
            plan.add_part(snapshot, &unplanned.input, dialect);
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

    /// The hooks that run without an effect, of all dialects in order.
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
        let Some(subscribers) = snapshot.subscribers(input.event, dialect) else { return };
        if !input.concerns(dialect) {
            return;
        }
        let (mut planned, mut shadow) = (Vec::new(), Vec::new());
        let subject = input.subject_for(snapshot, dialect);
        for (hook, verdict, reach) in matching(subscribers, subject.as_ref(), input.event) {
            if reasons::skip_reason(snapshot, hook, input.event).is_some() {
                continue;
            }
            if verdict == MatchResult::LimitReached && !hook.is_shadow() {
                self.diagnostics.push(limit_reached(hook, subject.as_ref().map_or("", |subject| subject.text)));
            }
            self.notes.extend(reach.and_then(|reach| reach.note(hook, subject.as_ref()?)));
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
    tool: ToolMeaning,
}

/// What the matchers of one dialect are compared with.
pub(super) struct Subject<'a> {
    pub(super) field: &'static str,
    pub(super) text: &'a str,
    /// The name of the same tool in the dialect, if the host has declared one or the tool is known. A matcher may match either.
    pub(super) in_dialect: Option<&'a str>,
    /// The name of a known tool in the table, which a matcher may match too.
    pub(super) in_table: Option<&'a str>,
    tool: ToolMeaning,
    table: Option<&'a ToolTable>,
}

/// Why a hook is asked about a tool that its matcher does not name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// The matcher names the tool as another agent does.
    Elsewhere(NameElsewhere),
    /// The hook is a guard of this tool, and a tool that is not known may do the same.
    Guard(&'static str),
}

impl Reach {
    fn note(self, hook: &Hook, subject: &Subject<'_>) -> Option<Diagnostic> {
        let (pattern, tool) = (hook.matcher_in_force().pattern()?, subject.text);
        let finding = match self {
            Self::Elsewhere(NameElsewhere { name, whose, .. }) => {
                let message =
                    format!("`{pattern}` of hook `{hook}` matches `{tool}` because {whose} calls it `{name}`");
                let own = subject.in_dialect.unwrap_or(tool);
                Diagnostic::new(Code::MatcherElsewhere, message).hint(format!("the name here is `{own}`"))
            }
            Self::Guard(covered) => {
                let message = format!(
                    "`{tool}` is in no table of tools; hook `{hook}` is asked because it guards `{covered}` and the input could mean the same"
                );
                let hint = format!("say what it is in the user's `config.toml`: `[tools]`, `{tool} = \"none\"`");
                Diagnostic::new(Code::ToolUnknown, message).hint(hint)
            }
        };
        Some(finding.at(hook.origin.location.clone()))
    }
}

impl<'a> Subject<'a> {
    /// The further names that a matcher is compared with.
    pub(super) fn other_names(&self) -> Vec<&'a str> {
        let names = self.in_dialect.into_iter().chain(self.in_table.filter(|name| Some(*name) != self.in_dialect));
        names.filter(|name| *name != self.text).collect()
    }

    /// Why a hook is asked although its matcher does not match; nothing if it is not.
    pub(super) fn reach(&self, hook: &Hook, event: EventKind) -> Option<Reach> {
        let table = self.table.filter(|_| self.field == TOOL_NAME)?;
        let matcher = hook.matcher_in_force();
        match self.tool {
            ToolMeaning::AsGiven => None,
            ToolMeaning::Known(tool) => {
                table.name_elsewhere(hook.dialect, matcher.pattern()?, tool).map(Reach::Elsewhere)
            }
            ToolMeaning::Unknown(carried) | ToolMeaning::Ambiguous(carried) => {
                let covered = || table.covered_tool(hook.dialect, matcher, carried);
                if hook.guards(event) { covered().map(Reach::Guard) } else { None }
            }
        }
    }
}

fn ambiguous(table: &ToolTable, name: &str) -> Diagnostic {
    let meanings: Vec<String> =
        table.meanings_of(name).into_iter().map(|(tool, whose)| format!("`{tool}` ({whose})")).collect();
    let message = format!("`{name}` has several meanings: {}; it is not translated", meanings.join(", "));
    Diagnostic::new(Code::ToolAmbiguous, message).hint("name the agent with `--agent`")
}

/// The field with the name of a tool.
const TOOL_NAME: &str = "tool_name";

impl PlanInput {
    fn new(snapshot: &Snapshot, event: &Event, tool: ToolMeaning) -> Self {
        let subject = |dialect: DialectId| {
            snapshot.subscribers(event.kind(), dialect)?;
            let field = event.kind().spec().matched_on(dialect)?;
            Some(dialect.contract().matcher_subject(event, field).into_boxed_str())
        };
        Self { event: event.kind(), launch: event.is_launch(), subjects: DialectId::ORDER.map(subject), tool }
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
        let tools = &snapshot.tools;
        let in_dialect = if field == TOOL_NAME { tools.name_in(dialect, text, self.tool) } else { None };
        let in_table = match self.tool {
            ToolMeaning::Known(tool) if field == TOOL_NAME => Some(tool.name),
            _ => None,
        };
        Some(Subject { field, text, in_dialect, in_table, tool: self.tool, table: tools.table() })
    }
}

/// The hooks that match, in order.
fn matching<'a>(
    subscribers: &'a Subscribers,
    subject: Option<&Subject<'_>>,
    event: EventKind,
) -> Vec<(&'a Arc<Hook>, MatchResult, Option<Reach>)> {
    let Some(subject) = subject else {
        return subscribers.hooks.iter().map(|hook| (hook, MatchResult::Matches, None)).collect();
    };
    let by_name = subscribers.matching(subject.text, &subject.other_names()).into_iter();
    let mut by_name = by_name.map(|(hook, verdict)| (hook, verdict, None)).peekable();
    if subject.tool == ToolMeaning::AsGiven {
        return by_name.collect();
    }
    let reached = |hook| {
        let found = by_name.next_if(|(named, ..)| Arc::ptr_eq(named, hook));
        found.or_else(|| Some((hook, MatchResult::Matches, Some(subject.reach(hook, event)?))))
    };
    subscribers.hooks.iter().filter_map(reached).collect()
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
