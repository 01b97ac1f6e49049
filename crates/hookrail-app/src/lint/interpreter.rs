//! The programs that run scripts, and the languages of scripts.

use std::path::Path;

/// A program that runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interpreter {
    /// A shell whose scripts can be parsed.
    Shell(ShellKind),
    Python,
    JavaScript,
    /// Any other; its scripts are not parsed.
    Other,
}

/// What a shell understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellKind {
    /// What the standard says, which is the least that `sh` has.
    Posix,
    Bash,
}

impl Interpreter {
    /// Whether two interpreters are for the same language.
    pub(super) fn is_like(self, other: Self) -> bool {
        matches!((self, other), (Self::Shell(_), Self::Shell(_))) || self == other
    }

    /// The interpreter with a name, which may end in a version.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        let bare = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
        match bare {
            "sh" | "dash" | "ash" => Some(Self::Shell(ShellKind::Posix)),
            "bash" => Some(Self::Shell(ShellKind::Bash)),
            "python" | "pypy" => Some(Self::Python),
            "node" | "nodejs" | "bun" | "tsx" | "ts-node" => Some(Self::JavaScript),
            "zsh" | "ksh" | "fish" | "ruby" | "perl" | "php" | "lua" => Some(Self::Other),
            _ => None,
        }
    }

    /// The interpreter that a file's ending stands for.
    pub(super) fn of_ending(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            // Without a first line, the shell that starts it runs it, which is bash.
            "sh" | "bash" => Some(Self::Shell(ShellKind::Bash)),
            "py" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => Some(Self::JavaScript),
            "rb" | "pl" | "zsh" | "fish" | "php" | "lua" => Some(Self::Other),
            _ => None,
        }
    }

    /// The first line that makes a file of that ending run by itself.
    pub(super) fn first_line(path: &Path) -> Option<&'static str> {
        match path.extension()?.to_str()? {
            "sh" => Some("#!/bin/sh"),
            "bash" => Some("#!/usr/bin/env bash"),
            "py" => Some("#!/usr/bin/env python3"),
            "js" | "mjs" | "cjs" => Some("#!/usr/bin/env node"),
            "rb" => Some("#!/usr/bin/env ruby"),
            "pl" => Some("#!/usr/bin/env perl"),
            _ => None,
        }
    }

    /// The options after which an interpreter is given code.
    fn code_options(self) -> &'static [&'static str] {
        match self {
            Self::Shell(_) => &["-c"],
            Self::Python => &["-c"],
            Self::JavaScript | Self::Other => &["-e", "-p", "--eval", "--print"],
        }
    }

    fn is_code_option(self, word: &str) -> bool {
        let joined = matches!(self, Self::Shell(_)) && word.starts_with('-') && !word.starts_with("--");
        self.code_options().contains(&word) || joined && word.ends_with('c')
    }

    /// What an interpreter's arguments give it to run; none if it is a module, standard input, or a word that is not
    /// known.
    pub(super) fn given_in(self, arguments: &[Option<String>]) -> Option<Given> {
        let elsewhere = match self {
            Self::Shell(_) => ["-s"].as_slice(),
            Self::Python => ["-m", "-"].as_slice(),
            Self::JavaScript | Self::Other => ["-"].as_slice(),
        };
        let takes_value = ["-W", "-X", "-r", "--require", "--import", "--loader", "-o", "-O"];
        let mut words = arguments.iter();
        while let Some(Some(word)) = words.next() {
            if self.is_code_option(word) {
                return words.next().cloned().flatten().map(Given::Code);
            }
            if elsewhere.contains(&word.as_str()) {
                return None;
            }
            if !word.starts_with(['-', '+']) {
                // `bun run x` and the like name a task, not a file.
                let is_file = word.contains('/') || word.contains('.') || matches!(self, Self::Shell(_));
                return is_file.then(|| Given::Script(word.clone()));
            }
            if takes_value.contains(&word.as_str()) {
                words.next();
            }
        }
        None
    }
}

/// What an interpreter is given to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A file.
    Script(String),
    /// The code itself.
    Code(String),
}
