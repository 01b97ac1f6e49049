//! The journal: recording, several writers, verifying, and searching.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use hookrail::event::Event;
use hookrail::hook::Authority;
use hookrail::recorder::{Entry, EntryKind, FiredEntry, Recorder as _, RunEntry};
use hookrail::trust::Digest;
use hookrail::{Decision, EndKind, Outcome};
use hookrail_journal::{Journal, JournalOptions};

use super::BenchCase;
use super::one::SCRIPT;
use super::support::{blocking, built, floor};
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, event, line, tool_input};

/// The number of records that are verified and searched.
const RECORDS: u32 = 100_000;

/// The number of processes that write at once.
const WRITERS: u32 = 4;

/// How many records each of them appends in a round.
const APPENDED: u32 = 2_000;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "journal-record", title: "recording an event of 1.5 KiB", prepare: record },
        BenchCase { name: "journal-fire", title: "one `sh -c` hook, with a journal", prepare: fire },
        BenchCase { name: "journal-writers", title: "four processes that append", prepare: writers },
        BenchCase { name: "journal-read", title: "100,000 records", prepare: read },
    ]
}

/// An event with its outcome, to be recorded again and again.
struct Sample {
    event: Event,
    outcome: Outcome,
}

impl Sample {
    /// An event with an input of that many bytes, with the outcome of a real hook.
    fn fired(lab: &Lab, bytes: usize) -> BenchResult<Self> {
        let system = lab.with_hooks(vec![line(SCRIPT)], Shell::Sh)?;
        let event = event(&system, &tool_input(bytes)?);
        let outcome = system.fire_blocking(event.clone());
        Ok(Self { event, outcome })
    }

    fn record(&self, journal: &Journal, decision: Option<Decision>) -> BenchResult<()> {
        let mut outcome = self.outcome.clone();
        outcome.effects.decision = decision;
        let runs = outcome.runs.iter().map(|run| RunEntry {
            hook: &run.hook,
            id: "9a0364b9e99bb480".to_owned(),
            fingerprint: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae".to_owned(),
            layer: Authority::Project,
            start: Some(Duration::from_micros(214)),
            duration: run.duration,
            end: EndKind::Answered,
            health: run.health,
            exit_code: run.exit_code,
            decision,
            asked: Vec::new(),
        });
        let fired = FiredEntry {
            fire: "5c1f0a9be2d34407-0",
            event: &self.event,
            trace: None,
            configuration: Digest::of(b""),
            outcome: &outcome,
            runs: runs.collect(),
            shadow: Vec::new(),
            duration: Duration::from_millis(3),
        };
        let kind = EntryKind::Fired(Box::new(fired));
        let entry = Entry { at: SystemTime::now(), host: None, project: Path::new("/project"), kind };
        journal.record(&entry)?;
        Ok(())
    }
}

fn record(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    case.add(floor(lab, ("floor", "raw spawn of the cheapest child"), 20, &lab.tiny(), &[], Shell::Sh)?);
    let journal = Journal::new(JournalOptions::new(lab.new_path("journal")));
    let sample = Sample::fired(lab, 1500)?;
    case.add(Variant::timed("hookrail", "one record, redaction included, sync `write`", 100, move || {
        sample.record(&journal, Some(Decision::Deny))
    }));
    Ok(case)
}

fn fire(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1500)?;
    let plain = lab.builder(vec![line(SCRIPT)])?.build();
    let journal = Journal::new(JournalOptions::new(lab.new_path("journal")));
    let recorded = lab.builder(vec![line(SCRIPT)])?.recorder(journal).build();
    case.add(blocking(("hookrail", "without a journal"), 5, &plain, &input, 1));
    case.add(blocking(("hookrail-journal", "with a journal, sync `write`"), 5, &recorded, &input, 1));
    Ok(case)
}

/// A process that appends when it is told to.
struct WriterProcess {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl WriterProcess {
    fn start(folder: &Path, options: &[&str]) -> BenchResult<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("append").args(options).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or("the writer has no output")?;
        Ok(Self { child, answers: BufReader::new(stdout) })
    }

    fn begin(&mut self) -> BenchResult<()> {
        let stdin = self.child.stdin.as_mut().ok_or("the writer has no input")?;
        Ok(writeln!(stdin, "append").and_then(|()| stdin.flush())?)
    }

    fn wait(&mut self) -> BenchResult<()> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        if answer == "done\n" { Ok(()) } else { Err("a writer has ended".into()) }
    }
}

impl Drop for WriterProcess {
    fn drop(&mut self) {
        // Its input ends, and it with that.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Appends records for every line of standard input: what [`WriterProcess`] starts.
pub(crate) fn append(folder: &Path) -> BenchResult<()> {
    let journal = Journal::new(JournalOptions::new(folder));
    let text = "x".repeat(1400);
    append_when_told(|| small_record(&journal, &text))
}

/// Does nothing but what every journal of several processes has to do: lock, write, unlock. No chain, no JSON.
pub(crate) fn append_bare(folder: &Path) -> BenchResult<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("bare"))?;
    let bytes = vec![b'x'; usize::try_from(std::fs::metadata(first_segment(folder)?)?.len())?];
    append_when_told(|| {
        file.lock()?;
        let written = file.write_all(&bytes);
        file.unlock()?;
        Ok(written?)
    })
}

