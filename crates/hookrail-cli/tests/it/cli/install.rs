//! `install` and `uninstall`: the change is shown, kept to what is needed, and can be taken back completely.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::cli::sandbox::{ProgramOutput, Sandbox};

pub(crate) const AGENTS: [&str; 7] = ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi"];

/// Every file of the home directory but the program's own state.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, String> {
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

/// Every file, and every folder with a slash behind its name.
pub(crate) fn files_and_folders(folder: &Path) -> BTreeMap<String, String> {
    let mut all = files(folder);
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path());
        for path in entries.filter(|path| path.is_dir() && !path.ends_with(".local")) {
            all.insert(format!("{}/", path.strip_prefix(folder).unwrap().display()), String::new());
            folders.push(path);
        }
    }
    all
}

pub(crate) fn with_settings() -> Sandbox {
    let sandbox = Sandbox::new();
    let claude = "{\n\t\"model\": \"x\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \
        \"command\": \"mine\"}]}\n\t\t]\n\t}\n}";
    sandbox.write_home(".claude/settings.json", claude);
    sandbox.write_home(".qwen/settings.json", "{ // mine\n  \"a\": 1 }\n");
    sandbox.write_home(".codex/config.toml", "model = \"x\"\n");
    sandbox.write_home(".codex/hooks.json", "{\"hooks\":{}}");
    sandbox
}

#[test]
fn what_was_installed_is_taken_back_byte_for_byte() {
    let sandbox = with_settings();
    let before = files_and_folders(&sandbox.home);
    for agent in AGENTS {
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        let installed = files_and_folders(&sandbox.home);
        assert_ne!(installed, before, "{agent}");
        let again = sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(0);
        assert!(again.stdout.contains("nothing to change"), "{agent}: {again:?}");
        assert_eq!(files_and_folders(&sandbox.home), installed, "{agent}");
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert_eq!(files_and_folders(&sandbox.home), before, "{agent}");
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
    let ran = sandbox.run(&["install", "claude", "--dry-run", "-v"]).ends_with(0);
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

/// The options of an installation, none of which may be seen after an uninstallation.
#[test]
fn other_options_replace_the_entries_and_one_uninstallation_takes_all_back() {
    let sandbox = with_settings();
    sandbox.write_home(".copilot/hooks/hookrail.json", "{\"version\": 1, \"hooks\": {}}");
    sandbox.write_home(".gemini/settings.json", "{}");
    let before = files_and_folders(&sandbox.home);
    for agent in AGENTS {
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        for timeout in ["60", "30", "45"] {
            sandbox.run(&[&["install", agent, "--yes", "--timeout", timeout], more].concat()).ends_with(0);
        }
        let installed = files_and_folders(&sandbox.home);
        let now = installed.values().map(|text| text.matches("--deadline 36000").count()).sum::<usize>();
        let earlier = installed.values().map(|text| text.matches("--deadline 48000").count()).sum::<usize>();
        assert!(
            (now > 5 || installed.values().any(|text| text.contains("DEADLINE = 36000"))) && earlier == 0,
            "{agent}"
        );
        let document = sandbox.run(&["doctor", agent, "--json"]).json();
        let bad = document["checks"].as_array().unwrap().iter().find(|check| check["name"] == "duplicates");
        assert_eq!(bad, None, "{agent}");
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert_eq!(files_and_folders(&sandbox.home), before, "{agent}");
    }
}

#[test]
fn edits_between_two_installations_stay() {
    let sandbox = with_settings();
    let path = sandbox.home.join(".claude/settings.json");
    let original = std::fs::read_to_string(&path).unwrap();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let edit = |text: &str| text.replacen("\"model\": \"x\"", "\"model\": \"y\",\n\t\"theme\": \"dark\"", 1);
    std::fs::write(&path, edit(&std::fs::read_to_string(&path).unwrap())).unwrap();
    sandbox.run(&["install", "claude", "--yes", "--timeout", "20"]).ends_with(0);
    let backup = std::fs::read_to_string(path.with_file_name("settings.json.before-hookrail")).unwrap();
    assert_eq!(backup, original, "the copy is the text before the first installation");
    sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), edit(&original));
}

