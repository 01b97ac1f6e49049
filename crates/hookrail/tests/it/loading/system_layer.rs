//! The system layer: what exists and cannot be used denies.

use std::fs;

use hookrail::outcome::Refusal;
use hookrail::{Code, Event, EventKind, HookSystem};
use serde_json::json;

use crate::loading::world::{DENY, World, says, settings};

/// Contents that cannot be used.
const USELESS: [&str; 8] = [
    "",
    "  \n",
    "{",
    "[]",
    "null",
    r#"{"hooks": 5}"#,
    r#"{"tools": {"enableHooks": "yes"}, "hooks": {}}"#,
    r#"{"hooksConfig": []}"#,
];

#[test]
fn a_system_file_that_cannot_be_used_denies_every_event_that_can_be_denied() {
    for text in USELESS {
        let world = World::new();
        world.write("system.json", text);
        let system = world.build();
        let outcome = world.fire(&system);
        assert!(outcome.is_denied(), "{text:?}");
        assert_eq!(outcome.refusal, Some(Refusal::SystemUnusable), "{text:?}");
        assert!(says(&outcome, Code::SystemUnusable), "{text:?}");
        for kind in EventKind::all() {
            let outcome = system.fire_blocking(Event::new(kind, world.path("project")));
            assert_eq!(outcome.is_denied(), kind.spec().is_gating(), "{text:?}, {kind}");
            assert!(says(&outcome, Code::SystemUnusable), "{text:?}, {kind}");
        }
    }
}

#[test]
fn the_other_hooks_do_not_run_for_an_event_that_the_engine_denies() {
    let world = World::new();
    world.write("system.json", "");
    world.write("home/.llxprt/settings.json", &settings("touch ran"));
    let outcome = world.fire(&world.build());
    assert!(outcome.is_denied() && outcome.runs.is_empty());
    assert!(!world.path("project/ran").exists());
}

#[test]
fn a_system_file_that_is_no_file_or_cannot_be_opened_denies() {
    let world = World::new();
    fs::create_dir(world.path("system.json")).unwrap();
    assert!(world.fire(&world.build()).is_denied());
    fs::remove_dir(world.path("system.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("system.json")).unwrap();
    assert!(world.fire(&world.build()).is_denied());
    fs::remove_file(world.path("system.json")).unwrap();
    assert!(!world.fire(&world.build()).is_denied(), "one that is not there says nothing");
}

#[test]
fn a_system_file_with_a_relative_name_or_in_the_project_denies() {
    let world = World::new();
    let with = |path: &std::path::Path| {
        let environment = world.environment().with("LLXPRT_SYSTEM_SETTINGS_PATH", path);
        HookSystem::builder(world.path("project")).environment(environment).build()
    };
    let good = settings("true");
    world.write("project/system.json", &good);
    world.write("outside.json", &good);
    std::os::unix::fs::symlink(world.path("project/system.json"), world.path("link.json")).unwrap();
    for path in ["system.json".into(), world.path("project/system.json"), world.path("link.json")] {
        let outcome = world.fire(&with(&path));
        assert_eq!(outcome.refusal, Some(Refusal::SystemUnusable), "{}", path.display());
    }
    assert!(!world.fire(&with(&world.path("outside.json"))).is_denied());
    assert!(!world.fire(&with(&world.path("project/none.json"))).is_denied(), "there is no such file");
}

#[test]
fn the_emergency_switch_leaves_it_and_no_hooks_does_not() {
    let world = World::new();
    world.write("system.json", "{");
    let environment = world.environment().with("HOOKRAIL_DISABLE", "1");
    let disabled = HookSystem::builder(world.path("project")).environment(environment).build();
    assert!(world.fire(&disabled).is_denied());
    let off = world.builder().hooks_off("`--no-hooks` was given").build();
    assert!(!world.fire(&off).is_denied());
    let others = world.builder().only_dialects(vec![hookrail::DialectId::Xcode]).build();
    assert!(!world.fire(&others).is_denied(), "the dialect of that file does not take part");
}

#[test]
fn one_that_was_good_stays_in_force_and_one_that_is_repaired_is() {
    let world = World::new();
    world.write("system.json", &settings("true"));
    let system = world.build();
    for text in USELESS {
        world.write("system.json", text);
        system.refresh();
        let outcome = world.fire(&system);
        assert!(!outcome.is_denied() && outcome.runs.len() == 1, "{text:?}");
        assert!(says(&outcome, Code::KeptLastGood), "{text:?}");
    }
    let new = world.build();
    assert!(world.fire(&new).is_denied());
    world.write("system.json", &settings("true"));
    new.refresh();
    let outcome = world.fire(&new);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
}

#[test]
fn a_bad_entry_in_a_good_system_file_is_a_guard_that_could_not_be_started() {
    let entries = [
        json!([{"hooks": [{"type": "command", "command": ""}]}]),
        json!([{"hooks": [{"type": "command"}]}]),
        json!([{"hooks": [{"type": "comand", "command": DENY}]}]),
        json!([{"hooks": [{"command": DENY}]}]),
        json!([{"hooks": [{"type": "command", "command": DENY, "args": 1}]}]),
        json!([{"hooks": [5]}]),
        json!([{"hooks": {"type": "command", "command": DENY}}]),
        json!([{"type": "command", "command": DENY}]),
        json!([{"matcher": 5, "hooks": [{"type": "command", "command": DENY}]}]),
        json!([{"matcher": "(", "hooks": [{"type": "command", "command": DENY}]}]),
        json!([{"hooks": [{"type": "command", "command": "", "onFailure": "allow"}]}]),
        json!([5]),
        json!({"hooks": []}),
    ];
    for entry in entries {
        let world = World::new();
        let file = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": entry}});
        world.write("system.json", &file.to_string());
        let outcome = world.fire(&world.build());
        assert!(outcome.is_denied(), "{entry}: {:?}", outcome.diagnostics);
        // The same entry of a user is skipped and reported, as before.
        world.write("system.json", "{}");
        world.write("home/.llxprt/settings.json", &file.to_string());
        let users = world.fire(&world.build());
        assert!(users.refusal.is_none(), "{entry}");
    }
}

#[test]
fn one_that_is_named_and_missing_is_reported_with_every_outcome_and_denies_nothing() {
    let world = World::new();
    let system = |path: &std::path::Path| {
        let environment = world.environment().with("LLXPRT_SYSTEM_SETTINGS_PATH", path);
        HookSystem::builder(world.path("project")).environment(environment).build()
    };
    let missing = system(&world.path("none.json"));
    for kind in EventKind::all() {
        let outcome = missing.fire_blocking(Event::new(kind, world.path("project")));
        assert!(!outcome.is_denied() && says(&outcome, Code::SystemMissing), "{kind}: {:?}", outcome.diagnostics);
    }
    world.write("there.json", "{}");
    assert!(world.fire(&system(&world.path("there.json"))).diagnostics.is_empty());
    assert!(world.fire(&world.build()).diagnostics.is_empty(), "no file is named");
}
