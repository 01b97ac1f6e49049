//! What `install` writes, run as the agent runs it, when the bridge cannot answer: its program is gone, or a resource is used up.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use hookrail_testkit::has_program;
use serde_json::Value;

use crate::cli::bridge::{recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// The agents that run a command line, where `install` writes it, and what they call the end of an answer.
const ENTRIES: [(&str, &str, &str); 5] = [
    ("claude", ".claude/settings.json", "Stop"),
    ("codex", ".codex/hooks.json", "Stop"),
    ("gemini", ".gemini/extensions/hookrail/hooks/hooks.json", "AfterAgent"),
    ("qwen", ".qwen/settings.json", "Stop"),
    ("copilot", ".copilot/hooks/hookrail.json", "agentStop"),
];

/// A guard of the user's that denies what has `a.txt` in it.
fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    let command = "case \"$(cat)\" in *a.txt*) echo not a.txt >&2; exit 2;; esac";
    let hook = serde_json::json!({"type": "command", "name": "guard", "command": command, "onFailure": "block"});
    let hooks = serde_json::json!({"BeforeTool": [{"hooks": [hook]}]});
    let settings = serde_json::json!({"hooksConfig": {"enabled": true}, "hooks": hooks});
    sandbox.write_home(".llxprt/settings.json", settings.to_string());
    for (agent, ..) in ENTRIES {
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
    }
    sandbox
}

fn settings(sandbox: &Sandbox, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(sandbox.home.join(file)).unwrap()).unwrap()
}

/// The command line for an event.
fn line(sandbox: &Sandbox, file: &str, event: &str) -> String {
    let settings = settings(sandbox, file);
    let entry = &settings["hooks"][event][0];
    let hook = entry.pointer("/hooks/0").unwrap_or(entry);
    hook["command"].as_str().or(hook["bash"].as_str()).unwrap().to_owned()
}

/// Runs a command line as an agent does, by a program that limits its resources.
fn run(sandbox: &Sandbox, by: &[&str], shell: &str, line: &str, payload: &Value) -> ProgramOutput {
    let mut command: Command = match by.split_first() {
        Some((program, options)) => {
            let mut command = sandbox.place_command(program);
            command.args(options).arg(shell);
            command
        }
        None => sandbox.place_command(shell),
    };
    command.args(["-c", line]);
    for name in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR"] {
        command.env(name, &sandbox.project);
    }
    ProgramOutput::with_input(&mut command, &payload.to_string())
}

/// Whether the agent was told to deny, in any form.
fn is_denied(ran: &ProgramOutput) -> bool {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let decision = |pointer: &str| matches!(answer.pointer(pointer).and_then(Value::as_str), Some("deny" | "block"));
    let decisions = ["/decision", "/permissionDecision", "/hookSpecificOutput/permissionDecision"];
    ran.code == 2 || (ran.code == 0 && decisions.into_iter().any(decision))
}

/// The shells that agents use, and two that people may have given to an agent: what `fish` reads differently is inside of
/// quotes.
fn shells() -> Vec<&'static str> {
    let needed = ["sh", "bash", "dash"].into_iter().filter(|shell| has_program(shell));
    let more = ["/bin/zsh", "/usr/bin/fish"].into_iter().filter(|shell| Path::new(shell).is_file());
    needed.chain(more).collect()
}

#[test]
fn under_every_limit_at_which_another_program_runs_a_denial_stays_one() {
    let sandbox = installed();
    let limits = [
        "--stack=100000",
        "--stack=200000",
        "--stack=1000000",
        "--as=20000000",
        "--as=60000000",
        "--as=150000000",
        "--data=1000000",
        "--data=5000000",
        "--nofile=3",
        "--nofile=4",
        "--nofile=5",
        "--nofile=6",
        "--nofile=7",
        "--nofile=9",
        "--nofile=12",
        "--fsize=0",
        "--memlock=0",
    ];
    let mut tried = 0;
    for limit in limits {
        let runs = |program: &[&str]| {
            Command::new("prlimit").arg(limit).args(program).status().is_ok_and(|status| status.success())
        };
        if !runs(&["/bin/true"]) || !runs(&["/bin/sh", "-c", "/bin/true"]) {
            continue;
        }
        tried += 1;
        for (agent, file, _) in ENTRIES {
            let (event, payload) = write_payload(&sandbox, agent);
            let ran = run(&sandbox, &["prlimit", limit], "/bin/sh", &line(&sandbox, file, event), &payload);
            assert!(is_denied(&ran), "{agent} {limit}: {ran:?}");
            assert!(!ran.stderr.contains("panicked"), "{agent} {limit}: {ran:?}");
        }
    }
    assert!(tried > 10, "only {tried} limits were tried");
}

