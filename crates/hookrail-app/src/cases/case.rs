//! A case as it was written, checked and ready to run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::DialectId;
use hookrail::sources::Location;
use hookrail_bridge::Agent;
use serde_json::Value;

/// A file with cases.
#[derive(Debug)]
pub(super) struct CaseFile {
    pub(super) path: PathBuf,
    /// The project whose hooks it tests.
    pub(super) project: PathBuf,
    pub(super) cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub name: String,
    /// Where the case begins; none for a case that no file holds.
    pub(super) location: Option<Location>,
    pub(super) hook: Option<String>,
    pub(super) settings: Option<String>,
    pub(super) event: String,
    /// The event's fields, in any dialect's shape; none if only short cuts were written.
    pub(super) payload: Option<Value>,
    pub(super) tool: Option<String>,
    pub(super) tool_input: Option<Value>,
    pub(super) tool_response: Option<Value>,
    pub(super) prompt: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) dialect: Option<DialectId>,
    pub(super) agent: Option<Agent>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) inherit_env: Vec<String>,
    pub(super) files: BTreeMap<String, String>,
    pub(super) links: BTreeMap<String, String>,
    pub(super) programs: BTreeMap<String, String>,
    pub(super) copy: BTreeMap<String, String>,
    pub(super) needs: Vec<String>,
    pub(super) repeat: u64,
    pub(super) skip: Option<String>,
    pub(super) expect: Expectations,
}

impl Case {
    /// Whether the case brings nothing but data for hooks that are configured in the project: no file, variable or program
    /// of it could be executed.
    pub(super) fn is_data_only(&self) -> bool {
        let Self { settings, env, files, links, programs, copy, .. } = self;
        settings.is_none()
            && env.is_empty()
            && files.is_empty()
            && links.is_empty()
            && programs.is_empty()
            && copy.is_empty()
    }

    /// Returns the line of the file in which the case begins.
    pub fn line(&self) -> u32 {
        self.location.as_ref().map_or(1, |place| place.line)
    }
}

/// What must happen. Only what is written is compared, but for diagnostics.
#[derive(Clone, Debug, Default)]
pub(super) struct Expectations {
    /// The decision; the inner none stands for no decision.
    pub(super) decision: Option<Option<String>>,
    pub(super) reason: Option<String>,
    pub(super) reason_contains: Vec<String>,
    pub(super) silent: Option<bool>,
    pub(super) stop: Option<bool>,
    pub(super) stop_reason_contains: Vec<String>,
    pub(super) rewrite: Option<Rewrite>,
    pub(super) context: Option<String>,
    pub(super) context_contains: Vec<String>,
    pub(super) message_contains: Vec<String>,
    pub(super) outcome: BTreeMap<String, Value>,
    pub(super) runs: Option<u64>,
    pub(super) ends: Option<PerRun<String>>,
    pub(super) exit: Option<PerRun<u64>>,
    pub(super) stdout_contains: Vec<String>,
    pub(super) stderr_contains: Vec<String>,
    pub(super) max_ms: Option<u64>,
    pub(super) diagnostics: ExpectedDiagnostics,
    pub(super) commands: Vec<String>,
    pub(super) files_contain: BTreeMap<String, String>,
    pub(super) files_absent: Vec<String>,
    pub(super) file_count: BTreeMap<String, u64>,
    pub(super) snapshot: Option<String>,
}

/// What hooks may do to the tool's input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rewrite {
    None,
    To(Value),
}

/// An expectation about every hook that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PerRun<T> {
    /// The same for all.
    All(T),
    /// One for each, in the order of the plan.
    Each(Vec<T>),
}

/// Which warnings and errors the hooks may cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ExpectedDiagnostics {
    #[default]
    None,
    Any,
    Exactly(Vec<String>),
}

/// A case with the file it is in.
#[derive(Clone, Debug)]
pub struct LocatedCase {
    pub(super) file: Arc<Path>,
    pub(super) project: Arc<Path>,
    /// The file's path as it is shown.
    pub shown_file: Arc<str>,
    pub case: Arc<Case>,
}

impl LocatedCase {
    /// Returns the name of the case with its file.
    pub fn title(&self) -> String {
        format!("{}: {}", self.shown_file, self.case.name)
    }
}
