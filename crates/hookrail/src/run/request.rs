//! What a runner is asked to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::event::Event;
use crate::hook::Hook;

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
#[non_exhaustive]
pub struct RunRequest {
    /// Its number in the plan.
    pub id: RunId,
    /// What happened, with every rewrite so far.
    pub event: Arc<Event>,
    /// The hook.
    pub hook: Arc<Hook>,
    /// What it gets on standard input, or as its argument.
    pub input: Arc<[u8]>,
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
}
