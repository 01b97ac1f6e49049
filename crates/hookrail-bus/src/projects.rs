//! The projects a server has open: one hook system for each real directory, with that project's own trust.
//!
//! Their number is bounded. The one that was idle longest makes room; one that is in use never does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hookrail::{Builder, HookSystem};
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;

use crate::error::{BusError, ErrorCode};
use crate::watch::Watcher;

/// How the hook system of a project is described.
pub(crate) type Describe = Box<dyn Fn(&Path) -> Builder + Send + Sync>;

/// The open projects.
pub(crate) struct Projects {
    own: PathBuf,
    most: usize,
    describe: Arc<Describe>,
    state: Mutex<State>,
    watcher: Option<Watcher>,
    /// Files outside of a project's configuration that change what it means.
    also_watched: Vec<PathBuf>,
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
    system: Arc<OnceCell<HookSystem>>,
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

impl Projects {
    pub(crate) fn new(own: PathBuf, most: usize, describe: Describe, watching: Watching) -> Arc<Self> {
        Arc::new_cyclic(|this: &std::sync::Weak<Self>| {
            let also_watched = match watching {
                Watching::On { also } => Some(also),
                Watching::Off => None,
            };
            let watcher = also_watched.as_ref().and_then(|_| {
                let this = this.clone();
                Watcher::start(move |changed| {
                    if let Some(projects) = this.upgrade() {
                        projects.changed(changed);
                    }
                })
            });
            Self {
                own,
                most: most.max(1),
                describe: Arc::new(describe),
                state: Mutex::default(),
                watcher,
                also_watched: also_watched.unwrap_or_default(),
                reloads: watch::Sender::new(0),
            }
        })
    }

    /// The project of a request, opened where it is not.
    pub(crate) async fn lease(self: &Arc<Self>, named: Option<&Path>) -> Result<Lease, BusError> {
        let named = named.map_or_else(|| self.own.clone(), |named| self.own.join(named));
        let directory = real_directory(&named)?;
        let (cell, in_use) = self.entry(&directory);
        let system = cell
            .get_or_try_init(|| self.open(directory.clone()))
            .await
            .map_err(|error| BusError::new(ErrorCode::InternalError, format!("the project cannot be opened: {error}")))?
            .clone();
        Ok(Lease { system, directory, _in_use: in_use })
    }

    /// Reading configuration blocks, so it happens elsewhere.
    async fn open(self: &Arc<Self>, directory: PathBuf) -> Result<HookSystem, tokio::task::JoinError> {
        let (describe, this) = (Arc::clone(&self.describe), Arc::clone(self));
        let opening = move || {
            let system = describe(&directory).build();
            this.watch(&directory, &system);
            // What changed between the first look and the watch would otherwise be missed.
            system.refresh();
            system
        };
        tokio::task::spawn_blocking(opening).await
    }

    /// The place of a project, which is now in use. Others make room for it.
    fn entry(&self, directory: &Path) -> (Arc<OnceCell<HookSystem>>, Arc<()>) {
        let mut state = self.lock();
        state.clock += 1;
        let used = state.clock;
        let open = state.open.entry(directory.to_owned()).or_insert_with(|| Open {
            system: Arc::default(),
            used,
            in_use: Arc::default(),
        });
        open.used = used;
        let leased = (Arc::clone(&open.system), Arc::clone(&open.in_use));
        while state.open.len() > self.most {
            let idle = state.open.iter().filter(|(_, open)| Arc::strong_count(&open.in_use) == 1);
            let Some(oldest) = idle.min_by_key(|(_, open)| open.used).map(|(directory, _)| directory.clone()) else {
                break;
            };
            if let Some(system) = state.open.remove(&oldest).and_then(|open| open.system.get().cloned()) {
                if let Some(watcher) = &self.watcher {
                    watcher.forget(&oldest);
                }
                while state.leaving.try_join_next().is_some() {}
                state.leaving.spawn(close(system));
            }
        }
        leased
    }

    fn watch(&self, directory: &Path, system: &HookSystem) {
        if let Some(watcher) = &self.watcher {
            let mut files = system.snapshot().files().to_vec();
            files.extend(self.also_watched.iter().cloned());
            watcher.follow(directory, files);
        }
    }

    /// Reloads the projects for which a changed path matters. This runs on the watcher's own thread.
    fn changed(&self, directories: &[PathBuf]) {
        for directory in directories {
            let system = self.lock().open.get(directory).and_then(|open| open.system.get().cloned());
            let Some(system) = system else { continue };
            // The folders are followed before and after: what is deleted and made again is another folder, and what
            // is loaded now may come from other places than before.
            self.watch(directory, &system);
            system.refresh();
            self.watch(directory, &system);
            tracing::debug!(target: "hookrail::bus", directory = %directory.display(), "reloaded");
            self.reloads.send_modify(|count| *count += 1);
        }
    }

    /// Counts reloads, for whoever waits for one.
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
            if let Some(system) = open.system.get().cloned() {
                leaving.spawn(close(system));
            }
        }
        while leaving.join_next().await.is_some() {}
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the end of everything a hook system has started. Nobody is left to answer, so the log is told.
async fn close(system: HookSystem) {
    for finding in system.shutdown().await {
        tracing::warn!(target: "hookrail::bus", project = %system.project().display(), message = finding.message);
    }
}

/// Whether configuration is watched.
pub(crate) enum Watching {
    On { also: Vec<PathBuf> },
    Off,
}

/// Trust is bound to a project's one real name.
fn real_directory(named: &Path) -> Result<PathBuf, BusError> {
    let invalid = |why: String| BusError::new(ErrorCode::InvalidProject, why);
    let shown = named.display();
    let directory =
        named.canonicalize().map_err(|error| invalid(format!("the project `{shown}` cannot be opened: {error}")))?;
    if directory.is_dir() { Ok(directory) } else { Err(invalid(format!("the project `{shown}` is not a directory"))) }
}
