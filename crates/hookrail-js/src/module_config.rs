//! The configuration of a module's instances.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use tokio::sync::mpsc;

use crate::late::LateHandlers;
use crate::limits::RuntimeLimits;
use crate::loaded::Version;
use crate::message::WorkerMessage;
use crate::processes::{Processes, SharedProcesses};

/// The configuration of every instance of a module. It is outside the lock, so members that change are atomic.
pub(crate) struct ModuleConfig {
    pub(crate) module: PathBuf,
    pub(crate) limits: RuntimeLimits,
    pub(crate) inbox: mpsc::WeakUnboundedSender<WorkerMessage>,
    /// Set by a thread that does not have the turn, to interrupt the module.
    pub(crate) retired: Arc<AtomicBool>,
    pub(crate) processes: Processes,
    /// The files of the module, if it was inspected before.
    pub(crate) version: Option<Arc<Version>>,
    /// How many messages with work the module's thread has not received yet.
    pub(crate) queued: AtomicUsize,
    /// Handlers that were registered after the factory had ended.
    pub(crate) late: Arc<LateHandlers>,
}

impl ModuleConfig {
    pub(crate) fn new(
        module: &Path,
        limits: RuntimeLimits,
        shared: Option<SharedProcesses>,
        version: Option<Arc<Version>>,
        late: Arc<LateHandlers>,
        to: &mpsc::UnboundedSender<WorkerMessage>,
    ) -> Arc<Self> {
        Arc::new(Self {
            module: module.to_owned(),
            limits,
            inbox: to.downgrade(),
            retired: Arc::default(),
            processes: Processes::new(limits.processes, shared),
            version,
            queued: AtomicUsize::default(),
            late,
        })
    }
}
