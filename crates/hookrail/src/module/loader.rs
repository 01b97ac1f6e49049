//! Loading module hooks: by their paths, or by looking for them where agents keep them.

use std::path::{Path, PathBuf};

use super::HookRunner;
use crate::config::diagnostic::Code;
use crate::config::source::SourceKind;
use crate::dialect::snapshot::Snapshot;
use crate::dialect::xcsh;
use crate::dialect::xcsh::resolve_module_path;
use crate::dialect::{DialectId, event_named};
use crate::event::EventKind;
use crate::hook::{Action, Enablement, EventScope, Hook};
use crate::run::{ModuleContext, ModuleInspection, ModuleRunner, ModulesOwner, RegisteredCommand};
use crate::system::Builder;

/// A module that was loaded, and what it registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedHook {
    /// The module's file, as an absolute path.
    pub path: PathBuf,
    /// The events it has handlers for. Handlers for names that are no events are left out.
    pub events: Vec<EventKind>,
    /// Its commands, in the order of their registration.
    pub commands: Vec<RegisteredCommand>,
    /// The types of messages it draws.
    pub renderers: Vec<String>,
}

/// A module that could not be loaded. The others are loaded all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {error}", .path.display())]
#[non_exhaustive]
pub struct HookLoadError {
    /// The file with the error: the module, or one that it imports.
    pub path: PathBuf,
    /// What is wrong.
    pub error: String,
}

/// The modules that were loaded and those that could not be, in load order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadHooksResult {
    /// The modules that were loaded.
    pub hooks: Vec<LoadedHook>,
    /// Why others were not.
    pub errors: Vec<HookLoadError>,
}

/// A module file that an agent would load without being told its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoverableModule {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub owner: ModulesOwner,
}

/// The module files that are found where agents keep them, in load order. Nothing is loaded, and trust is not looked at.
#[must_use]
pub fn discoverable_modules(project: &Path, home: Option<&Path>) -> Vec<DiscoverableModule> {
    let owner = |kind| if kind == SourceKind::Project { ModulesOwner::Project } else { ModulesOwner::User };
    let found = xcsh::discoverable(project, home).into_iter();
    found.map(|(path, kind)| DiscoverableModule { path, owner: owner(kind) }).collect()
}

/// The file that a path of a module means: itself, the path with the ending of a module, or the index file of a folder.
#[must_use]
pub fn find_module_file(path: &Path) -> Option<PathBuf> {
    xcsh::find_module_file(path)
}

/// Loads the modules at these paths to learn what they register. Blocks the caller.
///
/// An absolute path is used as it is, `~` stands for the home directory of the world's environment, and every other path
/// counts from its working directory. Nothing is looked for, and no trust is asked for: the caller names the files. The
/// modules are asked about events by a [`HookRunner`], which a [`Builder`] with the same files makes.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use hookrail::module::{ModuleContext, load_hooks};
/// # fn runner() -> Box<dyn hookrail::module::ModuleRunner> { unimplemented!() }
///
/// let modules = runner(); // hookrail_js::modules()
/// let world = ModuleContext::new("/project", Arc::new(std::env::vars_os().collect()));
/// let loaded = load_hooks(&*modules, ["guard.ts", "~/hooks/audit.ts"], &world);
/// for hook in &loaded.hooks {
///     println!("{} has handlers for {:?}", hook.path.display(), hook.events);
/// }
/// for error in &loaded.errors {
///     eprintln!("{error}");
/// }
/// ```
pub fn load_hooks<P: AsRef<Path>>(
    runner: &dyn ModuleRunner,
    paths: impl IntoIterator<Item = P>,
    world: &ModuleContext,
) -> LoadHooksResult {
    let home = world.environment.get("HOME").map(PathBuf::from);
    let mut result = LoadHooksResult::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in paths {
        let path = resolve_module_path(path.as_ref(), &world.cwd, home.as_deref());
        let path = find_module_file(&path).unwrap_or(path);
        if seen.contains(&path) {
            continue;
        }
        seen.push(path.clone());
        match runner.inspect(&path, world) {
            ModuleInspection::Registered(registered) => {
                let events = registered.events.iter().filter_map(|name| event_named(DialectId::Xcsh, name)).collect();
                let (commands, renderers) = (registered.commands, registered.renderers);
                result.hooks.push(LoadedHook { path, events, commands, renderers });
            }
            ModuleInspection::Unknown(error) => result.errors.push(HookLoadError { path, error }),
            ModuleInspection::Failed(failure) | ModuleInspection::OutOfResources(failure) => {
                let path = failure.place.map_or(path, |place| place.file);
                result.errors.push(HookLoadError { path, error: failure.message });
            }
        }
    }
    result
}

