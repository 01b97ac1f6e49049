//! Combines the tool configurations of several hooks: lists are united, and the most restrictive mode wins.

use super::tool_names::TOOLS;
use crate::dialect::command_hooks::{Answer, HookOutput};
use crate::dialect::tool_choice::{HookToolConfig, narrowed, union};
use crate::dialect::{DialectId, FoldContext, Reply};
use crate::hook::Authority;
use crate::tools::{Tools, offered_tools};

/// The merged output with the union of all tool configurations; a list of the system layer is never widened.
pub(super) fn with_union(mut merged: HookOutput, context: &FoldContext<'_>, replies: &[Reply<Answer>]) -> HookOutput {
    let offered = context.before.field("llm_request").map(offered_tools).unwrap_or_default();
    let known = |name: String| known_name(&name, context.tools, &offered);
    let given = |reply: &Reply<Answer>| {
        let config = reply.answer.as_ref()?.output.specific("toolConfig")?.as_object()?;
        let HookToolConfig { mode, allowed_function_names } = HookToolConfig::read(&config);
        let names = allowed_function_names.map(|names| names.into_iter().map(known).collect());
        Some(HookToolConfig { mode, allowed_function_names: names })
    };
    let configs: Vec<HookToolConfig> = replies.iter().filter_map(given).collect();
    if configs.is_empty() {
        return merged;
    }
    let system = replies.iter().filter(|reply| reply.authority == Authority::System).filter_map(given);
    let floors: Vec<Vec<String>> = system.filter_map(|config| config.allowed_function_names).collect();
    let config = narrowed(union(configs), &floors);
    merged.hook_specific_output.get_or_insert_default().set("toolConfig", config.to_json());
    merged
}

/// A name that no tool has. It stands for a name without a character, so that the list stays a restriction.
const NO_TOOL: &str = "__invalid_tool_name__";

/// The name that the model knows a tool by: one that is offered or in the table of tools stays or is translated. Any other is
/// spelled as the original spells it (`ReadFileTool` is `read_file`), except what another server named (`mcp__git__createTag`).
fn known_name(given: &str, tools: &Tools, offered: &[String]) -> String {
    let name = given.trim();
    if name.is_empty() {
        return NO_TOOL.to_owned();
    }
    if let Some(known) = tools.offered_as(name, DialectId::Llxprt, offered) {
        return known;
    }
    let spelled = if name.contains("__") { name.to_owned() } else { in_snake_case(name) };
    let is_own = TOOLS.names().any(|own| own == spelled);
    let known = is_own.then(|| tools.offered_as(&spelled, DialectId::Llxprt, offered)).flatten();
    known.unwrap_or(spelled)
}

/// A name in lower case, with an underscore where a word begins and without the word `Tool` at its end.
fn in_snake_case(name: &str) -> String {
    if !name.chars().any(|character| character.is_ascii_uppercase()) {
        return name.to_owned();
    }
    let name = name.strip_suffix("Tool").filter(|rest| !rest.is_empty()).unwrap_or(name);
    let characters: Vec<char> = name.chars().collect();
    let mut spelled = String::with_capacity(name.len() + 4);
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(at + 1);
        let begins_word = character.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase)
            });
        if begins_word {
            spelled.push('_');
        }
        spelled.push(character.to_ascii_lowercase());
    }
    spelled
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tools::{ToolNames, ToolTable};

    #[test]
    fn a_name_is_what_is_offered_then_what_the_table_says_then_spelled_as_the_original_does() {
        let mut tools = Tools::default();
        tools.declare(ToolNames::new("Deploy").in_dialect(DialectId::Llxprt, "deploy", []));
        tools.set_table(Some(Arc::new(ToolTable::default())));
        for (offered, given, known) in [
            (&[][..], "read_file", "read_file"),
            (&[], " read_file ", "read_file"),
            (&[], "readFile", "read_file"),
            (&[], "ReadFileTool", "read_file"),
            (&[], "READ_FILE", "read_file"),
            (&[], "shell", "run_shell_command"),
            (&[], "bash", "run_shell_command"),
            (&[], "LSTool", "ls"),
            (&[], "createIssue", "create_issue"),
            (&["createIssue"], "createIssue", "createIssue"),
            (&["readFile", "writeFile"], "ReadFileTool", "readFile"),
            (&["shell"], "run_shell_command", "shell"),
            (&["write", "write_file"], "write", "write"),
            (&[], "Deploy", "Deploy"),
            (&[], "deploy", "Deploy"),
            (&[], "Tool", "tool"),
            (&[], "read-file", "read-file"),
            (&[], "read_file_tool", "read_file_tool"),
            (&[], "mcp__git__createTag", "mcp__git__createTag"),
            (&[], "", NO_TOOL),
            (&[], " ", NO_TOOL),
        ] {
            let offered: Vec<String> = offered.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(known_name(given, &tools, &offered), known, "{given} among {offered:?}");
        }
    }
}
