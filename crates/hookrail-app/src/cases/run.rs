//! Runs one case in a directory of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::event_draft::{EventDraft, find_kind, make_event};
use crate::lint::{explain_failures, with_advice};
use crate::temporary_file::write_atomically;
use crate::text::{hanging, limited_to, one_line};
use hookrail::plan::SkipReason;
use hookrail::{CancelToken, FireOptions, Level, Outcome};

use super::TestedProject;
use super::case::LocatedCase;
use super::expect::{CaseRun, UnmetExpectation, mismatches};
use super::project_grants::CopyTrust;
use super::read::event_fields;
use super::scratch::{Scratch, SetupFailure};
use super::stored_outcome::{snapshot_file, stored_form};
use crate::text_diff::difference;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseEnd {
    Passed,
    Failed(Failed),
    Skipped(String),
    /// A signal came first.
    Interrupted,
}

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It could not be run.
    Setup { message: String, hint: Option<String> },
    /// Something else happened than what was expected.
    Differs { mismatches: Vec<UnmetExpectation> },
}

/// What became of a case.
#[derive(Clone, Debug)]
pub struct TestedCase {
    pub case: LocatedCase,
    pub verdict: CaseEnd,
    pub took: Duration,
    /// One line for each hook that ran, or did not.
    pub what_ran: Vec<String>,
    /// Whether its snapshot was written.
    pub accepted: bool,
}

/// How the run of a case ended.
struct Finished {
    verdict: CaseEnd,
    what_ran: Vec<String>,
    accepted: bool,
}

impl Finished {
    fn without_runs(verdict: CaseEnd) -> Self {
        Self { verdict, what_ran: Vec::new(), accepted: false }
    }
}

/// What is done with a snapshot that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshots {
    Compare,
    Accept,
}

/// What all cases of one invocation have in common.
pub(super) struct RunSettings<'r> {
    pub(super) snapshots: Snapshots,
    pub(super) stop: &'r CancelToken,
    pub(super) trust: CopyTrust,
    /// A folder for Python's byte code. Compiling the standard library again for every case would take a second.
    pub(super) byte_code: Option<&'r Path>,
}

/// Runs a case.
pub(super) fn run_case(case: &LocatedCase, project: &TestedProject, settings: &RunSettings<'_>) -> TestedCase {
    let began = Instant::now();
    let finished = match reason_to_skip(case) {
        Some(why) => Finished::without_runs(CaseEnd::Skipped(why)),
        None => fire(case, project, settings).unwrap_or_else(|SetupFailure { message, hint }| {
            Finished::without_runs(CaseEnd::Failed(Failed::Setup { message, hint }))
        }),
    };
    let Finished { verdict, what_ran, accepted } = finished;
    TestedCase { case: case.clone(), verdict, took: began.elapsed(), what_ran, accepted }
}

fn reason_to_skip(located: &LocatedCase) -> Option<String> {
    let case = &located.case;
    let missing = case.needs.iter().find(|program| !case.programs.contains_key(*program) && !is_on_path(program));
    case.skip.clone().or_else(|| missing.map(|program| format!("needs `{program}`")))
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join(program).is_file())
}

fn fire(located: &LocatedCase, project: &TestedProject, settings: &RunSettings<'_>) -> Result<Finished, SetupFailure> {
    let case = &located.case;
    let no_event = |failure: crate::failure::Failure| SetupFailure {
        message: failure.message().to_owned(),
        hint: failure.first_hint().map(str::to_owned),
    };
    let kind = find_kind(&case.event).map_err(no_event)?;
    let scratch = Scratch::prepare(located, project, kind, settings)?;
    let places = &scratch.places;
    let mut filled = (**case).clone();
    for value in [&mut filled.payload, &mut filled.tool_input, &mut filled.tool_response].into_iter().flatten() {
        *value = places.fill_value(value);
    }
    for text in [&mut filled.tool, &mut filled.prompt].into_iter().flatten() {
        *text = places.fill(text);
    }
    let EventDraft { event, .. } = make_event(&event_fields(&filled), &places.project).map_err(no_event)?;
    if event.cwd().starts_with(&places.project) {
        // A recorded event may have happened in a folder that is not copied.
        let _ = std::fs::create_dir_all(event.cwd());
    }
    let system = &scratch.system;
    let options = || FireOptions::new().wait_for_all().cancelled_by(settings.stop);
    for _ in 0..case.repeat {
        system.fire_blocking_with(event.clone(), options());
    }
    let began = Instant::now();
    let mut outcome = system.fire_blocking_with(event, options());
    let took = began.elapsed();
    explain_failures(system, &mut outcome);
    outcome.diagnostics = std::mem::take(&mut outcome.diagnostics).into_iter().map(with_advice).collect();
    let commands = system.commands().into_iter().map(|command| command.name).collect();
    let broken = loading_problems(&scratch);
    system.shutdown_blocking();
    if settings.stop.is_cancelled() {
        return Ok(Finished::without_runs(CaseEnd::Interrupted));
    }
    let mut found = mismatches(case, &CaseRun { outcome: &outcome, took, commands, places });
    let mut accepted = false;
    if let Some(name) = &case.expect.snapshot {
        let stored = stored_form(&outcome, &scratch);
        match compare_snapshot(&snapshot_file(&located.file, name), &stored, settings.snapshots)? {
            SnapshotState::Same => {}
            SnapshotState::Written => accepted = true,
            SnapshotState::Differs(mismatch) => found.push(mismatch),
        }
    }
    let mut ran = what_ran(&outcome, places);
    ran.extend(broken);
    let verdict = match found.is_empty() {
        true => CaseEnd::Passed,
        false => CaseEnd::Failed(Failed::Differs { mismatches: found }),
    };
    Ok(Finished { verdict, what_ran: ran, accepted })
}

