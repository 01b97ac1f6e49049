//! `hookrail stats`: how often each hook ran, what it decided, how long it took.

use std::collections::BTreeMap;

use hookrail_app::failure::Result;
use hookrail_app::text::{one_line, short};
use hookrail_journal::{RecordedHealth, RecordedRun};
use serde_json::json;

use super::journal::{failure, filter, open};
use super::log::{limit, note_limit, report_unreadable};
use crate::args::{RecordFormat, StatsArgs};
use crate::exit::Exit;
use crate::output;
use crate::pager::LongOutput;
use crate::render::csv;
use crate::render::table::{Cell, Table};
use crate::style::{BAD, CAREFUL, PLAIN};

/// What is known of one hook.
#[derive(Debug, Default)]
struct HookStatistics {
    name: String,
    layer: String,
    runs: u64,
    denies: u64,
    asks: u64,
    failures: u64,
    /// The durations of all runs, in milliseconds.
    times: Vec<f64>,
}

pub(crate) fn run(args: &StatsArgs) -> Result<Exit> {
    let records = open()?.read(filter(&args.select)?).map_err(|error| failure(&error))?;
    let wanted = |run: &RecordedRun| args.select.hook.as_ref().is_none_or(|hook| run.hook == *hook || run.id == *hook);
    let mut hooks: BTreeMap<String, HookStatistics> = BTreeMap::new();
    for record in records {
        let record = match record {
            Ok(record) => record,
            Err(unreadable) => {
                report_unreadable(&unreadable);
                continue;
            }
        };
        // What hooks without an effect would have done is counted by `log --shadow`.
        if record.why.as_deref() == Some("shadow") {
            continue;
        }
        record.hooks.iter().filter(|run| wanted(run)).for_each(|run| add(&mut hooks, run));
    }
    let mut hooks: Vec<(String, HookStatistics)> = hooks.into_iter().collect();
    for (_, hook) in &mut hooks {
        hook.times.sort_by(f64::total_cmp);
    }
    hooks.sort_by(|(_, one), (_, other)| other.runs.cmp(&one.runs).then_with(|| one.name.cmp(&other.name)));
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

fn add(hooks: &mut BTreeMap<String, HookStatistics>, run: &RecordedRun) {
    // A detached run is counted when it has ended, by its own record.
    if run.end == "detached" {
        return;
    }
    let hook = hooks.entry(run.id.clone()).or_default();
    hook.name.clone_from(&run.hook);
    hook.layer.clone_from(&run.layer);
    hook.runs += 1;
    hook.denies += u64::from(run.decision.as_deref() == Some("deny"));
    hook.asks += u64::from(run.decision.as_deref() == Some("ask"));
    // The end alone does not tell: an exit status of 2 is how some hooks deny.
    hook.failures += u64::from(run.health == RecordedHealth::Failed);
    hook.times.push(run.ms);
}

/// The time that this part of all runs did not exceed. The times are sorted.
fn quantile(times: &[f64], part: f64) -> f64 {
    let place = (times.len() as f64 * part).ceil() as usize;
    times.get(place.saturating_sub(1)).or(times.last()).copied().unwrap_or(0.0)
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

fn table(hooks: &[(String, HookStatistics)]) -> String {
    let mut table =
        Table::with_heads(["hook", "layer", "runs", "denied", "asked", "failed", "p50 ms", "p99 ms", "0.1 ms … 1 s"]);
    for (_, hook) in hooks {
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
fn rows(hooks: &[(String, HookStatistics)]) -> String {
    let heads = csv::row(["id", "hook", "layer", "runs", "denied", "asked", "failed", "p50Ms", "p99Ms"]);
    let row = |(id, hook): &(String, HookStatistics)| {
        let counts = [hook.runs, hook.denies, hook.asks, hook.failures].map(|count| count.to_string());
        let times = [0.5, 0.99].map(|part| quantile(&hook.times, part).to_string());
        let texts = [id.as_str(), &hook.name, &hook.layer].into_iter();
        csv::row(texts.chain(counts.iter().chain(&times).map(String::as_str)))
    };
    heads + &hooks.iter().map(row).collect::<String>()
}

fn document(hooks: &[(String, HookStatistics)]) -> serde_json::Value {
    let listed = hooks.iter().map(|(id, hook)| {
        json!({
            "id": id,
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
    fn quantiles_are_times_that_were_measured() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((quantile(&times, 0.5), quantile(&times, 0.99)), (50.0, 99.0));
        assert_eq!((quantile(&[7.0], 0.5), quantile(&[], 0.5)), (7.0, 0.0));
    }

    /// The inspector has a test with the same times.
    #[test]
    fn quantiles_are_those_of_the_inspector() {
        let cases = include_str!("../../../hookrail-inspect/tests/it/quantiles.json");
        for case in serde_json::from_str::<Vec<serde_json::Value>>(cases).unwrap() {
            let times: Vec<f64> = serde_json::from_value(case["times"].clone()).unwrap();
            let found = (quantile(&times, 0.5), quantile(&times, 0.99));
            assert_eq!((Some(found.0), Some(found.1)), (case["p50"].as_f64(), case["p99"].as_f64()), "{case}");
        }
    }

    #[test]
    fn a_plot_has_a_column_for_every_bound() {
        assert_eq!(plot(&[0.05, 0.05, 2.0, 5000.0]), "█  ▅     ▅");
    }
}
