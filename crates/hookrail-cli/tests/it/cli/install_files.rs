//! `install` and `uninstall` leave every file and every folder as it was, whatever it holds.

use std::collections::BTreeMap;

use crate::cli::install::{AGENTS, files, files_and_folders};
use crate::cli::sandbox::Sandbox;

/// Folders that the installation created are removed with it. Folders that were there stay, also if they are empty.
#[test]
fn folders_are_left_as_they_were() {
    for agent in AGENTS {
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        for scope in ["user", "project"] {
            let install = [&["install", agent, "--yes", "--scope", scope], more].concat();
            let sandbox = Sandbox::new();
            let state = || (files_and_folders(&sandbox.home), files_and_folders(&sandbox.project));
            let before = state();
            sandbox.run(&install).ends_with(0);
            let folders: Vec<String> = {
                let (home, project) = state();
                let names = |all: &BTreeMap<String, String>| -> Vec<String> {
                    all.keys().filter(|name| name.ends_with('/')).cloned().collect()
                };
                if scope == "user" { names(&home) } else { names(&project) }
            };
            sandbox.run(&[&install[..], &["--timeout", "30"]].concat()).ends_with(0);
            sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
            assert_eq!(state(), before, "{agent} {scope}: nothing was there");
            for folder in &folders {
                let root = if scope == "user" { &sandbox.home } else { &sandbox.project };
                std::fs::create_dir_all(root.join(folder)).unwrap();
            }
            let before = state();
            sandbox.run(&install).ends_with(0);
            sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
            assert_eq!(state(), before, "{agent} {scope}: the folders were there");
        }
    }
}

/// A file that its agent cannot read is not changed: the agent would go on to ignore it, or not start.
#[test]
fn a_file_that_its_agent_cannot_read_is_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    for (text, problem) in [
        ("{\"a\": 1,\n}", "line 2: trailing comma"),
        ("{a: 1}", "line 1: key must be a string"),
        ("{'a': 1}", "line 1: key must be a string"),
        ("{\"a\": 1 \"b\": 2}", "line 1: expected `,` or `}`"),
        ("{\"a\": 0x10}", "line 1: expected `,` or `}`"),
        ("\u{feff}{}", "it begins with a byte order mark"),
    ] {
        sandbox.write_home(".qwen/settings.json", text);
        sandbox.write_home(".claude/settings.json", text);
        sandbox.write_home(".codex/hooks.json", text);
        std::fs::create_dir_all(sandbox.project.join(".gemini")).unwrap();
        std::fs::write(sandbox.project.join(".gemini/settings.json"), text).unwrap();
        let before = (files(&sandbox.home), files(&sandbox.project));
        for agent in ["claude", "codex", "qwen", "gemini"] {
            let scope = if agent == "gemini" { "project" } else { "user" };
            let ran = sandbox.run(&["install", agent, "--scope", scope, "--yes"]).ends_with(1);
            assert!(ran.stderr.contains(&format!("settings.json` cannot be edited: {problem}")) || agent == "codex");
            assert!(ran.stderr.contains(problem), "{agent} {text}: {ran:?}");
            let ran = sandbox.run(&["doctor", agent]).ends_with(1);
            assert!(ran.stdout.contains(problem), "{agent} {text}: {ran:?}");
        }
        assert_eq!((files(&sandbox.home), files(&sandbox.project)), before);
    }
}

