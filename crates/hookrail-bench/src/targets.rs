//! The performance targets, and whether a measurement meets them. The targets themselves are in `targets.txt`.

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
    let rows = include_str!("targets.txt").lines().filter(|line| !line.starts_with('#'));
    // A test holds that every row is one.
    rows.filter_map(Target::parse).collect()
}

impl Target {
    /// Reads a row of `targets.txt`: the limit, the kind of the number, what the number is of, and the description.
    fn parse(row: &'static str) -> Option<Self> {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [limit, ref number @ .., description] = *columns else { return None };
        let limit = match limit.split_at_checked(limit.rfind(' ')?)? {
            ("at most", most) => Limit::AtMost(most.trim().parse().ok()?),
            ("at least", least) => Limit::AtLeast(least.trim().parse().ok()?),
            _ => return None,
        };
        let number = match *number {
            ["ratio", case, of, to] => TargetNumber::Ratio(case, of, to),
            ["without", case, of, without, to] => TargetNumber::Without(case, of, without, to),
            ["value", case, name] => TargetNumber::Value(case, name),
            ["worst", peer] => TargetNumber::WorstAgainst(peer),
            _ => return None,
        };
        Some(Self { description, limit, number })
    }
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
    fn every_row_is_a_target() {
        let rows = include_str!("targets.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.filter(|row| Target::parse(row).is_none()).collect::<Vec<_>>(), Vec::<&str>::new());
        for row in
            ["at most 1 | ratio | case | of | what", "below 1 | value | case | name | what", "at most | worst | peer"]
        {
            assert!(Target::parse(row).is_none(), "{row}");
        }
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
