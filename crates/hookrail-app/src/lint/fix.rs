//! Mechanical changes that make a finding go away. Every other byte of a file stays as it is, and an interruption leaves
//! the old file or the new one.

use std::collections::BTreeMap;
use std::fs::{Metadata, Permissions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hookrail::Hook;

use super::Finding;
use super::context::LintContext;
use crate::temporary_file::write_atomically;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Replaces bytes of a file, counted without a byte order mark.
    Edit { file: PathBuf, span: Range<usize>, text: String },
    /// Lets the file's owner, group and others execute it, as far as they may read it.
    MakeExecutable(PathBuf),
    /// Removes the carriage returns at the ends of lines.
    ConvertLineEndings(PathBuf),
}

/// What became of the changes.
#[derive(Debug, Default)]
pub struct FixReport {
    pub fixed: usize,
    /// Files that were not changed, and why.
    pub refused: Vec<(PathBuf, String)>,
}

impl FixReport {
    /// Adds what became of further changes. A file that could not be changed is told once.
    pub fn add(&mut self, other: Self) {
        self.fixed += other.fixed;
        for refused in other.refused {
            if !self.refused.contains(&refused) {
                self.refused.push(refused);
            }
        }
    }
}

impl Fix {
    /// Replaces the value of a key in a hook's entry by other JSON.
    pub(super) fn replace_value(context: &LintContext<'_>, hook: &Hook, key: &str, json: &str) -> Option<Self> {
        let origin = &hook.origin.location;
        let span = context.value_span(hook, key)?;
        Some(Self::Edit { file: origin.file.to_path_buf(), span, text: json.to_owned() })
    }

    /// Replaces the text of a key, if it is the expected one. A plugin may have another command for this system.
    pub(super) fn replace_text(
        context: &LintContext<'_>,
        hook: &Hook,
        key: &str,
        old: &str,
        new: &str,
    ) -> Option<Self> {
        let origin = &hook.origin.location;
        let text = context.text(&origin.file)?;
        let span = context.value_span(hook, key)?;
        let written: String = serde_json::from_str(text.get(span)?).ok()?;
        let json = serde_json::to_string(new).ok()?;
        if written.trim() == old.trim() { Self::replace_value(context, hook, key, &json) } else { None }
    }

    fn file(&self) -> &Path {
        match self {
            Self::Edit { file, .. } | Self::MakeExecutable(file) | Self::ConvertLineEndings(file) => file,
        }
    }
}

/// Applies the changes to files of the project, one file after the other. A file outside of it is left alone: it belongs
/// to another project, to the user or to the system.
pub fn apply(root: &Path, findings: &[Finding]) -> FixReport {
    let mut report = FixReport::default();
    for (file, fixes) in by_file(findings) {
        let refuse = |why: String| (file.to_owned(), why);
        match plan_file(root, file, &fixes) {
            Ok(planned) => match planned.write(file) {
                Ok(()) => {
                    report.fixed += planned.count;
                    report.refused.extend(planned.refused.into_iter().map(refuse));
                }
                Err(error) => report.refused.push(refuse(error.to_string())),
            },
            Err(error) => report.refused.push(refuse(error.to_string())),
        }
    }
    report
}

/// How many changes [`apply`] would make.
pub fn count_possible(root: &Path, findings: &[Finding]) -> usize {
    by_file(findings)
        .into_iter()
        .filter_map(|(file, fixes)| plan_file(root, file, &fixes).ok())
        .map(|planned| planned.count)
        .sum()
}

/// The different changes of each file.
fn by_file(findings: &[Finding]) -> BTreeMap<&Path, Vec<&Fix>> {
    let mut by_file: BTreeMap<&Path, Vec<&Fix>> = BTreeMap::new();
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        let of_file = by_file.entry(fix.file()).or_default();
        if !of_file.contains(&fix) {
            of_file.push(fix);
        }
    }
    by_file
}

/// What a file would become.
struct PlannedFile {
    permissions: Permissions,
    /// Its new text, if that changes.
    text: Option<String>,
    /// How many changes are made.
    count: usize,
    /// Why the others are not made.
    refused: Vec<String>,
}

impl PlannedFile {
    fn write(&self, file: &Path) -> io::Result<()> {
        match &self.text {
            Some(text) => write_atomically(file, text, Some(self.permissions.clone())),
            None if self.count == 0 => Ok(()),
            None => std::fs::set_permissions(file, self.permissions.clone()),
        }
    }
}

/// A file that may be changed, or why it is left alone.
fn changeable(root: &Path, file: &Path) -> io::Result<Metadata> {
    let about = std::fs::symlink_metadata(file)?;
    let is_inside = file.canonicalize()?.starts_with(root);
    if !is_inside || !about.is_file() {
        return Err(io::Error::other("it is no regular file of the project; change it by hand"));
    }
    if about.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    Ok(about)
}

