//! Whether a shell script reads in another one, whose commands then count as its own and which no grant covers.
//!
//! There is no parser here: `.` and `source` count where a command can begin, and what cannot be told is taken as a file of the
//! project.

use std::path::Path;

use hookrail_shell::{Comments, LooseWord, loose_words};

use crate::config::{read_within, without_dots};

/// The most bytes of a script that are read. A longer one is taken as one that reads in others.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Everything that ends a word, or a command.
const SEPARATORS: &str = " \t\n;&|(){}`<>";

/// Words behind which a command begins.
const BEFORE_COMMANDS: [&str; 12] =
    ["then", "do", "else", "elif", "if", "while", "until", "!", "time", "command", "builtin", "eval"];

/// Whether the script at this path reads in a file that may lie in the project.
pub(super) fn reads_in_others(root: &Path, script: &Path) -> bool {
    let mut budget = MOST_BYTES;
    match read_within(script, &mut budget) {
        Ok(Some(bytes)) => std::str::from_utf8(&bytes).is_ok_and(|text| sources(root, text)),
        Ok(None) | Err(_) => true,
    }
}

fn sources(root: &Path, text: &str) -> bool {
    let (mut begins, mut is_sourcing) = (true, false);
    for LooseWord { text: word, separator } in loose_words(text, SEPARATORS, Comments::Skipped) {
        if let Some(word) = &word {
            if is_sourcing && !word.starts_with('=') && !lies_outside(root, word) {
                return true;
            }
            is_sourcing = begins && matches!(word.as_str(), "." | "source" | "\\.");
            // Assignments before a command belong to it.
            begins = BEFORE_COMMANDS.contains(&word.as_str()) || begins && word.contains('=');
        }
        if separator.is_some_and(|end| !" \t<>".contains(end)) {
            (begins, is_sourcing) = (true, false);
        }
    }
    false
}

/// Whether a word of a script names a file that cannot lie in the project.
fn lies_outside(root: &Path, word: &str) -> bool {
    let of_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| word.strip_prefix(home));
    match of_home {
        Some(rest) => !rest.contains(['$', '*', '?', '`']) && !rest.split('/').any(|part| part == ".."),
        None => {
            word.starts_with('/')
                && !word.contains(['$', '*', '?', '`'])
                && !without_dots(Path::new(word)).starts_with(root)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_read_in_files_of_the_project_are_found_and_others_are_not() {
        let root = Path::new("/p");
        for text in [
            ". ./lib.sh",
            "source lib.sh",
            "set -e\n. \"$(dirname \"$0\")/lib.sh\"\n",
            "if true; then . ./x; fi",
            "x=1 . ./x",
            "true && . ./x",
            "f() { . ./x; }",
            "echo $(. ./x)",
            "command . ./x",
            "'.' ./x",
            ". /p/lib.sh",
            ". /etc/../p/lib.sh",
            ". $LIB",
            ". \"$HOME/../p/x\"",
            ". /etc/profile; . ./x",
        ] {
            assert!(sources(root, text), "{text:?}");
        }
        for text in [
            "find . -name x",
            "ls .; grep -r x .",
            "# . ./lib.sh",
            "echo '. ./lib.sh'",
            "case $(cat) in *forbidden*) echo no >&2; exit 2;; esac",
            ". /etc/profile",
            ". \"$HOME/.profile\"",
            "source=1\necho $source . x",
            "echo source lib.sh",
        ] {
            assert!(!sources(root, text), "{text:?}");
        }
    }
}
