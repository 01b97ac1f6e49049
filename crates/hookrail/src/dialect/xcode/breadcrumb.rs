//! The breadcrumbs of this dialect: what its users look for in the debug log to see whether a hook ran.

use super::answer::{Answer, AnswerDecision, ParsedStdout, parse_stdout, strict_problem};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::DialectId;
use crate::event::EventKind;
use crate::hook::Hook;
use crate::record::breadcrumb::Breadcrumb;
use crate::run::{RawEnd, RunEnd};

/// How much of what a hook wrote is quoted.
const QUOTED: usize = 200;

/// The breadcrumbs of a run.
pub(super) fn of_run(hook: &Hook, kind: EventKind, end: &RunEnd) -> Vec<Breadcrumb> {
    let event = kind.spec().column(DialectId::Xcode).map_or(kind.name(), |column| column.name);
    let plugin = hook.owner.as_ref().map_or("?", |owner| owner.id.as_str());
    let crumb = |tag, rest: String| Breadcrumb::new(DialectId::Xcode, tag, format!("{plugin} {event}: {rest}"));
    let failed = |rest: String| vec![crumb("hooks.exec-error", rest)];
    match end.how() {
        RawEnd::Exited(0) if end.stdout().is_truncated() => failed("too much output".to_owned()),
        RawEnd::Exited(0) => {
            let denied = strict_problem(hook, kind, end).map(|_| "deny");
            let (decision, problem) = match parse_stdout(&end.stdout().lossy()) {
                ParsedStdout::Answer(answer) => (word(&answer), None),
                ParsedStdout::Nothing => ("allow", None),
                ParsedStdout::NotJson(_) => {
                    ("allow", Some(crumb("hooks.decision-not-json", quoted(&end.stdout().lossy()))))
                }
                ParsedStdout::Invalid(_) => {
                    ("allow", Some(crumb("hooks.decision-invalid", quoted(&end.stdout().lossy()))))
                }
            };
            let decision = denied.unwrap_or(decision);
            problem.into_iter().chain([crumb("hooks.exec-ran", format!("decision={decision}"))]).collect()
        }
        RawEnd::Exited(code) => {
            let stderr = quoted(&end.stderr().lossy());
            let stderr = if stderr.is_empty() { stderr } else { format!(" stderr={stderr}") };
            vec![crumb("hooks.exec-nonzero", format!("exit={code}{stderr}"))]
        }
        RawEnd::TimedOut(after) | RawEnd::NotStarted(after) => {
            vec![crumb("hooks.exec-timeout", format!("after {}ms", after.as_millis()))]
        }
        RawEnd::HeldBack => failed("output held by another process".to_owned()),
        RawEnd::StatusUnknown => failed("exit status unknown".to_owned()),
        RawEnd::Signalled(signal) => failed(format!("signal={signal}")),
        RawEnd::OutputLimit => failed("too much output".to_owned()),
        RawEnd::SpawnFailed(why) => failed(why.to_string()),
        RawEnd::Unusable(why) | RawEnd::ValueRefused(why) => failed(why.to_string()),
        RawEnd::ContentChanged => failed("not what was trusted".to_owned()),
        RawEnd::Missing(_) => failed("missing".to_owned()),
        RawEnd::Cancelled => failed("cancelled".to_owned()),
        RawEnd::Contradicted(why) => failed(why.clone()),
        RawEnd::Returned(_)
        | RawEnd::Decided(_)
        | RawEnd::Threw(_)
        | RawEnd::OverLimit(_)
        | RawEnd::BrokeProtocol(_)
        | RawEnd::Unanswered(_) => Vec::new(),
    }
}

/// The breadcrumbs of a load.
pub(super) fn of_loading(hooks: &[Hook], diagnostics: &[Diagnostic]) -> Vec<Breadcrumb> {
    let mut crumbs: Vec<Breadcrumb> = diagnostics
        .iter()
        .map(|finding| {
            let tag = match finding.code {
                Code::HooksMatcherInvalid => "hooks.matcher-invalid",
                _ => "plugins.hook-error",
            };
            let at = finding.location.as_ref();
            let place = at.map(|at| format!(" ({}:{})", at.file.display(), at.line)).unwrap_or_default();
            Breadcrumb::new(DialectId::Xcode, tag, format!("{}{place}", finding.message))
        })
        .collect();
    if !hooks.is_empty() {
        crumbs.push(Breadcrumb::new(DialectId::Xcode, "plugins.hooks-registered", format!("count={}", hooks.len())));
    }
    crumbs
}

/// The breadcrumbs of an error of the engine itself.
pub(super) fn of_engine(kind: EventKind, why: &str) -> Breadcrumb {
    Breadcrumb::new(DialectId::Xcode, "hooks.bus-error", format!("{}: {why}", kind.name()))
}

fn word(answer: &Answer) -> &'static str {
    match answer.decision {
        AnswerDecision::Allow => "allow",
        AnswerDecision::Deny => "deny",
        AnswerDecision::Modify => "modify",
    }
}

fn quoted(text: &str) -> String {
    text.trim().chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_engine_has_a_tag_of_its_own() {
        let crumb = of_engine(EventKind::BeforeTool, "a run was lost");
        assert_eq!((crumb.tag, crumb.text.as_str()), ("hooks.bus-error", "before-tool: a run was lost"));
    }
}
