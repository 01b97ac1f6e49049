//! What the tests look for in a document: fenced blocks with their info strings, marked tables, links and headings.

use std::fs;
use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;

/// The root of the repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A document, by its path under `docs/`.
pub(super) fn document(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// The documents whose blocks are executed by the modules beside this one: these, and the page of each agent. Others have tests
/// of their own.
pub(super) fn documents() -> impl Iterator<Item = String> {
    let agents = Agent::ALL.into_iter().map(|agent| format!("agents/{agent}.md"));
    DOCUMENTS.iter().map(|name| (*name).to_owned()).chain(agents)
}

const DOCUMENTS: &[&str] = &[
    #[cfg(feature = "fleet")]
    "how-to/fleet.md",
    #[cfg(feature = "fleet")]
    "how-to/fleet-servers.md",
    #[cfg(feature = "otel")]
    "how-to/telemetry.md",
    "../crates/hookrail-hook/README.md",
    "agents/README.md",
    "differences.md",
    "explanation/faq.md",
    "explanation/how-an-event-is-decided.md",
    "explanation/trust.md",
    "get-started/claude-code.md",
    "get-started/embed.md",
    "get-started/first-hook.md",
    "get-started/install.md",
    "get-started/plugin.md",
    "get-started/typescript-hook.md",
    "how-to/audit.md",
    "how-to/bring-your-hooks.md",
    "how-to/debug.md",
    "how-to/editor-and-shell.md",
    "how-to/embed-rust.md",
    "how-to/emergency.md",
    "how-to/faster.md",
    "how-to/inspect.md",
    "how-to/recipes.md",
    "how-to/restrict.md",
    "how-to/roll-out.md",
    "how-to/test.md",
    "reference/journal.md",
    "reference/protocol.md",
    "reference/settings.md",
];

/// Every page of the repository that people read: those under `docs/`, and those beside the sources. Paths count from the
/// root of the repository.
pub(super) fn all_pages() -> Vec<String> {
    let mut found: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "conformance/README.md"]
            .map(str::to_owned)
            .to_vec();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if Path::new(&path).extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A fenced block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) language: String,
    /// The words behind the language.
    words: Vec<String>,
    pub(super) text: String,
    /// Where it is, for messages.
    pub(super) place: String,
}

impl Block {
    /// Whether the info string has this word.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|given| given == word)
    }

    /// The value of `name=value` in the info string.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Every fenced block of a document.
pub(super) fn blocks(name: &str) -> Vec<Block> {
    let text = document(name);
    let mut lines = text.lines().enumerate();
    let mut found = Vec::new();
    let mut comment = "";
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            // rustdoc knows no `name=value` behind the language, so a comment before the block may have it.
            comment = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")).unwrap_or_default();
            continue;
        };
        let mut words = info.split_whitespace().chain(comment.split_whitespace()).map(str::to_owned);
        // Behind a comma are words for rustdoc, which does not run blocks that are cut from a program.
        let first = words.next().unwrap_or_default();
        let language = first.split(',').next().unwrap_or_default().to_owned();
        let body: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let place = format!("docs/{name}:{}", at + 1);
        found.push(Block { language, words: words.collect(), text: body.join("\n") + "\n", place });
    }
    found
}

/// The rows of the table behind `<!-- table: NAME -->`, without its head. Backticks are kept.
pub(super) fn table(document_name: &str, table: &str) -> Vec<Vec<String>> {
    let text = document(document_name);
    let (_, rest) = text.split_once(&format!("<!-- table: {table} -->")).unwrap();
    let rows = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2).map(cells).collect()
}

/// The cells of a row; `\|` is a bar that does not end a cell.
fn cells(row: &str) -> Vec<String> {
    let hidden = row.trim().trim_matches('|').replace("\\|", "\u{1}");
    hidden.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// The texts between backticks.
pub(super) fn literals(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The anchors of a text's headings, as they are made of the headings' text. The second of two equal ones gets a number, as it
/// does on a site.
pub(super) fn anchors_of(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if fenced || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = found.iter().filter(|known| **known == anchor).count();
        found.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
    }
    found
}

/// The targets of a text's links. What stands in code is no link.
pub(super) fn links_of(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    // A link's text may be code, so only the parts of code that hold a whole link are taken out.
    let prose: String = prose.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect();
    let parts = prose.split("](").skip(1);
    parts.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}
