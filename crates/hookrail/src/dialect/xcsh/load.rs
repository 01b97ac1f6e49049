//! Finding modules and their hooks.
//!
//! The events of a module are known only after it ran, so a trusted one is inspected by its runner. One that is not
//! trusted is listed without being opened by anything that could run it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::{self, ModuleFile};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{LineIndex, Location, Origin, SourceKind};
use crate::config::{
    Document, KeptReason, LoadMode, SourceId, SourceReader, is_absence, is_want_of_resources, wait_until_stable,
};
use crate::dialect::columns::{event_named, event_names};
use crate::dialect::snapshot::LoadedModule;
use crate::dialect::{DialectId, Inspector, LoadContext, Loaded, Sources, condition_key};
use crate::event::EventKind;
use crate::hook::condition::HookCondition;
use crate::hook::{Action, Enablement, Enforcement, EventScope, Hook, OnFailure, Trust};
use crate::run::{
    Capabilities, EnforceExport, LoadFailure, ModuleContext, ModuleInspection, ModuleRunner, RegistrationKind,
    RegistrationMistake, Registrations,
};
use crate::trust::{Digest, Fingerprint, ModuleMemory, NamedFile};

/// What is known of every module that could be loaded.
#[derive(Debug, Default)]
pub(crate) struct LastGood(HashMap<PathBuf, GoodModule>);

/// A module as it was when it could last be loaded. Its runner keeps that version.
#[derive(Clone, Debug)]
struct GoodModule {
    inspection: ModuleInspection,
    files: Vec<NamedFile>,
}

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>, last_good: &mut LastGood) -> Loaded {
    let mut loaded = Loaded::default();
    let found = discover::discover(context.sources, context.bundles, context.reading, &mut loaded.diagnostics);
    let known: HashSet<PathBuf> = found.iter().map(|file| file.path.clone()).collect();
    for file in found {
        load_file(context, &file, last_good, &mut loaded);
    }
    if let Inspector::Runner(runner) = &context.sources.inspector {
        let gone = last_good.0.keys().filter(|path| !known.contains(*path));
        gone.for_each(|path| runner.forget(path));
    }
    last_good.0.retain(|path, _| known.contains(path));
    loaded
}

fn load_file(context: &mut LoadContext<'_, '_>, file: &ModuleFile, last_good: &mut LastGood, loaded: &mut Loaded) {
    let LoadContext { sources, reading, trusted, .. } = context;
    reading.look_at(&file.path);
    let location = Location::whole_file(file.named.as_ref().unwrap_or(&file.path));
    if let Some(first) = &file.shadowed_by {
        let mut hook = hook_of_file(file, location);
        hook.enablement = Enablement::Disabled(format!("the hook of the same name, {}", first.display()).into());
        loaded.hooks.push(hook);
        return;
    }
    let mut hook = hook_of_file(file, location);
    if let Some(problem) = find_obstacle(&file.path) {
        let failure = LoadFailure::new(format!("Failed to load hook: {}", problem.message));
        if problem.is_foreign && file.kind != SourceKind::Option {
            loaded.diagnostics.push(load_error(&hook, &failure));
            return;
        }
        if problem.reason == KeptReason::Removed && reading.mode != LoadMode::Refresh {
            last_good.0.remove(&file.path);
        }
        hook.trust =
            if file.kind == SourceKind::Project { trusted.judge_gone(&hook, sources) } else { Trust::NotNeeded };
        take_failed(&failure, problem.reason, hook, sources, reading, last_good, loaded);
        return;
    }
    if file.kind == SourceKind::Project {
        hook.trust = trusted.judge(&hook, sources, reading);
    }
    if !hook.trust.allows() {
        loaded.hooks.push(hook);
        return;
    }
    match &sources.inspector {
        Inspector::Runner(runner) => inspect(&**runner, context, hook, last_good, loaded),
        Inspector::HeldBack => loaded.hooks.push(hook),
        Inspector::Missing => {
            hook.action = Action::NotExecutable("no runner for module hooks is registered".into());
            loaded.hooks.push(hook);
        }
    }
}