fn plan_file(root: &Path, file: &Path, fixes: &[&Fix]) -> io::Result<PlannedFile> {
    let about = changeable(root, file)?;
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut permissions = about.permissions();
    let mut converts = false;
    for fix in fixes {
        match fix {
            Fix::Edit { span, text, .. } => edits.push((span.clone(), text)),
            Fix::MakeExecutable(_) => make_executable(&mut permissions),
            Fix::ConvertLineEndings(_) => converts = true,
        }
    }
    if edits.is_empty() && !converts {
        return Ok(PlannedFile { permissions, text: None, count: fixes.len(), refused: Vec::new() });
    }
    let whole = std::fs::read_to_string(file)?;
    let (mark, text) = whole.strip_prefix('\u{feff}').map_or(("", whole.as_str()), |text| ("\u{feff}", text));
    let refused = refuse_repeated_keys(text, &mut edits);
    let count = fixes.len() - refused.len();
    if count == 0 {
        return Ok(PlannedFile { permissions, text: None, count, refused });
    }
    let mut new = edited(text, edits)?;
    if converts {
        new = new.replace("\r\n", "\n");
    }
    Ok(PlannedFile { permissions, text: Some(format!("{mark}{new}")), count, refused })
}

/// Takes out the edits that would give a key the name of another key of the same object: of two equal keys only one
/// counts, and the guards below the other one would be lost.
fn refuse_repeated_keys(text: &str, edits: &mut Vec<(Range<usize>, &str)>) -> Vec<String> {
    let mut keys = keys_of(text);
    let mut refused = Vec::new();
    edits.retain(|(span, name)| {
        let Some(object) = keys.iter().find(|key| key.span == *span).map(|key| key.object) else { return true };
        let is_there = keys
            .iter()
            .any(|key| key.object == object && key.span != *span && text.get(key.span.clone()) == Some(name));
        let is_given = keys.iter().any(|key| key.object == object && key.new_name == Some(*name));
        if is_there || is_given {
            let line = text.get(..span.start).map_or(1, |before| before.matches('\n').count() + 1);
            refused.push(format!(
                "the key {name} is there already; move what stands below the key of line {line} into it"
            ));
            return false;
        }
        keys.iter_mut().filter(|key| key.span == *span).for_each(|key| key.new_name = Some(name));
        true
    });
    refused
}

/// A key of an object, with its quotes.
struct Key<'n> {
    span: Range<usize>,
    /// Where its object begins.
    object: usize,
    /// The name that a fix gives it.
    new_name: Option<&'n str>,
}

/// The keys of all objects of a JSON text, which may have comments. A text of another language has none, or some that no
/// fix is about.
fn keys_of<'n>(text: &str) -> Vec<Key<'n>> {
    let mut keys = Vec::new();
    let mut objects = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '{' | '[' => objects.push(at),
            '}' | ']' => drop(objects.pop()),
            '/' if letters.peek().is_some_and(|(_, next)| *next == '/') => {
                while letters.next_if(|(_, next)| *next != '\n').is_some() {}
            }
            '"' => {
                let mut end = at + 1;
                while let Some((inner_at, inner)) = letters.next() {
                    end = inner_at + inner.len_utf8();
                    match inner {
                        '\\' => drop(letters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                let is_key = text.get(end..).is_some_and(|rest| rest.trim_start().starts_with(':'));
                if let (true, Some(object)) = (is_key, objects.last()) {
                    keys.push(Key { span: at..end, object: *object, new_name: None });
                }
            }
            _ => {}
        }
    }
    keys
}

/// The text with its edits. Two edits of the same bytes contradict each other, and neither is made.
fn edited(text: &str, mut edits: Vec<(Range<usize>, &str)>) -> io::Result<String> {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut new = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for (span, replacement) in edits {
        let kept = text.get(at..span.start).filter(|_| span.end <= text.len());
        new.push_str(kept.ok_or_else(|| io::Error::other("two fixes overlap, or the file has changed; run it again"))?);
        new.push_str(replacement);
        at = span.end;
    }
    new.push_str(text.get(at..).unwrap_or_default());
    Ok(new)
}

#[cfg(unix)]
fn make_executable(permissions: &mut std::fs::Permissions) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = permissions.mode();
    permissions.set_mode(mode | (mode & 0o444) >> 2);
}

#[cfg(not(unix))]
fn make_executable(_permissions: &mut std::fs::Permissions) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_change_their_bytes_only() {
        let text = "{ /* a */ \"x\": 5, \"y\": 6 }";
        let edits = vec![(23..24, "7"), (15..16, "5000")];
        assert_eq!(edited(text, edits).unwrap(), "{ /* a */ \"x\": 5000, \"y\": 7 }");
        assert!(edited(text, vec![(1..5, "a"), (3..6, "b")]).is_err());
        assert!(edited(text, vec![(1..500, "a")]).is_err());
    }
}
