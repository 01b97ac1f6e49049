//! Finds the words of a shell command that a program reads as code, where no value may be inserted.
//!
//! A value that is passed in the environment is safe in an argument, because a shell does not parse it again. It is not
//! safe in text that a program then reads as code. Code for a shell, such as that of `sh -c '…'`, can refer to the
//! environment by itself; any other code is refused when the entry is loaded.

use std::fmt;

/// Why it is not safe to insert a value where a command refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnsafeUse {
    /// It is a part of code for another shell that is not one quoted text.
    PieceOfCode,
    /// The command feeds a shell or another interpreter with code on its standard input.
    StandardInput,
    /// It stands in code of a language that is not the shell's, or in an argument that a program hands to a shell.
    ForeignCode,
    /// It is evaluated as arithmetic, or as the name of a variable.
    Arithmetic,
    /// It is given to a variable, and the command also has code for another shell that could paste it.
    Assigned,
}

impl fmt::Display for UnsafeUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PieceOfCode => "it would become a piece of the code that another shell runs",
            Self::StandardInput => "the command feeds an interpreter with code on its standard input",
            Self::ForeignCode => "it would become a piece of code in another language or for another program's shell",
            Self::Arithmetic => "the shell would evaluate it as arithmetic or as the name of a variable",
            Self::Assigned => "a variable gets it, and the command also has code for another shell",
        })
    }
}

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "su", "fish"];

/// Interpreters of other languages, each with the letters of its short options that take code.
const INTERPRETERS: [(&str, &str); 7] =
    [("python", "c"), ("node", "ep"), ("perl", "eE"), ("ruby", "e"), ("php", "r"), ("lua", "e"), ("deno", "")];

/// Programs that pass their arguments to a shell.
const PASS_ARGUMENTS_TO_A_SHELL: [&str; 9] =
    ["ssh", "rsh", "watch", "parallel", "script", "tmux", "screen", "at", "entr"];

/// Returns the word without quotes and backslashes. This is an approximation of what the program receives; it is only
/// compared with names and options.
fn without_quotes(word: &str) -> String {
    word.replace(['"', '\'', '\\'], "")
}

/// The words of a simple command without its redirections.
pub(super) struct CommandWords(Vec<String>);

impl CommandWords {
    pub(super) fn new(raw: &[String]) -> Self {
        let mut words = Vec::new();
        let mut raw = raw.iter();
        while let Some(word) = raw.next() {
            let operator = word.trim_start_matches(|character: char| character.is_ascii_digit());
            if !operator.starts_with(['<', '>']) || operator.starts_with("<(") || operator.starts_with(">(") {
                words.push(without_quotes(word));
            } else if operator.trim_start_matches(['<', '>', '&', '-', '|']).is_empty() {
                // The operand is the next word.
                raw.next();
            }
        }
        Self(words)
    }

    fn file_name(word: &str) -> &str {
        word.rsplit('/').next().unwrap_or(word)
    }

    /// The words after the last word that is a shell's name.
    fn words_after_shell(&self) -> Option<&[String]> {
        let at = self.0.iter().rposition(|word| SHELLS.contains(&Self::file_name(word)))?;
        self.0.get(at + 1..)
    }

    /// The command itself, without prefixes such as assignments and `env`.
    fn command(&self) -> Option<(&str, &[String])> {
        const PREFIXES: [&str; 17] = [
            "!", "time", "if", "then", "else", "elif", "while", "until", "do", "exec", "command", "builtin", "nohup",
            "env", "sudo", "nice", "{",
        ];
        let is_prefix =
            |word: &&String| PREFIXES.contains(&word.as_str()) || (word.contains('=') && !word.starts_with('-'));
        let skipped = self.0.iter().take_while(is_prefix).count();
        let (first, rest) = self.0.get(skipped..)?.split_first()?;
        Some((Self::file_name(first), rest))
    }

