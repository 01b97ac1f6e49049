//! Syntax errors of a shell's code. The grammar of tree-sitter suspects, and bash decides.
//!
//! The grammar alone rejects 39 of 922 valid scripts of a Linux system, so what it says is only a reason to ask: bash
//! parses the suspected text with `-n`, which runs nothing, and without bash nothing is reported. The project may be
//! untrusted. So the program has a fixed path, an empty environment, no startup file, a working directory outside of the
//! project, and a time limit; the text is its standard input.
//!
//! A shell that is not bash runs scripts for `sh`. Bash understands what the standard says, and `bashisms.rs` reports what
//! the other shell does not understand.

use tree_sitter::{Node, Tree};

use super::parse::{nodes, parse_shell};

/// The first syntax error of a shell's code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellError {
    /// The offset of the place.
    pub(super) at: usize,
    pub(super) complaint: Complaint,
}

/// What bash does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// A token that cannot stand at its place.
    UnexpectedToken(String),
    /// A line ends before a command is complete.
    UnexpectedEndOfLine,
    /// The text ends before a block is closed.
    UnexpectedEndOfText,
    /// The text ends before this mark, which closes a quote or a bracket.
    MissingMark(String),
    /// Anything else.
    Other,
}

impl Complaint {
    /// Returns the message for users.
    pub(super) fn message(&self) -> String {
        match self {
            Self::UnexpectedToken(token) => format!("syntax error: `{token}` is unexpected here"),
            Self::UnexpectedEndOfLine => "syntax error: this line is not complete".to_owned(),
            Self::UnexpectedEndOfText => "syntax error: a block is not closed at the end".to_owned(),
            Self::MissingMark(mark) => format!("syntax error: the closing `{mark}` is missing"),
            Self::Other => "syntax error".to_owned(),
        }
    }
}

/// Returns the first error of a shell's code that bash confirms.
pub(super) fn shell_error(text: &str) -> Option<ShellError> {
    let tree = parse_shell(text)?;
    let suspected = suspected_place(&tree, text)?;
    let answer = ask_bash(text)?;
    let (line, complaint) = read_answer(&answer)?;
    let at = place_of(text, line, &complaint, suspected);
    Some(ShellError { at, complaint })
}

/// Returns the place of the first part of the code that the grammar does not understand, or that it accepts and no shell does.
fn suspected_place(tree: &Tree, text: &str) -> Option<usize> {
    let is_suspect = |node: &Node<'_>| node.is_error() || node.is_missing() || is_too_loose(node, text);
    let found = nodes(tree).filter(is_suspect).map(|node| node.start_byte()).min();
    // A tree may have an error of which no node is the place.
    found.or_else(|| tree.root_node().has_error().then_some(0))
}

/// Words that begin, divide or end a block. The grammar reads one that has no block as the name of a command.
const BLOCK_WORDS: [&str; 13] =
    ["case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "then", "until", "while", "}"];

/// Whether a node is one that the grammar accepts and bash may not. Of 6,140 scripts with one mistake that bash finds, the
/// grammar alone overlooks 1,130, and with these nodes 8.
fn is_too_loose(node: &Node<'_>, text: &str) -> bool {
    let parent = node.parent().map_or("", |parent| parent.kind());
    match node.kind() {
        "command_name" => text.get(node.byte_range()).is_some_and(|name| BLOCK_WORDS.contains(&name)),
        ";;" | ";&" | ";;&" => parent != "case_item",
        "subshell" => parent == "command",
        "then" | "else" | "do" => is_empty_behind(node),
        "{" => parent == "compound_statement" && is_empty_behind(node),
        _ => false,
    }
}

/// Whether no command stands between the word that begins a block and the next part of the block.
fn is_empty_behind(word: &Node<'_>) -> bool {
    let mut behind = std::iter::successors(word.next_named_sibling(), Node::next_named_sibling);
    let first = behind.find(|node| node.kind() != "comment");
    first.is_none_or(|node| matches!(node.kind(), "elif_clause" | "else_clause"))
}

