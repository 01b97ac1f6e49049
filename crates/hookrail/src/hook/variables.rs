//! Which variables hold no secrets, and where Python keeps byte code.

use hookrail_spawn::{Environment, UserFolders};

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
    // Most words are in no list, and every variable is looked up at each start: to search is cheaper than to split.
    list.contains(word) && list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether the variable of this name holds no secret, so that every hook sees it.
pub(crate) fn is_harmless(name: &str) -> bool {
    is_word_of(HARMLESS, name) || name.starts_with("LC_") || name.starts_with("HOOKRAIL_")
}

/// The environment with a private folder for Python's byte code.
pub(crate) fn with_private_byte_code(environment: Environment) -> Environment {
    match UserFolders::of(&environment).cache {
        Some(cache) if environment.get(PYTHON_BYTE_CODE).is_none() => {
            environment.with(PYTHON_BYTE_CODE, cache.join("hookrail/python"))
        }
        _ => environment,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn python_keeps_its_byte_code_in_a_private_folder_unless_its_user_chose_one() {
        let of =
            |environment: Environment| with_private_byte_code(environment).get(PYTHON_BYTE_CODE).map(OsStr::to_owned);
        assert_eq!(of(Environment::new().with("HOME", "/h")), Some("/h/.cache/hookrail/python".into()));
        let both = Environment::new().with("HOME", "/h").with("XDG_CACHE_HOME", "/c");
        assert_eq!(of(both), Some("/c/hookrail/python".into()));
        assert_eq!(of(Environment::new().with("HOME", "relative")), None);
        assert_eq!(of(Environment::new().with("HOME", "/h").with(PYTHON_BYTE_CODE, "/x")), Some("/x".into()));
    }
}
