//! The rules of `CONTRIBUTING.md` that a program can check: words that the glossary avoids, the size of the glossary, and names
//! of public types.
//!
//! There is no list of exceptions. A word that has to be used somewhere does not belong in the last column.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const STYLE: &str = "CONTRIBUTING.md";

/// Folders that hold no text of the project when there is no git repository that could say so.
const SKIPPED: [&str; 4] = ["target", "node_modules", ".installed", ".git"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every text file of the project but the page with the rules: its path from the root, and what is in it.
fn texts() -> Vec<(String, String)> {
    let root = root();
    let mut files = tracked(&root).unwrap_or_else(|| {
        let mut files = Vec::new();
        walk(&root, &root, &mut files);
        files
    });
    files.sort();
    let read = |file: String| fs::read_to_string(root.join(&file)).ok().map(|text| (file, text));
    let texts: Vec<(String, String)> = files.into_iter().filter(|file| file != STYLE).filter_map(read).collect();
    assert!(texts.iter().any(|(file, _)| file == "README.md"), "the files of the project were not found");
    texts
}

/// What git tracks, if the project is the root of a repository and git is installed.
fn tracked(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().ok()?;
    let names = String::from_utf8(listed.stdout).ok().filter(|_| listed.status.success())?;
    Some(names.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let skipped = path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped));
        if skipped || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// The rows of the glossary: what to use, for what, and what to avoid.
fn glossary(page: &str) -> Vec<[String; 3]> {
    let (_, section) = page.split_once("\n## Glossary\n").unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let row = row.strip_prefix('|').and_then(|row| row.strip_suffix('|')).unwrap();
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().to_owned()).collect();
        <[String; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("not three columns: {cells:?}"))
    };
    rows.skip(2).map(cells).collect()
}

/// A word of a text, in lower case, and where it is.
struct Word {
    text: String,
    start: usize,
    end: usize,
}

/// The words of a text. An underscore separates words, because names of functions are read as sentences too; an
/// apostrophe between letters does not.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut characters = text.char_indices().peekable();
    let mut open: Option<usize> = None;
    while let Some((at, character)) = characters.next() {
        let next_is_letter = characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        let inside =
            character.is_alphanumeric() || (open.is_some() && next_is_letter && matches!(character, '\'' | '\u{2019}'));
        if inside {
            open.get_or_insert(at);
        }
        let end = at + character.len_utf8();
        let start = if inside && characters.peek().is_some() { None } else { open.take() };
        if let Some(start) = start {
            let end = if inside { end } else { at };
            let word = text.get(start..end).unwrap().to_lowercase().replace('\u{2019}', "'");
            words.push(Word { text: word, start, end });
        }
    }
    words
}

/// Whether nothing but blanks, line breaks and the marks at the begin of a line of a comment, a quotation or a broken
/// string is between two words, so that they are words of one phrase.
fn is_gap(between: &str) -> bool {
    between == "_"
        || between.chars().all(|character| character.is_whitespace() || "/!#*>\\`".contains(character))
            && between.chars().any(char::is_whitespace)
}

/// The numbers of the lines on which a word or phrase begins.
fn lines_with(text: &str, words: &[Word], phrase: &[String]) -> Vec<usize> {
    let here = |window: &&[Word]| {
        window.iter().zip(phrase).all(|(word, wanted)| word.text == *wanted)
            && window.windows(2).all(|pair| match pair {
                [first, second] => is_gap(text.get(first.end..second.start).unwrap()),
                _ => true,
            })
    };
    let found = words.windows(phrase.len()).filter(here);
    found.filter_map(|window| Some(text.get(..window.first()?.start)?.matches('\n').count() + 1)).collect()
}

fn phrase(avoided: &str) -> Vec<String> {
    words(avoided).into_iter().map(|word| word.text).collect()
}

/// The public types that a source file declares, also inside its modules. `pub(crate)` and less is not public.
fn public_types(text: &str) -> Vec<&str> {
    const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
    let declared = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub ")?.split_once(' '));
    let named = declared
        .filter(|(kind, _)| KINDS.contains(kind))
        .filter_map(|(_, rest)| rest.split(|character: char| !character.is_alphanumeric() && character != '_').next());
    // An associated type, or a name that a macro is given, begins otherwise.
    named.filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase())).collect()
}

#[test]
fn no_two_public_types_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in texts() {
        let is_source = file.starts_with("crates/") && file.contains("/src/") && file.ends_with(".rs");
        // What is there is compiled in place of a module for other systems, so that both have one name on purpose.
        let is_stand_in = file.ends_with("/windows.rs") || file.ends_with("_windows.rs");
        if !is_source || is_stand_in {
            continue;
        }
        for name in public_types(&text) {
            places.entry(name.to_owned()).or_default().push(file.clone());
        }
    }
    assert!(places.contains_key("HookSystem"), "the public types were not found");
    let shared: Vec<String> = places
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(shared.is_empty(), "public types that share a name:\n{}", shared.join("\n"));
}

#[test]
fn a_public_type_is_found_by_its_declaration() {
    let text = "pub struct Lamp<'a>(&'a str);\n    pub enum Light {}\npub(crate) struct Wick;\n/// pub struct Oil;\npub type Glow = Lamp;";
    assert_eq!(public_types(text), ["Lamp", "Light", "Glow"]);
}

#[test]
fn the_glossary_fits_on_a_page() {
    let rows = glossary(&fs::read_to_string(root().join(STYLE)).unwrap());
    assert!(!rows.is_empty() && rows.len() <= 30, "{} rows", rows.len());
}

#[test]
fn words_to_avoid_are_avoided_everywhere() {
    let rows = glossary(&fs::read_to_string(root().join(STYLE)).unwrap());
    let avoided = rows.iter().flat_map(|[_, _, avoid]| avoid.split(',')).map(str::trim).filter(|text| !text.is_empty());
    let avoided: Vec<(&str, Vec<String>)> = avoided.map(|text| (text, phrase(text))).collect();
    assert!(!avoided.is_empty(), "the glossary avoids nothing");
    let mut hits = Vec::new();
    for (file, text) in texts() {
        let words = words(&text);
        for (avoided, phrase) in &avoided {
            hits.extend(lines_with(&text, &words, phrase).iter().map(|line| format!("{file}:{line}: {avoided}")));
        }
    }
    assert!(hits.is_empty(), "{} times a word that {STYLE} avoids:\n{}", hits.len(), hits.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_in_names_and_a_part_of_a_word_is_not() {
    let found = |text: &str, avoided: &str| lines_with(text, &words(text), &phrase(avoided));
    assert_eq!(found("a\n/// The old\n    /// green Lamp.", "the old green lamp"), [2]);
    assert_eq!(found("\"the old \\\n    green lamp\"", "the old green lamp"), [1]);
    assert_eq!(found("fn a_green_lamp_is_old() { green_lamp() }", "green lamp"), [1, 1]);
    assert_eq!(found("it is the miller\u{2019}s lamp", "miller's lamp"), [1]);
    assert_eq!(found("the old. Green lamp", "the old green lamp"), [0_usize; 0]);
    assert_eq!(found("headlamp lamps Lamp", "lamp"), [1]);
    assert_eq!(found("lamp", "lamp"), [1]);
    assert_eq!(found("'lamp'\n", "lamp"), [1]);
}