/// Contents that editors and other programs leave, each of which comes back byte for byte.
#[test]
fn unusual_contents_come_back_byte_for_byte() {
    let strict = [
        "",
        "\n",
        " \r\n\t\r\n",
        "{}\r\n",
        "{\r\n\t\"a\": 1\r\n}\r\n",
        "{\r\n  \"hooks\": {\r\n    \"PreToolUse\": [\r\n      {\"hooks\": []}\r\n    ]\r\n  }\r\n}",
        "{\"hooks\": {\"PreToolUse\": []},\n\"hooks\": {}}",
        "{\"a\": \"\u{e9} \\u00e9 \u{1f980}\"}",
    ];
    let commented = ["{ // mine\r\n}\r\n", "// mine\n{\"a\": 1 /* one */}\n// end", "{\n  \"a\": [ // mine\n  ]\n}"];
    for (agent, file) in
        [("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json"), ("qwen", ".qwen/settings.json")]
    {
        let comments: &[&str] = if agent == "qwen" { &commented } else { &[] };
        for text in strict.iter().chain(comments) {
            let sandbox = Sandbox::new();
            sandbox.write_home(file, text);
            let before = files_and_folders(&sandbox.home);
            sandbox.run(&["install", agent, "--yes"]).ends_with(0);
            let installed = std::fs::read_to_string(sandbox.home.join(file)).unwrap();
            let windows =
                if text.contains("\r\n") && !text.trim().is_empty() { installed.matches('\n').count() } else { 0 };
            assert_eq!(installed.matches("\r\n").count(), windows, "one kind of line ends: {installed:?}");
            sandbox.run(&["install", agent, "--yes", "--timeout", "30"]).ends_with(0);
            sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
            assert_eq!(files_and_folders(&sandbox.home), before, "{agent}: {text:?}");
        }
    }
}

/// The configuration of Codex CLI has tables and arrays of tables, and nothing needs to stand behind them.
#[test]
fn the_trust_of_codex_is_taken_back_from_any_configuration() {
    for config in [
        "[[profiles]]\nname = \"a\"\n\n[[profiles]]\nname = \"b\"",
        "model = \"x\"\r\n\r\n[[hooks.PreToolUse]]\r\n[[hooks.PreToolUse.hooks]]\r\ntype = \"command\"\r\ncommand = \"mine\"\r\n",
        "[hooks.state.\"/x:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n# end",
        "[hooks]\nstate = { \"/x:stop:0:0\" = { enabled = false } }\n",
        " \n",
        "",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write_home(".codex/config.toml", config);
        let before = files_and_folders(&sandbox.home);
        let ran = sandbox.run(&["install", "codex", "--trust", "--yes"]);
        if ran.code == 0 {
            let trusted = sandbox.run(&["doctor", "codex"]).ends_with(0);
            assert!(trusted.stdout.contains("trusts every entry"), "{config}: {trusted:?}");
            sandbox.run(&["uninstall", "codex", "--yes"]).ends_with(0);
        } else {
            // An inline table cannot be extended, and the error says that nothing was changed.
            assert!(config.contains("state = {") && ran.stderr.contains("cannot be extended"), "{config}: {ran:?}");
        }
        assert_eq!(files_and_folders(&sandbox.home), before, "{config}");
    }
}

/// A repository that was never granted can bring `.claude` as a link to a folder of the user.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_folder_of_the_project_that_is_a_link() {
    for (agent, folder, file) in [
        ("claude", ".claude", "settings.json"),
        ("codex", ".codex", "hooks.json"),
        ("gemini", ".gemini", "settings.json"),
        ("qwen", ".qwen", "settings.json"),
        ("copilot", ".github", "hooks/hookrail.json"),
        ("copilot", ".github/hooks", "hookrail.json"),
        ("opencode", ".opencode", "plugin/hookrail.js"),
        ("pi", ".pi/extensions", "hookrail.ts"),
    ] {
        let sandbox = Sandbox::new();
        let elsewhere = sandbox.base.join("elsewhere");
        std::fs::create_dir_all(elsewhere.join("hooks")).unwrap();
        let link = sandbox.project.join(folder);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let ran = sandbox.run(&["install", agent, "--scope", "project", "--yes"]).ends_with(1);
        assert!(ran.stderr.contains("is a symbolic link; nothing is written through it"), "{agent}: {ran:?}");
        assert!(!elsewhere.join(file).exists(), "{agent}");
        // The control: a folder in its place is written to, and a link that comes later is not followed to take entries out.
        std::fs::remove_file(&link).unwrap();
        sandbox.run(&["install", agent, "--scope", "project", "--yes"]).ends_with(0);
        assert!(link.join(file).exists(), "{agent}");
        std::fs::remove_dir_all(&elsewhere).unwrap();
        std::fs::rename(&link, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let before = std::fs::read_to_string(elsewhere.join(file)).unwrap();
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(1);
        assert_eq!(std::fs::read_to_string(elsewhere.join(file)).unwrap(), before, "{agent}");
    }
}