#[test]
fn without_a_limit_the_entry_says_what_the_bridge_says() {
    let sandbox = installed();
    for shell in shells() {
        for (agent, file, _) in ENTRIES {
            let (event, payload) = write_payload(&sandbox, agent);
            let line = line(&sandbox, file, event);
            let ran = run(&sandbox, &[], shell, &line, &payload);
            assert!(is_denied(&ran), "{shell} {agent}: {ran:?}");
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains("not a.txt") && !said.contains("uninstall"), "{shell} {agent}: {ran:?}");
            let other: Value = serde_json::from_str(&payload.to_string().replace("a.txt", "b.txt")).unwrap();
            let ran = run(&sandbox, &[], shell, &line, &other).ends_with(0);
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{shell} {agent}");
        }
    }
}

/// A program that is gone, or one that dies.
#[test]
fn a_bridge_that_cannot_answer_denies_and_says_how_to_take_it_out() {
    let sandbox = installed();
    let broken = sandbox.write_program("dies", "#!/bin/sh\nkill -SEGV $$\n");
    let programs: [PathBuf; 3] = [Path::new("/no/such/hookrail").into(), sandbox.write("not-executable", ""), broken];
    for shell in shells() {
        for (agent, file, end) in ENTRIES {
            let (event, payload) = write_payload(&sandbox, agent);
            for program in &programs {
                let put = |line: String| line.replace(env!("CARGO_BIN_EXE_hookrail"), program.to_str().unwrap());
                let ran = run(&sandbox, &[], shell, &put(line(&sandbox, file, event)), &payload);
                assert_eq!(ran.code, 2, "{shell} {agent} {}: {ran:?}", program.display());
                let advice = format!("hookrail uninstall {agent}");
                assert!(ran.stderr.contains(&advice), "{shell} {agent}: {ran:?}");
                // With status 2 the agent would go on.
                let name = if agent == "copilot" { "agentStop" } else { end };
                let payload = recorded(&sandbox, agent, name);
                let ran = run(&sandbox, &[], shell, &put(line(&sandbox, file, end)), &payload);
                assert!(ran.code != 0 && ran.code != 2, "{shell} {agent} at the end: {ran:?}");
            }
        }
    }
}

/// What earlier versions wrote.
#[test]
fn entries_of_an_earlier_version_are_known_shown_and_replaced() {
    for (agent, file, _) in ENTRIES {
        let sandbox = Sandbox::new();
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        let (event, _) = write_payload(&sandbox, agent);
        let current = std::fs::read_to_string(sandbox.home.join(file)).unwrap();
        let new = line(&sandbox, file, event);
        let call = format!("{} bridge {agent}", env!("CARGO_BIN_EXE_hookrail"));
        let old = format!("{call}{}", new.split_once(&call).unwrap().1.trim_end_matches(" || exit 2"));
        let quoted = |text: &str| Value::from(text).to_string();
        std::fs::write(sandbox.home.join(file), current.replace(&quoted(&new), &quoted(&old))).unwrap();
        let ran = sandbox.run(&["doctor", agent, "--json"]).json();
        let checks = ran["checks"].as_array().unwrap();
        let of_entry = |check: &&Value| {
            check["message"].as_str().unwrap().contains("`command` is not what `hookrail install` writes")
        };
        let found: Vec<&Value> = checks.iter().filter(of_entry).collect();
        assert_eq!(found.len(), 1, "{agent}: {checks:#?}");
        assert_eq!(found[0]["status"], "warning", "{agent}");
        assert!(found[0]["fix"].as_str().unwrap().contains(&format!("hookrail install {agent}")), "{agent}");
        let ran = sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        assert!(ran.stdout.contains("other effect of a failure"), "{agent}: {ran:?}");
        assert_eq!(std::fs::read_to_string(sandbox.home.join(file)).unwrap(), current, "{agent}");
        std::fs::write(sandbox.home.join(file), current.replace(&quoted(&new), &quoted(&old))).unwrap();
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        let left = std::fs::read_to_string(sandbox.home.join(file)).unwrap_or_default();
        assert!(!left.contains("bridge"), "{agent}: {left}");
    }
}
