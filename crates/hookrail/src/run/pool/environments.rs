//! The environments of hooks' processes, made once for all runs that have the same.
//!
//! Most events of a session differ in nothing that an environment depends on, so the last few are kept.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hookrail_spawn::{Sandbox, lock};

use crate::run::Environment;
use crate::run::command::ProcessWorld;
use crate::run::request::RunRequest;

/// How many are kept. Hooks of several plugins have as many environments.
const MOST_KEPT: usize = 8;

/// The variables in which programs look for a folder for temporary files.
const TEMPORARY_FOLDER: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// The environments of the last runs, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Environments(Mutex<Vec<KnownEnvironment>>);

/// An environment, and everything it was made of.
#[derive(Debug)]
struct KnownEnvironment {
    inherited: Arc<Environment>,
    from_event: Vec<(String, String)>,
    from_dialect: Arc<[(String, String)]>,
    cwd: PathBuf,
    temporary: Option<PathBuf>,
    environment: Arc<Environment>,
}

impl KnownEnvironment {
    fn fits(&self, inherited: &Arc<Environment>, request: &RunRequest) -> bool {
        Arc::ptr_eq(&self.inherited, inherited)
            && self.from_dialect == request.variables
            && self.from_event == request.event.variables()
            && self.cwd == request.cwd
            && self.temporary.as_deref() == request.sandbox.as_deref().map(Sandbox::temporary_folder)
    }
}

impl Environments {
    /// What a hook finds in its environment, but for what differs from run to run.
    pub(in crate::run) fn for_request(&self, world: &ProcessWorld, request: &RunRequest) -> Arc<Environment> {
        let inherited = request.hook.environment.as_ref().unwrap_or(&world.environment);
        let mut kept = lock(&self.0);
        if let Some(known) = kept.iter().rev().find(|known| known.fits(inherited, request)) {
            return Arc::clone(&known.environment);
        }
        let environment = Arc::new(environment(inherited, world.depth, request));
        if kept.len() >= MOST_KEPT {
            kept.remove(0);
        }
        kept.push(KnownEnvironment {
            inherited: Arc::clone(inherited),
            from_event: request.event.variables().to_vec(),
            from_dialect: Arc::clone(&request.variables),
            cwd: request.cwd.clone(),
            temporary: request.sandbox.as_ref().map(|sandbox| sandbox.temporary_folder().to_owned()),
            environment: Arc::clone(&environment),
        });
        environment
    }
}

fn environment(inherited: &Environment, depth: u32, request: &RunRequest) -> Environment {
    let mut environment = Environment::clone(inherited);
    // What the dialect sets comes last, so that an event cannot pass another project off as its own.
    for (name, value) in request.event.variables().iter().chain(request.variables.iter()) {
        environment = environment.with(name, value);
    }
    if let Some(sandbox) = &request.sandbox {
        for name in TEMPORARY_FOLDER {
            environment = environment.with(name, sandbox.temporary_folder());
        }
    }
    environment
        .with("HOOKRAIL_PROTOCOL", "1")
        .with("HOOKRAIL_DEPTH", (depth + 1).to_string())
        .with("PWD", request.cwd.as_os_str())
}
