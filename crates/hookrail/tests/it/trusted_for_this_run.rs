//! A project that is trusted for one run: that covers its hooks as they were when the run began.

use std::path::PathBuf;

use hookrail::hook::Trust;
use hookrail::plan::SkipReason;
use hookrail::trust::FileTrustStore;
use hookrail::{Decision, Environment, Event, EventKind, HookSystem, Outcome};
use serde_json::{Value, json};

/// How a system comes to read its configuration again.
const WAYS: [fn(&HookSystem) -> Vec<hookrail::Diagnostic>; 2] = [HookSystem::refresh, HookSystem::reload];

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new(hooks: &[Value]) -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(world.path("home")).unwrap();
        world.configure(hooks);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    fn configure(&self, hooks: &[Value]) {
        let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}});
        self.write("project/.llxprt/settings.json", &settings.to_string());
    }

    fn system(&self) -> HookSystem {
        let environment: Environment =
            [("PATH".to_owned(), "/usr/bin:/bin".into()), ("HOME".to_owned(), self.path("home").into_os_string())]
                .into_iter()
                .collect();
        HookSystem::builder(self.path("project")).environment(environment).trust_project().build()
    }

    fn fire(&self, system: &HookSystem) -> Outcome {
        system.fire_blocking(Event::new(EventKind::BeforeTool, self.path("project")).with_text("tool_name", "x"))
    }
}

fn hook(name: &str, command: &str) -> Value {
    json!({"type": "command", "name": name, "command": command})
}

fn guard(command: &str) -> Value {
    json!({"type": "command", "name": "guard", "command": command, "onFailure": "block"})
}

/// What a hook said to the user, which shows that it ran.
fn said(outcome: &Outcome) -> String {
    outcome.runs.iter().map(|run| run.stdout.trim().to_owned()).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn fails_as_changed(outcome: &Outcome) {
    assert_eq!(outcome.effects.decision, Some(Decision::Deny), "{outcome:?}");
    assert!(outcome.diagnostics.iter().any(|found| found.code.name() == "trust-changed"), "{:?}", outcome.diagnostics);
    assert_eq!(said(outcome), "", "changed bytes never run");
}

#[test]
fn a_hook_that_appears_later_needs_a_grant() {
    for load in WAYS {
        let world = World::new(&[hook("first", "echo first")]);
        let system = world.system();
        assert_eq!(said(&world.fire(&system)), "first");
        world.configure(&[hook("first", "echo first"), hook("late", "echo late")]);
        load(&system);
        let outcome = world.fire(&system);
        assert_eq!(said(&outcome), "first");
        assert!(!outcome.is_denied());
        assert!(outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted), "{:?}", outcome.skipped);

        let project = world.path("project").canonicalize().unwrap();
        let store = FileTrustStore::new(world.path("home/.local/state/hookrail/trust.json"));
        let snapshot = system.snapshot();
        let late = snapshot.hooks().iter().find(|hook| &*hook.label == "late").unwrap();
        let Trust::Never(taken) = &late.trust else { panic!("{:?}", late.trust) };
        store.change(&project, |grants| assert!(grants.grant(late, taken))).unwrap();
        load(&system);
        assert_eq!(said(&world.fire(&system)), "first late");
    }
}

#[test]
fn a_hook_that_is_gone_for_a_while_is_still_covered() {
    for load in WAYS {
        let world = World::new(&[hook("script", "sh script.sh")]);
        world.write("project/script.sh", "echo ran\n");
        let system = world.system();
        world.configure(&[]);
        load(&system);
        assert!(world.fire(&system).runs.is_empty());
        world.configure(&[hook("script", "sh script.sh")]);
        load(&system);
        assert_eq!(said(&world.fire(&system)), "ran");
        // With other bytes it is not what was covered.
        world.configure(&[]);
        load(&system);
        world.write("project/script.sh", "echo changed\n");
        world.configure(&[hook("script", "sh script.sh")]);
        load(&system);
        assert_eq!(said(&world.fire(&system)), "");
    }
}

