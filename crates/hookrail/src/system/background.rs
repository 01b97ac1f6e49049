//! Runs that no event waits for: in which order they run, until when, and what is reported about them.
//!
//! The runs of one plugin follow each other, event by event; those of one event run side by side. When the system is shut
//! down, the whole queue of a plugin shares the time of one run, or less where its event must not hold up the host.

use std::collections::{BTreeMap, HashMap};
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;
use std::time::Duration;

use hookrail_spawn::{CancelToken, lock};
use tokio::task::JoinSet;

use super::notify::FireId;
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::firing::report_failure;
use crate::hook::Hook;
use crate::outcome::{EndKind, Health};
use crate::run::{RunEnd, RunId};

/// The runs that are out.
#[derive(Debug, Default)]
pub(super) struct Background {
    tasks: Mutex<JoinSet<()>>,
    /// Set when the system is being shut down.
    closing: CancelToken,
    /// The last event of each plugin that has runs out.
    queues: Mutex<HashMap<PathBuf, PluginQueue>>,
    /// What there is to say about runs that failed or were cut off.
    report: Arc<DetachedReport>,
}

/// A run that no event waits for.
pub(super) struct DetachedRun {
    pub(super) fire: FireId,
    pub(super) hook: Arc<Hook>,
    /// How long it may take after the shutdown has begun, with those of its plugin that are before it.
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

/// The turn of the runs of one event and plugin. It is over when the last of them is.
#[derive(Debug)]
struct PluginTurn(CancelToken);

impl Drop for PluginTurn {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Findings about detached runs, until they are taken. Bounded, because a host may never take them.
#[derive(Debug, Default)]
struct DetachedReport(Mutex<Vec<Diagnostic>>);

impl DetachedReport {
    const MOST: usize = 64;

    fn add(&self, finding: Diagnostic) {
        let mut findings = lock(&self.0);
        // A hook that fails at the end of every round says the same each time.
        if findings.len() < Self::MOST && !findings.contains(&finding) {
            findings.push(finding);
        }
    }
}

/// How the wait of a run for its turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnEnd {
    Begins,
    TimeUp,
}

impl Background {
    /// Adds a run, which begins when those of its plugin for earlier events have ended.
    pub(super) fn add<R>(&self, detached: DetachedRun, run: R)
    where
        R: Future<Output = RunEnd> + Send + 'static,
    {
        let DetachedRun { fire, hook, bound, cancel } = detached;
        let (before, turn) = self.enter_queue(fire, &hook);
        let closing = self.closing.clone();
        let report = Arc::clone(&self.report);
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let mut over = pin!(async {
                closing.cancelled().await;
                tokio::time::sleep(bound).await;
            });
            if let Some(before) = before {
                let mut before = pin!(before.cancelled());
                // The time is looked at first: when it is up for a whole queue, the end of one must not begin the next.
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

    /// Adds a run without an effect, about which nothing is reported. When the system is shut down it is cancelled after
    /// that time.
    pub(super) fn add_shadow<R>(&self, bound: Duration, cancel: CancelToken, run: R)
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let closing = self.closing.clone();
        let mut tasks = lock(&self.tasks);
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

    /// The end of the plugin's runs for the event before this one, and the turn that the new run belongs to.
    fn enter_queue(&self, fire: FireId, hook: &Hook) -> (Option<CancelToken>, Arc<PluginTurn>) {
        let file = &*hook.origin.location.file;
        let plugin = hook.owner.as_ref().map_or(file, |owner| owner.dir.as_path());
        let mut queues = lock(&self.queues);
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
        std::mem::take(&mut *lock(&self.report.0))
    }

    /// Lets every run end within its bounds, and reports which ones failed or were cut off.
    pub(super) async fn close(&self) -> Vec<Diagnostic> {
        self.closing.cancel();
        super::drive::join_all(&self.tasks).await;
        self.take_report()
    }
}

/// Reports a run that had to be ended, as a warning: its work was not finished.
fn cut_off(hook: &Hook, state: &str, bound: Duration) -> Diagnostic {
    let waited = bound.as_millis();
    let message = format!("hook `{hook}` was {state} {waited} ms after the shutdown began; it was ended");
    let finding = Diagnostic::new(Code::HookCancelled, message).at(hook.origin.location.clone());
    Diagnostic { level: Level::Warning, ..finding }
}

/// Reports a run that failed, for which no outcome does.
fn failures(hook: &Hook, end: &RunEnd) -> Vec<Diagnostic> {
    match end.failure() {
        // Whatever cancelled it has its own report.
        None | Some(EndKind::Cancelled) => Vec::new(),
        Some(kind) => report_failure(hook, Health::Failed, kind, end),
    }
}

/// The detached runs that a session starts with, until its first prompt, which waits for them for a moment: they prepare
/// what it needs.
#[derive(Debug, Default)]
pub(super) struct SessionStarts(Mutex<BTreeMap<(FireId, RunId), CancelToken>>);

impl SessionStarts {
    /// How long the first prompt waits at most, for all of them.
    pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(1500);

    /// Notes that a run is out.
    pub(super) fn add(&self, fire: FireId, run: RunId) {
        lock(&self.0).entry((fire, run)).or_default();
    }

    /// Notes that a run has ended.
    pub(super) fn ended(&self, fire: FireId, run: RunId) {
        if let Some(token) = lock(&self.0).remove(&(fire, run)) {
            token.cancel();
        }
    }

    /// Takes the runs that are out, as tokens that are set when they end.
    pub(super) fn take_runs(&self) -> Vec<CancelToken> {
        std::mem::take(&mut *lock(&self.0)).into_values().collect()
    }
}