    /// Whether the next word is code for a shell: the text after `sh -c`, or an argument of `eval` or `trap`.
    pub(super) fn next_is_code_for_a_shell(&self) -> bool {
        let follows_option = self.words_after_shell().is_some_and(|words| {
            let takes_code = |word: &String| {
                word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
            };
            let is_option = |word: &String| word.starts_with(['-', '+']);
            let at = words.iter().position(takes_code);
            at.is_some_and(|at| words.iter().skip(at + 1).all(is_option))
        });
        follows_option
            || match self.command() {
                Some(("eval", _)) => true,
                Some(("trap", before)) => before.iter().all(|word| word == "--"),
                _ => false,
            }
    }

    /// Whether any word is code for a shell.
    pub(super) fn has_code_for_a_shell(&self) -> bool {
        (1..self.0.len()).any(|length| Self(self.0.iter().take(length).cloned().collect()).next_is_code_for_a_shell())
    }

    /// Why a value is unsafe as the next word, or as a part of it.
    pub(super) fn why_next_is_unsafe(&self) -> Option<UnsafeUse> {
        let (command, before) = self.command()?;
        let is_given = |options: &[&str]| before.iter().any(|word| options.contains(&word.as_str()));
        match command {
            "let" | "((" => return Some(UnsafeUse::Arithmetic),
            "alias" => return Some(UnsafeUse::PieceOfCode),
            "printf" if before.last().is_some_and(|last| last == "-v") => return Some(UnsafeUse::Arithmetic),
            "[[" | "[" | "test" if is_given(&["-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"]) => {
                return Some(UnsafeUse::Arithmetic);
            }
            "flock" if is_given(&["-c"]) => return Some(UnsafeUse::ForeignCode),
            _ => {}
        }
        if self.0.iter().any(|word| PASS_ARGUMENTS_TO_A_SHELL.contains(&Self::file_name(word))) {
            return Some(UnsafeUse::ForeignCode);
        }
        let last = self.0.last().map(String::as_str).unwrap_or_default();
        let takes_code = |(name, letters): &(&str, &str)| {
            let is_interpreter = |word: &String| Self::file_name(word).starts_with(name);
            let short = last.strip_prefix('-').is_some_and(|option| {
                !option.starts_with('-') && option.chars().next_back().is_some_and(|letter| letters.contains(letter))
            });
            self.0.iter().any(is_interpreter) && (short || matches!(last, "--eval" | "--print" | "eval"))
        };
        INTERPRETERS.iter().any(takes_code).then_some(UnsafeUse::ForeignCode)
    }

    /// Why a value is unsafe anywhere in this complete command. In `[ ${cwd} -eq 1 ]` the operator comes after the value, so
    /// [`Self::why_next_is_unsafe`] cannot see it.
    pub(super) fn why_command_is_unsafe(&self) -> Option<UnsafeUse> {
        let (command, rest) = self.command()?;
        let compares = |word: &String| matches!(word.as_str(), "-v" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
        (matches!(command, "[[" | "[" | "test") && rest.iter().any(compares)).then_some(UnsafeUse::Arithmetic)
    }

    /// Whether the command is an interpreter that reads its program from standard input.
    pub(super) fn reads_program_from_stdin(&self) -> bool {
        let only_options = |words: &[String]| words.iter().all(|word| word.starts_with(['-', '+']));
        let reads = |words: &[String]| {
            let has_code = words.iter().any(|word| {
                word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(['c', 'e']))
            });
            (only_options(words) && !has_code)
                || words.iter().any(|word| word == "-s" || word == "-" || word == "/dev/stdin")
        };
        if let Some(words) = self.words_after_shell() {
            return reads(words);
        }
        let at = self.0.iter().rposition(|word| {
            let name = Self::file_name(word);
            INTERPRETERS.iter().any(|(known, _)| name == *known || (*known == "python" && name.starts_with("python")))
        });
        at.and_then(|at| self.0.get(at + 1..)).is_some_and(reads)
    }

    /// Whether the command runs the file that it is given as a part of the shell.
    pub(super) fn is_source_command(&self) -> bool {
        matches!(self.command(), Some(("." | "source", _)))
    }
}
