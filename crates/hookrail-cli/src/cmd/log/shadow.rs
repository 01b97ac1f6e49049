//! `hookrail log --shadow`: what hooks without an effect would have done.

use std::collections::BTreeMap;

use hookrail_journal::{Filter, Record, RecordKind, RecordedRun, Records};
use serde_json::{Value, json};

use super::report_unreadable;
use crate::args::LogArgs;
use crate::cmd::journal::{failure, filter, open};
use crate::errors::{Exit, Result};
use crate::output;
use crate::render::counted;
use crate::render::table::{Cell, Table};
use crate::render::text::short;
use crate::style::{BAD, CAREFUL, PLAIN, QUIET};

/// The verdicts of one hook.
#[derive(Debug, Default)]
struct Verdicts {
    hook: String,
    layer: String,
    all: usize,
    denied: usize,
    asked: usize,
    failed: usize,
}

pub(super) fn run(args: &LogArgs) -> Result<Exit> {
    // The filter knows hooks by what they decided, and these decided nothing.
    let Filter { hook, decision, .. } = filter(&args.select)?;
    let wanted = Filter { hook: None, decision: None, ..filter(&args.select)? };
    let mut records = open()?.read(wanted).map_err(|error| failure(&error))?;
    let hooks = collect(&mut records, hook.as_deref(), decision.as_deref());
    if args.json {
        output::json(&document(&hooks).into())?;
    } else {
        output::text(&text(&hooks))?;
    }
    Ok(Exit::Fine)
}

/// Counts the verdicts by the id of the hook.
fn collect(records: &mut Records, hook: Option<&str>, decision: Option<&str>) -> BTreeMap<String, Verdicts> {
    let mut hooks: BTreeMap<String, Verdicts> = BTreeMap::new();
    for record in records {
        let record = match record {
            Ok(record) => record,
            Err(unreadable) => {
                report_unreadable(&unreadable);
                continue;
            }
        };
        let is_wanted = |run: &&RecordedRun| {
            hook.is_none_or(|hook| run.hook == hook || run.id == hook)
                && decision.is_none_or(|decision| run.decision.as_deref() == Some(decision))
        };
        for run in verdicts(&record).iter().filter(is_wanted) {
            let verdicts = hooks.entry(run.id.clone()).or_default();
            verdicts.hook.clone_from(&run.hook);
            verdicts.layer.clone_from(&run.layer);
            verdicts.all += 1;
            match run.decision.as_deref() {
                Some("deny") => verdicts.denied += 1,
                Some("ask") => verdicts.asked += 1,
                Some(_) | None => {}
            }
            if !matches!(run.end.as_str(), "answered" | "silent" | "exited") {
                verdicts.failed += 1;
            }
        }
    }
    hooks
}

/// Returns the runs without an effect of a record.
fn verdicts(record: &Record) -> &[RecordedRun] {
    match record.kind {
        RecordKind::Fired => &record.shadow,
        RecordKind::Late if record.why.as_deref() == Some("shadow") => &record.hooks,
        _ => &[],
    }
}

fn text(hooks: &BTreeMap<String, Verdicts>) -> String {
    if hooks.is_empty() {
        return "no hook with `\"enforce\": false` has run\n".to_owned();
    }
    let mut table = Table::default();
    for one in hooks.values() {
        let asked = if one.asked == 0 { String::new() } else { format!("would have asked {}", one.asked) };
        let failed = if one.failed == 0 { String::new() } else { counted(one.failed, "failure") };
        table.row([
            Cell::plain(short(&one.hook, 48)),
            Cell::new(
                format!("would have blocked {} of {}", one.denied, one.all),
                if one.denied > 0 { BAD } else { PLAIN },
            ),
            Cell::new(asked, CAREFUL),
            Cell::new(failed, CAREFUL),
            Cell::new(one.layer.clone(), QUIET),
        ]);
    }
    table.render(0)
}

fn document(hooks: &BTreeMap<String, Verdicts>) -> Value {
    let hooks: Vec<Value> = hooks
        .iter()
        .map(|(id, one)| {
            json!({
                "id": id,
                "hook": one.hook,
                "layer": one.layer,
                "verdicts": one.all,
                "denied": one.denied,
                "asked": one.asked,
                "failed": one.failed,
            })
        })
        .collect();
    json!({ "hooks": hooks })
}