#[test]
fn a_script_that_changes_does_not_run_and_a_guard_fails() {
    let world = World::new(&[hook("script", "sh script.sh")]);
    world.write("project/script.sh", "echo ran\n");
    let system = world.system();
    world.write("project/script.sh", "echo changed\n");
    // Whether the change was noticed or not.
    assert_eq!(said(&world.fire(&system)), "");
    for load in WAYS {
        load(&system);
        let outcome = world.fire(&system);
        assert!(!outcome.is_denied());
        assert_eq!(said(&outcome), "");
    }
    world.write("project/script.sh", "echo ran\n");
    system.refresh();
    assert_eq!(said(&world.fire(&system)), "ran", "it is what it was");

    let world = World::new(&[guard("sh script.sh")]);
    world.write("project/script.sh", "echo ran\n");
    let system = world.system();
    assert_eq!(said(&world.fire(&system)), "ran");
    world.write("project/script.sh", "echo changed\n");
    fails_as_changed(&world.fire(&system));
    for load in WAYS {
        load(&system);
        fails_as_changed(&world.fire(&system));
    }
    world.remove("project/script.sh");
    for load in WAYS {
        load(&system);
        fails_as_changed(&world.fire(&system));
    }
    world.write("project/script.sh", "echo ran\n");
    system.refresh();
    assert_eq!(said(&world.fire(&system)), "ran", "it is what it was");
}

#[test]
fn a_guard_does_not_disappear_by_being_edited() {
    for load in WAYS {
        let world = World::new(&[guard("echo guarded"), hook("other", "echo other")]);
        let system = world.system();
        assert_eq!(said(&world.fire(&system)), "guarded other");
        for edited in [guard("echo edited"), hook("guard", "echo edited"), hook("guard", "echo guarded")] {
            world.configure(&[edited.clone(), hook("other", "echo other")]);
            load(&system);
            let outcome = world.fire(&system);
            assert!(outcome.is_denied(), "{edited}");
            assert!(!said(&outcome).contains("edited"), "{edited}");
        }
        world.configure(&[guard("echo guarded"), hook("other", "echo other")]);
        load(&system);
        assert_eq!(said(&world.fire(&system)), "guarded other");
        // A new hook beside it is not taken for it.
        world.configure(&[guard("echo guarded"), hook("other", "echo other"), hook("late", "echo late")]);
        load(&system);
        assert_eq!(said(&world.fire(&system)), "guarded other");
    }
}

#[test]
fn a_script_that_was_missing_is_not_covered_when_it_appears() {
    let world = World::new(&[hook("script", "sh script.sh")]);
    let system = world.system();
    world.write("project/script.sh", "echo late\n");
    assert_eq!(said(&world.fire(&system)), "");
    for load in WAYS {
        load(&system);
        assert_eq!(said(&world.fire(&system)), "");
    }
}

/// The command stays open-ended for as long as its program is the same file outside of the project.
#[cfg(unix)]
#[test]
fn a_program_outside_that_is_led_into_the_project_is_not_covered() {
    let world = World::new(&[]);
    let link = world.path("tool");
    std::os::unix::fs::symlink("/bin/echo", &link).unwrap();
    world.configure(&[hook("tool", &format!("{} ran", link.display()))]);
    let system = world.system();
    for _ in 0..2 {
        assert_eq!(said(&world.fire(&system)).trim(), "ran");
    }
    world.write("project/own.sh", "#!/bin/sh\necho other\n");
    let own = world.path("project/own.sh");
    std::fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(own, &link).unwrap();
    assert_eq!(said(&world.fire(&system)), "");
}

#[test]
fn an_open_ended_command_may_write_the_files_it_names() {
    let command = "echo x >> log; touch seen; cp log copy; echo ran";
    let world = World::new(&[hook("writer", command), hook("touch", "touch stamp")]);
    let system = world.system();
    for _ in 0..2 {
        assert_eq!(said(&world.fire(&system)).trim(), "ran");
    }
    for load in WAYS {
        load(&system);
        assert_eq!(said(&world.fire(&system)).trim(), "ran");
    }
    assert!(world.path("project/stamp").exists());
}

#[test]
fn a_plugin_that_appears_later_needs_a_grant() {
    let manifest = |word: &str| json!({"name": word, "hooks": {"PreToolUse": [{"command": format!("echo {word}")}]}});
    for load in WAYS {
        let world = World::new(&[]);
        world.write("project/.x-code/plugins/first/plugin.json", &manifest("first").to_string());
        let system = world.system();
        let ran = |outcome: &Outcome| outcome.runs.iter().map(|run| run.hook.to_string()).collect::<Vec<_>>();
        let before = ran(&world.fire(&system));
        assert_eq!(before.len(), 1);
        world.write("project/.x-code/plugins/late/plugin.json", &manifest("late").to_string());
        load(&system);
        assert_eq!(ran(&world.fire(&system)), before);
    }
}
