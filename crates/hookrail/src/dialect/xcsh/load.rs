//! Finding modules and their hooks.
//!
//! Which events a module wants is known only after it ran, so a trusted one is looked into by its runner. One that
//! is not trusted is listed without being opened by anything that could run it.

use std::path::Path;
use std::sync::Arc;

use super::discover::{self, Found};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{DialectId, Inspector, Loaded, Sources};
use crate::event::EventKind;
use crate::hook::{Action, EventScope, Hook, Standing, Trust};
use crate::run::{Capabilities, LoadFailure, ModuleInspection, ModuleWorld, Registrations};
use crate::snapshot::LoadedModule;
use crate::source::{LineIndex, Location, Origin, SourceKind};
use crate::trust::Fingerprint;

/// Loads every hook of this dialect.
pub(crate) fn load(sources: &Sources) -> Loaded {
    let (found, files) = discover::discover(sources);
    let mut loaded = Loaded { files, ..Loaded::default() };
    for file in found {
        load_file(sources, file, &mut loaded);
    }
    loaded
}

fn load_file(sources: &Sources, file: Found, loaded: &mut Loaded) {
    let location = Location::whole_file(&file.path);
    if let Some(first) = &file.shadowed_by {
        let mut hook = hook(&file, location);
        hook.standing = Standing::Disabled(format!("the hook of the same name, {}", first.display()).into());
        loaded.hooks.push(hook);
        return;
    }
    if let Some(problem) = unloadable(&file.path) {
        let message = format!("Failed to load hook: {problem}");
        loaded.diagnostics.push(Diagnostic::new(Code::ModuleLoad, message).at(location));
        return;
    }
    let mut hook = hook(&file, location);
    hook.trust = trust(sources, &file, &hook);
    if !hook.trust.allows() {
        loaded.hooks.push(hook);
        return;
    }
    match &sources.inspector {
        Inspector::Runner(runner) => {
            let world = ModuleWorld::new(&*sources.project, Arc::clone(&sources.environment))
                .with_capabilities(Capabilities::LOOK)
                .covering(&hook.trust);
            take(runner.inspect(&file.path, &world), hook, loaded);
        }
        Inspector::HeldBack => loaded.hooks.push(hook),
        Inspector::Missing => {
            hook.action = Action::NotExecutable("no runner for module hooks is registered".into());
            loaded.hooks.push(hook);
        }
    }
}

/// A hook for a module whose events are not known.
fn hook(file: &Found, location: Location) -> Hook {
    let label = file.path.to_string_lossy().into_owned();
    let action = Action::Module(file.path.as_path().into());
    let origin = Origin::new(file.kind, location);
    let mut hook = Hook::new(EventKind::BeforeTool, DialectId::Xcsh, label, action, origin);
    hook.scope = EventScope::Unknown;
    hook
}

/// Why a file cannot be a module at all, without looking into it.
fn unloadable(path: &Path) -> Option<String> {
    if !path.exists() {
        return Some(format!("Cannot find module '{}'", path.display()));
    }
    if !path.is_file() {
        return Some(format!("'{}' is not a file", path.display()));
    }
    (!discover::is_module(path)).then(|| "it is not a JavaScript or TypeScript module".to_owned())
}

fn trust(sources: &Sources, file: &Found, hook: &Hook) -> Trust {
    match file.kind {
        SourceKind::Project if sources.trust_all => Trust::ForThisRun,
        SourceKind::Project => sources.grants.judge(Fingerprint::take(&sources.project, hook)),
        _ => Trust::NotNeeded,
    }
}

/// Makes one hook for every event that a module registered for.
fn take(inspection: ModuleInspection, hook: Hook, loaded: &mut Loaded) {
    match inspection {
        ModuleInspection::Registered(registered) => take_registered(registered, &hook, loaded),
        ModuleInspection::Unknown(why) => {
            let message = format!("what `{hook}` registers is known only when it runs: {why}");
            let location = hook.origin.location.clone();
            loaded.diagnostics.push(Diagnostic::new(Code::ModuleOpaque, message).at(location));
            loaded.hooks.push(hook);
        }
        ModuleInspection::Failed(failure) => loaded.diagnostics.push(load_error(&hook, &failure)),
        // Which events it guards is not known, so it is asked in all of them, and fails there if that cannot be done.
        ModuleInspection::OutOfResources(failure) => {
            loaded.diagnostics.push(load_error(&hook, &failure));
            loaded.hooks.push(hook);
        }
    }
}

fn take_registered(registered: Registrations, hook: &Hook, loaded: &mut Loaded) {
    for name in &registered.events {
        match event_of(name) {
            Some(event) => {
                let mut hook = hook.clone();
                (hook.event, hook.scope) = (event, EventScope::One);
                loaded.hooks.push(hook);
            }
            None => {
                let message = format!("`{hook}` has a handler for `{name}`, which is not an event");
                let finding = Diagnostic::new(Code::ModuleEvent, message).at(hook.origin.location.clone());
                let suggested = crate::config::nearest(name, event_names());
                loaded.diagnostics.push(match suggested {
                    Some(known) => finding.hint(format!("did you mean `{known}`?")),
                    None => finding,
                });
            }
        }
    }
    if let Action::Module(path) = &hook.action
        && !(registered.commands.is_empty() && registered.renderers.is_empty())
    {
        loaded.modules.push(LoadedModule {
            path: Arc::clone(path),
            trust: hook.trust.clone(),
            commands: registered.commands,
            renderers: registered.renderers,
        });
    }
}

fn event_names() -> impl Iterator<Item = &'static str> {
    EventKind::all().filter_map(|kind| Some(kind.spec().column(DialectId::Xcsh)?.name))
}

fn event_of(name: &str) -> Option<EventKind> {
    EventKind::all().find(|kind| kind.spec().column(DialectId::Xcsh).is_some_and(|column| column.name == name))
}

fn load_error(hook: &Hook, failure: &LoadFailure) -> Diagnostic {
    let location = match &failure.place {
        Some(place) => {
            let text = std::fs::read_to_string(&place.file).unwrap_or_default();
            let begins: usize = text.split_inclusive('\n').take(line_index(place.line)).map(str::len).sum();
            let rest = text.get(begins..).unwrap_or_default();
            let ahead: usize = rest.chars().take(line_index(place.column)).map(char::len_utf8).sum();
            let at = (begins + ahead).min(text.len());
            let mut location = LineIndex::new(text.clone()).location(&Arc::from(place.file.as_path()), at..at);
            (location.line, location.column) = (place.line, place.column);
            location
        }
        None => hook.origin.location.clone(),
    };
    Diagnostic::new(Code::ModuleLoad, failure.message.clone()).at(location)
}

fn line_index(from_one: u32) -> usize {
    usize::try_from(from_one.saturating_sub(1)).unwrap_or(0)
}
