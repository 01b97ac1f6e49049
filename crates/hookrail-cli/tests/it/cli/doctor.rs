//! `doctor`: what keeps an agent from calling hookrail is found, with what to do about it.

use serde_json::{Value, json};

use crate::cli::install::{AGENTS, with_settings};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

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
    let checks = document["checks"].as_array().unwrap();
    let trust = checks.iter().find(|check| check["name"] == "trust").unwrap();
    assert_eq!((&trust["agent"], &trust["status"], &trust["fix"]), (&json!("codex"), &json!("ok"), &Value::Null));
    // A stale path lets every tool run in Codex.
    let path = sandbox.home.join(".codex/hooks.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_hookrail"), "/no/such/hookrail")).unwrap();
    let ran = sandbox.run(&["doctor", "codex"]).ends_with(1);
    assert!(ran.stdout.contains("missing or not executable"), "{ran:?}");
}

fn checks(sandbox: &Sandbox, agent: &str) -> Vec<Value> {
    let document = sandbox.run(&["doctor", agent, "--json"]).json();
    let checks = document["checks"].as_array().unwrap().clone();
    assert!(checks.iter().all(|check| check["status"] == "ok" || check["fix"].is_string()), "{checks:?}");
    checks
}

fn check<'c>(checks: &'c [Value], name: &str) -> &'c Value {
    let found = checks.iter().find(|check| check["name"] == name);
    assert!(found.is_some(), "no check `{name}` in {checks:#?}");
    found.unwrap()
}

#[test]
fn the_doctor_looks_at_the_same_things_in_every_agent() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "name": "guard", "command": "exit 0"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for agent in AGENTS {
        let found = checks(&sandbox, agent);
        assert_eq!(check(&found, "entries")["status"], "error", "{agent}");
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        let found = checks(&sandbox, agent);
        for name in ["switches", "entries", "program", "hooks", "dry-fire"] {
            assert_eq!(check(&found, name)["status"], "ok", "{agent} {name}: {found:#?}");
        }
        assert_eq!(check(&found, "version")["status"], "warning", "no agent is installed here");
        let losses = check(&found, "losses")["message"].as_str().unwrap();
        assert!(losses.contains("1 hook at before-tool") && losses.contains("`suppress-output`"), "{agent}: {losses}");
        let state = sandbox.home.join(".local/state/hookrail/bridge").join(agent);
        let left = std::fs::read_dir(state).into_iter().flatten().count();
        assert_eq!(left, 0, "{agent}: a dry run leaves no session behind");
    }
    for (agent, file) in [
        ("claude", ".claude/settings.json"),
        ("gemini", ".gemini/extensions/hookrail/hooks/hooks.json"),
        ("copilot", ".copilot/hooks/hookrail.json"),
        ("opencode", ".config/opencode/plugin/hookrail.js"),
        ("pi", ".pi/agent/extensions/hookrail.ts"),
    ] {
        let path = sandbox.home.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_hookrail"), "/no/such/hookrail")).unwrap();
        let found = checks(&sandbox, agent);
        let program = check(&found, "program");
        assert_eq!(program["status"], "error", "{agent}");
        let message = program["message"].as_str().unwrap();
        assert!(message.ends_with("is missing or not executable: every tool is denied"), "{agent}: {program}");
        let fix = program["fix"].as_str().unwrap();
        assert!(fix.starts_with(&format!("run `hookrail install {agent}` again, or `hookrail uninstall")), "{fix}");
        assert_eq!(check(&found, "dry-fire")["status"], "error", "{agent}: {found:#?}");
        std::fs::write(&path, text).unwrap();
    }
}

