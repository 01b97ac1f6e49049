//! The pages at the root of the repository are true: links lead to files, commands exist, and rules are asked.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::bridge::{bridge, denies, recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

const PAGES: [&str; 2] = ["README.md", "CONTRIBUTING.md"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn page(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// The fenced blocks in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let lines: Vec<&str> = page.lines().collect();
    let fence = format!("```{language}");
    let begins = (0..lines.len()).filter(|at| lines[*at] == fence);
    let block = |at: usize| lines[at + 1..].iter().take_while(|line| **line != "```").map(|line| format!("{line}\n"));
    begins.map(|at| block(at).collect()).collect()
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

/// Every `hookrail` command of a page is understood: its help exists and knows the options that the page gives.
#[test]
fn commands_exist() {
    let sandbox = Sandbox::new();
    let mut count = 0;
    for name in PAGES {
        let text = page(name);
        for block in blocks(&text, "console") {
            let lines = block.lines().filter_map(|line| line.strip_prefix("$ "));
            let commands = lines.filter_map(|line| line.split(" #").next());
            for command in commands.filter_map(|line| line.strip_prefix("hookrail ")) {
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
    assert!(count >= 2, "only {count} commands");
}

/// The longest that a first screen may be, code included.
const MOST_WORDS: usize = 650;

#[test]
fn the_readme_is_short() {
    let count = page("README.md").split_whitespace().count();
    assert!(count <= MOST_WORDS, "README.md has {count} words");
}

/// The rules of the README: where they are written, and their text.
fn rule() -> (String, String) {
    let text = page("README.md");
    let rule = blocks(&text, "toml").remove(0);
    let place = rule.strip_prefix("# ").unwrap().split_whitespace().next().unwrap().to_owned();
    (place, rule)
}

/// A project with rules that its user has granted.
fn ruled(rule: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(&self::rule().0, rule);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

/// The agents that the README names first.
const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

/// What an agent is told when it wants to run a line of shell, or to write a file.
fn ask_to_run(sandbox: &Sandbox, agent: &str, line: &str) -> ProgramOutput {
    let (event, name) = match agent {
        "gemini" => ("BeforeTool", "BeforeTool.run_shell_command"),
        _ => ("PreToolUse", "PreToolUse.Bash"),
    };
    let mut payload = recorded(sandbox, agent, name);
    payload["tool_input"]["command"] = line.into();
    bridge(sandbox, agent, event, &payload, &[])
}

fn ask_to_write(sandbox: &Sandbox, agent: &str, file: &str) -> ProgramOutput {
    let (event, payload) = write_payload(sandbox, agent);
    let payload = serde_json::from_str(&payload.to_string().replace("a.txt", file)).unwrap();
    bridge(sandbox, agent, event, &payload, &[])
}

#[track_caller]
fn passes(ran: &ProgramOutput) {
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{ran:?}");
}

#[test]
fn the_rule_is_asked_by_claude_codex_and_gemini() {
    let (_, rule) = rule();
    assert!(rule.lines().count() <= 10, "{rule}");
    let sandbox = ruled(&rule);
    let text = page("README.md");
    let told = text.lines().find_map(|line| line.strip_prefix("> ")).unwrap();
    for agent in AGENTS {
        for line in ["git push --force", "cd x && git push -f origin main", "git push origin +main"] {
            let ran = ask_to_run(&sandbox, agent, line);
            assert!(denies(agent, &ran, told), "{agent}: {line}: {ran:?}");
        }
        let ran = ask_to_run(&sandbox, agent, "cat .env | head -1");
        assert!(denies(agent, &ran, ".env holds secrets"), "{agent}: {ran:?}");
        passes(&ask_to_run(&sandbox, agent, "git push origin main"));
        for file in [".env", "sub/.env.local"] {
            let ran = ask_to_write(&sandbox, agent, file);
            assert!(denies(agent, &ran, ".env holds secrets"), "{agent}: {file}: {ran:?}");
        }
        passes(&ask_to_write(&sandbox, agent, "notes.md"));
    }
}

#[test]
fn a_rule_that_is_broken_gone_or_was_edited_blocks() {
    let (place, rule) = rule();
    let edited = rule.replacen("no forced pushes", "whatever", 1);
    let broken = format!("{rule}\n[[rule");
    for text in [Some(edited), Some(broken), Some(String::new()), None] {
        let sandbox = ruled(&rule);
        passes(&ask_to_run(&sandbox, "claude", "ls"));
        match &text {
            Some(text) => drop(sandbox.write(&place, text)),
            None => fs::remove_file(sandbox.project.join(&place)).unwrap(),
        }
        for agent in AGENTS {
            let ran = ask_to_run(&sandbox, agent, "git push --force");
            assert!(denies(agent, &ran, "denied by hook"), "{agent}: {text:?}: {ran:?}");
        }
    }
}

/// Exactly what the first screen says, in a fresh home, with a user who answers on a terminal.
#[cfg(target_os = "linux")]
#[test]
fn the_first_screen_ends_with_a_working_rule_in_claude_code() {
    if !hookrail_testkit::has_program("python3") {
        return;
    }
    let mut script = std::process::Command::new(repository().join("scripts/first-page"));
    let ran = ProgramOutput::capture(script.arg(env!("CARGO_BIN_EXE_hookrail"))).ends_with(0);
    assert!(ran.stdout.ends_with("\n4 commands\n"), "{}", ran.stdout);
}

/// The commands that connect an agent, with `--yes` in place of the answer that a user would type.
#[test]
fn the_commands_for_existing_agents_connect_them_and_take_it_back() {
    let text = page("README.md");
    for (agent, shown) in [("claude", "install claude "), ("codex", " codex --trust,"), ("gemini", " gemini,")] {
        assert!(text.contains(shown), "{shown}");
        let sandbox = ruled(&rule().1);
        let mine = "{\n    \"theme\":  \"dark\" }\n";
        if agent == "claude" {
            sandbox.write_home(".claude/settings.json", mine);
        }
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        sandbox.run(&["doctor", agent]).ends_with(0);
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        if agent == "claude" {
            assert_eq!(fs::read_to_string(sandbox.home.join(".claude/settings.json")).unwrap(), mine);
        }
    }
}

/// The table of agents has what `scripts/comparison` recorded.
#[test]
fn the_table_of_agents_says_what_was_recorded() {
    let text = page("README.md");
    let recorded: serde_json::Value = serde_json::from_str(&page("docs/evidence/comparison.json")).unwrap();
    let result = |agent: &str, with_hookrail: bool, fault: &str| {
        let runs = recorded["runs"].as_array().unwrap();
        let is_it = |run: &&serde_json::Value| {
            run["agent"] == agent && run["hookrail"] == with_hookrail && run["fault"] == fault
        };
        runs.iter().find(is_it).unwrap()["result"].as_str().unwrap().to_owned()
    };
    for (row, faults) in [
        ("hangs", &["hangs"][..]),
        ("crashes, prints nonsense", &["crashes", "prints nonsense"]),
        ("was edited to allow", &["was edited to allow"]),
    ] {
        for fault in faults {
            let own = AGENTS.map(|agent| match result(agent, false, fault).as_str() {
                "no end" => "hangs too".to_owned(),
                other => other.to_owned(),
            });
            assert!(text.contains(&format!("| {row} | {} | blocked |", own.join(" | "))), "{fault}: {own:?}");
            for agent in AGENTS {
                assert_eq!(result(agent, true, fault), "blocked", "{agent}: {fault}");
            }
        }
    }
    for (agent, with_hookrail) in AGENTS.into_iter().flat_map(|agent| [(agent, false), (agent, true)]) {
        assert_eq!(result(agent, with_hookrail, "allows (control)"), "written", "{agent}");
    }
}
