//! Finds the words of a shell command that a program reads as code.
//!
//! A value that is passed in the environment is safe in an argument, because a shell does not parse it again. It is not
//! safe in text that a program then reads as code. Code for a shell, such as that of `sh -c '…'`, can refer to the
//! environment by itself; in any other code only a plain value is written, and a hook with another one is not run.

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
    /// It is evaluated as arithmetic.
    Arithmetic,
    /// It is the name of a variable.
    VariableName,
    /// It is given to a variable, and the command also has code that could paste it.
    Assigned,
}

impl fmt::Display for UnsafeUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PieceOfCode => "it would become a piece of the code that another shell runs",
            Self::StandardInput => "the command feeds an interpreter with code on its standard input",
            Self::ForeignCode => "it would become a piece of code in another language or for another program's shell",
            Self::Arithmetic => "the shell would evaluate it as arithmetic",
            Self::VariableName => "the shell would take it for the name of a variable",
            Self::Assigned => "a variable gets it, and the command also has code that could use the variable",
        })
    }
}

const SHELLS: [&str; 11] = ["sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "su", "runuser"];

/// Interpreters of other languages by the beginning of their names, each with the letters of its short options that take
/// code.
const INTERPRETERS: [(&str, &str); 21] = [
    ("python", "c"),
    ("pypy", "c"),
    ("node", "ep"),
    ("bun", "ep"),
    ("tsx", "ep"),
    ("ts-node", "ep"),
    ("perl", "eE"),
    ("ruby", "e"),
    ("php", "rBRE"),
    ("lua", "e"),
    ("deno", ""),
    ("julia", "eE"),
    ("Rscript", "e"),
    ("elixir", "e"),
    ("guile", "c"),
    ("fish", "cC"),
    ("csh", "c"),
    ("tcsh", "c"),
    ("pwsh", "c"),
    ("osascript", "e"),
    ("npx", "c"),
];

/// Long options whose operand is code, for the interpreters above.
const LONG_CODE_OPTIONS: [&str; 8] =
    ["--eval", "--print", "eval", "--command", "-Command", "--call", "--run", "--init-command"];

/// Programs whose first word that is no option is a program in a language of their own, with the letters of the short
/// options that take another operand.
const LITTLE_LANGUAGES: [(&str, &str); 6] =
    [("awk", "vFf"), ("gawk", "vFf"), ("mawk", "vFf"), ("nawk", "vFf"), ("sed", "fl"), ("gsed", "fl")];

/// Programs that pass their arguments to a shell.
const PASS_ARGUMENTS_TO_A_SHELL: [&str; 9] =
    ["ssh", "rsh", "watch", "parallel", "script", "tmux", "screen", "at", "entr"];

/// Commands whose words are names of variables, or assignments.
const NAME_VARIABLES: [&str; 10] =
    ["unset", "declare", "typeset", "local", "readonly", "export", "read", "mapfile", "readarray", "getopts"];

/// Returns the word without quotes and backslashes. This is an approximation of what the program receives; it is only
/// compared with names and options.
fn without_quotes(word: &str) -> String {
    word.replace(['"', '\'', '\\'], "")
}

/// Whether a word gives a value to a variable of the shell.
pub(super) fn is_assignment(word: &str) -> bool {
    let (word, is_whole) = beginning(word);
    let name = word.split(['=', '+', '[']).next().unwrap_or_default();
    (word.contains('=') || !is_whole)
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Whether a word begins an assignment to a variable whose value a shell or another program runs.
fn assigns_code(word: &str) -> bool {
    const NAMES: [&str; 10] = ["PS0", "PS1", "PS2", "PS3", "PS4", "ENV", "BASH_ENV", "VISUAL", "LESSOPEN", "LESSCLOSE"];
    let name = word.split(['=', '+']).next().unwrap_or_default();
    let runs = NAMES.contains(&name) || ["COMMAND", "EDITOR", "PAGER"].iter().any(|end| name.ends_with(end));
    runs && is_assignment(word)
}

/// Whether a word is a short option, or several of them, that ends in one of these letters.
fn ends_in_option(word: &str, letters: &str) -> bool {
    word.strip_prefix('-').is_some_and(|option| {
        !option.starts_with('-') && option.chars().next_back().is_some_and(|letter| letters.contains(letter))
    })
}

fn compares_numbers(word: &str) -> bool {
    matches!(word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// The longest beginning of a word that is judged, so that reading a command takes time in proportion to its length. No name
/// and no option is longer.
const LONGEST_BEGINNING: usize = 256;

/// The beginning of a word, and whether that is the whole word.
fn beginning(word: &str) -> (&str, bool) {
    (word.get(..word.floor_char_boundary(LONGEST_BEGINNING)).unwrap_or(word), word.len() <= LONGEST_BEGINNING)
}

/// The words of a simple command without its redirections.
#[derive(Default)]
pub(super) struct CommandWords {
    words: Vec<String>,
    /// How many words there are with the redirections.
    count: usize,
    /// What the next word is, when it is the operand of a redirection.
    operand: Option<Operand>,
}

/// The word after the operator of a redirection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// A file to read or to write.
    File,
    /// Text, after `<<<`, or the end of a here-document.
    Text,
}

impl CommandWords {
    /// Adds a word that is complete.
    pub(super) fn push(&mut self, word: &str) {
        let (word, _) = beginning(word);
        self.count += 1;
        if self.operand.take().is_some() {
            return;
        }
        let operator = word.trim_start_matches(|character: char| character.is_ascii_digit());
        if !operator.starts_with(['<', '>']) || operator.starts_with("<(") || operator.starts_with(">(") {
            self.words.push(without_quotes(word));
        } else if operator.trim_start_matches(['<', '>', '&', '-', '|']).is_empty() {
            self.operand = Some(if operator.starts_with("<<") { Operand::Text } else { Operand::File });
        }
    }

    /// How many words the command has, its redirections included.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn file_name(word: &str) -> &str {
        word.rsplit('/').next().unwrap_or(word)
    }

    /// The words after the last word that is a shell's name.
    fn after_shell(words: &[String]) -> Option<&[String]> {
        let at = words.iter().rposition(|word| SHELLS.contains(&Self::file_name(word)))?;
        words.get(at + 1..)
    }

    /// The command itself, without prefixes such as assignments and `env`.
    fn command(&self) -> Option<(&str, &[String])> {
        Self::command_of(&self.words)
    }

    fn command_of(words: &[String]) -> Option<(&str, &[String])> {
        const PREFIXES: [&str; 17] = [
            "!", "time", "if", "then", "else", "elif", "while", "until", "do", "exec", "command", "builtin", "nohup",
            "env", "sudo", "nice", "{",
        ];
        // A path may have a `=`, and is no assignment.
        let is_prefix = |word: &&String| {
            PREFIXES.contains(&word.as_str())
                || (word.split_once('=').is_some_and(|(name, _)| !name.contains('/')) && !word.starts_with('-'))
        };
        let skipped = words.iter().take_while(is_prefix).count();
        let (first, rest) = words.get(skipped..)?.split_first()?;
        Some((Self::file_name(first), rest))
    }

    /// Whether the next word is code for a shell: the text after `sh -c`, or an argument of `eval` or `trap`.
    pub(super) fn next_is_code_for_a_shell(&self) -> bool {
        Self::is_before_code(&self.words)
    }

    fn is_before_code(words: &[String]) -> bool {
        let follows_option = Self::after_shell(words).is_some_and(|words| {
            let takes_code = |word: &String| {
                word == "--command"
                    || word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
            };
            let is_option = |word: &String| word.starts_with(['-', '+']);
            let at = words.iter().position(takes_code);
            at.is_some_and(|at| words.iter().skip(at + 1).all(is_option))
        });
        follows_option
            || match Self::command_of(words) {
                Some(("eval", _)) => true,
                Some(("trap", before)) => before.iter().all(|word| word == "--"),
                _ => false,
            }
    }

    /// Whether any word is code for a shell.
    pub(super) fn has_code_for_a_shell(&self) -> bool {
        (1..self.words.len()).any(|length| self.words.get(..length).is_some_and(Self::is_before_code))
    }

    /// Why a value is unsafe in the next word. `begun` is what the word begins with.
    pub(super) fn why_next_is_unsafe(&self, begun: &str) -> Option<UnsafeUse> {
        let (begun, is_whole) = beginning(begun);
        let begun = without_quotes(begun);
        let redirects = begun.trim_start_matches(|character: char| character.is_ascii_digit()).starts_with(['<', '>']);
        if self.operand == Some(Operand::File) || (redirects && !begun.contains("<<<")) {
            return None;
        }
        // What follows in an option of this length could be code.
        if !is_whole && begun.starts_with('-') {
            return Some(UnsafeUse::ForeignCode);
        }
        if assigns_code(&begun) {
            return Some(UnsafeUse::Assigned);
        }
        let subscript = begun.split_once('[').is_some_and(|(name, _)| is_assignment(&format!("{name}=")));
        if subscript && !begun.contains('=') {
            return Some(UnsafeUse::Arithmetic);
        }
        let (command, before) = self.command()?;
        let is_given = |options: &[&str]| before.iter().any(|word| options.contains(&word.as_str()));
        match command {
            "let" | "((" => return Some(UnsafeUse::Arithmetic),
            "alias" => return Some(UnsafeUse::PieceOfCode),
            "printf" if before.last().is_some_and(|last| last == "-v") => return Some(UnsafeUse::VariableName),
            "[[" | "[" | "test" if before.last().is_some_and(|last| last == "-v") => {
                return Some(UnsafeUse::VariableName);
            }
            "[[" if before.iter().any(|word| compares_numbers(word)) => return Some(UnsafeUse::Arithmetic),
            // A shell may do arithmetic here; most do not.
            "[" | "test" if before.iter().any(|word| compares_numbers(word)) => return Some(UnsafeUse::VariableName),
            _ if NAME_VARIABLES.contains(&command) && !begun.contains('=') => return Some(UnsafeUse::VariableName),
            "declare" | "typeset" | "local" if before.iter().any(|word| ends_in_option(word, "i")) => {
                return Some(UnsafeUse::Arithmetic);
            }
            "flock" if is_given(&["-c", "--command"]) => return Some(UnsafeUse::ForeignCode),
            _ => {}
        }
        let last = self.words.last().map(String::as_str).unwrap_or_default();
        let splits = |word: &str| word.starts_with("-S") || word.starts_with("--split-string");
        if self.words.iter().any(|word| word == "env") && (splits(last) || splits(&begun)) {
            return Some(UnsafeUse::ForeignCode);
        }
        if self.words.iter().any(|word| PASS_ARGUMENTS_TO_A_SHELL.contains(&Self::file_name(word))) {
            return Some(UnsafeUse::ForeignCode);
        }
        // What program this is, only the shell knows.
        if command.contains(['$', '`']) && (ends_in_option(last, "ceEpr") || LONG_CODE_OPTIONS.contains(&last)) {
            return Some(UnsafeUse::ForeignCode);
        }
        let is_code = self.next_is_foreign_code(last, &begun) || self.next_is_little_program(last, &begun);
        is_code.then_some(UnsafeUse::ForeignCode)
    }

    /// Whether the next word is code for an interpreter: `node -e CODE`, `python3 -cCODE`, `node --eval=CODE`.
    fn next_is_foreign_code(&self, last: &str, begun: &str) -> bool {
        let attached_long =
            begun.split_once('=').is_some_and(|(option, _)| LONG_CODE_OPTIONS.contains(&option) && option != "eval");
        let attached_short = |letters: &str| {
            let options = begun.strip_prefix('-').filter(|options| !options.starts_with('-'));
            options.is_some_and(|options| options.contains(|letter| letters.contains(letter)))
        };
        INTERPRETERS.iter().any(|(name, letters)| {
            self.words.iter().any(|word| Self::file_name(word).starts_with(name))
                && (ends_in_option(last, letters)
                    || LONG_CODE_OPTIONS.contains(&last)
                    || attached_long
                    || attached_short(letters))
        })
    }

    /// Whether the next word is a program for `awk` or `sed`.
    fn next_is_little_program(&self, last: &str, begun: &str) -> bool {
        LITTLE_LANGUAGES.iter().any(|(name, with_operand)| {
            let Some(at) = self.words.iter().rposition(|word| Self::file_name(word) == *name) else { return false };
            let before = self.words.get(at + 1..).unwrap_or_default();
            let is_script = |word: &str| {
                word.starts_with("--expression")
                    || word.starts_with("--source")
                    || (name.ends_with("sed") && word.starts_with('-') && !word.starts_with("--") && word.contains('e'))
            };
            if is_script(begun) || (is_script(last) && !last.contains('=')) {
                return true;
            }
            let from_file = |word: &String| word.starts_with("-f") || word.starts_with("--file");
            if begun.starts_with('-') || before.iter().any(|word| is_script(word) || from_file(word)) {
                return false;
            }
            let mut words = before.iter();
            while let Some(word) = words.next() {
                if !word.starts_with('-') {
                    return false;
                }
                let takes_operand = word.len() == 2 && ends_in_option(word, with_operand);
                // The next word is the operand.
                if takes_operand && words.next().is_none() {
                    return false;
                }
            }
            true
        })
    }

    /// Why a value is unsafe anywhere in this complete command. In `[ ${cwd} -eq 1 ]` the operator comes after the value, so
    /// [`Self::why_next_is_unsafe`] cannot see it.
    pub(super) fn why_command_is_unsafe(&self) -> Option<UnsafeUse> {
        let (command, rest) = self.command()?;
        let compares = rest.iter().any(|word| compares_numbers(word));
        // `[[ a && $x -eq 1 ]]` is more than one command here.
        let is_condition = command == "[[" || rest.last().is_some_and(|last| last == "]]");
        let is_test = matches!(command, "[" | "test");
        if is_condition && compares {
            Some(UnsafeUse::Arithmetic)
        } else if (is_test && compares) || (is_condition && (command == "-v" || rest.iter().any(|word| word == "-v"))) {
            Some(UnsafeUse::VariableName)
        } else {
            None
        }
    }

    /// Whether a variable of the shell gets what the words of this command are.
    pub(super) fn fills_variables(&self) -> bool {
        matches!(self.command(), Some((name, _)) if matches!(name, "set" | "for" | "select" | "cd" | "pushd" | "export"))
    }

    /// Whether a variable of the shell gets what this command reads.
    pub(super) fn reads_variables(&self) -> bool {
        matches!(self.command(), Some(("read" | "mapfile" | "readarray", _)))
    }

    /// Whether the command is an interpreter that reads its program from standard input.
    pub(super) fn reads_program_from_stdin(&self) -> bool {
        let only_options = |words: &[String]| words.iter().all(|word| word.starts_with(['-', '+']));
        let is_code_option = |word: &String| {
            word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(['c', 'e']))
        };
        let reads = |words: &[String]| {
            (only_options(words) && !words.iter().any(is_code_option))
                || words.iter().any(|word| word == "-s" || word == "-" || word == "/dev/stdin")
        };
        // Code that is the name of an interpreter alone: `bash -c bash x` reads what `bash` does.
        let runs_file = |word: &String| {
            let name = Self::file_name(word);
            SHELLS.contains(&name) || Self::is_interpreter(name)
        };
        let is_code_that_reads = |at: usize| {
            self.words.iter().take(at).any(runs_file)
                && self.words.iter().skip(at + 1).find(|word| !word.starts_with(['-', '+'])).is_some_and(runs_file)
        };
        if self.words.iter().enumerate().any(|(at, word)| is_code_option(word) && is_code_that_reads(at)) {
            return true;
        }
        if let Some(words) = Self::after_shell(&self.words) {
            return reads(words);
        }
        let at = self.words.iter().rposition(|word| Self::is_interpreter(Self::file_name(word)));
        at.and_then(|at| self.words.get(at + 1..)).is_some_and(reads)
            || (self.is_source_command() && self.words.iter().any(|word| word == "/dev/stdin"))
    }

    fn is_interpreter(name: &str) -> bool {
        INTERPRETERS.iter().any(|(known, _)| name == *known || (*known == "python" && name.starts_with("python")))
    }

    /// Whether the command is a shell or another interpreter, which runs the file that it is given.
    pub(super) fn runs_files(&self) -> bool {
        let runs = |name: &str| SHELLS.contains(&name) || Self::is_interpreter(name);
        self.words.iter().any(|word| runs(Self::file_name(word)))
    }

    /// Whether the command runs the file that it is given as a part of the shell.
    pub(super) fn is_source_command(&self) -> bool {
        matches!(self.command(), Some(("." | "source", _)))
    }
}
