//! The projects a server has open: one hook system for each real directory, with that project's own trust.
//!
//! Their number is bounded. The one that was idle longest makes room; one that is in use never does, and neither does the
//! server's own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use hookrail::{Builder, HookSystem, lock};
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;

use crate::configuration::{ConfigurationStatus, LoadResult, Project, Trigger};
use crate::error::{BusError, ErrorCode};
use crate::log;
use crate::message::Reloaded;
use crate::metrics::LoadCounter;
use crate::watch::{Signature, WatchMode, Watcher};

/// How often every path is looked at if the operating system cannot report changes.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// How often configuration is read again because reading it showed further places that hold some.
const ROUNDS: usize = 3;

/// How the hook system of a project is described.
pub(crate) type Describe = Box<dyn Fn(&Path) -> Result<Builder, String> + Send + Sync>;

/// The open projects.
pub(crate) struct Projects {
    this: Weak<Self>,
    own: PathBuf,
    most: usize,
    describe: Arc<Describe>,
    state: Mutex<State>,
    /// None if configuration is not watched.
    watcher: Option<Watcher>,
    /// Whether a task looks at every path.
    is_polling: AtomicBool,
    /// The files that hold the user's grants. They are looked at before every event.
    grants: Vec<PathBuf>,
    loads: LoadCounter,
    reloads: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    open: HashMap<PathBuf, Open>,
    clock: u64,
    /// Hook systems that made room and still have something to end.
    leaving: JoinSet<()>,
}

struct Open {
    project: Arc<OnceCell<Arc<Project>>>,
    used: u64,
    /// Everybody who works with it holds this too.
    in_use: Arc<()>,
}

/// A project that stays open as long as this is held.
pub(crate) struct Lease {
    pub(crate) system: HookSystem,
    pub(crate) directory: PathBuf,
    _in_use: Arc<()>,
}

/// Whether configuration is watched. Grants are looked at in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watching {
    On,
    Off,
}

