//! The pages at the root of the repository are true: links lead to files, code is cut from programs that the tests run, and
//! commands exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::sandbox::Sandbox;

const PAGES: [&str; 2] = ["README.md", "CONTRIBUTING.md"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn page(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// The fenced blocks in a language, each with the line before it.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<(&'p str, String)> {
    let lines: Vec<&str> = page.lines().collect();
    let fence = format!("```{language}");
    let begins = (1..lines.len()).filter(|at| lines[*at] == fence);
    let block = |at: usize| lines[at + 1..].iter().take_while(|line| **line != "```").map(|line| format!("{line}\n"));
    begins.map(|at| (lines[at - 1], block(at).collect())).collect()
}

/// The lines between `// region: NAME` and `// endregion`, moved to the left.
fn region(text: &str, name: &str) -> String {
    let begin = format!("// region: {name}");
    let lines = text.lines().skip_while(|line| line.trim() != begin).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.trim() != "// endregion").collect();
    let indent = lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len()).min();
    lines.iter().map(|line| format!("{}\n", line.get(indent.unwrap_or(0)..).unwrap_or_default())).collect()
}

#[test]
fn links_lead_to_files() {
    for name in PAGES {
        let text = page(name);
        let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        for target in targets.filter(|target| !target.starts_with("https://") && !target.starts_with('#')) {
            let file = target.split('#').next().unwrap();
            assert!(repository().join(file).exists(), "{name}: {target}");
        }
    }
}

#[test]
fn the_code_of_the_readme_is_cut_from_an_example_that_is_run() {
    let text = page("README.md");
    let blocks = blocks(&text, "rust");
    assert!(!blocks.is_empty(), "the README shows no code");
    for (before, block) in blocks {
        let from = before.strip_prefix("<!-- from=").and_then(|from| from.strip_suffix(" -->"));
        let (file, name) =
            from.and_then(|from| from.split_once('#')).unwrap_or_else(|| panic!("from nowhere: {block}"));
        assert_eq!(block, region(&page(file), name), "{file}#{name}");
    }
}

/// Every `hookrail` command of a page is understood: its help exists and knows the options that the page gives.
#[test]
fn commands_exist() {
    let sandbox = Sandbox::new();
    let mut count = 0;
    for name in PAGES {
        let text = page(name);
        for (_, block) in blocks(&text, "console") {
            let lines = block.lines().filter_map(|line| line.strip_prefix("$ "));
            for command in lines.flat_map(|line| line.split(" && ")).filter_map(|line| line.strip_prefix("hookrail ")) {
                let words: Vec<&str> = command.split_whitespace().take_while(|word| !word.starts_with('-')).collect();
                let names: Vec<&str> = words.into_iter().filter(|word| word.chars().all(char::is_lowercase)).collect();
                let help = sandbox.run(&[&names[..], &["--help"]].concat()).ends_with(0).stdout;
                for option in command.split_whitespace().filter(|word| word.starts_with("--")) {
                    assert!(help.contains(option), "{name}: {command}: {option}");
                }
                count += 1;
            }
            for script in block.lines().filter_map(|line| line.strip_prefix("$ scripts/")) {
                let script = script.split([' ', ';']).next().unwrap();
                assert!(repository().join("scripts").join(script).exists(), "{name}: scripts/{script}");
            }
        }
    }
    assert!(count >= 3, "only {count} commands");
}

/// The commands for people who use an agent already, with `--yes` in place of the answer that they would type.
#[test]
fn the_commands_for_existing_agents_connect_them() {
    let text = page("README.md");
    let shown = blocks(&text, "console");
    let lines =
        shown.iter().flat_map(|(_, block)| block.lines()).filter(|line| line.starts_with("$ hookrail install "));
    let mut agents = Vec::new();
    for line in lines.filter(|line| line.contains(" && ")) {
        let sandbox = Sandbox::with_hook("BeforeTool", "true");
        for command in line.trim_start_matches("$ ").split(" && ") {
            let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--yes"]).collect();
            sandbox.run(&words).ends_with(0);
        }
        let agent = line.split_whitespace().nth(3).unwrap().to_owned();
        sandbox.run(&["doctor", &agent]).ends_with(0);
        agents.push(agent);
    }
    assert_eq!(agents, ["claude", "codex", "gemini"]);
}
