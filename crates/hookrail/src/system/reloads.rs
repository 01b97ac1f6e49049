//! When the configuration is loaded: at the beginning, when it is asked for, and before an event that needs it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use hookrail_spawn::lock_mutex;

use super::{HookSystem, plans};
use crate::config::LoadMode;
use crate::config::diagnostic::Diagnostic;
use crate::dialect::Loader;
use crate::dialect::snapshot::Revision;
use crate::event::{EventKind, EventSet};

/// After a load that lacked resources, events load again at most this often.
const RETRY_AFTER: Duration = Duration::from_millis(25);

impl HookSystem {
    pub(super) fn load(&self, mode: LoadMode) -> Vec<Diagnostic> {
        // The lock is held until the new snapshot is in force, so that of two concurrent reloads the later one wins.
        let mut loader = lock_mutex(&self.inner.loader);
        self.load_with(&mut loader, mode)
    }

    fn load_with(&self, loader: &mut Loader, mode: LoadMode) -> Vec<Diagnostic> {
        let native = lock_mutex(&self.inner.native).clone();
        let mut snapshot = self.inner.settings.load(loader, native, mode);
        let before = self.snapshot();
        snapshot.revision = if before.is_same_configuration(&snapshot) {
            before.revision
        } else {
            Revision { number: before.revision.number + 1, loaded_at: SystemTime::now() }
        };
        let diagnostics = snapshot.diagnostics().to_vec();
        let load_again = snapshot.sources.try_again;
        // An event that no hook wants has to trigger the repeated load too.
        let wanted = if load_again { u64::MAX } else { snapshot.wanted().bits() };
        self.parts().pool.retain_hooks(snapshot.hooks());
        self.inner.in_force.store(Arc::new(plans::ActiveConfiguration::new(snapshot)));
        self.inner.wanted.store(wanted, Ordering::Relaxed);
        self.inner.noted.store(wanted | self.recorded_without_hooks().bits(), Ordering::Relaxed);
        if self.inner.late_handlers.load(Ordering::SeqCst) {
            self.inner.want_every_event();
        }
        self.inner.load_again.store(load_again, Ordering::Relaxed);
        diagnostics
    }

    /// Loads before an event what has to be loaded before it.
    pub(super) fn load_before_event(&self) {
        self.load_late_handlers();
        self.load_what_was_missed();
        self.load_what_is_due();
    }

    /// The events that are recorded although no hook takes part in them.
    fn recorded_without_hooks(&self) -> EventSet {
        let mut events = EventSet::EMPTY;
        if let Some(recording) = &self.parts().recording {
            EventKind::all().filter(|kind| recording.interest.covers(*kind)).for_each(|kind| events.insert(kind));
        }
        events
    }

    /// Repeats a load before an event when time alone has changed what it means: a bundle has expired.
    fn load_what_is_due(&self) {
        let is_due = || self.snapshot_is_due(SystemTime::now());
        if is_due() {
            let mut loader = lock_mutex(&self.inner.loader);
            // Another event may have done it while this one waited.
            if is_due() {
                self.load_with(&mut loader, LoadMode::Refresh);
            }
        }
    }

    fn snapshot_is_due(&self, now: SystemTime) -> bool {
        self.inner.in_force.load().snapshot.changes_at.is_some_and(|at| at <= now)
    }

    /// Loads again before an event when a module has registered a handler since the last load.
    fn load_late_handlers(&self) {
        if !self.inner.late_handlers.load(Ordering::SeqCst) {
            return;
        }
        let mut loader = lock_mutex(&self.inner.loader);
        if self.inner.late_handlers.swap(false, Ordering::SeqCst) {
            self.load_with(&mut loader, LoadMode::Refresh);
        }
    }

    /// Repeats a load that lacked resources before an event, but not more often than the interval.
    fn load_what_was_missed(&self) {
        if !self.inner.load_again.load(Ordering::Relaxed) {
            return;
        }
        let mut loader = lock_mutex(&self.inner.loader);
        let is_due = loader.last_retry.is_none_or(|last| last.elapsed() >= RETRY_AFTER);
        if is_due && self.inner.load_again.load(Ordering::Relaxed) {
            self.load_with(&mut loader, LoadMode::Refresh);
            loader.last_retry = Some(Instant::now());
        }
    }

    /// Has the next event load again after a module registered a handler while it ran: the handler counts from then on.
    pub(super) fn hear_of_late_handlers(&self) {
        let Some(runner) = &self.parts().modules else { return };
        let inner = Arc::downgrade(&self.inner);
        runner.tell_of_late_handlers(Arc::new(move || {
            if let Some(inner) = inner.upgrade() {
                inner.late_handlers.store(true, Ordering::SeqCst);
                inner.want_every_event();
            }
        }));
    }
}
