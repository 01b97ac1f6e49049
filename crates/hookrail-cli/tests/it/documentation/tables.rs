//! The tables of the guide, row by row.

use hookrail::matcher::{Language, MatchScope, Matcher, MatcherKind, OnInvalid};
use hookrail::plan::SkipReason;
use serde_json::{Value, json};

use super::markdown::{literals, table};
use super::sandbox::Sandbox;
use crate::made_parts::parts_are_current;

fn settings(groups: &Value, config: &Value) -> String {
    json!({"hooksConfig": config, "hooks": {"BeforeTool": groups}}).to_string()
}

const COMMAND: &str = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it documentation::tables";
const HOW: &str = "by running every row";

/// A row of a table, in which a cell may be empty.
fn row(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") });
    format!("|{}\n", cells.collect::<String>())
}

/// A text as code in a cell.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}

/// Texts as code in a cell.
fn codes<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(" ")
}

/// The codes of everything that an outcome reports.
fn reported(outcome: &Value) -> Vec<&str> {
    outcome["diagnostics"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect()
}

/// Patterns, and tools that each is compared with.
const MATCHERS: [(&str, &[&str]); 11] = [
    ("*", &["write_file", "replace"]),
    ("write_*", &["write_file", "write_", "overwrite_file", "writefile"]),
    ("*_file", &["write_file", "read_file", "read_file_v2"]),
    ("mcp__github__*", &["mcp__github__create_issue", "mcp__gitlab__create_issue"]),
    ("write_file", &["write_file", "overwrite_file_v2", "Write_File"]),
    ("^write_file$", &["write_file", "overwrite_file_v2"]),
    ("write_file|replace", &["write_file", "replace", "replace_all", "read_file"]),
    ("^(write_file|replace)$", &["write_file", "replace", "replace_all"]),
    ("write_.*", &["write_file", "overwrite_file", "read_file"]),
    ("^(?!read_)", &["write_file", "read_file"]),
    ("[write", &["[write", "write"]),
];

#[test]
fn the_page_shows_what_matchers_match() {
    let mut table = row(&["matcher", "is a", "matches", "does not match"].map(str::to_owned));
    table += "|---|---|---|---|\n";
    for (pattern, tools) in MATCHERS {
        let group = json!([{"matcher": pattern, "hooks": [{"type": "command", "command": "true"}]}]);
        let sandbox = Sandbox::with_settings(&settings(&group, &json!({"enabled": true})));
        let is_planned = |tool: &&&str| {
            let ran = sandbox.hookrail(&["explain", "BeforeTool", "--tool", tool, "--trust-project", "--json"]);
            !ran.json()["plan"].as_array().unwrap().is_empty()
        };
        let (fitting, others): (Vec<&str>, Vec<&str>) = tools.iter().partition(is_planned);
        let compiled = Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::Literal);
        let kind = match compiled.matcher.kind() {
            MatcherKind::Everything => "everything",
            MatcherKind::Glob => "glob",
            MatcherKind::Literal if compiled.problem.is_some() => "exact text, with a warning",
            _ => "regular expression",
        };
        table += &row(&[code(pattern), kind.to_owned(), codes(fitting), codes(others)]);
    }
    parts_are_current("reference/settings.md", HOW, COMMAND, &[table]);
}

