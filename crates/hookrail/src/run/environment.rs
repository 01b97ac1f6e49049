//! The environment that hooks inherit: that of the host, without parts that would let a project supply programs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hookrail_spawn::Environment;

/// The variable with the search path for programs.
const SEARCH_PATH: &str = "PATH";

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

/// The environment for hooks: relative and empty parts of the search path are left out, because they mean the directory
/// in which a hook runs, and Python keeps its byte code in a private folder.
pub(crate) fn for_hooks(environment: Environment) -> Environment {
    let mut environment = environment;
    if let Some(path) = environment.get(SEARCH_PATH).and_then(without_relative_parts) {
        environment = environment.with(SEARCH_PATH, path);
    }
    match private_cache(&environment) {
        Some(cache) if environment.get(PYTHON_BYTE_CODE).is_none() => {
            environment.with(PYTHON_BYTE_CODE, cache.join("hookrail/python"))
        }
        _ => environment,
    }
}

/// The search path without its relative and empty parts; nothing if it has none.
fn without_relative_parts(path: &OsStr) -> Option<OsString> {
    let parts: Vec<PathBuf> = std::env::split_paths(path).collect();
    if parts.iter().all(|part| part.is_absolute()) {
        return None;
    }
    std::env::join_paths(parts.into_iter().filter(|part| part.is_absolute())).ok()
}

fn private_cache(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get(name).map(Path::new).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").map(Path::to_owned).or_else(|| Some(absolute("HOME")?.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_and_empty_parts_of_the_search_path_are_left_out() {
        for (given, kept) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/usr/bin", "/usr/bin"),
            (":/usr/bin:", "/usr/bin"),
            ("bin:/bin:../x", "/bin"),
            ("", ""),
        ] {
            let environment = for_hooks(Environment::new().with("PATH", given));
            assert_eq!(environment.get("PATH"), Some(OsStr::new(kept)), "{given}");
        }
    }

    #[test]
    fn python_keeps_its_byte_code_in_a_private_folder_unless_its_user_chose_one() {
        let of = |environment: Environment| for_hooks(environment).get(PYTHON_BYTE_CODE).map(OsStr::to_owned);
        assert_eq!(of(Environment::new().with("HOME", "/h")), Some("/h/.cache/hookrail/python".into()));
        let both = Environment::new().with("HOME", "/h").with("XDG_CACHE_HOME", "/c");
        assert_eq!(of(both), Some("/c/hookrail/python".into()));
        assert_eq!(of(Environment::new().with("HOME", "relative")), None);
        assert_eq!(of(Environment::new().with("HOME", "/h").with(PYTHON_BYTE_CODE, "/x")), Some("/x".into()));
    }
}