/// Inspects a module with its runner. Returns the result, or that of the last inspection that succeeded.
fn inspect(
    runner: &dyn ModuleRunner,
    context: &mut LoadContext<'_, '_>,
    hook: Hook,
    last_good: &mut LastGood,
    loaded: &mut Loaded,
) {
    let environment = Arc::clone(context.hook_environment());
    let LoadContext { sources, reading, .. } = context;
    let Action::Module(path) = &hook.action else { return };
    let path = Arc::clone(path);
    if let Some(known) = last_good.0.get(&*path).filter(|known| known.has_changed()) {
        let files: Vec<PathBuf> = known.files.iter().map(|file| file.path.clone()).collect();
        wait_until_stable(&files);
    }
    let world =
        ModuleContext::new(&*sources.project, environment).with_capabilities(Capabilities::LOOK).covering(&hook.trust);
    let inspection = runner.inspect(&path, &world);
    let files = runner.inspected_files(&path, &world);
    for file in &files {
        reading.look_at(&file.path);
    }
    match inspection {
        ModuleInspection::Failed(failure) => {
            take_failed(&failure, KeptReason::Unusable, hook, sources, reading, last_good, loaded);
        }
        ModuleInspection::OutOfResources(failure) if last_good.0.contains_key(&*path) => {
            take_failed(&failure, KeptReason::OutOfResources, hook, sources, reading, last_good, loaded);
        }
        ModuleInspection::OutOfResources(_) => {
            reading.report.try_again = true;
            add_hooks(inspection, &hook, loaded);
        }
        inspection => {
            reading.module_in_force(&path, digests(&files));
            last_good.0.insert(path.to_path_buf(), GoodModule { inspection: inspection.clone(), files });
            if let (Some(memory), ModuleInspection::Registered(registered)) = (&sources.module_memory, &inspection) {
                let is_enforced = registered.enforce != EnforceExport::Shadow;
                if has_guard(registered) && is_enforced { memory.has_guard(&path) } else { memory.has_no_guard(&path) }
            }
            add_hooks(inspection, &hook, loaded);
        }
    }
}

/// A module that cannot be loaded: its last good version stays in force if there is one. Otherwise it has failed if it was a
/// guard.
fn take_failed(
    failure: &LoadFailure,
    reason: KeptReason,
    hook: Hook,
    sources: &Sources,
    reading: &mut SourceReader<'_>,
    last_good: &LastGood,
    loaded: &mut Loaded,
) {
    let Action::Module(path) = &hook.action else { return };
    if reason == KeptReason::OutOfResources {
        reading.report.try_again = true;
    }
    let known = last_good.0.get(&**path).filter(|_| hook.trust.allows());
    if reason != KeptReason::Removed || known.is_none() {
        loaded.diagnostics.push(load_error(&hook, failure));
    }
    match known {
        Some(known) => {
            for file in &known.files {
                reading.look_at(&file.path);
            }
            reading.module_in_force(path, digests(&known.files));
            reading.keep(path, reason, &mut loaded.diagnostics);
            add_hooks(known.inspection.clone(), &hook, loaded);
        }
        None => {
            let place = SourceId { path, kind: hook.origin.kind, dialect: Some(DialectId::Xcsh) };
            reading.unusable(place, failure.message.clone());
            if was_guard(&hook, path, sources.module_memory.as_ref()) {
                loaded.hooks.push(failed_guard(&hook, failure));
            }
        }
    }
}

fn digests(files: &[NamedFile]) -> impl Iterator<Item = (&Path, Option<Digest>)> {
    files.iter().map(|file| (&*file.path, file.digest))
}

fn has_guard(registered: &Registrations) -> bool {
    registered.events.iter().any(|name| event_named(DialectId::Xcsh, name) == Some(EventKind::BeforeTool))
}

/// Whether a module that may run guarded tool calls: by its grant, or when it was last loaded.
fn was_guard(hook: &Hook, path: &Path, memory: Option<&ModuleMemory>) -> bool {
    let grant = hook.trust.fingerprint().and_then(Fingerprint::granted);
    let was_granted = grant.is_some_and(|grant| grant.policy(hook) != OnFailure::Allow);
    let is_shadow = hook.trust.fingerprint().is_some_and(Fingerprint::was_granted_as_shadow);
    hook.trust.allows() && !is_shadow && (was_granted || memory.is_some_and(|memory| memory.had_guard(path)))
}

