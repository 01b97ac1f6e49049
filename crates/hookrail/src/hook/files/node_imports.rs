//! Whether the scripts of a folder load code of the project from elsewhere when Node runs them.
//!
//! Node looks for a package in `node_modules` of every folder upwards, so a package that a granted script needs can be put
//! into the project later. There is no parser here: a script whose imports are not plain texts is taken as one that loads from
//! elsewhere.

use std::path::{Component, Path, PathBuf};

use super::command::ResolvedFile;
use crate::config::{read_within, without_dots};
use crate::hook::variables::is_word_of;

/// Modules that are part of Node, which it takes before any package.
const BUILT_IN: &str = "
    assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
    dns/promises domain events fs fs/promises http http2 https inspector inspector/promises module net os path path/posix
    path/win32 perf_hooks process punycode querystring readline readline/promises repl stream stream/consumers
    stream/promises stream/web string_decoder sys timers timers/promises tls trace_events tty url util util/types v8 vm wasi
    worker_threads zlib
";

/// The most bytes of all scripts that are read.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// Words by which a script loads or runs other code.
const LOADING_WORDS: [&str; 6] = ["from", "require", "import", "createRequire", "eval", "Function"];

/// How a script names something to load.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Import<'s> {
    /// With this text.
    Named(&'s str),
    /// With something that is known only when it runs.
    Computed,
}

/// Whether one of these files, which lie below the folder, loads code of the project that is not below the folder.
pub(super) fn load_from_elsewhere<'f>(
    root: &Path,
    folder: &Path,
    files: impl IntoIterator<Item = &'f ResolvedFile>,
) -> bool {
    let mut budget = MOST_BYTES;
    files.into_iter().filter(|file| file.path.starts_with(folder)).any(|file| {
        let Ok(Some(bytes)) = read_within(&file.real, &mut budget) else { return true };
        let text = String::from_utf8_lossy(&bytes);
        match file.path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => file.path.ends_with("package.json") && text.contains("../"),
            Some("wasm" | "md" | "map") => false,
            _ => imports(&text).iter().any(|import| !is_covered(root, folder, &file.path, import)),
        }
    })
}

/// Whether what a file imports is part of Node, lies below the folder, or lies outside of the project.
fn is_covered(root: &Path, folder: &Path, file: &Path, import: &Import<'_>) -> bool {
    let Import::Named(name) = import else { return false };
    let here = file.parent().unwrap_or(folder);
    if name.starts_with("node:") || is_word_of(BUILT_IN, name) {
        return true;
    }
    if name.starts_with("./") || name.starts_with("../") || matches!(*name, "." | "..") {
        return without_dots(&here.join(name)).starts_with(folder);
    }
    if name.starts_with('/') {
        let path = without_dots(Path::new(name));
        return path.starts_with(folder) || !path.starts_with(root);
    }
    // A package: the nearest one counts, and it is covered if it lies below the folder.
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: PathBuf = Path::new(name).components().take(parts).collect();
    let is_name = !name.is_empty() && package.components().all(|part| matches!(part, Component::Normal(_)));
    let mut upwards = here.ancestors().take_while(|above| above.starts_with(folder));
    is_name && !name.contains(':') && upwards.any(|above| above.join("node_modules").join(&package).is_dir())
}

/// Everything that a script imports or requires.
fn imports(text: &str) -> Vec<Import<'_>> {
    let mut found = Vec::new();
    for (at, word) in loading_words(text) {
        let behind = skip_blanks(text.get(at + word.len()..).unwrap_or_default());
        let next = behind.chars().next();
        match word {
            "from" => found.extend(quoted(behind)),
            "require" | "import" if next == Some('(') => {
                let argument = skip_blanks(behind.get(1..).unwrap_or_default());
                found.push(quoted(argument).filter(|_| ends_argument(argument)).unwrap_or(Import::Computed));
            }
            "import" => found.extend(quoted(behind)),
            "require" if is_value(text.get(..at).unwrap_or_default(), behind) => found.push(Import::Computed),
            "createRequire" | "eval" | "Function" if next == Some('(') => found.push(Import::Computed),
            _ => {}
        }
    }
    found
}

