//! The page that is made of the rows, so that it cannot say anything else than what is tested.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::misbehaviour::commands::{self, LLXPRT_POLICIES, XCODE_POLICIES};
use crate::misbehaviour::modules;

const INTRODUCTION: &str = "\
# misbehaving hooks

This page is generated from the rows of `crates/hookrail-cli/tests/it/misbehaviour`. Every row is run for every failure policy
of its dialect, with a well-behaved neighbour in the same event, and each of these is checked:

* the typed end of the run, and the decision of the event,
* that the neighbour ended as it does alone,
* that the event did not hang: ten times the expected time is the guard,
* the most memory that the firing process took,
* what is left running afterwards.

Run it with `cargo test -p hookrail-cli --test it misbehaviour::`; write this page anew with `HOOKRAIL_BLESS=1` before that.

Under `ask` and `block` a hook has to answer strictly; where that changes its end, the second one is that of such a hook.

A decision of `none` means that the operation is allowed and no hook decided. After a timeout or a limit nothing of a hook
is left. What a command leaves behind after a normal exit is left alone, counted and reported; a daemon that has left the hook's
session and let go of its streams is not noticed then. What the processes of a module leave behind, daemons included, is ended
with the module: after a timeout or a limit, when its call is cancelled, when it is loaded anew, and when the host shuts down.
";

#[test]
fn the_page_in_the_repository_is_current() {
    is_current("docs/evidence/misbehaviour.md", &page());
}

/// What `scripts/reliability-peer` runs is what is tested here.
#[test]
fn the_faults_for_the_peer_are_current() {
    is_current("scripts/reliability-peer/faults.json", &faults());
}

fn is_current(name: &str, written: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, written).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it misbehaviour::page";
    assert!(found == written, "{name} is not current: run `{command}`");
}

/// The rows about commands, for programs.
fn faults() -> String {
    let rows = commands::sections().into_iter().flat_map(|(section, rows)| rows.iter().map(move |row| (section, row)));
    let faults: Vec<Value> = rows
        .map(|(section, row)| {
            json!({
                "section": section,
                "name": row.name,
                "command": row.command,
                "timeout": row.timeout,
                "largeInput": row.input == commands::Input::Large,
            })
        })
        .collect();
    format!("{}\n", serde_json::to_string_pretty(&faults).unwrap())
}

#[test]
fn no_two_rows_have_the_same_name() {
    let commands = commands::sections().into_iter().flat_map(|(_, rows)| rows.iter().map(|row| row.name));
    let modules = modules::sections().into_iter().flat_map(|(_, rows)| rows.iter().map(|row| row.name));
    let mut names: Vec<(&str, &str)> =
        commands.map(|name| ("hook", name)).chain(modules.map(|name| ("module", name))).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let [first, second, third] = LLXPRT_POLICIES;
    let [lenient, strict] = XCODE_POLICIES;
    for (section, rows) in commands::sections() {
        let _ = write!(
            page,
            "\n## commands: {section}\n\n| a hook that | llxprt ends | {first} | {second} | {third} | xcode ends | {lenient} | {strict} | left |\n"
        );
        page.push_str("|---|---|---|---|---|---|---|---|---|\n");
        for row in rows {
            page.push_str(&command_line(row));
        }
    }
    for (section, rows) in modules::sections() {
        let _ =
            write!(page, "\n## modules: {section}\n\n| a module that | ends | `tool_call` | `tool_result` | left |\n");
        page.push_str("|---|---|---|---|---|\n");
        for row in rows {
            page.push_str(&module_line(row));
        }
    }
    page
}

fn module_line(row: &modules::Row) -> String {
    let end = if row.expected.end == modules::NOT_LOADED {
        "not loaded, an error".to_owned()
    } else {
        format!("`{}`", row.expected.end)
    };
    format!("| {} | {end} | {} | nothing |\n", row.name, row.expected.decisions.join(" | "))
}

fn command_line(row: &commands::Row) -> String {
    let left = match row.left {
        0 => "nothing".to_owned(),
        count if row.reported.contains(&"survivors") => format!("{count}, reported"),
        count => format!("{count}, not noticed"),
    };
    format!(
        "| {} | {} | {} | {} | {} | {left} |\n",
        row.name,
        ends(&row.llxprt),
        row.llxprt.decisions.join(" | "),
        ends(&row.xcode),
        row.xcode.decisions.join(" | "),
    )
}

/// How a run ends, and how it ends for a guard if that differs.
fn ends<const POLICIES: usize>(expected: &commands::Expected<POLICIES>) -> String {
    match expected {
        commands::Expected { end, strict_end, .. } if end == strict_end => format!("`{end}`"),
        commands::Expected { end, strict_end, .. } => format!("`{end}`; `{strict_end}`"),
    }
}