/// Returns what bash writes about a text that it only parses; none if there is no bash, or if it does not end in time.
#[cfg(unix)]
fn ask_bash(text: &str) -> Option<String> {
    use std::time::Duration;

    use hookrail_spawn::{CancelToken, ChildCommand, ChildEnd};

    const PROGRAMS: [&str; 2] = ["/bin/bash", "/usr/bin/bash"];
    const TIME_LIMIT: Duration = Duration::from_secs(5);

    let program = PROGRAMS.into_iter().find(|program| std::path::Path::new(program).is_file())?;
    // With `-n`, bash does not execute the `shopt` that allows patterns like `!(a|b)`.
    let patterns: &[&str] = if text.contains("extglob") { &["-O", "extglob"] } else { &[] };
    let command = ChildCommand::new(program)
        .args(["--norc", "--noprofile"])
        .args(patterns.iter().copied())
        .arg("-n")
        .cwd("/")
        .stdin(text.as_bytes())
        .timeout(TIME_LIMIT)
        .grace(Duration::ZERO);
    let run = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = hookrail_spawn::start_runtime(builder.enable_all()).ok()?;
        runtime.block_on(hookrail_spawn::run(&command, &CancelToken::new())).ok()
    };
    // The caller may be inside of a runtime, whose thread must not wait for another one.
    let finished = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, run).ok()?;
        thread.join().ok().flatten()
    })?;
    match finished.end {
        // Bash 5.2 exits with 0 after some errors, so what it writes counts.
        ChildEnd::Exited(_) | ChildEnd::StatusUnknown => Some(finished.stderr.text_lossy().into_owned()),
        ChildEnd::Signalled(_)
        | ChildEnd::TimedOut
        | ChildEnd::NotStarted
        | ChildEnd::Cancelled
        | ChildEnd::OutputLimit => None,
    }
}

/// There is no bash at a fixed path.
#[cfg(not(unix))]
fn ask_bash(_text: &str) -> Option<String> {
    None
}

/// Reads the first error of bash and its line, from one. The environment is empty, so the language is always English.
fn read_answer(answer: &str) -> Option<(Option<usize>, Complaint)> {
    // `bash: line 3: syntax error near unexpected token `fi'`
    let mut errors = answer.lines().filter_map(|line| {
        let message = line.split_once(": ")?.1;
        let numbered = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        match numbered {
            Some((_, message)) if message.starts_with("warning:") => None,
            Some((number, message)) => Some((number.parse().ok(), message)),
            None => message.contains("unexpected").then_some((None, message)),
        }
    });
    let (number, message) = errors.next()?;
    let quoted = |message: &str, lead: &str| {
        let (_, rest) = message.split_once(lead)?;
        rest.rsplit_once('\'').map(|(token, _)| token.to_owned())
    };
    let complaint = if message.contains("unexpected end of file") {
        Complaint::UnexpectedEndOfText
    } else if let Some(mark) = quoted(message, "looking for matching `") {
        Complaint::MissingMark(mark)
    } else {
        // Inside of `[[ … ]]`, the token is named in a second message.
        let token = std::iter::once(message).chain(errors.map(|(_, message)| message)).find_map(|message| {
            quoted(message, "unexpected token `").or_else(|| quoted(message, "syntax error near `"))
        });
        match token {
            Some(token) if token == "newline" => Complaint::UnexpectedEndOfLine,
            Some(token) => Complaint::UnexpectedToken(token),
            None => Complaint::Other,
        }
    };
    Some((number, complaint))
}