/// Looks for modules where agents keep them, adds those that the caller names, loads all of them, and gives what asks them
/// about events. A module that a project brings is loaded only if the project is trusted.
///
/// The builder says where the project is, which [`ModuleRunner`] runs modules, and what they may do. Only module hooks take
/// part; a program that wants hooks of all dialects builds its [`HookSystem`](crate::HookSystem) itself and gives that to
/// [`HookRunner::new`].
///
/// ```no_run
/// use hookrail::HookSystem;
/// use hookrail::module::discover_and_load_hooks;
///
/// let builder = HookSystem::builder("/project"); // .runner(hookrail_js::modules())
/// let (runner, loaded) = discover_and_load_hooks(builder, ["extra/guard.ts"]);
/// println!("{} modules, {} could not be loaded", loaded.hooks.len(), loaded.errors.len());
/// println!("commands: {:?}", runner.registered_commands());
/// ```
pub fn discover_and_load_hooks<P: Into<PathBuf>>(
    builder: Builder,
    configured: impl IntoIterator<Item = P>,
) -> (HookRunner, LoadHooksResult) {
    let builder = builder.only_dialects(vec![DialectId::Xcsh]);
    let system = configured.into_iter().fold(builder, Builder::module).build();
    let loaded = loaded(&system.snapshot());
    (HookRunner::new(system), loaded)
}

/// What a snapshot says about the modules in it.
pub(super) fn loaded(snapshot: &Snapshot) -> LoadHooksResult {
    let mut result = LoadHooksResult::default();
    for hook in snapshot.hooks() {
        if let Some(path) = module_of(hook) {
            with_entry(&mut result.hooks, path, |known| {
                if hook.scope == EventScope::One && !known.events.contains(&hook.event) {
                    known.events.push(hook.event);
                }
            });
        }
    }
    for module in &snapshot.modules {
        with_entry(&mut result.hooks, &module.path, |known| {
            known.commands.clone_from(&module.commands);
            known.renderers.clone_from(&module.renderers);
        });
    }
    let failed = snapshot.diagnostics().iter().filter(|finding| finding.code == Code::ModuleLoad);
    result.errors.extend(failed.map(|finding| HookLoadError {
        path: finding.location.as_ref().map(|location| location.file.to_path_buf()).unwrap_or_default(),
        error: finding.message.clone(),
    }));
    result
}

/// The file of a module hook that takes part in events.
fn module_of(hook: &Hook) -> Option<&Path> {
    match &hook.action {
        Action::Module(path) if hook.trust.allows() && hook.enablement == Enablement::Active => Some(path),
        _ => None,
    }
}

/// Does something with the entry of a module, which is made if there is none.
fn with_entry(hooks: &mut Vec<LoadedHook>, path: &Path, change: impl FnOnce(&mut LoadedHook)) {
    if let Some(known) = hooks.iter_mut().find(|hook| hook.path == path) {
        return change(known);
    }
    let path = path.to_owned();
    let mut hook = LoadedHook { path, events: Vec::new(), commands: Vec::new(), renderers: Vec::new() };
    change(&mut hook);
    hooks.push(hook);
}
