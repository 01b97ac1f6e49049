//! The pages of the documentation, as part of the program.
//!
//! A message names a page by this command and never by its file, because an installed program comes without the files.

mod search;

pub use search::{find_pages, similar_word};

/// A page of the documentation.
pub struct Page {
    /// The part of the documentation that has the page.
    pub part: &'static str,
    /// What the user calls the page: the path of its file below `docs`, without its ending.
    pub topic: &'static str,
    /// What the page is about.
    pub title: &'static str,
    /// None for a page that the program makes from its tables.
    text: Option<&'static str>,
}

/// The pages, in the order of `docs/SUMMARY.md`. The folder `docs` of this package is a link to that of the repository, which makes
/// the pages part of the published package too.
pub static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

impl Page {
    /// Returns the text as it is printed. `made` gives that of a page which the program makes, by the name of its file.
    pub fn readable(&self, made: impl FnOnce(&str) -> String) -> String {
        match self.text {
            Some(text) => readable(text, self.topic),
            None => readable(&made(self.topic.rsplit('/').next().unwrap_or(self.topic)), self.topic),
        }
    }
}

/// The page without what only its tests and a browser need: marks in comments, words behind the language of a block, and
/// links to files, which become the command that prints the page.
fn readable(page: &str, topic: &str) -> String {
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
            text.push_str(&with_commands_for_links(line, topic));
        }
        text.push('\n');
    }
    text
}

fn with_commands_for_links(line: &str, topic: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("](");
        match part.split_once(')').and_then(|(target, rest)| Some((command(target, topic)?, rest))) {
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

/// The command that prints the page to which a link on the page of a topic leads.
fn command(link: &str, topic: &str) -> Option<String> {
    let file = link.split('#').next()?.strip_suffix(".md")?;
    let mut path: Vec<&str> = topic.split('/').collect();
    path.pop();
    for part in file.split('/') {
        match part {
            ".." => {
                path.pop()?;
            }
            part => path.push(part),
        }
    }
    let target = path.join("/");
    PAGES.iter().any(|page| page.topic == target).then(|| format!("hookrail docs {target}"))
}

#[cfg(test)]
mod tests {
    use super::{command, readable};

    #[test]
    fn a_page_is_printed_without_marks_and_with_commands_for_links() {
        let page = "# Title\n\n<!-- table: x -->\nSee [hooks](../rules.md), [its events](../rules.md#events), [all](../reference/events.md),\n\
            [the soak](../evidence/soak.md) and [this](#title).\n\n```console project=a\n$ echo '[a](hooks.md)'\n```\n";
        insta::assert_snapshot!(readable(page, "how-to/test"), @r"
        # Title

        See [hooks](hookrail docs rules), [its events](hookrail docs rules), [all](hookrail docs reference/events),
        [the soak](../evidence/soak.md) and [this](#title).

        ```console
        $ echo '[a](hooks.md)'
        ```
        ");
    }

    #[test]
    fn links_are_relative_to_the_page_they_are_on() {
        let from_tutorial = |link| command(link, "get-started/first-hook");
        assert_eq!(from_tutorial("plugin.md").as_deref(), Some("hookrail docs get-started/plugin"));
        assert_eq!(from_tutorial("../rules.md#events").as_deref(), Some("hookrail docs rules"));
        assert_eq!(from_tutorial("../reference/events.md").as_deref(), Some("hookrail docs reference/events"));
        for nowhere in ["hooks.md", "../../README.md", "../../../x.md", "#here", "https://example.com/hooks.md"] {
            assert_eq!(from_tutorial(nowhere), None, "{nowhere}");
        }
    }
}
