//! Finds files, and text in files. Links are not followed, and `.git` is skipped.

use std::path::{Path, PathBuf};

use hookrail::guard::{ToolFailure, ToolOutput};
use regex::Regex;

use super::ToolResult;
use super::content::read_all;
use super::schema::Arguments;
use super::workspace::{Workspace, path_failure};

/// The highest number of results.
const MAX_RESULTS: usize = 500;

pub(super) fn glob(workspace: &Workspace, arguments: &Arguments) -> ToolResult {
    let folder = searchable(workspace, &arguments.text("path"))?;
    let pattern = glob_pattern(&arguments.text("pattern"))?;
    let found = files(&folder).filter(|file| pattern.is_match(&relative(file, &folder)));
    Ok(format_results(found.map(|file| workspace.display_path(&file)), "no file matches"))
}

pub(super) fn search_content(workspace: &Workspace, arguments: &Arguments) -> ToolResult {
    let start = searchable(workspace, &arguments.text("path"))?;
    let expression = arguments.text("pattern");
    let pattern = Regex::new(&expression).map_err(|error| ToolFailure(format!("`{expression}`: {error}")))?;
    let include = match arguments.text("include") {
        none if none.is_empty() => None,
        include => Some(glob_pattern(&include)?),
    };
    let folder = if start.is_dir() { start.clone() } else { workspace.root().to_owned() };
    let is_included = |file: &PathBuf| {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        include.as_ref().is_none_or(|include| include.is_match(&relative(file, &folder)) || include.is_match(&name))
    };
    let lines = files(&start).filter(is_included).flat_map(|file| {
        // A file that is not text or is too large gives an empty text, so the search continues without it.
        let text = read_all(&file).unwrap_or_default();
        let shown = workspace.display_path(&file);
        let hits = (1..).zip(text.lines()).filter(|(_, line)| pattern.is_match(line));
        hits.map(|(number, line)| format!("{shown}:{number}: {line}")).collect::<Vec<_>>()
    });
    Ok(format_results(lines, "nothing matches"))
}

/// Resolves a folder or a regular file. Other files, such as pipes, cannot be searched.
fn searchable(workspace: &Workspace, given_path: &str) -> Result<PathBuf, ToolFailure> {
    let path = workspace.existing(given_path)?;
    let metadata = path.metadata().map_err(|error| path_failure(given_path, &error))?;
    if metadata.is_dir() || metadata.is_file() {
        return Ok(path);
    }
    Err(ToolFailure(format!("`{given_path}` is neither a folder nor a regular file")))
}

fn format_results(found: impl Iterator<Item = String>, nothing: &str) -> ToolOutput {
    let mut found: Vec<String> = found.take(MAX_RESULTS + 1).collect();
    if found.len() > MAX_RESULTS {
        found.truncate(MAX_RESULTS);
        found.push(format!("[cut after {MAX_RESULTS}]"));
    }
    ToolOutput::text(&if found.is_empty() { nothing.to_owned() } else { found.join("\n") })
}

fn relative(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

/// Returns the files below a folder, sorted, or the file itself.
fn files(start: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut unvisited = vec![start.to_owned()];
    std::iter::from_fn(move || {
        while let Some(path) = unvisited.pop() {
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_file() {
                return Some(path);
            }
            if metadata.is_dir() && path.file_name().is_none_or(|name| name != ".git") {
                let mut below: Vec<PathBuf> =
                    std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
                // The last path is visited first, so the order is reversed here.
                below.sort_by(|a, b| b.cmp(a));
                unvisited.extend(below);
            }
        }
        None
    })
}

/// Translates a pattern to a regular expression. `**/` matches any number of folders, `*` and `?` match characters of a
/// name, and `{a,b}` matches `a` or `b`.
fn glob_pattern(pattern: &str) -> Result<Regex, ToolFailure> {
    let mut out = String::from("^");
    let mut rest = pattern;
    let mut open_braces = 0;
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            out.push_str("(?:.*/)?");
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("**") {
            out.push_str(".*");
            rest = after;
            continue;
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        match character {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '{' => {
                open_braces += 1;
                out.push_str("(?:");
            }
            '}' if open_braces > 0 => {
                open_braces -= 1;
                out.push(')');
            }
            ',' if open_braces > 0 => out.push('|'),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
    }
    out.push('$');
    Regex::new(&out).map_err(|error| ToolFailure(format!("`{pattern}` is not a pattern: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_people_expect() {
        for (pattern, file, matches) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/deep/a.rs", true),
            ("src/**", "src/deep/a", true),
            ("a.{rs,md}", "a.md", true),
            ("a.{rs,md}", "a.txt", false),
            ("a?.rs", "ab.rs", true),
            ("a+b.rs", "a+b.rs", true),
        ] {
            assert_eq!(glob_pattern(pattern).unwrap().is_match(file), matches, "{pattern} {file}");
        }
        assert!(glob_pattern("{a").is_err());
    }
}
