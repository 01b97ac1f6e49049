//! Building, signing, looking at bundles, and putting them in force.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hookrail_fleet::archive::{TOP_FILES, TOP_FOLDERS};
use serde_json::json;

use crate::fleet::support::{Fleet, denying, says, settings};

#[test]
fn from_a_folder_to_a_decision_on_a_machine() {
    let fleet = Fleet::new();
    let (code, outcome) = fleet.fire();
    assert_eq!(code, 2, "an enrolled machine without a bundle denies");
    assert!(says(&outcome, "bundle-missing"));
    assert_eq!(fleet.status()["condition"], "missing");
    fleet.publish(&denying("by policy"), &["--expires", "90d"]);
    let verified = fleet.hookrail(&["bundle", "verify", "dist", "--key", "key.pub", "--json"]).ends_with(0).json();
    assert_eq!((&verified["end"], &verified["files"][0]["path"]), (&json!("accepted"), &json!("settings.json")));
    fleet.hookrail(&["bundle", "verify"]).ends_with(0);
    assert_eq!(fleet.apply(), "switched");
    assert_eq!(fleet.apply(), "up-to-date");
    let (code, outcome) = fleet.fire();
    assert_eq!((code, &outcome["reason"]), (2, &json!("by policy")));
    assert_eq!(outcome["runs"][0]["source"]["kind"], "system");
    let status = fleet.status();
    assert_eq!((&status["condition"], &status["bundles"][0]["version"]), (&json!("current"), &json!(1)));
    assert!(status["bundles"][0]["expires"].is_string());
}

