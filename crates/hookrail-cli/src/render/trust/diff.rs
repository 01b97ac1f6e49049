//! The changes of hooks since they were granted, line by line.

use std::fmt::Write as _;

use hookrail::trust::{ChangeKind, Definition, FileState, HookChange, HookEdit};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{hanging, one_line, visible};
use hookrail_app::text_diff::{DiffSign, GrantedTexts};

use super::{LABEL, described, line};
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// Renders all changes, each with the earlier and the present version.
pub(crate) fn all(changes: &[HookChange], texts: &GrantedTexts<'_>, places: &PathDisplay) -> String {
    changes.iter().map(|change| one(change, texts, places)).collect()
}

/// Renders one change.
pub(crate) fn one(change: &HookChange, texts: &GrantedTexts<'_>, places: &PathDisplay) -> String {
    let label = change.hook.as_ref().map(|hook| &*hook.label).or(change.granted.as_ref().map(|grant| &*grant.hook));
    let style = match change.kind {
        ChangeKind::Changed => BAD,
        ChangeKind::New => CAREFUL,
        ChangeKind::Gone => QUIET,
    };
    let heading = paint(HEADING, one_line(label.unwrap_or_default()));
    let mut out = format!("{heading}  {}", paint(style, change.kind.name()));
    if let Some(edit @ HookEdit::TakesPlaceOf(_)) = change.edit() {
        let _ = write!(out, ": {}", one_line(&edit.to_string()));
    }
    out.push('\n');
    match (&change.hook, &change.granted) {
        (Some(hook), None) => out.push_str(&described(hook, places)),
        (Some(hook), Some(grant)) => {
            let now = hook.trust.fingerprint().map(|taken| taken.described());
            definitions(&mut out, grant.described.as_ref(), now);
            line(&mut out, "source", &places.location(&hook.origin.location));
        }
        (None, Some(grant)) => definitions(&mut out, grant.described.as_ref(), None),
        (None, None) => {}
    }
    for file in &change.files {
        let digests = match (&file.before, &file.after) {
            (FileState::Holds(before), FileState::Holds(after)) => format!("{} → {}", short(before), short(after)),
            (_, FileState::Unreadable) => "cannot be read".to_owned(),
            (_, FileState::Holds(after)) => short(after),
            _ => String::new(),
        };
        let what = format!("{:7}  {}  {}", file.name(), places.path(&file.path), paint(QUIET, digests));
        line(&mut out, "file", what.trim_end());
        for row in texts.difference_of(file).unwrap_or_default() {
            let style = match row.sign {
                DiffSign::Removed => BAD,
                DiffSign::Added => GOOD,
                DiffSign::Same | DiffSign::Place => QUIET,
            };
            let _ = writeln!(out, "{:indent$}{}", "", paint(style, row), indent = LABEL + 4);
        }
    }
    out
}

/// A function that returns one part of a definition as text.
type DefinitionPart = fn(&Definition) -> String;

/// Returns the failure policy; empty if it is the default.
pub(super) fn on_failure(definition: &Definition) -> String {
    definition.on_failure.clone().unwrap_or_default()
}

/// Returns the timeout of a hook; empty if it is the default.
pub(super) fn timeout(definition: &Definition) -> String {
    definition.timeout.as_ref().map(|ms| format!("{ms} ms")).unwrap_or_default()
}

/// Returns what is said of a shadow hook; empty for any other.
pub(super) fn enforced(definition: &Definition) -> String {
    definition.enforce.as_ref().map(|_| "no: it runs and has no effect".to_owned()).unwrap_or_default()
}

/// Returns what else the entry of a hook says; empty if that is nothing.
pub(super) fn options(definition: &Definition) -> String {
    definition.further.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join("; ")
}

/// Lists the parts of a definition that differ; all parts if there is only one definition.
fn definitions(out: &mut String, before: Option<&Definition>, after: Option<&Definition>) {
    if before.is_none() && after.is_some() {
        line(out, "before", "not stored: the grant was made with an earlier version of hookrail");
    }
    let parts: [(&str, DefinitionPart); 11] = [
        ("event", |definition| definition.event.clone()),
        ("matcher", |definition| definition.matcher.clone().unwrap_or_else(|| "*".to_owned())),
        ("plugin", |definition| definition.package.clone().unwrap_or_default()),
        ("lifetime", |definition| definition.lifetime.clone().unwrap_or_default()),
        ("on failure", on_failure),
        ("timeout", timeout),
        ("enforced", enforced),
        ("options", options),
        ("sandbox", |definition| definition.sandbox.clone().unwrap_or_default()),
        ("requires", |definition| {
            definition.sandbox_required.as_ref().map(|_| "the sandbox".to_owned()).unwrap_or_default()
        }),
        ("command", |definition| definition.command.clone()),
    ];
    for (name, part) in parts {
        let (was, is) = (before.map(part), after.map(part));
        if was == is {
            continue;
        }
        for (sign, style, text) in [("-", BAD, was), ("+", GOOD, is)] {
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            let text = hanging(&visible(&text), LABEL + 6);
            line(out, name, &paint(style, format!("{sign} {text}")));
        }
    }
}

fn short(digest: &str) -> String {
    digest.chars().take(super::DIGEST).collect()
}