/// Whether `require` between these texts is used as a value, by which it could get another name, and not a word of a comment.
fn is_value(before: &str, behind: &str) -> bool {
    if behind.starts_with(".main") {
        return false;
    }
    let is_letter = |first: char| first.is_ascii_alphabetic();
    behind.starts_with([';', ',', ')', ']', '}', '?', '[', ':', '|', '&'])
        || behind.strip_prefix('.').is_some_and(|member| member.starts_with(is_letter))
        || before.trim_end().ends_with(['=', '(', ',', ':'])
}

/// The text in quotes that a text begins with.
fn quoted(text: &str) -> Option<Import<'_>> {
    let quote = text.chars().next().filter(|first| "'\"`".contains(*first))?;
    let (inside, _) = text.get(1..)?.split_once(quote)?;
    let is_plain = !(inside.contains(['\\', '\n']) || quote == '`' && inside.contains("${"));
    Some(if is_plain { Import::Named(inside) } else { Import::Computed })
}

/// Whether the text in quotes that a text begins with is a whole argument.
fn ends_argument(text: &str) -> bool {
    let quote = text.chars().next().unwrap_or_default();
    let behind = text.get(1..).and_then(|text| text.split_once(quote)).map_or("", |(_, behind)| behind);
    skip_blanks(behind).starts_with([')', ','])
}

/// The text without the blanks and comments that it begins with.
fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let comment = match rest.get(..2) {
            Some("//") => rest.split_once('\n').map(|(_, behind)| behind),
            Some("/*") => rest.split_once("*/").map(|(_, behind)| behind),
            _ => None,
        };
        let Some(behind) = comment else { return rest };
        rest = behind.trim_start();
    }
}

/// The words by which a script loads or runs other code, with their places. Folders of hooks are read for every event, so
/// these few words are searched for instead of taking every script apart.
fn loading_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |character: char| character.is_alphanumeric() || "_$".contains(character);
    LOADING_WORDS.iter().flat_map(move |word| text.match_indices(word)).filter(move |(at, word)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + word.len()..).and_then(|behind| behind.chars().next());
        ![before, behind].into_iter().flatten().any(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_imports_is_found_in_every_spelling() {
        let named = |name: &'static str| vec![Import::Named(name)];
        for (text, expected) in [
            ("const fs = require('fs');", named("fs")),
            ("require ( /* why */ \"./rules\" )", named("./rules")),
            ("import fs from 'node:fs'", named("node:fs")),
            ("import{a,b}from\"x\"", named("x")),
            ("import './side.js';", named("./side.js")),
            ("export * from `./y`;", named("./y")),
            ("await import('z')", named("z")),
            ("import(`a${b}`)", vec![Import::Computed]),
            ("require('a' + b)", vec![Import::Computed]),
            ("require(name)", vec![Import::Computed]),
            ("const load = require;", vec![Import::Computed]),
            ("const load = require\nload('x')", vec![Import::Computed]),
            ("require.resolve('x')", vec![Import::Computed]),
            ("createRequire(import.meta.url)('x')", vec![Import::Computed]),
            ("eval('1')", vec![Import::Computed]),
            ("if (require.main === module) main();", vec![]),
            ("// We require a path, and import nothing from elsewhere. \u{e9} require\u{e9}", vec![]),
            ("const url = import.meta.url; const imported = 1; Array.from(x)", vec![]),
        ] {
            assert_eq!(imports(text), expected, "{text}");
        }
    }

    #[test]
    fn packages_and_files_above_the_folder_are_not_covered() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let folder = root.join(".llxprt/hooks");
        std::fs::create_dir_all(folder.join("node_modules/near")).unwrap();
        std::fs::create_dir_all(root.join("node_modules/far")).unwrap();
        let guard = folder.join("lib/guard.js");
        let covered = |name: &str| is_covered(&root, &folder, &guard, &Import::Named(name));
        for name in ["fs", "fs/promises", "node:test", "./x", "../x", "..", "near", "near/deep", "/opt/x.js"] {
            assert!(covered(name), "{name}");
        }
        let inside = root.join("x.js");
        for name in ["far", "missing", "../../x", "#x", "@a/b", "file:///x", "fs/x", "", inside.to_str().unwrap()] {
            assert!(!covered(name), "{name}");
        }
    }
}
