//! Detached runs, which no event waits for: their order, their deadlines, and the reports about them.
//!
//! The runs of one plugin follow each other, event by event; those of one event run side by side. When the system is
//! shut down, the whole queue of a plugin shares the time of one run, or less where its event must not hold up the
//! host.

use std::collections::{BTreeMap, HashMap};
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;
use std::time::Duration;

use hookrail_spawn::{CancelToken, lock_mutex};
use tokio::task::JoinSet;

use super::notify::FireId;
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::dialect::snapshot::Snapshot;
use crate::hook::{Action, Hook, HookDelivery};
use crate::outcome::{EndKind, Health};
use crate::run::sentences::about_end;
use crate::run::{CutOffProcess, RunEnd, RunId};

/// The detached runs in progress.
#[derive(Debug, Default)]
pub(super) struct Background {
    tasks: Mutex<JoinSet<()>>,
    /// Set when the system is being shut down.
    closing: CancelToken,
    /// The last event of each plugin that has detached runs.
    queues: Mutex<HashMap<PathBuf, PluginQueue>>,
    /// Diagnostics about runs that failed or were cut off.
    report: Arc<DetachedReport>,
}

/// A run that no event waits for.
pub(super) struct DetachedRun {
    pub(super) fire: FireId,
    pub(super) hook: Arc<Hook>,
    /// How long it may take after the shutdown has started, together with the earlier runs of its plugin.
    pub(super) bound: Duration,
    /// Ends the run.
    pub(super) cancel: CancelToken,
}

/// The last event for which runs of a plugin were added.
#[derive(Debug)]
struct PluginQueue {
    fire: FireId,
    /// Set when the runs of the event before it have ended.
    before: Option<CancelToken>,
    /// Set when the runs of this event have ended.
    over: CancelToken,
    turn: Weak<PluginTurn>,
}

/// The detached runs of one event and plugin. Dropping the last reference lets the next event's runs start.
#[derive(Debug)]
struct PluginTurn(CancelToken);

impl Drop for PluginTurn {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Diagnostics about detached runs, until the host takes them. Bounded, because a host may never take them.
#[derive(Debug, Default)]
struct DetachedReport(Mutex<Vec<Diagnostic>>);

impl DetachedReport {
    const MOST: usize = 64;

    fn add(&self, finding: Diagnostic) {
        let mut findings = lock_mutex(&self.0);
        // A hook that fails after every turn reports the same each time, so a repetition is dropped.
        if findings.len() < Self::MOST && !findings.contains(&finding) {
            findings.push(finding);
        }
    }
}

/// How the wait of a run for the earlier runs of its plugin ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnEnd {
    Begins,
    TimeUp,
}

impl Background {
    /// Adds a run. It starts when the runs of its plugin for earlier events have ended.
    pub(super) fn add<R>(&self, detached: DetachedRun, run: R)
    where
        R: Future<Output = RunEnd> + Send + 'static,
    {
        let DetachedRun { fire, hook, bound, cancel } = detached;
        let (before, turn) = self.enter_queue(fire, &hook);
        let closing = self.closing.clone();
        let report = Arc::clone(&self.report);
        let mut tasks = lock_mutex(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let mut over = pin!(async {
                closing.cancelled().await;
                tokio::time::sleep(bound).await;
            });
            if let Some(before) = before {
                let mut before = pin!(before.cancelled());
                // The deadline is checked first: if it has passed for a whole queue, the end of one run must not start
                // the next.
                let turn_of_this = poll_fn(|context| match over.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(TurnEnd::TimeUp),
                    Poll::Pending => before.as_mut().poll(context).map(|()| TurnEnd::Begins),
                });
                if turn_of_this.await == TurnEnd::TimeUp {
                    report.add(cut_off(&hook, "still waiting for earlier hooks of its plugin", bound));
                    return;
                }
            }
            let mut run = pin!(run);
            let in_time = poll_fn(|context| match run.as_mut().poll(context) {
                Poll::Ready(end) => Poll::Ready(Some(end)),
                Poll::Pending => over.as_mut().poll(context).map(|()| None),
            });
            let end = match in_time.await {
                Some(end) => end,
                None => {
                    cancel.cancel();
                    report.add(cut_off(&hook, "still running", bound));
                    run.await
                }
            };
            failures(&hook, &end).into_iter().for_each(|finding| report.add(finding));
            drop(turn);
        });
    }

    /// Adds a run of a shadow hook, about which nothing is reported. When the system is shut down it is cancelled after
    /// that time.
    pub(super) fn add_shadow<R>(&self, bound: Duration, cancel: CancelToken, run: R)
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let closing = self.closing.clone();
        let mut tasks = lock_mutex(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let mut run = pin!(run);
            let mut over = pin!(async {
                closing.cancelled().await;
                tokio::time::sleep(bound).await;
            });
            let in_time = poll_fn(|context| match run.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(())),
                Poll::Pending => over.as_mut().poll(context).map(|()| None),
            });
            if in_time.await.is_none() {
                cancel.cancel();
                run.await;
            }
        });
    }

    /// The end of the plugin's runs for the previous event, and the group that the new run belongs to.
    fn enter_queue(&self, fire: FireId, hook: &Hook) -> (Option<CancelToken>, Arc<PluginTurn>) {
        let file = &*hook.origin.location.file;
        let plugin = hook.owner.as_ref().map_or(file, |owner| owner.dir.as_path());
        let mut queues = lock_mutex(&self.queues);
        queues.retain(|_, queue| !queue.over.is_cancelled());
        let last = queues.get(plugin);
        if let Some(queue) = last.filter(|queue| queue.fire == fire)
            && let Some(turn) = queue.turn.upgrade()
        {
            return (queue.before.clone(), turn);
        }
        let before = last.map(|queue| queue.over.clone());
        let over = CancelToken::new();
        let turn = Arc::new(PluginTurn(over.clone()));
        let queue = PluginQueue { fire, before: before.clone(), over, turn: Arc::downgrade(&turn) };
        queues.insert(plugin.to_owned(), queue);
        (before, turn)
    }

    /// Takes the findings about runs that failed since the last call.
    pub(super) fn take_report(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *lock_mutex(&self.report.0))
    }

    /// Waits until every run has ended within its bounds. Returns which ones failed or were cut off.
    pub(super) async fn close(&self) -> Vec<Diagnostic> {
        self.closing.cancel();
        super::drive::join_all(&self.tasks).await;
        self.take_report()
    }
}

