//! `hookrail record`: test cases from recorded events. `hookrail journal export --fixture` prints the same cases as a case file
//! in JSON.

use std::time::Duration;

use hookrail_app::cases::{CaseRecorder, CaseRefusal, CaseTarget, RecordedCases, case_file};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;
use hookrail_app::text::{counted, escaped_json, one_line, short, visible};
use hookrail_journal::{Record, Records};

use super::journal::{failure, filter, open};
use super::log::report_unreadable;
use crate::args::{ExportArgs, RecordArgs};
use crate::cmd::exit::Exit;
use crate::render::style::{GOOD, paint};
use crate::signals::StopSignal;
use crate::{output, render};

/// How often the journal is looked at for new events.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &RecordArgs) -> Result<Exit> {
    let project = Project::open_named(args.project.as_deref())?;
    let target = args.file.as_deref().map(CaseTarget::open).transpose().map_err(report_refusal)?;
    let mut records = open()?.read(filter(&args.select)?).map_err(|error| failure(&error))?;
    let mut recorder = CaseRecorder::new(project.root(), target);
    if args.follow {
        let stop = StopSignal::listen();
        let place = one_line(&project.root().to_string_lossy());
        follow(args, &mut recorder, &mut records, &stop, &place)?;
        report_left_out(&recorder);
        if let Some(number) = stop.number() {
            return Ok(Exit::Signalled(number));
        }
    } else {
        let found = recorder.events_of_project(&mut records, report_unreadable);
        let first = args.last.map_or(0, |last| found.len().saturating_sub(last));
        record(&mut recorder, found.get(first..).unwrap_or_default())?;
        report_left_out(&recorder);
    }
    if recorder.written == 0 && recorder.known > 0 {
        return Err(Failure::new(format!(
            "nothing was written: {} in the file already",
            if recorder.known == 1 { "the event is".to_owned() } else { format!("all {} events are", recorder.known) }
        ))
        .hint("give another file, or record new events with `hookrail fire EVENT --journal`"));
    }
    if recorder.written == 0 {
        return Err(Failure::new("no event was recorded that makes a case")
            .hint("`hookrail log` shows what is recorded; `hookrail fire EVENT --journal` records an event"));
    }
    Ok(Exit::Fine)
}

/// Prints the recorded events of a project as a case file.
pub(super) fn export(args: &ExportArgs) -> Result<Exit> {
    let project = Project::open_named(args.project.as_deref())?;
    // Not filtered by kind: what is damaged so far that its kind cannot be read is to be reported.
    let records = open()?.read(filter(&args.select)?).map_err(|error| failure(&error))?;
    let mut recorder = CaseRecorder::new(project.root(), None);
    let cases = recorder.cases_of_all(records, report_unreadable);
    // A file without a case is no case file.
    if !cases.is_empty() {
        let text = case_file(&cases);
        output::text(&text.lines().map(|line| format!("{}\n", escaped_json(line))).collect::<String>())?;
    }
    report_left_out(&recorder);
    Ok(Exit::Fine)
}

/// Records what comes from now on.
fn follow(
    args: &RecordArgs,
    recorder: &mut CaseRecorder<'_>,
    records: &mut Records,
    stop: &StopSignal,
    place: &str,
) -> Result<()> {
    drop(recorder.events_of_project(records, report_unreadable));
    output::warnings(&format!("waiting for recorded events of {place}; Ctrl-C ends\n"));
    let is_enough = |recorder: &CaseRecorder<'_>| args.count.is_some_and(|count| recorder.written >= count);
    while !stop.token.is_cancelled() && !is_enough(recorder) {
        for found in recorder.events_of_project(records, report_unreadable) {
            if !is_enough(recorder) {
                record(recorder, &[found])?;
            }
        }
        std::thread::sleep(FOLLOW_INTERVAL);
    }
    Ok(())
}

/// Writes the cases of these records, or prints them if there is no file.
fn record(recorder: &mut CaseRecorder<'_>, records: &[Record]) -> Result<()> {
    let text: String = match recorder.record(records).map_err(report_refusal)? {
        RecordedCases::Cases(cases) => cases.iter().map(|case| visible(&case.to_toml())).collect(),
        RecordedCases::Added(added) => {
            let line = |(name, about): &(String, String)| {
                let about = short(&one_line(about), 80);
                format!("{}  {}  {}\n", paint(GOOD, "recorded"), one_line(name), about.trim_end())
            };
            added.iter().map(line).collect()
        }
    };
    output::text(&text)
}

/// Prints what is wrong with the file. Returns the failure that is left to be reported.
fn report_refusal(refusal: CaseRefusal) -> Failure {
    if let Some((findings, places)) = refusal.findings.as_deref() {
        output::errors(&render::diagnostic::all(findings, places));
    }
    refusal.failure
}

fn report_left_out(recorder: &CaseRecorder<'_>) {
    for (why, count) in &recorder.left_out {
        output::warnings(&format!("note: {} left out: {}\n", counted(*count, "event"), why.told()));
    }
}
