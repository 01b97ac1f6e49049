//! The results in the form of JUnit, which most CI systems read: a test suite for each case file.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::super::run::{CaseEnd, TestedCase};
use super::{Problem, Report, reasons};

/// Returns the report as XML.
pub fn report(report: &Report) -> String {
    let mut files: Vec<Arc<str>> = report.results.iter().map(|result| Arc::clone(&result.case.shown_file)).collect();
    files.dedup();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"hookrail\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\">",
        report.results.len() + report.problems.len(),
        report.failed(),
        report.problems.len(),
        report.skipped(),
        report.took.as_secs_f64()
    );
    for file in files {
        let results: Vec<&TestedCase> = report.results.iter().filter(|result| result.case.shown_file == file).collect();
        text.push_str(&suite(&file, &results));
    }
    text.extend(report.problems.iter().map(problem_suite));
    text.push_str("</testsuites>\n");
    text
}

fn suite(file: &str, results: &[&TestedCase]) -> String {
    let count = |is_meant: fn(&CaseEnd) -> bool| results.iter().filter(|result| is_meant(&result.verdict)).count();
    let took: Duration = results.iter().map(|result| result.took).sum();
    let name = escape(file);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3}\">",
        results.len(),
        count(|verdict| matches!(verdict, CaseEnd::Failed(_))),
        count(|verdict| matches!(verdict, CaseEnd::Skipped(_) | CaseEnd::Interrupted)),
        took.as_secs_f64()
    );
    for result in results {
        let case = &result.case.case;
        let _ = write!(
            text,
            "    <testcase name=\"{}\" classname=\"{name}\" file=\"{name}\" line=\"{}\" time=\"{:.3}\"",
            escape(&case.name),
            case.line(),
            result.took.as_secs_f64()
        );
        let _ = match &result.verdict {
            CaseEnd::Passed => writeln!(text, "/>"),
            CaseEnd::Skipped(why) => writeln!(text, "><skipped message=\"{}\"/></testcase>", escape(why)),
            CaseEnd::Interrupted => writeln!(text, "><skipped message=\"interrupted\"/></testcase>"),
            CaseEnd::Failed(_) => {
                let reasons = reasons(result);
                let first = reasons.first().map(String::as_str).unwrap_or_default();
                let body = escape(&reasons.join("\n"));
                writeln!(text, "><failure message=\"{}\">{body}</failure></testcase>", escape(first))
            }
        };
    }
    text.push_str("  </testsuite>\n");
    text
}

/// Returns a test suite with one erroneous case, which is how JUnit says that tests could not be run.
fn problem_suite(problem: &Problem) -> String {
    let (file, line) = problem.place.as_ref().map_or(("hookrail test", 1), |place| (place.file.as_str(), place.line));
    let (name, body) = (escape(file), escape(&problem.told()));
    let case = match &problem.place {
        Some(_) => format!("name=\"{name}:{line}\" classname=\"{name}\" file=\"{name}\" line=\"{line}\""),
        None => format!("name=\"{name}\" classname=\"{name}\""),
    };
    let message = escape(&problem.message);
    format!(
        "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\">\n    <testcase \
         {case} time=\"0.000\"><error message=\"{message}\">{body}</error></testcase>\n  </testsuite>\n"
    )
}

/// Escapes text for XML. Characters that XML cannot have become a mark.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ if character.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_cannot_end_its_element() {
        assert_eq!(escape("a<b> & \"c\"\n\u{1b}"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;\u{fffd}");
    }
}
