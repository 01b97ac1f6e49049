//! Fields that a hook reads from its payload and no agent sends, as in `jq -r .args.command`: the hook sees nothing, and lets
//! everything pass.
//!
//! Only first members are looked at, and only where the code says plainly that it reads the payload: what a variable or a
//! function of its own makes of it is not guessed.

use std::ops::Range;

use hookrail::sources::nearest;
use hookrail::{Code, Diagnostic, DialectId};

use super::Finding;
use super::code_of_hook::{codes_of, places_of_word, word_at_start};
use super::context::{HookContext, LintContext};

/// The fields that Claude Code, Gemini CLI and Codex CLI send with any event.
const SENT: [&str; 52] = [
    "agent_id",
    "agent_transcript_path",
    "agent_type",
    "background_tasks",
    "compact_summary",
    "custom_instructions",
    "cwd",
    "details",
    "duration_ms",
    "effort",
    "error",
    "hook_event_name",
    "is_interrupt",
    "last_assistant_message",
    "llm_request",
    "llm_response",
    "mcp_context",
    "mcp_server",
    "message",
    "model",
    "new_cwd",
    "notification_type",
    "old_cwd",
    "original_request_name",
    "permission_mode",
    "permission_suggestions",
    "previous_outputs",
    "prompt",
    "prompt_id",
    "prompt_response",
    "reason",
    "restored",
    "session_crons",
    "session_id",
    "session_title",
    "source",
    "stop_hook_active",
    "task_description",
    "task_id",
    "task_subject",
    "teammate_name",
    "timestamp",
    "title",
    "tool_calls",
    "tool_input",
    "tool_name",
    "tool_response",
    "tool_use_id",
    "transcript_path",
    "trigger",
    "turn_id",
    "user_prompt",
];

/// What was meant by names of other programs.
const MEANT: [(&str, &str); 9] = [
    ("args", "tool_input"),
    ("arguments", "tool_input"),
    ("command", "tool_input.command"),
    ("event", "hook_event_name"),
    ("file_path", "tool_input.file_path"),
    ("input", "tool_input"),
    ("params", "tool_input"),
    ("tool", "tool_name"),
    ("toolName", "tool_name"),
];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context
        .active()
        .filter(|seen| reads_agents_payload(seen.hook.dialect))
        .flat_map(|seen| of_hook(context, seen))
        .collect()
}

/// Whether hooks of a dialect get the payload of the agent that the dialect belongs to.
pub(super) fn reads_agents_payload(dialect: DialectId) -> bool {
    dialect.needs_enabling()
}

fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for code in codes_of(context, seen) {
        for (field, at) in fields_of_jq(&code.text).into_iter().chain(fields_of_variables(&code.text)) {
            if SENT.contains(&field) {
                continue;
            }
            let message = format!("hook `{}` reads `{field}` of its payload, which no agent sends", seen.hook);
            let meant = MEANT.iter().find(|(name, _)| *name == field).map(|(_, meant)| *meant);
            let hint = match meant.or_else(|| nearest(field, SENT)) {
                Some(meant) => format!("read `{meant}`"),
                None => format!("`hookrail fire EVENT -v` shows what hook `{}` receives", seen.hook),
            };
            let diagnostic = Diagnostic::new(Code::PayloadFieldUnknown, message).hint(hint);
            found.push(Finding::new(code.place(context, seen, at, diagnostic)));
        }
    }
    found
}

/// The first members of the paths with which `jq` reads its input.
fn fields_of_jq(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut fields = Vec::new();
    for call in places_of_word(text, "jq") {
        let rest = text.get(call.end..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        // A file that is named is not the payload, and neither is what `-n` makes.
        let Some((start, program)) = program_of_jq(line) else { continue };
        let reads_payload = !line
            .get(..start)
            .unwrap_or_default()
            .split_whitespace()
            .any(|word| word == "-n" || word.starts_with("--arg"));
        if !reads_payload {
            continue;
        }
        // Behind a pipe the paths begin at another value.
        let first = program.split('|').next().unwrap_or_default();
        for (at, _) in first.match_indices('.') {
            let before = first.get(..at).and_then(|before| before.chars().next_back());
            let begins_path = before.is_none_or(|before| before.is_whitespace() || "([{,/:".contains(before));
            let name = first.get(at + 1..).map(word_at_start).unwrap_or_default();
            if begins_path && name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
                let from = call.end + start + at + 1;
                fields.push((name, from..from + name.len()));
            }
        }
    }
    fields
}

