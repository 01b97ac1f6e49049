//! A measurement as Markdown, and the page that holds it.

use std::fmt::Write as _;

use crate::BenchResult;
use crate::results::{BenchResults, CaseResult};
use crate::targets::{Limit, TargetResult, judge};

const BEGIN: &str = "<!-- results: made by `hookrail-bench table`, do not edit -->";
const END: &str = "<!-- end of results -->";

/// The targets, and the machine on which they were measured.
fn summary(results: &BenchResults) -> String {
    let mut page = String::new();
    conditions(&mut page, results);
    targets(&mut page, &judge(results));
    page
}

/// The targets and every time. A page has the targets only: what a case compares is found by running it.
#[must_use]
pub fn everything(results: &BenchResults) -> String {
    let mut page = summary(results);
    cases(&mut page, &results.cases);
    page
}

/// A page with new targets between its marks.
///
/// # Errors
/// When the page has no marks.
pub fn replace(page: &str, results: &BenchResults) -> BenchResult<String> {
    let (before, rest) = page.split_once(BEGIN).ok_or("the page has no place for the tables")?;
    let (_, after) = rest.split_once(END).ok_or("the place for the tables has no end")?;
    Ok(format!("{before}{BEGIN}\n\n{}\n{END}{after}", summary(results)))
}

fn conditions(page: &mut String, results: &BenchResults) {
    let (machine, method) = (&results.machine, &results.method);
    line(page, format_args!("| | |\n|---|---|"));
    line(page, format_args!("| machine | {}, {} cores, Linux {} |", machine.processor, machine.cores, machine.kernel));
    line(page, format_args!("| load when it began | {} |", machine.load));
    line(page, format_args!("| scheduling | {} |", method.scheduling));
    line(page, format_args!("| compiler | {} |", machine.rustc));
    line(page, format_args!("| source | {} |", machine.commit));
    let peers: Vec<String> = results.peers.iter().map(|(name, version)| format!("{name} {version}")).collect();
    line(page, format_args!("| peers | {} |", peers.join(", ")));
    if method.quick {
        line(page, format_args!("\nThis was only a short look."));
    }
    line(page, format_args!(""));
}

fn targets(page: &mut String, judged: &[TargetResult]) {
    line(page, format_args!("### targets\n"));
    line(page, format_args!("| what | target | found | middle 80 % | |\n|---|---|---|---|---|"));
    for target in judged {
        let limit = match target.limit {
            Limit::AtMost(most) => format!("≤ {}", number(most)),
            Limit::AtLeast(least) => format!("≥ {}", number(least)),
        };
        let (found, middle) = target.found.map_or((String::new(), String::new()), |found| {
            let middle = if found.p10 < found.p90 { range(found.p10, found.p90) } else { String::new() };
            (number(found.median), middle)
        });
        let description = target.description;
        let which = target.which.as_ref().map(|case| format!(" (`{case}`)")).unwrap_or_default();
        line(page, format_args!("| {description}{which} | {limit} | {found} | {middle} | {} |", target.mark.name()));
    }
    line(page, format_args!(""));
}

fn cases(page: &mut String, cases: &[CaseResult]) {
    line(page, format_args!("### everything that was measured\n"));
    line(page, format_args!("Each ratio is to the first line of its case.\n"));
    for case in cases {
        line(page, format_args!("**`{}`**: {}\n", case.name, case.title));
        if let Some(first) = case.variants.first() {
            line(page, format_args!("| | | ratio | middle 80 % | median time |\n|---|---|---|---|---|"));
            for variant in &case.variants {
                let (Some(ratio), Some(time)) = (case.ratio(&variant.name, &first.name), variant.time()) else {
                    continue;
                };
                let (name, what, ratio, middle) =
                    (&variant.name, &variant.what, number(ratio.median), range(ratio.p10, ratio.p90));
                line(page, format_args!("| `{name}` | {what} | {ratio} | {middle} | {} |", duration(time.median)));
            }
            line(page, format_args!(""));
        }
        for value in &case.values {
            line(page, format_args!("* {}: {} {}", value.name, number(value.value), value.unit));
        }
        for why in &case.absent {
            line(page, format_args!("* not measured: {}", why.lines().next().unwrap_or_default()));
        }
        if !case.values.is_empty() || !case.absent.is_empty() {
            line(page, format_args!(""));
        }
    }
}

/// Appends a line. Writing to a string cannot fail.
fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(page, "{text}");
}

fn range(low: f64, high: f64) -> String {
    format!("{} to {}", number(low), number(high))
}

/// A number with its significant digits.
pub(crate) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        size if size >= 0.01 => 3,
        _ => 5,
    };
    format!("{value:.digits$}")
}

/// A time in the unit that suits it.
pub(crate) fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        time if time >= 1e9 => format!("{} s", number(time / 1e9)),
        time if time >= 1e6 => format!("{} ms", number(time / 1e6)),
        time if time >= 1e3 => format!("{} µs", number(time / 1e3)),
        time => format!("{} ns", number(time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_mean_something() {
        assert_eq!([1234.5, 12.34, 1.234, 0.0123].map(number), ["1234", "12.3", "1.23", "0.012"]);
        assert_eq!([0.4, 1500.0, 2.5e6, 3e9].map(duration), ["0.40 ns", "1.50 µs", "2.50 ms", "3.00 s"]);
    }

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let page = format!("before\n{BEGIN}\nstale\n{END}\nafter\n");
        let made = replace(&page, &BenchResults::default()).unwrap();
        assert!(made.starts_with("before\n") && made.ends_with("after\n") && !made.contains("stale"));
        assert_eq!(replace(&made, &BenchResults::default()).unwrap(), made);
        assert!(replace("no marks", &BenchResults::default()).is_err());
    }
}
