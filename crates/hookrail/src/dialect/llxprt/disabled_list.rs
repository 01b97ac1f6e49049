//! The user's list of disabled hooks, as a program changes it for its user.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hookrail_spawn::Replace;

use crate::config::{Document, PlacedValue, ValueShape, read_file};
use crate::json::Json;

/// Why the list of disabled hooks could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DisabledListError {
    /// The file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is not as it has to be, so it is left as it is.
    #[error("`{}` cannot be changed because it is broken: {problem}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// Adds names to the list of disabled hooks in a settings file, or removes them. The list is `hooksConfig.disabled`, or
/// `hooks.disabled` where only that exists. Nothing else of the file changes, so comments and order survive.
///
/// # Errors
/// If the file cannot be read or written, or if it is broken.
pub fn set_disabled(settings: &Path, names: &[&str], disabled: bool) -> Result<(), DisabledListError> {
    let failed = |source: io::Error| DisabledListError::Io { path: settings.to_owned(), source };
    let broken = |problem: String| DisabledListError::Broken { path: settings.to_owned(), problem };
    let text = read_file(settings).map_err(|problem| failed(io::Error::other(problem.to_string())))?;
    let document = Document::parse(settings, text.unwrap_or_default()).map_err(|problem| broken(problem.message))?;
    let root = document.root();
    let section = |name: &str| root.and_then(|root| root.get(name));
    let list = ["hooksConfig", "hooks"].into_iter().find_map(|name| section(name)?.get("disabled"));
    let old = list.map(|list| names_of(list).ok_or_else(|| broken("the list of disabled hooks is no list".to_owned())));
    let old = old.transpose()?.unwrap_or_default();
    let mut new = old.clone();
    if disabled {
        new.extend(names.iter().map(|name| (*name).to_owned()));
        new.sort();
        new.dedup();
    } else {
        new.retain(|name| !names.contains(&name.as_str()));
    }
    if new == old {
        return Ok(());
    }
    let entries: Vec<String> = new.iter().map(|name| Json::string(name).text().to_owned()).collect();
    let written = format!("[{}]", entries.join(", "));
    let section_text = format!("\"hooksConfig\": {{\"disabled\": {written}}}");
    let (span, text) = match (root, list, section("hooksConfig")) {
        (None, ..) => (0..document.text().len(), format!("{{\n  {section_text}\n}}\n")),
        (Some(_), Some(list), _) => (list.span.clone(), written),
        (Some(_), None, Some(config)) => {
            let members = config.members().ok_or_else(|| broken("`hooksConfig` is no object".to_owned()))?;
            let comma = if members.is_empty() { "" } else { ", " };
            (config.span.start + 1..config.span.start + 1, format!("\"disabled\": {written}{comma}"))
        }
        (Some(root), None, None) => {
            let members = root.members().ok_or_else(|| broken("the settings are no object".to_owned()))?;
            let end = if members.is_empty() { "\n" } else { "," };
            (root.span.start + 1..root.span.start + 1, format!("\n  {section_text}{end}"))
        }
    };
    let mut changed = document.text().to_owned();
    changed.replace_range(span, &text);
    write(settings, &changed).map_err(failed)
}

fn names_of(list: &PlacedValue) -> Option<Vec<String>> {
    let ValueShape::Array(entries) = &list.shape else { return None };
    let texts = entries.iter().map(|entry| match &entry.shape {
        ValueShape::Text(text) => Some(text.clone()),
        ValueShape::Object(_)
        | ValueShape::Array(_)
        | ValueShape::Number(_)
        | ValueShape::Flag(_)
        | ValueShape::Date(_)
        | ValueShape::Null => None,
    });
    texts.collect()
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    hookrail_spawn::replace_file(file, text.as_bytes(), &Replace::KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_list_changes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/settings.json");
        let change = |names: &[&str], disabled| {
            set_disabled(&file, names, disabled).unwrap();
            fs::read_to_string(&file).unwrap()
        };
        assert_eq!(change(&["b", "a"], true), "{\n  \"hooksConfig\": {\"disabled\": [\"a\", \"b\"]}\n}\n");
        assert_eq!(change(&["a"], false), "{\n  \"hooksConfig\": {\"disabled\": [\"b\"]}\n}\n");
        fs::write(&file, "{ // mine\n  \"hooksConfig\": {\"enabled\": true},\n}").unwrap();
        let expected = "{ // mine\n  \"hooksConfig\": {\"disabled\": [\"x\"], \"enabled\": true},\n}";
        assert_eq!(change(&["x"], true), expected);
        fs::write(&file, "{\"hooks\": {\"disabled\": [\"old\"]}}").unwrap();
        assert_eq!(change(&["x"], true), "{\"hooks\": {\"disabled\": [\"old\", \"x\"]}}");
        fs::write(&file, "{\"ui\": 1}").unwrap();
        assert_eq!(change(&["x"], true), "{\n  \"hooksConfig\": {\"disabled\": [\"x\"]},\"ui\": 1}");
        fs::write(&file, "{\"hooksConfig\": {\"disabled\": \"x\"}}").unwrap();
        assert!(set_disabled(&file, &["x"], true).is_err(), "a broken file is left as it is");
    }
}
