//! `hookrail journal`: the head of the chain, its verification, and exports.

use std::fmt::Write as _;

use hookrail::Json;
use hookrail_app::failure::{Failure, Result};
pub(crate) use hookrail_app::records::{failure, open};
use hookrail_app::text::counted;
use hookrail_app::text::one_line;
use hookrail_journal::{ExpectedHead, Filter, Verification};
use serde_json::json;

use crate::args::{HeadArgs, JournalArgs, JournalCommand, SelectArgs, VerifyArgs};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, GOOD, paint};

use super::record::export;

pub(crate) fn run(args: &JournalArgs) -> Result<Exit> {
    match &args.command {
        JournalCommand::Head(args) => head(args),
        JournalCommand::Verify(args) => verify(args),
        JournalCommand::Export(args) => export(args),
    }
}

/// Returns the filter that the options describe.
pub(crate) fn filter(args: &SelectArgs) -> Result<Filter> {
    args.selection().filter()
}

fn head(args: &HeadArgs) -> Result<Exit> {
    let journal = open()?;
    let head = journal.head().map_err(|error| failure(&error))?;
    if args.json {
        let document = json!({"seq": head.as_ref().map(|head| head.seq), "hash": head.as_ref().map(|head| &head.hash)});
        output::json(&document.into())?;
    } else {
        match head {
            Some(head) => output::text(&format!("{} {}\n", head.seq, head.hash))?,
            None => output::text("the journal is empty\n")?,
        }
    }
    Ok(Exit::Fine)
}

fn verify(args: &VerifyArgs) -> Result<Exit> {
    if let Some(head) = &args.head
        && (head.len() != 64 || !head.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Err(Failure::new("`--head` must be a hash of 64 hexadecimal digits")
            .hint("`hookrail journal head` prints the number of the last record and its hash"));
    }
    let expected = args.head.as_ref().map(|head| head.to_ascii_lowercase());
    let found = open()?.verify(expected.as_deref()).map_err(|error| failure(&error))?;
    if args.json {
        output::json(&document(&found))?;
    } else {
        output::text(&report(&found))?;
    }
    Ok(if found.is_sound() { Exit::Fine } else { Exit::Failed })
}

fn report(found: &Verification) -> String {
    let mut text = String::new();
    for problem in &found.problems {
        let _ = writeln!(text, "{}: {}", paint(BAD, "damaged"), one_line(&problem.to_string()));
    }
    let more = found.problem_count.saturating_sub(found.problems.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "and {}", counted(usize::try_from(more).unwrap_or(usize::MAX), "further problem"));
    }
    if found.has_unfinished_record {
        let _ = writeln!(text, "note: the last line has no end; its writer was ended, or is writing now");
    }
    let records = counted(usize::try_from(found.records).unwrap_or(usize::MAX), "record");
    let segments = counted(found.segments, "segment");
    match (&found.head, found.first) {
        (Some(head), Some(first)) => {
            let verdict = if found.problem_count == 0 {
                paint(GOOD, "the chain holds")
            } else {
                paint(BAD, "the chain is broken")
            };
            let _ = writeln!(text, "{verdict}: {records} in {segments}, {first} to {}", head.seq);
            let _ = writeln!(text, "head: {} {}", head.seq, head.hash);
        }
        _ => {
            let _ = writeln!(text, "no records in {segments}");
        }
    }
    match found.expected {
        Some(ExpectedHead::Found(seq)) => {
            let _ = writeln!(text, "the given head is record {seq}");
        }
        Some(ExpectedHead::Removed(seq)) => {
            let _ = writeln!(text, "the given head is record {seq}, which was removed by retention");
        }
        Some(ExpectedHead::Missing) => {
            let _ = writeln!(text, "{}: the given head is not in the journal", paint(BAD, "cut off or replaced"));
        }
        None => {}
    }
    text
}

fn document(found: &Verification) -> Json {
    let problems: Vec<_> = found
        .problems
        .iter()
        .map(|problem| {
            json!({
                "segment": problem.segment,
                "line": problem.line,
                "offset": problem.offset,
                "kind": problem.kind.name(),
                "problem": problem.kind.to_string(),
            })
        })
        .collect();
    let expected = match found.expected {
        Some(ExpectedHead::Found(seq)) => json!({"found": true, "seq": seq}),
        Some(ExpectedHead::Removed(seq)) => json!({"found": true, "seq": seq, "removed": true}),
        Some(ExpectedHead::Missing) => json!({"found": false}),
        None => serde_json::Value::Null,
    };
    json!({
        "sound": found.is_sound(),
        "segments": found.segments,
        "records": found.records,
        "first": found.first,
        "head": found.head.as_ref().map(|head| json!({"seq": head.seq, "hash": head.hash})),
        "expected": expected,
        "problemCount": found.problem_count,
        "problems": problems,
        "unfinished": found.has_unfinished_record,
    })
    .into()
}
