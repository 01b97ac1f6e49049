//! The directory in which one case runs: a project with a copy of what the case needs, a home directory, programs, and an
//! environment that names these and nothing of the user's.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hookrail::{Builder, DialectId, Environment, EventKind, HookSystem, Json};
use hookrail_bridge::{Agent, tools};
use hookrail_spawn::USER_FOLDER_VARIABLES;
use serde_json::json;
use tempfile::TempDir;

use super::TestedProject;
use super::case::{Case, LocatedCase};
use super::copy::{Copier, create_parent, link, make_executable, not_written, write};
use super::run::RunSettings;
use super::scratch_path::{ScratchFolders, ScratchPath};
use super::survey::{Survey, module_files};
use crate::payload_shape::PayloadShape;
use crate::script::{interpreter, is_executable};

/// The files that make a folder a plugin.
const MANIFESTS: [&str; 3] = ["plugin.json", ".x-code-plugin/plugin.json", ".claude-plugin/plugin.json"];

/// Variables that programs need to run at all.
const SYSTEM_VARIABLES: [&str; 6] = ["PATH", "SystemRoot", "ComSpec", "PATHEXT", "SYSTEMDRIVE", "WINDIR"];

/// The reason why a case could not be run.
#[derive(Debug)]
pub(super) struct SetupFailure {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl SetupFailure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The hooks that a case is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// All that the project configures.
    Configured,
    /// Those of the project's configuration with these labels.
    Selected(Vec<Arc<str>>),
    /// Those of a settings file that takes the place of all configuration.
    Settings(PathBuf),
    /// A script that no configuration names.
    Script(PathBuf),
    /// A module that no configuration names.
    Module(PathBuf),
    /// A plugin that is not in the project's folder of plugins.
    Plugin(PathBuf),
}

impl Subject {
    /// Finds out which hooks a case is about.
    pub(super) fn of_case(located: &LocatedCase, survey: &Survey) -> Result<Self, SetupFailure> {
        let case = &located.case;
        if let Some(settings) = &case.settings {
            let file = resolve(located, settings)?;
            return match &case.hook {
                None => Ok(Self::Settings(file)),
                Some(_) => Err(SetupFailure::new("a case has either `hook` or `settings`").hint("remove one of them")),
            };
        }
        let Some(hook) = &case.hook else { return Ok(Self::Configured) };
        let called = survey.hooks_called(hook);
        if !called.is_empty() {
            return Ok(Self::Selected(called));
        }
        let Ok(path) = resolve(located, hook) else {
            let failure = SetupFailure::new(format!("there is no hook and no file `{hook}`"));
            return Err(match hookrail::sources::nearest(hook, survey.names()) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("write a hook's name, or a path from the case file or from the project"),
            });
        };
        let configured = survey.hooks_running(&path);
        if !configured.is_empty() {
            return Ok(Self::Selected(configured));
        }
        if path.is_dir() {
            let manifest = MANIFESTS.iter().any(|file| path.join(file).exists());
            return if manifest {
                Ok(Self::Plugin(path))
            } else {
                Err(SetupFailure::new(format!("`{hook}` is a folder without `plugin.json`"))
                    .hint("write the path of a script, a module or a plugin's folder"))
            };
        }
        Ok(if is_module(&path) { Self::Module(path) } else { Self::Script(path) })
    }
}

/// Whether a file is a module and not a script for Node.
fn is_module(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("ts") => true,
        Some("js" | "mjs") => fs::read_to_string(path).is_ok_and(|text| text.contains("export default")),
        _ => false,
    }
}

/// Returns a file that a case names, from its own folder or from the project. It must be in the project.
fn resolve(located: &LocatedCase, named: &str) -> Result<PathBuf, SetupFailure> {
    let folder = located.file.parent().unwrap_or(Path::new("/"));
    let found = [folder, &located.project].iter().find_map(|base| base.join(named).canonicalize().ok());
    let Some(path) = found else {
        return Err(SetupFailure::new(format!("`{named}` does not exist"))
            .hint("write a path from the case file or from the project"));
    };
    let root = located.project.canonicalize().unwrap_or_else(|_| located.project.to_path_buf());
    if path.starts_with(&root) {
        return Ok(path);
    }
    Err(SetupFailure::new(format!("`{named}` is not in the project `{}`", root.display()))
        .hint("copy it into the project, or give the folder above both with `--project`"))
}

/// The directories and the hook system of a case.
pub(super) struct Scratch {
    /// Removes the directory when it is dropped.
    _folder: TempDir,
    pub(super) places: ScratchFolders,
    pub(super) system: HookSystem,
    /// The files of the hook that the case names by its path.
    pub(super) hook_files: Vec<HookFile>,
}