fn append_when_told(mut append: impl FnMut() -> BenchResult<()>) -> BenchResult<()> {
    let mut out = std::io::stdout().lock();
    for _ in std::io::stdin().lock().lines().map_while(std::io::Result::ok) {
        for _ in 0..APPENDED {
            append()?;
        }
        writeln!(out, "done")?;
        out.flush()?;
    }
    Ok(())
}

/// A record of about 1.8 KiB that costs nothing to make, so that appending is what is measured.
fn small_record(journal: &Journal, text: &str) -> BenchResult<()> {
    use hookrail::recorder::{TrustChange, TrustEntry};
    let change = TrustEntry { change: TrustChange::Granted, hook: Some(text), event: None, content: None };
    let kind = EntryKind::Trust(change);
    journal.record(&Entry { at: SystemTime::now(), host: None, project: Path::new("/project"), kind })?;
    Ok(())
}

fn writers(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let folder = lab.new_path("journal");
    let probe = Journal::new(JournalOptions::new(&folder));
    small_record(&probe, &"x".repeat(1400))?;
    let size = std::fs::metadata(first_segment(&folder)?)?.len();
    let bytes = vec![b'x'; usize::try_from(size)?];
    let plain = lab.new_path("plain");
    let all = WRITERS * APPENDED;
    case.add(Variant::new("floor", "one process that appends the same bytes to a file", move || {
        let mut file = OpenOptions::new().create(true).append(true).open(&plain)?;
        let began = Instant::now();
        for _ in 0..all {
            file.write_all(&bytes)?;
        }
        let took = began.elapsed();
        std::fs::remove_file(&plain)?;
        Ok(nanoseconds_each(took, all))
    }));
    let bare = lab.new_path("bare");
    std::fs::create_dir(&bare)?;
    std::fs::copy(first_segment(&folder)?, bare.join("00000001-of-one-record.jsonl"))?;
    let mut processes = start_writers(&bare, &["--bare"])?;
    case.add(Variant::new(
        "bare",
        "four processes that lock a file, append the same bytes, and unlock it",
        move || {
            let each = time_writers(&mut processes)?;
            std::fs::OpenOptions::new().write(true).open(bare.join("bare"))?.set_len(0)?;
            Ok(each)
        },
    ));
    let mut processes = start_writers(&folder, &[])?;
    case.add(Variant::new("hookrail", "four processes that append to one journal", move || {
        let each = time_writers(&mut processes)?;
        // A long measurement must not fill the disk.
        for segment in segments(&folder)? {
            std::fs::remove_file(segment)?;
        }
        Ok(each)
    }));
    Ok(case)
}

fn start_writers(folder: &Path, options: &[&str]) -> BenchResult<Vec<WriterProcess>> {
    (0..WRITERS).map(|_| WriterProcess::start(folder, options)).collect()
}

/// Lets all writers append, and returns the nanoseconds of one record.
fn time_writers(processes: &mut [WriterProcess]) -> BenchResult<f64> {
    let began = Instant::now();
    processes.iter_mut().try_for_each(WriterProcess::begin)?;
    processes.iter_mut().try_for_each(WriterProcess::wait)?;
    Ok(nanoseconds_each(began.elapsed(), WRITERS * APPENDED))
}

fn segments(folder: &Path) -> BenchResult<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut found = entries.collect::<std::io::Result<Vec<_>>>()?;
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("000")));
    found.sort();
    Ok(found)
}

fn first_segment(folder: &Path) -> BenchResult<PathBuf> {
    segments(folder)?.into_iter().next().ok_or_else(|| "there is no segment".into())
}

fn read(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let state = lab.new_path("state");
    let folder = state.join("hookrail/journal");
    // One segment, which is not compressed while it is written, so that all variants read the same bytes.
    let options = JournalOptions { segment_bytes: u64::MAX, ..JournalOptions::new(&folder) };
    let journal = Journal::new(options);
    let sample = Sample::fired(lab, 200)?;
    let count = if lab.quick { RECORDS / 10 } else { RECORDS };
    for number in 0..count {
        sample.record(&journal, (number % 100 == 0).then_some(Decision::Deny))?;
    }
    let file = first_segment(&folder)?;
    case.add(program("sha256sum", "the hash of the same bytes", "sha256sum", &[], &file));
    let expected = u64::from(count);
    case.add(Variant::timed("hookrail-verify", "`journal verify`", 1, move || {
        let found = journal.verify(None)?;
        if found.is_sound() && found.records == expected { Ok(()) } else { Err("the chain should hold".into()) }
    }));
    case.add(program("grep", "`grep -c` for the same records", "grep", &["-c", "\"decision\":\"deny\""], &file));
    let binary = built("hookrail-cli", "hookrail")?;
    case.add(Variant::timed("hookrail-log", "`hookrail log --decision deny --json`", 1, move || {
        let mut command = Command::new(&binary);
        command.args(["log", "--decision", "deny", "--json"]).env_clear().env("XDG_STATE_HOME", &state);
        let output = command.output()?;
        let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        if lines == usize::try_from(count / 100)? { Ok(()) } else { Err(format!("{lines} records were found").into()) }
    }));
    Ok(case)
}

fn program(name: &str, what: &str, program: &'static str, arguments: &'static [&'static str], file: &Path) -> Variant {
    let file = file.to_owned();
    Variant::timed(name, what, 1, move || {
        let output = Command::new(program).args(arguments).arg(&file).output()?;
        if output.status.success() { Ok(()) } else { Err(format!("{program} failed").into()) }
    })
}
