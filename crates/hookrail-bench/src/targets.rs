//! The performance targets, and whether a measurement meets them.

use crate::results::BenchResults;
use crate::stats::Spread;

/// The factor by which a number may miss its limit and still be marked "at the line".
const TOLERANCE: f64 = 1.05;

/// One target.
pub(crate) struct Target {
    /// The first column of the table in `docs/evidence/performance.md`, which explains `F`.
    pub(crate) description: &'static str,
    limit: Limit,
    number: TargetNumber,
}

/// The limit that a number is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// Which number of a measurement is compared with the limit.
enum TargetNumber {
    /// `Ratio(case, of, to)`: the time of the variant `of` divided by that of `to`.
    Ratio(&'static str, &'static str, &'static str),
    /// `Without(case, of, without, to)`: the same, with the time of `without` subtracted from that of `of`.
    Without(&'static str, &'static str, &'static str, &'static str),
    /// `Value(case, name)`: a value that is not a time.
    Value(&'static str, &'static str),
    /// `WorstAgainst(peer)`: the highest ratio of hookrail's time to the peer's, of all cases that have both.
    WorstAgainst(&'static str),
}

/// How well a target is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetMark {
    Reached,
    AtTheLine,
    Missed,
    NotMeasured,
}

impl TargetMark {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::AtTheLine => "at the line",
            Self::Missed => "**missed**",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A target with the measured number.
pub(crate) struct TargetResult {
    pub(crate) description: &'static str,
    pub(crate) limit: Limit,
    pub(crate) found: Option<Spread>,
    /// The comparison that the number is from, if the target has several.
    pub(crate) which: Option<String>,
    pub(crate) mark: TargetMark,
}

/// Compares a measurement with every target.
pub(crate) fn judge(results: &BenchResults) -> Vec<TargetResult> {
    let judged = |target: Target| {
        let (found, which) = target.number.evaluate(results);
        let mark = found.map_or(TargetMark::NotMeasured, |found| mark(found.median, target.limit));
        TargetResult { description: target.description, limit: target.limit, found, which, mark }
    };
    all_targets().into_iter().map(judged).collect()
}

fn mark(found: f64, limit: Limit) -> TargetMark {
    let (reached, near) = match limit {
        Limit::AtMost(most) => (found <= most, found <= most * TOLERANCE),
        Limit::AtLeast(least) => (found >= least, found >= least / TOLERANCE),
    };
    match (reached, near) {
        (true, _) => TargetMark::Reached,
        (false, true) => TargetMark::AtTheLine,
        (false, false) => TargetMark::Missed,
    }
}

impl TargetNumber {
    fn evaluate(&self, results: &BenchResults) -> (Option<Spread>, Option<String>) {
        let exact = |value: f64| Spread { median: value, p10: value, p90: value };
        match self {
            Self::Ratio(case, of, to) => (results.case(case).and_then(|case| case.ratio(of, to)), None),
            Self::Without(case, of, without, to) => {
                (results.case(case).and_then(|case| case.ratio_without(of, without, to)), None)
            }
            Self::Value(case, name) => (results.case(case).and_then(|case| case.value(name)).map(exact), None),
            Self::WorstAgainst(peer) => find_worst(results, peer).unzip(),
        }
    }
}

/// Returns the comparison with a peer in which hookrail is slowest, and the name of its case. `gemini-x` is compared with
/// `hookrail-x`. `gemini` is compared with `hookrail`, or with `hookrail-cached` in a case that has no `hookrail`.
fn find_worst(results: &BenchResults, peer: &str) -> Option<(Spread, String)> {
    let pairs = results.cases.iter().flat_map(|case| {
        let theirs = case.variants.iter().filter(move |variant| variant.name.starts_with(peer));
        theirs.filter_map(move |theirs| {
            let suffix = theirs.name.strip_prefix(peer)?;
            let ours = ["hookrail", "hookrail-cached"]
                .into_iter()
                .map(|name| if suffix.is_empty() { name.to_owned() } else { format!("hookrail{suffix}") })
                .find(|name| case.variant(name).is_some())?;
            Some((case.ratio(&ours, &theirs.name)?, case.name.clone()))
        })
    });
    pairs.max_by(|(one, _), (other, _)| one.median.total_cmp(&other.median))
}

fn all_targets() -> Vec<Target> {
    use Limit::{AtLeast, AtMost};
    use TargetNumber::{Ratio, Value, Without, WorstAgainst};
    let rows = [
        ("hooks off, against an empty loop with one load", AtMost(1.5), Ratio("off", "hookrail-off", "floor")),
        ("none for the event, against the same", AtMost(1.5), Ratio("off", "hookrail", "floor")),
        ("allocations of that", AtMost(0.0), Value("off-allocations", "wants")),
        (
            "plan, tool seen before, 10,000 hooks, against a hash map",
            AtMost(4.0),
            Ratio("plan-10000", "hookrail-cached", "floor-map"),
        ),
        (
            "plan, new tool, 10,000 hooks, against a `RegexSet`",
            AtMost(3.0),
            Ratio("plan-10000", "hookrail-new", "floor-set"),
        ),
        (
            "protected places on a file tool's event, in microseconds",
            AtMost(2.0),
            Without("protect", "hookrail-file", "off-file", "microsecond"),
        ),
        (
            "protected places on another event, against without",
            AtMost(1.05),
            Ratio("protect", "hookrail-other", "off-other"),
        ),
        (
            "a missing guard on an event of another tool, against one that is there",
            AtMost(1.05),
            Ratio("missing-guard", "hookrail-missing", "hookrail"),
        ),
        (
            "100 rules on an event that none is about, in microseconds",
            AtMost(5.0),
            Without("rules-100", "hookrail-100", "hookrail", "microsecond"),
        ),
        (
            "accesses of a dense line, against the parser of tree-sitter-bash",
            AtMost(1.5),
            Ratio("accesses", "hookrail", "floor"),
        ),
        ("accesses, median line of the corpus, in microseconds", AtMost(20.0), Value("accesses-lines", "median")),
        ("accesses, worst line, in microseconds", AtMost(5_000.0), Value("accesses-lines", "worst")),
        (
            "a guard as a script of bash, against a rule",
            AtLeast(20.0),
            Ratio("rule-script", "hookrail-script", "hookrail-rule"),
        ),
        ("one hook, cheapest child, blocking, against F", AtMost(1.4), Ratio("one-tiny", "hookrail", "floor")),
        (
            "one hook, cheapest child, from a multi-threaded tokio host",
            AtMost(1.6),
            Ratio("one-tiny", "hookrail-tokio", "floor"),
        ),
        ("the same with the host's runtime lent", AtMost(1.6), Ratio("one-tiny", "hookrail-lent", "floor")),
        ("one hook, `sh -c`, against its own floor", AtMost(1.05), Ratio("one-sh", "hookrail", "floor")),
        ("the same from a tokio host", AtMost(1.05), Ratio("one-sh", "hookrail-tokio", "floor")),
        ("one hook, `bash -c`, against its own floor", AtMost(1.05), Ratio("one-bash", "hookrail", "floor")),
        ("the same from a tokio host", AtMost(1.05), Ratio("one-bash", "hookrail-tokio", "floor")),
        ("program with arguments, against `sh -c`", AtMost(0.55), Ratio("one-tiny", "hookrail", "hookrail-sh")),
        (
            "`/bin/true` with `\"sandbox\": \"guard\"`, against without",
            AtMost(1.1),
            Ratio("sandbox", "hookrail-guard", "hookrail"),
        ),
        (
            "ten `sh -c` hooks side by side, against one after the other",
            AtMost(0.55),
            Ratio("ten-sh", "hookrail", "floor-serial"),
        ),
        (
            "10 MiB to one hook, pipe, against a loop over 64 KiB pipes",
            AtMost(0.65),
            Ratio("payload-10m", "hookrail", "floor-loop"),
        ),
        ("10 MiB to ten hooks, the same", AtMost(0.9), Ratio("payload-10m-x10", "hookrail", "floor-loop")),
        ("host with 2 GiB in use, against a small host", AtMost(1.15), Ratio("host-2g", "large", "small")),
        ("module hook, loaded, against F", AtMost(0.3), Ratio("module", "hookrail", "floor")),
        ("module hook, loaded, against a running Node process", AtMost(0.5), Ratio("module", "hookrail", "node")),
        (
            "loading 60 lines of TypeScript, against starting Node",
            AtMost(0.1),
            Ratio("module-load", "hookrail", "node"),
        ),
        ("an idle module, KiB", AtMost(1024.0), Value("module-memory", "each further module")),
        (
            "`hookrail fire` without its hook, against a static child",
            AtMost(8.0),
            Without("cold-start", "hookrail", "floor", "floor"),
        ),
        (
            "`hookrail bridge` with a module and a running server, against `/bin/true`",
            AtMost(4.0),
            Ratio("bridge", "served", "true"),
        ),
        ("`hookrail bridge` alone, against `hookrail fire`", AtMost(1.25), Ratio("bridge", "alone", "fire")),
        ("recording an event of 1.5 KiB, against F", AtMost(0.2), Ratio("journal-record", "hookrail", "floor")),
        (
            "one `sh -c` hook with a journal, against without",
            AtMost(1.05),
            Ratio("journal-fire", "hookrail-journal", "hookrail"),
        ),
        (
            "four processes that append to one journal, against one plain append loop",
            AtMost(2.0),
            Ratio("journal-writers", "hookrail", "floor"),
        ),
        (
            "`journal verify`, 100,000 records, against `sha256sum`",
            AtMost(2.0),
            Ratio("journal-read", "hookrail-verify", "sha256sum"),
        ),
        (
            "`log --decision deny`, 100,000 records, against `grep -c`",
            AtMost(4.0),
            Ratio("journal-read", "hookrail-log", "grep"),
        ),
        (
            "replay of 1,000 events against one module, against firing them in process",
            AtMost(1.5),
            Ratio("replay", "hookrail-replay", "in-process"),
        ),
        ("warm worker, against F", AtMost(0.3), Ratio("lane-worker", "hookrail-worker", "floor")),
        ("gemini-cli-core, one hook (ours a program)", AtLeast(4.0), Ratio("one-tiny", "gemini", "hookrail")),
        ("gemini-cli-core, one hook (both through bash)", AtLeast(4.0), Ratio("one-tiny", "gemini", "hookrail-bash")),
        ("gemini-cli-core, ten side by side (ours programs)", AtLeast(4.0), Ratio("ten-tiny", "gemini", "hookrail")),
        (
            "gemini-cli-core, ten side by side (both through bash)",
            AtLeast(4.0),
            Ratio("ten-tiny", "gemini", "hookrail-bash"),
        ),
        ("gemini-cli-core, 10 MiB", AtLeast(6.0), Ratio("payload-10m", "gemini", "hookrail")),
        ("gemini-cli-core, none configured", AtLeast(1000.0), Ratio("off-whole", "gemini", "hookrail")),
        (
            "gemini-cli-core, plan, tool seen before, 10,000 hooks",
            AtLeast(1000.0),
            Ratio("plan-10000", "gemini", "hookrail-cached"),
        ),
        (
            "gemini-cli-core, plan, new tool, 10,000 hooks",
            AtLeast(500.0),
            Ratio("plan-10000", "gemini-new", "hookrail-new"),
        ),
        ("gemini-cli-core, from start to first event", AtLeast(100.0), Ratio("cold-start", "gemini", "hookrail")),
        ("bytes kept for each event, over 100,000", AtMost(16.0), Value("memory", "kept for each event")),
        ("never slower than gemini-cli-core: the worst case", AtMost(1.0), WorstAgainst("gemini")),
    ];
    rows.into_iter().map(|(description, limit, number)| Target { description, limit, number }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{CaseResult, VariantResult};

    fn case(name: &str, times: &[(&str, f64)]) -> CaseResult {
        let variant = |(name, time): &(&str, f64)| VariantResult {
            name: (*name).to_owned(),
            what: String::new(),
            nanoseconds: vec![*time; 3],
        };
        CaseResult { name: name.to_owned(), variants: times.iter().map(variant).collect(), ..CaseResult::default() }
    }

    #[test]
    fn a_mark_has_a_line_of_five_percent_on_the_bad_side_only() {
        let marks = |found, limit| mark(found, limit);
        assert_eq!(marks(1.40, Limit::AtMost(1.4)), TargetMark::Reached);
        assert_eq!(marks(1.46, Limit::AtMost(1.4)), TargetMark::AtTheLine);
        assert_eq!(marks(1.48, Limit::AtMost(1.4)), TargetMark::Missed);
        assert_eq!(marks(4.0, Limit::AtLeast(4.0)), TargetMark::Reached);
        assert_eq!(marks(3.85, Limit::AtLeast(4.0)), TargetMark::AtTheLine);
        assert_eq!(marks(3.7, Limit::AtLeast(4.0)), TargetMark::Missed);
        assert_eq!(marks(1.0, Limit::AtMost(0.0)), TargetMark::Missed);
    }

    #[test]
    fn what_was_not_measured_is_not_reached() {
        assert!(judge(&BenchResults::default()).iter().all(|judged| judged.mark == TargetMark::NotMeasured));
    }

    #[test]
    fn the_worst_comparison_is_found_with_its_own_partner() {
        let results = BenchResults {
            cases: vec![
                case("a", &[("hookrail", 1.0), ("gemini", 4.0)]),
                case("b", &[("hookrail-cached", 2.0), ("hookrail-new", 9.0), ("gemini", 3.0), ("gemini-new", 10.0)]),
            ],
            ..BenchResults::default()
        };
        let (found, which) = find_worst(&results, "gemini").unwrap();
        assert_eq!((found.median, which.as_str()), (0.9, "b"));
    }
}
