//! Mistakes in settings files.

use crate::mistakes::row::Row;
use crate::mistakes::row::Told::{Code, Nothing, Skipped};

const ENTRY: &str = r#"{"hooks": [{"type": "command", "name": "guard", "command": "true"}]}"#;

fn event(name: &'static str, key: &str) -> Row {
    let text =
        format!("{{\n  \"hooksConfig\": {{\"enabled\": true}},\n  \"hooks\": {{\n    \"{key}\": [{ENTRY}]\n  }}\n}}\n");
    Row::settings(name, &text, Some("unknown-event"), Code("unknown-event"))
}

fn entry(name: &'static str, entry: &str, code: &'static str) -> Row {
    Row::hooks(name, &format!("{{\"hooks\": [{entry}]}}"), Some(code), Code(code))
}

fn whole(name: &'static str, text: &str, code: &'static str) -> Row {
    Row::settings(name, text, Some(code), Code(code))
}

fn listed(name: &'static str, disabled: &str, code: &'static str, told: crate::mistakes::row::Told) -> Row {
    let config = format!("\"hooksConfig\": {{\"enabled\": true, \"disabled\": [\"{disabled}\"]}}");
    let text = format!("{{\n  {config},\n  \"hooks\": {{\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n");
    Row::settings(name, &text, Some(code), told)
}

