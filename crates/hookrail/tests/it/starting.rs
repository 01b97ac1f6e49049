//! Guards that are hard to start: a directory that is gone, a command that is not there, a host without descriptors.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::common::{drive, ended, exited, hook, json, tool_call};
use hookrail::hook::{Action, ProcessLifetime};
use hookrail::process::{RawEnd, SpawnFailure};
use hookrail::sources::SourceKind;
use hookrail::{Code, Decision, Environment, Event, EventKind, Hook, HookSystem, OnFailure, Outcome};

const KIND: EventKind = EventKind::BeforeTool;

fn system(dir: &Path, hooks: impl IntoIterator<Item = Hook>) -> HookSystem {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let builder = HookSystem::builder(dir).environment(environment);
    hooks.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build()
}

fn call(cwd: &Path) -> Event {
    Event::new(KIND, cwd).session("s").with_text("tool_name", "write_file").with("tool_input", json("{}"))
}

/// A guard that denies, and says in which directory it was asked.
const DENYING: &str = r#"printf '{"decision":"deny","reason":"%s"}' "$(pwd)""#;

fn assert_relocated(outcome: &Outcome, to: &Path) {
    assert_eq!(outcome.effects.reason.as_deref(), Some(&*to.to_string_lossy()), "{:?}", outcome.diagnostics);
    assert!(outcome.is_denied());
    let found: Vec<_> =
        outcome.diagnostics.iter().filter(|found| found.code == Code::WorkingDirectoryReplaced).collect();
    assert_eq!(found.len(), 1, "{:?}", outcome.diagnostics);
    assert!(found[0].message.contains(&*to.to_string_lossy()), "{}", found[0].message);
}

#[test]
fn a_guard_is_asked_in_the_nearest_directory_when_its_own_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let project = base.join("project");
    std::fs::create_dir_all(project.join("a")).unwrap();
    let hooks = system(&project, [hook(KIND, DENYING, SourceKind::System)]);
    for (gone, used) in [("project/a/b/c", "project/a"), ("project/x/y", "project"), ("elsewhere", "project")] {
        assert_relocated(&hooks.fire_blocking(call(&base.join(gone))), &base.join(used));
    }
    for (impossible, used) in [("project/a/b\0/c", "project/a"), ("elsewhere/\0", "project")] {
        assert_relocated(&hooks.fire_blocking(call(&base.join(impossible))), &base.join(used));
    }
    std::fs::remove_dir_all(&project).unwrap();
    assert_relocated(&hooks.fire_blocking(call(&project.join("a"))), Path::new("/"));
    assert_relocated(&wait_for(&hooks, call(&project)), Path::new("/"));
}

fn wait_for(system: &HookSystem, event: Event) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(system.fire(event))
}

#[test]
fn a_worker_finds_another_directory() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().canonicalize().unwrap();
    let worker = r#"while read -r line; do
        id=${line#*\"id\":}; id=${id%%,*}
        printf '{"id":%s,"output":{"decision":"deny","reason":"%s"}}\n' "$id" "$(pwd)"
    done"#;
    let mut guard = hook(KIND, worker, SourceKind::System);
    guard.lifetime = ProcessLifetime::Worker;
    let hooks = system(&project, [guard]);
    for _ in 0..2 {
        assert_relocated(&hooks.fire_blocking(call(&project.join("gone"))), &project);
    }
    hooks.shutdown_blocking();
}

#[test]
fn a_system_guard_that_cannot_be_started_denies_and_another_hook_follows_its_policy() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plain"), "no program").unwrap();
    let missing = |layer| {
        let mut program = hook(KIND, "a program", layer);
        program.action = Action::Program(["./missing".to_owned()].into());
        program
    };
    let shells = ["./missing", "./plain", "exit 127", "exit 126"];
    let all = |layer| shells.iter().map(move |text| hook(KIND, text, layer)).chain([missing(layer)]);
    for guard in all(SourceKind::System) {
        let outcome = system(dir.path(), [guard.clone()]).fire_blocking(call(dir.path()));
        let reason = outcome.effects.reason.clone().unwrap_or_default();
        assert!(outcome.is_denied() && reason.contains("system hook"), "{guard}: {reason}");
    }
    for ordinary in all(SourceKind::User) {
        for (policy, decision) in
            [(OnFailure::Allow, None), (OnFailure::Ask, Some(Decision::Ask)), (OnFailure::Block, Some(Decision::Deny))]
        {
            let mut hook = ordinary.clone();
            hook.on_failure = policy;
            let outcome = system(dir.path(), [hook]).fire_blocking(call(dir.path()));
            assert_eq!(outcome.effects.decision, decision, "{ordinary}");
        }
    }
    // A guard that looked and failed is another matter: that is what the policy is for.
    let failed = hook(KIND, "exit 1", SourceKind::System);
    assert_eq!(system(dir.path(), [failed]).fire_blocking(call(dir.path())).effects.decision, None);
}

