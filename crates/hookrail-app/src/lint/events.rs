//! Names of events in the words of other agents.

use std::path::Path;

use hookrail::dialect::find_event;
use hookrail::{Code, Diagnostic, DialectId, EventKind};
use hookrail_bridge::Agent;

use super::fix::Fix;
use super::{Finding, with_advice};
use crate::config::switchable_dialects;

/// Events of agents for which there is no bridge.
const OTHER_AGENTS: [(&str, EventKind, &str); 19] = [
    ("beforeShellExecution", EventKind::BeforeTool, "Cursor"),
    ("beforeMCPExecution", EventKind::BeforeTool, "Cursor"),
    ("beforeReadFile", EventKind::BeforeTool, "Cursor"),
    ("afterShellExecution", EventKind::AfterTool, "Cursor"),
    ("afterMCPExecution", EventKind::AfterTool, "Cursor"),
    ("afterFileEdit", EventKind::AfterTool, "Cursor"),
    ("beforeSubmitPrompt", EventKind::Prompt, "Cursor"),
    ("afterAgentResponse", EventKind::AgentEnd, "Cursor"),
    ("pre_run_command", EventKind::BeforeTool, "Windsurf"),
    ("pre_read_code", EventKind::BeforeTool, "Windsurf"),
    ("pre_write_code", EventKind::BeforeTool, "Windsurf"),
    ("pre_mcp_tool_use", EventKind::BeforeTool, "Windsurf"),
    ("pre_user_prompt", EventKind::Prompt, "Windsurf"),
    ("post_run_command", EventKind::AfterTool, "Windsurf"),
    ("post_read_code", EventKind::AfterTool, "Windsurf"),
    ("post_write_code", EventKind::AfterTool, "Windsurf"),
    ("post_mcp_tool_use", EventKind::AfterTool, "Windsurf"),
    ("TaskStart", EventKind::Prompt, "Cline"),
    ("TaskComplete", EventKind::AgentEnd, "Cline"),
];

/// The event that an agent, or a dialect, calls by this name, and what calls it so.
pub fn in_other_words(name: &str) -> Option<(EventKind, String)> {
    let mut agents = Vec::new();
    let mut kind = None;
    for agent in Agent::ALL {
        if let Some(event) = agent.events().iter().find(|event| event.name.eq_ignore_ascii_case(name)) {
            kind.get_or_insert(event.kind);
            agents.push(agent.title());
        }
    }
    let own = || find_event(name).map(|kind| (kind, "hooks of another kind".to_owned()));
    let other = || {
        let known = OTHER_AGENTS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
        known.map(|(_, kind, agent)| (*kind, (*agent).to_owned()))
    };
    kind.map(|kind| (kind, listed(&agents))).or_else(own).or_else(other)
}

fn listed(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    }
}

/// Says which event a name of another agent means here.
pub(super) fn translated(mut diagnostic: Diagnostic) -> Diagnostic {
    if let Some((name, here, whose)) = meant(&diagnostic) {
        diagnostic.message = format!("`{name}` is an event of {whose}, not of this file; its hooks will not run");
        diagnostic.hint = Some(match switchable_agent(&name) {
            Some(agent) => format!(
                "write `{here}`; or leave the hooks in {}'s own settings, where `hookrail enable {agent}` runs them as they are and \
                 `hookrail import --from {agent}` says what each would mean here",
                agent.title()
            ),
            None => format!("write `{here}`"),
        });
    }
    diagnostic
}

/// The agent with an event of this name whose own settings hookrail can read.
fn switchable_agent(name: &str) -> Option<Agent> {
    let mut agents = switchable_dialects().into_iter().filter_map(Agent::from_name);
    agents.find(|agent| agent.find_event(name).is_some())
}

/// Whether a file belongs to a plugin.
pub(super) fn is_of_plugin(file: &Path) -> bool {
    file.components().any(|part| matches!(part.as_os_str().to_str(), Some(".x-code" | ".x-code-plugin")))
}

/// The name that was written, the event's name in the file's dialect, and what calls it otherwise.
fn meant(diagnostic: &Diagnostic) -> Option<(String, &'static str, String)> {
    let file = &diagnostic.location.as_ref()?.file;
    let name = diagnostic.message.split('`').nth(1)?;
    let dialect = if is_of_plugin(file) { DialectId::Xcode } else { DialectId::Llxprt };
    let (kind, whose) = in_other_words(name)?;
    Some((name.to_owned(), kind.spec().column(dialect)?.name, whose))
}

/// Returns what to write instead of an event of another agent, if the event that is fired is meant.
pub fn misnamed_event(diagnostic: &Diagnostic, fired: EventKind) -> Option<String> {
    if diagnostic.code != Code::UnknownEvent {
        return None;
    }
    let (name, here, _) = meant(diagnostic)?;
    (find_event(here) == Some(fired)).then(|| format!("the hooks of `{name}` do not run: write `{here}`"))
}

/// Says which event is meant, and replaces its name if that is certain: a name with a typing error. A name that is only similar may
/// mean another event, and under the name of another agent a hook expects what that agent sends: to translate the name alone would
/// leave a guard that no longer understands what it reads.
pub(super) fn with_fix(diagnostic: Diagnostic) -> Finding {
    let diagnostic = with_advice(diagnostic);
    let written = diagnostic.message.split('`').nth(1);
    let name = diagnostic.hint.as_deref().and_then(|hint| {
        let name = hint.split('`').nth(1)?;
        let is_certain = hint.starts_with("did you") && written.is_some_and(|written| is_typing_error(written, name));
        is_certain.then(|| name.to_owned())
    });
    let fix = name.zip(diagnostic.location.as_ref()).map(|(name, place)| Fix::Edit {
        file: place.file.to_path_buf(),
        span: place.span.clone(),
        text: format!("\"{name}\""),
    });
    Finding { diagnostic, fix }
}

/// Whether a name differs from another one by two letters at most, apart from case and separators: a letter that is
/// missing, added, replaced, or exchanged with the next one is one or two differences.
pub(super) fn is_typing_error(written: &str, meant: &str) -> bool {
    let letters = |name: &str| -> Vec<char> {
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (written, meant) = (letters(written), letters(meant));
    let same = |one: &[char], other: &[char]| one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let ahead = same(&written, &meant);
    let reversed = |letters: &[char]| -> Vec<char> { letters.iter().skip(ahead).rev().copied().collect() };
    let behind = same(&reversed(&written), &reversed(&meant));
    written.len().max(meant.len()) - ahead - behind <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_told_from_another_name() {
        for written in
            ["BeforTool", "BeforeTol", "beforetool", "before_tool", "BeofreTool", "BeforeToool", "BeforeTool"]
        {
            assert!(is_typing_error(written, "BeforeTool"), "{written}");
        }
        for (written, meant) in [("beforeShellExecution", "BeforeToolSelection"), ("AfterTool", "BeforeTool")] {
            assert!(!is_typing_error(written, meant), "{written}");
        }
    }

    #[test]
    fn events_of_agents_without_a_bridge_are_translated() {
        assert_eq!(in_other_words("beforeShellExecution"), Some((EventKind::BeforeTool, "Cursor".to_owned())));
        assert_eq!(in_other_words("beforeToolUse"), None);
    }
}
