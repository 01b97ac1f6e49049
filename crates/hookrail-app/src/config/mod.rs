//! hookrail's own configuration: settings that belong to no dialect. The user's file sets them; a trusted project's file
//! can only reduce them, and only for the project's own hooks.
//!
//! This module does not know what a hook is or how it runs.

mod address;
mod describe;
mod journal;
mod modules;
mod read;
mod system;
mod table;
mod telemetry;

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::hook::SandboxProfile;
use hookrail::module::Capabilities;
use hookrail::process::{OutputLimits, RunLimits};
use hookrail::sources::{Location, user_folder_problems, user_folder_variables};
use hookrail::tools::ToolUse;
use hookrail::{Builder, Code, Diagnostic, DialectId, OnFailure, Protect};
use hookrail_bridge::tools;
use hookrail_spawn::UserFolders;

pub use address::metrics_address;
pub use describe::{reference, schema};
pub use journal::{JournalSettings, RecordWhen};
use modules::{ModuleLimits, TwoTierModuleRunner};
use read::{ConfigFile, ConfigFileState, ConfiguredSetting, SettingValue};
pub use system::{named_root, system_files};
pub use table::switchable_dialects;
use table::{Setting, SettingScope};
pub use telemetry::TelemetrySettings;
#[cfg(feature = "otel")]
pub use telemetry::system_telemetry;

/// The configuration that both files result in.
#[derive(Debug)]
pub struct HookrailConfiguration {
    /// The number of hook processes that run at once.
    processes: usize,
    /// The limits of all hooks that do not come from the project.
    user_hooks: HookLimits,
    /// The limits of the hooks that come from the project.
    project_hooks: HookLimits,
    pub bus: BusSettings,
    on_load_failure: OnFailure,
    shell: Option<PathBuf>,
    protect: Protect,
    disabled_rules: Vec<String>,
    enabled_dialects: Vec<EnabledDialect>,
    sandbox_floor: Option<SandboxProfile>,
    pub journal: JournalSettings,
    pub telemetry: TelemetrySettings,
    tools: Vec<(String, ToolUse)>,
    /// The user's file, if there is a place for one.
    user_file: Option<PathBuf>,
    /// The system's files that exist.
    system_files: Vec<PathBuf>,
    files: Vec<(PathBuf, Vec<Diagnostic>)>,
}

/// A dialect that is off unless a file switches it on, and the file that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnabledDialect {
    pub name: String,
    pub by: EnablingFile,
}

/// The file that switches a dialect on. What the system's file switches on, the user cannot switch off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnablingFile {
    User,
    System(PathBuf),
}

/// What one hook may use and do.
#[derive(Clone, Debug, Default)]
struct HookLimits {
    run: RunLimits,
    modules: ModuleLimits,
}

/// The settings of the bus, `None` where the file sets nothing. Options of the command line override them.
/// `config/table.rs` says what each means.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusSettings {
    pub requests: Option<usize>,
    pub in_flight: Option<usize>,
    pub projects: Option<usize>,
    pub connections: Option<usize>,
    /// The longest message in bytes.
    pub line: Option<usize>,
    /// The number of bytes that may wait to be read by one client.
    pub buffered: Option<usize>,
    /// The time for which a client may leave messages unread.
    pub patience: Option<Duration>,
    pub watch: Option<bool>,
    pub metrics: Option<SocketAddr>,
}

/// Whether the project is trusted, and its file is therefore read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectFileTrust {
    Trusted,
    Untrusted,
}

/// Returns the path of the user's file.
pub fn user_file() -> Option<PathBuf> {
    UserFolders::of_process().configuration.map(|folder| folder.join("hookrail/config.toml"))
}

/// Returns the path of the user's file, unless it lies in the project, which must not configure this program as its user does.
pub fn user_file_for(project: &Path) -> Option<PathBuf> {
    let environment = user_folder_variables().filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    let problems = user_folder_problems(&environment, project);
    let is_unusable = |folder: &Path| problems.iter().any(|problem| problem.value == folder);
    user_file().filter(|file| !file.ancestors().any(is_unusable))
}

/// Returns the path of a project's file.
fn project_file(project: &Path) -> PathBuf {
    project.join(".hookrail/config.toml")
}

/// Whether there is a project's file, or was one while this process runs. Without one it does not matter whether the project is
/// trusted.
pub fn has_project_file(project: &Path) -> bool {
    let file = project_file(project);
    let is_absent = |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    !file.symlink_metadata().is_err_and(|error| is_absent(&error)) || read::was_read(&file)
}