#[test]
fn the_doctor_finds_switches_timeouts_and_double_entries() {
    let sandbox = Sandbox::new();
    for agent in ["claude", "gemini", "qwen", "codex", "copilot"] {
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
    }
    for (agent, file, text) in [
        ("claude", ".claude/settings.json", "\"disableAllHooks\": true,"),
        ("qwen", ".qwen/settings.json", "/* a */ \"hooksConfig\": {\"enabled\": false},"),
    ] {
        let path = sandbox.home.join(file);
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, before.replacen('{', &format!("{{{text}"), 1)).unwrap();
        assert_eq!(check(&checks(&sandbox, agent), "switches")["status"], "error", "{agent}");
        std::fs::write(&path, before.replace("\"timeout\": 60", "\"timeout\": 40")).unwrap();
        let found = checks(&sandbox, agent);
        assert_eq!(check(&found, "timeouts")["status"], "error", "{agent}: {found:#?}");
        std::fs::write(&path, before).unwrap();
    }
    sandbox.write_home(".gemini/settings.json", "{ // mine\n \"hooksConfig\": {\"disabled\": [\"hookrail\"]} }");
    assert_eq!(check(&checks(&sandbox, "gemini"), "switches")["status"], "error");
    sandbox.write_home(".gemini/settings.json", "{\"security\": {\"folderTrust\": {\"enabled\": true}}}");
    assert_eq!(check(&checks(&sandbox, "gemini"), "folder-trust")["status"], "warning");
    sandbox.write_home(".codex/config.toml", "[features]\nhooks = false\n");
    assert_eq!(check(&checks(&sandbox, "codex"), "switches")["status"], "error");
    sandbox.write_home(".codex/config.toml", "features = [\n");
    assert_eq!(check(&checks(&sandbox, "codex"), "settings")["status"], "error");
    sandbox.write_home(".claude/settings.local.json", "");
    sandbox.run(&["install", "claude", "--scope", "project", "--yes"]).ends_with(0);
    assert_eq!(check(&checks(&sandbox, "claude"), "duplicates")["status"], "warning");
    assert_eq!(check(&checks(&sandbox, "copilot"), "other-agents")["status"], "warning");
}

#[test]
fn the_doctor_compares_the_key_and_the_hash_of_trust() {
    let sandbox = with_settings();
    sandbox.run(&["install", "codex", "--trust", "--yes"]).ends_with(0);
    assert_eq!(check(&checks(&sandbox, "codex"), "trust")["status"], "ok");
    // Another group before a trusted one changes its key and disarms it.
    let path = sandbox.home.join(".codex/hooks.json");
    let mut hooks: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let list = hooks["hooks"]["PreToolUse"].as_array_mut().unwrap();
    list.insert(0, json!({"hooks": [{"type": "command", "command": "mine"}]}));
    std::fs::write(&path, hooks.to_string()).unwrap();
    let found = checks(&sandbox, "codex");
    let trust = check(&found, "trust");
    assert_eq!(trust["status"], "error");
    assert!(trust["message"].as_str().unwrap().contains("1 entry"), "{trust}");
    sandbox.run(&["install", "codex", "--trust", "--yes"]).ends_with(0);
    assert_eq!(check(&checks(&sandbox, "codex"), "trust")["status"], "ok");
    sandbox.run(&["uninstall", "codex", "--yes"]).ends_with(0);
    assert_eq!(std::fs::read_to_string(sandbox.home.join(".codex/config.toml")).unwrap(), "model = \"x\"\n");
}

/// Claude Code denies what a missing program was to be asked about only if its entry says so; Codex CLI and Qwen Code never do.
#[test]
fn the_doctor_says_what_a_missing_program_means() {
    let sandbox = Sandbox::new();
    for (agent, file, entry, effect) in [
        ("claude", ".claude/settings.json", json!({ "onFailure": "block" }), "every tool is denied"),
        ("claude", ".claude/settings.json", json!({}), "no guard is asked"),
        ("codex", ".codex/hooks.json", json!({}), "no guard is asked"),
        ("qwen", ".qwen/settings.json", json!({}), "no guard is asked"),
    ] {
        let mut hook = entry;
        hook["type"] = json!("command");
        hook["command"] = json!(format!("/no/such/hookrail bridge {agent} --event PreToolUse"));
        // What is asked about prompts says nothing about tools.
        let prompt = json!({ "type": "command", "command": hook["command"], "onFailure": "block" });
        let hooks = json!({ "UserPromptSubmit": [{ "hooks": [prompt] }], "PreToolUse": [{ "hooks": [hook] }] });
        sandbox.write_home(file, json!({ "hooks": hooks }).to_string());
        let found = checks(&sandbox, agent);
        let message = check(&found, "program")["message"].as_str().unwrap();
        assert_eq!(message, format!("`/no/such/hookrail` is missing or not executable: {effect}"), "{agent}");
    }
}