pub(crate) fn rows() -> Vec<Row> {
    vec![
        event("the event `BeforTool`", "BeforTool"),
        event("the event `PreToolUse` of Claude Code in a settings file", "PreToolUse"),
        event("the event `UserPromptSubmit` of Claude Code", "UserPromptSubmit"),
        event("the event `Stop` of Claude Code", "Stop"),
        event("the event `tool_call` of a module in a settings file", "tool_call"),
        event("the event `beforeShellExecution` of Cursor", "beforeShellExecution"),
        whole(
            "nothing switches hooks on",
            &format!("{{\n  \"hooks\": {{\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n"),
            "hooks-never-on",
        ),
        Row::settings(
            "hooks are switched off",
            &format!(
                "{{\n  \"hooksConfig\": {{\"enabled\": false}},\n  \"hooks\": {{\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n"
            ),
            Some("guard-switched-off"),
            Skipped("hooks-off"),
        ),
        Row::settings(
            "the section `hook`",
            &format!(
                "{{\n  \"hooksConfig\": {{\"enabled\": true}},\n  \"hook\": {{\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n"
            ),
            Some("unknown-key"),
            Nothing,
        ),
        Row::settings(
            "an event outside of `hooks`",
            &format!("{{\n  \"hooksConfig\": {{\"enabled\": true}},\n  \"BeforeTool\": [{ENTRY}]\n}}\n"),
            Some("unknown-key"),
            Nothing,
        ),
        Row::new("hooks in a file that is not read", Some("file-not-read"), Nothing)
            .file(".llxprt/hooks.json", &format!("{{\n  \"hooks\": {{\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n")),
        Row::new("hooks in the settings of another folder", Some("file-not-read"), Nothing).file(
            ".hookrail/settings.json",
            &format!("{{\n  \"hooks\": {{\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n"),
        ),
        Row::new("hooks of Claude Code only", Some("foreign-hooks"), Nothing)
            .file(".claude/settings.json", &format!("{{\n  \"hooks\": {{\n    \"PreToolUse\": [{ENTRY}]\n  }}\n}}\n")),
        entry(
            "the key `failurePolicy` of plugins",
            r#"{"type": "command", "command": "true", "failurePolicy": "block"}"#,
            "unknown-key",
        ),
        listed("a guard on the list of disabled hooks", "guard", "guard-switched-off", Skipped("disabled")),
        listed("a name on the list of disabled hooks that no hook has", "gaurd", "disabled-unknown", Nothing),
        Row::hooks(
            "a hook without its group",
            r#"{"type": "command", "command": "true"}"#,
            Some("group-shape"),
            Code("group-shape"),
        ),
        Row::hooks("a group without `hooks`", r#"{"matcher": "write_file"}"#, Some("group-shape"), Code("group-shape")),
        whole("a bracket that is not closed", "{\n  \"hooks\": {\n    \"BeforeTool\": [\n  }\n}\n", "file-syntax"),
        whole(
            "a bracket that is missing in the middle",
            "{\n  \"hooksConfig\": {\"enabled\": true,\n  \"hooks\": {\n    \"BeforeTool\": []\n  }\n}\n",
            "file-syntax",
        ),
        whole(
            "a quote that is missing in JSON",
            "{\n  \"a\": \"x,\n  \"hooks\": {\"BeforeTool\": []}\n}\n",
            "file-syntax",
        ),
        whole("a comma that is missing", "{\n  \"a\": 1\n  \"hooks\": {}\n}\n", "file-syntax"),
        whole("`True` in JSON", "{\n  \"hooksConfig\": {\"enabled\": True}\n}\n", "file-syntax"),
        whole("a key without a colon", "{\n  \"hooks\" {}\n}\n", "file-syntax"),
        whole("single quotes in JSON", "{\n  'hooks': {}\n}\n", "file-syntax"),
        whole("an empty settings file", "", "file-empty"),
        whole("settings that are a list", "[]\n", "file-shape"),
        whole("`hooks` as a list", "{\"hooks\": []}\n", "setting-type"),
        whole("an event that is not a list", "{\"hooks\": {\"BeforeTool\": {\"hooks\": []}}}\n", "event-shape"),
        whole("a switch in quotes", "{\"hooksConfig\": {\"enabled\": \"yes\"}}\n", "setting-type"),
        whole(
            "the old place of the switch",
            &format!("{{\n  \"hooks\": {{\n    \"enabled\": true,\n    \"BeforeTool\": [{ENTRY}]\n  }}\n}}\n"),
            "legacy-key",
        ),
        entry("a hook without `type`", r#"{"command": "true"}"#, "hook-type"),
        entry("the type `comand`", r#"{"type": "comand", "command": "true"}"#, "hook-type"),
        entry("a hook without `command`", r#"{"type": "command"}"#, "hook-command"),
        entry("an empty command", r#"{"type": "command", "command": ""}"#, "hook-command"),
        entry("`args` that is a string", r#"{"type": "command", "command": "a", "args": "x"}"#, "hook-command"),
        entry("a hook that is a string", r#""./guard.sh""#, "hook-shape"),
        entry("the key `timout`", r#"{"type": "command", "command": "true", "timout": 1}"#, "unknown-key"),
        entry(
            "a condition without its end",
            r#"{"type": "command", "command": "true", "if": "Bash(git *"}"#,
            "setting-value",
        ),
        entry(
            "a key twice",
            r#"{"type": "command", "command": "true", "timeout": 500, "timeout": 900}"#,
            "duplicate-key",
        ),
        entry(
            "`onFailure` with an unknown value",
            r#"{"type": "command", "command": "true", "onFailure": "deny"}"#,
            "setting-value",
        ),
        Row::hooks("the same hook twice", &format!("{ENTRY}, {ENTRY}"), Some("hook-duplicate"), Skipped("duplicate")),
        Row::hooks(
            "two hooks with one name",
            r#"{"hooks": [{"type": "command", "name": "a", "command": "true"}, {"type": "command", "name": "a", "command": "cat"}]}"#,
            Some("hook-duplicate"),
            Nothing,
        ),
    ]
}

fn matcher(name: &'static str, pattern: &str, code: &'static str, told: crate::mistakes::row::Told) -> Row {
    let hooks = r#""hooks": [{"type": "command", "name": "guard", "command": "true"}]"#;
    Row::hooks(name, &format!("{{\"matcher\": {pattern}, {hooks}}}"), Some(code), told)
}

fn timeout(name: &'static str, value: &str, code: &'static str, told: crate::mistakes::row::Told) -> Row {
    let entry = format!(r#"{{"type": "command", "name": "guard", "command": "sleep 0.3", "timeout": {value}}}"#);
    Row::hooks(name, &format!("{{\"hooks\": [{entry}]}}"), Some(code), told)
}

pub(crate) fn matchers() -> Vec<Row> {
    let always = "{\n  \"hooksConfig\": {\"enabled\": true},\n  \"hooks\": {\n    \"BeforeAgent\": [{\"matcher\": \"secret\", \
        \"hooks\": [{\"type\": \"command\", \"name\": \"guard\", \"command\": \"true\"}]}]\n  }\n}\n";
    let session = "{\n  \"hooksConfig\": {\"enabled\": true},\n  \"hooks\": {\n    \"SessionStart\": [{\"matcher\": \"starup\", \
        \"hooks\": [{\"type\": \"command\", \"name\": \"greet\", \"command\": \"true\"}]}]\n  }\n}\n";
    vec![
        matcher("the matcher `Bash` of Claude Code", "\"Bash\"", "matcher-elsewhere", Skipped("matcher")),
        matcher("a matcher in the wrong case", "\"Write_File\"", "matcher-no-tool", Skipped("matcher")),
        matcher("a matcher with a typing error", "\"wite_file\"", "matcher-no-tool", Skipped("matcher")),
        matcher("a matcher with commas", "\"write_file, replace\"", "matcher-no-tool", Skipped("matcher")),
        matcher("a matcher with blanks", "\"write_file | replace\"", "matcher-no-tool", Skipped("matcher")),
        Row::settings("the source `starup` of a session", session, Some("matcher-no-value"), Skipped("matcher"))
            .fires(&["SessionStart", "--payload", r#"{"source": "startup"}"#]),
        matcher("a matcher with arguments", "\"Bash(git *)\"", "matcher-no-tool", Skipped("matcher")),
        matcher("a matcher with a flag", "\"(?i)write_file\"", "matcher-invalid", Code("matcher-invalid")),
        matcher("a matcher for a tool that is not known", "\"^deploy_.*$\"", "matcher-own-tool", Skipped("matcher")),
        matcher("a glob with the dots of a pattern", "\"mcp__.*__write_*\"", "matcher-no-tool", Skipped("matcher")),
        matcher("a matcher that is a part of several names", "\"write\"", "matcher-loose", Nothing),
        matcher("a matcher that is a list", "[\"write_file\"]", "matcher-type", Code("matcher-type")),
        matcher("a matcher that is no pattern", "\"write_(\"", "matcher-invalid", Code("matcher-invalid")),
        Row::settings("a matcher on an event without one", always, Some("matcher-ignored"), Code("matcher-ignored"))
            .fires(&["BeforeAgent", "--prompt", "hello"]),
        timeout("a timeout in seconds", "60", "timeout-short", Code("hook-timed-out")),
        timeout("a timeout in quotes", "\"5000\"", "timeout-invalid", Code("timeout-invalid")),
        timeout("a negative timeout", "-1", "timeout-invalid", Code("timeout-invalid")),
        timeout("a timeout of more than a day", "90000000", "timeout-invalid", Code("timeout-invalid")),
        timeout("a timeout of an hour", "3600000", "timeout-long", Nothing),
    ]
}
