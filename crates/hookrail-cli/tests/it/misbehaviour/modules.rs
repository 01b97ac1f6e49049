//! Rows about modules: what one says, and how it is run for an event that it guards and for one that it only hears of.
//!
//! A module's time is not a setting, so these rows are fired by this very program, started once more, and not by the
//! command line: there the limit of the time can be shorter than a minute.

use std::time::Duration;

use hookrail::document::outcome_document;
use hookrail::{EventKind, HookSystem, Json};
use serde_json::Value;

use crate::misbehaviour::commands::Expected;
use crate::misbehaviour::firing::Sandbox;
use crate::misbehaviour::pool::{check_all, is_wanted};
use crate::misbehaviour::{handlers, outside, poison};

/// One way for a module to misbehave, and what becomes of it.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// What the module does, as the end of a sentence that begins with "a module that".
    pub(crate) name: &'static str,
    source: Source,
    /// The end, and the decisions of `tool_call` and of `tool_result`.
    pub(crate) expected: Expected<2>,
    reported: &'static [&'static str],
    memory: u64,
    /// The time that its handlers have.
    time: Duration,
}

#[derive(Clone, Copy)]
enum Source {
    /// The body of a handler, which is registered for both events.
    Handler(&'static str),
    /// The whole module.
    Module(&'static str),
}

/// The end of a module that could not be loaded, and so did not run.
pub(crate) const NOT_LOADED: &str = "not loaded";

/// The time of a handler whose time is to run out. It works for all of that time, so it is short.
const SHORT: Duration = Duration::from_millis(100);

/// The time of every other handler, which no loaded machine reaches.
const PATIENCE: Duration = Duration::from_secs(120);

/// A firing process that takes longer than this hangs.
const HANG: Duration = Duration::from_secs(150);

/// How long a result may be, and how much memory a module may fill, here. Both are less than by default, because the
/// engine is slow when it is not optimised.
const RESULT: usize = 1 << 20;
const MEMORY: usize = 16 << 20;

/// A row of a handler with this body; what becomes of it is added.
pub(crate) const fn handler(name: &'static str, body: &'static str) -> Row {
    let nothing = "nothing was said about what becomes of this";
    let expected = Expected { end: nothing, strict_end: nothing, decisions: [nothing; 2] };
    Row { name, source: Source::Handler(body), expected, reported: &[], memory: 120, time: PATIENCE }
}

/// A row of a whole module.
pub(crate) const fn module(name: &'static str, source: &'static str) -> Row {
    Row { source: Source::Module(source), ..handler(name, source) }
}

impl Row {
    /// It fails: a guard blocks, and elsewhere that is reported.
    pub(crate) const fn fails(self, end: &'static str) -> Self {
        self.ends(end, ["deny", "none"])
    }

    /// It threw.
    pub(crate) const fn throws(self) -> Self {
        self.fails("threw").reports(&["hook-threw"])
    }

    /// It took too long.
    pub(crate) const fn times_out(self) -> Self {
        Self { time: SHORT, ..self }.fails("timed-out").reports(&["hook-timed-out"])
    }

    /// It went over its memory or its stack.
    pub(crate) const fn goes_over(self) -> Self {
        self.fails("limit").reports(&["hook-limit"])
    }

    /// It blocks, and is heard where a block counts.
    pub(crate) const fn blocks(self) -> Self {
        self.ends("answered", ["deny", "none"])
    }

    /// The module cannot be loaded, and an error is reported.
    pub(crate) const fn is_not_loaded(self) -> Self {
        Self { time: SHORT, ..self }.ends(NOT_LOADED, ["none"; 2]).reports(&["module-load"])
    }

    pub(crate) const fn ends(self, end: &'static str, decisions: [&'static str; 2]) -> Self {
        Self { expected: Expected { end, strict_end: end, decisions }, ..self }
    }

    pub(crate) const fn reports(self, codes: &'static [&'static str]) -> Self {
        Self { reported: codes, ..self }
    }

    fn text(&self) -> String {
        match self.source {
            Source::Module(source) => source.to_owned(),
            Source::Handler(body) => format!(
                "export default (pi) => {{ for (const name of ['tool_call', 'tool_result']) pi.on(name, async (event, ctx) => {{\n{body}\n}}); }};"
            ),
        }
    }
}

/// Every row, by what it is about.
pub(crate) fn sections() -> [(&'static str, &'static [Row]); 3] {
    [("handlers", handlers::ROWS), ("surroundings", poison::ROWS), ("what the host holds for them", outside::ROWS)]
}

const EVENTS: [(&str, EventKind); 2] = [("tool_call", EventKind::BeforeTool), ("tool_result", EventKind::AfterTool)];

