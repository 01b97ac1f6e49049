//! Loads that lack descriptors. They take everything from a process, so each runs in one of its own.

use std::fs;
use std::process::Command;

use hookrail::{Code, HookSystem};

use crate::loading::world::{DENY, World, says, settings};

/// Runs a test of this file in a process with few descriptors.
fn in_a_process_with_few_descriptors(test: &str) {
    let own = std::env::current_exe().unwrap();
    let script = format!("ulimit -n 64 && exec \"$0\" --ignored --exact loading::resources::{test} --test-threads 1");
    let output = Command::new("sh").arg("-c").arg(script).arg(own).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Takes every descriptor there is.
fn take_all() -> Vec<fs::File> {
    std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect()
}

/// What happens to a system whose configuration is loaded while there are no descriptors.
fn loaded_without_descriptors(system: &HookSystem) {
    let taken = take_all();
    assert!(fs::File::open("/dev/null").is_err());
    system.refresh();
    system.reload();
    assert!(system.configuration().is_incomplete);
    drop(taken);
}

#[test]
fn a_granted_guard_stays_granted() {
    in_a_process_with_few_descriptors("granted_guard");
}

#[test]
#[ignore = "it is run by the test before it, in a process of its own"]
fn granted_guard() {
    let world = World::new();
    world.grant_project_guard();
    let system = world.build();
    loaded_without_descriptors(&system);
    let outcome = world.fire(&system);
    assert!(outcome.is_denied(), "{:?}", outcome.diagnostics);
    assert!(!says(&outcome, Code::Untrusted) && outcome.runs.len() == 1);
    assert!(!system.configuration().is_incomplete, "the event loaded again");
}

#[test]
fn the_system_layer_is_not_taken_for_absent_and_an_edit_is_not_missed() {
    in_a_process_with_few_descriptors("system_layer_and_edits");
}

#[test]
#[ignore = "it is run by the test before it, in a process of its own"]
fn system_layer_and_edits() {
    let world = World::new();
    world.install_plugin();
    world.install_extension();
    world.write("system.json", &settings(DENY));
    let system = world.build();
    let hooks = system.snapshot().hooks().len();
    assert_eq!(hooks, 3);
    let taken = take_all();
    system.refresh();
    assert_eq!(system.snapshot().hooks().len(), hooks, "nothing is taken for absent");
    assert!(system.snapshot().diagnostics().iter().any(|finding| finding.code == Code::KeptLastGood));
    world.write_without_descriptors("system.json", &settings("true"), taken);
    // No watcher has to tell: the next event loads again.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let outcome = world.fire(&system);
    assert!(!says(&outcome, Code::KeptLastGood), "{:?}", outcome.diagnostics);
    let system_hook = system.snapshot().hooks().iter().find(|hook| &*hook.label == "true").cloned();
    assert!(system_hook.is_some(), "the edit is in force");
}

#[test]
fn a_process_that_begins_without_descriptors_denies_for_the_system_layer_and_loads_again() {
    in_a_process_with_few_descriptors("beginning");
}

#[test]
#[ignore = "it is run by the test before it, in a process of its own"]
fn beginning() {
    let world = World::new();
    world.write("system.json", &settings("true"));
    let builder = world.builder();
    let taken = take_all();
    let system = builder.build();
    let outcome = world.fire(&system);
    assert!(outcome.is_denied() && says(&outcome, Code::SystemUnusable), "{:?}", outcome.diagnostics);
    drop(taken);
    std::thread::sleep(std::time::Duration::from_millis(30));
    let outcome = world.fire(&system);
    assert!(!outcome.is_denied() && outcome.runs.len() == 1, "{:?}", outcome.diagnostics);
}

#[test]
fn a_project_that_is_trusted_for_this_run_covers_what_can_be_read_at_last() {
    in_a_process_with_few_descriptors("trusted_for_this_run");
}

#[test]
#[ignore = "it is run by the test before it, in a process of its own"]
fn trusted_for_this_run() {
    let world = World::new();
    world.write("project/guard.sh", "exit 2\n");
    world.write("project/.llxprt/settings.json", &settings("sh guard.sh"));
    let builder = world.builder().trust_project();
    let taken = take_all();
    let system = builder.build();
    drop(taken);
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert!(world.fire(&system).is_denied(), "{:?}", system.snapshot().diagnostics());
    assert!(!system.configuration().is_incomplete, "the event loaded again");
    // From then on nothing else is covered, and lacking descriptors takes nothing away.
    loaded_without_descriptors(&system);
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert!(world.fire(&system).is_denied(), "{:?}", system.snapshot().diagnostics());
    world.write("project/.llxprt/settings.json", &settings(DENY));
    system.reload();
    let outcome = world.fire(&system);
    assert!(!outcome.is_denied() && outcome.runs.is_empty(), "{:?}", outcome.runs);
}

impl World {
    /// Frees the descriptors and writes a file before anything else can happen.
    fn write_without_descriptors(&self, name: &str, text: &str, taken: Vec<fs::File>) {
        drop(taken);
        self.write(name, text);
    }
}