/// Reports a run that was ended before its work was finished, as a warning.
fn cut_off(hook: &Hook, state: &str, bound: Duration) -> Diagnostic {
    let waited = bound.as_millis();
    let message = format!("hook `{hook}` was {state} {waited} ms after the shutdown began; it was ended");
    let finding = Diagnostic::new(Code::HookCancelled, message).at(hook.origin.location.clone());
    Diagnostic { level: Level::Warning, ..finding }
}

/// Reports a process of a module that had to be ended, with the name of its module as the runs of it have it.
pub(super) fn process_cut_off(snapshot: &Snapshot, process: &CutOffProcess) -> Diagnostic {
    let CutOffProcess { module, program, granted } = process;
    let is_of_module = |hook: &&Arc<Hook>| matches!(&hook.action, Action::Module(file) if **file == **module);
    let hook = snapshot.hooks().iter().find(is_of_module);
    let name = hook.map_or_else(|| module.display().to_string(), |hook| hook.to_string());
    let waited = granted.as_millis();
    let message = format!(
        "hook `{name}`: its process `{program}` was still running {waited} ms after the shutdown began; it was ended"
    );
    let finding = Diagnostic::new(Code::HookCancelled, message);
    let finding = hook.map_or(finding.clone(), |hook| finding.at(hook.origin.location.clone()));
    Diagnostic { level: Level::Warning, ..finding }
}

/// Reports a run that failed, because no outcome does.
pub(super) fn failures(hook: &Hook, end: &RunEnd) -> Vec<Diagnostic> {
    match end.failure() {
        // A cancellation is reported by the code that cancelled the run.
        None | Some(EndKind::Cancelled) => Vec::new(),
        // A status that the model hears about is an answer.
        Some(_) if hook.delivery == HookDelivery::HeardLater && hook.dialect.contract().late_words(end).is_some() => {
            Vec::new()
        }
        Some(kind) => about_end(hook, Health::Failed, kind, end),
    }
}

/// The detached runs of a session's start. The first prompt waits for them for a moment, because they prepare what it
/// needs.
#[derive(Debug, Default)]
pub(super) struct SessionStarts(Mutex<BTreeMap<(FireId, RunId), CancelToken>>);

impl SessionStarts {
    /// How long the first prompt waits for all of them together.
    pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(1500);

    /// Records that a run has started.
    pub(super) fn add(&self, fire: FireId, run: RunId) {
        lock_mutex(&self.0).entry((fire, run)).or_default();
    }

    /// Records that a run has ended.
    pub(super) fn ended(&self, fire: FireId, run: RunId) {
        if let Some(token) = lock_mutex(&self.0).remove(&(fire, run)) {
            token.cancel();
        }
    }

    /// Takes the runs in progress, as tokens that are cancelled when they end.
    pub(super) fn take_runs(&self) -> Vec<CancelToken> {
        std::mem::take(&mut *lock_mutex(&self.0)).into_values().collect()
    }
}
