//! Puts granted guards back that a load did not find.
//!
//! A running process has the version that last took part, and that one goes on: its files are compared before it runs. A
//! process that starts has none, so a hook that fails stands for the guard.

use std::collections::HashMap;

use super::Settings;
use crate::config::SourceReport;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::{Loader, Sources};
use crate::hook::{Action, Enablement, Hook, OnFailure, Trust};
use crate::trust::{Fingerprint, GuardSearch, MissingGuard, OffByUser};

/// A load whose granted guards are looked for.
pub(super) struct MissingSearch<'a> {
    pub(super) settings: &'a Settings,
    pub(super) sources: &'a Sources,
    pub(super) loader: &'a mut Loader,
}

impl MissingSearch<'_> {
    /// Adds a hook for every granted guard that is missing.
    pub(super) fn fill_in(
        &mut self,
        hooks: &mut Vec<Hook>,
        report: &SourceReport,
        off_by_user: &[OffByUser],
    ) -> AboutGuards {
        let grants = &self.sources.grants;
        let project = &self.sources.project;
        let search = GuardSearch { project, hooks, sources: report, off_by_user };
        let missing = search.missing(grants);
        let mut said = AboutGuards::default();
        let mut stand_ins: Vec<Hook> = Vec::new();
        for found in missing {
            match self.loader.guards.get(&found.grant.definition) {
                Some(last_good) => {
                    said.standing.extend(last_good.first().map(|hook| still_in_force(hook, &found.missing)));
                    stand_ins.extend(last_good.iter().map(|hook| self.judged_again(hook)));
                }
                None => {
                    let hook = found.stand_in();
                    said.loading.extend(failed(&hook));
                    stand_ins.push(hook);
                }
            }
        }
        self.keep_what_takes_part(hooks, &stand_ins);
        hooks.extend(stand_ins);
        said
    }

    /// The last version of a guard that took part, with the trust that the grants give it now.
    fn judged_again(&self, last_good: &Hook) -> Hook {
        let mut hook = last_good.clone();
        if let Trust::Granted(taken) = &last_good.trust {
            hook.trust = self.sources.grants.judge(taken.clone());
        }
        hook
    }

    /// Remembers every granted guard that takes part, here and in the store.
    fn keep_what_takes_part(&mut self, hooks: &[Hook], stand_ins: &[Hook]) {
        let takes_part = |hook: &&Hook| hook.enablement == Enablement::Active && hook.trust.allows();
        let grant = |hook: &Hook| hook.trust.fingerprint().and_then(Fingerprint::granted).cloned();
        let granted = hooks.iter().chain(stand_ins).filter(takes_part);
        let granted = granted.filter_map(|hook| Some((grant(hook)?, hook)));
        let mut guards: HashMap<String, Vec<Hook>> = HashMap::new();
        // A module has one hook for each of its events.
        for (grant, hook) in granted.filter(|(grant, hook)| grant.policy(hook) != OnFailure::Allow) {
            guards.entry(grant.definition).or_default().push(hook.clone());
        }
        self.loader.guards = guards;
        let new = self.sources.grants.new_facts(&self.sources.project, hooks);
        if let Some(store) = self.settings.described.trust.as_ref().filter(|_| !new.is_empty()) {
            let project = hookrail_spawn::real_path(&self.sources.project);
            store.remember(&project.unwrap_or_else(|_| self.sources.project.clone()), &new);
        }
    }
}

/// What is to be said about guards that are missing.
#[derive(Default)]
pub(super) struct AboutGuards {
    /// With the load: the guard fails, and then its run says so.
    pub(super) loading: Vec<Diagnostic>,
    /// With every outcome: the guard runs although its entry is gone.
    pub(super) standing: Vec<Diagnostic>,
}

fn failed(hook: &Hook) -> Option<Diagnostic> {
    let Action::Missing(guard) = &hook.action else { return None };
    Some(finding(hook, guard, &format!("it fails, and its policy is `{}`", hook.on_failure)))
}

fn still_in_force(hook: &Hook, guard: &MissingGuard) -> Diagnostic {
    finding(hook, guard, "its last good version stays in force")
}

fn finding(hook: &Hook, guard: &MissingGuard, effect: &str) -> Diagnostic {
    let message = format!("guard `{hook}`, which you trusted, {}; {effect}", guard.reason());
    let finding = Diagnostic::new(Code::GuardMissing, message).at(hook.origin.location.clone());
    finding.hint(MissingGuard::repair(&hook.label))
}