/// An entry with the right command is without effect if a matcher never matches, if the agent does not wait, or if it
/// cannot read the timeout.
#[test]
fn an_entry_that_was_disarmed_is_found_and_repaired() {
    for (agent, file, event) in [
        ("claude", ".claude/settings.json", "PreToolUse"),
        ("codex", ".codex/hooks.json", "PreToolUse"),
        ("qwen", ".qwen/settings.json", "PreToolUse"),
        ("gemini", ".gemini/extensions/hookrail/hooks/hooks.json", "BeforeTool"),
        ("copilot", ".copilot/hooks/hookrail.json", "preToolUse"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        let path = sandbox.home.join(file);
        let installed = std::fs::read_to_string(&path).unwrap();
        let (timeout, grouped) = if agent == "copilot" { ("timeoutSec", false) } else { ("timeout", true) };
        for (member, value) in [("matcher", json!("Nothing")), ("async", json!(true)), (timeout, json!("60"))] {
            let mut settings: Value = serde_json::from_str(&installed).unwrap();
            let entry = &mut settings["hooks"][event][0];
            let target = if grouped && member != "matcher" { &mut entry["hooks"][0] } else { entry };
            target[member] = value;
            let disarmed = serde_json::to_string_pretty(&settings).unwrap();
            std::fs::write(&path, &disarmed).unwrap();
            let ran = sandbox.run(&["doctor", agent]).ends_with(1);
            let line = format!("is not current: `{member}` is not what `hookrail install` writes");
            assert!(ran.stdout.contains(&line), "{agent} {member}: {ran:?}");
            let ran = sandbox.run(&["install", agent, "--yes"]).ends_with(0);
            assert!(!ran.stdout.contains("nothing to change"), "{agent} {member}: {ran:?}");
            let repaired: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(repaired, serde_json::from_str::<Value>(&installed).unwrap(), "{agent} {member}");
            let found = checks(&sandbox, agent);
            let bad: Vec<&Value> =
                found.iter().filter(|check| check["name"] == "entries" && check["status"] != "ok").collect();
            assert!(bad.is_empty(), "{agent} {member}: {bad:?}");
        }
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert!(!path.exists(), "{agent}: a file that the installation created is removed");
    }
}

/// A repair that the doctor proposes changes the file that it complains about.
#[test]
fn the_doctor_proposes_what_helps() {
    let sandbox = Sandbox::new();
    let hook = json!({ "type": "command", "command": "/no/such/hookrail bridge gemini --event BeforeTool" });
    let settings = json!({ "hooks": { "BeforeTool": [{ "hooks": [hook] }] } }).to_string();
    sandbox.write_home(".gemini/settings.json", &settings);
    let found = checks(&sandbox, "gemini");
    let fix = check(&found, "program")["fix"].as_str().unwrap();
    assert!(fix.contains("by hand") && fix.contains(".gemini/settings.json`"), "{fix}");
    assert!(!fix.contains("uninstall"), "{fix}");
    std::fs::remove_file(sandbox.home.join(".gemini/settings.json")).unwrap();
    std::fs::create_dir_all(sandbox.project.join(".gemini")).unwrap();
    std::fs::write(sandbox.project.join(".gemini/settings.json"), settings).unwrap();
    let found = checks(&sandbox, "gemini");
    let fix = check(&found, "program")["fix"].as_str().unwrap();
    assert!(fix.starts_with("run `hookrail install gemini --scope project` again"), "{fix}");
    sandbox.run(&["install", "gemini", "--scope", "project", "--yes"]).ends_with(0);
    assert_eq!(check(&checks(&sandbox, "gemini"), "program")["status"], "ok");
}

#[test]
fn the_doctor_reads_every_file_of_copilot_that_has_hooks() {
    let sandbox = Sandbox::new();
    let hook =
        json!({ "type": "command", "bash": "/no/such/hookrail bridge copilot --event preToolUse", "timeoutSec": 60 });
    let text = json!({ "version": 1, "hooks": { "preToolUse": [hook] } }).to_string();
    sandbox.write_home(".copilot/hooks/mine.json", &text);
    let found = checks(&sandbox, "copilot");
    let program = check(&found, "program");
    assert_eq!(program["status"], "error", "{found:#?}");
    assert!(program["fix"].as_str().unwrap().contains("mine.json"), "{program}");
    sandbox.run(&["install", "copilot", "--yes"]).ends_with(0);
    let found = checks(&sandbox, "copilot");
    assert_eq!(check(&found, "duplicates")["status"], "warning", "{found:#?}");
}

/// Gemini CLI can turn an extension off for single folders; the last rule that fits counts.
#[test]
fn the_doctor_finds_switches_for_the_project_and_for_managed_hooks() {
    let sandbox = Sandbox::new();
    for agent in ["claude", "gemini", "codex"] {
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
    }
    let project = sandbox.project.canonicalize().unwrap();
    let project = project.to_str().unwrap();
    for (rules, status) in [
        (json!([format!("!{project}/*")]), "error"),
        (json!([format!("!{project}/"), format!("{project}/*")]), "ok"),
        (json!(["!/another/*"]), "ok"),
        (json!(["!/*"]), "error"),
    ] {
        let text = json!({ "hookrail": { "overrides": rules } }).to_string();
        sandbox.write_home(".gemini/extensions/extension-enablement.json", &text);
        assert_eq!(check(&checks(&sandbox, "gemini"), "switches")["status"], status, "{text}");
    }
    let path = sandbox.home.join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen('{', "{\"allowManagedHooksOnly\": true,", 1)).unwrap();
    assert_eq!(check(&checks(&sandbox, "claude"), "switches")["status"], "error");
    sandbox.write_home(".codex/config.toml", "allow_managed_hooks_only = true\n");
    assert_eq!(check(&checks(&sandbox, "codex"), "switches")["status"], "error");
}

