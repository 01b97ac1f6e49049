//! What of the project the user's environment names as a place of code: parts of the search path for programs, and variables by
//! which interpreters, shells and the loader of libraries find code.
//!
//! `npm exec`, activated virtual environments and `direnv` set them. A file of the project with the right name would then run as
//! part of every guard, so hooks do not inherit them. A hook of the project searches the project's programs after all others,
//! and has the variables if it is open-ended: its grant says that it runs more of the project than it names.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hookrail_spawn::Environment;

use crate::hook::search_path::{DEFAULT_SEARCH_PATH, ProjectFolders, SEARCH_PATH, joined, with_last};
use crate::hook::variables::is_word_of;

/// Variables with paths of folders or files, separated as in a search path.
const PATHS: &str = "
    PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONPYCACHEPREFIX NODE_PATH RUBYLIB PERL5LIB PERLLIB GEM_HOME GEM_PATH BASH_ENV ENV
    ZDOTDIR PHPRC PHP_INI_SCAN_DIR CLASSPATH GIT_EXEC_PATH GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM OPENSSL_CONF OPENSSL_MODULES
    LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT DYLD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_FRAMEWORK_PATH GCONV_PATH
";

/// Those of which a part without a slash is a name and not a path.
const NAMES: &str = "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES";

/// Variables with options of a program, which can name files.
const OPTIONS: &str = "NODE_OPTIONS RUBYOPT PERL5OPT";

/// The beginnings of further names of variables that say which code the loader of libraries, an interpreter or a shell runs.
const PREFIXES: [&str; 7] = ["LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "GEM_", "BASH_FUNC_"];

/// Further variables with options, and those from which a shell takes options or text that it expands.
const OTHERS: &str = "
    JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GLIBC_TUNABLES LOCPATH
    SHELLOPTS BASHOPTS PS0 PS1 PS2 PS4 PROMPT_COMMAND
";

/// Whether a variable of this name can make a shell, an interpreter or the loader of libraries run other code.
#[must_use]
pub fn is_code_variable(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || [PATHS, OPTIONS, OTHERS].into_iter().any(|list| is_word_of(list, name))
}

/// What was taken out of the user's environment because it names places of the project.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectShare {
    /// The parts of the search path.
    programs: Vec<PathBuf>,
    /// The variables, with all that they named.
    variables: Vec<(OsString, OsString)>,
}

/// What a hook of the project gets of the share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareUse {
    /// The programs, because what it runs is covered.
    Programs,
    /// Everything.
    Everything,
}

impl ProjectShare {
    /// Takes the share of the project out of the user's environment.
    pub(crate) fn take_out(environment: &Environment, project: &Path) -> (Environment, Self) {
        let folders = ProjectFolders::new(project, environment.get("HOME").map(Path::new));
        let path = environment.get(SEARCH_PATH).unwrap_or(DEFAULT_SEARCH_PATH.as_ref());
        let (outside, programs) = folders.divide(path);
        let mut share = Self { programs, variables: Vec::new() };
        let kept = environment.with_values(|name, value| {
            let kept = without_project(name.to_str().unwrap_or_default(), value, &folders);
            if kept.as_deref() != Some(value) {
                share.variables.push((name.to_owned(), value.to_owned()));
            }
            kept
        });
        (kept.with(SEARCH_PATH, joined(&outside)), share)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.variables.is_empty()
    }

    /// The environment of a hook of the project.
    pub(crate) fn put_back(&self, environment: &Environment, share_use: ShareUse) -> Environment {
        let environment = with_last(environment, &self.programs);
        match share_use {
            ShareUse::Programs => environment,
            ShareUse::Everything => {
                self.variables.iter().fold(environment, |environment, (name, value)| environment.with(name, value))
            }
        }
    }
}

/// The value of a variable without what names places of the project; nothing if that is all of it.
fn without_project<'v>(name: &str, value: &'v OsStr, project: &ProjectFolders) -> Option<Cow<'v, OsStr>> {
    if is_word_of(OPTIONS, name) {
        return (!options_name_project(&value.to_string_lossy(), project)).then_some(value.into());
    }
    if !is_word_of(PATHS, name) || value.is_empty() || project.are_none() {
        return Some(value.into());
    }
    let is_outside = |path: &Path| path.is_absolute() && !project.contain(path);
    let is_kept = |part: &PathBuf| {
        let text = part.to_string_lossy();
        match is_word_of(NAMES, name) {
            // Blanks separate these, too.
            true => text.split(' ').all(|word| !word.contains('/') || is_outside(Path::new(word))),
            // A shell expands what `ENV` names.
            false => text.starts_with(['$', '~']) || is_outside(part),
        }
    };
    let parts: Vec<PathBuf> = std::env::split_paths(value).collect();
    if parts.iter().all(is_kept) {
        return Some(value.into());
    }
    let kept = std::env::join_paths(parts.iter().filter(|part| is_kept(part))).ok();
    kept.filter(|kept| !kept.is_empty()).map(Cow::from)
}

