//! The form of an attack in `conformance/attacks`, and what makes one malformed. `conformance/README.md` describes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::attacks::hosts::{Host, Verdict};

/// One attack on a guard, and the control in which the same operation is allowed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) cites: Vec<String>,
    #[serde(default)]
    pub(crate) skip_without: Vec<String>,
    /// Commands that have to succeed on the machine of the test.
    #[serde(default)]
    pub(crate) skip_unless: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) setup: Change,
    /// The call that the hosts are given; a host that is a whole command line needs none.
    #[serde(default)]
    pub(crate) call: Option<Call>,
    pub(crate) hosts: Vec<Host>,
    #[serde(default)]
    pub(crate) attack: Change,
    pub(crate) expect: Expectation,
    /// Without it the control is the operation before the attack.
    #[serde(default)]
    pub(crate) control: Option<Control>,
    #[serde(skip)]
    pub(crate) file: String,
}

/// A call of a tool, in the words of any host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) input: Value,
}

/// What is done to the disk and to the environment, in the order of the members.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Change {
    pub(crate) remove: Vec<String>,
    pub(crate) rename: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<String, Value>,
    pub(crate) programs: BTreeMap<String, String>,
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) modes: BTreeMap<String, String>,
    pub(crate) env: BTreeMap<String, Option<String>>,
    pub(crate) commands: Vec<Vec<String>>,
    /// Trusts everything that the project brings now.
    pub(crate) grant: bool,
    /// Words before the program of every host, such as `prlimit --nofile=5`.
    pub(crate) under: Vec<String>,
}

/// What must come of the operation in every host. Only members that are given are compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expectation {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) status: Option<i32>,
    /// The code of a diagnostic, where the host shows codes.
    pub(crate) code: Option<String>,
    /// A pattern for the outcome, where the host shows it.
    pub(crate) outcome: Option<Value>,
    pub(crate) says: Vec<String>,
    pub(crate) says_not: Vec<String>,
    pub(crate) absent: Vec<String>,
    pub(crate) present: Vec<String>,
}

/// What differs in the control. A member that is not given is that of the attack, except `attack`: nothing is attacked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Control {
    #[serde(default)]
    pub(crate) setup: Option<Change>,
    #[serde(default)]
    pub(crate) attack: Change,
    #[serde(default)]
    pub(crate) call: Option<Call>,
    #[serde(default)]
    pub(crate) hosts: Option<Vec<Host>>,
    #[serde(default)]
    pub(crate) expect: Option<Expectation>,
}

impl Entry {
    /// What is wrong with it; an entry that could hold by accident is malformed.
    fn problem(&self) -> Option<String> {
        let mut hosts = self.hosts.iter().chain(self.control.iter().flat_map(|control| control.hosts.iter().flatten()));
        let expects_nothing = |expected: &Expectation| {
            expected.verdict.is_none()
                && expected.status.is_none()
                && expected.absent.is_empty()
                && expected.says.is_empty()
                && expected.outcome.is_none()
        };
        if self.cites.is_empty() {
            Some("it cites nothing".to_owned())
        } else if let Some(page) = self.cites.iter().find(|citation| !is_citation(citation)) {
            Some(format!("`{page}` is neither a rule such as `engine:E6.4` nor a page of the repository"))
        } else if self.hosts.is_empty() {
            Some("it names no host".to_owned())
        } else if expects_nothing(&self.expect) {
            Some("it expects nothing".to_owned())
        } else if self.attack == Change::default() && self.control.is_none() {
            Some("it has neither an attack nor a control that differs".to_owned())
        } else if self.call.is_none() && hosts.any(Host::needs_call) {
            Some("a host needs a call".to_owned())
        } else {
            None
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a text has the form of a rule, which another test looks up, or is a page of the repository.
fn is_citation(text: &str) -> bool {
    let rule =
        text.split_once(':').is_some_and(|(page, _)| matches!(page, "engine" | "cli" | "llxprt" | "xcode" | "xcsh"));
    rule || text.ends_with(".md") && repository().join(text).is_file()
}

/// Every entry of every class, file by file.
pub(crate) fn entries() -> Vec<Entry> {
    let folder = repository().join("conformance/attacks");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for path in files {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let read: Vec<Entry> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        for mut entry in read {
            assert!(names.insert(entry.name.clone()), "{file}: two entries are called \"{}\"", entry.name);
            if let Some(problem) = entry.problem() {
                panic!("{file}: \"{}\": {problem}", entry.name);
            }
            entry.file.clone_from(&file);
            all.push(entry);
        }
    }
    all
}
