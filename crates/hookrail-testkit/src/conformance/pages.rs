//! The pages that are made from the rules: the specification and the differences from the originals.

use std::fmt::Write as _;

use super::rules::{NumberedRule, RulePage};

/// The command that writes the pages and the coverage.
pub const BLESS_COMMAND: &str = "HOOKRAIL_BLESS=1 cargo test -p hookrail-testkit --test it rules::";

const HEAD_OF_DIFFERENCES: &str = "\
# Differences from the originals

For users of the hook systems that hookrail reproduces: where it differs from them on purpose, and why. Where an original is not
mentioned, hookrail does the same. The numbers are those of the [specification](specification/README.md), whose data
(`conformance/rules/`) names the case or the test that shows each row.
";

/// The line behind a part of a page that is made.
pub const END_OF_TABLE: &str = "<!-- End of what was made. -->";

/// Returns the text of `docs/specification/PAGE.md`.
#[must_use]
pub fn specification_page(page: &RulePage) -> String {
    let mut text =
        format!("# {}: {} rules\n\n{}\n\n{}\n", page.title, page.name, made_from(&page.name), flat(&page.about));
    for section in &page.sections {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n", section.title);
        if !section.text.is_empty() {
            let _ = write!(text, "{}\n\n", flat(&section.text));
        }
        for rule in &section.rules {
            let _ = writeln!(text, "- **{}** {}", rule.numbers(), flat(&rule.text));
        }
    }
    text
}

/// Returns the table of pages in `docs/specification/README.md`, with the line before it and the line behind it.
#[must_use]
pub fn specification_table(pages: &[RulePage]) -> String {
    let rows: String = pages
        .iter()
        .map(|page| {
            let first = page.rules().next().map_or("", |rule| rule.id.as_str());
            format!("| [{0}]({0}.md) | {1} | `{0}:{first}` |\n", page.name, page.title)
        })
        .collect();
    format!("{}\n\n| page | rules about | the first |\n|---|---|---|\n{rows}\n{END_OF_TABLE}\n", made_from("*"))
}

/// Returns the text of `docs/differences.md`.
#[must_use]
pub fn differences_page(pages: &[RulePage]) -> String {
    let mut text = format!("{HEAD_OF_DIFFERENCES}\n{}\n", made_from("*"));
    for page in pages {
        let mut title = Some(format!("\n## {}\n", page.title));
        for section in &page.sections {
            let rows: String = section.rules.iter().filter_map(|rule| difference(page, rule)).collect();
            if !rows.is_empty() {
                text += &title.take().unwrap_or_default();
                let _ = write!(
                    text,
                    "\n### {}\n\n| rule | {} | hookrail | why |\n|---|---|---|---|\n{rows}",
                    section.heading(),
                    page.original
                );
            }
        }
    }
    text
}

fn difference(page: &RulePage, rule: &NumberedRule) -> Option<String> {
    let original = rule.original.as_deref()?;
    let reason = rule.reason.as_deref().unwrap_or_default();
    let cells = [original, &rule.text, reason].map(|text| linked_from_docs(&flat(text)).replace('|', "\\|"));
    let [original, text, reason] = cells;
    Some(format!("| [{}](specification/{}.md) | {original} | {text} | {reason} |\n", rule.id, page.name))
}

/// A text whose links count from `docs`, and not from the folder of the specification.
fn linked_from_docs(text: &str) -> String {
    let mut parts = text.split("](");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        linked.push_str("](");
        match part.strip_prefix("../") {
            Some(rest) => linked.push_str(rest),
            None if part.starts_with("https://") => linked.push_str(part),
            None => {
                linked.push_str("specification/");
                linked.push_str(part);
            }
        }
    }
    linked
}

fn made_from(name: &str) -> String {
    format!("<!-- Made from conformance/rules/{name}.toml: {BLESS_COMMAND} -->")
}

/// A text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
