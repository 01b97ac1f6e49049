//! The open projects of a server: one hook system for each real directory, with that project's own trust, and one for each
//! caller that brings its own surroundings.
//!
//! Their number is limited. At the limit the project that was idle longest is closed. A project in use is never closed, and
//! neither is the server's own.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use hookrail::{Builder, HookSystem, lock_mutex};
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;

use crate::configuration::{ConfigurationStatus, Freshness, LoadResult, OpenProject, Trigger};
use crate::error::{BusError, ErrorCode};
use crate::load_counter::LoadCounter;
use crate::log;
use crate::payload::{CallerContext, CallerRefusal, Reloaded};
use crate::watch::{Signature, WatchMode, Watcher};

/// How often every path is checked if the operating system cannot report changes.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// The most readings in a row. A reading may show further paths with configuration, which are then read too.
const ROUNDS: usize = 3;

/// The function that returns the builder of a project's hook system.
pub(crate) type DescribeProject = Box<dyn Fn(&Path) -> Result<Builder, String> + Send + Sync>;

/// The function that returns the builder of the hook system that a caller would have by itself.
pub(crate) type DescribeCaller = Box<dyn Fn(&Path, &CallerContext) -> Result<Builder, CallerRefusal> + Send + Sync>;

/// The most hook systems that one project has open for callers. Every session of an agent is a caller with its own
/// environment, and nothing reports that a session has ended.
const CALLERS_OF_A_PROJECT: usize = 4;

/// What a hook system is open for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ProjectKey {
    directory: PathBuf,
    caller: Option<Arc<CallerContext>>,
}

/// The open projects.
pub(crate) struct Projects {
    this: Weak<Self>,
    own: PathBuf,
    most: usize,
    describe: Arc<(DescribeProject, DescribeCaller)>,
    state: Mutex<ProjectsState>,
    /// `None` if configuration is not watched.
    watcher: Option<Watcher>,
    /// Whether a task checks every path at intervals.
    is_polling: AtomicBool,
    /// The files with the user's grants. They are checked before every event.
    grants: Vec<PathBuf>,
    loads: LoadCounter,
    reloads: watch::Sender<u64>,
}

#[derive(Default)]
struct ProjectsState {
    open: HashMap<ProjectKey, ProjectEntry>,
    /// Hook systems of callers that were replaced while they were in use.
    replaced: Vec<ProjectEntry>,
    clock: u64,
    /// The hook systems that were closed and still end processes.
    leaving: JoinSet<()>,
}

struct ProjectEntry {
    project: Arc<OnceCell<Arc<OpenProject>>>,
    used: u64,
    /// Shared with every lease, so its count shows whether the project is in use.
    in_use: Arc<()>,
}

impl ProjectEntry {
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.in_use) == 1
    }
}

impl ProjectsState {
    fn close(&mut self, entry: &ProjectEntry) {
        while self.leaving.try_join_next().is_some() {}
        if let Some(project) = entry.project.get() {
            self.leaving.spawn(close(project.system.clone()));
        }
    }
}

/// A project that stays open as long as this is held.
pub(crate) struct Lease {
    pub(crate) system: HookSystem,
    pub(crate) directory: PathBuf,
    _in_use: Arc<()>,
}

/// Whether configuration is watched. Grants are checked in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watching {
    On,
    Off,
}