/// The program of a call of `jq`, the first word that is no option, with its place.
fn program_of_jq(line: &str) -> Option<(usize, &str)> {
    let mut at = 0;
    loop {
        let rest = line.get(at..)?;
        at += rest.len() - rest.trim_start().len();
        let rest = line.get(at..)?;
        match rest.chars().next()? {
            quote @ ('\'' | '"') => {
                let inner = rest.get(1..)?;
                return Some((at + 1, inner.split(quote).next()?));
            }
            '-' => at += rest.find(char::is_whitespace)?,
            '.' => return Some((at, rest.split([' ', '\t', ')', ';', '|', '`', '"']).next()?)),
            _ => return None,
        }
    }
}

/// The members that are read from a variable with the whole payload, in Python and JavaScript.
fn fields_of_variables(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut fields = Vec::new();
    if !["stdin", "readFileSync(0"].iter().any(|input| text.contains(input)) {
        return fields;
    }
    let parses = [
        "json.load(sys.stdin)",
        "json.loads(sys.stdin.read())",
        "JSON.parse(require('fs').readFileSync(0",
        "JSON.parse(fs.readFileSync(0",
        "JSON.parse(readFileSync(0",
    ];
    for parse in parses {
        for (at, _) in text.match_indices(parse) {
            let Some(name) = text.get(..at).and_then(assigned_name) else { continue };
            for used in places_of_word(text, name) {
                let rest = text.get(used.end..).unwrap_or_default();
                let member = ["[\"", "['", ".get(\"", ".get('"].into_iter().find_map(|opening| {
                    let name = word_at_start(rest.strip_prefix(opening)?);
                    Some((name, used.end + opening.len()))
                });
                let property = || {
                    let name = word_at_start(rest.strip_prefix('.').or_else(|| rest.strip_prefix("?."))?);
                    let at = used.end + rest.find(name)?;
                    parse.starts_with("JSON").then_some((name, at))
                };
                let Some((field, from)) = member.or_else(property).filter(|(field, _)| !field.is_empty()) else {
                    continue;
                };
                fields.push((field, from..from + field.len()));
            }
        }
    }
    fields
}

/// The name that is assigned what follows.
fn assigned_name(before: &str) -> Option<&str> {
    let name = before.trim_end().strip_suffix('=')?.trim_end();
    let start = name.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    name.get(start..).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'t>(fields: &[(&'t str, Range<usize>)]) -> Vec<&'t str> {
        fields.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn the_first_members_that_jq_reads_are_found() {
        for (code, expected) in [
            ("jq -r .args.command", &["args"][..]),
            ("c=$(jq -r '.tool_input.command // .input.command // empty')", &["tool_input", "input"]),
            ("jq -r '.tool_input | .command'", &["tool_input"]),
            ("jq -e \"[.tool, .tool_name]\"", &["tool", "tool_name"]),
            ("jq -n '{a: .b}'", &[]),
            ("jq --arg x y '.b'", &[]),
            ("jq -r '.a[0].b'", &["a"]),
            ("echo .x; ls jqx .y", &[]),
        ] {
            assert_eq!(names(&fields_of_jq(code)), expected, "{code}");
        }
        let code = "jq -r '.args.command'";
        assert_eq!(fields_of_jq(code)[0].1, 8..12);
    }

    #[test]
    fn the_members_of_a_parsed_payload_are_found() {
        let python = "import json, sys\ndata = json.load(sys.stdin)\nprint(data['args'], data.get(\"tool_name\"), data.items())\n";
        assert_eq!(names(&fields_of_variables(python)), ["args", "tool_name"]);
        let script = "const e = JSON.parse(fs.readFileSync(0, 'utf8'));\nif (e.toolName === 'x') {} e?.cwd;\n";
        assert_eq!(names(&fields_of_variables(script)), ["toolName", "cwd"]);
        assert_eq!(names(&fields_of_variables("data = json.loads(other)\ndata['args']")), [""; 0]);
    }
}