/// The hook of a guard that cannot be loaded. It is asked about every tool call, and fails.
fn failed_guard(hook: &Hook, failure: &LoadFailure) -> Hook {
    let why = format!("it had a guard when it was last loaded, and cannot be loaded now: {}", failure.message);
    let mut failed = hook.clone();
    (failed.event, failed.scope) = (EventKind::BeforeTool, EventScope::One);
    failed.action = Action::Unusable(why.into());
    failed
}

impl GoodModule {
    /// Whether a file of the module has changed, as far as can be seen.
    fn has_changed(&self) -> bool {
        let digest = |path: &Path| std::fs::read(path).ok().map(|bytes| Digest::of(&bytes));
        self.files.iter().any(|file| file.digest != digest(&file.path))
    }
}

/// A hook for a module whose events are not known.
fn hook_of_file(file: &ModuleFile, location: Location) -> Hook {
    let label = file.path.to_string_lossy().into_owned();
    let action = Action::Module(file.path.as_path().into());
    let origin = Origin { kind: file.kind, location };
    let mut hook = Hook::new(EventKind::BeforeTool, DialectId::Xcsh, label, action, origin);
    hook.scope = EventScope::Unknown;
    hook
}

/// Why a file cannot be a module at all, without inspecting it.
struct LoadObstacle {
    message: String,
    reason: KeptReason,
    is_foreign: bool,
}

fn find_obstacle(path: &Path) -> Option<LoadObstacle> {
    let unusable = |message: String| Some(LoadObstacle { message, reason: KeptReason::Unusable, is_foreign: false });
    match path.metadata() {
        Ok(about) if !about.is_file() => unusable(format!("'{}' is not a file", path.display())),
        // It belongs to another agent, so no hook is lost.
        Ok(_) if !discover::is_module(path) => unusable("it is not a JavaScript or TypeScript module".to_owned())
            .map(|problem| LoadObstacle { is_foreign: true, ..problem }),
        Ok(_) => None,
        Err(error) if is_absence(&error) => {
            let message = format!("Cannot find module '{}'", path.display());
            Some(LoadObstacle { message, reason: KeptReason::Removed, is_foreign: false })
        }
        Err(error) => {
            let message = format!("'{}' cannot be read: {error}", path.display());
            let starved = is_want_of_resources(&error);
            let reason = if starved { KeptReason::OutOfResources } else { KeptReason::Unusable };
            Some(LoadObstacle { message, reason, is_foreign: false })
        }
    }
}

/// Makes one hook for every event that a module registered for.
fn add_hooks(inspection: ModuleInspection, hook: &Hook, loaded: &mut Loaded) {
    match inspection {
        ModuleInspection::Registered(registered) => add_registered(registered, hook, loaded),
        ModuleInspection::Unknown(why) => add_opaque(&why, hook, loaded),
        ModuleInspection::Failed(failure) => loaded.diagnostics.push(load_error(hook, &failure)),
        // Its events are not known, so it is asked in all of them, and fails there if it cannot be loaded.
        ModuleInspection::OutOfResources(failure) => {
            loaded.diagnostics.push(load_error(hook, &failure));
            loaded.hooks.push(hook.clone());
        }
    }
}

/// A module that may register more than is known is asked in every event, so that no guard of it is missed.
fn add_opaque(why: &str, hook: &Hook, loaded: &mut Loaded) {
    let message = format!("what `{hook}` registers is known only when it runs: {why}");
    let location = hook.origin.location.clone();
    loaded.diagnostics.push(Diagnostic::new(Code::ModuleOpaque, message).at(location));
    loaded.hooks.push(hook.clone());
}

