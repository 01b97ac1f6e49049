//! Runs many cases on several threads and sums up their verdicts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::case::ConformanceCase;
use super::originals::ORIGINALS;
use super::rules::RULES;
use super::run::{CaseVerdict, run};

/// The folders with data of another shape and tests of their own: cases of the bridge, attacks, original documents, and rules.
const OTHER_CASES: [&str; 4] = ["agents", "attacks", ORIGINALS, RULES];

/// Returns the folders of cases of the dialects under `root`, sorted by name.
///
/// # Errors
///
/// If `root` cannot be read.
pub fn folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() && !OTHER_CASES.iter().any(|other| path.ends_with(other)) {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Runs the cases, at most `workers` at a time. The verdicts have the order of the cases.
#[must_use]
pub fn run_all<'a>(
    cases: &'a [ConformanceCase],
    program: &Path,
    workers: usize,
) -> Vec<(&'a ConformanceCase, CaseVerdict)> {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(Vec::with_capacity(cases.len()));
    let work = || {
        while let Some((index, case)) = next_case(cases, &next) {
            let verdict = run(case, program);
            verdicts.lock().unwrap_or_else(PoisonError::into_inner).push((index, case, verdict));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(work);
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
    verdicts.sort_by_key(|(index, _, _)| *index);
    verdicts.into_iter().map(|(_, case, verdict)| (case, verdict)).collect()
}

fn next_case<'a>(cases: &'a [ConformanceCase], next: &AtomicUsize) -> Option<(usize, &'a ConformanceCase)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    cases.get(index).map(|case| (index, case))
}

/// The results of many cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseSummary {
    /// The number of cases that passed.
    pub passed: usize,
    /// One line for each case that failed, and one below it for each mismatch.
    pub failures: Vec<String>,
    /// The name of each skipped case, with the program or feature that it lacks.
    pub skipped: Vec<String>,
}

impl CaseSummary {
    /// Sums up the verdicts.
    #[must_use]
    pub fn from_verdicts(verdicts: &[(&ConformanceCase, CaseVerdict)]) -> Self {
        let mut summary = Self::default();
        for (case, verdict) in verdicts {
            match verdict {
                CaseVerdict::Passed => summary.passed += 1,
                CaseVerdict::Skipped { missing } => summary.skipped.push(format!("{} (no {missing})", case.name)),
                CaseVerdict::Failed { mismatches } => {
                    let file = case.file.file_name().unwrap_or_default().to_string_lossy();
                    let mut line = format!("{file}: {} [{}]", case.name, case.cites.join(", "));
                    for mismatch in mismatches {
                        line.push_str(&format!("\n    {mismatch}"));
                    }
                    summary.failures.push(line);
                }
            }
        }
        summary
    }
}

impl std::fmt::Display for CaseSummary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (failed, skipped) = (self.failures.len(), self.skipped.len());
        write!(formatter, "{} passed, {failed} failed, {skipped} skipped", self.passed)
    }
}