/// A file of a hook in the copy, and its name from the folder of the case file on, which stays the same if both are moved.
#[derive(Debug)]
pub(super) struct HookFile {
    pub(super) copy: PathBuf,
    pub(super) name: String,
}

impl Scratch {
    /// Makes the directory of a case and loads its hooks.
    pub(super) fn prepare(
        located: &LocatedCase,
        project: &TestedProject,
        kind: EventKind,
        settings: &RunSettings<'_>,
    ) -> Result<Self, SetupFailure> {
        let subject = Subject::of_case(located, &project.survey)?;
        let case = &*located.case;
        let unusable = |error: io::Error| {
            SetupFailure::new(format!("the case's directory cannot be made: {error}"))
                .hint("set `TMPDIR`, or free space")
        };
        let folder = tempfile::Builder::new().prefix("hookrail-case-").tempdir().map_err(unusable)?;
        let base = folder.path().canonicalize().map_err(unusable)?;
        let places = ScratchFolders { project: base.join("project"), home: base.join("home"), base };
        for made in [&places.project, &places.home, &places.base.join("tmp"), &places.base.join("bin")] {
            fs::create_dir(made).map_err(unusable)?;
        }
        let FilledProject { module, hook_files } = fill(located, &project.survey, &subject, kind, &places)?;
        write_files(case, &places)?;
        let builder = project.grants.describe_copy(&places.project, settings.trust);
        let builder = builder.environment(environment(located, &places, settings.byte_code));
        // A payload of an agent calls tools by the agent's names.
        let payload = case.payload.clone().map(Json::from).and_then(|payload| payload.as_object());
        let sender = payload.and_then(|payload| PayloadShape::of_payload(&payload).agent());
        let builder = sender.map(Agent::tools).into_iter().fold(builder, Builder::host_tools);
        let system = load(case, builder, module);
        if let Subject::Selected(labels) = &subject {
            leave_only(&system, labels, &located.project, &places);
        }
        Ok(Self { _folder: folder, places, system, hook_files })
    }
}

/// What was copied into the project of a case.
#[derive(Default)]
struct FilledProject {
    /// A module that has to be loaded by its path.
    module: Option<PathBuf>,
    hook_files: Vec<HookFile>,
}

/// Copies the hooks into the project.
fn fill(
    located: &LocatedCase,
    survey: &Survey,
    subject: &Subject,
    kind: EventKind,
    places: &ScratchFolders,
) -> Result<FilledProject, SetupFailure> {
    let root = located.project.canonicalize().unwrap_or_else(|_| located.project.to_path_buf());
    let mut copier = Copier::new(&root, &places.project);
    let mut filled = FilledProject::default();
    let hook_file = |copier: &Copier, file: &Path| HookFile {
        copy: copier.place_of(file),
        name: relative_path(located.file.parent().unwrap_or(&root), file),
    };
    match subject {
        Subject::Configured | Subject::Selected(_) => {
            for needed in survey.needed() {
                copier.copy_to_its_place(&needed)?;
            }
        }
        Subject::Settings(file) => copier.copy(file, &places.project.join(".llxprt/settings.json"))?,
        Subject::Script(file) => {
            copier.copy_to_its_place(file)?;
            filled.hook_files.push(hook_file(&copier, file));
            write(&places.project.join(".llxprt/settings.json"), &settings_for(file, &root, kind)?)?;
        }
        Subject::Module(file) => {
            for needed in module_files(&root, file).iter().filter(|needed| needed.starts_with(&root)) {
                copier.copy_to_its_place(needed)?;
                filled.hook_files.push(hook_file(&copier, needed));
            }
            filled.module = Some(copier.place_of(file));
        }
        Subject::Plugin(folder) => {
            let name = folder.file_name().unwrap_or_default();
            copier.copy(folder, &places.project.join(".x-code/plugins").join(name))?;
        }
    }
    for (to, from) in &located.case.copy {
        let Some(to) = ScratchPath::parse(to) else { continue };
        copier.copy(&resolve(located, from)?, &to.in_place(places))?;
    }
    Ok(filled)
}

