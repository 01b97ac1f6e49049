//! A request to a runner.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{Sandbox, real_path};

use super::answer_wait::AnswerWait;
use super::end::RelocationReason;
use super::input::RunInput;
use crate::event::Event;
use crate::hook::exec_options::CommandShell;
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
pub struct PlannedRun {
    /// Its number in the plan.
    pub id: RunId,
    /// What happened, with every rewrite so far.
    pub event: Arc<Event>,
    /// The hook.
    pub hook: Arc<Hook>,
    /// What it gets on standard input, or as its argument.
    pub input: RunInput,
    /// Its timeout.
    pub timeout: Duration,
    /// How long it may take to exit after SIGTERM.
    pub grace: Duration,
    /// The same if the host cancels it.
    pub cancel_grace: Duration,
    /// How long a shutdown waits for it if it is detached; `None` for the hook's own timeout.
    pub drain: Option<Duration>,
    /// The command line for the shell, if it differs from the hook's own text.
    pub command: Option<Arc<str>>,
    /// Folders that are created before it starts.
    pub folders: Vec<PathBuf>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Variables to add to its environment.
    pub variables: Arc<[(String, String)]>,
    /// How long its answer is awaited after its process has exited.
    pub(crate) answer_wait: &'static AnswerWait,
    /// The shell that its command line is given to.
    pub(crate) shell: CommandShell,
    /// The sandbox of its processes, which is known when it is about to run.
    pub(crate) sandbox: Option<Arc<Sandbox>>,
}

impl PlannedRun {
    /// Why the hook runs at the root of its project and not in the event's directory; none if it runs there. The words of a
    /// granted command name files of the project; in another directory they may name others, or none. A model that can
    /// change its directory must not be able to make a guard disappear by that.
    pub(crate) fn reason_to_run_at_root(&self, project: &Path) -> Option<RelocationReason> {
        if self.hook.authority() != Authority::Project || self.cwd == project {
            return None;
        }
        // A directory that cannot be resolved does not exist, which is handled elsewhere.
        let (cwd, real) = (real_path(&self.cwd).ok()?, real_path(project).ok()?);
        if !cwd.starts_with(real) {
            return Some(RelocationReason::OutsideProject);
        }
        let trust = &self.hook.trust;
        (!trust.still_holds(&cwd) && trust.still_holds(project)).then_some(RelocationReason::NamesOtherFiles)
    }
}
