//! The code of a hook as text, and the words in it that mean something in one agent alone.

use std::path::{Path, PathBuf};

use hookrail::DialectId;
use hookrail::sources::read_file;
use hookrail_bridge::{Agent, tools};
use serde_json::Value;

use super::Format;

/// The largest file that is looked at.
const MAX_FILE_BYTES: u64 = 512 * 1024;

/// How a command names the project's folder.
const PROJECT_REFERENCES: [&str; 6] = [
    "${CLAUDE_PROJECT_DIR}",
    "$CLAUDE_PROJECT_DIR",
    "${GEMINI_PROJECT_DIR}",
    "$GEMINI_PROJECT_DIR",
    "$(git rev-parse --show-toplevel)",
    "$PWD",
];

/// Programs whose text says nothing about the hook: what they run follows them.
const INTERPRETERS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "env", "exec", "python", "python3", "node", "bun", "deno", "ruby", "perl", "uv",
    "npx", "jq",
];

/// The command line of a hook and the scripts that it names.
pub(super) struct SeenCode {
    text: String,
    /// A program that is neither on the line nor a script that can be read.
    pub(super) unseen: Option<String>,
}

impl SeenCode {
    /// Reads what a command names. Nothing is executed.
    pub(super) fn of(project: &Path, command: &str, args: Option<&Value>) -> Self {
        let arguments = args.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let line = arguments.fold(command.to_owned(), |line, word| format!("{line} {word}"));
        let located = PROJECT_REFERENCES.iter().fold(line.clone(), |line, reference| {
            line.replace(&format!("\"{reference}\""), reference).replace(reference, &project.display().to_string())
        });
        let mut text = line;
        let mut has_script = false;
        let words: Vec<&str> = located.split([' ', '\t', '\n', '"', '\'', ';', '|', '&', '(', ')']).collect();
        for word in words.iter().filter(|word| !word.is_empty()) {
            let path = if Path::new(word).is_absolute() { PathBuf::from(word) } else { project.join(word) };
            let is_small = path.metadata().is_ok_and(|about| about.is_file() && about.len() <= MAX_FILE_BYTES);
            if let Some(script) = is_small.then(|| read_file(&path).ok().flatten()).flatten() {
                text.push('\n');
                text.push_str(&script);
                has_script = true;
            }
        }
        let first = words.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
        let name = first.rsplit('/').next().unwrap_or(first);
        let is_line = command.contains([';', '|', '&', '\n', '[']) || INTERPRETERS.contains(&name);
        Self { text, unseen: (!has_script && !is_line).then(|| first.to_owned()) }
    }

    /// Whether a word stands in the code, not as a part of a longer one.
    pub(super) fn has_word(&self, word: &str) -> bool {
        let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        self.text.match_indices(word).any(|(at, found)| {
            let before = self.text.get(..at).and_then(|before| before.chars().next_back());
            let behind = self.text.get(at + found.len()..).and_then(|behind| behind.chars().next());
            !is_part(before) && !is_part(behind)
        })
    }
}

/// The words of an agent that a hook of the other format does not find, with what it finds instead. `event` is the name of its event
/// if it has another one there.
pub(super) fn names_in(agent: Agent, from: &Format, to: &Format, event: Option<&str>) -> Vec<(String, String)> {
    let table = tools::table();
    let mut words: Vec<(String, String)> = Vec::new();
    let mut add = |word: &str, what: String| words.push((word.to_owned(), what));
    if from.sends_mode && !to.sends_mode {
        add("permission_mode", "no such field is sent here".to_owned());
    }
    if from.dialect == DialectId::Claude {
        for variable in ["CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_ROOT"] {
            add(variable, "the variable is not set here".to_owned());
        }
        add("updatedToolOutput", "no answer replaces a result here".to_owned());
    }
    for variable in from.project_variables.iter().filter(|variable| !to.project_variables.contains(variable)) {
        add(variable, "the variable is not set here".to_owned());
    }
    if from.rewrite != to.rewrite {
        let instead = format!("a rewrite is `hookSpecificOutput.{}` here", to.rewrite);
        match from.rewrite {
            // The payload has a member of this name too, in every format.
            "tool_input" => add("hookSpecificOutput", instead),
            rewrite => add(rewrite, instead),
        }
    }
    if let Some(event) = event {
        add(event, "the event has another name here".to_owned());
    }
    for name in agent.tools().names() {
        if let Some(ours) = table.name_in(to.dialect, name).filter(|ours| *ours != name) {
            add(name, format!("the tool is called `{ours}` here"));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_of_a_command_are_seen() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("guard.sh"), "jq .tool_name | grep -q Bash\n").unwrap();
        for command in [
            "./guard.sh",
            "bash guard.sh",
            "\"$CLAUDE_PROJECT_DIR\"/guard.sh",
            "\"$(git rev-parse --show-toplevel)/guard.sh\"",
        ] {
            let seen = SeenCode::of(project.path(), command, None);
            assert!(seen.has_word("Bash") && !seen.has_word("Ba") && seen.unseen.is_none(), "{command}");
        }
        assert_eq!(SeenCode::of(project.path(), "guard --all", None).unseen.as_deref(), Some("guard"));
        assert_eq!(SeenCode::of(project.path(), "[ -f x ] && exit 2", None).unseen, None);
    }
}