/// Returns the offset of an error. Bash knows its line, and the place that the grammar suspects may be in that line.
fn place_of(text: &str, line: Option<usize>, complaint: &Complaint, suspected: usize) -> usize {
    let Some(line) = line else { return suspected };
    let last = text.trim_end().char_indices().last().map_or(0, |(at, _)| at);
    let begins: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let written = text.get(begins..).unwrap_or_default().lines().next().unwrap_or_default();
    if written.trim().is_empty() {
        return last;
    }
    let end = begins + written.trim_end().len();
    let first = begins + (written.len() - written.trim_start().len());
    let suspected = (first..end).contains(&suspected).then_some(suspected);
    let find = |from: usize, token: &str| text.get(from..end)?.find(token).map(|at| from + at);
    match complaint {
        // What is missing at the end has no other place.
        Complaint::UnexpectedEndOfText => last,
        Complaint::UnexpectedEndOfLine => {
            text.get(..end).and_then(|text| text.char_indices().last()).map_or(0, |(at, _)| at)
        }
        Complaint::UnexpectedToken(token) => {
            suspected.and_then(|from| find(from, token)).or_else(|| find(first, token)).or(suspected).unwrap_or(first)
        }
        // A quote that stays open is the last of its kind.
        Complaint::MissingMark(mark) if matches!(mark.as_str(), "\"" | "'" | "`") => {
            written.rfind(mark).map(|at| begins + at).or(suspected).unwrap_or(first)
        }
        Complaint::MissingMark(_) | Complaint::Other => suspected.unwrap_or(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether bash is here. With `HOOKRAIL_REQUIRE_ALL=1` it has to be.
    fn has_bash() -> bool {
        let found = ask_bash("").is_some();
        assert!(found || std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none(), "bash is missing");
        found
    }

    #[test]
    fn valid_scripts_have_no_error() {
        for text in [
            "#!/bin/sh\nset -eu\ninput=$(cat)\ncase $input in\n  *secret*) echo no >&2; exit 2 ;;\nesac\n",
            "#!/bin/bash\nif [[ \"$x\" =~ ^a(b|c)+$ ]]; then echo \"${x//a/b}\"; fi\n",
            "cat <<EOF\n{\"decision\": \"$1\"}\nEOF\nfor i in a b; do printf '%s' \"$i\"; done\n",
            "a=(1 2 3)\necho \"${a[@]}\" | while read -r l; do ((n++)); done < <(ls)\n",
        ] {
            assert_eq!(shell_error(text), None, "{text}");
        }
    }

    #[test]
    fn bash_overrules_the_grammar() {
        for text in
            ["for f; do echo; done 3<<<x\n", "coproc if x; then y; fi\n", "shopt -s extglob\nrm -- !(a|b) ?(c)d\n"]
        {
            assert!(suspected_place(&parse_shell(text).unwrap(), text).is_some(), "{text}");
            assert_eq!(shell_error(text), None, "{text}");
        }
    }

    #[test]
    fn errors_have_their_place() {
        if !has_bash() {
            return;
        }
        let token = |token: &str| Complaint::UnexpectedToken(token.to_owned());
        let mark = |mark: &str| Complaint::MissingMark(mark.to_owned());
        for (text, place, complaint) in [
            ("if true; then\n  echo\n", (2, "o"), Complaint::UnexpectedEndOfText),
            ("case x in\n", (1, "n"), Complaint::UnexpectedEndOfText),
            ("f() {\n", (1, "{"), Complaint::UnexpectedEndOfText),
            ("echo \"b\" \"a\nc\n", (1, "\"a"), mark("\"")),
            ("echo 'é' 'a\n", (1, "'a"), mark("'")),
            ("echo\nfi\necho é\n", (2, "fi"), token("fi")),
            ("echo é; done; echo\n", (1, "done;"), token("done")),
            ("if x; then\n  # y\nelse echo; fi\n", (3, "else"), token("else")),
            ("f() { }\n", (1, "}"), token("}")),
            ("ls -l;; ls\n", (1, ";; "), token(";;")),
            ("x=1\necho a >\n", (2, ">"), Complaint::UnexpectedEndOfLine),
        ] {
            let found = shell_error(text).unwrap_or_else(|| panic!("{text}"));
            let line = text.get(..found.at).unwrap().matches('\n').count() + 1;
            let rest = text.get(found.at..).unwrap();
            assert!(line == place.0 && rest.starts_with(place.1), "{text}: line {line}, {rest}");
            assert_eq!(found.complaint, complaint, "{text}");
        }
        // Versions of bash name different tokens here.
        assert!(shell_error("echo (a)\n").is_some() && shell_error("[[ a b ]]\n").is_some());
    }

    #[test]
    fn the_answers_of_other_versions_are_read() {
        let token = |token: &str| Complaint::UnexpectedToken(token.to_owned());
        for (answer, read) in [
            ("", None),
            ("bash: warning: setlocale: LC_ALL: cannot change locale\n", None),
            ("bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `E')\n", None),
            (
                "/bin/bash: line 3: syntax error near unexpected token `fi'\n/bin/bash: line 3: `fi'\n",
                Some((Some(3), token("fi"))),
            ),
            (
                "bash: line 4: syntax error: unexpected end of file from `if' command on line 1\n",
                Some((Some(4), Complaint::UnexpectedEndOfText)),
            ),
            (
                "bash: line 1: unexpected EOF while looking for matching `''\nbash: line 2: syntax error: unexpected end of file\n",
                Some((Some(1), Complaint::MissingMark("'".to_owned()))),
            ),
            (
                "bash: line 1: conditional binary operator expected\nbash: line 1: syntax error near `b'\n",
                Some((Some(1), token("b"))),
            ),
            (
                "bash: unexpected EOF while looking for matching `)'\n",
                Some((None, Complaint::MissingMark(")".to_owned()))),
            ),
            ("bash: line 1: syntax error: arithmetic expression required\n", Some((Some(1), Complaint::Other))),
        ] {
            assert_eq!(read_answer(answer), read, "{answer}");
        }
    }
}
