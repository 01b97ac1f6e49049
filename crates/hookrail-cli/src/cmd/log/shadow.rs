//! `hookrail log --shadow`: what hooks without an effect would have done.

use std::collections::BTreeMap;

use hookrail_app::failure::Result;
use hookrail_app::text::counted;
use hookrail_app::text::{one_line, short};
use hookrail_journal::{Filter, Record, RecordKind, RecordedHealth, RecordedRun, Records};
use serde_json::{Value, json};

use super::report_unreadable;
use crate::args::LogArgs;
use crate::cmd::journal::{failure, filter, open};
use crate::exit::Exit;
use crate::output;
use crate::render::table::{Cell, Table};
use crate::style::{BAD, CAREFUL, PLAIN, QUIET};

/// The verdicts of one hook.
#[derive(Debug, Default)]
struct Verdicts {
    hook: String,
    layer: String,
    all: usize,
    denied: usize,
    asked: usize,
    stopped: usize,
    rewritten: usize,
    added_context: usize,
    failed: usize,
}

impl Verdicts {
    fn add(&mut self, run: &RecordedRun) {
        self.hook.clone_from(&run.hook);
        self.layer.clone_from(&run.layer);
        self.all += 1;
        match run.decision.as_deref() {
            Some("deny") => self.denied += 1,
            Some("ask") => self.asked += 1,
            Some(_) | None => {}
        }
        for effect in &run.asked {
            match effect.as_str() {
                "stop" => self.stopped += 1,
                "rewrite" => self.rewritten += 1,
                "context" => self.added_context += 1,
                // What a later version records.
                _ => {}
            }
        }
        self.failed += usize::from(run.health == RecordedHealth::Failed);
    }
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
            hooks.entry(run.id.clone()).or_default().add(run);
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
        let some = |count: usize, what: &str| {
            Cell::new(if count == 0 { String::new() } else { format!("{what} {count}") }, CAREFUL)
        };
        let failed = if one.failed == 0 { String::new() } else { counted(one.failed, "failure") };
        table.row([
            Cell::plain(short(&one_line(&one.hook), 48)),
            Cell::new(
                format!("would have blocked {} of {}", one.denied, one.all),
                if one.denied > 0 { BAD } else { PLAIN },
            ),
            some(one.stopped, "stopped"),
            some(one.rewritten, "rewritten"),
            some(one.asked, "asked"),
            some(one.added_context, "added context"),
            Cell::new(failed, CAREFUL),
            Cell::new(one_line(&one.layer), QUIET),
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
                "stopped": one.stopped,
                "rewritten": one.rewritten,
                "asked": one.asked,
                "addedContext": one.added_context,
                "failed": one.failed,
            })
        })
        .collect();
    json!({ "hooks": hooks })
}
