//! Granted guards that are missing: how a load finds that a guard is gone.
//!
//! A guard that its project removes, disables or moves would be gone without a word. So the store remembers for which
//! event each granted guard is, and a load that does not find it puts a hook in its place that fails. A grant of an earlier
//! version gets these facts from the next load that finds its guard: what was removed before is not missed.

use std::path::Path;
use std::sync::Arc;

use super::grants::Grants;
use crate::config::source::{Location, Origin, SourceKind};
use crate::config::{ProjectSource, SourceReport, SourceState, is_absence};
use crate::dialect_id::DialectId;
use crate::event::EventKind;
use crate::hook::condition::HookCondition;
use crate::hook::fingerprint::Fingerprint;
use crate::hook::git_branch::GitPosition;
use crate::hook::grant::Grant;
use crate::hook::missing_guard::{GuardAbsence, GuardFacts, MissingGuard, in_project};
use crate::hook::{Action, Enablement, Hook, ProjectSwitch};
use crate::matcher::Matcher;
use crate::text::digest::Digest;

/// States beyond this number are forgotten, the oldest first: a repository can have any number of branches.
const MOST_STATES: usize = 64;

/// What the user's own settings switch off: that needs no acceptance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OffByUser {
    /// Every hook of this dialect.
    Dialect(DialectId),
    /// The hooks of this name in this dialect.
    Hook(DialectId, String),
    /// This plugin.
    Package(String),
}

impl OffByUser {
    fn covers(&self, grant: &Grant, facts: &GuardFacts) -> bool {
        match self {
            Self::Dialect(dialect) => facts.dialect() == Some(*dialect),
            Self::Hook(dialect, name) => facts.dialect() == Some(*dialect) && grant.hook == *name,
            Self::Package(id) => facts.package.as_ref() == Some(id),
        }
    }
}

/// A load in which granted guards are looked for.
pub(crate) struct GuardSearch<'a> {
    pub(crate) project: &'a Path,
    pub(crate) hooks: &'a [Hook],
    pub(crate) sources: &'a SourceReport,
    pub(crate) off_by_user: &'a [OffByUser],
}

/// A granted guard that was not found, and what it was granted as.
pub(crate) struct FoundMissing<'g> {
    pub(crate) grant: &'g Grant,
    facts: &'g GuardFacts,
    pub(crate) missing: MissingGuard,
}

impl GuardSearch<'_> {
    /// The granted guards that the hooks of this load do not have and whose absence was not accepted.
    pub(crate) fn missing<'g>(&self, grants: &'g Grants) -> Vec<FoundMissing<'g>> {
        grants.hooks.iter().filter_map(|grant| self.find(grant)).collect()
    }

    fn find<'g>(&self, grant: &'g Grant) -> Option<FoundMissing<'g>> {
        let facts = grant.guard.as_ref()?;
        let absence = self.absence(grant, facts)?;
        if self.off_by_user.iter().any(|off| off.covers(grant, facts)) {
            return None;
        }
        let state = self.state(facts);
        if facts.accepted_states.contains(&state) {
            return None;
        }
        let missing = MissingGuard {
            absence,
            source: self.project.join(&facts.source),
            position: GitPosition::of(self.project),
            definition: grant.definition.clone(),
            state,
        };
        Some(FoundMissing { grant, facts, missing })
    }

    /// Why the guard does not take part; nothing if it does, or if that is not the project's doing.
    fn absence(&self, grant: &Grant, facts: &GuardFacts) -> Option<GuardAbsence> {
        // A module that was loaded and registers nothing has no hook.
        if self.sources.modules.contains(&self.project.join(&facts.source)) {
            return None;
        }
        let mut switched_off = None;
        for hook in self.hooks.iter().filter(|hook| belongs_to(grant, hook)) {
            match (&hook.enablement, hook.project_switch) {
                (Enablement::Disabled(by) | Enablement::SwitchedOff(by), ProjectSwitch::SwitchesOff) => {
                    switched_off = Some(GuardAbsence::SwitchedOff(Arc::clone(by)));
                }
                (Enablement::NeverSwitchedOn, _) if facts.switched_on_by_project => {
                    let by = "the project's settings, which do not switch hooks on any more";
                    switched_off = Some(GuardAbsence::SwitchedOff(by.into()));
                }
                (
                    Enablement::Active
                    | Enablement::Disabled(_)
                    | Enablement::SwitchedOff(_)
                    | Enablement::NeverSwitchedOn
                    | Enablement::OwnBridge
                    | Enablement::RunByAgent,
                    _,
                ) => return None,
            }
        }
        Some(switched_off.unwrap_or_else(|| self.absence_of_entry(facts)))
    }

    fn absence_of_entry(&self, facts: &GuardFacts) -> GuardAbsence {
        let file = self.project.join(&facts.source);
        let unusable = self.sources.unusable.iter().find(|source| source.path == file);
        if let Some(source) = unusable {
            return GuardAbsence::SourceUnusable(source.problem.as_str().into());
        }
        let is_gone = file.symlink_metadata().is_err_and(|error| is_absence(&error));
        if is_gone { GuardAbsence::SourceGone } else { GuardAbsence::Removed }
    }

    /// The state of everything in the project that decides about a guard: the sources of its dialect, and its own.
    fn state(&self, facts: &GuardFacts) -> String {
        let of_dialect = |source: &&ProjectSource| source.dialect == facts.dialect();
        let line = |path: &Path, state: &SourceState| {
            format!("{}\0{}\n", in_project(path, self.project).display(), state.described())
        };
        let sources = self.sources.of_project.iter().filter(of_dialect);
        let mut lines: Vec<String> = sources.map(|source| line(&source.path, &source.state)).collect();
        let own = self.project.join(&facts.source);
        lines.push(line(&own, &SourceState::now(&own)));
        lines.sort();
        lines.dedup();
        Digest::of(lines.concat().as_bytes()).hex()
    }
}

