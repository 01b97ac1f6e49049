//! Which modules had a guard when they were last loaded.
//!
//! What a module registers is known only after it was loaded. So the user's state remembers modules that registered a
//! guard, and one of them that cannot be loaded any more counts as a guard that failed. There is one file for each, named
//! by the digest of the module's path: nothing has to be parsed, and processes do not undo each other's work.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hookrail_spawn::real_path;

use super::TrustStore;
use crate::text::digest::Digest;
use crate::text::log::log;

/// The folder of those files.
#[derive(Clone, Debug)]
pub(crate) struct ModuleMemory {
    folder: PathBuf,
}

impl ModuleMemory {
    /// The folder beside the user's grants; none if the grants are not in a file outside the project.
    pub(crate) fn beside(store: &dyn TrustStore, project: &Path) -> Option<Self> {
        let file = store.files().into_iter().next()?;
        let state = file.parent()?;
        let real = |path: &Path| real_path(path).unwrap_or_else(|_| path.to_owned());
        let is_outside = !state.starts_with(project) && !real(state).starts_with(real(project));
        is_outside.then(|| Self { folder: state.join("guard-modules") })
    }

    fn file_of(&self, module: &Path) -> PathBuf {
        self.folder.join(Digest::of(module.as_os_str().as_encoded_bytes()).hex())
    }

    /// Whether a module had a guard when it was last loaded. If that cannot be found out, it may have had one.
    pub(crate) fn had_guard(&self, module: &Path) -> bool {
        let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        fs::symlink_metadata(self.file_of(module)).map_or_else(|error| !absent.contains(&error.kind()), |_| true)
    }

    /// Remembers that a module was loaded and has a guard.
    pub(crate) fn has_guard(&self, module: &Path) {
        let file = self.file_of(module);
        if fs::symlink_metadata(&file).is_ok() {
            return;
        }
        let written = hookrail_spawn::create_private_folder(&self.folder).and_then(|()| {
            let mut file =
                hookrail_spawn::private_file_options().create(true).truncate(true).write(true).open(&file)?;
            file.write_all(module.as_os_str().as_encoded_bytes())
        });
        if let Err(error) = written {
            log!(debug, target: "hookrail::registry", %error, "a module with a guard is not remembered");
        }
    }

    /// Remembers that a module was loaded and has no guard.
    pub(crate) fn has_no_guard(&self, module: &Path) {
        // There was none before either, mostly.
        let _ = fs::remove_file(self.file_of(module));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::FileTrustStore;

    #[test]
    fn a_module_with_a_guard_is_remembered_until_it_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = FileTrustStore::new(dir.path().join("state/trust.json"));
        let memory = ModuleMemory::beside(&store, &dir.path().join("project")).unwrap();
        let (one, other) = (Path::new("/a.ts"), Path::new("/b.ts"));
        memory.has_no_guard(one);
        assert!(!memory.had_guard(one));
        memory.has_guard(one);
        memory.has_guard(one);
        assert!(memory.had_guard(one) && !memory.had_guard(other));
        memory.has_no_guard(one);
        assert!(!memory.had_guard(one));
        assert!(ModuleMemory::beside(&store, dir.path()).is_none(), "a project does not keep the user's state");
    }
}
