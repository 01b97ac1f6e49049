//! The tables in the documents about agents are those that the bridge uses, and the versions are those that are tested.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail_bridge::install::{AgentFolders, Scope};
use hookrail_bridge::{Agent, EffectKind, Handling};

const BEGIN: &str = "<!-- Made from the answer tables: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-bridge`. -->\n";
const END: &str = "<!-- End of the table. -->\n";
const MADE: &str =
    "<!-- Made from the description of the agent: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-bridge`. -->\n";
const MADE_END: &str = "<!-- End of what is made. -->\n";

/// What hooks can want at the events that an installation registers.
const WISHES: [(EventKind, &[EffectKind]); 5] = [
    (
        EventKind::BeforeTool,
        &[
            EffectKind::Deny,
            EffectKind::Ask,
            EffectKind::Stop,
            EffectKind::ToolInput,
            EffectKind::Context,
            EffectKind::SystemMessage,
            EffectKind::SuppressOutput,
        ],
    ),
    (EventKind::AfterTool, &[EffectKind::Deny, EffectKind::Stop, EffectKind::ToolOutput, EffectKind::Context]),
    (EventKind::Prompt, &[EffectKind::Deny, EffectKind::Stop, EffectKind::Prompt, EffectKind::Context]),
    (EventKind::SessionStart, &[EffectKind::Stop, EffectKind::Context]),
    (EventKind::AgentEnd, &[EffectKind::Deny, EffectKind::Stop, EffectKind::Context, EffectKind::ClearContext]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// How an agent handles a wish, or nothing if it does not fire the event.
fn handling(agent: Agent, event: EventKind, effect: EffectKind) -> Option<Handling> {
    agent.fires(event).then(|| agent.handling(event, effect))
}

fn all_agents() -> String {
    let mut text = String::from("| event | a hook wants |");
    for agent in Agent::ALL {
        let _ = write!(text, " {} |", agent.title());
    }
    let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(Agent::ALL.len()));
    for (event, effects) in WISHES {
        for effect in effects {
            let _ = write!(text, "| `{}` | `{}` |", event.spec().name, effect.name());
            for agent in Agent::ALL {
                let cell = handling(agent, event, *effect).map_or("–", Handling::described);
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
    }
    text
}

/// The file that `install` writes for the user, from the home directory.
fn settings_file(agent: Agent) -> String {
    let home = Path::new("/home");
    let agent_folders = AgentFolders { home, project: Path::new("/project"), variable: &|_| None };
    let path = agent_folders.settings_path(agent, Scope::User).unwrap();
    format!("~/{}", path.strip_prefix(home).unwrap().display())
}

/// The begin of an agent's page. Below it is what only this agent does.
fn head(agent: Agent) -> String {
    let (title, version, file) = (agent.title(), agent.tested_version(), settings_file(agent));
    let option = if agent == Agent::codex() { " --trust" } else { "" };
    format!(
        "# Hooks in {title}

{MADE}
For users of {title}: how to let it ask hookrail, and what it cannot do. Tested with {title} {version}.

```console project={agent}
$ hookrail install {agent}{option} --yes
…
{title} now calls hookrail: …
…
$ hookrail uninstall {agent} --yes
…
{title} no longer calls hookrail
```

`install` writes `{file}`; `--dry-run` shows the change. `uninstall` brings back every byte: run it before you
remove the program, or {title} blocks every tool. [What happens when something fails](README.md#when-something-goes-wrong),
[which project counts](README.md#which-project), and [is it really asked?](README.md#is-it-really-asked) are the same for all agents.

## What is special

{MADE_END}"
    )
}

/// The end of an agent's page.
fn tail(agent: Agent) -> String {
    format!(
        "{MADE}
## What {} cannot honour

Everything else that a hook can want works: see [the whole table](README.md#what-each-agent-does-with-an-answer).

{}
{MADE_END}",
        agent.title(),
        one_agent(agent)
    )
}

/// Compares an agent's page with what is made now around its own text, or writes it when HOOKRAIL_BLESS=1.
fn check_agent(agent: Agent) {
    let file = root().join(format!("docs/agents/{agent}.md"));
    let text = std::fs::read_to_string(&file).unwrap();
    let own = text.split_once(MADE_END).and_then(|(_, rest)| Some(rest.split_once(MADE)?.0));
    let own = own.unwrap_or_else(|| panic!("docs/agents/{agent}.md has no text of its own"));
    let current = format!("{}{own}{}", head(agent), tail(agent));
    write_or_compare(&file, &text, &current);
}

fn write_or_compare(file: &Path, text: &str, current: &str) {
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(file, current).unwrap();
        return;
    }
    let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-bridge";
    assert!(text == current, "{} is not current: run `{command}`", file.display());
}

fn one_agent(agent: Agent) -> String {
    let mut text = String::from("| event | a hook wants | what happens |\n|---|---|---|\n");
    for (event, effects) in WISHES {
        for effect in effects {
            let cell = match handling(agent, event, *effect) {
                Some(handling) if handling.is_honoured() => continue,
                Some(handling) => handling.described(),
                None => "the agent does not fire the event",
            };
            let _ = writeln!(text, "| `{}` | `{}` | {cell} |", event.spec().name, effect.name());
        }
    }
    text
}

/// Compares the generated part of a page with what is generated now, or writes it when HOOKRAIL_BLESS=1.
fn check(page: &str, table: &str) {
    let file = root().join("docs/agents").join(page);
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{page} has no generated table"));
    let (_, tail) = rest.split_once(END).unwrap_or_else(|| panic!("the table of {page} has no end"));
    let current = format!("{head}{BEGIN}\n{table}\n{END}{tail}");
    write_or_compare(&file, &text, &current);
}

/// Compares a run of lines, those that `is_row` accepts, with what they must be, or writes them when HOOKRAIL_BLESS=1.
fn check_rows(page: &str, is_row: impl Fn(&str) -> bool, rows: &[String]) {
    let file = root().join("docs").join(page);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| is_row(line)).unwrap_or_else(|| panic!("docs/{page} has no agents"));
    let count = lines.iter().skip(first).take_while(|line| is_row(line)).count();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let current = [&lines[..first], &rows, &lines[first + count..]].concat().join("\n") + "\n";
    write_or_compare(&file, &text, &current);
}

/// The lists of pages have every agent.
fn check_lists() {
    let rows = |row: &dyn Fn(Agent) -> String| Agent::ALL.map(row).to_vec();
    let is_item = |line: &str| line.starts_with("  - [") && line.contains("](agents/");
    check_rows("SUMMARY.md", is_item, &rows(&|agent| format!("  - [{}](agents/{agent}.md)", agent.title())));
    let is_version = |line: &str| line.starts_with("| ") && line.contains(".md) | ");
    let version = |agent: Agent| format!("| {} | [{agent}]({agent}.md) | {} |", agent.title(), agent.tested_version());
    check_rows("agents/README.md", is_version, &rows(&version));
}

#[test]
fn the_pages_about_agents_are_current() {
    // One test for all pages: two would write one of them at the same time.
    check_lists();
    check("README.md", &all_agents());
    for agent in Agent::ALL {
        check_agent(agent);
    }
}

#[test]
fn the_files_of_the_lab_name_the_tested_versions() {
    for agent in Agent::ALL {
        let file = root().join(format!("crates/hookrail-testkit/agents/{agent}.json"));
        let lab: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(lab["packages"][0]["version"], agent.tested_version(), "{agent}");
    }
    let labs = std::fs::read_dir(root().join("crates/hookrail-testkit/agents")).unwrap();
    assert_eq!(labs.count(), Agent::ALL.len(), "every agent has a file in the lab");
}