#[test]
fn every_kind_of_hook_in_a_bundle_takes_part() {
    let fleet = Fleet::new();
    fleet.write("policy/settings.json", settings("\"$HOOKRAIL_BUNDLE_DIR\"/scripts/guard.sh"));
    fleet.write_program("policy/scripts/guard.sh", "#!/bin/sh\nexit 0\n");
    fleet.write("policy/plugins/lint/plugin.json", r#"{"name": "lint"}"#);
    fleet.write("policy/plugins/lint/hooks/hooks.json", r#"{"PreToolUse": [{"command": "exit 0"}]}"#);
    let module = "import { reason } from './lib/reason.ts';\n\
        export default (pi: any) => { pi.on('tool_call', async () => ({ block: true, reason })); };\n";
    fleet.write("policy/modules/guard.ts", module);
    fleet.write("policy/modules/lib/reason.ts", "export const reason: string = 'by the module';\n");
    fleet.build(&[]).ends_with(0);
    fleet.sign();
    assert_eq!(fleet.apply(), "switched");
    let (code, outcome) = fleet.fire();
    assert_eq!((code, &outcome["reason"]), (2, &json!("by the module")), "{outcome}");
    let runs = outcome["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| run["source"]["kind"] == "system"), "{runs:?}");
    // Options that leave out the user's hooks leave out none of these.
    let ran = fleet.hookrail(&["fire", "BeforeTool", "--tool", "t", "--no-plugins", "--json"]).ends_with(2);
    assert_eq!(ran.json()["runs"].as_array().unwrap().len(), 3);
    let mut disabled = fleet.command(&["fire", "BeforeTool", "--tool", "t", "--json"]);
    assert_eq!(disabled.env("HOOKRAIL_DISABLE", "1").output().unwrap().status.code(), Some(2));
}

/// The administrator's hooks need no dialect to be enabled, and the user's own stay off beside them.
#[test]
fn a_bundle_brings_hooks_of_other_agents() {
    let fleet = Fleet::new();
    let call = ["fire", "before-tool", "--tool", "run_shell_command", "--tool-input", r#"{"command":"ls"}"#, "--json"];
    fleet.write_home(
        ".claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#,
    );
    let publish = |files: &[(&str, String)]| {
        let _ = fs::remove_dir_all(fleet.project.join("policy"));
        fleet.write("policy/settings.json", settings("true"));
        for (file, text) in files {
            fleet.write(&format!("policy/{file}"), text);
        }
        fleet.build(&[]).ends_with(0);
        fleet.sign();
        assert_eq!(fleet.apply(), "switched", "{files:?}");
        fleet.hookrail(&call).json()
    };
    for (dialect, file, event, matcher) in [
        ("claude", "claude/settings.json", "PreToolUse", "Bash"),
        ("gemini", "gemini/settings.json", "BeforeTool", "run_shell_command"),
        ("codex", "codex/hooks.json", "PreToolUse", "Bash"),
    ] {
        for (status, decision) in [(0, json!(null)), (2, json!("deny"))] {
            let command = format!("echo by {dialect} >&2; [ -f \"$HOOKRAIL_BUNDLE_DIR/{file}\" ] && exit {status}");
            let group = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
            let outcome = publish(&[(file, json!({"hooks": {event: [group]}}).to_string())]);
            assert_eq!(outcome["decision"], decision, "{dialect}: {outcome}");
            let runs = outcome["runs"].as_array().unwrap();
            let run = runs.iter().find(|run| run["dialect"] == dialect).unwrap();
            assert_eq!(run["source"]["kind"], "system", "{outcome}");
        }
    }
    assert_eq!(publish(&[])["runs"].as_array().unwrap().len(), 1, "the control");
}

/// Rules of a bundle are those of the machine: the user cannot switch them off.
#[test]
fn a_bundle_brings_rules() {
    let fleet = Fleet::new();
    let rules = |when: &str| format!("[[rule]]\nname = \"secrets\"\ndeny = \"by rule\"\nwhen = {{ {when} }}\n");
    let asked = |path: &str| {
        let input = json!({"path": path, "content": ""}).to_string();
        fleet.hookrail(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", &input, "--json"]).json()
    };
    fleet.write("policy/rules.toml", rules("writs = \"**/.env\""));
    let refused = fleet.build(&[]).ends_with(1).json();
    assert_eq!(refused["reason"], "content-unusable", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("rules.toml:4: "), "{refused}");
    fleet.write("policy/rules.toml", rules("writes = \"**/.env\""));
    fleet.write_home(".config/hookrail/config.toml", "[rules]\ndisabled = [\"secrets\"]\n");
    for (options, denied) in [(&["--shadow"][..], json!(null)), (&[], json!("deny"))] {
        fleet.build(options).ends_with(0);
        fleet.sign();
        assert_eq!(fleet.apply(), "switched");
        let outcome = asked("config/.env");
        assert_eq!(outcome["decision"], denied, "{outcome}");
        assert_eq!(asked("config/env")["decision"], json!(null), "the control");
    }
    let run = &asked(".env")["runs"][0];
    assert_eq!((&run["dialect"], &run["source"]["kind"]), (&json!("rules"), &json!("system")), "{run}");
}

#[test]
fn a_build_is_reproducible_and_refuses_what_the_engine_cannot_use() {
    let fleet = Fleet::new();
    fleet.write("policy/settings.json", denying("no"));
    let built = |out: &str| {
        let args = ["bundle", "build", "policy", "--out", out, "--tenant", "acme", "--channel", "stable"];
        let mut command = fleet.command(&args);
        assert!(command.env("SOURCE_DATE_EPOCH", "1794816000").output().unwrap().status.success());
        let mut files: Vec<_> =
            fs::read_dir(fleet.project.join(out)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.iter().map(|file| (file.file_name().unwrap().to_owned(), fs::read(file).unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(built("one"), built("two"));
    for (file, text, why) in [
        ("policy/settings.json", "{", "settings.json:1"),
        (
            "policy/settings.json",
            r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#,
            "never",
        ),
        (
            "policy/settings.json",
            r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [{}]}]}}"#,
            "settings.json:1",
        ),
        ("policy/plugins/p/plugin.json", "[]", "plugin.json"),
        ("policy/modules/m.ts", "export default (", "m.ts"),
    ] {
        let place = fleet.project.join(file);
        let before = fs::read(&place).ok();
        fleet.write(file, text);
        let refused = fleet.build(&[]).ends_with(1).json();
        assert_eq!(refused["reason"], "content-unusable", "{file}: {refused}");
        assert!(refused["message"].as_str().unwrap().contains(why), "{file}: {refused}");
        match before {
            Some(before) => fs::write(&place, before).unwrap(),
            None => fs::remove_dir_all(place.parent().unwrap()).unwrap(),
        }
    }
    fleet.build(&[]).ends_with(0);
}

#[test]
fn a_guard_that_could_never_run_is_not_built_and_the_fix_is_said() {
    let fleet = Fleet::new();
    let script = "policy/scripts/guard.sh";
    let runs_script = |event: &str, more: serde_json::Value| {
        let mut hook =
            json!({"type": "command", "name": "policy", "command": "\"$HOOKRAIL_BUNDLE_DIR\"/scripts/guard.sh"});
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"hooksConfig": {"enabled": true}, "hooks": {event: [{"hooks": [hook]}]}}).to_string()
    };
    let guards = [runs_script("BeforeTool", json!({})), runs_script("SessionStart", json!({"onFailure": "block"}))];
    for settings in &guards {
        fleet.write("policy/settings.json", settings);
        fleet.write(script, "#!/bin/sh\nexit 2\n");
        let refused = |why: &str, fix: &str| {
            let refused = fleet.build(&[]).ends_with(1).json();
            assert_eq!(refused["reason"], "content-unusable", "{refused}");
            let message = refused["message"].as_str().unwrap();
            assert!(message.contains(why) && message.contains(fix), "{why}: {message}");
            assert!(!message.contains("hookrail-trial"), "{message}");
        };
        refused("not executable", "`chmod +x policy/scripts/guard.sh`");
        fleet.write_program(script, "#!/opt/no/such/interpreter\nexit 2\n");
        refused("its interpreter `/opt/no/such/interpreter` does not exist", "write `#!/bin/sh`");
        fs::remove_file(fleet.project.join(script)).unwrap();
        refused("does not exist", "create `policy/scripts/guard.sh`");
        fleet.write_program(script, "#!/bin/sh\nexit 2\n");
        fleet.build(&[]).ends_with(0);
        fs::remove_file(fleet.project.join(script)).unwrap();
    }
    // What guards nothing may be there for some machines only.
    fleet.write("policy/settings.json", runs_script("SessionStart", json!({})));
    fleet.build(&[]).ends_with(0);
}

#[test]
fn a_machine_refuses_what_the_engine_cannot_use_and_keeps_what_it_has() {
    let fleet = Fleet::new();
    fleet.publish(&denying("good"), &[]);
    assert_eq!(fleet.apply(), "switched");
    // A publisher with another program can sign anything.
    let content = fleet.path("broken");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("settings.json"), "{").unwrap();
    let packed = hookrail_fleet::archive::pack(&content, &hookrail_fleet::archive::ArchiveLimits::DEFAULT).unwrap();
    let file = fleet.project.join("dist").join(hookrail_fleet::source::archive_name(&packed.digest));
    fs::write(file, &packed.bytes).unwrap();
    let digest = packed.digest.to_string();
    let args = ["bundle", "build", "--archive", &digest, "--out", "dist", "--tenant", "acme", "--channel", "stable"];
    fleet.hookrail(&args).ends_with(0);
    fleet.sign();
    assert_eq!(fleet.apply(), "content-unusable");
    assert_eq!(fleet.fire().1["reason"], "good");
}

#[test]
fn shadow_promotion_and_rollback() {
    let fleet = Fleet::new();
    let first = fleet.publish(&denying("old policy"), &[]);
    assert_eq!(fleet.apply(), "switched");
    let tried = fleet.publish(&settings("exit 0"), &["--shadow"]);
    assert_eq!(fleet.apply(), "switched");
    let (code, outcome) = fleet.fire();
    assert_eq!((code, &outcome["reason"]), (2, &json!("old policy")), "what counts stays in force");
    assert_eq!(fleet.status()["bundles"].as_array().unwrap().len(), 2);
    let promoted = fleet.publish(&settings("exit 0"), &[]);
    assert_eq!(promoted["digest"], tried["digest"]);
    assert_eq!(fleet.apply(), "switched");
    assert_eq!(fleet.fire().0, 0);
    let digest = first["digest"].as_str().unwrap();
    let args = ["bundle", "build", "--archive", digest, "--out", "dist", "--tenant", "acme", "--channel", "stable"];
    fleet.hookrail(&args).ends_with(0);
    fleet.sign();
    assert_eq!(fleet.apply(), "switched");
    assert_eq!(fleet.fire().1["reason"], "old policy");
    assert_eq!(fleet.status()["bundles"][0]["version"], 4);
}

#[test]
fn a_shadow_bundle_evaluates_and_records_without_effect() {
    let fleet = Fleet::new();
    fleet.publish(&denying("tried out"), &["--shadow"]);
    assert_eq!(fleet.apply(), "switched");
    let (code, outcome) = fleet.fire();
    assert_eq!((code, &outcome["decision"]), (0, &json!(null)), "{outcome}");
    assert_eq!(outcome["shadow"][0]["decision"], "deny", "{outcome}");
    assert_eq!(outcome["shadow"][0]["source"]["kind"], "system");
}

#[test]
fn inspect_and_diff_show_what_a_bundle_holds() {
    let fleet = Fleet::new();
    fleet.publish(&denying("one"), &[]);
    fs::rename(fleet.project.join("dist"), fleet.project.join("published")).unwrap();
    fleet.write_program("policy/scripts/new.sh", "#!/bin/sh\n");
    fleet.write("policy/settings.json", denying("two"));
    fleet.build(&["--version", "2"]).ends_with(0);
    let shown = fleet.hookrail(&["bundle", "inspect", "dist"]).ends_with(0).stdout;
    assert!(shown.contains("version   2\n") && shown.contains("755       10  scripts/new.sh"), "{shown}");
    assert!(shown.contains("signed    no\n"), "{shown}");
    let shown = fleet.hookrail(&["bundle", "diff", "published", "dist"]).ends_with(0).stdout;
    assert!(shown.contains("version   1 -> 2\n"), "{shown}");
    assert!(shown.ends_with("+ scripts/new.sh\n~ settings.json\n"), "{shown}");
    let document = fleet.hookrail(&["bundle", "diff", "published", "dist", "--json"]).ends_with(0).json();
    assert_eq!(document["files"][0]["change"], "added");
    assert_eq!(document["old"]["version"], 1);
    let same = fleet.hookrail(&["bundle", "diff", "dist", "dist"]).ends_with(0).stdout;
    assert_eq!(same, "the files are the same\n");
}

#[test]
fn refusals_say_why_and_change_nothing() {
    let fleet = Fleet::new();
    fleet.publish(&denying("first"), &[]);
    assert_eq!(fleet.apply(), "switched");
    let manifest = fleet.read("dist/manifest.json");
    fleet.write("dist/manifest.json", manifest.replace("\"version\": 1", "\"version\": 2"));
    let ran = fleet.hookrail(&["bundle", "apply"]).ends_with(1);
    assert!(ran.stderr.contains("error: the signature does not fit the manifest"), "{}", ran.stderr);
    assert_eq!(fleet.apply(), "bad-signature");
    fleet.hookrail(&["bundle", "verify", "dist", "--key", "key.pub"]).ends_with(1);
    let state = fleet.path("machine/var/lib/hookrail");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(fleet.apply(), "unsafe-place");
    assert_eq!(fleet.hookrail(&["bundle", "status", "--json"]).ends_with(1).json()["reason"], "unsafe-place");
    assert_eq!(fleet.fire().0, 2, "nor does the engine use it");
    assert!(says(&fleet.fire().1, "system-unusable"));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(fleet.fire().1["reason"], "first");
}

#[test]
fn without_root_a_bundle_is_the_users() {
    let fleet = Fleet::new();
    fs::remove_dir_all(fleet.path("machine")).unwrap();
    fleet.enrol("home/.config/hookrail", "");
    fleet.publish(&denying("mine"), &[]);
    let run = |args: &[&str]| {
        let mut command = fleet.command(args);
        hookrail_testkit::ProgramOutput::capture(command.env_remove("HOOKRAIL_FLEET_ROOT"))
    };
    run(&["fire", "BeforeTool", "--tool", "t"]).ends_with(2);
    run(&["bundle", "apply", "--scope", "user"]).ends_with(0);
    let outcome = run(&["fire", "BeforeTool", "--tool", "t", "--json"]).ends_with(2).json();
    assert_eq!((&outcome["reason"], &outcome["runs"][0]["source"]["kind"]), (&json!("mine"), &json!("user")));
    let status = run(&["bundle", "status", "--scope", "user", "--json"]).ends_with(0).json();
    assert_eq!(status["scope"], "user");
    let mode = fs::metadata(fleet.home.join(".local/state/hookrail/fleet")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "a user's bundle is private");
}

#[test]
fn a_secret_key_is_private_and_never_overwritten() {
    let fleet = Fleet::new();
    let mode = fs::metadata(fleet.project.join("key.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ran = fleet.hookrail(&["bundle", "keygen", "key", "--no-password"]).ends_with(1);
    assert!(ran.stderr.contains("exists already"), "{}", ran.stderr);
}

#[test]
fn every_command_has_examples_and_completions() {
    let fleet = Fleet::new();
    for command in ["", "keygen", "build", "sign", "verify", "inspect", "diff", "apply", "status"] {
        let args: Vec<&str> = ["bundle", command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = fleet.hookrail(&args).ends_with(0).stdout;
        assert!(help.contains("EXAMPLES:\n"), "{command}: {help}");
        let content = TOP_FILES.iter().chain(&TOP_FOLDERS);
        let missing: Vec<_> = content.filter(|name| command == "build" && !help.contains(**name)).collect();
        assert!(missing.is_empty(), "{missing:?}: {help}");
    }
    for shell in ["bash", "zsh", "fish"] {
        // The shell asks the program itself what fits.
        let mut asked = fleet.command(&["--", "hookrail", "bundle", "key"]);
        asked.env("HOOKRAIL_COMPLETE", shell).env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_INDEX", "2");
        let answer = hookrail_testkit::ProgramOutput::capture(&mut asked).ends_with(0).stdout;
        assert!(answer.contains("keygen"), "{shell}: {answer}");
    }
}

#[test]
fn the_command_line_of_the_unit_applies_the_bundle() {
    let fleet = Fleet::new();
    fleet.publish(&denying("by the timer"), &[]);
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/systemd/hookrail-bundle.service");
    let text = fs::read_to_string(unit).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/hookrail ")).unwrap();
    fleet.hookrail(&line.split(' ').collect::<Vec<_>>()).ends_with(0);
    assert_eq!(fleet.fire().1["reason"], "by the timer");
}

#[test]
fn a_bundle_may_have_a_hook_that_asks_workers() {
    let fleet = Fleet::new();
    let hooks = json!({"BeforeTool": [{"hooks": [{"type": "remote", "group": "guards"}]}]});
    fleet.publish(&json!({"hooksConfig": {"enabled": true}, "hooks": hooks}).to_string(), &[]);
    assert_eq!(fleet.apply(), "switched");
    let (status, outcome) = fleet.fire();
    assert_eq!((status, &outcome["runs"][0]["end"]), (2, &json!("spawn-failed")), "{outcome}");
}
