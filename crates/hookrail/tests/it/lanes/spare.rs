//! `prewarm`: processes that are started before their event.

use std::collections::BTreeSet;
use std::num::NonZeroU8;
use std::path::Path;
use std::time::{Duration, Instant};

use hookrail::hook::ProcessLifetime;
use hookrail::sources::SourceKind;
use hookrail::{EventKind, Hook, HookSystem, Outcome};
use hookrail_testkit::{process_state, wait_until};

use super::{HANG, call, command, environment, grant_all, hook, system};

/// A hook that notes its start and answers with its process number once it has read its input.
fn prewarmed(dir: &Path, count: u8, answer: &str) -> Hook {
    script(dir, answer);
    let mut hook = command("sh ./hook.sh");
    hook.exec.lifetime = ProcessLifetime::Prewarmed(NonZeroU8::new(count).unwrap());
    hook.timeout = HANG;
    hook
}

fn script(dir: &Path, answer: &str) {
    // Each writes a file of its own: the next one opens its file before it is asked.
    let text = format!("echo \"$$ $HOOKRAIL_RUN_ID\" >> starts\ncat > input.$$\n{answer}\necho >> ends\n");
    std::fs::write(dir.join("hook.sh"), text).unwrap();
}

const OWN_NUMBER: &str = r#"echo "{\"systemMessage\":\"$$\"}""#;

/// The process numbers of all starts, in order.
fn started(dir: &Path) -> Vec<u32> {
    let starts = std::fs::read_to_string(dir.join("starts")).unwrap_or_default();
    starts.lines().map(|line| line.split_once(' ').unwrap().0.parse().unwrap()).collect()
}

/// Waits until so many have been started in all, and gives their numbers.
fn await_starts(dir: &Path, count: usize) -> Vec<u32> {
    assert!(wait_until(|| started(dir).len() >= count, HANG), "{:?}", started(dir));
    started(dir)
}

fn is_gone(pid: u32) -> bool {
    wait_until(|| process_state(pid).is_none(), HANG)
}

fn fire(system: &HookSystem) -> Outcome {
    system.fire_blocking(call(system))
}

fn message(outcome: &Outcome) -> &str {
    outcome.effects.system_message.as_deref().unwrap_or_else(|| panic!("{:?} {:?}", outcome.runs, outcome.diagnostics))
}

#[test]
fn an_event_goes_to_a_process_that_has_waited_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [prewarmed(dir.path(), 1, OWN_NUMBER)]);
    let cold = message(&fire(&system)).to_owned();
    assert_eq!(cold, await_starts(dir.path(), 1)[0].to_string());
    for round in 1..4 {
        let waiting = await_starts(dir.path(), round + 1)[round];
        assert_eq!(message(&fire(&system)), waiting.to_string());
        let input = std::fs::read(dir.path().join(format!("input.{waiting}"))).unwrap();
        let input: serde_json::Value = serde_json::from_slice(&input).unwrap();
        assert_eq!(input["tool_input"]["path"], "a");
    }
    let starts = std::fs::read_to_string(dir.path().join("starts")).unwrap();
    let ids: BTreeSet<&str> = starts.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(ids.len(), starts.lines().count(), "every process has a run number of its own");
}

#[test]
fn as_many_wait_as_were_asked_for_and_they_need_no_place() {
    let dir = tempfile::tempdir().unwrap();
    let builder = HookSystem::builder(dir.path()).environment(environment());
    let system = builder.hook(prewarmed(dir.path(), 3, OWN_NUMBER)).most_processes(1).build();
    fire(&system);
    let waiting = await_starts(dir.path(), 4);
    message(&fire(&system));
    assert_eq!(await_starts(dir.path(), 5).len(), 5, "the one that was used is replaced, and no more");
    assert!(waiting[1..].iter().filter(|pid| process_state(**pid).is_some()).count() >= 2);
}

#[test]
fn shutdown_ends_what_waits_before_it_takes_the_end_for_its_input() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [prewarmed(dir.path(), 2, OWN_NUMBER)]);
    fire(&system);
    let pids = await_starts(dir.path(), 3);
    system.shutdown_blocking();
    assert!(pids.iter().all(|pid| process_state(*pid).is_none()), "shutdown has waited for their end");
    assert_eq!(std::fs::read_to_string(dir.path().join("ends")).unwrap(), "\n", "only the first one has run");
}

#[test]
fn a_system_that_is_dropped_leaves_no_process_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [prewarmed(dir.path(), 2, OWN_NUMBER)]);
    fire(&system);
    let pids = await_starts(dir.path(), 3);
    drop(system);
    assert!(pids.into_iter().all(is_gone));
    assert_eq!(std::fs::read_to_string(dir.path().join("ends")).unwrap(), "\n");
}

#[test]
fn what_has_changed_since_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [prewarmed(dir.path(), 1, "echo '{\"systemMessage\":\"old\"}'")]);
    assert_eq!(message(&fire(&system)), "old");
    let waiting = await_starts(dir.path(), 2)[1];
    script(dir.path(), "echo '{\"systemMessage\":\"new\"}'");
    assert_eq!(message(&fire(&system)), "new");
    assert!(is_gone(waiting));
    let waiting = await_starts(dir.path(), 4)[3];
    let outcome = system.fire_blocking(call(&system).variable("MOOD", "good"));
    assert_eq!(message(&outcome), "new");
    assert!(is_gone(waiting), "it has another environment");
}

