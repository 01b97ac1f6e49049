//! Nothing of a project runs before its user has said so, and what was trusted is what runs.

use std::path::Path;
use std::sync::Arc;

use hookrail::module::ModuleContext;
use hookrail::plan::SkipReason;
use hookrail::trust::TrustStore as _;
use hookrail::{Environment, Event, EventKind, HookSystem, Outcome};

use crate::granting::World;

const SETTINGS: &str = r#"{"tools":{"enableHooks":true},"hooks":{"BeforeTool":[{"hooks":[
  {"type":"command","command":"./guard.sh"},
  {"type":"command","command":"echo open-ended"}]}]}}"#;

impl World {
    fn new() -> Self {
        let world = Self::empty();
        world.write("project/.llxprt/settings.json", SETTINGS);
        world.write("project/guard.sh", "#!/bin/sh\ntouch ran; exit 2\n");
        make_executable(&world.path("project/guard.sh"));
        world
    }

    fn system_of_one_process(&self) -> HookSystem {
        self.builder().most_processes(1).build()
    }

    fn fire_in(&self, system: &HookSystem) -> Outcome {
        system.fire_blocking(Event::new(EventKind::BeforeTool, self.path("project")).with_text("tool_name", "t"))
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn untrusted(outcome: &Outcome) -> Vec<&str> {
    outcome
        .skipped
        .iter()
        .filter(|skipped| skipped.why == SkipReason::Untrusted)
        .map(|skipped| &*skipped.hook.label)
        .collect()
}

#[test]
fn without_a_grant_nothing_of_the_project_runs_and_it_says_so() {
    let world = World::new();
    let outcome = world.fire_in(&world.system_of_one_process());
    assert_eq!(untrusted(&outcome), ["./guard.sh", "echo open-ended"]);
    assert!(outcome.runs.is_empty() && !world.ran());
}

#[test]
fn granted_hooks_run() {
    let world = World::new();
    world.grant();
    let outcome = world.fire_in(&world.system_of_one_process());
    assert!(outcome.is_denied() && world.ran());
    assert_eq!(outcome.runs.len(), 2);
}

#[test]
fn the_files_of_a_grant_are_not_copied_for_every_call() {
    let world = World::new();
    world.grant();
    let system = world.system_of_one_process();
    let snapshot = system.snapshot();
    let covered = || {
        let around = ModuleContext::new(world.path("project"), Arc::default());
        around.covering(&snapshot.hooks()[0].trust).covered.unwrap()
    };
    assert!(covered()[0].path.ends_with("guard.sh"));
    assert!(Arc::ptr_eq(&covered(), &covered()));
}

#[test]
fn a_changed_script_asks_again_and_a_changed_command_too() {
    let world = World::new();
    world.grant();
    world.write("project/guard.sh", "#!/bin/sh\ntouch ran; exit 0\n");
    let outcome = world.fire_in(&world.system_of_one_process());
    assert_eq!(untrusted(&outcome), ["./guard.sh"]);
    assert!(!world.ran());
    world.write("project/.llxprt/settings.json", &SETTINGS.replace("echo open-ended", "echo changed"));
    let outcome = world.fire_in(&world.system_of_one_process());
    assert_eq!(untrusted(&outcome), ["./guard.sh", "echo changed"]);
}

#[test]
fn a_script_that_is_swapped_between_loading_and_running_does_not_run() {
    let world = World::new();
    world.grant();
    let system = world.system_of_one_process();
    world.write("project/guard.sh", "#!/bin/sh\ntouch ran; exit 0\n");
    let outcome = world.fire_in(&system);
    assert_eq!(untrusted(&outcome), ["./guard.sh"]);
    assert!(!world.ran());
    assert!(outcome.diagnostics.iter().any(|found| found.code.name() == "trust-changed"));
}

#[test]
fn a_script_that_is_swapped_while_its_hook_waits_for_a_place_does_not_run() {
    let world = World::new();
    world.write(
        "project/.llxprt/settings.json",
        r#"{"tools":{"enableHooks":true},"hooks":{"BeforeTool":[{"hooks":[
          {"type":"command","command":"sh swap.sh"},{"type":"command","command":"./guard.sh"}]}]}}"#,
    );
    world.write("project/swap.sh", "printf '#!/bin/sh\ntouch ran\n' > guard.sh.new; mv guard.sh.new guard.sh\n");
    world.grant();
    // Only one process runs at a time here, and the first one swaps what the second one is.
    let outcome = world.fire_in(&world.system_of_one_process());
    assert_eq!(untrusted(&outcome), ["./guard.sh"]);
    assert!(!world.ran());
}

#[test]
fn a_damaged_store_grants_nothing_and_is_reported() {
    let world = World::new();
    world.grant();
    std::fs::write(world.store().path(), "not json").unwrap();
    let system = world.system_of_one_process();
    assert!(system.snapshot().diagnostics().iter().any(|found| found.code.name() == "trust-store"));
    assert_eq!(untrusted(&world.fire_in(&system)).len(), 2);
    assert!(world.store().grants(Path::new("/p")).is_err());
}

#[test]
fn a_project_that_only_has_a_link_to_another_ones_place_is_another_project() {
    let world = World::new();
    world.grant();
    // The same files under another real path were never granted.
    let copy = world.path("copy");
    std::fs::create_dir_all(copy.join(".llxprt")).unwrap();
    std::fs::copy(world.path("project/.llxprt/settings.json"), copy.join(".llxprt/settings.json")).unwrap();
    std::fs::copy(world.path("project/guard.sh"), copy.join("guard.sh")).unwrap();
    let environment: Environment =
        [("PATH".to_owned(), "/usr/bin:/bin".into()), ("HOME".to_owned(), world.path("home").into_os_string())]
            .into_iter()
            .collect();
    let system = HookSystem::builder(&copy).environment(environment).build();
    let outcome = system.fire_blocking(Event::new(EventKind::BeforeTool, &copy).with_text("tool_name", "t"));
    assert_eq!(untrusted(&outcome).len(), 2);
}

#[test]
fn a_project_that_repeats_a_system_guard_cannot_disarm_it_by_changing_the_file() {
    let world = World::new();
    world.write("system.json", r#"{"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"./guard.sh"}]}]}}"#);
    world.grant();
    let environment: Environment = [
        ("PATH".to_owned(), "/usr/bin:/bin".into()),
        ("HOME".to_owned(), world.path("home").into_os_string()),
        ("LLXPRT_SYSTEM_SETTINGS_PATH".to_owned(), world.path("system.json").into_os_string()),
    ]
    .into_iter()
    .collect();
    let system = HookSystem::builder(world.path("project")).environment(environment).build();
    world.write("project/guard.sh", "#!/bin/sh\ntouch ran; exit 2 # changed\n");
    let outcome = world.fire_in(&system);
    assert!(outcome.is_denied() && world.ran(), "the system's own word runs: {:?}", outcome.skipped);
}
