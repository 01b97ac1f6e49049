//! What an operator reads about requests: refusals and failed hooks as warnings, decisions as information.
//!
//! Every line of a request stands in its span, which names the request, the session, the project, the event and the tool.
//! Nothing here can fail or change an answer.

use hookrail::{Decision, Diagnostic, EndKind, Event, Health, HookRun, Level, Outcome};
use tracing::Span;

use crate::error::{BusError, ErrorCode};

/// How much of a text that a hook or a client wrote is logged.
const LONGEST: usize = 1_000;

/// What all log lines of a request are about.
pub(crate) fn span(correlation_id: &str, event: &Event, project: &std::path::Path) -> Span {
    let tool = event.text("tool_name");
    tracing::warn_span!(
        target: "hookrail::bus", "request",
        correlationId = short(correlation_id), session = short(event.session_id()), project = %project.display(),
        event = event.kind().name(), tool = tool.as_deref().map(short),
    )
}

/// A message that was not executed.
pub(crate) fn refused(correlation_id: &str, error: &BusError) {
    let (id, code, reason) = (short(correlation_id), error.code.as_str(), short(&error.message));
    match error.known() {
        // The client asked for it, or it was told beforehand.
        Some(ErrorCode::Cancelled | ErrorCode::ShuttingDown) => {
            tracing::info!(target: "hookrail::bus", correlationId = id, code, reason, "request not executed");
        }
        Some(ErrorCode::InternalError) => {
            tracing::error!(target: "hookrail::bus", correlationId = id, code, reason, "request not executed");
        }
        _ => tracing::warn!(target: "hookrail::bus", correlationId = id, code, reason, "request not executed"),
    }
}

/// What came of a request, in its span. What loading noticed is logged when configuration is read, not for every event.
pub(crate) fn executed(outcome: &Outcome, loading: &[Diagnostic]) {
    let news = outcome.diagnostics.iter().filter(|found| found.level >= Level::Warning && !loading.contains(found));
    let mut others: Vec<&Diagnostic> = news.collect();
    for run in outcome.runs.iter().filter(|run| run.health == Health::Failed && run.end != EndKind::Cancelled) {
        let about = format!("hook `{}`", run.hook);
        let reported = others.iter().position(|found| found.message.contains(&about)).map(|at| others.remove(at));
        let reason = reported.map_or_else(|| last_words(run), |found| found.message.as_str());
        let decision = run.decision.map(Decision::name);
        tracing::warn!(
            target: "hookrail::bus", hook = %run.hook, end = run.end.name(), exitCode = run.exit_code,
            signal = run.signal, decision, reason = short(reason), "hook failed"
        );
    }
    for found in others {
        tracing::warn!(target: "hookrail::bus", code = found.code.name(), reason = short(&found.message), "diagnostic");
    }
    let reason = outcome.effects.reason.as_deref().map(short);
    match outcome.effects.decision {
        Some(decision @ (Decision::Deny | Decision::Ask)) => {
            let hook = deciders(outcome, decision);
            match decision {
                Decision::Deny => tracing::info!(target: "hookrail::bus", decision = "deny", hook, reason, "denied"),
                _ => tracing::info!(target: "hookrail::bus", decision = "ask", hook, reason, "approval required"),
            }
        }
        Some(_) | None => tracing::debug!(target: "hookrail::bus", runs = outcome.runs.len(), "not denied"),
    }
    if let Some(stop) = &outcome.effects.stop {
        tracing::info!(target: "hookrail::bus", decision = "stop", reason = short(&stop.reason), "agent stopped");
    }
}

/// The hooks that decided so.
fn deciders(outcome: &Outcome, decision: Decision) -> String {
    let deciders = outcome.runs.iter().filter(|run| run.decision == Some(decision));
    let names: Vec<String> = deciders.map(|run| run.hook.to_string()).collect();
    short(&names.join(", ")).to_owned()
}

fn last_words(run: &HookRun) -> &str {
    let (stderr, stdout) = (run.stderr.trim(), run.stdout.trim());
    if stderr.is_empty() { stdout } else { stderr }
}

/// As much of a text as a log line has room for.
fn short(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).nth(LONGEST).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}
