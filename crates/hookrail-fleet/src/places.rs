//! Where the configuration and the state of an enrolment are, and who may own and write them.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::config::FleetConfig;
use crate::digest::ArchiveDigest;
use crate::error::BundleError;
use crate::files::{create_shared_folder, exists, read_limited};

pub use crate::error::{PlaceProblem, Unsafe};

/// The largest configuration that is read.
const LARGEST_CONFIGURATION: u64 = 1024 * 1024;

/// The layer that a bundle is installed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleScope {
    /// The system layer: all users of the machine.
    System,
    /// The layer of one user.
    User,
}

impl BundleScope {
    /// Returns the name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
        }
    }
}

/// The configuration and the state of one enrolment.
#[derive(Clone, Debug)]
pub struct FleetPlaces {
    /// The layer.
    pub scope: BundleScope,
    /// The file with the configuration.
    pub configuration: PathBuf,
    /// The folder with everything that is installed.
    pub state: PathBuf,
    /// The owner that both must have.
    owner: RequiredOwner,
}

/// The owner that files and folders must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequiredOwner {
    /// Root, for the folders above them too.
    Root,
    /// Root or the user of this process.
    RootOrUser,
}

impl FleetPlaces {
    /// Returns the places of the system layer below a root directory, which is `/` except in tests and images.
    ///
    /// # Errors
    /// If the directory is relative.
    pub fn system(root: &Path) -> Result<Self, PlaceProblem> {
        if root.is_relative() {
            return Err(PlaceProblem { path: root.to_owned(), problem: Unsafe::Relative });
        }
        let owner = if root == Path::new("/") { RequiredOwner::Root } else { RequiredOwner::RootOrUser };
        Ok(Self {
            scope: BundleScope::System,
            configuration: root.join("etc/hookrail/fleet.toml"),
            state: root.join("var/lib/hookrail"),
            owner,
        })
    }

    /// Returns the places of a user, from the folders for configuration and for state.
    ///
    /// # Errors
    /// If one of them is relative.
    pub fn user(configuration: &Path, state: &Path) -> Result<Self, PlaceProblem> {
        if let Some(path) = [configuration, state].into_iter().find(|path| path.is_relative()) {
            return Err(PlaceProblem { path: path.to_owned(), problem: Unsafe::Relative });
        }
        Ok(Self {
            scope: BundleScope::User,
            configuration: configuration.join("hookrail/fleet.toml"),
            state: state.join("hookrail/fleet"),
            owner: RequiredOwner::RootOrUser,
        })
    }

    /// Returns the file that names the bundle in force. The engine reads it.
    #[must_use]
    pub fn pointer(&self) -> PathBuf {
        self.state.join("current.json")
    }

    /// Returns the file with the time of the last successful check. The engine reads it.
    #[must_use]
    pub fn checked(&self) -> PathBuf {
        self.state.join("checked")
    }

    /// Returns the folder of all unpacked bundles.
    #[must_use]
    pub fn bundles(&self) -> PathBuf {
        self.state.join("bundles")
    }

    /// Returns the folder of one unpacked bundle.
    #[must_use]
    pub fn bundle(&self, digest: &ArchiveDigest) -> PathBuf {
        self.bundles().join(digest.to_string())
    }

    /// Returns the folder for what is not complete yet.
    pub(crate) fn staging(&self) -> PathBuf {
        self.state.join("staging")
    }

    /// Reads the configuration, if its owner alone can write it.
    ///
    /// # Errors
    /// If it is missing, unsafe or not valid.
    pub fn read_configuration(&self) -> Result<FleetConfig, BundleError> {
        let file = &self.configuration;
        if let Some(folder) = file.parent() {
            self.require_safe(folder, Kind::Folder)?;
        }
        self.require_safe(file, Kind::File)?;
        let text = read_limited(file, LARGEST_CONFIGURATION).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
        });
        FleetConfig::parse(file, &text.map_err(BundleError::at(file))?)
    }

    /// Checks the folder of the state and what is directly in it, as far as it exists.
    ///
    /// # Errors
    /// If others can change one of them.
    pub fn require_safe_state(&self) -> Result<(), PlaceProblem> {
        let folders = [self.state.clone(), self.bundles(), self.staging()];
        for folder in folders.iter().filter(|folder| exists(folder)) {
            self.require_safe(folder, Kind::Folder)?;
        }
        for file in [self.pointer(), self.checked()].iter().filter(|file| exists(file)) {
            self.require_safe(file, Kind::File)?;
        }
        Ok(())
    }

    /// Creates the folders of the state. Everyone can read those of the system layer, because every user's agent does.
    pub(crate) fn create_state(&self) -> Result<(), BundleError> {
        self.require_safe_state()?;
        if self.scope == BundleScope::User {
            hookrail_spawn::create_private_folder(&self.state).map_err(BundleError::at(&self.state))?;
        }
        for folder in [self.state.clone(), self.bundles(), self.staging()] {
            create_shared_folder(&folder).map_err(BundleError::at(&folder))?;
        }
        Ok(self.require_safe_state()?)
    }

    /// Checks a file beside the configuration, and its folder.
    pub(crate) fn require_safe_file(&self, file: &Path) -> Result<(), PlaceProblem> {
        if let Some(folder) = file.parent() {
            self.require_safe(folder, Kind::Folder)?;
        }
        self.require_safe(file, Kind::File)
    }

    fn require_safe(&self, path: &Path, kind: Kind) -> Result<(), PlaceProblem> {
        let problem = |path: &Path, problem| PlaceProblem { path: path.to_owned(), problem };
        let about = path.symlink_metadata().map_err(|error| problem(path, error.into()))?;
        if about.is_symlink() {
            return Err(problem(path, Unsafe::Link));
        }
        match kind {
            Kind::File if !about.is_file() => return Err(problem(path, Unsafe::Kind("regular file"))),
            Kind::Folder if !about.is_dir() => return Err(problem(path, Unsafe::Kind("folder"))),
            Kind::File | Kind::Folder => {}
        }
        self.judge(&about).map_err(|wrong| problem(path, wrong))?;
        if self.owner == RequiredOwner::Root {
            for folder in path.ancestors().skip(1) {
                let about = fs::metadata(folder).map_err(|error| problem(folder, error.into()))?;
                self.judge(&about).map_err(|wrong| problem(folder, wrong))?;
            }
        }
        Ok(())
    }

    #[cfg(unix)]
    fn judge(&self, about: &Metadata) -> Result<(), Unsafe> {
        use std::os::unix::fs::MetadataExt as _;
        if about.mode() & 0o022 != 0 {
            return Err(Unsafe::Mode);
        }
        let is_owner = match self.owner {
            RequiredOwner::Root => about.uid() == 0,
            RequiredOwner::RootOrUser => hookrail_spawn::is_ours_alone(about),
        };
        if is_owner { Ok(()) } else { Err(Unsafe::Owner) }
    }

    #[cfg(not(unix))]
    fn judge(&self, _about: &Metadata) -> Result<(), Unsafe> {
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Kind {
    File,
    Folder,
}