#[test]
fn one_that_does_not_wait_is_noticed_and_started_as_always() {
    let dir = tempfile::tempdir().unwrap();
    let mut hook = prewarmed(dir.path(), 1, OWN_NUMBER);
    let text = "echo \"$$ $HOOKRAIL_RUN_ID\" >> starts\necho \"{\\\"systemMessage\\\":\\\"$$\\\"}\"\n";
    std::fs::write(dir.path().join("hook.sh"), text).unwrap();
    hook.timeout = HANG;
    let system = system(dir.path(), [hook]);
    fire(&system);
    let early = await_starts(dir.path(), 2)[1];
    assert!(wait_until(|| !matches!(process_state(early), Some('R' | 'S' | 'D')), HANG));
    for count in 3..6 {
        let outcome = fire(&system);
        assert_eq!(message(&outcome), started(dir.path()).last().unwrap().to_string());
        assert_eq!(started(dir.path()).len(), count, "one start for each event, and none early");
    }
    assert!(is_gone(early));
}

#[test]
fn the_time_counts_from_the_delivery() {
    let dir = tempfile::tempdir().unwrap();
    let mut hook = prewarmed(dir.path(), 1, OWN_NUMBER);
    hook.timeout = Duration::from_secs(3);
    let system = system(dir.path(), [hook]);
    fire(&system);
    let waiting = await_starts(dir.path(), 2)[1];
    let began = Instant::now();
    assert!(wait_until(|| began.elapsed() > Duration::from_millis(3200), HANG));
    assert_eq!(message(&fire(&system)), waiting.to_string());
}

#[test]
fn one_that_hangs_after_its_delivery_is_ended_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut hook = prewarmed(dir.path(), 1, "[ -e hang ] && exec sleep 600");
    hook.timeout = Duration::from_secs(2);
    let system = system(dir.path(), [hook]);
    fire(&system);
    let waiting = await_starts(dir.path(), 2)[1];
    std::fs::write(dir.path().join("hang"), "").unwrap();
    assert_eq!(fire(&system).runs[0].end.name(), "timed-out");
    assert!(is_gone(waiting));
}

#[test]
fn what_is_not_trusted_is_never_started() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join(".llxprt")).unwrap();
    script(&project, OWN_NUMBER);
    let settings = r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks":
        [{"type": "command", "command": "sh ./hook.sh", "prewarm": 1}]}]}}"#;
    std::fs::write(project.join(".llxprt/settings.json"), settings).unwrap();
    let environment = environment().with("HOME", dir.path().join("home"));
    let store = || hookrail::trust::FileTrustStore::new(dir.path().join("trust.json"));
    let build = || HookSystem::builder(&project).environment(environment.clone()).trust_store(store()).build();
    let untrusted = build();
    assert_eq!(crate::common::skipped(&fire(&untrusted))[0].1, "untrusted");
    assert!(started(&project).is_empty());
    grant_all(&store(), &project, &untrusted);
    let system = build();
    message(&fire(&system));
    let waiting = await_starts(&project, 2)[1];
    script(&project, "echo changed");
    assert_eq!(crate::common::skipped(&fire(&system))[0].1, "untrusted");
    assert!(is_gone(waiting));
    system.shutdown_blocking();
    assert_eq!(started(&project).len(), 2, "nothing of the new content was started");
}

#[test]
fn what_changed_while_it_ran_is_not_started_for_the_next_event() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join(".llxprt")).unwrap();
    // The granted script puts another one in its own place, after its input and before its spare is started.
    script(&project, "mv next.sh hook.sh");
    std::fs::write(project.join("next.sh"), "touch evil; cat > /dev/null\n").unwrap();
    let settings = r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks":
        [{"type": "command", "command": "sh ./hook.sh", "prewarm": 1}]}]}}"#;
    std::fs::write(project.join(".llxprt/settings.json"), settings).unwrap();
    let environment = environment().with("HOME", dir.path().join("home"));
    let store = || hookrail::trust::FileTrustStore::new(dir.path().join("trust.json"));
    // One thread starts what waits, in the order of the events, so this one's start says that the other's is over.
    let mut witness = hook(EventKind::AfterTool, "echo >> witness; cat > /dev/null", SourceKind::User);
    witness.exec.lifetime = ProcessLifetime::Prewarmed(NonZeroU8::MIN);
    let builder = || HookSystem::builder(&project).environment(environment.clone()).trust_store(store());
    grant_all(&store(), &project, &builder().build());
    let system = builder().hook(witness).build();
    assert_eq!(fire(&system).runs[0].exit_code, Some(0));
    system.fire_blocking(system.event(EventKind::AfterTool).with_text("tool_name", "t"));
    let starts = || std::fs::read_to_string(project.join("witness")).unwrap_or_default();
    assert!(wait_until(|| starts().lines().count() == 2, HANG));
    assert!(
        !project.join("evil").exists() && started(&project).len() == 1,
        "a hook that was never granted was started"
    );
}