impl Projects {
    pub(crate) fn new(
        own: PathBuf,
        most: usize,
        describe: (DescribeProject, DescribeCaller),
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

    /// Returns the project of a request, and opens it if it is not open.
    pub(crate) async fn lease(
        self: &Arc<Self>,
        named: Option<&Path>,
        caller: Option<Box<CallerContext>>,
    ) -> Result<Lease, BusError> {
        let named = named.map_or_else(|| self.own.clone(), |named| self.own.join(named));
        let key = ProjectKey { directory: real_directory(&named)?, caller: caller.map(Arc::from) };
        let (cell, mut in_use) = self.entry(&key);
        let mut project = Arc::clone(cell.get_or_try_init(|| self.open(&key)).await?);
        match project.freshness {
            // A caller by itself would read what is there now, and would know of nothing else.
            Freshness::Compared if project.is_outdated() => {
                self.replace(&key, &project);
                let (cell, newly_in_use) = self.entry(&key);
                project = Arc::clone(cell.get_or_try_init(|| self.open(&key)).await?);
                in_use = newly_in_use;
            }
            Freshness::Compared => {}
            // A revoked grant must not be in force for the next event, even if the watcher has not reported the change.
            Freshness::Watched if project.has_other_grants() => {
                self.load_off_thread(&project, Trigger::Grants).await.map_err(cannot_be_opened)?;
            }
            Freshness::Watched => {}
        }
        Ok(Lease { system: project.system.clone(), directory: key.directory, _in_use: in_use })
    }

    /// Opens a project on a thread for blocking work, because reading configuration blocks.
    async fn open(self: &Arc<Self>, key: &ProjectKey) -> Result<Arc<OpenProject>, BusError> {
        let (describe, this, key) = (Arc::clone(&self.describe), Arc::clone(self), key.clone());
        let opening = move || {
            let ProjectKey { directory, caller } = key;
            let (describe, describe_caller) = &*describe;
            let (builder, freshness) = match caller {
                None => (describe(&directory).map_err(cannot_be_opened)?, Freshness::Watched),
                Some(caller) => (describe_caller(&directory, &caller).map_err(refuse_caller)?, Freshness::Compared),
            };
            let project = Arc::new(OpenProject::new(builder.build(), &directory, freshness));
            // Read again after watching has begun, so that no change in between is missed.
            this.read(&project, Trigger::Change);
            this.loads.opened(project.result());
            project.log_news();
            Ok::<_, BusError>(project)
        };
        let opened = hookrail_spawn::run_blocking(opening).await.map_err(cannot_be_opened)??;
        self.poll_if_needed();
        Ok(opened)
    }

    /// Takes a hook system out of use, unless another request has done so.
    fn replace(&self, key: &ProjectKey, outdated: &Arc<OpenProject>) {
        let mut state = self.lock();
        let is_it = |entry: &ProjectEntry| entry.project.get().is_some_and(|open| Arc::ptr_eq(open, outdated));
        if state.open.get(key).is_some_and(is_it)
            && let Some(entry) = state.open.remove(key)
        {
            state.replaced.push(entry);
        }
    }

    /// Returns the entry of a project, which is now in use. Idle projects over the limits are closed.
    fn entry(&self, key: &ProjectKey) -> (Arc<OnceCell<Arc<OpenProject>>>, Arc<()>) {
        let mut state = self.lock();
        state.clock += 1;
        let used = state.clock;
        let open = state.open.entry(key.clone()).or_insert_with(|| ProjectEntry {
            project: Arc::default(),
            used,
            in_use: Arc::default(),
        });
        open.used = used;
        let leased = (Arc::clone(&open.project), Arc::clone(&open.in_use));
        let of_this_project = |other: &ProjectKey| other.caller.is_some() && other.directory == key.directory;
        while state.open.keys().filter(|other| of_this_project(other)).count() > CALLERS_OF_A_PROJECT
            && self.close_oldest(&mut state, of_this_project)
        {}
        let not_own = |other: &ProjectKey| other.caller.is_some() || other.directory != self.own;
        while state.open.len() > self.most && self.close_oldest(&mut state, not_own) {}
        let (idle, busy) = std::mem::take(&mut state.replaced).into_iter().partition(ProjectEntry::is_idle);
        state.replaced = busy;
        for entry in idle {
            state.close(&entry);
        }
        leased
    }

    /// Closes the project that was idle longest, of those that fit. Returns whether there was one.
    fn close_oldest(&self, state: &mut ProjectsState, fits: impl Fn(&ProjectKey) -> bool) -> bool {
        let idle = state.open.iter().filter(|(key, entry)| entry.is_idle() && fits(key));
        let Some(oldest) = idle.min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone()) else { return false };
        if let Some(entry) = state.open.remove(&oldest) {
            if let (None, Some(watcher)) = (&oldest.caller, &self.watcher) {
                watcher.forget(&oldest.directory);
            }
            state.close(&entry);
        }
        true
    }

    /// Returns every path whose change affects which hooks run, or what they do.
    fn paths(&self, project: &OpenProject) -> Vec<PathBuf> {
        let mut paths = project.system.watched_paths();
        paths.extend(self.grants.iter().cloned());
        paths.sort();
        paths.dedup();
        paths
    }

    /// Reads the configuration of a project and watches its paths. They are watched before they are read, so that no change
    /// is missed. A reading may show further paths, so this repeats up to [`ROUNDS`] times.
    fn read(&self, project: &OpenProject, trigger: Trigger) {
        let mut trigger = trigger;
        for _ in 0..ROUNDS {
            let paths = self.paths(project);
            if let Some(watcher) = self.watcher_of(project) {
                watcher.follow(&project.directory, paths.clone());
            }
            project.load(trigger, Signature::read(&paths), Signature::read(&self.grants));
            if self.paths(project) == paths {
                return;
            }
            trigger = Trigger::Change;
        }
        // The paths still changed after the last round. Later changes are noticed from here on.
        if let Some(watcher) = self.watcher_of(project) {
            watcher.follow(&project.directory, self.paths(project));
        }
    }

    fn watcher_of(&self, project: &OpenProject) -> Option<&Watcher> {
        self.watcher.as_ref().filter(|_| project.freshness == Freshness::Watched)
    }

