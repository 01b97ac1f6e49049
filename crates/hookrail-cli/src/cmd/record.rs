//! `hookrail record`: test cases from recorded events. `hookrail journal export --fixture` prints the same cases as a case file
//! in JSON.
//!
//! A case is the event as it was fired and what was decided. An event from whose record something was removed makes no case:
//! what was there is not guessed.

mod case_text;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;
use hookrail_app::text::counted;
use hookrail_app::text::{escaped_json, one_line, short, visible};
use hookrail_journal::{Record, RecordKind, Records};

use super::journal::{failure, filter, open};
use super::log::{report_unreadable, subject};
use crate::args::{ExportArgs, RecordArgs};
use crate::exit::Exit;
use crate::interrupt::StopSignal;
use crate::output;
use crate::style::{GOOD, paint};

use case_text::{CaseTarget, LeftOut, RecordedCase, case_file, recorded_case};

/// How often the journal is looked at for new events.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &RecordArgs) -> Result<Exit> {
    let project = Project::open_named(args.project.as_deref())?;
    let target = args.file.as_deref().map(CaseTarget::open).transpose()?;
    let mut records = open()?.read(filter(&args.select)?).map_err(|error| failure(&error))?;
    let mut recorder =
        CaseRecorder { project: project.root(), target, written: 0, known: 0, left_out: BTreeMap::new() };
    if args.follow {
        let stop = StopSignal::listen();
        recorder.follow(args, &mut records, &stop)?;
        report_left_out(&recorder.left_out);
        if let Some(number) = stop.number() {
            return Ok(Exit::Signalled(number));
        }
    } else {
        let found = recorder.records_of_project(&mut records);
        let first = args.last.map_or(0, |last| found.len().saturating_sub(last));
        recorder.write(found.get(first..).unwrap_or_default())?;
        report_left_out(&recorder.left_out);
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
    let own = project.root().to_string_lossy();
    let (mut cases, mut left_out) = (Vec::new(), BTreeMap::new());
    // Not filtered by kind: what is damaged so far that its kind cannot be read is to be reported.
    for record in open()?.read(filter(&args.select)?).map_err(|error| failure(&error))? {
        let case = match record {
            Ok(record) if record.kind != RecordKind::Fired => continue,
            Ok(record) if record.project == own => case_of(&record),
            Ok(_) => Err(LeftOut::OtherProject),
            Err(unreadable) => {
                report_unreadable(&unreadable);
                continue;
            }
        };
        match case {
            Ok(case) => cases.push(case),
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    // A file without a case is no case file.
    if !cases.is_empty() {
        let text = case_file(&cases);
        output::text(&text.lines().map(|line| format!("{}\n", escaped_json(line))).collect::<String>())?;
    }
    report_left_out(&left_out);
    Ok(Exit::Fine)
}

/// The case of an event of the project that `hookrail test` can run.
fn case_of(record: &Record) -> std::result::Result<RecordedCase, LeftOut> {
    let case = recorded_case(record)?;
    check_layers(record)?;
    Ok(case)
}

fn report_left_out(left_out: &BTreeMap<LeftOut, usize>) {
    for (why, count) in left_out {
        output::warnings(&format!("note: {} left out: {}\n", counted(*count, "event"), why.told()));
    }
}

/// Writes cases, and counts what cannot be one.
struct CaseRecorder<'p> {
    project: &'p Path,
    /// The file; none if cases are printed.
    target: Option<CaseTarget>,
    written: usize,
    /// How many cases the file had already.
    known: usize,
    left_out: BTreeMap<LeftOut, usize>,
}

impl CaseRecorder<'_> {
    /// Returns the records that are there now and belong to the project.
    fn records_of_project(&self, records: &mut Records) -> Vec<Record> {
        let own = self.project.to_string_lossy();
        let mut found = Vec::new();
        for record in records {
            match record {
                Ok(record) if record.kind == RecordKind::Fired && record.project == own => found.push(record),
                // The events of another project are about other hooks.
                Ok(_) => {}
                Err(unreadable) => report_unreadable(&unreadable),
            }
        }
        found
    }

    fn follow(&mut self, args: &RecordArgs, records: &mut Records, stop: &StopSignal) -> Result<()> {
        drop(self.records_of_project(records));
        let place = one_line(&self.project.to_string_lossy());
        output::warnings(&format!("waiting for recorded events of {place}; Ctrl-C ends\n"));
        while !stop.token.is_cancelled() {
            let left = args.count.map_or(usize::MAX, |count| count.saturating_sub(self.written));
            if left == 0 {
                return Ok(());
            }
            for record in self.records_of_project(records) {
                if args.count.is_none_or(|count| self.written < count) {
                    self.write(&[record])?;
                }
            }
            std::thread::sleep(FOLLOW_INTERVAL);
        }
        Ok(())
    }

    /// Writes the cases of these records, all or none.
    fn write(&mut self, records: &[Record]) -> Result<()> {
        let mut cases: Vec<RecordedCase> = Vec::new();
        let mut about: BTreeMap<String, String> = BTreeMap::new();
        for record in records {
            match case_of(record) {
                Ok(case) => {
                    about.insert(case.name.clone(), format!("{} {}", case.event, subject(record).unwrap_or_default()));
                    cases.push(case);
                }
                Err(why) => *self.left_out.entry(why).or_default() += 1,
            }
        }
        let Some(target) = &mut self.target else {
            self.written += cases.len();
            return output::text(&cases.iter().map(|case| visible(&case.to_toml())).collect::<String>());
        };
        let written = target.add(&cases)?;
        self.written += written.len();
        self.known += cases.len() - written.len();
        let told = written.iter().map(|name| {
            let about = about.get(name).map(|about| short(&one_line(about), 80)).unwrap_or_default();
            format!("{}  {}  {}\n", paint(GOOD, "recorded"), one_line(name), about.trim_end())
        });
        output::text(&told.collect::<String>())
    }
}

/// Leaves out an event in which hooks took part that `hookrail test` does not run.
fn check_layers(record: &Record) -> std::result::Result<(), LeftOut> {
    let is_outside = record.hooks.iter().any(|run| run.layer != "project");
    if is_outside { Err(LeftOut::OtherHooks) } else { Ok(()) }
}
