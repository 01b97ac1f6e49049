//! Mistakes in plugins and modules.

use crate::mistakes::row::Row;
use crate::mistakes::row::Told::{Code, Nothing};

const MANIFEST: &str =
    r#"{"schemaVersion": "1", "name": "sample", "version": "1.0.0", "description": "A sample", "author": "a"}"#;

fn plugin(name: &'static str, hooks: &str, check: &'static str, told: crate::mistakes::row::Told) -> Row {
    Row::new(name, Some(check), told)
        .file(".x-code/plugins/sample/.x-code-plugin/plugin.json", MANIFEST)
        .file(".x-code/plugins/sample/hooks/hooks.json", hooks)
}

/// A plugin whose hook prints an answer. The mistake shows only when the hook runs.
fn plugin_answer(name: &'static str, answer: &str, code: &'static str) -> Row {
    let hooks = serde_json::json!({"PreToolUse": [{"command": format!("printf '%s' '{answer}'")}]});
    Row::new(name, None, Code(code))
        .file(".x-code/plugins/sample/.x-code-plugin/plugin.json", MANIFEST)
        .file(".x-code/plugins/sample/hooks/hooks.json", &hooks.to_string())
}

pub(crate) fn rows() -> Vec<Row> {
    vec![
        plugin(
            "a plugin in the format of Claude Code",
            r#"{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}"#,
            "plugin-foreign-format",
            Code("plugin-foreign-format"),
        ),
        plugin(
            "events under an outer `hooks` key in a plugin",
            r#"{"hooks": {"PreToolUse": [{"command": "true"}]}}"#,
            "plugin-hooks-wrapped",
            Code("plugin-hooks-wrapped"),
        ),
        plugin(
            "the event `BeforeTool` in a plugin",
            r#"{"BeforeTool": [{"command": "true"}]}"#,
            "unknown-event",
            Code("unknown-event"),
        ),
        plugin(
            "the event `Stop` of Claude Code in a plugin",
            r#"{"Stop": [{"command": "true"}]}"#,
            "unknown-event",
            Code("unknown-event"),
        ),
        plugin(
            "a timeout with a unit in a plugin",
            r#"{"PreToolUse": [{"command": "true", "timeout": "5s"}]}"#,
            "timeout-rejected",
            Code("timeout-rejected"),
        ),
        plugin(
            "a timeout above the limit of plugins",
            r#"{"PreToolUse": [{"command": "true", "timeout": 60000}]}"#,
            "timeout-clamped",
            Code("timeout-clamped"),
        ),
        plugin(
            "the variable `${pluginDr}` in a plugin",
            r#"{"PreToolUse": [{"command": "cat ${pluginDr}/x"}]}"#,
            "variable-unknown",
            Code("variable-unknown"),
        ),
        plugin(
            "the matcher `Bash` in a plugin",
            r#"{"PreToolUse": [{"matcher": "Bash", "command": "true"}]}"#,
            "matcher-elsewhere",
            Nothing,
        ),
        plugin(
            "a plugin that refuses with 2",
            r#"{"PreToolUse": [{"command": "echo no >&2; exit 2"}]}"#,
            "exit-status-as-policy",
            Code("exit-status-without-meaning"),
        ),
        plugin(
            "the variable `$CLAUDE_PLUGIN_ROOT` in a plugin",
            r#"{"PreToolUse": [{"command": "$CLAUDE_PLUGIN_ROOT/guard.sh"}]}"#,
            "variable-unknown",
            Code("command-not-found"),
        ),
        plugin(
            "the key `onFailure` in a plugin",
            r#"{"PreToolUse": [{"command": "true", "onFailure": "block"}]}"#,
            "unknown-key",
            Code("unknown-key"),
        ),
        plugin(
            "a syntax error in a command of a plugin",
            r#"{"PreToolUse": [{"command": "if true"}]}"#,
            "script-syntax",
            Code("hook-exited"),
        ),
        plugin(
            "a relative path in a plugin",
            r#"{"PreToolUse": [{"command": "./run.sh"}]}"#,
            "script-missing",
            Code("command-not-found"),
        )
        .program(".x-code/plugins/sample/run.sh", "#!/bin/sh\n"),
        plugin(
            "a guard of a plugin in the background",
            r#"{"PreToolUse": [{"command": "sh ${pluginDir}/guard.sh &"}]}"#,
            "status-lost",
            Nothing,
        )
        .file(".x-code/plugins/sample/guard.sh", "echo '{\"decision\": \"deny\"}'\n"),
        plugin(
            "a script of a plugin that does not exist",
            r#"{"PreToolUse": [{"command": "${pluginDir}/guard.sh"}]}"#,
            "script-missing",
            Code("command-not-found"),
        ),
        plugin_answer("the field `decison` in a plugin's answer", r#"{"decison": "deny"}"#, "bad-output"),
        plugin_answer("the decision `block` in a plugin's answer", r#"{"decision": "block"}"#, "bad-output"),
        plugin_answer("the decision `ask` in a plugin's answer", r#"{"decision": "ask"}"#, "bad-output"),
        plugin_answer(
            "the field `permissionDecision` in a plugin's answer",
            r#"{"permissionDecision": "deny"}"#,
            "bad-output",
        ),
        plugin_answer(
            "an answer of Claude Code from a plugin",
            r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}"#,
            "bad-output",
        ),
        plugin_answer(
            "the field `updatedInput` in a plugin's answer",
            r#"{"decision": "modify", "updatedInput": {"path": "b"}}"#,
            "answer-unknown-field",
        ),
        plugin_answer("a plugin that modifies nothing", r#"{"decision": "modify"}"#, "answer-ignored"),
        plugin_answer("a plugin's answer that is not closed", r#"{"decision": "deny", "reason": "x""#, "bad-output"),
        Row::new("a plugin that refuses after the tool", None, Code("deny-without-effect"))
            .file(".x-code/plugins/sample/.x-code-plugin/plugin.json", MANIFEST)
            .file(
                ".x-code/plugins/sample/hooks/hooks.json",
                r#"{"PostToolUse": [{"command": "echo '{\"decision\": \"deny\", \"reason\": \"x\"}'"}]}"#,
            )
            .fires(&["PostToolUse", "--tool", "shell", "--tool-response", r#"{"llmContent": "ok"}"#]),
    ]
}

fn module(name: &'static str, text: &str, check: Option<&'static str>, told: crate::mistakes::row::Told) -> Row {
    Row::new(name, check, told).file(".xcsh/hooks/guard.ts", text)
}

pub(crate) fn modules() -> Vec<Row> {
    let shadowing = "export default (pi) => pi.on('tool_call', () => undefined);\n";
    vec![
        module(
            "a syntax error in a module",
            "export default (pi) => {\n  pi.on(;\n};\n",
            Some("script-syntax"),
            Code("module-load"),
        ),
        module(
            "the function `pi.onn`",
            "export default (pi) => pi.onn('tool_call', () => undefined);\n",
            Some("module-api"),
            Code("module-load"),
        ),
        module("a module without a default export", "export const x = 1;\n", Some("module-load"), Code("module-load")),
        module(
            "a module that exports an object",
            "export default { on() {} };\n",
            Some("module-load"),
            Code("module-load"),
        ),
        module(
            "`module.exports` beside an import",
            "import fs from 'node:fs';\nmodule.exports = (pi) => pi.on('tool_call', () => fs);\n",
            Some("module-api"),
            Code("module-load"),
        ),
        module(
            "an import of a file that does not exist",
            "import { check } from './chekc';\nexport default (pi) => pi.on('tool_call', check);\n",
            Some("module-load"),
            Code("module-load"),
        ),
        module(
            "an import of a package",
            "import { z } from 'zod';\nexport default (pi) => pi.on('tool_call', () => z);\n",
            Some("module-load"),
            Code("module-load"),
        ),
        module(
            "the event `tool_cal` in a module",
            "export default (pi) => pi.on('tool_cal', () => undefined);\n",
            Some("module-event"),
            Code("module-event"),
        ),
        module(
            "the event `PreToolUse` in a module",
            "export default (pi) => pi.on('PreToolUse', () => undefined);\n",
            Some("module-event"),
            Code("module-event"),
        ),
        module(
            "`pi.on` without a handler",
            "export default (pi) => pi.on('tool_call');\n",
            Some("module-registration"),
            Code("module-registration"),
        ),
        module(
            "a module that returns `decision`",
            "export default (pi) => pi.on('tool_call', () => ({ decision: 'deny' }));\n",
            Some("answer-unknown-field"),
            Code("unreadable-answer"),
        ),
        module("a module that registers nothing", "export default (pi) => {};\n", Some("module-api"), Nothing),
        module(
            "a module without the parameter `pi`",
            "export default () => pi.on('tool_call', () => undefined);\n",
            Some("module-api"),
            Code("module-load"),
        ),
        module(
            "a module that reads `tool_name`",
            "export default (pi) => pi.on('tool_call', (e) => (e.tool_name === 'bash' ? { block: true } : undefined));\n",
            Some("module-api"),
            Nothing,
        ),
        module(
            "a module that returns `false`",
            "export default (pi) => pi.on('tool_call', () => false);\n",
            Some("answer-unknown-field"),
            Nothing,
        ),
        Row::new("a module with the ending `tsx`", Some("file-not-read"), Nothing)
            .file(".xcsh/hooks/guard.tsx", "export default (pi) => pi.on('tool_call', () => undefined);\n"),
        module(
            "a module that throws",
            "export default (pi) => pi.on('tool_result', () => { throw new Error('no'); });\n",
            None,
            Code("hook-threw"),
        )
        .fires(&["AfterTool", "--tool", "write_file", "--tool-response", r#"{"llmContent": "ok"}"#]),
        Row::new("two files with one name in folders of modules", Some("hook-shadowed"), Nothing)
            .file(".xcsh/hooks/pre/write.sh", shadowing)
            .file(".claude/hooks/pre/write.sh", shadowing),
    ]
}
