//! In which way a process was started, so that it is known whether another event would start it in the same way.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hookrail_spawn::Sandbox;

use crate::exec_options::ExecOptions;
use crate::hook::{Action, Hook};
use crate::run::Environment;
use crate::run::command::ProcessWorld;
use crate::run::request::RunRequest;
use crate::trust;

/// A command with its directory and its environment.
#[derive(Debug)]
pub(super) struct Recipe {
    what: What,
    exec: ExecOptions,
    /// The directory a process is started in.
    pub(super) cwd: PathBuf,
    inherited: Arc<Environment>,
    variables: Vec<(String, String)>,
    sandbox: Option<Arc<Sandbox>>,
}

/// A command line or a program with its words.
#[derive(Debug, PartialEq, Eq)]
enum What {
    Line(Arc<str>),
    Words(Arc<[String]>),
    Nothing,
}

impl What {
    /// What an action is with the command line that stands in place of its own, if there is one.
    fn of(action: &Action, command: Option<&Arc<str>>) -> Self {
        match (command, action) {
            (Some(line), _) | (None, Action::Shell(line)) => Self::Line(Arc::clone(line)),
            (None, Action::Program(words)) => Self::Words(Arc::clone(words)),
            (None, Action::Module(_) | Action::Native(_) | Action::NotExecutable(_) | Action::Unusable(_)) => {
                Self::Nothing
            }
        }
    }

    fn of_request(request: &RunRequest) -> Self {
        Self::of(&request.hook.action, request.command.as_ref())
    }
}

impl Recipe {
    pub(super) fn of(world: &ProcessWorld, request: &RunRequest) -> Self {
        Self {
            what: What::of_request(request),
            exec: request.hook.exec,
            cwd: request.cwd.clone(),
            inherited: Arc::clone(inherited(world, request)),
            variables: variables(request).cloned().collect(),
            sandbox: request.sandbox.clone(),
        }
    }

    /// Whether the hook still asks for this.
    pub(super) fn is_of(&self, hook: &Hook) -> bool {
        self.what == What::of(&hook.action, None) && self.exec.lifetime == hook.exec.lifetime
    }

    /// Whether the request would be started in just this way. This is asked for every event, so it copies no text.
    pub(super) fn fits(&self, world: &ProcessWorld, request: &RunRequest) -> bool {
        let theirs = inherited(world, request);
        self.what == What::of_request(request)
            && self.exec == request.hook.exec
            && self.cwd == request.cwd
            && (Arc::ptr_eq(&self.inherited, theirs) || self.inherited == *theirs)
            && self.variables.iter().eq(variables(request))
            && self.sandbox.as_ref().map(Arc::as_ptr) == request.sandbox.as_ref().map(Arc::as_ptr)
    }
}

fn inherited<'r>(world: &'r ProcessWorld, request: &'r RunRequest) -> &'r Arc<Environment> {
    request.hook.environment.as_ref().unwrap_or(&world.environment)
}

fn variables(request: &RunRequest) -> impl Iterator<Item = &(String, String)> {
    request.event.variables().iter().chain(request.variables.iter())
}

/// The files that a command names, as they were when they were looked at.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) struct FileStamps(Vec<(PathBuf, Option<Stamp>)>);

/// What changes with every change of a file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Device, number and time of the last change of anything, where the system has them.
    node: (u64, u64, i64, i64),
}

impl FileStamps {
    /// Looks at the files of a hook's command.
    pub(super) fn named_by(hook: &Hook, world: &ProcessWorld, cwd: &Path) -> Self {
        let environment = hook.environment.as_ref().unwrap_or(&world.environment);
        let home = environment.get("HOME").map(Path::new);
        let files = trust::files_named_by(hook, cwd, home);
        Self(files.into_iter().map(|file| (file.clone(), stamp(&file))).collect())
    }

    /// Looks at the files that a grant covers.
    pub(in crate::run) fn covered_by(fingerprint: &trust::Fingerprint) -> Self {
        let files = fingerprint.files().iter().flat_map(|file| [&file.path, &file.real]);
        Self(files.map(|file| (file.clone(), stamp(file))).collect())
    }

    /// Whether they are still what they were.
    pub(in crate::run) fn is_unchanged(&self) -> bool {
        self.0.iter().all(|(file, known)| stamp(file) == *known)
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(file).ok()?;
    Some(Stamp { length: about.len(), modified: about.modified().ok(), node: node(&about) })
}

#[cfg(unix)]
fn node(about: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (about.dev(), about.ino(), about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
fn node(_about: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    (0, 0, 0, 0)
}
