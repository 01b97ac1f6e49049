//! Variables without quotes in commands: a blank in the value splits the word, and the hook is not found. And variables in
//! single quotes: no shell replaces them, and the hook is not found either.

use std::ops::Range;

use hookrail::hook::Action;
use hookrail::{Code, DialectId};

use super::Finding;
use super::command_line::unquoted_variables;
use super::context::LintContext;
use super::fix::Fix;

/// Variables that mean the project. The engine quotes them where the author did not.
pub(super) const PROJECT_VARIABLES: [&str; 3] = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for seen in context.active() {
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
            let diagnostic = context.about_key(hook, "command", Code::VariableUnquoted, message);
            let diagnostic = diagnostic.hint(format!("write `\"{word}\"`, in JSON `\\\"{word}\\\"`"));
            let quoted = format!("{}\"{word}\"{}", &line[..span.start], &line[word_end..]);
            let is_plain = !word.contains(['*', '?', '[', '(', '`', '\\']);
            let fix = Fix::replace_text(context, hook, "command", line, &quoted).filter(|_| is_plain);
            found.push(Finding { diagnostic, fix });
        }
        for span in single_quoted_paths(line) {
            let word = &line[span.clone()];
            let message = format!(
                "`{word}` in the command of hook `{hook}` is in single quotes, so the shell does not replace the variable and \
                 finds no such file"
            );
            let diagnostic = context.about_key(hook, "command", Code::VariableSingleQuoted, message);
            let diagnostic = diagnostic.hint(format!("write `\"{word}\"`, in JSON `\\\"{word}\\\"`"));
            let quoted = format!("{}\"{word}\"{}", &line[..span.start - 1], &line[span.end + 1..]);
            let is_plain = !word[1..].contains(['"', '`', '\\', '$']);
            let fix = Fix::replace_text(context, hook, "command", line, &quoted).filter(|_| is_plain);
            found.push(Finding { diagnostic, fix });
        }
    }
    found
}

/// Paths below a variable of the project in single quotes, without the quotes. What follows `-c` is code, in which a shell of
/// its own replaces the variable.
fn single_quoted_paths(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut characters = line.char_indices();
    let mut in_double_quotes = false;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '"' => in_double_quotes = !in_double_quotes,
            '\'' if !in_double_quotes => {
                let Some((end, _)) = characters.find(|(_, character)| *character == '\'') else { break };
                let is_code = line[..at].trim_end().ends_with("-c");
                if !is_code && is_project_path(&line[at + 1..end]) {
                    found.push(at + 1..end);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a text is a path that begins with a variable of the project.
fn is_project_path(text: &str) -> bool {
    let begins = |name: &str| text.strip_prefix(&format!("${name}/")).or(text.strip_prefix(&format!("${{{name}}}/")));
    PROJECT_VARIABLES.into_iter().any(|name| begins(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::single_quoted_paths;

    #[test]
    fn a_path_in_single_quotes_is_found_and_code_is_not() {
        for (line, expected) in [
            ("'$LLXPRT_PROJECT_DIR/g.sh'", Some("$LLXPRT_PROJECT_DIR/g.sh")),
            ("sh '${CLAUDE_PROJECT_DIR}/g.sh' x", Some("${CLAUDE_PROJECT_DIR}/g.sh")),
            ("\"$LLXPRT_PROJECT_DIR/g.sh\"", None),
            ("\"it's $LLXPRT_PROJECT_DIR/g.sh' x\"", None),
            ("bash -c '$LLXPRT_PROJECT_DIR/g.sh'", None),
            ("echo '$HOME/g.sh' 'x'", None),
            ("echo \\'$LLXPRT_PROJECT_DIR/g.sh", None),
        ] {
            let found = single_quoted_paths(line);
            assert_eq!(found.first().map(|span| &line[span.clone()]), expected, "{line}");
        }
    }
}
