//! `hookrail log`: a timeline of what hooks decided.

mod shadow;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::Duration;

use anstyle::Style;
use hookrail_app::failure::Result;
use hookrail_app::journal::{recorded_target, subject_of};
use hookrail_app::records::{self, RecordSelection};
use hookrail_app::text::{escaped_json, one_line, short};
use hookrail_journal::{Record, RecordKind, RecordedHealth, RecordedRun, Records, UnreadableCause};

use crate::args::{LogArgs, RecordFormat};
use crate::cmd::exit::Exit;
use crate::output::pager::LongOutput;
use crate::output::{self, Reader};
use crate::render::csv;
use crate::render::style::{BAD, CAREFUL, GOOD, PLAIN, QUIET, paint};
use crate::render::verbosity;

/// How often a journal that is followed is looked at.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// How many lines are printed at once.
const LINES_AT_ONCE: usize = 512;

/// How many records or hooks a terminal is shown if the user does not say.
const TERMINAL_LIMIT: usize = 200;

/// The columns of comma-separated values.
const COLUMNS: [&str; 12] =
    ["seq", "at", "kind", "event", "tool", "about", "decision", "session", "project", "hooks", "ms", "reason"];

pub(crate) fn run(args: &LogArgs) -> Result<Exit> {
    if args.shadow {
        return shadow::run(args);
    }
    let mut records = records::read(args.select.selection())?;
    let mut output = if args.follow { LongOutput::Direct } else { LongOutput::paged() };
    let mut timeline = Timeline { form: args.form(), output: &mut output, printed: 0 };
    let mut reader = timeline.print_heads()?;
    if reader == Reader::Present {
        reader = match limit(args.limit) {
            Some(count) => timeline.print_last(&mut records, count, args.limit)?,
            None => timeline.print_all(&mut records)?,
        };
    }
    while args.follow && reader == Reader::Present {
        std::thread::sleep(FOLLOW_INTERVAL);
        reader = timeline.print_all(&mut records)?;
    }
    let is_empty = timeline.printed == 0;
    output.finish()?;
    if is_empty && !args.follow {
        let selection = args.select.selection();
        let what = if selection == RecordSelection::default() {
            "nothing is recorded yet"
        } else {
            "no record fits these options; `hookrail log` shows all"
        };
        output::warnings(&format!("note: {what}\n"));
    }
    Ok(Exit::Fine)
}

/// The most that is shown; none if it is everything.
pub(super) fn limit(given: Option<usize>) -> Option<usize> {
    let if_unset = std::io::stdout().is_terminal().then_some(TERMINAL_LIMIT);
    given.or(if_unset).filter(|count| *count > 0)
}

/// Says that a terminal is not shown everything, if the user did not ask for that.
pub(super) fn note_limit(shown: usize, all: usize, what: &str, given: Option<usize>) {
    if given.is_none() && shown < all {
        let note = format!("note: {shown} of {all} {what} are shown; `--limit N` shows more, `--limit 0` all\n");
        output::warnings(&note);
    }
}

/// Prints records in one form.
struct Timeline<'t> {
    form: Option<RecordFormat>,
    output: &'t mut LongOutput,
    /// How many records were printed.
    printed: usize,
}

impl Timeline<'_> {
    fn print_heads(&mut self) -> Result<Reader> {
        match self.form {
            Some(RecordFormat::Csv) => self.output.text(&csv::row(COLUMNS)),
            Some(RecordFormat::Json) | None => Ok(Reader::Present),
        }
    }

    /// Prints every record that is there now.
    fn print_all(&mut self, records: &mut Records) -> Result<Reader> {
        let mut text = String::new();
        for (count, record) in records.by_ref().enumerate() {
            match record {
                Ok(record) => {
                    self.printed += 1;
                    text.push_str(&self.line(&record));
                }
                Err(unreadable) => report_unreadable(&unreadable),
            }
            if count % LINES_AT_ONCE == LINES_AT_ONCE - 1
                && self.output.text(&std::mem::take(&mut text))? == Reader::Gone
            {
                return Ok(Reader::Gone);
            }
        }
        self.output.text(&text)
    }

    fn print_last(&mut self, records: &mut Records, count: usize, given: Option<usize>) -> Result<Reader> {
        let mut last = VecDeque::new();
        let mut all = 0;
        for record in records.by_ref() {
            match record {
                Ok(record) => {
                    all += 1;
                    last.push_back(record);
                    if last.len() > count {
                        last.pop_front();
                    }
                }
                Err(unreadable) => report_unreadable(&unreadable),
            }
        }
        note_limit(last.len(), all, "records", given);
        self.printed += last.len();
        self.output.text(&last.iter().map(|record| self.line(record)).collect::<String>())
    }

    fn line(&self, record: &Record<'_>) -> String {
        match self.form {
            Some(RecordFormat::Json) => format!("{}\n", escaped_json(&record.line)),
            Some(RecordFormat::Csv) => row(record),
            None => described(record),
        }
    }
}

/// A record as comma-separated values.
fn row(record: &Record<'_>) -> String {
    let hooks: Vec<&str> = record.runs().map(|run| run.hook.as_ref()).collect();
    let about =
        recorded_target(record).map(Cow::Owned).or_else(|| record.operation.clone()).or_else(|| record.hook.clone());
    let decision = record.decision.as_deref().or(record.answer.as_deref()).or(record.change.as_deref());
    csv::row([
        record.seq.to_string().as_str(),
        &record.at,
        record.kind.name(),
        record.event.as_deref().unwrap_or_default(),
        record.tool.as_deref().unwrap_or_default(),
        &about.unwrap_or_default(),
        decision.unwrap_or_default(),
        record.session.as_deref().unwrap_or_default(),
        &record.project,
        &hooks.join("; "),
        &format!("{:.1}", record.ms.unwrap_or_default()),
        &reason(record).unwrap_or_default(),
    ])
}

