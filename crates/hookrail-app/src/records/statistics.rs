//! How often each hook ran, what it decided, how long it took.

use std::collections::BTreeMap;

use hookrail_journal::{RecordedHealth, RecordedRun};

use super::{RecordSelection, ReportUnreadable, read};
use crate::failure::Result;

/// What is known of one hook.
#[derive(Debug, Default)]
pub struct HookStatistics {
    pub id: String,
    pub name: String,
    pub layer: String,
    pub runs: u64,
    pub denies: u64,
    pub asks: u64,
    pub failures: u64,
    /// The durations of all runs, in milliseconds, sorted.
    pub times: Vec<f64>,
}

impl HookStatistics {
    fn add(&mut self, run: &RecordedRun<'_>) {
        run.id.as_ref().clone_into(&mut self.id);
        run.hook.as_ref().clone_into(&mut self.name);
        run.layer.as_ref().clone_into(&mut self.layer);
        self.runs += 1;
        self.denies += u64::from(run.decision.as_deref() == Some("deny"));
        self.asks += u64::from(run.decision.as_deref() == Some("ask"));
        // The end alone does not tell: an exit status of 2 is how some hooks deny.
        self.failures += u64::from(run.health == RecordedHealth::Failed);
        self.times.push(run.ms);
    }
}

/// Counts the runs of each hook. The hook that ran most often comes first.
///
/// # Errors
///
/// The selection or the journal cannot be read.
pub fn collect(selection: RecordSelection<'_>, report: ReportUnreadable<'_>) -> Result<Vec<HookStatistics>> {
    let mut hooks: BTreeMap<String, HookStatistics> = BTreeMap::new();
    let is_wanted = |run: &&RecordedRun<'_>| {
        // A detached run is counted when it has ended, by its own record.
        run.end != "detached" && selection.hook.is_none_or(|hook| run.hook == hook || run.id == hook)
    };
    for record in read(selection)? {
        match record {
            // What shadow hooks would have done is counted apart.
            Ok(record) if record.why.as_deref() == Some("shadow") => {}
            Ok(record) => {
                for run in record.runs().filter(is_wanted) {
                    hooks.entry(run.id.to_string()).or_default().add(run);
                }
            }
            Err(unreadable) => report(&unreadable),
        }
    }
    let mut hooks: Vec<HookStatistics> = hooks.into_values().collect();
    for hook in &mut hooks {
        hook.times.sort_by(f64::total_cmp);
    }
    hooks.sort_by(|one, other| other.runs.cmp(&one.runs).then_with(|| one.name.cmp(&other.name)));
    Ok(hooks)
}

/// The time that this part of all runs did not exceed. The times are sorted.
pub fn quantile(times: &[f64], part: f64) -> f64 {
    let place = (times.len() as f64 * part).ceil() as usize;
    times.get(place.saturating_sub(1)).or(times.last()).copied().unwrap_or(0.0)
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
}
