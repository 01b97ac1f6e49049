//! A granted guard that its project takes away: it counts as failed for the events that it was granted for.

use std::fs;
use std::path::Path;

use hookrail::hook::{Action, Trust};
use hookrail::trust::{FileTrustStore, Grants, TrustStore as _};
use hookrail::{Code, Decision, EndKind, Event, EventKind, HookSystem, Outcome};
use serde_json::{Value, json};

use crate::loading::world::{World, says};

const SETTINGS: &str = "project/.llxprt/settings.json";
const PLUGIN: &str = "project/.x-code/plugins/gate";

/// What a project does with the source of its guard.
type Removal = (&'static str, fn(&World));

fn entry(policy: &str) -> Value {
    json!({"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": policy})
}

fn settings(event: &str, matcher: &str, entry: &Value) -> Value {
    json!({"hooksConfig": {"enabled": true}, "hooks": {event: [{"matcher": matcher, "hooks": [entry]}]}})
}

/// A project with a granted guard that allows, so that only its absence can deny.
fn with_settings(policy: &str) -> World {
    let world = World::new();
    world.write(SETTINGS, &settings("BeforeTool", "write_.*", &entry(policy)).to_string());
    world.write("project/guard.sh", "exit 0\n");
    grant(&world);
    world
}

fn with_plugin(policy: &str) -> World {
    let world = World::new();
    world.write(&format!("{PLUGIN}/plugin.json"), r#"{"name":"gate","hooks":"./hooks.json"}"#);
    let hook = json!({"command": "sh ${pluginDir}/run.sh", "matcher": "writeFile", "failurePolicy": policy});
    world.write(&format!("{PLUGIN}/hooks.json"), &json!({"PreToolUse": [hook]}).to_string());
    world.write(&format!("{PLUGIN}/run.sh"), "exit 0\n");
    grant(&world);
    world
}

fn store(world: &World) -> FileTrustStore {
    FileTrustStore::new(world.store())
}

fn project(world: &World) -> std::path::PathBuf {
    world.path("project").canonicalize().unwrap()
}

fn grants(world: &World) -> Grants {
    store(world).grants(&project(world)).unwrap()
}

fn grant(world: &World) {
    let snapshot = world.build().snapshot();
    let give = |grants: &mut Grants| {
        grants.project = true;
        for hook in snapshot.hooks() {
            if let Some(fingerprint) = hook.trust.fingerprint() {
                assert!(grants.grant(hook, fingerprint));
            }
        }
    };
    store(world).change(&project(world), give).unwrap();
}

/// Accepts what is missing now, as `hookrail trust grant` does.
fn accept(world: &World) {
    let snapshot = world.build().snapshot();
    let missing = snapshot.hooks().iter().filter_map(|hook| match &hook.action {
        Action::Missing(guard) => Some(guard),
        _ => None,
    });
    store(world).change(&project(world), |grants| missing.for_each(|guard| grants.accept_missing(guard))).unwrap();
}

fn fire(world: &World, system: &HookSystem, tool: &str) -> Outcome {
    system.fire_blocking(Event::new(EventKind::BeforeTool, world.path("project")).with_text("tool_name", tool))
}

fn rewrite(world: &World, change: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_str(&fs::read_to_string(world.path(SETTINGS)).unwrap()).unwrap();
    change(&mut document);
    world.write(SETTINGS, &document.to_string());
}

fn into_folder(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
}

fn settings_removals() -> Vec<Removal> {
    vec![
        ("its entry is removed", |world| rewrite(world, |all| all["hooks"]["BeforeTool"][0]["hooks"] = json!([]))),
        ("all hooks are removed", |world| rewrite(world, |all| all["hooks"] = json!({}))),
        ("the file says nothing", |world| world.write(SETTINGS, "{}")),
        ("it is on the list", |world| rewrite(world, |all| all["hooksConfig"]["disabled"] = json!(["guard"]))),
        ("it is on the other list", |world| rewrite(world, |all| all["hooks"]["disabled"] = json!(["guard"]))),
        ("the switch is off", |world| rewrite(world, |all| all["hooksConfig"]["enabled"] = json!(false))),
        ("another switch is off", |world| rewrite(world, |all| all["tools"] = json!({"enableHooks": false}))),
        ("the switch is gone", |world| rewrite(world, |all| all["hooksConfig"] = json!({}))),
        ("it is for another event", |world| {
            world.write(SETTINGS, &settings("AfterTool", "write_.*", &entry("block")).to_string());
        }),
        ("it is for another tool", |world| {
            world.write(SETTINGS, &settings("BeforeTool", "nothing", &entry("block")).to_string());
        }),
        ("the file is empty", |world| world.write(SETTINGS, "")),
        ("the file is blank", |world| world.write(SETTINGS, " \n")),
        ("the file is broken", |world| world.write(SETTINGS, "{\"hooks\": {")),
        ("the file is a list", |world| world.write(SETTINGS, "[]")),
        ("the file is no text", |world| fs::write(world.path(SETTINGS), b"\xff\xfe").unwrap()),
        ("the file is a folder", |world| into_folder(&world.path(SETTINGS))),
        ("the file has another name", |world| {
            fs::rename(world.path(SETTINGS), world.path("project/.llxprt/settings.old.json")).unwrap();
        }),
        ("the file is gone", |world| fs::remove_file(world.path(SETTINGS)).unwrap()),
        ("the folder is gone", |world| fs::remove_dir_all(world.path("project/.llxprt")).unwrap()),
    ]
}

fn plugin_removals() -> Vec<Removal> {
    vec![
        ("its entry is removed", |world| world.write(&format!("{PLUGIN}/hooks.json"), "{}")),
        ("its hooks are empty", |world| world.write(&format!("{PLUGIN}/hooks.json"), "")),
        ("its hooks are broken", |world| world.write(&format!("{PLUGIN}/hooks.json"), "{")),
        ("its hooks are gone", |world| fs::remove_file(world.path(&format!("{PLUGIN}/hooks.json"))).unwrap()),
        ("its manifest has no hooks", |world| world.write(&format!("{PLUGIN}/plugin.json"), r#"{"name":"gate"}"#)),
        ("its manifest is broken", |world| world.write(&format!("{PLUGIN}/plugin.json"), "{")),
        ("its manifest is gone", |world| fs::remove_file(world.path(&format!("{PLUGIN}/plugin.json"))).unwrap()),
        ("it is disabled", |world| {
            world.write("project/.x-code/settings.local.json", r#"{"enabledPlugins":{"gate@local":false}}"#);
        }),
        ("it is for another event", |world| {
            let hook = json!({"command": "sh ${pluginDir}/run.sh", "failurePolicy": "block"});
            world.write(&format!("{PLUGIN}/hooks.json"), &json!({"PostToolUse": [hook]}).to_string());
        }),
        ("its folder has another name", |world| {
            fs::rename(world.path(PLUGIN), world.path("project/.x-code/plugins/.gate")).unwrap();
        }),
        ("its folder is gone", |world| fs::remove_dir_all(world.path(PLUGIN)).unwrap()),
    ]
}

/// The guard fails for the tool that it was granted for, and for no other one.
#[track_caller]
fn is_missed(world: &World, tool: &str, decision: Decision, how: &str) {
    let system = world.build();
    let outcome = fire(world, &system, tool);
    assert_eq!(outcome.effects.decision, Some(decision), "{how}: {:?}", outcome.diagnostics);
    assert_eq!(outcome.runs.iter().filter(|run| run.end == EndKind::Unusable).count(), 1, "{how}");
    let is_said = says(&outcome, Code::GuardMissing) || says(&outcome, Code::TrustChanged);
    assert!(is_said, "{how}: {:?}", outcome.diagnostics);
    if says(&outcome, Code::GuardMissing) {
        let reason = outcome.effects.reason.unwrap();
        assert!(reason.contains("`hookrail trust grant`") && reason.contains("hookrail trust revoke"), "{reason}");
    }
    let other = fire(world, &system, "read_something");
    assert_eq!(other.effects.decision, None, "{how}: {:?}", other.diagnostics);
}

#[test]
fn a_guard_of_the_settings_that_is_taken_away_fails_under_its_policy() {
    for (how, remove) in settings_removals() {
        for (policy, decision) in [("block", Decision::Deny), ("ask", Decision::Ask)] {
            let world = with_settings(policy);
            assert_eq!(
                fire(&world, &world.build(), "write_file").effects.decision,
                None,
                "it allows while it is there"
            );
            remove(&world);
            is_missed(&world, "write_file", decision, how);
        }
        let world = with_settings("allow");
        remove(&world);
        let outcome = fire(&world, &world.build(), "write_file");
        assert!(!outcome.is_denied() && !says(&outcome, Code::GuardMissing), "what is no guard is not missed: {how}");
    }
}

#[test]
fn a_guard_of_a_plugin_that_is_taken_away_fails_under_its_policy() {
    for (how, remove) in plugin_removals() {
        let world = with_plugin("block");
        assert_eq!(fire(&world, &world.build(), "writeFile").effects.decision, None, "it allows while it is there");
        remove(&world);
        is_missed(&world, "writeFile", Decision::Deny, how);
        let world = with_plugin("allow");
        remove(&world);
        assert!(!fire(&world, &world.build(), "writeFile").is_denied(), "what is no guard is not missed: {how}");
    }
}

#[test]
fn the_last_good_version_runs_in_a_running_process_whatever_is_reloaded() {
    for (how, remove) in settings_removals() {
        let world = with_settings("block");
        let system = world.build();
        remove(&world);
        for load in [HookSystem::refresh, HookSystem::reload] {
            load(&system);
            let outcome = fire(&world, &system, "write_file");
            let changed = says(&outcome, Code::TrustChanged);
            assert_eq!(outcome.runs.len(), 1, "{how}: {:?}", outcome.diagnostics);
            assert_eq!(outcome.is_denied(), changed, "{how}: {:?}", outcome.diagnostics);
            let kept = [Code::GuardMissing, Code::KeptLastGood, Code::SourceRemoved];
            assert!(changed || kept.iter().any(|code| says(&outcome, *code)), "{how}: {:?}", outcome.diagnostics);
        }
        // Its files are compared before it runs, as always.
        world.write("project/guard.sh", "exit 0 # another one\n");
        assert!(fire(&world, &system, "write_file").is_denied(), "{how}");
        store(&world).change(&project(&world), |grants| grants.hooks.clear()).unwrap();
        system.reload();
        assert!(!fire(&world, &system, "write_file").is_denied(), "a revoked guard is not missed: {how}");
    }
}

#[test]
fn reloading_accepts_the_removal_of_what_is_no_granted_guard() {
    let world = with_settings("allow");
    let system = world.build();
    fs::remove_file(world.path(SETTINGS)).unwrap();
    system.reload();
    assert!(fire(&world, &system, "write_file").runs.is_empty());
}

#[test]
fn what_was_accepted_is_not_asked_about_twice_and_the_guard_is_granted_when_it_comes_back() {
    for (how, remove) in settings_removals() {
        let world = with_settings("block");
        let before = fs::read(world.path(SETTINGS)).unwrap();
        remove(&world);
        let missed = fire(&world, &world.build(), "write_file");
        if says(&missed, Code::TrustChanged) {
            continue; // it is there and was changed
        }
        let running = world.build();
        accept(&world);
        assert_eq!(grants(&world).hooks.len(), 1, "the grant stays");
        let outcome = fire(&world, &world.build(), "write_file");
        assert!(!outcome.is_denied() && !says(&outcome, Code::GuardMissing), "{how}: {:?}", outcome.diagnostics);
        running.refresh();
        assert!(!fire(&world, &running, "write_file").is_denied(), "{how}");
        let _ = fs::remove_dir(world.path(SETTINGS));
        fs::create_dir_all(world.path("project/.llxprt")).unwrap();
        fs::write(world.path(SETTINGS), &before).unwrap();
        let outcome = fire(&world, &world.build(), "write_file");
        assert!(!outcome.is_denied() && outcome.runs.len() == 1, "{how}: {:?}", outcome.diagnostics);
        assert!(matches!(outcome.runs[0].hook.trust, Trust::Granted(_)), "{how}");
        // Another state is another question.
        world.write(SETTINGS, r#"{"hooksConfig": {"enabled": true}, "other": 1}"#);
        assert!(fire(&world, &world.build(), "write_file").is_denied(), "{how}");
    }
}

#[test]
fn what_the_user_switches_off_needs_no_acceptance() {
    let off = [
        r#"{"hooksConfig": {"enabled": false}}"#,
        r#"{"hooksConfig": {"disabled": ["guard"]}}"#,
        r#"{"hooks": {"disabled": ["guard"]}}"#,
    ];
    for text in off {
        for remove in [|_: &World| {}, |world: &World| fs::remove_file(world.path(SETTINGS)).unwrap()] {
            let world = with_settings("block");
            world.write("home/.llxprt/settings.json", text);
            remove(&world);
            assert!(!fire(&world, &world.build(), "write_file").is_denied(), "{text}");
        }
    }
    // The user's own switch was on, and the user takes it away.
    let world = World::new();
    world.write("home/.llxprt/settings.json", r#"{"hooksConfig": {"enabled": true}}"#);
    let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [entry("block")]}]}});
    world.write(SETTINGS, &hooks.to_string());
    world.write("project/guard.sh", "exit 2\n");
    grant(&world);
    assert!(fire(&world, &world.build(), "write_file").is_denied());
    world.write("home/.llxprt/settings.json", "{}");
    assert!(!fire(&world, &world.build(), "write_file").is_denied());
    let system = with_settings("block");
    fs::remove_file(system.path(SETTINGS)).unwrap();
    let running = system.build();
    assert_eq!(running.disable_hook("guard"), 1);
    assert!(!fire(&system, &running, "write_file").is_denied(), "it was disabled for this session");
    let plugin = with_plugin("block");
    plugin.write("home/.x-code/settings.json", r#"{"enabledPlugins":{"gate@local":false}}"#);
    fs::remove_dir_all(plugin.path(PLUGIN)).unwrap();
    assert!(!fire(&plugin, &plugin.build(), "writeFile").is_denied());
    let plugin = with_plugin("block");
    fs::remove_dir_all(plugin.path(PLUGIN)).unwrap();
    assert!(!fire(&plugin, &plugin.builder().no_plugins().build(), "writeFile").is_denied());
}

#[test]
fn a_store_of_an_earlier_version_learns_about_its_guards_from_the_next_load() {
    let world = with_settings("block");
    let known = fs::read_to_string(world.store()).unwrap();
    let mut document: Value = serde_json::from_str(&known).unwrap();
    for project in document["projects"].as_object_mut().unwrap().values_mut() {
        project["hooks"][0].as_object_mut().unwrap().remove("guard").unwrap();
    }
    fs::write(world.store(), document.to_string()).unwrap();
    let settings = fs::read(world.path(SETTINGS)).unwrap();
    world.write(SETTINGS, "{}");
    assert!(!fire(&world, &world.build(), "write_file").is_denied(), "what was removed before is not missed");
    fs::write(world.path(SETTINGS), settings).unwrap();
    assert!(!fire(&world, &world.build(), "write_file").is_denied());
    assert_eq!(fs::read_to_string(world.store()).unwrap(), known, "the facts are those of a new grant");
    world.write(SETTINGS, "{}");
    is_missed(&world, "write_file", Decision::Deny, "after the next load");
}

#[test]
fn the_message_names_the_branch() {
    let world = with_settings("block");
    world.write("project/.git/HEAD", "ref: refs/heads/topic\n");
    world.write(SETTINGS, "{}");
    let reason = fire(&world, &world.build(), "write_file").effects.reason.unwrap();
    assert!(reason.contains("on branch `topic`") && reason.contains("settings.json"), "{reason}");
    fs::remove_dir_all(world.path("project/.git")).unwrap();
    let reason = fire(&world, &world.build(), "write_file").effects.reason.unwrap();
    assert!(!reason.contains("branch"), "{reason}");
}