/// Returns the way from a folder to a file.
fn relative_path(folder: &Path, file: &Path) -> String {
    let common = folder.components().zip(file.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(file.components().skip(common)).collect();
    path.to_string_lossy().into_owned()
}

/// Returns settings in which a script is the only hook of the event.
fn settings_for(script: &Path, root: &Path, kind: EventKind) -> Result<String, SetupFailure> {
    let Some(column) = kind.spec().column(DialectId::Llxprt) else {
        return Err(SetupFailure::new(format!("a script cannot be a hook of `{}`", kind.name()))
            .hint("`hookrail reference events` lists the events of each kind of hook"));
    };
    let relative = script.strip_prefix(root).unwrap_or(script).to_string_lossy();
    let program = match interpreter(script) {
        _ if is_executable(script) => String::new(),
        Some(interpreter) => format!("{interpreter} "),
        None => "sh ".to_owned(),
    };
    let name = script.file_stem().unwrap_or_default().to_string_lossy();
    let command = format!("{program}\"$LLXPRT_PROJECT_DIR/{relative}\"");
    let hooks = json!([{"hooks": [{"type": "command", "name": name, "command": command}]}]);
    Ok(json!({"hooksConfig": {"enabled": true}, "hooks": {column.name: hooks}}).to_string())
}

/// Writes the files, links and programs of a case.
fn write_files(case: &Case, places: &ScratchFolders) -> Result<(), SetupFailure> {
    let in_place = |entries: &BTreeMap<String, String>| -> Vec<(PathBuf, String)> {
        let path = |name: &str| Some(ScratchPath::parse(name)?.in_place(places));
        entries.iter().filter_map(|(name, text)| Some((path(name)?, places.fill(text)))).collect()
    };
    for (path, text) in in_place(&case.files) {
        write(&path, &text)?;
        // A file with a first line for the kernel is meant to be executed.
        if text.starts_with("#!") {
            make_executable(&path)?;
        }
    }
    for (path, target) in in_place(&case.links) {
        create_parent(&path)?;
        link(&target, &path).map_err(|error| not_written(&path, &error))?;
    }
    for (name, text) in &case.programs {
        let path = places.base.join("bin").join(name);
        write(&path, &places.fill(text))?;
        make_executable(&path)?;
    }
    Ok(())
}

/// Loads the hooks of a case.
fn load(case: &Case, mut builder: Builder, module: Option<PathBuf>) -> HookSystem {
    if let Some(module) = module {
        builder = builder.module(module);
    }
    if let Some(dialect) = case.dialect {
        builder = builder.only_dialects(vec![dialect]);
    }
    builder = builder.tool_table(tools::table());
    if let Some(agent) = case.agent {
        builder = builder.host_tools(agent.tools());
    }
    builder.build()
}

/// Returns the environment of the case's hooks. Only the search path is the user's.
fn environment(located: &LocatedCase, places: &ScratchFolders, byte_code: Option<&Path>) -> Environment {
    let case = &located.case;
    let mut environment = Environment::new();
    let inherited = SYSTEM_VARIABLES.into_iter().chain(case.inherit_env.iter().map(String::as_str));
    for name in inherited {
        if let Some(value) = std::env::var_os(name) {
            environment = environment.with(name, value);
        }
    }
    for (name, inside) in USER_FOLDER_VARIABLES {
        environment = environment.with(name, places.home.join(inside));
    }
    environment = environment
        .with("PATH", search_path(places, &located.project))
        .with("HOME", &places.home)
        .with("TMPDIR", places.base.join("tmp"))
        .with("LANG", "C.UTF-8")
        .with("TZ", "UTC")
        .with("HOOKRAIL_TEST", "1")
        .with("LLXPRT_SYSTEM_SETTINGS_PATH", places.base.join("no-system-settings.json"));
    if let Some(byte_code) = byte_code {
        environment = environment.with("PYTHONPYCACHEPREFIX", byte_code);
    }
    for (name, value) in &case.env {
        environment = environment.with(name, places.fill(value));
    }
    environment
}

/// Returns the case's own programs before those of the user. Folders of the project come last, as they do for its hooks: in the
/// copy of the project they would be folders like any other.
fn search_path(places: &ScratchFolders, project: &Path) -> OsString {
    let users = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(project);
    let is_own = |part: &PathBuf| part.starts_with(project) || real(part).starts_with(&root);
    let (own, others): (Vec<_>, Vec<_>) = std::env::split_paths(&users).partition(is_own);
    let parts = std::iter::once(places.base.join("bin")).chain(others).chain(own);
    std::env::join_paths(parts).unwrap_or(users)
}

/// Turns off every hook but the selected ones. The label of a module is its path, which is another one in the copy.
fn leave_only(system: &HookSystem, labels: &[Arc<str>], root: &Path, places: &ScratchFolders) {
    let (root, copy) = (root.to_string_lossy(), places.project.to_string_lossy());
    let selected: Vec<String> = labels.iter().map(|label| label.replace(&*root, &copy)).collect();
    let snapshot = system.snapshot();
    let mut others: Vec<&str> = snapshot.hooks().iter().map(|hook| &*hook.label).collect();
    others.retain(|label| !selected.iter().any(|selected| selected == label));
    system.disable_hooks(others);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_file() {
        for (folder, file, way) in
            [("/p/a", "/p/a/x.ts", "x.ts"), ("/p/a/t", "/p/a/x.ts", "../x.ts"), ("/p", "/p/a/b/x.ts", "a/b/x.ts")]
        {
            assert_eq!(relative_path(Path::new(folder), Path::new(file)), way);
        }
    }
}
