//! What a runner is asked to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::Sandbox;

use super::input::RunInput;
use crate::event::Event;
use crate::hook::{Authority, Hook};

/// The number of a run inside one fired event, in plan order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub(crate) usize);

impl RunId {
    /// The position in plan order.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// One hook to run, with its input.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Its number in the plan.
    pub id: RunId,
    /// What happened, with every rewrite so far.
    pub event: Arc<Event>,
    /// The hook.
    pub hook: Arc<Hook>,
    /// What it gets on standard input, or as its argument.
    pub input: RunInput,
    /// The time it has.
    pub timeout: Duration,
    /// How long it may tidy up after it was told to end.
    pub grace: Duration,
    /// The same when the host does not want it any more.
    pub cancel_grace: Duration,
    /// How long a shutdown waits for it when it runs detached; none when it waits for the hook's own time.
    pub drain: Option<Duration>,
    /// The command line to give to the shell, where that is not the hook's own text.
    pub command: Option<Arc<str>>,
    /// Folders that must be there before it starts.
    pub folders: Vec<PathBuf>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Variables to add to its environment.
    pub variables: Arc<[(String, String)]>,
    /// The sandbox of its processes, which is known when it is about to run.
    pub(crate) sandbox: Option<Arc<Sandbox>>,
}

impl RunRequest {
    /// The project, if the hook belongs to it and the event's directory lies outside. The words of a granted command name
    /// files of the project, and in another directory they would name others.
    pub(crate) fn directory_in_project(&self, project: &Path) -> Option<PathBuf> {
        if self.hook.authority() != Authority::Project || self.cwd == project {
            return None;
        }
        // A directory that cannot be resolved does not exist, which is another case.
        let (cwd, real) = (self.cwd.canonicalize().ok()?, project.canonicalize().ok()?);
        (!cwd.starts_with(real)).then(|| project.to_owned())
    }
}
