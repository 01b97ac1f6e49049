//! Members of answers that no agent knows, as `modifiedToolInput`: the answer has no effect.

use hookrail::{Code, Diagnostic};

use super::Finding;
use super::code_of_hook::{codes_of, places_of_word};
use super::context::{HookContext, LintContext};
use super::payload_fields::reads_agents_payload;

/// Names that authors use, and what was meant.
const UNKNOWN: [(&str, &str); 12] = [
    ("modifiedToolInput", "hookSpecificOutput.updatedInput"),
    ("modified_tool_input", "hookSpecificOutput.updatedInput"),
    ("modifiedInput", "hookSpecificOutput.updatedInput"),
    ("updatedToolInput", "hookSpecificOutput.updatedInput"),
    ("updated_input", "hookSpecificOutput.updatedInput"),
    ("permission_decision", "hookSpecificOutput.permissionDecision"),
    ("permissionReason", "hookSpecificOutput.permissionDecisionReason"),
    ("additional_context", "hookSpecificOutput.additionalContext"),
    ("system_message", "systemMessage"),
    ("stop_reason", "stopReason"),
    ("suppress_output", "suppressOutput"),
    ("hook_specific_output", "hookSpecificOutput"),
];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context
        .active()
        .filter(|seen| reads_agents_payload(seen.hook.dialect))
        .flat_map(|seen| of_hook(context, seen))
        .collect()
}

fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for code in codes_of(context, seen) {
        for (name, meant) in UNKNOWN {
            let is_key = |span: &std::ops::Range<usize>| {
                let behind = code.text.get(span.end..).unwrap_or_default();
                behind.trim_start_matches(['\\', '"', '\'']).trim_start().starts_with(':')
            };
            let Some(at) = places_of_word(&code.text, name).find(is_key) else { continue };
            let message = format!("hook `{}` answers with `{name}`, which no agent knows", seen.hook);
            let diagnostic = Diagnostic::new(Code::AnswerKeyUnknown, message).hint(format!("write `{meant}`"));
            found.push(Finding::new(code.place(context, seen, at, diagnostic)));
        }
    }
    found
}