fn add_registered(registered: Registrations, hook: &Hook, loaded: &mut Loaded) {
    let mut hook = hook.clone();
    match registered.enforce {
        EnforceExport::Enforced => {}
        EnforceExport::Shadow => hook.enforcement = Enforcement::Shadow,
        EnforceExport::NotBoolean => {
            let message = format!("`enforce` of `{hook}` must be true or false; the module is enforced");
            let finding = Diagnostic::new(Code::SettingType, message).at(hook.origin.location.clone());
            loaded.diagnostics.push(finding.hint("write `export const enforce = false;`"));
        }
    }
    let condition = registered.condition.as_deref().and_then(|text| condition(text, &hook, &mut loaded.diagnostics));
    let hook = &hook;
    let is_guard = has_guard(&registered);
    let unsettled = registered.unsettled.filter(|_| !is_guard);
    if let Some(why) = &unsettled {
        add_opaque(why, hook, loaded);
    }
    for name in &registered.events {
        match event_named(DialectId::Xcsh, name) {
            // The hook above is for every event.
            Some(_) if unsettled.is_some() => {}
            Some(event) => {
                let mut hook = hook.clone();
                (hook.event, hook.scope) = (event, EventScope::One);
                // It is about calls: what is about no tool reaches the module as ever.
                if matches!(event, EventKind::BeforeTool | EventKind::AfterTool) {
                    hook.conditions.extend(condition.clone());
                }
                loaded.hooks.push(hook);
            }
            None => {
                let message = format!("`{hook}` has a handler for `{name}`, which is not an event");
                let finding = Diagnostic::new(Code::ModuleEvent, message).at(hook.origin.location.clone());
                loaded.diagnostics.push(finding.suggest(name, event_names(DialectId::Xcsh)));
            }
        }
    }
    loaded.diagnostics.extend(registered.mistakes.iter().map(|mistake| registration_mistake(hook, mistake)));
    for name in &registered.unsupported {
        let message =
            format!("`{hook}` calls `{name}`, which hookrail does not have; the rest of the module is in force");
        let finding = Diagnostic::new(Code::ModuleUnsupported, message).at(hook.origin.location.clone());
        loaded.diagnostics.push(finding.hint("hookrail has the hook API of modules, not the agent's extension API"));
    }
    if let Action::Module(path) = &hook.action
        && !(registered.commands.is_empty() && registered.renderers.is_empty())
        // A shadow module offers nothing either.
        && hook.enforcement == Enforcement::Enforced
    {
        loaded.modules.push(LoadedModule {
            path: Arc::clone(path),
            dialect: hook.dialect,
            origin: hook.origin.clone(),
            trust: hook.trust.clone(),
            commands: registered.commands,
            renderers: registered.renderers,
        });
    }
}

/// Reads what a module exports as `if`. What cannot be read takes nothing away: the module is always asked.
fn condition(text: &str, hook: &Hook, diagnostics: &mut Vec<Diagnostic>) -> Option<HookCondition> {
    let location = || hook.origin.location.clone();
    let document = Document::parse(Path::new("if"), text.to_owned()).ok();
    let Some((document, value)) = document.as_ref().and_then(|document| Some((document, document.root()?))) else {
        let message = format!("`if` of `{hook}` cannot be written as JSON, so the module is always asked");
        diagnostics.push(Diagnostic::new(Code::SettingType, message).at(location()));
        return None;
    };
    let mut found = Vec::new();
    let condition = condition_key::read_value(document, value, &mut found);
    diagnostics.extend(found.into_iter().map(|finding| finding.at(location())));
    condition
}

/// A registration that cannot be called costs itself, and the rest of the module is in force.
fn registration_mistake(hook: &Hook, mistake: &RegistrationMistake) -> Diagnostic {
    let RegistrationMistake { kind, name, given } = mistake;
    let is_guard =
        *kind == RegistrationKind::Handler && event_named(DialectId::Xcsh, name) == Some(EventKind::BeforeTool);
    let what = match kind {
        RegistrationKind::Handler => "handler for",
        RegistrationKind::Command => "handler of the command",
        RegistrationKind::Renderer => "renderer of",
    };
    let effect =
        if is_guard { "it blocks every tool call" } else { "it is left out, and the rest of the module is in force" };
    let message = format!("the {what} `{name}` in `{hook}` is {given}, which is not a function; {effect}");
    Diagnostic::new(Code::ModuleRegistration, message).at(hook.origin.location.clone())
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
