//! The system's file, of which only `[dialects]` and `[telemetry]` count: what an administrator switches on, no user switches
//! off.

use std::path::{Path, PathBuf};

use hookrail::sources::Location;
use hookrail::{Code, Diagnostic};
use hookrail_spawn::real_path;

use super::read::{ConfigFile, ConfigFileState, check_config, read_config_file};
use super::table::Setting;

/// The file at its place.
const SYSTEM_FILE: &str = "/etc/hookrail/config.toml";

/// The variable that names one more root directory, for images and tests. It adds to the machine's own.
const ROOT_VARIABLE: &str = "HOOKRAIL_FLEET_ROOT";

/// The sections that count.
const SECTIONS: [&str; 2] = ["dialects", "telemetry"];

/// What the system's file switches on.
#[derive(Debug)]
pub(super) struct SystemFile {
    pub file: PathBuf,
    pub enabled: Vec<String>,
    pub findings: Vec<Diagnostic>,
}

/// Returns the root that the environment names beside the machine's own.
pub fn named_root() -> Option<PathBuf> {
    std::env::var_os(ROOT_VARIABLE).map(PathBuf::from).filter(|root| root.is_absolute())
}

/// Returns the places of the system's file: its own, and the one below the root that the environment names.
pub fn system_files() -> Vec<PathBuf> {
    let below = named_root().map(|root| root.join(SYSTEM_FILE.trim_start_matches('/')));
    [PathBuf::from(SYSTEM_FILE)].into_iter().chain(below).collect()
}

/// Reads the system's files that exist. One that a project names as its own would be the project's word.
pub(super) fn load(project: &Path) -> Vec<SystemFile> {
    let real = |path: &Path| real_path(path).unwrap_or_else(|_| path.to_owned());
    let root = real(project);
    let files = system_files().into_iter().filter(|file| !file.starts_with(project) && !real(file).starts_with(&root));
    files.filter(|file| file.symlink_metadata().is_ok()).map(load_file).collect()
}

fn load_file(file: PathBuf) -> SystemFile {
    let mut read = match unsafe_file(&file) {
        // The engine reports it, and denies what can be denied.
        Some(_) => ConfigFile { state: ConfigFileState::Broken, ..ConfigFile::default() },
        None => read_config_file(&file),
    };
    let mut findings = std::mem::take(&mut read.findings);
    if read.state == ConfigFileState::Broken {
        findings.clear();
    }
    for other in read.values.iter().filter(|configured| !SECTIONS.contains(&configured.row.section)) {
        let message = format!("`{}` can only be set in the user configuration", other.row.key);
        let finding = Diagnostic::new(Code::ConfigUserOnly, message).at(other.location.clone());
        findings.push(finding.hint("the system's file has the sections `[dialects]` and `[telemetry]`"));
    }
    SystemFile { file, enabled: read.names(Setting::EnabledDialects), findings }
}

/// Returns the first finding if the file cannot be used.
pub(super) fn check(file: &Path, text: &str) -> Result<(), Diagnostic> {
    unsafe_file(file).map_or_else(|| check_config(file, text), Err)
}

/// Returns what is wrong with a file that is a link, or that other users can change.
pub(super) fn unsafe_file(file: &Path) -> Option<Diagnostic> {
    let about = file.symlink_metadata().ok()?;
    let is_safe = about.is_file() && hookrail_spawn::is_ours_alone(&about);
    let message = format!("`{}` is a link, or other users can change it", file.display());
    let finding = Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(file));
    (!is_safe).then(|| finding.hint("make it a regular file that belongs to root and that only root can write"))
}
