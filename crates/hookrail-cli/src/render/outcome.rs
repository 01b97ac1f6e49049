//! The outcome of a fired event: the verdict first, then the effects, every run, every hook that did not run, and the
//! diagnostics.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::Style;
use hookrail::hook::Action;
use hookrail::{Decision, Effects, EndKind, Event, EventKind, HookRun, Json, Outcome, ShadowRun};

use super::diagnostic;
use super::hooks::{self, NAME};
use super::path_display::PathDisplay;
use super::table::{Cell, Table};
use super::text::{hanging, limited, short};
use crate::style::{BAD, CAREFUL, GOOD, HEADING, PLAIN, QUIET, paint};

/// Returns the event with its subject, such as `before-tool write_file`.
pub(crate) fn subject(event: &Event) -> String {
    let about = event.kind().spec().subject.and_then(|field| event.text(field));
    match about.filter(|about| !about.is_empty()) {
        Some(about) => format!("{} {}", event.kind(), short(&about, NAME)),
        None => event.kind().to_string(),
    }
}

/// Whether the hooks were asked to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Every hook answered or failed.
    Complete,
    /// A signal cancelled the event, so that its outcome says nothing.
    Interrupted,
}

/// Renders the whole report.
pub(crate) fn report(outcome: &Outcome, subject: &str, ending: Ending, places: &PathDisplay) -> String {
    let (word, style) = match ending {
        Ending::Complete => verdict(outcome),
        Ending::Interrupted => ("interrupted", BAD),
    };
    let mut out = format!("{}  {}\n", paint(style, word), paint(HEADING, subject));
    out.push_str(&effects(&outcome.effects));
    if outcome.runs.is_empty() {
        out.push_str("  no hook ran\n");
    } else {
        let _ = write!(out, "\n{}\n{}", paint(HEADING, "ran"), runs(outcome, places));
    }
    if !outcome.shadow.is_empty() {
        let _ = write!(out, "\n{}\n{}", paint(HEADING, "ran without an effect"), shadow_runs(&outcome.shadow, places));
    }
    out.push_str(&hooks::skipped(&outcome.skipped, "did not run", places));
    if !outcome.diagnostics.is_empty() {
        let _ = write!(out, "\n{}", diagnostic::all(&outcome.diagnostics, places).trim_end());
        out.push('\n');
    }
    let hint = hooks::trust_hint(outcome.skipped.iter().map(|skipped| &skipped.hook));
    if hint.is_empty() { out } else { format!("{out}\n{hint}") }
}

/// Returns the verdict in a few words.
pub(crate) fn verdict(outcome: &Outcome) -> (&'static str, Style) {
    let effects = &outcome.effects;
    match (&effects.stop, effects.decision) {
        (Some(_), Some(Decision::Deny)) => ("blocked, and the agent must stop", BAD),
        (Some(_), _) => ("the agent must stop", BAD),
        (None, Some(Decision::Deny)) => ("blocked", BAD),
        (None, Some(Decision::Ask)) => ("approval required", CAREFUL),
        // The operation is not allowed here: it has its result already.
        (None, Some(Decision::Allow) | None)
            if outcome.event == EventKind::BeforeModel && effects.llm_response.is_some() =>
        {
            ("answered by a hook; the model is not called", CAREFUL)
        }
        (None, Some(Decision::Allow) | None) => ("allowed", GOOD),
    }
}

/// Lists the effects, one line for each.
pub(crate) fn effects(effects: &Effects) -> String {
    let json = |value: &Option<Json>| value.as_ref().map(|value| value.text().to_owned());
    let list = |values: &[Json]| (!values.is_empty()).then(|| Json::of(values).ok()).flatten();
    let yes = |flag: bool| flag.then(|| "yes".to_owned());
    // Destructured, so that a new effect cannot be forgotten here. The decision is the verdict above these lines.
    let Effects {
        decision: _,
        reason,
        stop,
        system_message,
        suppress_output,
        clear_context,
        additional_context,
        tool_input,
        tool_output,
        prompt,
        messages,
        entries,
        llm_request,
        llm_response,
        tool_config,
        result,
    } = effects;
    let lines = [
        ("reason", reason.clone()),
        ("stop reason", stop.as_ref().map(|stop| stop.reason.clone())),
        ("message", system_message.clone()),
        ("context", additional_context.clone()),
        ("tool input", json(tool_input)),
        ("tool output", json(tool_output)),
        ("prompt", prompt.clone()),
        ("messages", json(&list(messages))),
        ("entries", json(&list(entries))),
        ("request", json(llm_request)),
        ("response", json(llm_response)),
        ("tools", json(tool_config)),
        ("result", json(result)),
        ("hide output", yes(*suppress_output)),
        ("clear context", yes(*clear_context)),
    ];
    let lines: Vec<_> = lines.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in lines {
        let name = paint(QUIET, format!("{name:width$}"));
        let _ = writeln!(out, "  {name}  {}", hanging(&limited(&value), width + 4));
    }
    out
}