#[test]
fn modules() {
    let rows = sections().into_iter().flat_map(|(_, rows)| rows).filter(|row| is_wanted(row.name));
    let cases: Vec<(Row, usize)> = rows.flat_map(|row| [(*row, 0), (*row, 1)]).collect();
    check_all(&cases, |(row, event)| check(row, *event));
}

fn check(row: &Row, event: usize) -> Result<(), String> {
    let sandbox = Sandbox::new();
    let (name, _) = EVENTS[event];
    sandbox.write("project/event", name);
    sandbox.write("project/time", &row.time.as_millis().to_string());
    sandbox.write("project/bad.ts", &row.text());
    sandbox.write(
        "project/good.ts",
        "export default (pi) => { for (const name of ['tool_call', 'tool_result']) pi.on(name, () => console.log('well')); };",
    );
    let program = std::env::current_exe().unwrap();
    let arguments =
        ["misbehaviour::modules::firing_process", "--exact", "--ignored", "--nocapture", "--test-threads=1"];
    let seen = sandbox.fire(&program, &arguments, HANG);
    let mut wrong = Vec::new();
    match &seen.outcome {
        Err(why) => wrong.push(format!("{why} after {:?}", seen.took)),
        Ok(outcome) => wrong.extend(judge(row, event, outcome)),
    }
    if seen.peak > row.memory || seen.peak == 0 {
        wrong.push(format!("{} MiB of memory, not {}", seen.peak, row.memory));
    }
    if let Err(left) = sandbox.are_left(0) {
        wrong.push(format!("{left} processes are left"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("a module that {} ({name}): {}", row.name, wrong.join("; "))) }
}

fn judge(row: &Row, event: usize, outcome: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let runs = outcome["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |index: usize| runs.get(index).map_or(NOT_LOADED, |run| run["end"].as_str().unwrap_or_default());
    if of(0) != "silent" || runs[0]["stdout"] != "well\n" {
        wrong.push(format!("the neighbour's end is {}", of(0)));
    }
    if of(1) != row.expected.end {
        let diagnostics = &outcome["diagnostics"];
        wrong.push(format!("the end is {}, not {}; {diagnostics:.500}", of(1), row.expected.end));
    }
    let decided = outcome["decision"].as_str().unwrap_or("none");
    if decided != row.expected.decisions[event] {
        wrong.push(format!("the decision is {decided}, not {}", row.expected.decisions[event]));
    }
    if !outcome["toolInput"].is_null() {
        wrong.push("a module has rewritten the tool's input".to_owned());
    }
    let found: Vec<&str> = outcome["diagnostics"]
        .as_array()
        .map(|found| found.iter().filter_map(|found| found["code"].as_str()).collect())
        .unwrap_or_default();
    for code in row.reported {
        if !found.contains(code) {
            wrong.push(format!("`{code}` is not reported, only {found:?}"));
        }
    }
    wrong
}

/// What the rows above start: it fires one event at the two modules in its folder and prints the outcome.
#[test]
#[ignore = "it is started by the rows about modules, in a folder of their own"]
fn firing_process() {
    let name = std::fs::read_to_string("event").unwrap();
    let (_, kind) = EVENTS.into_iter().find(|(event, _)| *event == name).unwrap();
    let folder = std::env::current_dir().unwrap();
    let mut limits = hookrail_js::RuntimeLimits::default();
    limits.result = RESULT;
    limits.memory = MEMORY;
    let time = Duration::from_millis(std::fs::read_to_string("time").unwrap().parse().unwrap());
    limits.cpu = time;
    let builder = || {
        let builder = HookSystem::builder(&folder).environment(std::env::vars_os().collect());
        builder.runner(hookrail_js::Modules::with_limits(limits))
    };
    let looked_into = builder().module(folder.join("good.ts")).module(folder.join("bad.ts")).build();
    let snapshot = looked_into.snapshot();
    let system = snapshot.hooks().iter().fold(builder(), |builder, hook| {
        let mut hook = hookrail::Hook::clone(hook);
        // The neighbour behaves, so it has all the time that a loaded machine may need.
        hook.timeout = if hook.label.contains("bad") { time } else { PATIENCE };
        builder.hook(hook)
    });
    let system = system.build();
    let event = system
        .event(kind)
        .with_text("tool_name", "bash")
        .with("tool_input", Json::parse(r#"{"command":"ls"}"#).unwrap());
    let event = match kind {
        EventKind::AfterTool => event.with("tool_response", Json::parse(r#"{"llmContent":"x"}"#).unwrap()),
        _ => event,
    };
    let mut outcome = system.fire_blocking(event);
    outcome.diagnostics.extend(snapshot.diagnostics().iter().cloned());
    println!("\n{}", outcome_document(&outcome).text());
    system.shutdown_blocking();
}
