//! `install`, `uninstall` and `doctor`: the change is shown, kept to what is needed, and can be taken back completely.

use std::collections::BTreeMap;
use std::path::Path;

use crate::sandbox::Sandbox;

const AGENTS: [&str; 7] = ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi"];

/// Every file of the home directory but the program's own state.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.ends_with(".local") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                all.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    all
}

fn with_settings() -> Sandbox {
    let sandbox = Sandbox::new();
    let claude = "{\n\t\"model\": \"x\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \
        \"command\": \"mine\"}]}\n\t\t]\n\t}\n}";
    sandbox.write_home(".claude/settings.json", claude);
    sandbox.write_home(".qwen/settings.json", "{ // mine\n  \"a\": 1, }\n");
    sandbox.write_home(".codex/config.toml", "model = \"x\"\n");
    sandbox.write_home(".codex/hooks.json", "{\"hooks\":{}}");
    sandbox
}

#[test]
fn what_was_installed_is_taken_back_byte_for_byte() {
    let sandbox = with_settings();
    let before = files(&sandbox.home);
    for agent in AGENTS {
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        let installed = files(&sandbox.home);
        assert_ne!(installed, before, "{agent}");
        let again = sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        assert!(again.stdout.contains("nothing to change"), "{agent}: {again:?}");
        assert_eq!(files(&sandbox.home), installed, "{agent}");
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert_eq!(files(&sandbox.home), before, "{agent}");
    }
}

#[test]
fn a_file_that_changed_in_between_keeps_its_change() {
    let sandbox = with_settings();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let path = sandbox.home.join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"model\": \"x\"", "\"model\": \"y\"")).unwrap();
    let mine = files(&sandbox.home)[".claude/settings.json.before-hookrail"].replace("\"x\"", "\"y\"");
    sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), mine);
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let sandbox = with_settings();
    let before = files(&sandbox.home);
    let ran = sandbox.run(&["install", "claude", "--dry-run"]).ends_with(0);
    assert!(ran.stdout.contains("bridge claude --event PreToolUse"), "{ran:?}");
    let ran = sandbox.run(&["install", "claude"]).ends_with(1);
    assert!(ran.stderr.contains("no terminal to ask on"), "{ran:?}");
    assert_eq!(files(&sandbox.home), before);
}

#[test]
fn settings_that_cannot_be_changed_safely_are_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".claude/settings.json", "{\n  // no\n}\n");
    let ran = sandbox.run(&["install", "claude", "--yes"]).ends_with(1);
    assert!(ran.stderr.contains("line 2"), "{ran:?}");
    sandbox.write_home(".qwen/real.json", "{}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("real.json", sandbox.home.join(".qwen/settings.json")).unwrap();
        let ran = sandbox.run(&["install", "qwen", "--yes"]).ends_with(1);
        assert!(ran.stderr.contains("symbolic link"), "{ran:?}");
    }
    let ran = sandbox.run(&["install", "emacs", "--yes"]).ends_with(1);
    assert!(ran.stderr.contains("claude, codex, gemini"), "{ran:?}");
    let ran = sandbox.run(&["install", "gemini", "--scope", "system", "--yes"]).ends_with(1);
    assert!(ran.stderr.contains("no hooks in the system scope"), "{ran:?}");
    assert_eq!(files(&sandbox.home).len(), 2 + usize::from(cfg!(unix)));
}

#[test]
fn the_doctor_finds_what_keeps_an_agent_from_calling() {
    let sandbox = with_settings();
    let ran = sandbox.run(&["doctor", "codex"]).ends_with(1);
    assert!(ran.stdout.contains("does not call hookrail") && ran.stdout.contains("hookrail install codex"), "{ran:?}");
    sandbox.run(&["install", "codex", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["doctor", "codex"]).ends_with(1);
    assert!(ran.stdout.contains("does not trust"), "{ran:?}");
    sandbox.run(&["install", "codex", "--trust", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["doctor", "codex"]).ends_with(0);
    assert!(ran.stdout.contains("trusts every entry") && ran.stdout.contains("a dry run of PreToolUse"), "{ran:?}");
    let document = sandbox.run(&["doctor", "codex", "--json"]).ends_with(0).json();
    assert_eq!(document["agents"][0]["agent"], "codex");
    // A stale path lets every tool run in Codex.
    let path = sandbox.home.join(".codex/hooks.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_hookrail"), "/no/such/hookrail")).unwrap();
    let ran = sandbox.run(&["doctor", "codex"]).ends_with(1);
    assert!(ran.stdout.contains("missing or not executable"), "{ran:?}");
}