/// Whether a hook is the one that was granted, as it was granted or with a change that is noticed elsewhere.
fn belongs_to(grant: &Grant, hook: &Hook) -> bool {
    let is_of = |taken: &Fingerprint| {
        grant.is_of(taken) || taken.granted().is_some_and(|granted| granted.definition == grant.definition)
    };
    hook.trust.any_fingerprint().is_some_and(is_of)
}

impl FoundMissing<'_> {
    /// The hook that stands for the guard and fails under the policy that it was granted with.
    pub(crate) fn stand_in(self) -> Hook {
        let Self { grant, facts, missing } = self;
        // What a later version of this program knows and this one does not is guarded as far as possible.
        let dialect = facts.dialect().unwrap_or(DialectId::Llxprt);
        let event = EventKind::all().find(|kind| kind.name() == facts.event).unwrap_or(EventKind::BeforeTool);
        let origin = Origin { kind: SourceKind::Project, location: Location::whole_file(&missing.source) };
        let mut hook = Hook::new(event, dialect, grant.hook.as_str(), Action::Missing(Arc::new(missing)), origin);
        let pattern = facts.matcher.as_deref().filter(|_| facts.dialect().is_some());
        hook.matcher = pattern.map_or_else(Matcher::everything, |pattern| dialect.contract().matcher(event, pattern));
        hook.on_failure = facts.policy();
        hook.conditions = HookCondition::as_granted(Vec::new(), grant.described.as_ref());
        hook
    }
}

/// What a load found out about a granted guard that the store does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGuardFacts {
    definition: String,
    facts: GuardFacts,
}

impl Grants {
    /// What is to be remembered of the granted guards among these hooks, where the grants do not say it.
    pub(crate) fn new_facts(&self, project: &Path, hooks: &[Hook]) -> Vec<NewGuardFacts> {
        let mut found: Vec<NewGuardFacts> = Vec::new();
        for hook in hooks {
            let Some(grant) = hook.trust.fingerprint().filter(|_| hook.trust.allows()).and_then(Fingerprint::granted)
            else {
                continue;
            };
            let is_known = match &grant.guard {
                Some(known) => known.switched_on_by_project || hook.project_switch != ProjectSwitch::SwitchesOn,
                None => false,
            };
            if is_known || found.iter().any(|new| new.definition == grant.definition) {
                continue;
            }
            let facts = GuardFacts::of(hook, project, grant.policy(hook));
            found.extend(facts.map(|facts| NewGuardFacts { definition: grant.definition.clone(), facts }));
        }
        found
    }

    /// Adds what a load found out about guards. What was accepted stays accepted.
    pub fn remember(&mut self, new: &[NewGuardFacts]) {
        for NewGuardFacts { definition, facts } in new {
            for grant in self.hooks.iter_mut().filter(|grant| grant.definition == *definition) {
                let accepted_states = grant.guard.take().map(|known| known.accepted_states).unwrap_or_default();
                grant.guard = Some(GuardFacts { accepted_states, ..facts.clone() });
            }
        }
    }

    /// Removes the grant of a guard that is missing, because another hook takes its place.
    pub fn forget_missing(&mut self, missing: &MissingGuard) {
        self.hooks.retain(|grant| grant.definition != missing.definition);
    }

    /// Accepts that a granted guard is missing in the present state of its project. The grant stays, so that the guard is
    /// granted when it comes back.
    pub fn accept_missing(&mut self, missing: &MissingGuard) {
        for grant in self.hooks.iter_mut().filter(|grant| grant.definition == missing.definition) {
            let Some(GuardFacts { accepted_states, .. }) = &mut grant.guard else { continue };
            accepted_states.retain(|state| *state != missing.state);
            accepted_states.push(missing.state.clone());
            let surplus = accepted_states.len().saturating_sub(MOST_STATES);
            accepted_states.drain(..surplus);
        }
    }
}
