//! Which rules match an event, and of which other hooks the condition does not hold. They are judged before the event is planned, in
//! the calling thread.

use std::cell::OnceCell;
use std::sync::Arc;

use super::ruled_call::ruled_call;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::snapshot::Snapshot;
use crate::event::Event;
use crate::hook::condition::HookCondition;
use crate::hook::{Action, Authority, Hook, Trust};
use crate::rules::{CallFacts, Purpose, RuleMatch, RuleVerdict, judge};

/// Whether a hook that runs once for a session has not run in it yet. Only an event that it would run for counts.
fn is_first_run(snapshot: &Snapshot, hook: &Hook, event: &Event, purpose: Purpose) -> bool {
    let dialect = hook.dialect;
    let subjects = match event.kind().spec().matched_on(dialect) {
        Some("tool_name") => ruled_call(snapshot, event, dialect).tools,
        Some(field) => vec![dialect.contract().matcher_subject(event, field)],
        None => vec![String::new()],
    };
    let is_matched = subjects.iter().any(|subject| hook.matcher_in_force().test(subject).is_match());
    let would_run = hook.is_enabled() && hook.trust.allows() && is_matched;
    let Some(settings) = snapshot.rule_settings.as_ref().filter(|_| would_run) else { return true };
    let mark = format!("{dialect} {} {hook}", event.kind());
    settings.first_run(event.session_id(), &mark, purpose)
}

/// The rules that match an event, and the hooks that do not take part because of their own conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatchedRules {
    found: Vec<(Arc<Hook>, Arc<RuleMatch>)>,
    /// Hooks with a condition that does not hold.
    unmet: Vec<Arc<Hook>>,
    /// What was noticed: an exception that was used, code in another language that no rule could judge.
    pub(crate) findings: Vec<Diagnostic>,
}

impl MatchedRules {
    /// Judges the rules for an event.
    pub(crate) fn of(snapshot: &Snapshot, event: &Event, purpose: Purpose) -> Self {
        let rules = snapshot.rules(event.kind());
        if rules.is_empty() && snapshot.conditional(event.kind()).next().is_none() {
            return Self::default();
        }
        let known = OnceCell::new();
        let facts = || {
            let settings = snapshot.rule_settings.as_ref()?;
            Some(known.get_or_init(|| CallFacts::new(event, &snapshot.tools, &settings.scene)))
        };
        let is_met = |hook: &Arc<Hook>| {
            let call = || ruled_call(snapshot, event, hook.dialect);
            hook.conditions.iter().all(|condition| condition.holds(event, call, facts))
                && (!hook.conditions.contains(&HookCondition::FirstInSession)
                    || is_first_run(snapshot, hook, event, purpose))
        };
        let unmet = snapshot.conditional(event.kind()).filter(|hook| !is_met(hook)).cloned().collect();
        let mut matched = Self { unmet, ..Self::default() };
        let Some(settings) = snapshot.rule_settings.as_ref().filter(|_| !rules.is_empty()) else { return matched };
        let Some(facts) = facts() else { return matched };
        for hook in rules {
            let Action::Rule(rule) = &hook.action else { continue };
            if !hook.is_enabled() || matches!(hook.trust, Trust::Never(_)) {
                continue;
            }
            // What a rule that has changed was about is part of the change.
            if matches!(hook.trust, Trust::Changed(_)) {
                matched.found.push((Arc::clone(hook), Arc::new(RuleMatch::of_changed(rule))));
                continue;
            }
            match judge(rule, facts) {
                RuleVerdict::DoesNotMatch => {}
                RuleVerdict::NotTold(why) => {
                    let message = format!("rule `{hook}` does not judge code in another language: {why}");
                    let known = matched.findings.iter().any(|finding| finding.code == Code::AccessesUnknown);
                    if !known {
                        let finding = Diagnostic::new(Code::AccessesUnknown, message);
                        matched.findings.push(finding.at(hook.origin.location.clone()));
                    }
                }
                RuleVerdict::Matches(found) => {
                    // An exception that holds once was used when the call itself was judged.
                    let is_used = event.kind() != hook.event;
                    let lifted = settings.exceptions.iter().find(|exception| {
                        hook.authority() != Authority::System
                            && exception.lifts(rule.name(), facts)
                            && (is_used || settings.may_use(exception, event.session_id(), purpose))
                    });
                    match lifted {
                        Some(exception) => matched.findings.push(exception.use_finding()),
                        None => matched.found.push((Arc::clone(hook), Arc::new(found))),
                    }
                }
            }
        }
        matched
    }

    /// Why a rule matches, if it does.
    pub(crate) fn of_hook(&self, hook: &Arc<Hook>) -> Option<&Arc<RuleMatch>> {
        self.found.iter().find(|(known, _)| Arc::ptr_eq(known, hook)).map(|(_, found)| found)
    }

    /// Whether a condition of a hook does not hold.
    pub(crate) fn excludes(&self, hook: &Arc<Hook>) -> bool {
        self.unmet.iter().any(|unmet| Arc::ptr_eq(unmet, hook))
    }

    /// Whether nothing matches, nothing was noticed and every condition holds.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.findings.is_empty() && self.unmet.is_empty()
    }
}
