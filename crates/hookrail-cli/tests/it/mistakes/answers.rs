//! Mistakes in the answers of hooks. They show only when a hook runs.

use crate::mistakes::row::Row;
use crate::mistakes::row::Told::Code;

fn answer(name: &'static str, text: &str, code: &'static str) -> Row {
    Row::command(name, &format!("cat <<'END'\n{text}\nEND\n"), None, Code(code))
}

pub(crate) fn rows() -> Vec<Row> {
    vec![
        answer("text before the JSON", "checking\n{\"decision\": \"deny\", \"reason\": \"x\"}", "decision-in-text"),
        answer("single quotes in an answer", "{'decision': 'deny'}", "bad-output"),
        answer("an answer that is not closed", "{\"decision\": \"deny\"", "bad-output"),
        answer(
            "a list in an answer that is not closed",
            "{\"decision\": \"deny\", \"hookSpecificOutput\": {\n  \"list\": [1, 2\n}}",
            "bad-output",
        ),
        answer("a string in an answer that is not closed", "{\"decision\": \"deny", "bad-output"),
        answer("the field `decison`", "{\"decison\": \"deny\", \"reason\": \"x\"}", "answer-unknown-field"),
        answer("the decision `denied`", "{\"decision\": \"denied\"}", "answer-field"),
        answer("a reason that is a number", "{\"decision\": \"allow\", \"reason\": 5}", "answer-field"),
        answer("a decision twice", "{\"decision\": \"allow\", \"decision\": \"deny\"}", "answer-duplicate-key"),
        answer(
            "the field `updatedInput` of Claude Code",
            "{\"hookSpecificOutput\": {\"updatedInput\": {\"path\": \"b\"}}}",
            "answer-unknown-field",
        ),
        answer("`additionalContext` at the top", "{\"additionalContext\": \"x\"}", "answer-unknown-field"),
        answer(
            "the event name of Claude Code in an answer",
            "{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"deny\"}}",
            "event-name-mismatch",
        ),
        Row::command(
            "a decision and then a failure",
            "echo '{\"decision\": \"deny\"}'; exit 3",
            None,
            Code("decision-discarded"),
        ),
        Row::command("a hook that is too slow", "sleep 5", None, Code("hook-timed-out")).file(
            ".llxprt/settings.json",
            "{\n  \"hooksConfig\": {\"enabled\": true},\n  \"hooks\": {\"BeforeTool\": [{\"hooks\": [{\"type\": \"command\", \
             \"name\": \"guard\", \"command\": \"sleep 5\", \"timeout\": 200}]}]}\n}\n",
        ),
        Row::settings(
            "a refusal after the tool",
            "{\n  \"hooksConfig\": {\"enabled\": true},\n  \"hooks\": {\"AfterTool\": [{\"hooks\": [{\"type\": \"command\", \
             \"name\": \"guard\", \"command\": \"echo no >&2; exit 2\"}]}]}\n}\n",
            None,
            Code("deny-without-effect"),
        )
        .fires(&["AfterTool", "--tool", "write_file", "--tool-response", r#"{"llmContent": "ok"}"#]),
    ]
}