impl HookrailConfiguration {
    /// Reads both files.
    pub fn load(project: &Path, trust: ProjectFileTrust) -> Self {
        let mut files = Vec::new();
        let mut user = ConfigFile::default();
        let user_file = user_file_for(project);
        if let Some(file) = user_file.clone() {
            user = read::read_config_file(&file);
            files.push((file, std::mem::take(&mut user.findings)));
        }
        let user_hooks = HookLimits::default().overridden_by(&user);
        let system = system::load(project);
        let of_system = system.iter().flat_map(|system| {
            let by = EnablingFile::System(system.file.clone());
            system.enabled.iter().map(move |name| EnabledDialect { name: name.clone(), by: by.clone() })
        });
        let of_user = user.names(Setting::EnabledDialects).into_iter();
        let of_user = of_user.map(|name| EnabledDialect { name, by: EnablingFile::User });
        let enabled_dialects = of_system.chain(of_user).collect();
        let system_files = system.iter().map(|system| system.file.clone()).collect();
        files.extend(system.into_iter().map(|system| (system.file, system.findings)));
        let file = project_file(project);
        let mut project_config = read_project_file(&file, trust);
        let findings =
            project_config.values.iter().filter_map(|configured| check_against_user(configured, &user, &user_hooks));
        project_config.findings.extend(findings);
        project_config
            .findings
            .extend(project_config.tools.drain(..).map(|tool| only_the_user(&tool.name, tool.location)));
        project_config.values.retain(|configured| configured.row.scope == SettingScope::UserAndProject);
        // The lower value of both, so that a project's file can never allow more than the user's.
        let project_hooks = user_hooks.lower_of(&user_hooks.overridden_by(&project_config));
        files.push((file, project_config.findings));
        Self {
            processes: user.number(Setting::Processes).map_or(64, count),
            user_hooks,
            project_hooks,
            bus: BusSettings::new(&user),
            on_load_failure: on_load_failure(&user),
            shell: user.path(Setting::RunShell),
            protect: protection(&user),
            disabled_rules: user.names(Setting::DisabledRules),
            enabled_dialects,
            sandbox_floor: user.sandbox_floor(),
            journal: JournalSettings::new(&user),
            telemetry: TelemetrySettings::new(&user),
            tools: user.tools.into_iter().map(|tool| (tool.name, tool.tool_use)).collect(),
            user_file,
            system_files,
            files,
        }
    }

    /// Reads what the user's file says about the journal, for a command that belongs to no project.
    pub fn journal_of_user() -> JournalSettings {
        JournalSettings::new(&user_file().map(|file| read::read_config_file(&file)).unwrap_or_default())
    }

    /// Returns the problems of both files.
    pub fn findings(&self) -> Vec<Diagnostic> {
        self.files.iter().flat_map(|(_, findings)| findings.iter().cloned()).collect()
    }

    /// Returns the dialects that are switched on; one may be named by several files.
    pub fn enabled_dialects(&self) -> &[EnabledDialect] {
        &self.enabled_dialects
    }

    /// Lets the dialects take part that are switched on.
    pub fn enable_dialects(&self, builder: Builder) -> Builder {
        let dialects = self.enabled_dialects.iter().filter_map(|enabled| DialectId::from_name(&enabled.name));
        dialects.fold(builder, Builder::enable_dialect)
    }

    /// Applies the configuration to the builder of a hook system.
    pub fn apply(self, builder: Builder) -> Builder {
        let runner = TwoTierModuleRunner::new(self.user_hooks.modules, self.project_hooks.modules, self.processes);
        let mut builder = self
            .enable_dialects(builder)
            .runner(runner)
            .most_processes(self.processes)
            .capabilities(self.user_hooks.run.capabilities)
            .output_limits(self.user_hooks.run.output)
            .on_load_failure(self.on_load_failure)
            .protect(self.protect)
            .disabled_rules(self.disabled_rules)
            .narrow_project(self.project_hooks.run)
            .tool_table(
                self.tools.into_iter().fold(tools::table(), |table, (name, tool_use)| table.with_use(name, tool_use)),
            );
        if let Ok(program) = std::env::current_exe() {
            builder = builder.http_program(program);
        }
        if let Some(shell) = self.shell {
            builder = builder.shell(shell);
        }
        if let Some(folder) = self.journal.directory() {
            builder = builder.protects(folder);
        }
        if let Some(floor) = self.sandbox_floor {
            builder = builder.sandbox_floor(floor);
        }
        if let Some(file) = self.user_file {
            let checked = file.clone();
            builder = builder.described_by_source(file, move |text| read::check_config(&checked, text));
        }
        for file in self.system_files {
            let checked = file.clone();
            builder = builder.described_by_system_source(file, move |text| system::check(&checked, text));
        }
        self.files.into_iter().fold(builder, |builder, (file, findings)| builder.described_by(file, findings))
    }
}

/// Returns the policy for sources that cannot be used. While the user's file cannot be used its policy is not known, and an
/// interrupted save must not lower it.
fn on_load_failure(user: &ConfigFile) -> OnFailure {
    let if_unset = match user.state {
        ConfigFileState::Broken => OnFailure::Block,
        ConfigFileState::Missing | ConfigFileState::Read => OnFailure::default(),
    };
    user.policy(Setting::OnLoadFailure).unwrap_or(if_unset)
}