/// A hook that is there and is not asked is an error, whatever the reason is.
#[test]
fn the_doctor_finds_hooks_that_the_bridge_does_not_ask() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 0");
    sandbox.run(&["install", "gemini", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["doctor", "gemini"]).ends_with(1);
    assert!(ran.stdout.contains("1 hook of this project is not trusted and is not asked: `sample`"), "{ran:?}");
    assert!(
        ran.stdout.contains("hookrail trust grant --project ") && ran.stdout.contains("0 hooks of this"),
        "{ran:?}"
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["doctor", "gemini"]).ends_with(0);
    assert!(ran.stdout.contains("1 hook of this project and user can take part"), "{ran:?}");
    let settings = sandbox.project.join(".llxprt/settings.json");
    std::fs::write(&settings, "{\"hooks\": {\n\"BeforeTool\": [").unwrap();
    let found = checks(&sandbox, "gemini");
    let broken = check(&found, "configuration");
    assert_eq!(broken["status"], "error", "{found:#?}");
    assert!(broken["message"].as_str().unwrap().contains(".llxprt/settings.json:2"), "{broken}");
    let hook = r#"{"hooks": [{"type": "command", "name": "sample", "command": "exit 0"}]}"#;
    std::fs::write(&settings, format!("{{\"hooks\": {{\"BeforeTool\": [{hook}]}}}}")).unwrap();
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["doctor", "gemini"]).ends_with(1);
    assert!(ran.stdout.contains("no settings switch hooks on: 1 hook is never asked"), "{ran:?}");
    let off = format!("{{\"hooksConfig\": {{\"enabled\": false}}, \"hooks\": {{\"BeforeTool\": [{hook}]}}}}");
    std::fs::write(&settings, off).unwrap();
    let ran = sandbox.run(&["doctor", "gemini"]).ends_with(0);
    assert!(ran.stdout.contains("1 hook is switched off by"), "{ran:?}");
}

