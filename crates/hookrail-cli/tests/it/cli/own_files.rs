//! No double runs: below the bridge of an agent nothing runs that the agent reads itself, and `doctor` says who runs what.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A hook that writes its name into a file of the project.
fn traced(name: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": format!("cat >/dev/null; echo {name} >> ran")}]})
}

fn claude(name: &str) -> String {
    json!({"hooks": {"PreToolUse": [traced(name)]}}).to_string()
}

fn gemini(name: &str) -> String {
    json!({"hooks": {"BeforeTool": [traced(name)]}}).to_string()
}

fn codex_table(name: &str) -> String {
    format!(
        "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"cat >/dev/null; echo {name} >> ran\"\n"
    )
}

/// A project with a hook in every place where one of the three dialects has hooks. The machine's files are below another root,
/// which no agent reads.
fn with_every_source() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/hookrail/config.toml", "[dialects]\nenabled = [\"claude\", \"gemini\", \"codex\"]\n");
    sandbox.write(".claude/settings.json", claude("claude-project"));
    sandbox.write(".claude/settings.local.json", claude("claude-local"));
    sandbox.write_home(".claude/settings.json", claude("claude-user"));
    let plugins = [("cached", sandbox.home.join(".claude/plugins/cache/m/cached")), ("linked", sandbox.path("linked"))];
    for (name, folder) in &plugins {
        std::fs::create_dir_all(folder.join("hooks")).unwrap();
        std::fs::write(folder.join("hooks/hooks.json"), claude(&format!("claude-plugin-{name}"))).unwrap();
    }
    let listed = plugins.map(|(name, folder)| (format!("{name}@m"), json!([{"scope": "user", "installPath": folder}])));
    let listed: serde_json::Map<String, Value> = listed.into_iter().collect();
    let list = json!({"version": 2, "plugins": listed}).to_string();
    sandbox.write_home(".claude/plugins/installed_plugins.json", list);
    sandbox.write(".gemini/settings.json", gemini("gemini-project"));
    sandbox.write_home(".gemini/settings.json", gemini("gemini-user"));
    sandbox.write_home(".gemini/extensions/e/gemini-extension.json", r#"{"name": "e", "version": "1"}"#);
    sandbox.write_home(".gemini/extensions/e/hooks/hooks.json", gemini("gemini-extension"));
    sandbox.write(".codex/hooks.json", claude("codex-project"));
    sandbox.write(".codex/config.toml", codex_table("codex-project-table"));
    sandbox.write_home(".codex/hooks.json", claude("codex-user"));
    sandbox.write_home(".codex/config.toml", codex_table("codex-user-table"));
    sandbox.write_at("machine/etc/claude-code/managed-settings.json", claude("machine-claude"));
    sandbox.write_at("machine/etc/gemini-cli/settings.json", gemini("machine-gemini"));
    sandbox.write_at("machine/etc/codex/hooks.json", claude("machine-codex"));
    sandbox.write_home(".copilot/config.json", copilot_that_trusts(&sandbox.project));
    run(&sandbox, &["trust", "grant", "--yes"], "").ends_with(0);
    sandbox
}

/// The file in which Copilot CLI keeps the folders that its user trusts.
fn copilot_that_trusts(folder: &Path) -> String {
    format!("// This file is managed automatically.\n{}\n", json!({"trustedFolders": [folder]}))
}

fn run(sandbox: &Sandbox, arguments: &[&str], input: &str) -> ProgramOutput {
    let mut command = sandbox.command(arguments);
    command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine"));
    for variable in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR", "HOOKRAIL_BRIDGE_PROJECT_DIR"] {
        command.env(variable, &sandbox.project);
    }
    ProgramOutput::with_input(&mut command, input)
}

/// The hooks that ran, in the order of their names.
fn ran(sandbox: &Sandbox) -> Vec<String> {
    let text = sandbox.read("ran");
    let _ = std::fs::remove_file(sandbox.project.join("ran"));
    let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
    names.sort();
    names
}

/// The hooks that an agent runs itself.
fn is_own(agent: Agent, hook: &str) -> bool {
    match agent.name() {
        "copilot" => matches!(hook, "claude-project" | "claude-local"),
        name => hook.split_once('-').is_some_and(|(dialect, _)| dialect == name),
    }
}

