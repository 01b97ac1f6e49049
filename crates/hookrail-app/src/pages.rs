//! The pages of the documentation, as part of the program.
//!
//! A message names a page by this command and never by its file, because an installed program comes without the files.

/// A page of the documentation.
pub struct Page {
    /// What the user calls the page: the path of its file below `docs`, without its ending.
    pub topic: &'static str,
    /// What the page answers.
    pub title: &'static str,
    text: &'static str,
}

/// The pages: the topic, and what the page answers. The folder is a link to `docs` of the repository, which
/// makes the pages part of the published package too.
macro_rules! pages {
    ($($topic:literal, $title:literal;)+) => {
        [$(Page { topic: $topic, title: $title, text: include_str!(concat!("../docs/", $topic, ".md")) }),+]
    };
}

pub static PAGES: &[Page] = &pages! {
    "tutorial/typescript-hook", "Get to a tested hook in TypeScript";
    "tutorial/python-hook", "Get to a tested hook in Python";
    "tutorial/rust-hook", "Get to a tested hook in Rust";
    "tutorial/tested-plugin", "Get to a tested plugin";
    "tutorial/command-hook", "Write your first command hook";
    "tutorial/plugin-hook", "Write your first plugin with a hook";
    "tutorial/module-hook", "Write your first module hook";
    "tutorial/embedding", "Build the engine into a small Rust program";
    "rules", "Guard without a script";
    "cookbook", "Copy a hook that does what you need";
    "how-to/develop-hooks", "See what a hook does while you write it";
    "how-to/debug-hooks", "Find out why a hook does not work";
    "how-to/editor-support", "Set up an editor for hooks";
    "how-to/shell-setup", "Set up completion, manual pages and colours";
    "how-to/test-hooks", "Test hooks, and run the tests in continuous integration";
    "how-to/try-a-hook", "Try a hook before it counts";
    "how-to/replay-events", "Find out what a change of hooks would have done";
    "how-to/faster-hooks", "Make hooks faster";
    "how-to/sandbox-hooks", "Restrict what a hook may do";
    "how-to/keep-secrets", "Keep secrets from hooks";
    "journal", "Find out what hooks decided, and verify the record";
    "inspect", "See in the browser what hooks decided";
    "telemetry", "Export what hooks decide to an OpenTelemetry collector";
    "fleet", "Bring one policy to many machines";
    "agents/README", "Use hookrail in Claude Code, Codex, Gemini CLI and other agents";
    "agents/claude", "Use hookrail in Claude Code";
    "agents/codex", "Use hookrail in Codex CLI";
    "agents/gemini", "Use hookrail in Gemini CLI";
    "agents/qwen", "Use hookrail in Qwen Code";
    "agents/copilot", "Use hookrail in Copilot CLI";
    "agents/opencode", "Use hookrail in OpenCode";
    "agents/pi", "Use hookrail in pi";
    "agents/droid", "Use hookrail in Droid";
    "embedding", "Build hookrail into an agent";
    "bus", "Talk to hookrail from another program";
    "hooks", "Find the page about command hooks that you need";
    "reference/settings", "Look up keys of settings files, and matchers";
    "reference/answers", "Look up what a hook reads and how its answer is read";
    "reference/event-samples", "Look up a sample and a script for each event";
    "reference/mistakes", "Look up what a message about a mistake means";
    "plugins", "Write and install plugins with hooks";
    "modules", "Write hooks in JavaScript and TypeScript";
    "configuration", "Set limits, capabilities and the bus in hookrail's own configuration";
    "agent", "Run the reference agent, and write scripts for its model";
    "explanation/event-flow", "Understand how an event flows";
    "explanation/answers", "Understand how several answers become one outcome";
    "explanation/trust", "Understand how trust works";
    "explanation/authority", "Understand the layers of authority";
    "differences", "See what differs from the original hook systems, and why";
    "performance", "See what hooks cost";
    "reliability", "See what was tried to break hookrail, and what happened";
};

/// The pages of the reference, which another command makes from the engine's tables.
pub const REFERENCE: [&str; 6] = ["commands", "events", "diagnostics", "bus", "configuration", "test-cases"];

/// Returns the text of a page as it is printed; none if there is no such page.
pub fn readable_page(topic: &str) -> Option<String> {
    PAGES.iter().find(|page| page.topic == topic).map(|page| readable(page.text, page.topic))
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
    if PAGES.iter().any(|page| page.topic == target) {
        return Some(format!("hookrail docs {target}"));
    }
    let page = target.strip_prefix("reference/").filter(|page| REFERENCE.contains(page))?;
    Some(format!("hookrail reference {page}"))
}

#[cfg(test)]
mod tests {
    use super::{command, readable};

    #[test]
    fn a_page_is_printed_without_marks_and_with_commands_for_links() {
        let page = "# Title\n\n<!-- table: x -->\nSee [hooks](hooks.md), [its events](hooks.md#events), [all](reference/events.md),\n\
            [the soak](reliability/soak.md) and [this](#title).\n\n```console project=a\n$ echo '[a](hooks.md)'\n```\n";
        insta::assert_snapshot!(readable(page, "agent"), @r"
        # Title

        See [hooks](hookrail docs hooks), [its events](hookrail docs hooks), [all](hookrail reference events),
        [the soak](reliability/soak.md) and [this](#title).

        ```console
        $ echo '[a](hooks.md)'
        ```
        ");
    }
    #[test]
    fn links_are_relative_to_the_page_they_are_on() {
        let from_tutorial = |link| command(link, "tutorial/command-hook");
        assert_eq!(from_tutorial("plugin-hook.md").as_deref(), Some("hookrail docs tutorial/plugin-hook"));
        assert_eq!(from_tutorial("../hooks.md#events").as_deref(), Some("hookrail docs hooks"));
        assert_eq!(from_tutorial("../reference/events.md").as_deref(), Some("hookrail reference events"));
        assert_eq!(from_tutorial("../reference/answers.md").as_deref(), Some("hookrail docs reference/answers"));
        for nowhere in ["hooks.md", "../../README.md", "../../../x.md", "#here", "https://example.com/hooks.md"] {
            assert_eq!(from_tutorial(nowhere), None, "{nowhere}");
        }
    }
}
