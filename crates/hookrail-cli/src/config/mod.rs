//! hookrail's own configuration: what belongs to no dialect. The user's file sets it; a trusted project's file can take
//! away from that, for the hooks the project brings, and never adds.
//!
//! What a hook is, and how one is run, is not known here.

mod describe;
mod modules;
mod read;
mod table;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::hook::SandboxProfile;
use hookrail::module::Capabilities;
use hookrail::process::{OutputLimits, Terms};
use hookrail::sources::Location;
use hookrail::{Builder, Code, Diagnostic, OnFailure};

pub(crate) use describe::{reference, schema};
use modules::{Allowance, Runner};
use read::{Said, State, Stated, Value};
use table::{Setting, Who};

/// Everything both files come to.
#[derive(Debug)]
pub(crate) struct Configuration {
    processes: usize,
    everybody: HookTerms,
    project: HookTerms,
    pub(crate) bus: BusSettings,
    on_load_failure: OnFailure,
    sandbox_floor: Option<SandboxProfile>,
    files: Vec<(PathBuf, Vec<Diagnostic>)>,
}

/// What one hook may use and do.
#[derive(Clone, Debug, Default)]
struct HookTerms {
    terms: Terms,
    allowance: Allowance,
}

/// What is set for the bus. Options of the command line come first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusSettings {
    pub(crate) requests: Option<usize>,
    pub(crate) in_flight: Option<usize>,
    pub(crate) projects: Option<usize>,
    pub(crate) connections: Option<usize>,
    pub(crate) line: Option<usize>,
    pub(crate) buffered: Option<usize>,
    pub(crate) patience: Option<Duration>,
    pub(crate) watch: Option<bool>,
    pub(crate) metrics: Option<SocketAddr>,
}

/// Whether a project's file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectFile {
    Trusted,
    Untrusted,
}

/// Where the user's file is.
pub(crate) fn user_file() -> Option<PathBuf> {
    // A relative folder would mean another place in every directory, perhaps the project itself.
    let absolute = |folder: &PathBuf| folder.is_absolute();
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(absolute);
    let folder = named.or_else(|| Some(crate::project::home().filter(absolute)?.join(".config")));
    folder.map(|folder| folder.join("hookrail/config.toml"))
}

/// Where a project's file is.
fn project_file(project: &Path) -> PathBuf {
    project.join(".hookrail/config.toml")
}

impl Configuration {
    /// Reads both files.
    pub(crate) fn load(project: &Path, project_file_counts: ProjectFile) -> Self {
        let mut files = Vec::new();
        let mut user = Said::default();
        if let Some(file) = user_file() {
            user = read::read(&file);
            files.push((file, std::mem::take(&mut user.findings)));
        }
        let everybody = HookTerms::default().with(&user);
        let file = project_file(project);
        let mut narrowed = read_project(&file, project_file_counts);
        narrowed.findings.extend(narrowed.values.iter().filter_map(|stated| too_much(stated, &user, &everybody)));
        narrowed.values.retain(|stated| stated.row.who == Who::Both);
        let project = everybody.and(&everybody.with(&narrowed));
        files.push((file, narrowed.findings));
        Self {
            processes: user.number(Setting::Processes).map_or(64, count),
            everybody,
            project,
            bus: BusSettings::new(&user),
            on_load_failure: user.policy(Setting::OnLoadFailure).unwrap_or_default(),
            sandbox_floor: user.sandbox_floor(),
            files,
        }
    }

