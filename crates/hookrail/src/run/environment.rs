//! The environment that hooks inherit: that of the host, without parts that would let a project supply programs.

use std::path::{Path, PathBuf};

use hookrail_spawn::Environment;

use super::search_path::{DEFAULT_SEARCH_PATH, ProjectFolders, SEARCH_PATH, joined};

/// Where Python keeps byte code. Without it, Python writes byte code beside the script and reads it from there, where a
/// project could have put another one.
const PYTHON_BYTE_CODE: &str = "PYTHONPYCACHEPREFIX";

/// Variables that most programs need and that hold no secrets.
const HARMLESS: &str = "
    PATH HOME SHELL USER LOGNAME PWD OLDPWD TERM COLORTERM LANG LANGUAGE TZ TMPDIR TEMP TMP HOSTNAME EDITOR PAGER
    DISPLAY SYSTEMROOT COMSPEC PATHEXT USERPROFILE NO_COLOR PYTHONPYCACHEPREFIX
";

/// Whether a list of words, separated by blanks and line breaks, has this word.
pub(crate) fn is_word_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether the variable of this name holds no secret, so that every hook sees it.
pub(super) fn is_harmless(name: &str) -> bool {
    is_word_of(HARMLESS, name) || name.starts_with("LC_") || name.starts_with("HOOKRAIL_")
}

/// The environment for hooks, and the parts of the search path that were left out because they lie in the project.
///
/// Relative and empty parts are left out for good: they mean the directory in which a hook runs. Python keeps its byte code
/// in a private folder.
pub(crate) fn for_hooks(environment: Environment, project: &Path) -> (Environment, Vec<PathBuf>) {
    let path = environment.get(SEARCH_PATH).unwrap_or(DEFAULT_SEARCH_PATH.as_ref());
    let home = environment.get("HOME").map(Path::new);
    let (outside, inside) = ProjectFolders::new(project, home).divide(path);
    let environment = environment.with(SEARCH_PATH, joined(&outside));
    let environment = match private_cache(&environment) {
        Some(cache) if environment.get(PYTHON_BYTE_CODE).is_none() => {
            environment.with(PYTHON_BYTE_CODE, cache.join("hookrail/python"))
        }
        _ => environment,
    };
    (environment, inside)
}

fn private_cache(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get(name).map(Path::new).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").map(Path::to_owned).or_else(|| Some(absolute("HOME")?.join(".cache")))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn environment_for_hooks(environment: Environment) -> Environment {
        for_hooks(environment, Path::new("/no/project")).0
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
            let environment = environment_for_hooks(Environment::new().with("PATH", given));
            assert_eq!(environment.get("PATH"), Some(OsStr::new(kept)), "{given}");
        }
        assert_eq!(environment_for_hooks(Environment::new()).get("PATH"), Some(OsStr::new(DEFAULT_SEARCH_PATH)));
    }

    #[test]
    fn python_keeps_its_byte_code_in_a_private_folder_unless_its_user_chose_one() {
        let of =
            |environment: Environment| environment_for_hooks(environment).get(PYTHON_BYTE_CODE).map(OsStr::to_owned);
        assert_eq!(of(Environment::new().with("HOME", "/h")), Some("/h/.cache/hookrail/python".into()));
        let both = Environment::new().with("HOME", "/h").with("XDG_CACHE_HOME", "/c");
        assert_eq!(of(both), Some("/c/hookrail/python".into()));
        assert_eq!(of(Environment::new().with("HOME", "relative")), None);
        assert_eq!(of(Environment::new().with("HOME", "/h").with(PYTHON_BYTE_CODE, "/x")), Some("/x".into()));
    }
}