/// The bridge asks the granted hooks of the folder above; those of the nearer folder wait.
#[test]
fn the_doctor_looks_at_the_project_of_the_bridge() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 0");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let near = sandbox.project.join("near/.llxprt");
    std::fs::create_dir_all(&near).unwrap();
    std::fs::copy(sandbox.project.join(".llxprt/settings.json"), near.join("settings.json")).unwrap();
    let near = sandbox.project.join("near");
    let ran = sandbox.run(&["doctor", "claude", "--project", near.to_str().unwrap()]).ends_with(1);
    assert!(ran.stdout.contains("has hooks and no grant: they are not asked"), "{ran:?}");
    assert!(ran.stdout.contains("1 hook of this project and user can take part"), "{ran:?}");
}

/// What the bridge itself refuses is no decision of a hook, although the agent sees a denial in both cases.
#[test]
fn a_bridge_that_fails_is_told_from_a_hook_that_denies() {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo no >&2; exit 2");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for agent in AGENTS {
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        let found = checks(&sandbox, agent);
        let denied = check(&found, "dry-fire");
        assert_eq!(denied["status"], "ok", "{agent}: {denied}");
        let state = sandbox.home.join(".local/state/hookrail/bridge").join(agent);
        let _ = std::fs::remove_dir_all(&state);
        std::fs::write(&state, "not a folder").unwrap();
        let found = checks(&sandbox, agent);
        let failed = check(&found, "dry-fire");
        assert_eq!(failed["status"], "error", "{agent}: {failed}");
        assert!(failed["message"].as_str().unwrap().contains("the bridge itself failed"), "{agent}: {failed}");
    }
}

#[test]
fn a_dry_run_uses_the_arguments_of_the_installed_entry() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sleep 30");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for (agent, file, from, to) in [
        ("opencode", ".config/opencode/plugin/hookrail.js", "const DEADLINE = 48000", "const DEADLINE = 300"),
        ("pi", ".pi/agent/extensions/hookrail.ts", "const DEADLINE = 48000", "const DEADLINE = 300"),
        ("qwen", ".qwen/settings.json", "--deadline 48000", "--deadline 300"),
    ] {
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        let path = sandbox.home.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{agent}: {text}");
        let text = text.replace(from, to);
        std::fs::write(&path, &text).unwrap();
        let found = checks(&sandbox, agent);
        assert_eq!(check(&found, "timeouts")["status"], "warning", "{agent}: {found:#?}");
        let fired = check(&found, "dry-fire");
        assert_eq!(fired["status"], "error", "{agent}: {fired}");
        let message = fired["message"].as_str().unwrap();
        // The payload may take as long on a busy machine.
        assert!(message.contains("ended at the deadline") || message.contains("within 0.3 s"), "{agent}: {fired}");
        if text.contains("const OPTIONS") {
            let allows = text.replace("const OPTIONS = []", "const OPTIONS = [\"--on-error\", \"allow\"]");
            std::fs::write(&path, &allows).unwrap();
            let found = checks(&sandbox, agent);
            let passes =
                |check: &Value| check["message"].as_str().unwrap().contains("passes when the bridge itself fails");
            assert!(found.iter().any(passes), "{agent}: {found:#?}");
            // A constant that is gone makes the plugin fail when it is loaded.
            std::fs::write(&path, text.replace("const OPTIONS", "const OPTION")).unwrap();
            let found = checks(&sandbox, agent);
            let changed =
                |check: &Value| check["message"].as_str().unwrap().contains("is not what this version writes");
            assert!(found.iter().any(changed), "{agent}: {found:#?}");
        }
    }
}

