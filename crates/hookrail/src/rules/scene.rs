//! Where the paths of rules and of accesses are.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::AddedPrograms;

/// The folders that rules speak of.
#[derive(Clone)]
pub(crate) struct RuleScene {
    pub(crate) project: String,
    pub(crate) home: Option<String>,
    /// What else is known where the rules are.
    pub(crate) surroundings: Arc<dyn RuleSurroundings>,
    /// Whether links of the file system are followed.
    pub(crate) links: Links,
    /// What the user and the machine say about programs.
    #[cfg_attr(not(feature = "syntax"), expect(dead_code, reason = "without the feature no line is read"))]
    pub(crate) programs: AddedPrograms,
}

/// Whether links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    /// The paths of examples are on no machine.
    Ignored,
}

/// What is known where rules are, apart from the event.
pub(crate) trait RuleSurroundings: Send + Sync {
    /// Whether a path decides which hooks run, or lies in a folder that does.
    fn protects(&self, path: &Path) -> bool;
    /// Whether something below a path decides which hooks run.
    fn protects_below(&self, path: &Path) -> bool;
    /// What a session has done; none if that is not known.
    fn past(&self, session: &str) -> Option<Vec<PastAct>>;
    /// Remembers what a session has done.
    fn remember(&self, session: &str, acts: &[(PastKind, String)]);
    /// Whether a session has not used an exception yet that holds once.
    fn take_once(&self, session: &str, mark: &str, purpose: Purpose) -> bool;
    /// Whether a hook that runs once for a session has not run yet. One that cannot be remembered runs again.
    fn first_run(&self, session: &str, mark: &str, purpose: Purpose) -> bool;
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An event: what holds once for a session is used by it.
    Event,
    /// An explanation, which uses nothing.
    Explanation,
}

/// Something that a session has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastAct {
    pub(crate) kind: PastKind,
    /// A path, or a command with its arguments.
    pub(crate) what: String,
    /// Seconds since then.
    pub(crate) age: u64,
}

/// What kind of act it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PastKind {
    Read,
    Wrote,
    Ran,
}

impl fmt::Debug for RuleScene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleScene").field("project", &self.project).field("home", &self.home).finish_non_exhaustive()
    }
}

/// The project and the home of examples.
const EXAMPLE_PROJECT: &str = "/w/project";
const EXAMPLE_HOME: &str = "/home/u";

impl RuleScene {
    /// The scene of examples: its folders are the same on every machine.
    pub(crate) fn of_examples(programs: AddedPrograms) -> Self {
        Self {
            project: EXAMPLE_PROJECT.to_owned(),
            home: Some(EXAMPLE_HOME.to_owned()),
            surroundings: Arc::new(ExampleSurroundings::new(Path::new(EXAMPLE_PROJECT), Some(Path::new(EXAMPLE_HOME)))),
            links: Links::Ignored,
            programs,
        }
    }
}

/// The surroundings of examples: the folders in which agents keep hooks, and a session without a past.
#[derive(Debug)]
pub(crate) struct ExampleSurroundings {
    roots: Vec<PathBuf>,
}

/// The folders of a project and of a home that hold hooks.
const AGENTS: [&str; 11] = [
    ".claude",
    ".codex",
    ".gemini",
    ".hookrail",
    ".llxprt",
    ".x-code",
    ".xcsh",
    ".qwen",
    ".copilot",
    ".opencode",
    ".pi",
];

impl ExampleSurroundings {
    pub(crate) fn new(project: &Path, home: Option<&Path>) -> Self {
        Self { roots: [Some(project), home].into_iter().flatten().map(Path::to_owned).collect() }
    }
}

impl RuleSurroundings for ExampleSurroundings {
    fn protects(&self, path: &Path) -> bool {
        path.iter().any(|part| AGENTS.iter().any(|agent| part == *agent)) || path.starts_with("/etc/hookrail")
    }

    fn protects_below(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.starts_with(path))
    }

    fn past(&self, _session: &str) -> Option<Vec<PastAct>> {
        Some(Vec::new())
    }

    fn remember(&self, _session: &str, _acts: &[(PastKind, String)]) {}

    fn first_run(&self, _session: &str, _mark: &str, _purpose: Purpose) -> bool {
        true
    }

    fn take_once(&self, _session: &str, _mark: &str, _purpose: Purpose) -> bool {
        true
    }
}
