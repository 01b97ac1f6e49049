//! `hookrail record`: test cases from recorded events. `hookrail journal export --fixture` prints the same cases as JSON
//! lines.
//!
//! A case is the event as it was fired and what was decided. An event from whose record something was removed makes no case:
//! what was there is not guessed.

mod case_text;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hookrail_journal::{Filter, Record, RecordKind, Records};

use super::journal::{failure, filter, open};
use super::log::{report_unreadable, subject};
use crate::args::RecordArgs;
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::StopSignal;
use crate::output;
use crate::project::Project;
use crate::render::counted;
use crate::render::text::{one_line, short, visible};
use crate::style::{GOOD, paint};

pub(super) use case_text::recorded_case;
use case_text::{CaseTarget, LeftOut, RecordedCase};

/// How often the journal is looked at for new events.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &RecordArgs) -> Result<Exit> {
    let project = Project::open_named(args.project.as_deref())?;
    let target = args.file.as_deref().map(CaseTarget::open).transpose()?;
    let wanted = Filter { kind: Some(RecordKind::Fired), ..filter(&args.select)? };
    let mut records = open()?.read(wanted).map_err(|error| failure(&error))?;
    let mut recorder =
        CaseRecorder { project: project.root(), target, written: 0, known: 0, left_out: BTreeMap::new() };
    if args.follow {
        let stop = StopSignal::listen();
        recorder.follow(args, &mut records, &stop)?;
        recorder.report_left_out();
        if let Some(number) = stop.number() {
            return Ok(Exit::Signalled(number));
        }
    } else {
        let found = recorder.records_of_project(&mut records);
        let first = args.last.map_or(0, |last| found.len().saturating_sub(last));
        recorder.write(found.get(first..).unwrap_or_default())?;
        recorder.report_left_out();
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
                Ok(record) if record.project == own => found.push(record),
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
            match recorded_case(record).and_then(|case| check_layers(record).map(|()| case)) {
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

    fn report_left_out(&self) {
        for (why, count) in &self.left_out {
            output::warnings(&format!("note: {} left out: {}\n", counted(*count, "event"), why.told()));
        }
    }
}

/// Leaves out an event in which hooks took part that `hookrail test` does not run.
fn check_layers(record: &Record) -> std::result::Result<(), LeftOut> {
    let is_outside = record.hooks.iter().any(|run| run.layer != "project");
    if is_outside { Err(LeftOut::OtherHooks) } else { Ok(()) }
}
