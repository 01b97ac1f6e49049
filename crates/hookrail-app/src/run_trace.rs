//! What runs of hooks received and returned, collected while an event is fired. An outcome does not keep it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hookrail::host::{Notification, Notifications};
use hookrail::process::{RawEnd, RunInput};
use hookrail::{Hook, HookRun, HookSystem, Json};

/// The runs of one fired event.
#[derive(Debug, Default)]
pub struct RunTrace {
    runs: Vec<TracedRun>,
    /// The hook of which everything is shown; none for all hooks.
    only: Option<String>,
}

/// What is known of one run beside its end.
#[derive(Debug)]
pub struct TracedRun {
    number: usize,
    hook: Arc<Hook>,
    /// What the hook received.
    pub input: RunInput,
    /// The time from firing the event to the start of the run.
    pub started: Duration,
    /// What the handlers of a module returned; none for other hooks, and if they returned nothing.
    pub returned: Option<Json>,
}

impl RunTrace {
    /// Shows everything about the runs of this hook only.
    pub fn show_only(&mut self, hook: &str) {
        self.only = Some(hook.to_owned());
    }

    /// Returns whether everything about a run is shown.
    pub fn shows(&self, run: &HookRun) -> bool {
        self.only.as_ref().is_none_or(|only| **only == *run.hook.label)
    }

    /// Returns what is known of a run.
    pub fn of(&self, run: &HookRun) -> Option<&TracedRun> {
        self.runs.iter().find(|traced| traced.is(run.number, &run.hook))
    }
}

impl TracedRun {
    /// Hooks that are not enforced have numbers of their own, so the number alone does not tell runs apart.
    fn is(&self, number: usize, hook: &Arc<Hook>) -> bool {
        self.number == number && (Arc::ptr_eq(&self.hook, hook) || self.hook.label == hook.label)
    }
}

/// Collects the runs of one event.
pub struct TraceCollector {
    notifications: Notifications,
    began: Instant,
    trace: RunTrace,
}

impl TraceCollector {
    /// Begins before the event is fired.
    pub fn begin(system: &HookSystem) -> Self {
        Self { notifications: system.subscribe(), began: Instant::now(), trace: RunTrace::default() }
    }

    /// Takes what has happened, so that an event with very many hooks loses nothing.
    pub fn collect(&mut self) {
        while let Some(happened) = self.notifications.try_next() {
            match happened {
                Notification::Started { run, hook, input, at, .. } => self.trace.runs.push(TracedRun {
                    number: run.index(),
                    hook,
                    input,
                    started: at.saturating_duration_since(self.began),
                    returned: None,
                }),
                Notification::Ended { run, hook, how: RawEnd::Returned(Some(value)), .. } => {
                    let mut runs = self.trace.runs.iter_mut();
                    if let Some(traced) = runs.find(|traced| traced.is(run.index(), &hook)) {
                        traced.returned = Some(value);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the runs, after the event.
    pub fn finish(mut self) -> RunTrace {
        self.collect();
        self.trace
    }
}
