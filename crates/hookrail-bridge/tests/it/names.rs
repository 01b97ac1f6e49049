//! No code knows an agent but the file of the agent and the forms: what differs between agents is in their specs.

use std::fs;
use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;

/// The crates that know agents. The engine and the other crates are below them.
const CRATES: [&str; 3] = ["hookrail-bridge", "hookrail-app", "hookrail-cli"];

/// Where agents may be named: their own files, and texts that show one agent to a reader.
const ALLOWED: [&str; 7] = [
    "hookrail-bridge/src/agents.rs",
    "hookrail-bridge/src/agents/",
    "hookrail-bridge/src/forms/",
    "hookrail-cli/src/args/examples.rs",
    "hookrail-app/src/demo/",
    "hookrail-cli/src/cmd/demo.rs",
    "hookrail-app/src/pages.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => sources(&entry.path(), found),
            false if entry.path().extension().is_some_and(|end| end == "rs") => found.push(entry.path()),
            false => {}
        }
    }
}

/// Whether a line of code names an agent. The name of pi is part of too many words.
fn names(line: &str, agent: Agent) -> bool {
    let name = agent.name();
    let is_short = name.len() < 3;
    line.contains(&format!("Agent::{name}()"))
        || !is_short && line.contains(&format!("\"{name}\""))
        || !is_short && line.contains(agent.title())
}

/// The lines that name an agent in code: not in comments and not in tests.
fn naming_lines(text: &str) -> Vec<usize> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let named = lines.filter(|(_, line)| Agent::ALL.into_iter().any(|agent| names(line, agent)));
    named.map(|(at, _)| at + 1).collect()
}

#[test]
fn no_agent_is_named_outside_of_its_file_and_the_forms() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in CRATES {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 150, "{} files", files.len());
    let mut found = Vec::new();
    for file in files {
        let shown = file.strip_prefix(&crates).unwrap().to_string_lossy().replace('\\', "/");
        if ALLOWED.iter().any(|allowed| shown.starts_with(allowed)) || shown.ends_with("/tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        found.extend(naming_lines(&text).into_iter().map(|line| format!("{shown}:{line}")));
    }
    assert_eq!(found, Vec::<String>::new());
    let sample =
        "// Codex CLI\nlet a = Agent::codex();\nlet b = \"gemini\";\n\"Claude Code\"\n#[cfg(test)]\nAgent::pi()";
    assert_eq!(naming_lines(sample), [2, 3, 4]);
}
