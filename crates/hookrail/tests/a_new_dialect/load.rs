//! Loads `.test-dialect.json` of the project and of the user: a list of `{"on": event, "only": tool, "run": command}`.

use std::sync::Arc;

use super::TestDialect;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Origin, SourceKind};
use crate::config::{Document, Parsed, PlacedValue, SourceId, same_place};
use crate::dialect::columns::event_named;
use crate::dialect::{Dialect, LoadContext, Loaded, Protocol};
use crate::hook::{Action, Hook};

const FILE: &str = ".test-dialect.json";

pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = Arc::clone(context.hook_environment());
    let LoadContext { sources, reading, trusted, .. } = context;
    let mut loaded = Loaded::default();
    let home = sources.home().filter(|home| !same_place(&sources.project, home));
    let folders = [Some((SourceKind::Project, sources.project.clone())), home.map(|home| (SourceKind::User, home))];
    for (kind, folder) in folders.into_iter().flatten() {
        let file = folder.join(FILE);
        let place = SourceId { path: &file, kind, dialect: Some(TestDialect::ID) };
        let read = reading.read_document(place, &mut loaded.diagnostics, |document| parse(&document, kind));
        for mut hook in read.into_value().unwrap_or_default() {
            hook.environment = Some(Arc::clone(&environment));
            if kind == SourceKind::Project {
                hook.trust = trusted.judge(&hook, sources, reading);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded
}

fn parse(document: &Document, kind: SourceKind) -> Parsed<Vec<Hook>> {
    let Some(root) = document.root() else { return Parsed::usable(Vec::new(), Vec::new()) };
    let Some(entries) = root.elements() else {
        return Parsed::broken(document.mismatch(Code::FileShape, root, "the file must be a list of hooks"));
    };
    let mut problems = Vec::new();
    let mut hooks = Vec::new();
    for entry in entries {
        match hook(document, kind, entry) {
            Ok(hook) => hooks.push(hook),
            Err(problem) => problems.push(problem),
        }
    }
    Parsed::usable(hooks, problems)
}

fn hook(document: &Document, kind: SourceKind, entry: &PlacedValue) -> Result<Hook, Diagnostic> {
    let text = |key: &str| entry.get(key).and_then(PlacedValue::text);
    let wrong = |message: &str| document.finding(Code::SettingType, &entry.span, message);
    let event = text("on").and_then(|name| event_named(TestDialect::ID, name));
    let event = event.ok_or_else(|| wrong("`on` must be the name of an event"))?;
    let command = text("run").ok_or_else(|| wrong("`run` must be a command"))?;
    let origin = Origin { kind, location: document.location(&entry.span) };
    let mut hook = Hook::new(event, TestDialect::ID, command, Action::Shell(command.into()), origin);
    if let Some(pattern) = text("only") {
        hook.matcher = TestDialect.matcher(event, pattern);
    }
    Ok(hook)
}
