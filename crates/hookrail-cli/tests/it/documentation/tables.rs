//! The tables of the guide, row by row.

use hookrail::matcher::{Language, MatchScope, Matcher, MatcherKind, OnInvalid};
use hookrail::plan::SkipReason;
use serde_json::{Value, json};

use super::markdown::{literals, table};
use super::sandbox::Sandbox;

fn settings(groups: &Value, config: &Value) -> String {
    json!({"hooksConfig": config, "hooks": {"BeforeTool": groups}}).to_string()
}

#[test]
fn the_matchers_match_what_the_table_says() {
    let rows = table("reference/settings.md", "matchers");
    assert!(rows.len() >= 10);
    for row in rows {
        let [matcher, kind, matches, differs] = row.as_slice() else { panic!("{row:?}") };
        let pattern = &literals(matcher)[0];
        let group = json!([{"matcher": pattern, "hooks": [{"type": "command", "command": "true"}]}]);
        let sandbox = Sandbox::with_settings(&settings(&group, &json!({"enabled": true})));
        for (tools, expected) in [(matches, true), (differs, false)] {
            for tool in literals(tools) {
                let ran = sandbox.hookrail(&["explain", "BeforeTool", "--tool", &tool, "--trust-project", "--json"]);
                let planned = !ran.json()["plan"].as_array().unwrap().is_empty();
                assert_eq!(planned, expected, "`{pattern}` and `{tool}`");
            }
        }
        let compiled = Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::Literal);
        let expected = match compiled.matcher.kind() {
            MatcherKind::Everything => "everything",
            MatcherKind::Glob => "glob",
            MatcherKind::Literal if compiled.problem.is_some() => "exact text, with a warning",
            _ => "regular expression",
        };
        assert_eq!(kind, expected, "`{pattern}`");
    }
}

#[test]
fn answers_are_read_as_the_table_says() {
    let rows = table("reference/protocol.md", "answers");
    assert!(rows.len() >= 20);
    for row in rows {
        let [exit, stdout, stderr, end, decision, text, reported] = row.as_slice() else { panic!("{row:?}") };
        let literal = |cell: &String| literals(cell).first().cloned().unwrap_or_default();
        let (stdout, stderr) = (literal(stdout), literal(stderr));
        let command = format!("printf %s '{stdout}'; printf %s '{stderr}' >&2; exit {exit}");
        let group = json!([{"hooks": [{"type": "command", "command": command}]}]);
        let sandbox = Sandbox::with_settings(&settings(&group, &json!({"enabled": true})));
        let outcome = sandbox.fire("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), &[]).json();
        let said = |field: &str| outcome[field].as_str().unwrap_or_default().to_owned();
        assert_eq!(outcome["runs"][0]["end"], literal(end), "{row:?}");
        assert_eq!(outcome["decision"].as_str().unwrap_or("none"), decision, "{row:?}");
        let spoken = [said("reason"), said("systemMessage")].concat();
        assert_eq!(spoken, literal(text), "{row:?}");
        let codes: Vec<&str> =
            outcome["diagnostics"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
        match literals(reported).first() {
            Some(code) => assert!(codes.contains(&code.as_str()), "{row:?}: {codes:?}"),
            None => assert!(codes.is_empty(), "{row:?}: {codes:?}"),
        }
    }
}

#[test]
fn guards_answer_as_strictly_as_the_table_says() {
    let rows = table("reference/protocol.md", "strict answers");
    assert!(rows.len() >= 8);
    for row in rows {
        let [stdout, end, decision, reported] = row.as_slice() else { panic!("{row:?}") };
        let literal = |cell: &String| literals(cell).first().cloned().unwrap_or_default();
        let command = format!("printf %s '{}'", literal(stdout));
        let group = json!([{"hooks": [{"type": "command", "command": command, "onFailure": "ask"}]}]);
        let sandbox = Sandbox::with_settings(&settings(&group, &json!({"enabled": true})));
        let outcome = sandbox.fire("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), &[]).json();
        assert_eq!(outcome["runs"][0]["end"], literal(end), "{row:?}");
        assert_eq!(outcome["decision"].as_str().unwrap_or("none"), decision, "{row:?}");
        let diagnostics = outcome["diagnostics"].to_string();
        let code = literals(reported).first().cloned();
        assert_eq!(diagnostics.contains("unreadable-answer"), code.as_deref() == Some("unreadable-answer"), "{row:?}");
        assert!(code.is_none_or(|code| diagnostics.contains(&code)), "{row:?}");
    }
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