/// Whether options name a file by a relative path, or by a path in the project.
fn options_name_project(options: &str, project: &ProjectFolders) -> bool {
    let words = options.split(|character: char| character.is_whitespace() || "='\",:".contains(character));
    let leads =
        |word: &str| word.find('/').and_then(|at| word.get(at..)).is_some_and(|path| project.contain(Path::new(path)));
    !project.are_none() && words.into_iter().any(|word| word.contains("./") || leads(word))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn taken_out(environment: Environment) -> Environment {
        ProjectShare::take_out(&environment, Path::new("/no/project")).0
    }

    #[test]
    fn relative_and_empty_parts_of_the_search_path_are_left_out() {
        for (given, kept) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/usr/bin", "/usr/bin"),
            (":/usr/bin:", "/usr/bin"),
            ("bin:/bin:../x", "/bin"),
            // Shells look for programs in the working directory if this is empty.
            ("", DEFAULT_SEARCH_PATH),
            (".", DEFAULT_SEARCH_PATH),
            (":.:", DEFAULT_SEARCH_PATH),
            ("/no/project/bin", DEFAULT_SEARCH_PATH),
            ("/no/project/bin:/opt/bin", "/opt/bin"),
        ] {
            let environment = taken_out(Environment::new().with("PATH", given));
            assert_eq!(environment.get("PATH"), Some(OsStr::new(kept)), "{given}");
        }
        assert_eq!(taken_out(Environment::new()).get("PATH"), Some(OsStr::new(DEFAULT_SEARCH_PATH)));
    }

    #[test]
    fn variables_that_make_programs_run_other_code_are_known() {
        for name in
            "LD_PRELOAD DYLD_INSERT_LIBRARIES BASH_ENV ENV BASH_FUNC_x%% PYTHONPATH NODE_OPTIONS PERL5OPT SHELLOPTS"
                .split(' ')
        {
            assert!(is_code_variable(name), "{name}");
        }
        for name in "PATH HOME NODE_ENV ENVIRONMENT LANG TMPDIR BASH PROJECT_DIR".split(' ') {
            assert!(!is_code_variable(name), "{name}");
        }
    }

    #[test]
    fn variables_lose_what_names_places_of_the_project() {
        let project = Path::new("/no/project");
        for (name, given, kept) in [
            ("PYTHONPATH", "/no/project/src", None),
            ("PYTHONPATH", "/no/project/src:/opt/lib", Some("/opt/lib")),
            ("PYTHONPATH", "src:/opt/lib:", Some("/opt/lib")),
            ("PYTHONPATH", "/opt/lib", Some("/opt/lib")),
            ("PYTHONPATH", "", Some("")),
            ("NODE_PATH", ".", None),
            ("BASH_ENV", "/no/project/.env", None),
            ("ENV", "$HOME/.shrc", Some("$HOME/.shrc")),
            ("LD_PRELOAD", "libasan.so:/no/project/x.so", Some("libasan.so")),
            ("LD_PRELOAD", "/a.so /no/project/x.so", None),
            ("NODE_OPTIONS", "--max-old-space-size=4096", Some("--max-old-space-size=4096")),
            ("NODE_OPTIONS", "--require /opt/debug.js", Some("--require /opt/debug.js")),
            ("NODE_OPTIONS", "--require ./x.js", None),
            ("NODE_OPTIONS", "--import=/no/project/x.mjs", None),
            ("RUBYOPT", "-W0 -I/no/project/lib", None),
            ("EDITOR", "/no/project/editor", Some("/no/project/editor")),
        ] {
            let environment = Environment::new().with(name, given);
            let (taken, share) = ProjectShare::take_out(&environment, project);
            assert_eq!(taken.get(name).and_then(OsStr::to_str), kept, "{name}={given}");
            assert_eq!(share.variables.is_empty(), kept == Some(given), "{name}={given}");
            let whole = share.put_back(&taken, ShareUse::Everything);
            assert_eq!(whole.get(name).and_then(OsStr::to_str), Some(given), "{name}={given}");
        }
    }
}
