//! `hookrail stats`: how often each hook ran, what it decided, how long it took.

use hookrail_app::failure::Result;
use hookrail_app::records::statistics::{self, HookStatistics, quantile};
use hookrail_app::text::{one_line, short};
use serde_json::json;

use super::log::{limit, note_limit, report_unreadable};
use crate::args::{RecordFormat, StatsArgs};
use crate::cmd::exit::Exit;
use crate::output;
use crate::output::pager::LongOutput;
use crate::render::csv;
use crate::render::style::{BAD, CAREFUL, PLAIN};
use crate::render::table::{Cell, Table};

pub(crate) fn run(args: &StatsArgs) -> Result<Exit> {
    let mut hooks = statistics::collect(args.select.selection(), &mut report_unreadable)?;
    if let Some(count) = limit(args.limit) {
        let all = hooks.len();
        hooks.truncate(count);
        note_limit(hooks.len(), all, "hooks", args.limit);
    }
    match args.form() {
        Some(RecordFormat::Json) => output::json(&document(&hooks).into())?,
        Some(RecordFormat::Csv) => output::verbatim(&rows(&hooks))?,
        None if hooks.is_empty() => output::text("no hook has run in these records\n")?,
        None => {
            let mut output = LongOutput::paged();
            output.text(&table(&hooks))?;
            output.finish()?;
        }
    }
    Ok(Exit::Fine)
}

/// The bounds of the plot's columns, in milliseconds: each column is about three times the one before it.
const BOUNDS: [f64; 9] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];

/// How the times are distributed, from under 0.1 ms to over 1 s.
fn plot(times: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut counts = [0_usize; BOUNDS.len() + 1];
    for time in times {
        let column = BOUNDS.iter().position(|bound| time < bound).unwrap_or(BOUNDS.len());
        if let Some(count) = counts.get_mut(column) {
            *count += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: &usize| match *count {
        0 => ' ',
        count => BARS.get((count * (BARS.len() - 1)).div_ceil(most)).copied().unwrap_or('█'),
    };
    counts.iter().map(bar).collect()
}

fn table(hooks: &[HookStatistics]) -> String {
    let mut table =
        Table::with_heads(["hook", "layer", "runs", "denied", "asked", "failed", "p50 ms", "p99 ms", "0.1 ms … 1 s"]);
    for hook in hooks {
        let counted = |count: u64, style| Cell::new(count.to_string(), if count > 0 { style } else { PLAIN });
        table.row([
            Cell::plain(short(&one_line(&hook.name), 40)),
            Cell::quiet(one_line(&hook.layer)),
            Cell::plain(hook.runs.to_string()),
            counted(hook.denies, BAD),
            counted(hook.asks, CAREFUL),
            counted(hook.failures, BAD),
            Cell::plain(format!("{:.1}", quantile(&hook.times, 0.5))),
            Cell::plain(format!("{:.1}", quantile(&hook.times, 0.99))),
            Cell::plain(plot(&hook.times)),
        ]);
    }
    table.render(0)
}

/// The numbers as comma-separated values.
fn rows(hooks: &[HookStatistics]) -> String {
    let heads = csv::row(["id", "hook", "layer", "runs", "denied", "asked", "failed", "p50Ms", "p99Ms"]);
    let row = |hook: &HookStatistics| {
        let counts = [hook.runs, hook.denies, hook.asks, hook.failures].map(|count| count.to_string());
        let times = [0.5, 0.99].map(|part| quantile(&hook.times, part).to_string());
        let texts = [hook.id.as_str(), &hook.name, &hook.layer].into_iter();
        csv::row(texts.chain(counts.iter().chain(&times).map(String::as_str)))
    };
    heads + &hooks.iter().map(row).collect::<String>()
}

fn document(hooks: &[HookStatistics]) -> serde_json::Value {
    let listed = hooks.iter().map(|hook| {
        json!({
            "id": hook.id,
            "hook": hook.name,
            "layer": hook.layer,
            "runs": hook.runs,
            "denied": hook.denies,
            "asked": hook.asks,
            "failed": hook.failures,
            "p50Ms": quantile(&hook.times, 0.5),
            "p99Ms": quantile(&hook.times, 0.99),
        })
    });
    json!({"hooks": listed.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_column_for_every_bound() {
        assert_eq!(plot(&[0.05, 0.05, 2.0, 5000.0]), "█  ▅     ▅");
    }
}
