//! Stored outcomes: what a case came to, without what differs from run to run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hookrail::Outcome;
use hookrail::document::outcome_document;
use serde_json::{Map, Value};

use super::expect::EFFECTS;
use super::scratch::Scratch;
use super::scratch_path::CASES;

/// The members of an outcome that are stored beside its effects. Times, and what names the machine, are left out.
const MEMBERS: [&str; 3] = ["event", "stopReason", "shadow"];

/// The members of a run that are stored.
const RUN_MEMBERS: [&str; 7] = ["hook", "dialect", "end", "exitCode", "decision", "stdout", "stderr"];

/// Returns the outcome as it is stored. It does not depend on where the project is, nor, for a hook that the case names by its
/// path, on where in the project both are.
pub(super) fn stored_form(outcome: &Outcome, scratch: &Scratch) -> String {
    let document = outcome_document(outcome).to_value();
    let mut kept = Map::new();
    for name in MEMBERS.into_iter().chain(EFFECTS) {
        match document.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) if list.is_empty() => {}
            Some(value) => {
                kept.insert(name.to_owned(), value.clone());
            }
        }
    }
    let runs = document.get("runs").and_then(Value::as_array).into_iter().flatten();
    let runs: Vec<Value> = runs.map(run).collect();
    kept.insert("runs".to_owned(), Value::Array(runs));
    let mut text = format!("{:#}\n", sorted(Value::Object(kept)));
    // Paths are escaped in JSON only where they have characters that few paths have. A path can begin with another one.
    let mut files: Vec<_> = scratch.hook_files.iter().collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.copy.as_os_str().len()));
    for file in files {
        text = text.replace(&*file.copy.to_string_lossy(), &format!("{CASES}/{}", file.name));
    }
    scratch.places.unfill(&text)
}

/// Returns a value with the members of every table in the order of their names, which does not depend on how the program
/// was built.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().collect();
            members.into_iter().map(|(key, value)| (key, sorted(value))).collect()
        }
        Value::Array(elements) => elements.into_iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn run(run: &Value) -> Value {
    let kept = RUN_MEMBERS.into_iter().filter_map(|name| {
        let value = run.get(name).filter(|value| !value.is_null() && value.as_str() != Some(""))?;
        Some((name.to_owned(), value.clone()))
    });
    Value::Object(kept.collect())
}

/// Returns the file in which the outcome of a case is stored: in the folder `snapshots` beside the case file.
pub(super) fn snapshot_file(case_file: &Path, name: &str) -> PathBuf {
    let stem = case_file.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split(".hooktest.").next().unwrap_or_default();
    case_file.with_file_name("snapshots").join(format!("{stem}.{name}.json"))
}

/// Returns a name as part of a file's name.
pub(super) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        if character.is_alphanumeric() || character == '_' {
            slug.extend(character.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_part_of_a_file_name() {
        assert_eq!(slug("A token, in `a/b`!"), "a-token-in-a-b");
        assert_eq!(snapshot_file(Path::new("/p/guard.hooktest.toml"), "x"), Path::new("/p/snapshots/guard.x.json"));
    }
}