fn runs(outcome: &Outcome, places: &PathDisplay) -> String {
    let mut table = Table::default();
    for run in &outcome.runs {
        table.row([
            Cell::plain(short(&run.hook.label, NAME)),
            Cell::new(end(run), if is_failure(run) { BAD } else { PLAIN }),
            Cell::new(run.decision.map_or("no decision", Decision::name), decision_style(run.decision)),
            Cell::plain(duration(run.duration)),
            Cell::quiet(places.location(&run.hook.origin.location)),
        ]);
        // The author of a failed hook first needs its standard error, unless a diagnostic quotes it already.
        let stderr = run.stderr.trim();
        let quoted = outcome.diagnostics.iter().any(|diagnostic| diagnostic.message.contains(stderr));
        // A module has no terminal of its own: what it prints and logs would be seen nowhere else.
        let is_module = matches!(run.hook.action, Action::Module(_));
        let stdout = run.stdout.trim();
        if is_module && !stdout.is_empty() {
            table.note(format!("stdout: {}", hanging(&limited(stdout), 8)));
        }
        if (is_failure(run) || is_module) && !stderr.is_empty() && !quoted {
            table.note(format!("stderr: {}", hanging(&limited(stderr), 8)));
        }
    }
    table.render(2)
}

/// Lists the hooks that are not enforced, each with what it would have done.
fn shadow_runs(shadow: &[ShadowRun], places: &PathDisplay) -> String {
    let mut table = Table::default();
    for ShadowRun { run, effects: would } in shadow {
        let verdict = match (&would.stop, run.decision) {
            (Some(_), _) => "would stop the agent",
            (None, Some(Decision::Deny)) => "would deny",
            (None, Some(Decision::Ask)) => "would ask",
            (None, Some(Decision::Allow)) => "would allow",
            (None, None) => "no decision",
        };
        table.row([
            Cell::plain(short(&run.hook.label, NAME)),
            Cell::new(end(run), if is_failure(run) { BAD } else { PLAIN }),
            Cell::new(verdict, decision_style(run.decision)),
            Cell::plain(duration(run.duration)),
            Cell::quiet(places.location(&run.hook.origin.location)),
        ]);
        let wanted = effects(would);
        if !wanted.is_empty() {
            table.note(hanging(wanted.trim_end(), 4));
        }
    }
    table.render(2)
}

/// Returns whether the run failed. Exit status 2 of a settings-file hook is a deny, not a failure.
fn is_failure(run: &HookRun) -> bool {
    let denied = run.end == EndKind::Exited && run.exit_code == Some(2) && run.decision == Some(Decision::Deny);
    !matches!(run.end, EndKind::Answered | EndKind::Silent | EndKind::Detached) && !denied
}

/// Returns how the run ended, with its exit status or signal if it has one.
pub(crate) fn end(run: &HookRun) -> String {
    match (run.end, run.exit_code, run.signal) {
        (EndKind::Exited, Some(code), _) => format!("exited {code}"),
        (EndKind::Signalled, _, Some(signal)) => format!("signal {signal}"),
        (end, ..) => end.name().to_owned(),
    }
}

fn decision_style(decision: Option<Decision>) -> Style {
    match decision {
        Some(Decision::Deny) => BAD,
        Some(Decision::Ask) => CAREFUL,
        Some(Decision::Allow) => GOOD,
        None => QUIET,
    }
}

/// Formats a duration with two or three significant digits.
pub(crate) fn duration(duration: Duration) -> String {
    let milliseconds = duration.as_secs_f64() * 1_000.0;
    match milliseconds {
        ..10.0 => format!("{milliseconds:.1} ms"),
        10.0..1_000.0 => format!("{milliseconds:.0} ms"),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (microseconds, shown) in [(800, "0.8 ms"), (12_400, "12 ms"), (1_250_000, "1.2 s"), (60_000_000, "60.0 s")]
        {
            assert_eq!(duration(Duration::from_micros(microseconds)), shown);
        }
    }
}