#[test]
fn no_other_word_lifts_the_deny_of_a_system_guard_that_was_not_asked() {
    let ends = [
        RawEnd::SpawnFailed(SpawnFailure::Other("no process".into())),
        RawEnd::Exited(127),
        RawEnd::Exited(126),
        RawEnd::Cancelled,
        RawEnd::Unusable("broken".into()),
    ];
    for kind in [EventKind::BeforeTool, EventKind::BeforeModel, EventKind::Prompt] {
        for how in &ends {
            let hooks = vec![hook(kind, "guard", SourceKind::System), hook(kind, "other", SourceKind::User)];
            let event = Event::new(kind, "/project").session("s").with("tool_input", json("{}"));
            let event = if kind == KIND { tool_call("{}") } else { event };
            let outcome = drive(hooks, event, |request| match &*request.hook.label {
                "guard" => ended(how.clone()),
                _ => exited(0, r#"{"decision":"allow"}"#, ""),
            });
            assert!(outcome.is_denied(), "{kind} {how:?}: {:?}", outcome.effects);
        }
    }
}

/// Says that this is the process of its own.
const HAS_FEW_DESCRIPTORS: &str = "HOOKRAIL_TEST_HAS_FEW_DESCRIPTORS";

/// Runs one test of this file in a process of its own that may have few descriptors.
fn in_a_process_with_few_descriptors(test: &str) {
    let script = r#"ulimit -n 40; exec "$0" --exact "$1" --nocapture --test-threads 1"#;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(test).env(HAS_FEW_DESCRIPTORS, "1");
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_descriptors_guards_have_failed_and_with_them_they_are_asked_again() {
    if std::env::var_os(HAS_FEW_DESCRIPTORS).is_none() {
        let own = "starting::without_descriptors_guards_have_failed_and_with_them_they_are_asked_again";
        return in_a_process_with_few_descriptors(own);
    }
    let dir = tempfile::tempdir().unwrap();
    let denying = |layer| hook(KIND, r#"echo '{"decision":"deny","reason":"asked"}'"#, layer);
    let mut blocking = denying(SourceKind::User);
    blocking.on_failure = OnFailure::Block;
    let fires: [fn(&HookSystem, Event) -> Outcome; 2] = [HookSystem::fire_blocking, wait_for];
    // What a runtime of the test itself needs.
    for (fire, spared) in fires.into_iter().zip([0, 3]) {
        let (by_system, by_user) =
            (system(dir.path(), [denying(SourceKind::System)]), system(dir.path(), [blocking.clone()]));
        let ordinary = system(dir.path(), [denying(SourceKind::User)]);
        for left in [9, 6, 5, 4, 3, 2, 1, 0] {
            let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
            taken.truncate(taken.len() - left - spared);
            let outcomes = [&by_system, &by_user].map(|system| fire(system, call(dir.path())));
            let failed = ordinary.fire_blocking(call(dir.path()));
            drop(taken);
            for outcome in outcomes {
                assert!(outcome.is_denied(), "{left} left: {:?} {:?}", outcome.runs, outcome.diagnostics);
            }
            // Its policy allows the operation. What is asserted is that a diagnostic says so.
            let asked = failed.effects.reason.as_deref() == Some("asked");
            assert!(asked || !failed.diagnostics.is_empty(), "{left} left: {:?}", failed.runs);
        }
        for system in [by_system, by_user, ordinary] {
            let outcome = fire(&system, call(dir.path()));
            assert_eq!(outcome.effects.reason.as_deref(), Some("asked"), "{:?}", outcome.diagnostics);
        }
    }
}
