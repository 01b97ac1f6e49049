//! `hookrail docs`: the pages of the documentation, as part of the program.
//!
//! A message names a page by this command and never by its file, because an installed program comes without the files.

use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::args::DocsArgs;
use crate::errors::{Exit, Failure, Result};
use crate::output;
use crate::style::{HEADING, HINT, paint};

/// A page of the documentation.
struct Page {
    /// What the user calls the page: the name of its file.
    topic: &'static str,
    /// What the page answers.
    title: &'static str,
    text: &'static str,
}

/// The pages: the topic, what the page answers, and its file. The folder is a link to `docs` of the repository, which
/// makes the pages part of the published package too.
macro_rules! pages {
    ($($topic:literal, $title:literal;)+) => {
        [$(Page { topic: $topic, title: $title, text: include_str!(concat!("../../docs/", $topic, ".md")) }),+]
    };
}

static PAGES: &[Page] = &pages! {
    "hooks", "Write hooks: every event, what it receives, what it can answer";
    "cookbook", "Copy a hook that does what you need";
    "modules", "Write hooks in JavaScript and TypeScript";
    "plugins", "Write and install plugins with hooks";
    "configuration", "Set limits, capabilities and the bus in hookrail's own configuration";
    "agent", "Run the reference agent, and write scripts for its model";
    "embedding", "Build hookrail into an agent";
    "bus", "Talk to hookrail from another program";
    "differences", "See what differs from the original hook systems, and why";
    "performance", "See what hooks cost";
    "reliability", "See what was tried to break hookrail, and what happened";
};

/// The pages of the reference, which another command makes from the engine's tables.
const REFERENCE: [&str; 4] = ["events", "diagnostics", "bus", "configuration"];

pub(crate) fn run(args: &DocsArgs) -> Result<Exit> {
    let Some(topic) = &args.topic else {
        output::text(&list())?;
        return Ok(Exit::Fine);
    };
    let Some(page) = PAGES.iter().find(|page| page.topic == topic) else {
        return Err(Failure::new(format!("there is no page `{topic}`")).hint("`hookrail docs` lists the topics"));
    };
    output::text(&readable(page.text))?;
    Ok(Exit::Fine)
}

/// The topics, for the parser of the command line, which completes and corrects them.
pub(crate) fn topics() -> PossibleValuesParser {
    PossibleValuesParser::new(PAGES.iter().map(|page| PossibleValue::new(page.topic).help(page.title)))
}

fn list() -> String {
    let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or_default();
    let mut text = format!("{}\n", paint(HEADING, "topics"));
    for Page { topic, title, .. } in PAGES {
        text.push_str(&format!("  {}  {title}\n", paint(HINT, format!("{topic:width$}"))));
    }
    text.push_str("\n`hookrail docs TOPIC` prints a page.\n");
    text.push_str(&format!("`hookrail reference PAGE` prints the reference: {}.\n", REFERENCE.join(", ")));
    text
}

/// The page without what only its tests and a browser need: marks in comments, words behind the language of a block, and
/// links to files, which become the command that prints the page.
fn readable(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut in_block = false;
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            in_block = !in_block;
            let language = info.split([' ', ',']).next().unwrap_or_default();
            text.push_str("```");
            text.push_str(language);
        } else if in_block {
            text.push_str(line);
        } else if line.starts_with("<!--") && line.ends_with("-->") {
            continue;
        } else {
            text.push_str(&with_commands_for_links(line));
        }
        text.push('\n');
    }
    text
}

fn with_commands_for_links(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("](");
        match part.split_once(')').and_then(|(target, rest)| Some((command(target)?, rest))) {
            Some((command, rest)) => {
                text.push_str(&command);
                text.push(')');
                text.push_str(rest);
            }
            None => text.push_str(part),
        }
    }
    text
}

/// The command that prints the page which a link leads to.
fn command(link: &str) -> Option<String> {
    let file = link.split('#').next()?.strip_suffix(".md")?;
    match file.strip_prefix("reference/") {
        Some(page) => REFERENCE.contains(&page).then(|| format!("hookrail reference {page}")),
        None => PAGES.iter().any(|page| page.topic == file).then(|| format!("hookrail docs {file}")),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn a_page_is_printed_without_marks_and_with_commands_for_links() {
        let page = "# Title\n\n<!-- table: x -->\nSee [hooks](hooks.md), [its events](hooks.md#events), [all](reference/events.md),\n\
            [the soak](reliability/soak.md) and [this](#title).\n\n```console project=a\n$ echo '[a](hooks.md)'\n```\n";
        insta::assert_snapshot!(readable(page), @r"
        # Title

        See [hooks](hookrail docs hooks), [its events](hookrail docs hooks), [all](hookrail reference events),
        [the soak](reliability/soak.md) and [this](#title).

        ```console
        $ echo '[a](hooks.md)'
        ```
        ");
    }
}
