//! What the last loaded configuration gives to modules: their environment variables, and the files that they must not
//! change because those decide which hooks run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hookrail_spawn::lock;

use super::Environment;
use super::runner::ModuleWorld;
use crate::trust::agent_folders;

/// The environment variables and the protected paths of modules. A load replaces both.
#[derive(Debug)]
pub(crate) struct ModuleEnvironment(Mutex<CurrentEnvironment>);

#[derive(Clone, Debug)]
struct CurrentEnvironment {
    environment: Arc<Environment>,
    protected: Arc<[PathBuf]>,
}

impl ModuleEnvironment {
    pub(crate) fn new(environment: &Arc<Environment>) -> Self {
        Self(Mutex::new(CurrentEnvironment { environment: Arc::clone(environment), protected: Arc::from([]) }))
    }

    pub(crate) fn replace(&self, environment: Arc<Environment>, protected: Arc<[PathBuf]>) {
        *lock(&self.0) = CurrentEnvironment { environment, protected };
    }

    /// The world of a module that works in this directory.
    pub(crate) fn world(&self, cwd: &Path, project: &Path) -> ModuleWorld {
        let CurrentEnvironment { environment, protected } = lock(&self.0).clone();
        ModuleWorld::new(cwd, environment).protecting(project, protected)
    }
}

/// The paths that modules must not change: these, their targets behind links, and the agents' folders in the project
/// and in the home directory. A folder that contains the project or the home directory is left out, because then
/// nothing could be changed.
pub(crate) fn protected_places(
    named: impl IntoIterator<Item = PathBuf>,
    project: &Path,
    home: Option<&Path>,
) -> Arc<[PathBuf]> {
    let roots: Vec<&Path> = [Some(project), home].into_iter().flatten().collect();
    let folders = roots.iter().flat_map(|root| agent_folders().map(|folder| root.join(folder)));
    let mut places: Vec<PathBuf> = named.into_iter().chain(folders).collect();
    places.extend(places.clone().iter().filter_map(|place| real_path(place)));
    let real: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let holds_all = |place: &PathBuf| {
        roots.iter().any(|root| root.starts_with(place)) || real.iter().any(|root| root.starts_with(place))
    };
    places.retain(|place| !holds_all(place));
    places.sort();
    places.dedup();
    places.into()
}

/// The resolved path of something whose last part need not exist.
fn real_path(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(real) => Some(real),
        Err(_) => Some(real_path(path.parent()?)?.join(path.file_name()?)),
    }
}