fn protection(user: &ConfigFile) -> Protect {
    let word = user.word_or_strictest(Setting::Protect);
    Protect::ALL.into_iter().find(|protect| Some(protect.name()) == word).unwrap_or_default()
}

/// Reads a project's file if the project is trusted. A file of an untrusted project is not even opened, nor is one that a link
/// leads out of the project to: what is wrong with a file is quoted, and it may hold the user's secrets.
fn read_project_file(file: &Path, trust: ProjectFileTrust) -> ConfigFile {
    if trust == ProjectFileTrust::Trusted {
        return if leads_outside(file) { read::refuse_linked_file(file) } else { read::read_config_file(file) };
    }
    let mut ignored = ConfigFile::default();
    if file.symlink_metadata().is_ok() {
        let message = "the project's configuration is ignored because the project is not trusted";
        ignored.findings.push(
            Diagnostic::new(Code::ConfigUntrusted, message)
                .at(Location::whole_file(file))
                .hint("review it, then run `hookrail trust grant`"),
        );
    }
    ignored
}

/// Whether the `.hookrail/config.toml` of a project is a file outside of the project.
fn leads_outside(file: &Path) -> bool {
    let project = file.parent().and_then(Path::parent).and_then(|project| project.canonicalize().ok());
    match (file.canonicalize(), project) {
        (Ok(real), Some(project)) => !real.starts_with(project),
        // What is missing or dangles has nothing to quote.
        _ => false,
    }
}

fn only_the_user(key: &str, location: Location) -> Diagnostic {
    let message = format!("`{key}` can only be set in the user configuration");
    let hint = "it affects more than this project; set it in the user's `hookrail/config.toml`";
    Diagnostic::new(Code::ConfigUserOnly, message).at(location).hint(hint)
}

/// Returns a diagnostic if a project's file sets what only the user's file can set, or more than the user allows.
fn check_against_user(
    configured: &ConfiguredSetting,
    user: &ConfigFile,
    user_hooks: &HookLimits,
) -> Option<Diagnostic> {
    let key = configured.row.key;
    if configured.row.scope != SettingScope::UserAndProject {
        return Some(only_the_user(key, configured.location.clone()));
    }
    let message = match &configured.value {
        SettingValue::Number(number) => {
            let number = *number;
            let allowed = user.number(configured.row.setting).or(configured.row.kind.default_number())?;
            (number > allowed)
                .then(|| format!("`{key}` is {number}, but the user's limit is {allowed}, which stays in force"))?
        }
        SettingValue::Capabilities(wanted) => {
            let allowed = &user_hooks.run.capabilities;
            (!wanted.is_within(allowed))
                .then(|| format!("`{key}` exceeds what the user allows: {}", modules::capability_list(allowed)))?
        }
        SettingValue::Flag(_)
        | SettingValue::Address(_)
        | SettingValue::Policy(_)
        | SettingValue::Sandbox(_)
        | SettingValue::Word(_)
        | SettingValue::Names(_)
        | SettingValue::Path(_)
        | SettingValue::Url(_) => return None,
    };
    Some(
        Diagnostic::new(Code::ConfigWider, message)
            .at(configured.location.clone())
            .hint("a project can only reduce what the user allows"),
    )
}

impl HookLimits {
    /// Returns these limits with the values of a file where it sets any.
    fn overridden_by(&self, file: &ConfigFile) -> Self {
        let OutputLimits { stdout, stderr, .. } = self.run.output;
        let size = |setting, current| file.number(setting).map_or(current, kibibytes);
        let output = OutputLimits { stdout: size(Setting::Stdout, stdout), stderr: size(Setting::Stderr, stderr) };
        // A broken file may have been meant to remove capabilities, so only the lowest ones remain.
        let capabilities_if_unset = match file.state {
            ConfigFileState::Broken => Capabilities::READ,
            ConfigFileState::Missing | ConfigFileState::Read => self.run.capabilities.clone(),
        };
        let run = RunLimits { output, capabilities: file.capabilities().unwrap_or(capabilities_if_unset) };
        Self { run, modules: self.modules.overridden_by(file) }
    }

    /// Returns the lower value of each limit.
    fn lower_of(&self, other: &Self) -> Self {
        Self { run: self.run.intersection(&other.run), modules: self.modules.lower_of(other.modules) }
    }
}

impl BusSettings {
    fn new(user: &ConfigFile) -> Self {
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

/// Converts a number to `usize`, or to the highest one if it does not fit.
fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Converts a number of KiB to bytes.
fn kibibytes(number: u64) -> usize {
    count(number).saturating_mul(1024)
}