/// The agent is there in the tested version, calls this program, and a guard is asked: nothing is left to do, and nothing is recorded.
#[cfg(unix)]
#[test]
fn a_perfect_installation_has_no_warning_and_the_dry_run_reaches_its_guard() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write_file", "hooks": [
            {"type": "command", "name": "guard", "command": "cat > \"$HOME/asked.json\"", "onFailure": "block"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let program = sandbox.home.join("programs/claude");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let version = hookrail_bridge::Agent::from_name("claude").unwrap().tested_version();
    std::fs::write(&program, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let records = || sandbox.run(&["log", "--json"]).ends_with(0).stdout.lines().count();
    let before = records();
    let mut command = sandbox.command(&["doctor", "claude", "--json"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()));
    let found = ProgramOutput::capture(&mut command).ends_with(0).json();
    let found = found["checks"].as_array().unwrap();
    let others: Vec<&Value> = found.iter().filter(|check| check["status"] != "ok").collect();
    assert!(others.is_empty(), "{others:#?}");
    let dry_run = check(found, "dry-fire")["message"].as_str().unwrap();
    assert!(dry_run.ends_with("hook `guard` is asked about `Write`"), "{dry_run}");
    let asked: Value =
        serde_json::from_str(&std::fs::read_to_string(sandbox.home.join("asked.json")).unwrap()).unwrap();
    assert_eq!(asked["tool_name"], "write_file");
    assert_eq!(records(), before, "a dry run is not recorded");
    // The control: the same call of the agent is recorded.
    let agent = hookrail_bridge::Agent::from_name("claude").unwrap();
    let (event, payload) = agent.tool_event(&sandbox.project, "Write", &json!({"file_path": "a.txt", "content": "x"}));
    let payload = payload.replace(hookrail_bridge::SAMPLE_SESSION, "a-session");
    sandbox.run_with_input(&["bridge", "claude", "--event", event], &payload).ends_with(0);
    assert_eq!(records(), before + 1);
}

/// A version that begins with the tested one is another version.
#[cfg(unix)]
#[test]
fn another_version_is_not_taken_for_the_tested_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let programs = sandbox.home.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    for (agent, printed, status) in [
        ("pi", "0.73.1", "ok"),
        ("pi", "0.73.10", "warning"),
        ("claude", "2.1.3250 (Claude Code)", "warning"),
        ("gemini", "10.61.0", "warning"),
    ] {
        let program = programs.join(agent);
        std::fs::write(&program, format!("#!/bin/sh\necho '{printed}'\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = sandbox.command(&["doctor", agent, "--json"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        let document = crate::cli::sandbox::ProgramOutput::capture(&mut command).json();
        let found = document["checks"].as_array().unwrap();
        assert_eq!(check(found, "version")["status"], status, "{agent} {printed}");
    }
}

#[test]
fn the_doctor_mentions_that_there_is_no_trust_store() {
    let sandbox = with_settings();
    let mentions = |sandbox: &Sandbox| {
        let found = checks(sandbox, "claude");
        let about = |check: &&Value| check["message"].as_str().unwrap().contains("there is no trust store at");
        found.iter().find(about).map(|check| (check["name"].clone(), check["status"].clone()))
    };
    assert_eq!(mentions(&sandbox), None, "no agent calls hookrail");
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    assert_eq!(mentions(&sandbox), Some((json!("grants"), json!("warning"))));
    sandbox.write(".llxprt/settings.json", "{}");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let store = sandbox.home.join(".local/state/hookrail/trust.json");
    assert!(store.exists());
    assert_eq!(mentions(&sandbox), None);
    std::fs::remove_file(store).unwrap();
    assert!(mentions(&sandbox).is_some());
}

#[test]
fn the_doctor_mentions_a_system_file_that_is_named_and_missing() {
    let sandbox = with_settings();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let system = sandbox.home.join("system.json");
    let found = || {
        let mut command = sandbox.command(&["doctor", "claude", "--json"]);
        let ran = ProgramOutput::capture(command.env("LLXPRT_SYSTEM_SETTINGS_PATH", &system));
        let checks = ran.json()["checks"].as_array().unwrap().clone();
        let about = |check: &&Value| check["message"].as_str().unwrap().contains("system.json");
        checks.iter().find(about).map(|check| (check["name"].clone(), check["status"].clone()))
    };
    assert_eq!(found(), Some((json!("configuration"), json!("warning"))));
    std::fs::write(&system, "{}").unwrap();
    assert_eq!(found(), None);
}
