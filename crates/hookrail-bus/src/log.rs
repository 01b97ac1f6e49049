//! Log lines about requests for operators: refusals and failed hooks as warnings, decisions as information.
//!
//! Every line of a request is in its span, which names the request, the session, the project, the event and the tool.
//! Nothing here can fail or change an answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hookrail::outcome::Health;
use hookrail::{Decision, Diagnostic, EndKind, Event, EventKind, HookRun, Level, Outcome};
use tracing::Span;

use crate::error::{BusError, ErrorCode};

/// The longest text of a hook or a client in a log line, in characters.
const LONGEST: usize = 1_000;

/// The fields of all log lines of a request.
pub(crate) struct RequestLog {
    correlation_id: String,
    session: String,
    project: PathBuf,
    event: EventKind,
    tool: Option<String>,
}

impl RequestLog {
    pub(crate) fn new(correlation_id: &str, event: &Event, project: &Path) -> Self {
        Self {
            correlation_id: shorten(correlation_id).to_owned(),
            session: shorten(event.session_id()).to_owned(),
            project: project.to_owned(),
            event: event.kind(),
            tool: event.text("tool_name").map(|name| shorten(&name).to_owned()),
        }
    }

    fn span(&self) -> Span {
        tracing::warn_span!(
            target: "hookrail::bus", "request",
            correlationId = self.correlation_id, session = self.session, project = %self.project.display(),
            event = self.event.name(), tool = self.tool,
        )
    }
}

/// Writes to the log. If a subscriber panics, for example because its terminal is gone, only the line is lost.
pub(crate) fn shielded(write: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(write)) {
        // Dropping the payload of the panic may panic too.
        std::mem::forget(payload);
    }
}

/// Logs a message that was not executed.
pub(crate) fn refused(correlation_id: &str, error: &BusError) {
    shielded(|| log_refused(correlation_id, error));
}

/// Logs the outcome of a request. Diagnostics of loading are logged when configuration is read, not for every event.
pub(crate) fn executed(about: &RequestLog, outcome: &Outcome, loading: &[Diagnostic]) {
    shielded(|| about.span().in_scope(|| log_executed(outcome, loading)));
}

/// Logs the new problems of a project's configuration, and those that were fixed.
pub(crate) fn configuration(project: &Path, news: &[&Diagnostic], fixed: &[&String]) {
    shielded(|| {
        let project = project.display();
        for found in news {
            tracing::warn!(target: "hookrail::bus", %project, code = found.code.name(), "{}", sentence(found));
        }
        for message in fixed {
            tracing::info!(target: "hookrail::bus", %project, "fixed: {message}");
        }
    });
}

/// Returns a diagnostic as one sentence, with its place.
pub(crate) fn sentence(diagnostic: &Diagnostic) -> String {
    match &diagnostic.location {
        Some(location) => format!("{}: {} ({})", location.file.display(), diagnostic.message, diagnostic.code.name()),
        None => format!("{} ({})", diagnostic.message, diagnostic.code.name()),
    }
}

fn log_refused(correlation_id: &str, error: &BusError) {
    let (id, code, reason) = (shorten(correlation_id), error.code_name(), shorten(&error.message));
    match error.known() {
        // The client requested the cancellation, or the operator the shutdown.
        Some(ErrorCode::Cancelled | ErrorCode::ShuttingDown) => {
            tracing::info!(target: "hookrail::bus", correlationId = id, code, reason, "request not executed");
        }
        Some(ErrorCode::InternalError) => {
            tracing::error!(target: "hookrail::bus", correlationId = id, code, reason, "request not executed");
        }
        _ => tracing::warn!(target: "hookrail::bus", correlationId = id, code, reason, "request not executed"),
    }
}

fn log_executed(outcome: &Outcome, loading: &[Diagnostic]) {
    for run in &outcome.runs {
        let (milliseconds, decision) = (run.duration.as_millis(), run.decision.map(Decision::name));
        tracing::debug!(
            target: "hookrail::bus", hook = %run.hook, end = run.end.name(), exitCode = run.exit_code, decision,
            milliseconds, "hook ran"
        );
    }
    let news = outcome.diagnostics.iter().filter(|found| found.level >= Level::Warning && !loading.contains(found));
    let mut others: Vec<&Diagnostic> = news.collect();
    for run in outcome.runs.iter().filter(|run| run.health == Health::Failed && run.end != EndKind::Cancelled) {
        let about = format!("hook `{}`", run.hook);
        let reported = others.iter().position(|found| found.message.contains(&about)).map(|at| others.remove(at));
        let reason = reported.map_or_else(|| written_output(run), |found| found.message.as_str());
        let decision = run.decision.map(Decision::name);
        tracing::warn!(
            target: "hookrail::bus", hook = %run.hook, end = run.end.name(), exitCode = run.exit_code,
            signal = run.signal, decision, reason = shorten(reason), "hook failed"
        );
    }
    for found in others {
        tracing::warn!(target: "hookrail::bus", code = found.code.name(), reason = shorten(&found.message), "diagnostic");
    }
    let reason = outcome.effects.reason.as_deref().map(shorten);
    match outcome.effects.decision {
        Some(decision @ (Decision::Deny | Decision::Ask)) => {
            let hook = deciders(outcome, decision);
            match decision {
                Decision::Deny => tracing::info!(target: "hookrail::bus", decision = "deny", hook, reason, "denied"),
                Decision::Ask | Decision::Allow => {
                    tracing::info!(target: "hookrail::bus", decision = "ask", hook, reason, "approval required");
                }
            }
        }
        Some(_) | None => tracing::debug!(target: "hookrail::bus", runs = outcome.runs.len(), "not denied"),
    }
    if let Some(stop) = &outcome.effects.stop {
        tracing::info!(target: "hookrail::bus", decision = "stop", reason = shorten(&stop.reason), "agent stopped");
    }
}

/// Returns the names of the hooks with this decision.
fn deciders(outcome: &Outcome, decision: Decision) -> String {
    let deciders = outcome.runs.iter().filter(|run| run.decision == Some(decision));
    let names: Vec<String> = deciders.map(|run| run.hook.to_string()).collect();
    shorten(&names.join(", ")).to_owned()
}

fn written_output(run: &HookRun) -> &str {
    let (stderr, stdout) = (run.stderr.trim(), run.stdout.trim());
    if stderr.is_empty() { stdout } else { stderr }
}

/// Returns the beginning of a text that fits in a log line.
fn shorten(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).nth(LONGEST).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}
