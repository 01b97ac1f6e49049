//! Runs cases on several threads. Results are printed in the order of the cases, each as soon as all before it are there.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hookrail::CancelToken;
use hookrail_app::failure::Result;
use hookrail_app::text::{one_line, short};

use super::Selection;
use super::report::{Report, print_line};
use super::run::{CaseResult, RunSettings, Snapshots, Verdict, run_case};
use super::standing::CopyTrust;
use crate::args::TestArgs;

/// The time between two updates of the progress line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Runs all selected cases.
pub(super) fn run_cases(
    args: &TestArgs,
    selection: &Selection,
    trust: CopyTrust,
    stop: &CancelToken,
) -> Result<Report> {
    let began = Instant::now();
    let snapshots = if args.accept { Snapshots::Accept } else { Snapshots::Compare };
    let byte_code = tempfile::Builder::new().prefix("hookrail-python-").tempdir().ok();
    let settings = RunSettings { snapshots, stop, trust, byte_code: byte_code.as_ref().map(tempfile::TempDir::path) };
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or(available).clamp(1, selection.cases.len().max(1));
    let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, results) = mpsc::channel::<(usize, CaseResult)>();
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
                    if args.fail_fast && matches!(result.verdict, Verdict::Failed(_)) {
                        ended.store(true, Ordering::Relaxed);
                    }
                    if sender.send((at, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let printed = collect(args, selection, &results, &mut report);
        // A closed output must not leave the other cases running.
        if printed.is_err() {
            ended.store(true, Ordering::Relaxed);
        }
        printed
    })?;
    report.not_run = selection.cases.len() - report.results.len();
    report.took = began.elapsed();
    Ok(report)
}

/// Takes the results as they come, and prints them in order.
fn collect(
    args: &TestArgs,
    selection: &Selection,
    results: &mpsc::Receiver<(usize, CaseResult)>,
    report: &mut Report,
) -> Result<()> {
    let mut waiting: BTreeMap<usize, CaseResult> = BTreeMap::new();
    let mut progress = Progress::new(selection.cases.len());
    let mut done = 0;
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
                progress.erase();
                print_line(&result, args.format)?;
                report.results.push(result);
            }
        }
        let current = selection.cases.get(report.results.len()).map(super::case::LocatedCase::title);
        progress.draw(done, current.as_deref());
    }
    progress.erase();
    // After the first failure with `--fail-fast`, or a signal, there may be gaps.
    for result in waiting.into_values() {
        print_line(&result, args.format)?;
        report.results.push(result);
    }
    Ok(())
}

/// A line on the terminal that counts; nothing where standard error is not a terminal.
struct Progress {
    is_shown: bool,
    is_drawn: bool,
    total: usize,
}

impl Progress {
    fn new(total: usize) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_shown = std::io::stderr().is_terminal() && !is_dumb && !crate::verbosity::is_quiet();
        Self { is_shown, is_drawn: false, total }
    }

    fn draw(&mut self, done: usize, current: Option<&str>) {
        if self.is_shown && done < self.total {
            self.is_drawn = true;
            let current = short(&one_line(current.unwrap_or_default()), 60);
            // A terminal that cannot be written to shows no progress.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{done}/{} {current}", self.total);
        }
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
