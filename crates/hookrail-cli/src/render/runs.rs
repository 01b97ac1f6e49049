//! Everything about each run of a hook: what it received, what it wrote, how long it took, what it decided.

use hookrail::HookRun;
use hookrail::Json;
use hookrail::hook::{Action, Hook};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{limited_to, one_line};

use super::outcome::{duration, facts, run_cells};
use super::table::Table;
use crate::render::style::{QUIET, paint};
use hookrail_app::json_text::indented_json;
use hookrail_app::run_trace::RunTrace;

/// The highest number of lines shown of what a hook received or wrote.
const MAX_LINES: usize = 200;
/// The highest number of characters shown of what a hook received or wrote.
const MAX_CHARACTERS: usize = 20_000;

/// Renders the runs one after the other.
pub(super) fn all<'r>(runs: impl Iterator<Item = &'r HookRun>, trace: &RunTrace, places: &PathDisplay) -> String {
    runs.map(|run| one(run, trace, places)).collect::<Vec<_>>().join("\n")
}

fn one(run: &HookRun, trace: &RunTrace, places: &PathDisplay) -> String {
    let mut head = Table::default();
    head.row(run_cells(run, places));
    if !trace.shows(run) {
        return head.render(2);
    }
    let traced = trace.of(run);
    // A module has no standard streams of its own: it gets an argument, and prints with `console` and its logger.
    let names = match run.hook.action {
        Action::Module(_) => StreamNames { input: "event", output: "console", errors: "errors, logger" },
        Action::Remote(_) => StreamNames { input: "question", output: "answer", errors: "errors" },
        _ => StreamNames { input: "stdin", output: "stdout", errors: "stderr" },
    };
    let mut lines = vec![("runs", places.sentence(&what_runs(&run.hook)))];
    match traced {
        Some(traced) => {
            let timing = format!("started after {} and took {}", duration(traced.started), duration(run.duration));
            lines.push(("timing", timing));
            lines.push((names.input, shown(&pretty(&String::from_utf8_lossy(&traced.input)))));
        }
        None => lines.push((names.input, paint(QUIET, "the hook was not started"))),
    }
    lines.push((names.output, shown(&run.stdout)));
    lines.push((names.errors, shown(&run.stderr)));
    if let Some(value) = traced.and_then(|traced| traced.returned.as_ref()) {
        lines.push(("returned", shown(&pretty(value.text()))));
    }
    head.render(2) + &facts(lines, 6)
}

/// What the input and the outputs of a hook are called.
struct StreamNames {
    input: &'static str,
    output: &'static str,
    errors: &'static str,
}

/// Returns what a hook runs, in words.
pub(super) fn what_runs(hook: &Hook) -> String {
    match &hook.action {
        Action::Shell(line) => shown(line),
        Action::Program(words) => one_line(&words.join(" ")),
        Action::Module(file) => one_line(&file.to_string_lossy()),
        Action::Native(_) => "code of this program".to_owned(),
        Action::Remote(target) => format!("asks the workers of group `{}`", target.group),
        Action::Http(target) => format!("sends the event to {}", one_line(&target.to_string())),
        Action::Rule(rule) => format!("the rule {}", one_line(rule.definition())),
        Action::NotExecutable(kind) => format!("nothing: hooks of the type `{}` cannot be run", one_line(kind)),
        Action::Unusable(why) => format!("nothing: {}", one_line(why)),
        Action::Missing(guard) => format!("nothing: it {}", one_line(&guard.reason())),
    }
}

fn shown(text: &str) -> String {
    if text.trim().is_empty() { paint(QUIET, "empty") } else { limited_to(text, MAX_LINES, MAX_CHARACTERS) }
}

/// JSON on several lines; any other text as it is.
fn pretty(text: &str) -> String {
    match Json::parse(text.trim()) {
        Ok(value) => indented_json(value.text()),
        Err(_) => text.to_owned(),
    }
}
