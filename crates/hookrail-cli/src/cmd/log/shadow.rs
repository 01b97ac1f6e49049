//! `hookrail log --shadow`: what shadow hooks would have done.

use std::collections::BTreeMap;

use hookrail_app::failure::Result;
use hookrail_app::records::shadow_verdicts::{Verdicts, collect};
use hookrail_app::text::{counted, one_line, short};
use serde_json::{Value, json};

use super::report_unreadable;
use crate::args::LogArgs;
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, CAREFUL, PLAIN, QUIET};
use crate::render::table::{Cell, Table};

pub(super) fn run(args: &LogArgs) -> Result<Exit> {
    let hooks = collect(args.select.selection(), &mut report_unreadable)?;
    if args.json {
        output::json(&document(&hooks).into())?;
    } else {
        output::text(&text(&hooks))?;
    }
    Ok(Exit::Fine)
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