/// The texts without blanks and without a list of hooks that is empty: whether the user had written these is not known.
fn without_blanks(files: &BTreeMap<String, String>) -> BTreeMap<&str, String> {
    let plain = |text: &String| {
        let text: String = text.split_whitespace().collect();
        text.replace("\"hooks\":{},", "").replace(",\"hooks\":{}", "").replace("\"hooks\":{}", "")
    };
    files.iter().map(|(path, text)| (path.as_str(), plain(text))).collect()
}

/// The state directory may be deleted, or the settings may come from another machine.
#[test]
fn an_installation_without_a_record_can_be_taken_out() {
    for agent in AGENTS {
        let sandbox = with_settings();
        let before = files(&sandbox.home);
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        std::fs::remove_dir_all(sandbox.home.join(".local")).unwrap();
        let ran = sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert!(ran.stdout.contains("no longer calls hookrail"), "{agent}: {ran:?}");
        assert_eq!(without_blanks(&files(&sandbox.home)), without_blanks(&before), "{agent}");
        let again = sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert!(again.stdout.contains("hookrail is not installed"), "{agent}: {again:?}");
    }
}

/// Without a record all places are looked at: a link that does not call hookrail is left alone, and a file that cannot be
/// read does not prove that hookrail is not installed.
#[cfg(unix)]
#[test]
fn what_is_looked_at_without_a_record_stops_nothing_and_hides_nothing() {
    let sandbox = with_settings();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    std::fs::remove_dir_all(sandbox.home.join(".local")).unwrap();
    let elsewhere = sandbox.home.join("elsewhere.json");
    std::fs::write(&elsewhere, "{}").unwrap();
    std::fs::create_dir_all(sandbox.project.join(".claude")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.project.join(".claude/settings.json")).unwrap();
    let settings = sandbox.home.join(".claude/settings.json");
    let installed = std::fs::read_to_string(&settings).unwrap();
    let broken = format!("{installed} }}");
    std::fs::write(&settings, &broken).unwrap();
    let ran = sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(1);
    assert!(ran.stderr.contains("mentions hookrail and cannot be read"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), broken);
    std::fs::write(&settings, installed).unwrap();
    let ran = sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("no longer calls hookrail"), "{ran:?}");
    assert!(!std::fs::read_to_string(&settings).unwrap().contains("hookrail"));
}

#[test]
fn an_installation_that_fails_changes_nothing() {
    let sandbox = with_settings();
    let config = sandbox.home.join(".codex/config.toml");
    let before = files_and_folders(&sandbox.home);
    for (text, problem) in [("model = [", "cannot be extended: line 1"), ("hooks = 1\n", "cannot be extended")] {
        std::fs::write(&config, text).unwrap();
        let ran = sandbox.run(&["install", "codex", "--trust", "--yes"]).ends_with(1);
        assert!(ran.stderr.contains(problem), "{ran:?}");
        std::fs::write(&config, "model = \"x\"\n").unwrap();
        assert_eq!(files_and_folders(&sandbox.home), before);
    }
    for file in [".codex/config.toml", ".claude/settings.json"] {
        let agent = if file.contains("codex") { "codex" } else { "claude" };
        let path = sandbox.home.join(file);
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions.clone()).unwrap();
        let more: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        let ran = sandbox.run(&[&["install", agent, "--yes"], more].concat()).ends_with(1);
        assert!(ran.stderr.contains("is read-only"), "{ran:?}");
        assert_eq!(files_and_folders(&sandbox.home), before);
    }
}

#[test]
fn a_file_in_place_of_a_folder_is_reported_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".gemini/extensions/hookrail/hooks", "mine");
    let before = files_and_folders(&sandbox.home);
    let ran = sandbox.run(&["install", "gemini", "--yes"]).ends_with(1);
    assert!(ran.stderr.contains("hooks.json` cannot be"), "{ran:?}");
    assert_eq!(files_and_folders(&sandbox.home), before);
}

