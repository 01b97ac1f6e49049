//! Combines the tool configurations of several hooks: lists are united, and the most restrictive mode wins.

use super::llm::{HookToolConfig, HookToolMode};
use crate::dialect::Reply;
use crate::dialect::command_hooks::{Answer, HookOutput};
use crate::hook::Authority;

/// The merged output with the union of all tool configurations; a list of the system layer is never widened.
pub(super) fn with_union(mut merged: HookOutput, replies: &[Reply<Answer>]) -> HookOutput {
    let given = |reply: &Reply<Answer>| reply.answer.as_ref()?.output.specific("toolConfig")?.as_object();
    let given = |reply: &Reply<Answer>| given(reply).map(|config| HookToolConfig::read(&config).with_known_names());
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

impl HookToolConfig {
    /// The configuration with the names of tools as the model knows them.
    fn with_known_names(mut self) -> Self {
        self.allowed_function_names =
            self.allowed_function_names.map(|names| names.iter().map(|name| known_name(name)).collect());
        self
    }
}

/// A name that no tool has. It stands for a name without a character, so that the list stays a restriction.
const NO_TOOL: &str = "__invalid_tool_name__";

/// The name of a tool in the spelling of this dialect. Hooks write `ReadFileTool` or `readFile` for `read_file`. What
/// another server named (`mcp__git__createTag`) is spelled as that server does.
fn known_name(given: &str) -> String {
    let name = given.trim();
    if name.is_empty() {
        return NO_TOOL.to_owned();
    }
    if !name.chars().any(|character| character.is_ascii_uppercase()) || name.contains("__") {
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

/// The configuration without the tools that a list of the system layer leaves out.
fn narrowed(mut config: HookToolConfig, floors: &[Vec<String>]) -> HookToolConfig {
    if let Some(allowed) = &mut config.allowed_function_names {
        allowed.retain(|name| floors.iter().all(|floor| floor.contains(name)));
    }
    config
}

fn union(configs: Vec<HookToolConfig>) -> HookToolConfig {
    let mode = configs.iter().filter_map(|config| config.mode).max().unwrap_or(HookToolMode::Auto);
    let lists: Vec<Vec<String>> = configs.into_iter().filter_map(|config| config.allowed_function_names).collect();
    let allowed_function_names = match mode {
        HookToolMode::None => Some(Vec::new()),
        HookToolMode::Auto | HookToolMode::Any => (!lists.is_empty()).then(|| lists.concat()),
    };
    let sorted = allowed_function_names.map(|mut names| {
        names.sort_unstable();
        names.dedup();
        names
    });
    HookToolConfig { mode: Some(mode), allowed_function_names: sorted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn check(configs: &[&str], expected: &str) {
        let read = |text: &&str| HookToolConfig::read(&Json::parse(text).unwrap().as_object().unwrap());
        assert_eq!(union(configs.iter().map(read).collect()).to_json().text(), expected);
    }

    #[test]
    fn names_of_tools_are_read_in_other_spellings() {
        for (given, known) in [
            ("read_file", "read_file"),
            (" read_file ", "read_file"),
            ("readFile", "read_file"),
            ("ReadFileTool", "read_file"),
            ("READ_FILE", "read_file"),
            ("LSTool", "ls"),
            ("Tool", "tool"),
            ("read-file", "read-file"),
            ("read_file_tool", "read_file_tool"),
            ("mcp__git__createTag", "mcp__git__createTag"),
            ("", NO_TOOL),
            (" ", NO_TOOL),
        ] {
            assert_eq!(known_name(given), known, "{given}");
        }
    }

    #[test]
    fn none_takes_everything_away() {
        check(
            &[r#"{"mode":"NONE"}"#, r#"{"mode":"AUTO","allowedFunctionNames":["a"]}"#],
            r#"{"mode":"NONE","allowedFunctionNames":[]}"#,
        );
    }

    #[test]
    fn lists_are_united_and_sorted() {
        check(
            &[r#"{"allowedFunctionNames":["b","a"]}"#, r#"{"mode":"ANY","allowedFunctionNames":["b","c"]}"#],
            r#"{"mode":"ANY","allowedFunctionNames":["a","b","c"]}"#,
        );
    }

    #[test]
    fn a_missing_list_restricts_nothing_and_an_empty_one_everything() {
        check(&[r#"{"mode":"ANY"}"#], r#"{"mode":"ANY"}"#);
        check(&[r#"{"allowedFunctionNames":[]}"#], r#"{"mode":"AUTO","allowedFunctionNames":[]}"#);
        check(&[r#"{}"#, r#"{"allowedFunctionNames":["x"]}"#], r#"{"mode":"AUTO","allowedFunctionNames":["x"]}"#);
    }
}