    /// What is wrong with the files.
    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        self.files.iter().flat_map(|(_, findings)| findings.iter().cloned()).collect()
    }

    /// Puts it into the description of a hook system.
    pub(crate) fn apply(self, builder: Builder) -> Builder {
        let runner = Runner::new(self.everybody.allowance, self.project.allowance, self.processes);
        let mut builder = builder
            .runner(runner)
            .most_processes(self.processes)
            .capabilities(self.everybody.terms.capabilities)
            .output_limits(self.everybody.terms.output)
            .on_load_failure(self.on_load_failure)
            .narrow_project(self.project.terms);
        if let Some(floor) = self.sandbox_floor {
            builder = builder.sandbox_floor(floor);
        }
        if let Some(file) = user_file() {
            let checked = file.clone();
            builder = builder.described_by_source(file, move |text| read::check(&checked, text));
        }
        self.files.into_iter().fold(builder, |builder, (file, findings)| builder.described_by(file, findings))
    }
}

/// What a project's file says, when it counts. One that does not count is not even looked into.
fn read_project(file: &Path, counts: ProjectFile) -> Said {
    if counts == ProjectFile::Trusted {
        return read::read(file);
    }
    let mut said = Said::default();
    if file.symlink_metadata().is_ok() {
        let message = "the project's configuration is ignored because the project is not trusted";
        said.findings.push(
            Diagnostic::new(Code::ConfigUntrusted, message)
                .at(Location::whole_file(file))
                .hint("review it, then run `hookrail trust grant`"),
        );
    }
    said
}

/// What a project's file must not say, or must not say so high.
fn too_much(stated: &Stated, user: &Said, everybody: &HookTerms) -> Option<Diagnostic> {
    let key = stated.row.key;
    if stated.row.who == Who::User {
        let message = format!("`{key}` can only be set in the user configuration");
        let hint = "it affects more than this project; set it in the user's `hookrail/config.toml`";
        return Some(Diagnostic::new(Code::ConfigUserOnly, message).at(stated.place.clone()).hint(hint));
    }
    let message = match &stated.value {
        Value::Number(number) => {
            let number = *number;
            let allowed = user.number(stated.row.setting).or(stated.row.kind.default_number())?;
            (number > allowed)
                .then(|| format!("`{key}` is {number}, but the user's limit is {allowed}, which stays in force"))?
        }
        Value::Capabilities(wanted) => {
            let allowed = &everybody.terms.capabilities;
            (!wanted.is_within(allowed))
                .then(|| format!("`{key}` exceeds what the user allows: {}", modules::listed(allowed)))?
        }
        Value::Flag(_) | Value::Address(_) | Value::Policy(_) | Value::Sandbox(_) => return None,
    };
    Some(
        Diagnostic::new(Code::ConfigWider, message)
            .at(stated.place.clone())
            .hint("a project can only reduce what the user allows"),
    )
}

impl HookTerms {
    /// These terms with what a file says instead.
    fn with(&self, said: &Said) -> Self {
        let OutputLimits { stdout, stderr, .. } = self.terms.output;
        let size = |setting, now| said.number(setting).map_or(now, kibibytes);
        let output = OutputLimits::new(size(Setting::Stdout, stdout), size(Setting::Stderr, stderr));
        // What a file that cannot be read was to take away is unknown.
        let unsaid = if said.state == State::Broken { Capabilities::READ } else { self.terms.capabilities.clone() };
        let terms = Terms::new(output, said.capabilities().unwrap_or(unsaid));
        Self { terms, allowance: self.allowance.with(said) }
    }

    fn and(&self, other: &Self) -> Self {
        Self { terms: self.terms.and(&other.terms), allowance: self.allowance.and(other.allowance) }
    }
}

impl BusSettings {
    fn new(user: &Said) -> Self {
        let number = |setting| user.number(setting).map(count);
        let size = |setting| user.number(setting).map(kibibytes);
        Self {
            requests: number(Setting::Requests),
            in_flight: number(Setting::InFlight),
            projects: number(Setting::Projects),
            connections: number(Setting::Connections),
            line: size(Setting::Line),
            buffered: size(Setting::Buffered),
            patience: user.number(Setting::Patience).map(Duration::from_millis),
            watch: user.flag(Setting::Watch),
            metrics: user.address(Setting::Metrics),
        }
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn kibibytes(number: u64) -> usize {
    count(number).saturating_mul(1024)
}