#[test]
fn events_that_hooks_want_are_registered_or_reported() {
    let sandbox = Sandbox::with_hooks(r#""BeforeModel": [{"hooks": [{"type": "command", "command": "true"}]}]"#);
    let ran = sandbox.run(&["install", "codex", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("waits for before-model, which Codex CLI does not fire"), "{ran:?}");
    sandbox.run(&["install", "gemini", "--yes"]).ends_with(0);
    let hooks = || files(&sandbox.home)[".gemini/extensions/hookrail/hooks/hooks.json"].clone();
    assert!(hooks().contains("BeforeModel"), "{}", hooks());
    // Another project does not take the event away.
    std::fs::remove_file(sandbox.project.join(".llxprt/settings.json")).unwrap();
    sandbox.run(&["install", "gemini", "--yes", "--timeout", "20"]).ends_with(0);
    assert!(hooks().contains("BeforeModel"), "{}", hooks());
    sandbox.run(&["uninstall", "gemini", "--yes"]).ends_with(0);
}

/// Blocked because hookrail is missing, the end of an answer would only keep Claude Code from ending it.
#[test]
fn a_failure_blocks_prompts_and_tools_in_claude_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let settings: Value = serde_json::from_str(&files(&sandbox.home)[".claude/settings.json"]).unwrap();
    let blocks = |(event, groups): (&String, &Value)| groups[0]["hooks"][0].get("onFailure").map(|_| event.clone());
    let blocking: BTreeSet<String> = settings["hooks"].as_object().unwrap().iter().filter_map(blocks).collect();
    assert_eq!(blocking, ["PermissionRequest", "PreToolUse", "UserPromptSubmit"].map(str::to_owned).into());
}

/// An empty variable counts as one that is not set.
/// Codex knows hooks by their position, which changes only for hooks that are there.
#[test]
fn only_hooks_that_are_left_are_reviewed_again() {
    let own = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    for (hooks, is_told) in [(None, false), (Some(own), true)] {
        let sandbox = Sandbox::new();
        hooks.into_iter().for_each(|text| _ = sandbox.write_home(".codex/hooks.json", text));
        sandbox.run(&["install", "codex", "--trust", "--yes"]).ends_with(0);
        let told = sandbox.run(&["uninstall", "codex", "--yes"]).ends_with(0).stdout;
        assert_eq!(told.contains("review them again"), is_told, "{told}");
    }
}

#[test]
fn an_empty_codex_home_is_the_default() {
    let sandbox = Sandbox::new();
    let before = files_and_folders(&sandbox.project);
    let run =
        |arguments: &[&str]| ProgramOutput::capture(sandbox.command(arguments).env("CODEX_HOME", "")).ends_with(0);
    run(&["install", "codex", "--trust", "--yes"]);
    assert_eq!(files_and_folders(&sandbox.project), before, "nothing is written to the current directory");
    let config = &files(&sandbox.home)[".codex/config.toml"];
    assert!(config.contains(".codex/hooks.json:pre_tool_use:0:0"), "{config}");
    let doctor = run(&["doctor", "codex"]);
    assert!(doctor.stdout.contains("trusts every entry"), "{doctor:?}");
    run(&["uninstall", "codex", "--yes"]);
    assert!(!sandbox.home.join(".codex").exists());
}

/// The events in the entries that call hookrail, by the agent's names.
fn registered(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(&files(&sandbox.home)[file]).unwrap();
    let lists = settings["hooks"].as_object().unwrap().iter();
    let calls = |list: &Value| list.to_string().contains("hookrail bridge");
    lists.filter(|(_, list)| calls(list)).map(|(event, _)| event.clone()).collect()
}

#[test]
fn the_events_can_be_chosen() {
    for (agent, file, narrow, names) in [
        ("claude", ".claude/settings.json", "before-tool,Stop", ["PreToolUse", "SessionStart", "Stop"]),
        ("codex", ".codex/hooks.json", "PreToolUse,agent-end", ["PreToolUse", "SessionStart", "Stop"]),
        (
            "gemini",
            ".gemini/extensions/hookrail/hooks/hooks.json",
            "before-tool,before-model",
            ["BeforeModel", "BeforeTool", "SessionStart"],
        ),
        (
            "copilot",
            ".copilot/hooks/hookrail.json",
            "preToolUse,prompt",
            ["preToolUse", "sessionStart", "userPromptSubmitted"],
        ),
    ] {
        let sandbox = with_settings();
        let before = files_and_folders(&sandbox.home);
        let sorted = || {
            let mut names = registered(&sandbox, file);
            names.sort();
            names
        };
        // From nothing, and from more than is wanted.
        for first in [&["--dry-run"][..], &["--yes"]] {
            sandbox.run(&[&["install", agent], first].concat()).ends_with(0);
            sandbox.run(&["install", agent, "--yes", "--events", narrow]).ends_with(0);
            assert_eq!(sorted(), names, "{agent}");
            let again = sandbox.run(&["install", agent, "--yes", "--events", narrow]).ends_with(0);
            assert!(again.stdout.contains("nothing to change"), "{agent}: {again:?}");
        }
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        assert!(sorted().len() > 5, "{agent}: without `--events` the usual ones are back");
        sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert_eq!(files_and_folders(&sandbox.home), before, "{agent}");
    }
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["install", "codex", "--yes", "--events", "before-model"]).ends_with(1);
    assert!(
        ran.stderr.contains("does not fire `before-model`")
            && ran.stderr.contains("before-tool, permission-request, after-tool"),
        "{ran:?}"
    );
    let ran = sandbox.run(&["install", "pi", "--yes", "--events", "before-tool"]).ends_with(1);
    assert!(ran.stderr.contains("always passes on every event"), "{ran:?}");
    assert!(files_and_folders(&sandbox.home).keys().all(|name| !name.contains("codex") && !name.contains("pi")));
}

