//! Planning: which hooks run for an event, in which order and mode, and why every other one does not.
//!
//! Pure, and the same for everybody who asks: the live engine, `explain` and the tests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{self, DialectId};
use crate::event::{Event, EventKind, Stage};
use crate::hook::{Action, Authority, Hook, OnFailure, Standing, Trust};
use crate::matcher::Verdict;
use crate::outcome::{SkipReason, Skipped};
use crate::snapshot::{Snapshot, Switch};
use crate::source::SourceKind;

/// What would happen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The event.
    pub event: EventKind,
    /// Each dialect's part, in the order they take part.
    pub parts: Vec<PartPlan>,
    /// Hooks that will not run.
    pub skipped: Vec<Skipped>,
    /// What planning noticed.
    pub diagnostics: Vec<Diagnostic>,
}

/// One dialect's part of a plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartPlan {
    /// The dialect.
    pub dialect: DialectId,
    /// How its hooks run.
    pub stage: Stage,
    /// The hooks that run, in order.
    pub hooks: Vec<PlannedHook>,
}

/// A hook that runs, with what deduplication made of its settings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The time it has: the longest of all its duplicates.
    pub timeout: Duration,
    /// What a failure does: the strictest of all its duplicates.
    pub on_failure: OnFailure,
    /// How much its word weighs: as much as the weightiest of all its duplicates.
    pub authority: Authority,
}

impl Plan {
    /// Plans an event.
    #[must_use]
    pub fn new(snapshot: &Snapshot, event: &Event) -> Self {
        let mut plan = Self { event: event.kind(), parts: Vec::new(), skipped: Vec::new(), diagnostics: Vec::new() };
        for dialect in DialectId::ORDER {
            if snapshot.takes_part(dialect) {
                plan.add_part(snapshot, event, dialect);
            }
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

    fn add_part(&mut self, snapshot: &Snapshot, event: &Event, dialect: DialectId) {
        let mut matching = Vec::new();
        for hook in snapshot.hooks_for(event.kind(), dialect) {
            match self.obstacle(snapshot, event, hook) {
                Some((why, detail)) => self.skipped.push(Skipped::new(hook, why, detail)),
                None => matching.push(hook),
            }
        }
        // The mode is decided before duplicates leave, so that dropping the one sequential entry cannot turn a
        // chain of guards into a race.
        let stage = dialect::stage(dialect, event.kind(), &matching);
        let hooks = self.without_duplicates(&matching);
        if !hooks.is_empty() {
            self.parts.push(PartPlan { dialect, stage, hooks });
        }
    }

    /// The first thing that keeps a hook from running.
    fn obstacle(&mut self, snapshot: &Snapshot, event: &Event, hook: &Arc<Hook>) -> Option<(SkipReason, String)> {
        match snapshot.switch() {
            Switch::Off(why) => return Some((SkipReason::HooksOff, why.to_string())),
            Switch::SystemOnly(why) if hook.origin.kind != SourceKind::System => {
                return Some((SkipReason::HooksOff, why.to_string()));
            }
            _ => {}
        }
        match &hook.standing {
            Standing::Disabled(list) => return Some((SkipReason::Disabled, format!("disabled by {list}"))),
            Standing::SwitchedOff(by) => {
                return Some((SkipReason::HooksOff, format!("hooks are switched off by {by}")));
            }
            Standing::Active | Standing::NeverSwitchedOn => {}
        }
        match &hook.trust {
            Trust::Never(_) => {
                return Some((SkipReason::Untrusted, "the project has not been trusted to run this hook".to_owned()));
            }
            Trust::Changed(_) => {
                return Some((SkipReason::Untrusted, "the hook has changed since it was trusted".to_owned()));
            }
            Trust::NotNeeded | Trust::ForThisRun | Trust::Granted(_) => {}
        }
        if hook.standing == Standing::NeverSwitchedOn {
            return Some((SkipReason::HooksOff, "no settings file switches hooks on".to_owned()));
        }
        if let Some(detail) = self.mismatch(snapshot, event, hook) {
            return Some((SkipReason::Matcher, detail));
        }
        match &hook.action {
            Action::NotExecutable(why) => Some((SkipReason::NotExecutable, why.to_string())),
            _ => None,
        }
    }

    /// Why the matcher does not match, if so.
    fn mismatch(&mut self, snapshot: &Snapshot, event: &Event, hook: &Arc<Hook>) -> Option<String> {
        let field = event.kind().spec().matched_on(hook.dialect)?;
        let subject = dialect::matcher_subject(hook.dialect, event, field);
        let tool = (field == "tool_name").then_some(&subject);
        // A tool is known by the host's name and by the dialect's, and either will do.
        if let Some(theirs) = tool.and_then(|tool| snapshot.tools().name_in(hook.dialect, tool))
            && hook.matcher.test(theirs) == Verdict::Matches
        {
            return None;
        }
        match hook.matcher.test(&subject) {
            Verdict::Differs => {
                let pattern = hook.matcher.pattern().unwrap_or_default();
                Some(format!("`{pattern}` does not match {field} `{subject}`"))
            }
            Verdict::LimitReached => {
                let message =
                    format!("the matcher of hook `{hook}` took too many steps on `{subject}` and counts as matching");
                self.diagnostics.push(
                    Diagnostic::new(Code::MatcherLimit, message)
                        .at(hook.origin.location.clone())
                        .hint("write the pattern without nested repetition"),
                );
                None
            }
            _ => None,
        }
    }

    fn without_duplicates(&mut self, matching: &[&Arc<Hook>]) -> Vec<PlannedHook> {
        let mut kept: Vec<PlannedHook> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for hook in matching {
            let work = dialect::same_work(hook);
            let first = work.as_ref().and_then(|work| seen.get(work)).and_then(|at| kept.get_mut(*at));
            if let Some(first) = first {
                first.timeout = first.timeout.max(hook.timeout);
                first.on_failure = first.on_failure.max(hook.on_failure);
                let lane = first.hook.lane.common(hook.lane);
                if lane != first.hook.lane {
                    first.hook = Arc::new(Hook { lane, ..Hook::clone(&first.hook) });
                }
                first.authority = first.authority.max(hook.authority());
                // The same command from a place that needs no grant would have run in any case.
                if hook.trust == Trust::NotNeeded && first.hook.trust != Trust::NotNeeded {
                    first.hook = Arc::new(Hook { trust: Trust::NotNeeded, ..Hook::clone(&first.hook) });
                }
                let origin = &first.hook.origin;
                let detail = format!(
                    "the same command is already planned from the {} settings, {}:{}",
                    origin.kind,
                    origin.location.file.display(),
                    origin.location.line
                );
                self.skipped.push(Skipped::new(hook, SkipReason::Duplicate, detail));
            } else {
                if let Some(work) = work {
                    seen.insert(work, kept.len());
                }
                kept.push(PlannedHook {
                    hook: Arc::clone(hook),
                    timeout: hook.timeout,
                    on_failure: hook.on_failure,
                    authority: hook.authority(),
                });
            }
        }
        kept
    }
}
