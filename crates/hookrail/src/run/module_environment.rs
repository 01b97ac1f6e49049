//! What the last loaded configuration gives to modules: their environment variables, and the files that they must not
//! change because those decide which hooks run.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hookrail_spawn::lock_mutex;

use super::Environment;
use super::runner::ModuleContext;
use crate::trust::places::ProtectedPlaces;

/// The environment variables and the protected places of modules. A load replaces both.
#[derive(Debug)]
pub(crate) struct ModuleEnvironment(Mutex<CurrentEnvironment>);

#[derive(Clone, Debug)]
struct CurrentEnvironment {
    environment: Arc<Environment>,
    protected: Arc<ProtectedPlaces>,
}

impl ModuleEnvironment {
    pub(crate) fn new(environment: &Arc<Environment>) -> Self {
        Self(Mutex::new(CurrentEnvironment { environment: Arc::clone(environment), protected: Arc::default() }))
    }

    pub(crate) fn replace(&self, environment: Arc<Environment>, protected: Arc<ProtectedPlaces>) {
        *lock_mutex(&self.0) = CurrentEnvironment { environment, protected };
    }

    /// The world of a module that works in this directory.
    pub(crate) fn world(&self, cwd: &Path, project: &Path) -> ModuleContext {
        let CurrentEnvironment { environment, protected } = lock_mutex(&self.0).clone();
        ModuleContext::new(cwd, environment).protecting(project, protected)
    }
}