/// Gemini CLI fires its event before every model call, so that an entry costs a process each time.
#[test]
fn a_noisy_event_is_registered_only_if_it_is_wanted() {
    let file = ".gemini/extensions/hookrail/hooks/hooks.json";
    let sandbox = Sandbox::with_hook("PreCompress", "true");
    let ran = sandbox.run(&["install", "gemini", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("waits for before-compact, which Gemini CLI fires before every model call"), "{ran:?}");
    assert!(!registered(&sandbox, file).contains(&"PreCompress".to_owned()));
    let warned = |sandbox: &Sandbox| sandbox.run(&["doctor", "gemini"]).stdout.contains("the bridge leaves it out");
    assert!(warned(&sandbox));
    let explained = sandbox.run(&["explain", "PreCompress", "--agent", "gemini", "--trust-project"]).ends_with(0);
    assert!(explained.stdout.contains("only if installed with `--noisy`"), "{explained:?}");
    sandbox.run(&["install", "gemini", "--yes", "--noisy"]).ends_with(0);
    assert!(registered(&sandbox, file).contains(&"PreCompress".to_owned()));
    assert!(files(&sandbox.home)[file].contains("--event PreCompress --deadline 48000 --noisy"));
    assert!(!warned(&sandbox));
    // In a shared file, an entry of an earlier version is taken out.
    sandbox.run(&["install", "gemini", "--yes", "--noisy", "--scope", "project"]).ends_with(0);
    let settings = || std::fs::read_to_string(sandbox.project.join(".gemini/settings.json")).unwrap();
    assert!(settings().contains("PreCompress"));
    sandbox.run(&["install", "gemini", "--yes", "--scope", "project"]).ends_with(0);
    assert!(!settings().contains("PreCompress") && settings().contains("BeforeTool"), "{}", settings());
}

#[test]
fn options_of_the_bridge_are_passed_on() {
    let flags = ["--allow-skips-prompt", "--attended", "--strict-trust", "--noisy"];
    for agent in AGENTS {
        let sandbox = Sandbox::new();
        sandbox.run(&[&["install", agent, "--yes"], &flags[..]].concat()).ends_with(0);
        let written: String = files(&sandbox.home).into_values().collect();
        for flag in flags {
            assert!(written.contains(flag), "{agent} {flag}: {written}");
        }
        let doctor = sandbox.run(&["doctor", agent]);
        assert!(!doctor.stdout.contains("not current") && !doctor.stdout.contains("is not what this"), "{doctor:?}");
        assert!(doctor.stdout.contains("a dry run of"), "{doctor:?}");
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        let written: String = files(&sandbox.home).into_values().collect();
        assert!(flags.iter().all(|flag| !written.contains(flag)), "{agent}: {written}");
    }
}

#[test]
fn one_scope_is_uninstalled_and_the_other_stays() {
    let sandbox = with_settings();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    sandbox.run(&["install", "claude", "--scope", "project", "--yes"]).ends_with(0);
    let calls = |file: &std::path::Path| std::fs::read_to_string(file).is_ok_and(|text| text.contains("bridge claude"));
    let (user, project) = (sandbox.home.join(".claude/settings.json"), sandbox.project.join(".claude/settings.json"));
    assert!(calls(&user) && calls(&project));
    sandbox.run(&["uninstall", "claude", "--scope", "project", "--yes"]).ends_with(0);
    assert!(calls(&user) && !calls(&project));
    let ran = sandbox.run(&["uninstall", "claude", "--scope", "project", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("is not installed"), "{ran:?}");
    sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(0);
    assert!(!calls(&user));
}