/// How a hook ends: its exit status, its standard output and its standard error.
const ANSWERS: [(u8, &str, &str); 20] = [
    (0, "", ""),
    (0, "", "some log"),
    (0, r#"{"decision":"deny","reason":"no"}"#, ""),
    (0, r#"{"decision":"ask","reason":"sure?"}"#, ""),
    (0, r#"{"decision":"approve"}"#, ""),
    (0, r#"{"decision":null}"#, ""),
    (0, "all is well", ""),
    (2, "", ""),
    (2, "", "because"),
    (2, "because", ""),
    (2, r#"{"reason":"this"}"#, "that"),
    (2, r#"{"decision":"allow"}"#, "because"),
    (1, "", "oops"),
    (1, r#"{"decision":"deny"}"#, ""),
    (127, "", ""),
    (0, r#"{"decision":"DENY"}"#, ""),
    (0, r#"{"decision":"deny","reason":7}"#, ""),
    (0, r#"{"decision":"deny","because":"no"}"#, ""),
    (0, r#"{"decision":"deny""#, ""),
    (0, r#"log {"decision":"deny"}"#, ""),
];

/// What a hook with `"onFailure": "ask"` prints.
const STRICT_ANSWERS: [&str; 11] = [
    "",
    "{}",
    r#"{"decision":"allow","note":1}"#,
    "asdfgh",
    "[1,2]",
    "true",
    r#"{"decision":"denied"}"#,
    r#"{"Decision":"deny"}"#,
    r#"{"block":true}"#,
    r#"log {"decision":"deny"}"#,
    r#"{"decision":"deny","reason":7}"#,
];

/// The outcome of an event with this hook alone.
fn outcome_of(hook: &Value) -> Value {
    let groups = json!([{"hooks": [hook]}]);
    let sandbox = Sandbox::with_settings(&settings(&groups, &json!({"enabled": true})));
    sandbox.fire("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), &[]).json()
}

#[test]
fn the_page_shows_how_answers_are_read() {
    let decision = |outcome: &Value| outcome["decision"].as_str().unwrap_or("none").to_owned();
    let end = |outcome: &Value| code(outcome["runs"][0]["end"].as_str().unwrap());
    let head = ["exit", "standard output", "standard error", "end", "decision", "reason or message", "reported as"];
    let mut answers = row(&head.map(str::to_owned)) + "|---|---|---|---|---|---|---|\n";
    for (exit, stdout, stderr) in ANSWERS {
        let command = format!("printf %s '{stdout}'; printf %s '{stderr}' >&2; exit {exit}");
        let outcome = outcome_of(&json!({"type": "command", "command": command}));
        let said = ["reason", "systemMessage"].map(|field| outcome[field].as_str().unwrap_or_default()).concat();
        let cells =
            [code(stdout), code(stderr), end(&outcome), decision(&outcome), code(&said), codes(reported(&outcome))];
        answers += &row(&[&[exit.to_string()], cells.as_slice()].concat());
    }
    let mut strict =
        row(&["standard output", "end", "decision", "reported as"].map(str::to_owned)) + "|---|---|---|---|\n";
    for stdout in STRICT_ANSWERS {
        let outcome =
            outcome_of(&json!({"type": "command", "command": format!("printf %s '{stdout}'"), "onFailure": "ask"}));
        strict += &row(&[code(stdout), end(&outcome), decision(&outcome), codes(reported(&outcome))]);
    }
    parts_are_current("reference/protocol.md", HOW, COMMAND, &[answers, strict]);
}

#[test]
fn every_reason_to_skip_a_hook_is_in_the_table_and_happens() {
    let listed: Vec<String> =
        table("how-to/debug.md", "skips").iter().filter_map(|row| literals(&row[0]).first().cloned()).collect();
    let hook = |command: &str| json!({"type": "command", "command": command});
    let on = json!({"enabled": true});
    let cases = [
        (SkipReason::Matcher, json!([{"matcher": "^x$", "hooks": [hook("true")]}]), on.clone()),
        (SkipReason::Duplicate, json!([{"hooks": [hook("true"), hook("true")]}]), on.clone()),
        (SkipReason::Disabled, json!([{"hooks": [hook("true")]}]), json!({"enabled": true, "disabled": ["true"]})),
        (SkipReason::Untrusted, json!([{"hooks": [hook("true")]}]), on.clone()),
        (SkipReason::ChainEnded, json!([{"sequential": true, "hooks": [hook("exit 2"), hook("true")]}]), on.clone()),
        (SkipReason::HooksOff, json!([{"hooks": [hook("true")]}]), json!({"enabled": false})),
        (SkipReason::NotExecutable, json!([{"hooks": [{"type": "plugin", "name": "p"}]}]), on.clone()),
        (SkipReason::OwnBridge, json!([{"hooks": [hook("/usr/bin/hookrail bridge claude")]}]), on),
    ];
    for (reason, groups, config) in cases {
        assert!(listed.contains(&reason.name().to_owned()), "{} is not in the table", reason.name());
        let sandbox = Sandbox::with_settings(&settings(&groups, &config));
        let mut args = vec!["fire", "BeforeTool", "--tool", "write_file", "--json"];
        if reason != SkipReason::Untrusted {
            args.push("--trust-project");
        }
        let outcome = sandbox.hookrail(&args).json();
        let whys: Vec<&str> = outcome["skipped"].as_array().unwrap().iter().filter_map(|s| s["why"].as_str()).collect();
        assert_eq!(whys, [reason.name()]);
    }
}