#[test]
fn a_bridge_runs_no_hook_that_its_agent_reads_itself() {
    let sandbox = with_every_source();
    let fired = run(&sandbox, &["fire", "PreToolUse", "--tool", "Write", "--tool-input", r#"{"file_path":"a"}"#], "");
    fired.ends_with(0);
    let all = ran(&sandbox);
    assert_eq!(all.len(), 15, "without an agent every hook runs: {all:?}");
    for agent in Agent::ALL {
        let (event, payload) = agent.sample_tool_event(&sandbox.project);
        run(&sandbox, &["bridge", agent.name(), "--event", event], &payload).ends_with(0);
        let expected: Vec<String> = all.iter().filter(|hook| !is_own(agent, hook)).cloned().collect();
        assert_eq!(ran(&sandbox), expected, "{agent}");
    }
    // The control: none of these files is read while the dialects are off.
    sandbox.write_home(".config/hookrail/config.toml", "[dialects]\nenabled = []\n");
    for agent in Agent::ALL {
        let (event, payload) = agent.sample_tool_event(&sandbox.project);
        run(&sandbox, &["bridge", agent.name(), "--event", event], &payload).ends_with(0);
        assert_eq!(ran(&sandbox), Vec::<String>::new(), "{agent}");
    }
}

/// What `doctor` says under a name.
fn diagnosed(sandbox: &Sandbox, agent: Agent, name: &str) -> Vec<String> {
    let document = run(sandbox, &["doctor", agent.name(), "--json"], "").json();
    let checks = document["checks"].as_array().unwrap().iter().filter(|check| check["name"] == name);
    checks.map(|check| check["message"].as_str().unwrap().to_owned()).collect()
}

/// The places that hold hooks which an agent runs itself.
fn own_places(sandbox: &Sandbox, agent: Agent) -> Vec<PathBuf> {
    let project = |names: &[&str]| names.iter().map(|name| sandbox.project.join(name)).collect::<Vec<_>>();
    let user = |names: &[&str]| names.iter().map(|name| sandbox.home.join(name)).collect::<Vec<_>>();
    match agent.name() {
        "claude" => [
            project(&[".claude/settings.json", ".claude/settings.local.json"]),
            user(&[".claude/settings.json", ".claude/plugins/cache/m/cached/hooks/hooks.json"]),
            vec![sandbox.path("linked/hooks/hooks.json")],
        ]
        .concat(),
        "gemini" => [
            project(&[".gemini/settings.json"]),
            user(&[".gemini/settings.json", ".gemini/extensions/e/hooks/hooks.json"]),
        ]
        .concat(),
        "codex" => {
            let files = [".codex/hooks.json", ".codex/config.toml"];
            [project(&files), user(&files)].concat()
        }
        "copilot" => project(&[".claude/settings.json", ".claude/settings.local.json"]),
        _ => Vec::new(),
    }
}

#[test]
fn doctor_says_which_hooks_the_agent_runs_itself_and_which_hookrail_leaves_to_it() {
    let sandbox = with_every_source();
    for is_enabled in [true, false] {
        if !is_enabled {
            sandbox.write_home(".config/hookrail/config.toml", "[dialects]\nenabled = []\n");
        }
        for agent in Agent::ALL {
            let told = diagnosed(&sandbox, agent, "own-hooks");
            let places = own_places(&sandbox, agent);
            for place in &places {
                let named = told.iter().filter(|line| line.contains(&format!("runs 1 hook of `{}`", place.display())));
                assert_eq!(named.count(), 1, "{agent}, {}: {told:?}", place.display());
            }
            let left = told.iter().filter(|line| line.contains("hookrail leaves")).count();
            assert_eq!(left, usize::from(is_enabled && !places.is_empty()), "{agent}: {told:?}");
            let files = told.iter().filter(|line| line.contains(" itself runs ")).count();
            assert_eq!(files, places.len(), "{agent}: {told:?}");
        }
    }
}

#[test]
fn doctor_warns_where_the_agent_skips_what_hookrail_leaves_to_it() {
    let sandbox = with_every_source();
    let is_left = |line: &&String| line.contains("which hookrail leaves to it");
    let skipped = |agent, name| diagnosed(&sandbox, agent, name).iter().filter(is_left).count();
    assert_eq!(skipped(Agent::codex(), "trust"), 2, "the entries of two files were never reviewed");
    // Codex trusts one of the two now.
    let key = format!("{}:pre_tool_use:0:0", sandbox.home.join(".codex/hooks.json").display());
    let trusted =
        format!("{}\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:0\"\n", codex_table("codex-user-table"));
    sandbox.write_home(".codex/config.toml", trusted);
    assert_eq!(skipped(Agent::codex(), "trust"), 1);
    sandbox.write_home(".config/hookrail/config.toml", "[dialects]\nenabled = []\n");
    assert_eq!(skipped(Agent::codex(), "trust"), 0, "hookrail runs none of them");
}

/// Copilot CLI 1.0.102 runs the hooks of `.claude/settings.json` in a folder that is trusted, with all below it, or with this variable.
/// Elsewhere its bridge runs them, or nothing would.
#[test]
fn what_copilot_does_not_trust_its_bridge_runs() {
    let asked = |sandbox: &Sandbox, session: &str, variable: Option<&str>| {
        let call = json!({
            "sessionId": session, "timestamp": 1, "cwd": sandbox.project, "toolName": "bash", "toolArgs": {"command": "ls"},
        });
        let mut command = sandbox.command(&["bridge", "copilot", "--event", "preToolUse"]);
        command.env("COPILOT_PROJECT_DIR", &sandbox.project);
        variable.into_iter().for_each(|value| _ = command.env("COPILOT_ALLOW_ALL", value));
        let ran = ProgramOutput::with_input(&mut command, &call.to_string()).ends_with(0);
        ran.stdout.contains("deny")
    };
    let guarded = || {
        let sandbox = Sandbox::new();
        let hook = json!({"type": "command", "command": "echo no >&2; exit 2"});
        let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
        sandbox.write(".claude/settings.json", settings.to_string());
        sandbox.run(&["enable", "claude"]).ends_with(0);
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        sandbox
    };
    let parent = |folder: &Path| folder.parent().unwrap().to_owned();
    for (file, variable, is_left) in [
        (None, None, false),
        (Some("{"), None, false),
        (Some(r#"{"trustedFolders": ["", ".", "/elsewhere", 7]}"#), None, false),
        (None, Some("false"), false),
        (None, Some("true"), true),
    ] {
        let sandbox = guarded();
        file.into_iter().for_each(|text| _ = sandbox.write_home(".copilot/config.json", text));
        assert_eq!(asked(&sandbox, "s", variable), !is_left, "{file:?} {variable:?}");
    }
    let sandbox = guarded();
    for (session, folder, is_left) in [
        ("one", sandbox.project.clone(), true),
        ("two", parent(&sandbox.project), true),
        ("three", sandbox.project.join("sub"), false),
        // The agent reads the file at the start of a session, and the model may write it later.
        ("three", sandbox.project.clone(), false),
    ] {
        sandbox.write_home(".copilot/config.json", copilot_that_trusts(&folder));
        assert_eq!(asked(&sandbox, session, None), !is_left, "{session} {}", folder.display());
    }
}

/// A project without a repository, whose only mark is the file of an agent, and a folder below it.
fn below_a_guard() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let guard = json!({"type": "command", "command": "if grep -q forbidden; then echo not that >&2; exit 2; fi"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [guard]}]}});
    sandbox.write(".claude/settings.json", settings.to_string());
    sandbox.run(&["enable", "claude"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let below = sandbox.project.join("packages/one");
    std::fs::create_dir_all(&below).unwrap();
    (sandbox, below)
}

fn asked_below(sandbox: &Sandbox, below: &Path, agent: Agent, line: &str) -> ProgramOutput {
    asked_in_session(sandbox, below, agent, line, "one")
}

fn asked_in_session(sandbox: &Sandbox, below: &Path, agent: Agent, line: &str, session: &str) -> ProgramOutput {
    let tool = if agent == Agent::gemini() { "run_shell_command" } else { "Bash" };
    let (event, payload) = agent.tool_event(below, tool, &json!({"command": line}));
    let mut payload: Value = serde_json::from_str(&payload).unwrap();
    payload["session_id"] = json!(session);
    let mut command = sandbox.command(&["bridge", agent.name(), "--event", event]);
    for variable in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"] {
        command.env(variable, below);
    }
    ProgramOutput::with_input(command.current_dir(below), &payload.to_string())
}

fn is_denied(ran: &ProgramOutput) -> bool {
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(told.contains("not that"), !told.is_empty(), "{ran:?}");
    !told.is_empty()
}

#[test]
fn an_agent_that_is_started_below_the_project_asks_its_guards_while_the_dialect_is_enabled() {
    let (sandbox, below) = below_a_guard();
    for agent in [Agent::codex(), Agent::gemini()] {
        assert!(is_denied(&asked_below(&sandbox, &below, agent, "forbidden")), "{agent}");
        assert!(!is_denied(&asked_below(&sandbox, &below, agent, "harmless")), "{agent}");
    }
    // A folder that the model made hides nothing.
    std::fs::create_dir_all(below.join(".claude")).unwrap();
    std::fs::write(below.join(".claude/settings.json"), "{\"hooks\": {}}").unwrap();
    let ran = asked_below(&sandbox, &below, Agent::gemini(), "forbidden");
    assert!(ran.stdout.contains("not that"), "{ran:?}");
    sandbox.run(&["disable", "claude", "--yes"]).ends_with(0);
    assert!(!is_denied(&asked_below(&sandbox, &below, Agent::codex(), "forbidden")));
}

/// The file of each agent that has hooks of a project, and whether the agent reads it in a folder above the one where it was
/// started: without a repository, and in one with its root there. So do the versions that were tested.
const ABOVE: [(&str, &str, bool, bool); 4] = [
    ("claude", ".claude/settings.json", false, false),
    ("claude", ".claude/settings.local.json", false, true),
    ("gemini", ".gemini/settings.json", false, false),
    ("codex", ".codex/hooks.json", false, true),
];

#[test]
fn what_an_agent_does_not_read_above_the_folder_where_it_was_started_runs_in_its_bridge() {
    for (name, file, alone, in_repository) in ABOVE {
        let agent = Agent::from_name(name).unwrap();
        for (is_repository, is_left) in [(false, alone), (true, in_repository)] {
            let (sandbox, below) = below_a_guard();
            let guard =
                json!({"type": "command", "command": "if grep -q forbidden; then echo not that >&2; exit 2; fi"});
            let event = if name == "gemini" { "BeforeTool" } else { "PreToolUse" };
            std::fs::remove_file(sandbox.project.join(".claude/settings.json")).unwrap();
            sandbox.write(file, json!({"hooks": {event: [{"hooks": [guard]}]}}).to_string());
            sandbox.run(&["enable", name]).ends_with(0);
            sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
            if is_repository {
                std::fs::create_dir(sandbox.project.join(".git")).unwrap();
            }
            let told = format!("{file}, repository: {is_repository}");
            assert_eq!(is_denied(&asked_below(&sandbox, &below, agent, "forbidden")), !is_left, "{told}");
            assert!(!is_denied(&asked_below(&sandbox, &below, agent, "harmless")), "{told}");
            // Where the agent reads it, the file is left to it.
            let project = sandbox.project.clone();
            assert!(!is_denied(&asked_below(&sandbox, &project, agent, "forbidden")), "{told}");
        }
    }
}

/// Codex CLI looks for the root of the repository when a session begins.
#[test]
fn a_repository_that_a_model_makes_takes_no_guard_away() {
    let (sandbox, below) = below_a_guard();
    std::fs::create_dir(sandbox.project.join(".codex")).unwrap();
    std::fs::rename(sandbox.project.join(".claude/settings.json"), sandbox.project.join(".codex/hooks.json")).unwrap();
    sandbox.run(&["enable", "codex"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let ask = |session: &str| is_denied(&asked_in_session(&sandbox, &below, Agent::codex(), "forbidden", session));
    assert!(ask("one"));
    std::fs::create_dir(sandbox.project.join(".git")).unwrap();
    assert!(ask("one"), "the session began without a repository");
    assert!(!ask("another"), "Codex CLI reads the file in this session");
}
