//! Recognizes in standard error what did not come from the hook: errors of a shell, an interpreter or a tool that the
//! hook's author takes for a decision of the hook, or never sees.

use crate::config::diagnostic::{Code, Diagnostic};

/// The longest quotation of standard error.
const LONGEST: usize = 160;

/// What a program that exits with 2 by itself writes, and what it means.
const OWN_ERRORS: [(&str, &str); 11] = [
    ("can't open file", "the script that it is given does not exist"),
    ("cannot open", "the script that it is given does not exist"),
    ("Can't open", "the script that it is given does not exist"),
    ("Syntax error", "the script has a syntax error"),
    ("syntax error", "the script has a syntax error"),
    ("unexpected EOF while looking for matching", "the script has a quote that is not closed"),
    ("unexpected end of file", "the script has a block that is not closed"),
    ("Bad substitution", "the script has an expansion that this shell does not know"),
    ("Illegal option", "an option is not known"),
    ("invalid option", "an option is not known"),
    ("usage: ", "its arguments are not valid"),
];

/// What a shell writes about a command of a script and then goes on. It is the cause if nothing else is written behind it:
/// a test that is not valid has the status 2, and a test that the shell does not know is never true.
const FAILED_COMMANDS: [(&str, &str); 10] = [
    ("exit: Illegal number", "the script exits with what is no status"),
    ("[[: not found", "the script is written for bash, and another shell runs it"),
    ("source: not found", "the script is written for bash, and another shell runs it"),
    ("function: not found", "the script is written for bash, and another shell runs it"),
    ("unexpected operator", "a test of the script has an operator that this shell does not know"),
    ("binary operator expected", "a test of the script is not valid"),
    ("unary operator expected", "a test of the script is not valid"),
    ("too many arguments", "a test of the script is not valid"),
    ("integer expression expected", "a test of the script compares what is no number"),
    ("Illegal number", "a test of the script compares what is no number"),
];

/// Programs whose own errors have the exit status 2.
const PROGRAMS: [&str; 12] = ["sh", "bash", "dash", "ash", "ksh", "python", "jq", "grep", "egrep", "sed", "awk", "ls"];

/// Reports that a blocking status comes from an interpreter or a tool: the hook never decided anything.
pub(super) fn foreign_status(stderr: &str) -> Option<Diagnostic> {
    let mut lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    // What ends a shell is the last thing it writes. A hook that explains its refusal writes that.
    let last = lines.next_back().unwrap_or(first);
    let fatal = [first, last].into_iter().find_map(|line| Some((line, source_of_error(line, &OWN_ERRORS)?)));
    let (line, (source, what)) = fatal.or_else(|| Some((last, source_of_error(last, &FAILED_COMMANDS)?)))?;
    let message = format!("this exit status 2 comes from {source} and not from the hook: {what} ({})", quoted(line));
    let hint = "repair what standard error names; until then everything is blocked";
    Some(Diagnostic::new(Code::ExitStatusOfInterpreter, message).hint(hint))
}

/// What wrote a line that reports an error of its own, and what the error means.
fn source_of_error(line: &str, errors: &[(&str, &'static str)]) -> Option<(String, &'static str)> {
    let (program, rest) = line.split_once(": ")?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    let (_, what) = errors.iter().find(|(mark, _)| rest.contains(mark) || line.starts_with(mark))?;
    // A shell begins with the script's name instead of its own if the script itself is broken.
    let is_position = |rest: &str| {
        let rest = rest.strip_prefix("line ").unwrap_or(rest);
        rest.starts_with(|character: char| character.is_ascii_digit())
    };
    if PROGRAMS.contains(&bare) || line.starts_with("usage: ") {
        return Some((format!("`{name}`"), what));
    }
    is_position(rest).then(|| ("the shell".to_owned(), *what))
}

/// Reports a hook that said nothing because something in it failed.
pub(super) fn silent_failure(stderr: &str) -> Option<Diagnostic> {
    const MARKS: [&str; 4] = ["not found", "Traceback (most recent call last)", "yntax error", "cannot execute"];
    let line = stderr.lines().find(|line| MARKS.iter().any(|mark| line.contains(mark)))?;
    let message = format!("it gave no answer, and its standard error reports a failure: {}", quoted(line));
    Some(
        Diagnostic::new(Code::SilentFailure, message)
            .hint("repair it, and begin a shell script with `set -eu` so that a failure is no silent permission"),
    )
}

fn quoted(line: &str) -> String {
    let line = line.trim();
    let short: String = line.chars().take(LONGEST).collect();
    if short.len() < line.len() { format!("{short} […]") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_interpreters_are_told_from_reasons() {
        for line in [
            "python3: can't open file '/p/missing.py': [Errno 2] No such file or directory",
            "sh: 0: cannot open missing.sh: No such file",
            "/bin/sh: 0: cannot open missing.sh: No such file",
            "./g.sh: 3: Syntax error: end of file unexpected (expecting \"fi\")",
            "./g.sh: line 3: syntax error near unexpected token `fi'",
            "g.sh: line 9: unexpected EOF while looking for matching `\"'",
            "grep: invalid option -- 'y'",
            "g.sh: 2: Bad substitution",
            "g.sh: 3: [[: not found",
            "g.sh: 1: function: not found\nhello\ng.sh: 3: Syntax error: \"}\" unexpected",
            "g.sh: 2: set: Illegal option -o pipefail",
            "g.sh: 2: [: a: unexpected operator",
            "./g.sh: line 4: [: x: integer expression expected",
        ] {
            assert!(foreign_status(line).is_some(), "{line}");
        }
        assert!(foreign_status("g.sh: 2: Bad substitution").unwrap().message.contains("comes from the shell"));
        assert!(foreign_status("g.sh: 2: [[: not found\nno secrets please").is_none(), "the hook gave a reason");
        for line in ["no secrets please", "policy: syntax error in your SQL", "denied: cannot open the vault", ""] {
            assert!(foreign_status(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_missing_tool_in_a_silent_hook_shows() {
        assert!(silent_failure("./g.sh: 2: jq: not found\n").is_some());
        assert!(silent_failure("checked 3 files\n").is_none());
    }
}