impl Projects {
    pub(crate) fn new(
        own: PathBuf,
        most: usize,
        describe: Describe,
        watching: Watching,
        grants: Vec<PathBuf>,
        loads: LoadCounter,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this: &Weak<Self>| {
            let watcher = (watching == Watching::On).then(|| {
                let this = this.clone();
                Watcher::start(move |changed| {
                    if let Some(projects) = this.upgrade() {
                        projects.changed(changed);
                    }
                })
            });
            Self {
                this: this.clone(),
                own,
                most: most.max(1),
                describe: Arc::new(describe),
                state: Mutex::default(),
                watcher,
                is_polling: AtomicBool::new(false),
                grants,
                loads,
                reloads: watch::Sender::new(0),
            }
        })
    }

    /// The project of a request, opened where it is not.
    pub(crate) async fn lease(self: &Arc<Self>, named: Option<&Path>) -> Result<Lease, BusError> {
        let named = named.map_or_else(|| self.own.clone(), |named| self.own.join(named));
        let directory = real_directory(&named)?;
        let (cell, in_use) = self.entry(&directory);
        let project = cell.get_or_try_init(|| self.open(directory.clone())).await?;
        // A grant that was revoked is not in force for the next event, however configuration is watched.
        if project.has_other_grants() {
            self.load_elsewhere(project, Trigger::Grants).await.map_err(cannot_be_opened)?;
        }
        Ok(Lease { system: project.system.clone(), directory, _in_use: in_use })
    }

    /// Reading configuration blocks, so it happens elsewhere.
    async fn open(self: &Arc<Self>, directory: PathBuf) -> Result<Arc<Project>, BusError> {
        let (describe, this) = (Arc::clone(&self.describe), Arc::clone(self));
        let opening = move || {
            let project = Arc::new(Project::new(describe(&directory)?.build(), &directory));
            // What changed between the first look and the watch would otherwise be missed.
            this.read(&project, Trigger::Change);
            this.loads.opened(project.result());
            project.log_news();
            Ok::<_, String>(project)
        };
        let opened = tokio::task::spawn_blocking(opening).await.map_err(cannot_be_opened)?.map_err(cannot_be_opened)?;
        self.poll_if_needed();
        Ok(opened)
    }

    /// The place of a project, which is now in use. Others make room for it.
    fn entry(&self, directory: &Path) -> (Arc<OnceCell<Arc<Project>>>, Arc<()>) {
        let mut state = self.lock();
        state.clock += 1;
        let used = state.clock;
        let open = state.open.entry(directory.to_owned()).or_insert_with(|| Open {
            project: Arc::default(),
            used,
            in_use: Arc::default(),
        });
        open.used = used;
        let leased = (Arc::clone(&open.project), Arc::clone(&open.in_use));
        while state.open.len() > self.most {
            let idle = state.open.iter().filter(|(_, open)| Arc::strong_count(&open.in_use) == 1);
            let other = idle.filter(|(directory, _)| **directory != self.own);
            let Some(oldest) = other.min_by_key(|(_, open)| open.used).map(|(directory, _)| directory.clone()) else {
                break;
            };
            if let Some(project) = state.open.remove(&oldest).and_then(|open| open.project.get().cloned()) {
                if let Some(watcher) = &self.watcher {
                    watcher.forget(&oldest);
                }
                while state.leaving.try_join_next().is_some() {}
                state.leaving.spawn(close(project.system.clone()));
            }
        }
        leased
    }

    /// Every path whose change changes which hooks run, or what they do.
    fn paths(&self, project: &Project) -> Vec<PathBuf> {
        let mut paths = project.system.watched_paths();
        paths.extend(self.grants.iter().cloned());
        paths.sort();
        paths.dedup();
        paths
    }

    /// Reads the configuration of a project and follows the places it came from. They are followed before they are read,
    /// so that no change is missed, and reading may show further ones.
    fn read(&self, project: &Project, trigger: Trigger) {
        let mut trigger = trigger;
        for _ in 0..ROUNDS {
            let paths = self.paths(project);
            if let Some(watcher) = &self.watcher {
                watcher.follow(&project.directory, paths.clone());
            }
            project.load(trigger, Signature::of(&paths), Signature::of(&self.grants));
            if self.paths(project) == paths {
                return;
            }
            trigger = Trigger::Change;
        }
        // The next change is noticed by what is followed now; what changed in between is not.
        if let Some(watcher) = &self.watcher {
            watcher.follow(&project.directory, self.paths(project));
        }
    }

    /// Reads the configuration of a project again and says what came of it.
    fn load(&self, project: &Project, trigger: Trigger) -> LoadResult {
        self.read(project, trigger);
        let (result, status) = (project.result(), project.status());
        self.loads.reloaded(trigger, result);
        let directory = project.directory.display();
        log::shielded(|| {
            tracing::info!(
                target: "hookrail::bus", project = %directory, trigger = trigger.name(), result = result.name(),
                revision = status.revision, "configuration was read again"
            );
        });
        project.log_news();
        self.reloads.send_modify(|count| *count += 1);
        result
    }

    async fn load_elsewhere(
        self: &Arc<Self>,
        project: &Arc<Project>,
        trigger: Trigger,
    ) -> Result<LoadResult, tokio::task::JoinError> {
        let _one_at_a_time = project.loading.lock().await;
        // The caller that came first may have done the work.
        if trigger == Trigger::Grants && !project.has_other_grants() {
            return Ok(project.result());
        }
        let (this, project) = (Arc::clone(self), Arc::clone(project));
        tokio::task::spawn_blocking(move || this.load(&project, trigger)).await
    }

    /// Reloads the projects for which a changed path matters. This runs on the watcher's own thread.
    fn changed(&self, directories: &[PathBuf]) {
        for directory in directories {
            if let Some(project) = self.opened(directory) {
                self.load(&project, Trigger::Change);
            }
        }
    }

    /// Reads the configuration of every open project again, and accepts what was removed.
    pub(crate) async fn reload(self: &Arc<Self>) -> Reloaded {
        // The server's own is always told about, so it is opened if it is not.
        let own = self.lease(None).await;
        let mut problems: Vec<String> = own.as_ref().err().map(|error| error.message.clone()).into_iter().collect();
        let (mut kept, mut projects) = (Vec::new(), 0);
        for project in self.all() {
            projects += 1;
            match self.load_elsewhere(&project, Trigger::Request).await {
                Ok(LoadResult::Loaded) => {}
                Ok(LoadResult::Errors | LoadResult::Kept | LoadResult::SystemUnusable) => {
                    problems.extend(project.problems());
                    kept.extend(project.status().kept);
                }
                Err(error) => problems.push(format!("{}: {error}", project.directory.display())),
            }
        }
        let revision = self.configuration().map(|status| status.revision);
        Reloaded { correlation_id: None, success: problems.is_empty(), projects, revision, kept, problems }
    }

    /// Looks at every path once a second from now on, if the operating system cannot report changes.
    fn poll_if_needed(&self) {
        if self.mode() != WatchMode::Polling || self.is_polling.swap(true, Ordering::Relaxed) {
            return;
        }
        let this = self.this.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(POLL_EVERY).await;
                let Some(projects) = this.upgrade() else { return };
                for project in projects.all() {
                    if project.is_outdated() {
                        let _ = projects.load_elsewhere(&project, Trigger::Change).await;
                    }
                }
            }
        });
    }

    /// How changes are noticed.
    pub(crate) fn mode(&self) -> WatchMode {
        self.watcher.as_ref().map_or(WatchMode::Off, Watcher::mode)
    }

    /// The configuration of the server's own project, when it is open.
    pub(crate) fn configuration(&self) -> Option<ConfigurationStatus> {
        let directory = real_directory(&self.own).ok()?;
        self.opened(&directory).map(|project| project.status())
    }

    /// The configuration of every open project.
    pub(crate) fn configurations(&self) -> Vec<(PathBuf, ConfigurationStatus)> {
        self.all().iter().map(|project| (project.directory.clone(), project.status())).collect()
    }

    fn opened(&self, directory: &Path) -> Option<Arc<Project>> {
        self.lock().open.get(directory).and_then(|open| open.project.get().cloned())
    }

    fn all(&self) -> Vec<Arc<Project>> {
        let state = self.lock();
        let mut all: Vec<Arc<Project>> = state.open.values().filter_map(|open| open.project.get().cloned()).collect();
        all.sort_by(|one, other| one.directory.cmp(&other.directory));
        all
    }

    /// Counts reloads, for callers that wait for one.
    pub(crate) fn reloads(&self) -> watch::Receiver<u64> {
        self.reloads.subscribe()
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// Closes everything, and waits until nothing of any hook is left that has to end.
    pub(crate) async fn shutdown(&self) {
        let (open, mut leaving) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.open), std::mem::take(&mut state.leaving))
        };
        for open in open.into_values() {
            if let Some(project) = open.project.get() {
                leaving.spawn(close(project.system.clone()));
            }
        }
        while leaving.join_next().await.is_some() {}
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Waits for the end of everything a hook system has started. No request is left to answer, so it is logged.
async fn close(system: HookSystem) {
    for finding in system.shutdown().await {
        let project = system.project().display();
        log::shielded(|| tracing::warn!(target: "hookrail::bus", %project, message = finding.message));
    }
}

/// Trust is bound to a project's one real name.
fn real_directory(named: &Path) -> Result<PathBuf, BusError> {
    let invalid = |why: String| BusError::new(ErrorCode::InvalidProject, why);
    let shown = named.display();
    let directory =
        named.canonicalize().map_err(|error| invalid(format!("the project `{shown}` cannot be opened: {error}")))?;
    if directory.is_dir() { Ok(directory) } else { Err(invalid(format!("the project `{shown}` is not a directory"))) }
}

fn cannot_be_opened(why: impl std::fmt::Display) -> BusError {
    BusError::new(ErrorCode::InternalError, format!("the project cannot be opened: {why}"))
}
