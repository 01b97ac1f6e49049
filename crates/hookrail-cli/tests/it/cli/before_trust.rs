//! Nothing of a repository runs before its user trusts it: not by `doctor`, and not by a command that only shows something.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// Programs that an agent, a linter or a shell line could look for.
const NAMES: [&str; 17] = [
    "bash",
    "bun",
    "claude",
    "codex",
    "copilot",
    "deno",
    "env",
    "gemini",
    "git",
    "hookrail",
    "node",
    "opencode",
    "pi",
    "python3",
    "qwen",
    "sh",
    "shellcheck",
];

/// A repository that was never granted. Everything in it that can be executed leaves a line in a file.
struct Repository {
    sandbox: Sandbox,
    canary: PathBuf,
}

impl Repository {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let canary = sandbox.base.join("canary");
        let repository = Self { sandbox, canary };
        let (sandbox, trap) = (&repository.sandbox, repository.trap());
        std::fs::create_dir_all(sandbox.project.join(".git")).unwrap();
        for name in NAMES {
            sandbox.write_program(&format!("node_modules/.bin/{name}"), &trap);
        }
        for place in ["hookrail", "bin/hookrail", ".llxprt/hooks/guard.sh"] {
            sandbox.write_program(place, &trap);
        }
        let line = format!("echo hook >> {}", repository.canary.display());
        let hook = json!({"type": "command", "name": "trap", "command": line});
        let script = json!({"type": "command", "name": "script", "command": ".llxprt/hooks/guard.sh"});
        let hooks = json!({"BeforeTool": [{"hooks": [hook, script]}], "SessionStart": [{"hooks": [hook]}]});
        sandbox.write(".llxprt/settings.json", json!({"hooksConfig": {"enabled": true}, "hooks": hooks}).to_string());
        let module = format!("export default function (pi) {{ pi.exec(\"sh\", [\"-c\", {:?}]); }}\n", line);
        sandbox.write(".xcsh/hooks/trap.ts", module);
        repository
    }

    fn trap(&self) -> String {
        format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", self.canary.display())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(args);
        let path = std::env::var("PATH").unwrap_or_default();
        let own = self.sandbox.project.join("node_modules/.bin");
        command.env("PATH", format!("{}:{path}:.:", own.display())).current_dir(&self.sandbox.project);
        command
    }

    /// What has run since the last look.
    fn seen(&self) -> String {
        let seen = std::fs::read_to_string(&self.canary).unwrap_or_default();
        let _ = std::fs::remove_file(&self.canary);
        seen
    }

    fn write_entry(&self, folder: &Path, file: &str, agent: &str, program: &str) {
        let command = format!("{program} bridge {agent} --event PreToolUse --deadline 48000");
        let hook = json!({"type": "command", "command": command, "timeout": 60});
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}], "SessionStart": [{"hooks": [hook]}]}});
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, settings.to_string()).unwrap();
    }
}

const FILES: [(&str, &str); 3] =
    [("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json"), ("qwen", ".qwen/settings.json")];

#[test]
fn the_doctor_executes_no_entry_of_a_project() {
    let repository = Repository::new();
    let project = repository.sandbox.project.clone();
    let link = repository.sandbox.base.join("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    for program in [
        "./hookrail".to_owned(),
        "hookrail".to_owned(),
        project.join("bin/hookrail").display().to_string(),
        link.join("bin/hookrail").display().to_string(),
        "$CLAUDE_PROJECT_DIR/bin/hookrail".to_owned(),
        "\"$CLAUDE_PROJECT_DIR\"/bin/hookrail".to_owned(),
    ] {
        for (agent, file) in FILES {
            repository.write_entry(&project, file, agent, &program);
            for args in [&["doctor", agent][..], &["doctor", agent, "--json"]] {
                let ran = ProgramOutput::capture(&mut repository.command(args));
                assert!(ran.stdout.contains("a dry run of PreToolUse took"), "this program answers: {ran:?}");
                assert_eq!(repository.seen(), "", "{agent} {program}");
            }
            // The same program, named by the user's own settings, is still the project's.
            repository.write_entry(&repository.sandbox.home, file, agent, &program);
            let _ = ProgramOutput::capture(&mut repository.command(&["doctor", agent]));
            assert_eq!(repository.seen(), "", "{agent} {program} in the user's settings");
            std::fs::remove_file(repository.sandbox.home.join(file)).unwrap();
        }
    }
    let plugin = format!("const PROGRAM = {:?};\n", project.join("bin/hookrail"));
    repository.sandbox.write(".opencode/plugin/hookrail.js", &plugin);
    repository.sandbox.write(".pi/extensions/hookrail.ts", &plugin);
    let _ = ProgramOutput::capture(&mut repository.command(&["doctor"]));
    assert_eq!(repository.seen(), "");
}

/// The control: an entry of the user, outside of the project, is executed, and so is an agent to ask for its version.
#[test]
fn the_doctor_executes_an_entry_of_the_user() {
    let repository = Repository::new();
    let bin = repository.sandbox.home.join("bin");
    for name in ["hookrail", "claude"] {
        repository.sandbox.write_home(&format!("bin/{name}"), repository.trap());
        std::fs::set_permissions(bin.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let by_path = bin.join("hookrail").display().to_string();
    for program in [by_path.as_str(), "hookrail"] {
        for (agent, file) in FILES {
            repository.write_entry(&repository.sandbox.home, file, agent, program);
            let mut command = repository.command(&["doctor", agent]);
            let own = repository.sandbox.project.join("node_modules/.bin");
            command.env("PATH", format!("{}:{}:/usr/bin:/bin", own.display(), bin.display()));
            let _ = ProgramOutput::capture(&mut command);
            let seen = repository.seen();
            assert!(
                seen.contains(&format!("{by_path} bridge {agent} --event PreToolUse")),
                "{agent} {program}: {seen}"
            );
            assert_eq!(seen.contains("claude --version"), agent == "claude", "{seen}");
            assert!(!seen.contains("node_modules"), "{seen}");
        }
    }
}

#[test]
fn commands_that_show_something_execute_nothing_of_a_project() {
    let repository = Repository::new();
    for args in [
        &["check"][..],
        &["check", "--json"],
        &["list"],
        &["list", "--json"],
        &["explain", "BeforeTool", "--tool", "write_file"],
        &["docs"],
        &["docs", "events"],
        &["schema"],
        &["completions", "bash"],
        &["trust", "list"],
        &["trust", "diff"],
        &["plugin", "list"],
        &["install", "claude", "--dry-run"],
        &["uninstall", "claude", "--dry-run"],
        &["log"],
        &["stats"],
        &["reference"],
    ] {
        let _ = ProgramOutput::capture(&mut repository.command(args));
        assert_eq!(repository.seen(), "", "{args:?}");
    }
    for words in [&["hookrail", "trust", "grant", ""][..], &["hookrail", "try", ""], &["hookrail", "fire", ""]] {
        let mut command = repository.command(&[&["--"], words].concat());
        let index = (words.len() - 1).to_string();
        command.env("HOOKRAIL_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index);
        let _ = ProgramOutput::capture(&mut command);
        assert_eq!(repository.seen(), "", "completion of {words:?}");
    }
    // The control: with a grant the same hooks run.
    ProgramOutput::capture(&mut repository.command(&["trust", "grant", "--yes"])).ends_with(0);
    repository.seen();
    let _ = ProgramOutput::capture(&mut repository.command(&["fire", "BeforeTool", "--tool", "write_file"]));
    assert!(repository.seen().contains("hook"));
}
