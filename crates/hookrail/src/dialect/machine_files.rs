//! Where a dialect finds the files of the machine: at their own place, and below one more root that the environment names.

use std::path::{Path, PathBuf};

use super::{Sources, path_in};
use crate::config::lies_in;
use crate::run::Environment;

/// The variable that names one more root directory, for images and tests. It adds to the machine's own and cannot replace it, and of
/// what is there only the hooks count, so that it disarms nothing.
pub(crate) const ROOT_VARIABLE: &str = "HOOKRAIL_FLEET_ROOT";

/// What the settings beside hooks act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingsReach {
    /// Their layer, and those with less authority.
    Layers,
    /// Their own hooks. The environment names their root, and a variable must not switch off what others rely on.
    OwnHooks,
}

/// A file or folder of the machine.
#[derive(Clone, Debug)]
pub(crate) struct MachineFile {
    pub(crate) path: PathBuf,
    pub(crate) reach: SettingsReach,
}

/// A file or folder of the machine at this absolute path, and the one that stands for it below the named root. What lies in the project
/// is the project's word.
pub(crate) fn machine_files(path: &str, sources: &Sources) -> impl Iterator<Item = MachineFile> {
    let named = below_named_root(path, &sources.environment).filter(|named| !lies_in(named, &sources.project));
    let own = MachineFile { path: Path::new(path).to_owned(), reach: SettingsReach::Layers };
    std::iter::once(own).chain(named.map(|path| MachineFile { path, reach: SettingsReach::OwnHooks }))
}

/// What stands for a place of the machine below the named root.
pub(super) fn below_named_root(path: &str, environment: &Environment) -> Option<PathBuf> {
    let root = path_in(environment, ROOT_VARIABLE).filter(|root| root.is_absolute());
    root.map(|root| root.join(path.trim_start_matches('/')))
}