pub(super) fn report_unreadable(unreadable: &hookrail_journal::Unreadable) {
    let text = one_line(&unreadable.to_string());
    let next = match unreadable.cause {
        UnreadableCause::NoRecord { .. } => "; run `hookrail journal verify`",
        UnreadableCause::MadeAnew => "",
    };
    crate::logging::write_stderr(format!("warning: {text}{next}\n"));
}

/// One line for an event, and one for each hook that has something to say.
fn described(record: &Record<'_>) -> String {
    let at = record.at.get(..23).unwrap_or(&record.at).replace('T', " ");
    let (word, style) = verdict(record);
    let mut text = format!("{} {}", paint(QUIET, one_line(&at)), paint(style, format!("{:9}", one_line(word))));
    if let Some(event) = record.event.as_deref().filter(|event| !event.is_empty()) {
        let _ = write!(text, " {}", one_line(event));
    }
    match record.kind {
        RecordKind::Fired => {
            if let Some(subject) = subject_of(record) {
                let _ = write!(text, " {}", one_line(&subject));
            }
            let _ = write!(text, "  {}", paint(QUIET, format!("{:.1} ms", record.ms.unwrap_or_default())));
        }
        RecordKind::Answered => {
            let _ = write!(text, " {}", one_line(record.operation.as_deref().unwrap_or_default()));
        }
        RecordKind::Lost => {
            let lost = record.loss.as_deref().unwrap_or_default();
            let instead = record.instead.as_deref().unwrap_or_default();
            let tool = record.tool.as_deref().map(|tool| format!("{tool} ")).unwrap_or_default();
            let _ = write!(text, " {}{}: {}", one_line(&tool), one_line(lost), one_line(instead));
        }
        RecordKind::Corrected => {
            if let Some(tool) = &record.tool {
                let _ = write!(text, " {}", one_line(tool));
            }
            let _ = write!(text, "  {}", paint(QUIET, "told instead"));
        }
        RecordKind::Trust => {
            let what = record.hook.as_deref().unwrap_or("the project");
            let _ = write!(text, " {} in {}", one_line(what), one_line(&record.project));
        }
        _ => {}
    }
    text.push('\n');
    if let Some(reason) = reason(record) {
        let _ = writeln!(text, "      {}", short(&one_line(&reason), 200));
    }
    for run in record.runs().filter(|run| verbosity::is_detailed() || is_notable(run)) {
        let would = if record.why.as_deref() == Some("shadow") { "would " } else { "" };
        let decision = run.decision.as_deref().map(|decision| format!(", {would}{decision}")).unwrap_or_default();
        let asked: String = run.asked.iter().map(|effect| format!(", would {effect}")).collect();
        let said = format!("{}{decision}{asked}", end(run));
        let _ = writeln!(text, "      {} {} {:.1} ms", one_line(&run.hook), one_line(&said), run.ms);
    }
    text
}

/// The word at the beginning of a line.
fn verdict<'v>(record: &'v Record<'_>) -> (&'v str, Style) {
    match record.kind {
        RecordKind::Fired | RecordKind::Corrected => match record.decision.as_deref() {
            Some("deny") => ("denied", BAD),
            Some("ask") => ("ask", CAREFUL),
            Some("allow") => ("allowed", GOOD),
            None if record.stop => ("stopped", BAD),
            // The host did not take the outcome: what it did instead is in another record, or not known.
            None if record.runs().any(|run| run.end == "cancelled") => ("cancelled", CAREFUL),
            Some(_) | None => ("-", PLAIN),
        },
        RecordKind::Answered => (record.answer.as_deref().unwrap_or("answered"), CAREFUL),
        RecordKind::Late => ("late", PLAIN),
        RecordKind::Lost => ("lost", CAREFUL),
        RecordKind::Trust => (record.change.as_deref().unwrap_or("trust"), CAREFUL),
        _ => ("?", PLAIN),
    }
}

fn reason(record: &Record<'_>) -> Option<String> {
    let outcome = || record.outcome.as_ref()?.as_object();
    let of_outcome = |name: &str| outcome()?.get(name)?.as_str();
    let is_said = |text: &String| !text.is_empty();
    let given = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned).filter(is_said);
    let given = given(&record.because).or_else(|| given(&record.reason));
    given.or_else(|| of_outcome("reason").filter(is_said)).or_else(|| of_outcome("stopReason").filter(is_said))
}

/// Hooks that ended well and had no opinion are left out, unless everything is shown.
fn is_notable(run: &RecordedRun<'_>) -> bool {
    run.decision.is_some()
        || !run.asked.is_empty()
        || run.health == RecordedHealth::Failed
        || !matches!(run.end.as_ref(), "answered" | "silent" | "detached")
}

/// How a run ended. Of a hook that did its work the exit status says nothing more than its decision does.
fn end(run: &RecordedRun<'_>) -> String {
    match (run.health, run.exit) {
        (RecordedHealth::Failed, Some(status)) => format!("failed ({} {status})", run.end),
        (RecordedHealth::Failed, None) => format!("failed ({})", run.end),
        (_, _) => run.end.to_string(),
    }
}
