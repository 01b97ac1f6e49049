//! Programs that run a script: which there are, which of their options are harmless, and what they import beside the script.

use std::ffi::OsStr;
use std::path::Path;

use hookrail_spawn::real_path;

use super::command::{ResolvedFile, UncoveredReason};

/// A program that runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interpreter {
    Shell,
    Python,
    Node,
    Ruby,
    Perl,
}

/// Whether an interpreter was told to import nothing from the script's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    None,
    Isolated,
}

/// Whether a file of a folder is one that an interpreter can import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Importable {
    Yes,
    No,
}

/// The most links between a program's path and its file, as in the kernel.
const MOST_LINKS: usize = 40;

impl Interpreter {
    /// The interpreter that a program outside of the project is, judged by the file that runs: a link can have any name.
    pub(super) fn of_program(program: &ResolvedFile) -> Option<Self> {
        match file_name(&program.real) {
            // These act as the name says under which they are started.
            "busybox" | "toybox" => Self::of_name(file_name(&program.path)).filter(|found| *found == Self::Shell),
            name => Self::of_name(name),
        }
    }

    /// The interpreter that both the path of a program and its file are named after, such as `python3` and `python3.12`.
    pub(super) fn of_both_names(program: &ResolvedFile) -> Option<Self> {
        Self::of_program(program).filter(|found| Self::of_name(file_name(&program.path)) == Some(*found))
    }

    fn of_name(name: &str) -> Option<Self> {
        let is_version = |character: char| character.is_ascii_digit() || ".-".contains(character);
        match name.trim_end_matches(is_version) {
            "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" => Some(Self::Shell),
            "node" | "nodejs" => Some(Self::Node),
            "ruby" => Some(Self::Ruby),
            "perl" => Some(Self::Perl),
            "python" => Some(Self::Python),
            _ => None,
        }
    }

    /// The name of the interpreter, without a version.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::Python => "python",
            Self::Node => "node",
            Self::Ruby => "ruby",
            Self::Perl => "perl",
        }
    }

    /// Whether it imports files from the folder of a script.
    pub(super) fn imports_siblings(self) -> bool {
        self != Self::Shell
    }

    /// Whether it can import a file of that name from the folder of a script.
    pub(super) fn can_import(self, file: &Path) -> Importable {
        let endings: &[&str] = match self {
            Self::Shell => &[],
            Self::Python => &["py", "pyc", "pyd", "so", "zip", "egg", "pth"],
            // `require("./rules")` takes a file `rules` before `rules.js`, and one of any other name if that is written out.
            // What only compilers read is left out, because `hookrail types` writes such files.
            Self::Node => return if is_for_compilers(file) { Importable::No } else { Importable::Yes },
            Self::Ruby => &["rb", "so", "bundle"],
            Self::Perl => &["pm", "pl", "pmc", "so", "bundle"],
        };
        let is_known = file.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known));
        if is_known { Importable::Yes } else { Importable::No }
    }

    /// The arguments after options that do not change what is run.
    pub(super) fn skip_options(self, mut arguments: &[String]) -> Result<(Isolation, &[String]), UncoveredReason> {
        let harmless = match self {
            Self::Shell => "eux",
            Self::Python => "uIBEs",
            Self::Node | Self::Ruby | Self::Perl => "",
        };
        let mut isolation = Isolation::None;
        while let Some((first, rest)) = arguments.split_first() {
            let Some(letters) = first.strip_prefix('-') else { break };
            // `-o pipefail`, also as `-euo pipefail`
            let sets_pipefail = self == Self::Shell && rest.first().is_some_and(|name| name == "pipefail");
            let (letters, rest) = match letters.strip_suffix('o').filter(|_| sets_pipefail) {
                Some(others) => (others, rest.get(1..).unwrap_or_default()),
                None if letters.is_empty() => return Err(UncoveredReason::InterpreterOption),
                None => (letters, rest),
            };
            if !letters.chars().all(|letter| harmless.contains(letter)) {
                return Err(UncoveredReason::InterpreterOption);
            }
            if self == Self::Python && letters.contains('I') {
                isolation = Isolation::Isolated;
            }
            arguments = rest;
        }
        Ok((isolation, arguments))
    }
}

/// Whether a file is for compilers, type checkers and editors alone.
fn is_for_compilers(file: &Path) -> bool {
    let name = file_name(file);
    name == "tsconfig.json" || [".d.ts", ".d.mts", ".d.cts", ".pyi"].iter().any(|ending| name.ends_with(ending))
}

/// Whether the way from a program's path to its file leads through the project. Python, for one, takes its packages from the
/// folder beside a link: that is what a virtual environment is.
pub(super) fn leads_through(root: &Path, program: &Path) -> bool {
    let mut at = program.to_owned();
    for _ in 0..MOST_LINKS {
        let Some(folder) = at.parent().map(Path::to_owned) else { return false };
        if folder.starts_with(root) || real_path(&folder).is_ok_and(|real| real.starts_with(root)) {
            return true;
        }
        let Ok(target) = at.read_link() else { return false };
        at = folder.join(target);
    }
    true
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}
