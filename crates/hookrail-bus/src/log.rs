//! What an operator reads about requests: refusals and failed hooks as warnings, decisions as information.
//!
//! Every line of a request stands in its span, which names the request, the session, the project, the event and the tool.
//! Nothing here can fail or change an answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hookrail::outcome::Health;
use hookrail::{Decision, Diagnostic, EndKind, Event, EventKind, HookRun, Level, Outcome};
use tracing::Span;

use crate::error::{BusError, ErrorCode};

/// How much of a text that a hook or a client wrote is logged.
const LONGEST: usize = 1_000;

/// What all log lines of a request are about.
pub(crate) struct About {
    correlation_id: String,
    session: String,
    project: PathBuf,
    event: EventKind,
    tool: Option<String>,
}

impl About {
    pub(crate) fn new(correlation_id: &str, event: &Event, project: &Path) -> Self {
        Self {
            correlation_id: short(correlation_id).to_owned(),
            session: short(event.session_id()).to_owned(),
            project: project.to_owned(),
            event: event.kind(),
            tool: event.text("tool_name").map(|name| short(&name).to_owned()),
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

/// Writes to the log. A subscriber that panics, for example because its terminal is gone, loses a line and nothing else.
pub(crate) fn shielded(write: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(write)) {
        // Dropping what was thrown may panic, too.
        std::mem::forget(payload);
    }
}

/// A message that was not executed.
pub(crate) fn refused(correlation_id: &str, error: &BusError) {
    shielded(|| log_refused(correlation_id, error));
}

/// What came of a request. What loading noticed is logged when configuration is read, not for every event.
pub(crate) fn executed(about: &About, outcome: &Outcome, loading: &[Diagnostic]) {
    shielded(|| about.span().in_scope(|| log_executed(outcome, loading)));
}

/// What is wrong with the configuration of a project, and what no longer is.
pub(crate) fn configuration(project: &Path, news: &[&Diagnostic], mended: &[&String]) {
    shielded(|| {
        let project = project.display();
        for found in news {
            tracing::warn!(target: "hookrail::bus", %project, code = found.code.name(), "{}", sentence(found));
        }
        for message in mended {
            tracing::info!(target: "hookrail::bus", %project, "no longer: {message}");
        }
    });
}

/// A diagnostic in one sentence, with its place.
pub(crate) fn sentence(diagnostic: &Diagnostic) -> String {
    match &diagnostic.location {
        Some(location) => format!("{}: {} ({})", location.file.display(), diagnostic.message, diagnostic.code.name()),
        None => format!("{} ({})", diagnostic.message, diagnostic.code.name()),
    }
}

fn log_refused(correlation_id: &str, error: &BusError) {
    let (id, code, reason) = (short(correlation_id), error.code_name(), short(&error.message));
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
                Decision::Ask | Decision::Allow => {
                    tracing::info!(target: "hookrail::bus", decision = "ask", hook, reason, "approval required");
                }
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