    /// Reads the configuration of a project again, and returns the result.
    fn load(&self, project: &OpenProject, trigger: Trigger) -> LoadResult {
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

    async fn load_off_thread(self: &Arc<Self>, project: &Arc<OpenProject>, trigger: Trigger) -> io::Result<LoadResult> {
        let _one_at_a_time = project.loading.lock().await;
        // Another caller may have read the grants while this one waited.
        if trigger == Trigger::Grants && !project.has_other_grants() {
            return Ok(project.result());
        }
        let (this, project) = (Arc::clone(self), Arc::clone(project));
        hookrail_spawn::run_blocking(move || this.load(&project, trigger)).await
    }

    /// Reloads the projects of changed paths. This runs on the watcher's own thread.
    fn changed(&self, directories: &[PathBuf]) {
        for directory in directories {
            if let Some(project) = self.opened(directory) {
                self.load(&project, Trigger::Change);
            }
        }
    }

    /// Reads the configuration of every open project again, and drops the last good versions of removed sources.
    pub(crate) async fn reload(self: &Arc<Self>) -> Reloaded {
        // The answer always has the server's own project, so it is opened if it is not open.
        let own = self.lease(None, None).await;
        let mut problems: Vec<String> = own.as_ref().err().map(|error| error.message.clone()).into_iter().collect();
        let (mut kept, mut projects) = (Vec::new(), 0);
        for project in self.all() {
            projects += 1;
            match self.load_off_thread(&project, Trigger::Request).await {
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

    /// Starts to check every path once a second, if the operating system cannot report changes.
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
                        let _ = projects.load_off_thread(&project, Trigger::Change).await;
                    }
                }
            }
        });
    }

    /// Returns how changes are noticed.
    pub(crate) fn mode(&self) -> WatchMode {
        self.watcher.as_ref().map_or(WatchMode::Off, Watcher::mode)
    }

    /// Returns the configuration of the server's own project, if it is open.
    pub(crate) fn configuration(&self) -> Option<ConfigurationStatus> {
        let directory = real_directory(&self.own).ok()?;
        self.opened(&directory).map(|project| project.status())
    }

    /// Returns the configuration of every open project.
    pub(crate) fn configurations(&self) -> Vec<(PathBuf, ConfigurationStatus)> {
        self.all().iter().map(|project| (project.directory.clone(), project.status())).collect()
    }

    fn opened(&self, directory: &Path) -> Option<Arc<OpenProject>> {
        let key = ProjectKey { directory: directory.to_owned(), caller: None };
        self.lock().open.get(&key).and_then(|open| open.project.get().cloned())
    }

    /// The open projects with the server's own surroundings. Those of callers are compared with their files before every
    /// event.
    fn all(&self) -> Vec<Arc<OpenProject>> {
        let state = self.lock();
        let mut all: Vec<Arc<OpenProject>> =
            state.open.values().filter_map(|open| open.project.get().cloned()).collect();
        all.retain(|project| project.freshness == Freshness::Watched);
        all.sort_by(|one, other| one.directory.cmp(&other.directory));
        all
    }

    /// Returns a counter of reloads, for callers that wait for one.
    pub(crate) fn reloads(&self) -> watch::Receiver<u64> {
        self.reloads.subscribe()
    }

    /// Returns the number of open projects.
    pub(crate) fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// Closes all projects, and waits until no process of any hook is left.
    pub(crate) async fn shutdown(&self) {
        let (open, mut leaving) = {
            let mut state = self.lock();
            let replaced = std::mem::take(&mut state.replaced);
            let open = std::mem::take(&mut state.open).into_values().chain(replaced);
            (open.collect::<Vec<_>>(), std::mem::take(&mut state.leaving))
        };
        for open in open {
            if let Some(project) = open.project.get() {
                leaving.spawn(close(project.system.clone()));
            }
        }
        while leaving.join_next().await.is_some() {}
    }

    fn lock(&self) -> MutexGuard<'_, ProjectsState> {
        lock_mutex(&self.state)
    }
}

/// Shuts a hook system down. No request is left that could report its findings, so they are logged.
async fn close(system: HookSystem) {
    for finding in system.shutdown().await {
        let project = system.project().display();
        log::shielded(|| tracing::warn!(target: "hookrail::bus", %project, message = finding.message));
    }
}

/// Returns the real path of a project, to which its trust is bound.
fn real_directory(named: &Path) -> Result<PathBuf, BusError> {
    let invalid = |why: String| BusError::new(ErrorCode::InvalidProject, why);
    let shown = named.display();
    let directory =
        named.canonicalize().map_err(|error| invalid(format!("cannot open the project `{shown}`: {error}")))?;
    if directory.is_dir() { Ok(directory) } else { Err(invalid(format!("the project `{shown}` is not a directory"))) }
}

fn refuse_caller(refusal: CallerRefusal) -> BusError {
    match refusal {
        CallerRefusal::Unsupported(why) => BusError::new(ErrorCode::UnsupportedCaller, why),
        CallerRefusal::Unusable(why) => cannot_be_opened(why),
    }
}

fn cannot_be_opened(why: impl std::fmt::Display) -> BusError {
    BusError::new(ErrorCode::InternalError, format!("cannot open the project: {why}"))
}
