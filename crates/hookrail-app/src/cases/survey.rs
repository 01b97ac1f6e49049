//! What a project configures, found out without running anything of it: its hooks, and the files that they name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::hook::Action;
use hookrail::sources::{Location, Origin, SourceKind};
use hookrail::trust::Fingerprint;
use hookrail::{DialectId, Environment, EventKind, Hook, HookSystem, Level};

use crate::config::{HookrailConfiguration, ProjectFileTrust};
use crate::text::count_by_level;

/// The files and folders in which a project configures hooks.
const CONFIGURATION: [&str; 15] = [
    ".llxprt/settings.json",
    ".llxprt/hooks",
    ".x-code/plugins",
    ".x-code/settings.json",
    ".x-code/settings.local.json",
    ".xcsh/hooks",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".gemini/settings.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".codex/hooks",
    ".hookrail/config.toml",
    ".hookrail/rules",
];

/// The hooks that a project configures.
#[derive(Debug)]
pub(super) struct Survey {
    root: PathBuf,
    hooks: Vec<SurveyedHook>,
    /// The problems of the configuration, counted in words.
    pub(super) problems: Option<String>,
}

#[derive(Debug)]
struct SurveyedHook {
    label: Arc<str>,
    /// The plugin that it belongs to.
    owner: Option<String>,
    owner_folder: Option<PathBuf>,
    /// Its command line; none if it is no shell's.
    command: Option<Arc<str>>,
    files: Vec<PathBuf>,
}

impl SurveyedHook {
    fn new(root: &Path, hook: &Hook) -> Self {
        let mut files = Fingerprint::take(root, hook).paths();
        if let Action::Module(module) = &hook.action {
            files.push(module.to_path_buf());
        }
        Self {
            label: Arc::clone(&hook.label),
            owner: hook.owner.as_ref().map(|owner| owner.id.clone()),
            owner_folder: hook.owner.as_ref().map(|owner| owner.dir.clone()),
            command: match &hook.action {
                Action::Shell(line) => Some(Arc::clone(line)),
                _ => None,
            },
            files,
        }
    }

    fn is_called(&self, name: &str) -> bool {
        let plugin = self.owner.as_deref();
        &*self.label == name || plugin.is_some_and(|id| id == name || id.split('@').next() == Some(name))
    }

    fn runs(&self, path: &Path) -> bool {
        let is_it = |known: &PathBuf| known == path || known.canonicalize().is_ok_and(|known| known == path);
        self.files.iter().any(is_it) || self.owner_folder.as_ref().is_some_and(is_it)
    }
}

impl SurveyedHook {
    /// Whether its command names a file. What it loads beside its script, such as all files of the folder of a Node script,
    /// belongs to it and is not what it runs.
    fn names(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.command.as_ref().is_some_and(|line| line.contains(&*name))
    }
}

impl Survey {
    /// Reads the configuration of a project. Nothing is trusted, so no module is loaded.
    pub(super) fn read(root: &Path) -> Self {
        let configuration = HookrailConfiguration::load(root, ProjectFileTrust::Untrusted);
        let builder = configuration.enable_dialects(HookSystem::builder(root));
        let system = builder.environment(nowhere(root)).no_bundles().build();
        let snapshot = system.snapshot();
        let hooks = snapshot.hooks().iter().map(|hook| SurveyedHook::new(root, hook)).collect();
        let problems = count_by_level(
            &snapshot.diagnostics().iter().filter(|found| found.level >= Level::Warning).cloned().collect::<Vec<_>>(),
        );
        Self { root: root.to_owned(), hooks, problems }
    }

    /// Returns the labels of the hooks with this name.
    pub(super) fn hooks_called(&self, name: &str) -> Vec<Arc<str>> {
        self.labels(|hook| hook.is_called(name))
    }

    /// Returns the labels of the hooks that run this file, or belong to the plugin in this folder.
    pub(super) fn hooks_running(&self, path: &Path) -> Vec<Arc<str>> {
        let named = self.labels(|hook| hook.runs(path) && hook.names(path));
        if named.is_empty() { self.labels(|hook| hook.runs(path)) } else { named }
    }

    fn labels(&self, meant: impl Fn(&SurveyedHook) -> bool) -> Vec<Arc<str>> {
        let mut labels: Vec<_> = self.hooks.iter().filter(|hook| meant(hook)).map(|hook| hook.label.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// Returns the names of all hooks, and of the plugins that they belong to.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.hooks.iter().flat_map(|hook| {
            let plugin = hook.owner.as_deref().and_then(|id| id.split('@').next());
            std::iter::once(&*hook.label).chain(plugin)
        })
    }

    /// Returns what the configured hooks need: the configuration, and the files of the project that hooks name.
    pub(super) fn needed(&self) -> Vec<PathBuf> {
        let mut needed: Vec<PathBuf> =
            CONFIGURATION.iter().map(|place| self.root.join(place)).filter(|path| path.exists()).collect();
        for file in self.hooks.iter().flat_map(|hook| &hook.files) {
            if file.starts_with(&self.root) && !needed.iter().any(|known| file.starts_with(known)) {
                needed.push(file.clone());
            }
        }
        needed
    }
}

/// Returns a module with the files that it imports. Nothing of it is run.
pub(super) fn module_files(root: &Path, module: &Path) -> Vec<PathBuf> {
    let origin = Origin { kind: SourceKind::Option, location: Location::whole_file(module) };
    let label = module.to_string_lossy();
    let hook = Hook::new(EventKind::BeforeTool, DialectId::Xcsh, &*label, Action::Module(module.into()), origin);
    let mut files = Fingerprint::take(root, &hook).paths();
    if !files.iter().any(|file| file == module) {
        files.push(module.to_owned());
    }
    files
}

/// Returns an environment in which only the project has hooks.
fn nowhere(root: &Path) -> Environment {
    Environment::new().with("LLXPRT_SYSTEM_SETTINGS_PATH", root.with_file_name("no-system-settings.json"))
}
