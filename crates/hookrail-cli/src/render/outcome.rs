//! The outcome of a fired event: the verdict first, then the effects, every run, every hook that did not run, and the
//! diagnostics.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::Style;
use hookrail::hook::Action;
use hookrail::{Decision, Effects, EndKind, Event, EventKind, HookRun, Json, Outcome, ShadowRun};
use hookrail_app::lint::MatcherFix;
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{hanging, limited, one_line, short};

use super::diagnostic;
use super::hooks::{self, NAME};
use super::runs;
use super::table::{Cell, Table};
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, PLAIN, QUIET, paint};
use crate::render::verbosity;
use hookrail_app::run_trace::RunTrace;

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

/// What is shown of a fired event.
pub(crate) struct OutcomeReport<'r> {
    pub(crate) outcome: &'r Outcome,
    /// The event with its subject.
    pub(crate) subject: &'r str,
    pub(crate) ending: Ending,
    /// What the runs received and returned, if everything about them is shown.
    pub(crate) trace: Option<&'r RunTrace>,
    /// What to write instead of matchers that do not match.
    pub(crate) fixes: &'r [MatcherFix],
    pub(crate) places: &'r PathDisplay,
}

impl OutcomeReport<'_> {
    /// Renders the whole report.
    pub(crate) fn render(&self) -> String {
        let Self { outcome, places, .. } = self;
        let (word, style) = match self.ending {
            Ending::Complete => verdict(outcome),
            Ending::Interrupted => ("interrupted", BAD),
        };
        let mut out = format!("{}  {}\n", paint(style, word), paint(HEADING, self.subject));
        out.push_str(&effects(&outcome.effects));
        if verbosity::is_quiet() {
            return out;
        }
        if outcome.runs.is_empty() {
            out.push_str("  no hook ran\n");
        } else {
            let rows = match self.trace {
                Some(trace) => runs::all(outcome.runs.iter(), trace, places),
                None => run_table(outcome, places),
            };
            let _ = write!(out, "\n{}\n{rows}", paint(HEADING, "ran"));
        }
        if !outcome.shadow.is_empty() {
            let shadow = shadow_runs(&outcome.shadow, places);
            let _ = write!(out, "\n{}\n{shadow}", paint(HEADING, "ran without an effect"));
            if let Some(trace) = self.trace {
                out.push_str(&runs::all(outcome.shadow.iter().map(|shadow| &shadow.run), trace, places));
            }
        }
        out.push_str(&hooks::skipped(&outcome.skipped, "did not run", self.fixes, places));
        if !outcome.diagnostics.is_empty() {
            let _ = write!(out, "\n{}", diagnostic::all(&outcome.diagnostics, places).trim_end());
            out.push('\n');
        }
        let hint = hooks::trust_hint(outcome.skipped.iter().map(|skipped| &skipped.hook));
        if hint.is_empty() { out } else { format!("{out}\n{hint}") }
    }
}

/// Returns everything that was decided, one fact on each line, without styles and times: two outcomes that mean the same have
/// the same text.
pub(crate) fn plain_verdict(outcome: &Outcome) -> String {
    let mut out = format!("{}\n", verdict(outcome).0);
    for (name, value) in effect_lines(&outcome.effects) {
        let _ = writeln!(out, "{name}: {}", limited(&value));
    }
    for run in outcome.runs.iter().chain(outcome.shadow.iter().map(|shadow| &shadow.run)) {
        let decision = run.decision.map_or("no decision", Decision::name);
        let _ = writeln!(out, "hook {}: {}, {decision}", one_line(&run.hook.label), end(run));
    }
    for skipped in outcome.skipped.iter() {
        let _ = writeln!(out, "hook {}: did not run, {}", one_line(&skipped.hook.label), skipped.why.name());
    }
    for diagnostic in &outcome.diagnostics {
        let _ =
            writeln!(out, "{}[{}]: {}", diagnostic.level.name(), diagnostic.code.name(), one_line(&diagnostic.message));
    }
    out
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
    facts(effect_lines(effects).into_iter().map(|(name, value)| (name, limited(&value))).collect(), 2)
}

/// Lists facts, each on a line with its name, in two columns.
pub(super) fn facts(lines: Vec<(&str, String)>, indent: usize) -> String {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in lines {
        let name = paint(QUIET, format!("{name:width$}"));
        let _ = writeln!(out, "{:indent$}{name}  {}", "", hanging(&value, indent + width + 2));
    }
    out
}

/// Returns the name and the value of each effect.
fn effect_lines(effects: &Effects) -> Vec<(&'static str, String)> {
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
    lines.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The cells of a run: the hook, how it ended, what it decided, how long it took, where it is configured.
pub(super) fn run_cells(run: &HookRun, places: &PathDisplay) -> [Cell; 5] {
    [
        Cell::plain(short(&run.hook.label, NAME)),
        Cell::new(end(run), if is_failure(run) { BAD } else { PLAIN }),
        Cell::new(run.decision.map_or("no decision", Decision::name), decision_style(run.decision)),
        Cell::plain(duration(run.duration)),
        Cell::quiet(places.location(&run.hook.origin.location)),
    ]
}

fn run_table(outcome: &Outcome, places: &PathDisplay) -> String {
    let mut table = Table::default();
    for run in &outcome.runs {
        table.row(run_cells(run, places));
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
