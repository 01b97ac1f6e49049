//! Why hooks do not run. Each hook has one reason: the first that applies.
//!
//! This checks hook by hook. Planning finds the hooks that run in a faster way; the property tests check that both
//! agree.

use std::sync::Arc;

use super::plan::{PlannedHook, without_duplicates};
use super::subject::{PlanInput, Subject, knows};
use crate::config::source::SourceKind;
use crate::dialect::snapshot::{Snapshot, Switch};
use crate::dialect_id::DialectId;
use crate::event::{EventKind, Occurrences};
use crate::hook::{Action, Enablement, Hook, Trust};
use crate::matcher::MatchResult;
use crate::outcome::skips::{SkipReason, Skipped};
use crate::trust::HookEdit;

/// Every hook for the event that does not run, with its reason.
pub(super) fn skipped_hooks(snapshot: &Snapshot, input: &PlanInput) -> Vec<Skipped> {
    let mut skipped = Vec::new();
    for dialect in DialectId::ORDER {
        let Some(subscribers) = snapshot.subscribers(input.event, dialect) else { continue };
        let mut matching = Vec::new();
        for hook in &subscribers.hooks {
            let reason = skip_reason(snapshot, hook, input.event)
                .or_else(|| (!input.concerns(dialect)).then(|| not_this_time(input.occurrences(dialect))))
                .or_else(|| {
                    let subject = input.subject_for(snapshot, dialect)?;
                    let otherwise = || input.subjects_otherwise(snapshot, dialect);
                    mismatch(hook, &subject, input.event)
                        .filter(|_| !otherwise().iter().any(|other| knows(hook, other.subject.as_ref())))
                })
                .or_else(|| input.is_unmet(hook).then(|| unmet(hook)))
                .or_else(|| not_executable(hook));
            match reason {
                Some((why, detail)) => skipped.push(Skipped::new(hook, why, detail)),
                None => matching.push(hook),
            }
        }
        let (shadow, enforced): (Vec<_>, Vec<_>) = matching.into_iter().partition(|hook| hook.is_shadow());
        let mut add_duplicate = |hook: &Arc<Hook>, first: &PlannedHook| {
            let origin = &first.hook.origin;
            let detail = format!(
                "the same command is already planned from the {} settings, {}:{}",
                origin.kind,
                origin.location.file.display(),
                origin.location.line
            );
            skipped.push(Skipped::new(hook, SkipReason::Duplicate, detail));
        };
        without_duplicates(&enforced, &mut add_duplicate);
        without_duplicates(&shadow, &mut add_duplicate);
    }
    skipped
}

/// The reason that keeps a hook from running independent of what the event is about.
pub(super) fn skip_reason(snapshot: &Snapshot, hook: &Hook, event: EventKind) -> Option<(SkipReason, String)> {
    match &snapshot.switch {
        Switch::Off(why) => return Some((SkipReason::HooksOff, why.to_string())),
        Switch::SystemOnly(why) if hook.origin.kind != SourceKind::System => {
            return Some((SkipReason::HooksOff, why.to_string()));
        }
        Switch::On | Switch::SystemOnly(_) => {}
    }
    match &hook.enablement {
        Enablement::Disabled(list) => return Some((SkipReason::Disabled, format!("disabled by {list}"))),
        Enablement::SwitchedOff(by) => return Some((SkipReason::HooksOff, format!("hooks are switched off by {by}"))),
        Enablement::OwnBridge => {
            let detail = "it calls `hookrail bridge`, which would ask the same hooks again";
            return Some((SkipReason::OwnBridge, detail.to_owned()));
        }
        Enablement::RunByAgent => {
            let detail = "the agent reads this file and runs the hook itself";
            return Some((SkipReason::OwnBridge, detail.to_owned()));
        }
        Enablement::Active | Enablement::NeverSwitchedOn => {}
    }
    match &hook.trust {
        Trust::Never(_) => {
            return Some((SkipReason::Untrusted, "the project has not been trusted to run this hook".to_owned()));
        }
        // A granted guard that has changed does not run either, but it is planned, because its failure has an effect.
        Trust::Changed(_) if hook.guards(event) => {}
        Trust::Changed(_) => return Some((SkipReason::Untrusted, format!("it {}", HookEdit::of(hook)))),
        Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Granted(_) => {}
    }
    let never = hook.enablement == Enablement::NeverSwitchedOn;
    never.then(|| (SkipReason::HooksOff, "no settings file switches hooks on".to_owned()))
}

/// The reason for a hook whose dialect does not take part in this occurrence of the event.
fn not_this_time(occurrences: Occurrences) -> (SkipReason, String) {
    let detail = match occurrences {
        Occurrences::LaunchOnly => "the agent itself does not start or end here (`launch` is false)",
        Occurrences::ConversationOnly => "the model call is beside the conversation (`conversation_turn` is false)",
        Occurrences::All => "its dialect does not take part here",
    };
    (SkipReason::Matcher, detail.to_owned())
}

/// The reason if the matcher does not match.
fn mismatch(hook: &Arc<Hook>, subject: &Subject<'_>, event: EventKind) -> Option<(SkipReason, String)> {
    let matcher = hook.matcher_in_force();
    let by_other_name = subject.other_names().into_iter().any(|name| matcher.test(name) == MatchResult::Matches);
    if by_other_name || matcher.test(subject.text).is_match() {
        return None;
    }
    if subject.reach(hook, event).is_some() {
        return None;
    }
    let pattern = matcher.pattern().unwrap_or_default();
    let (field, text) = (subject.field, subject.text);
    Some((SkipReason::Matcher, format!("`{pattern}` does not match {field} `{text}`")))
}

/// The reason for a rule that does not match, or another hook with a condition that does not hold.
fn unmet(hook: &Hook) -> (SkipReason, String) {
    let conditions: Vec<String> = hook.shown_conditions().map(|condition| condition.sentence()).collect();
    let detail = match conditions.as_slice() {
        [] => "its condition does not hold".to_owned(),
        conditions => format!("its condition does not hold: {}", conditions.join(", and ")),
    };
    (SkipReason::Condition, detail)
}

fn not_executable(hook: &Hook) -> Option<(SkipReason, String)> {
    match &hook.action {
        Action::NotExecutable(why) => Some((SkipReason::NotExecutable, why.to_string())),
        _ => None,
    }
}
