//! Variables without quotes in commands: a blank in the value splits the word, and the hook is not found.

use hookrail::hook::Action;
use hookrail::{Code, DialectId};

use super::Finding;
use super::command_line::unquoted_variables;
use super::fix::Fix;
use super::scene::Scene;

/// Variables that mean the project. The engine quotes them where the author did not.
pub(super) const PROJECT_VARIABLES: [&str; 3] = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

pub(super) fn look(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for seen in scene.active() {
        let hook = seen.hook;
        // The variables of a plugin are handed over quoted, whatever the command says.
        let Action::Shell(line) = &hook.action else { continue };
        if hook.dialect == DialectId::Xcode {
            continue;
        }
        for (variable, span) in unquoted_variables(line, &PROJECT_VARIABLES) {
            let word_end =
                line[span.end..].find([' ', '\t', ';', '|', '&', '"', '\'']).map_or(line.len(), |at| span.end + at);
            let word = &line[span.start..word_end];
            let message = format!(
                "`{variable}` has no quotes in the command of hook `{hook}`, so a blank in its value splits it"
            );
            let diagnostic = scene.about_key(hook, "command", Code::VariableUnquoted, message);
            let diagnostic = diagnostic.hint(format!("write `\"{word}\"`, in JSON `\\\"{word}\\\"`"));
            let quoted = format!("{}\"{word}\"{}", &line[..span.start], &line[word_end..]);
            let is_plain = !word.contains(['*', '?', '[', '(', '`', '\\']);
            let fix = Fix::replace_text(scene, hook, "command", line, &quoted).filter(|_| is_plain);
            found.push(Finding { diagnostic, fix });
        }
    }
    found
}
