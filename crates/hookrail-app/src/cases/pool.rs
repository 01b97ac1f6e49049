//! Runs cases on several threads. Results are told in the order of the cases, each as soon as all before it are there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hookrail::CancelToken;

use super::Selection;
use super::case::LocatedCase;
use super::project_grants::CopyTrust;
use super::report::Report;
use super::run::{CaseEnd, RunSettings, Snapshots, TestedCase, run_case};
use crate::failure::Result;

/// The time between two updates of the progress.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// How cases are run.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions<'p> {
    /// The number of cases that run at once; without one, the number of processors.
    pub jobs: Option<usize>,
    /// Whether no further case is started after the first one that fails.
    pub fail_fast: bool,
    pub snapshots: Snapshots,
    pub trust: CopyTrust,
    /// Ends the cases that run, and starts no other.
    pub stop: &'p CancelToken,
}

/// What a run of cases tells while it goes on.
#[derive(Debug)]
pub enum PoolProgress<'p> {
    /// The next case in the order of the selection has ended.
    Ended(&'p TestedCase),
    /// So many of all cases have ended, and this is the first that has not.
    Running { done: usize, total: usize, first: Option<String> },
}

/// Runs all selected cases. `tell` hears of results and of progress; if it fails, no further case is started.
pub fn run_cases(
    selection: &Selection,
    options: PoolOptions<'_>,
    mut tell: impl FnMut(PoolProgress<'_>) -> Result<()>,
) -> Result<Report> {
    let began = Instant::now();
    let PoolOptions { jobs, fail_fast, snapshots, trust, stop } = options;
    let byte_code = tempfile::Builder::new().prefix("hookrail-python-").tempdir().ok();
    let settings = RunSettings { snapshots, stop, trust, byte_code: byte_code.as_ref().map(tempfile::TempDir::path) };
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.unwrap_or(available).clamp(1, selection.cases.len().max(1));
    let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, results) = mpsc::channel::<(usize, TestedCase)>();
    let mut report = Report::default();
    std::thread::scope(|scope| -> Result<()> {
        for _ in 0..jobs {
            let (sender, next, ended, settings) = (sender.clone(), &next, &ended, &settings);
            scope.spawn(move || {
                while !ended.load(Ordering::Relaxed) && !stop.is_cancelled() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = selection.cases.get(at) else { return };
                    let Some(project) = selection.projects.get(&case.project) else { return };
                    let result = run_case(case, project, settings);
                    if fail_fast && matches!(result.verdict, CaseEnd::Failed(_)) {
                        ended.store(true, Ordering::Relaxed);
                    }
                    if sender.send((at, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let told = collect(selection, &results, &mut report, &mut tell);
        // A closed output must not leave the other cases running.
        if told.is_err() {
            ended.store(true, Ordering::Relaxed);
        }
        told
    })?;
    report.not_run = selection.cases.len() - report.results.len();
    report.took = began.elapsed();
    Ok(report)
}

/// Takes the results as they come, and tells them in order.
fn collect(
    selection: &Selection,
    results: &mpsc::Receiver<(usize, TestedCase)>,
    report: &mut Report,
    tell: &mut impl FnMut(PoolProgress<'_>) -> Result<()>,
) -> Result<()> {
    let mut waiting: BTreeMap<usize, TestedCase> = BTreeMap::new();
    let (mut done, total) = (0, selection.cases.len());
    loop {
        let received = match results.recv_timeout(UPDATE_INTERVAL) {
            Ok(received) => Some(received),
            Err(mpsc::RecvTimeoutError::Timeout) => None,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        };
        if let Some((at, result)) = received {
            done += 1;
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&report.results.len()) {
                tell(PoolProgress::Ended(&result))?;
                report.results.push(result);
            }
        }
        let first = selection.cases.get(report.results.len()).map(LocatedCase::title);
        tell(PoolProgress::Running { done, total, first })?;
    }
    // After the first failure with `--fail-fast`, or a signal, there may be gaps.
    for result in waiting.into_values() {
        tell(PoolProgress::Ended(&result))?;
        report.results.push(result);
    }
    Ok(())
}
