//! How a process was started, to decide whether another event would start it in the same way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail_spawn::Sandbox;

use crate::config::FileStamp;
use crate::hook::exec_options::ProcessLifetime;
use crate::hook::fingerprint::{Fingerprint, files_named_by};
use crate::hook::{Action, CommandText, Enforcement, Hook};
use crate::run::Environment;
use crate::run::command::ProcessContext;
use crate::run::request::PlannedRun;

/// A command with its directory and its environment.
#[derive(Debug)]
pub(super) struct LaunchSettings {
    command: Option<CommandText>,
    lifetime: ProcessLifetime,
    /// A shadow hook has processes of its own, so that it delays no other.
    enforcement: Enforcement,
    /// The directory a process is started in.
    pub(super) cwd: PathBuf,
    inherited: Arc<Environment>,
    variables: Vec<(String, String)>,
    sandbox: Option<Arc<Sandbox>>,
}

/// The command of an action, or the command line that replaces it.
fn command_text(action: &Action, line: Option<&Arc<str>>) -> Option<CommandText> {
    line.cloned().map(CommandText::Line).or_else(|| action.command())
}

impl LaunchSettings {
    pub(super) fn new(world: &ProcessContext, request: &PlannedRun) -> Self {
        Self {
            command: command_text(&request.hook.action, request.command.as_ref()),
            lifetime: request.hook.lifetime,
            enforcement: request.hook.enforcement,
            cwd: request.cwd.clone(),
            inherited: Arc::clone(inherited(world, request)),
            variables: variables(request).cloned().collect(),
            sandbox: request.sandbox.clone(),
        }
    }

    /// Whether the hook still asks for this.
    pub(super) fn is_of(&self, hook: &Hook) -> bool {
        self.command == hook.action.command() && self.lifetime == hook.lifetime && self.enforcement == hook.enforcement
    }

    /// Whether the request would be started in exactly this way. Every event asks this, so it copies no text.
    pub(super) fn fits(&self, world: &ProcessContext, request: &PlannedRun) -> bool {
        let theirs = inherited(world, request);
        self.command == command_text(&request.hook.action, request.command.as_ref())
            && self.lifetime == request.hook.lifetime
            && self.enforcement == request.hook.enforcement
            && self.cwd == request.cwd
            && (Arc::ptr_eq(&self.inherited, theirs) || self.inherited == *theirs)
            && self.variables.iter().eq(variables(request))
            && self.sandbox.as_ref().map(Arc::as_ptr) == request.sandbox.as_ref().map(Arc::as_ptr)
    }
}

fn inherited<'r>(world: &'r ProcessContext, request: &'r PlannedRun) -> &'r Arc<Environment> {
    request.hook.environment.as_ref().unwrap_or(&world.environment)
}

fn variables(request: &PlannedRun) -> impl Iterator<Item = &(String, String)> {
    request.event.variables().iter().chain(request.variables.iter())
}

/// The files that a command names, as they were when they were inspected.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) struct FileStamps(Vec<(PathBuf, Option<FileStamp>)>);

impl FileStamps {
    /// Looks at the files of a hook's command.
    pub(super) fn named_by(hook: &Hook, world: &ProcessContext, cwd: &Path) -> Self {
        let environment = hook.environment.as_ref().unwrap_or(&world.environment);
        let home = environment.get("HOME").map(Path::new);
        let files = files_named_by(hook, cwd, home);
        Self(files.into_iter().map(|file| (file.clone(), FileStamp::read(&file))).collect())
    }

    /// Looks at the files that a grant covers.
    pub(in crate::run) fn covered_by(fingerprint: &Fingerprint) -> Self {
        let files = fingerprint.files().iter();
        // Without a link both are one.
        let paths = files.flat_map(|file| [Some(&file.path), Some(&file.real).filter(|real| **real != file.path)]);
        Self(paths.flatten().map(|path| (path.clone(), FileStamp::read(path))).collect())
    }

    /// Whether they are still what they were.
    pub(in crate::run) fn is_unchanged(&self) -> bool {
        self.0.iter().all(|(file, known)| FileStamp::read(file) == *known)
    }
}
