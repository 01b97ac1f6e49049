//! The places and the indentation of text that is added to a settings file.

use jsonc_parser::ast;
use serde_json::Value;

use crate::settings::Insertion;

pub(super) fn append_member(
    text: &str,
    object: &ast::Object<'_>,
    name: &str,
    value: &str,
    unit: &str,
    depth: usize,
) -> Insertion {
    let last = object.properties.last().map(|property| property.range.end);
    append(text, last, object.range.start + 1, &format!("{}: {value}", quoted(name)), unit, depth)
}

/// Inserts an item after the last one of a list or an object, or as its only one. `open` is the offset after the opening
/// bracket, and `unit` is one level of indentation. A comment behind the last item stays behind it.
pub(super) fn append(text: &str, last: Option<usize>, open: usize, item: &str, unit: &str, depth: usize) -> Insertion {
    let inner = unit.repeat(depth + 1);
    let (offset, new, replaced) = match last {
        Some(end) => match comment_behind(text, end) {
            Some(comment) if comment.trim_start().starts_with(',') => {
                (end, format!("{comment}\n{inner}{item}"), comment.to_owned())
            }
            Some(comment) => (end, format!(",{comment}\n{inner}{item}"), comment.to_owned()),
            None => (end, format!(",\n{inner}{item}"), String::new()),
        },
        None => (open, format!("\n{inner}{item}\n{}", unit.repeat(depth)), String::new()),
    };
    Insertion { offset, text: with_line_ends(text, new), replaced }
}

/// Gives a text, whose lines end with a line feed, the line ends of a file.
pub(super) fn with_line_ends(file: &str, text: String) -> String {
    if file.contains("\r\n") { text.replace('\n', "\r\n") } else { text }
}

/// The rest of a line from an item on, if it is a comment, perhaps behind a comma.
fn comment_behind(text: &str, end: usize) -> Option<&str> {
    let line = text.get(end..)?.split('\n').next()?.trim_end();
    let rest = line.trim_start();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    let is_comment = rest.starts_with("//") || (rest.starts_with("/*") && rest.find("*/")? + 2 == rest.len());
    is_comment.then_some(line)
}

/// Returns one level of the indentation that the file uses; two blanks if that is not known.
pub(super) fn indentation(text: &str, root: &ast::Object<'_>) -> String {
    let margin = |property: &ast::ObjectProp<'_>| {
        let blanks = text.get(..property.range.start)?.rsplit('\n').next()?;
        (!blanks.is_empty() && blanks.chars().all(char::is_whitespace)).then(|| blanks.to_owned())
    };
    // A member that begins its line says it. Where none does, a tab before anything else does.
    let tab = || text.lines().any(|line| line.starts_with('\t')).then(|| "\t".to_owned());
    root.properties.iter().find_map(margin).or_else(tab).unwrap_or_else(|| "  ".to_owned())
}

/// Formats JSON, in which each level is indented by two blanks, with the file's indentation.
pub(super) fn indented(text: &str, unit: &str, depth: usize) -> String {
    let mut lines = text.lines().map(|line| {
        let blanks = line.len() - line.trim_start().len();
        format!("{}{}", unit.repeat(blanks / 2), line.trim_start())
    });
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |text, line| format!("{text}\n{}{line}", unit.repeat(depth)))
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