/// Returns the problems of the configuration in the case's project, which may be the cause of a failure.
fn loading_problems(scratch: &Scratch) -> Vec<String> {
    let snapshot = scratch.system.snapshot();
    let problems = snapshot.diagnostics().iter().filter(|problem| problem.level >= Level::Warning);
    let told = problems.cloned().map(with_advice).map(|problem| {
        let place = problem
            .location
            .as_ref()
            .map_or_else(String::new, |place| format!("{}:{}: ", place.file.to_string_lossy(), place.line));
        let (level, code) = (problem.level.name(), problem.code.name());
        let text = one_line(&format!("{level}[{code}]: {place}{}", problem.message));
        let help = problem.hint.map(|hint| format!("\n  help: {}", one_line(&hint))).unwrap_or_default();
        scratch.places.unfill(&format!("{text}{help}"))
    });
    told.collect()
}

/// Returns one line for each hook that ran, or did not.
fn what_ran(outcome: &Outcome, places: &super::scratch_path::ScratchFolders) -> Vec<String> {
    let mut lines = Vec::new();
    for run in &outcome.runs {
        let status = run.exit_code.map_or_else(String::new, |code| format!(" {code}"));
        let decision = run.decision.map_or_else(String::new, |decision| format!(", {}", decision.name()));
        lines.push(format!("{} {}{status}{decision}", one_line(&run.hook.label), run.end.name()));
        for (name, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            if !text.trim().is_empty() {
                // The lines stand below each other: the last line of a stack trace says most.
                lines.push(format!("  {name}: {}", hanging(&limited_to(text.trim(), 20, 1500), 10)));
            }
        }
    }
    if outcome.runs.is_empty() {
        lines.push("no hook ran".to_owned());
        for skipped in outcome.skipped.iter().take(8) {
            let detail = one_line(&skipped.detail);
            lines.push(format!("  {} was skipped, {}: {detail}", one_line(&skipped.hook.label), skipped.why.name()));
        }
    }
    if outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted) {
        lines.push("a grant does not cover a hook as it is here; `--trust-project` runs it".to_owned());
    }
    lines.iter().map(|line| places.unfill(line)).collect()
}

/// How an outcome compares with the stored one.
enum SnapshotState {
    Same,
    Written,
    Differs(UnmetExpectation),
}

fn compare_snapshot(file: &Path, outcome: &str, snapshots: Snapshots) -> Result<SnapshotState, SetupFailure> {
    let stored = std::fs::read_to_string(file).ok();
    if stored.as_deref() == Some(outcome) {
        return Ok(SnapshotState::Same);
    }
    if snapshots == Snapshots::Accept {
        let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        written.and_then(|()| write_atomically(file, outcome, None)).map_err(|error| SetupFailure {
            message: format!("the snapshot `{}` cannot be written: {error}", file.display()),
            hint: None,
        })?;
        return Ok(SnapshotState::Written);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(SnapshotState::Differs(match stored {
        None => UnmetExpectation::new("snapshot", format!("`snapshots/{name}`"), "there is none; `--accept` writes it"),
        Some(stored) => {
            let rows: Vec<String> = difference(&stored, outcome).iter().map(ToString::to_string).collect();
            UnmetExpectation::new(
                "snapshot",
                format!("`snapshots/{name}`"),
                format!("another outcome\n{}", rows.join("\n")),
            )
        }
    }))
}
