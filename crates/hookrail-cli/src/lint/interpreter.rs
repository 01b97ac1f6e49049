//! The programs that run scripts, and the languages of scripts.

use std::path::Path;

/// A program that runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interpreter {
    /// A shell whose scripts can be parsed.
    Shell,
    Python,
    JavaScript,
    /// Any other; its scripts are not parsed.
    Other,
}

impl Interpreter {
    /// The interpreter with a name, which may end in a version.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        let bare = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
        match bare {
            "sh" | "bash" | "dash" | "ash" => Some(Self::Shell),
            "python" | "pypy" => Some(Self::Python),
            "node" | "nodejs" | "bun" | "tsx" | "ts-node" => Some(Self::JavaScript),
            "zsh" | "ksh" | "fish" | "ruby" | "perl" | "php" | "lua" => Some(Self::Other),
            _ => None,
        }
    }

    /// The interpreter that a file's ending stands for.
    pub(super) fn of_ending(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "sh" | "bash" => Some(Self::Shell),
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

    /// The script among an interpreter's arguments; none if it is given code or a module, or if a word is not known.
    pub(super) fn script_in(self, arguments: &[Option<String>]) -> Option<String> {
        let code = match self {
            Self::Shell => ["-c", "-s"].as_slice(),
            Self::Python => ["-c", "-m", "-"].as_slice(),
            Self::JavaScript | Self::Other => ["-e", "-p", "--eval", "--print", "-"].as_slice(),
        };
        let takes_value = ["-W", "-X", "-r", "--require", "--import", "--loader", "-o", "-O"];
        let mut words = arguments.iter();
        while let Some(Some(word)) = words.next() {
            let is_code = code.contains(&word.as_str())
                || self == Self::Shell && word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
            if is_code {
                return None;
            }
            if !word.starts_with(['-', '+']) {
                // `bun run x` and the like name a task, not a file.
                let is_file = word.contains('/') || word.contains('.') || self == Self::Shell;
                return is_file.then(|| word.clone());
            }
            if takes_value.contains(&word.as_str()) {
                words.next();
            }
        }
        None
    }
}
