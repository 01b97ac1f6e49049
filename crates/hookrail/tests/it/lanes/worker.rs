//! `mode: worker`: what a process that stays does well, and everything it can do wrong.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use hookrail::hook::ProcessLifetime;
use hookrail::process::OutputLimits;
use hookrail::{Hook, HookSystem, OnFailure, Outcome};
use hookrail_testkit::{HANG, Signal, process_state, send_signal, wait_until};

use super::{call, command, environment, system};

/// A worker that answers its process number; what it does before an answer is up to the test. The number of the question
/// is in `id`, and `answer TEXT` answers with a message.
fn worker(dir: &Path, before_an_answer: &str) -> Hook {
    script(dir, before_an_answer);
    let mut hook = command("sh ./worker.sh");
    hook.lifetime = ProcessLifetime::Worker;
    hook.timeout = HANG;
    hook
}

fn script(dir: &Path, before_an_answer: &str) {
    let text = format!(
        r#"#!/bin/sh
echo $$ >> pids
answer() {{ printf '{{"id":%s,"output":{{"systemMessage":"%s"}}}}\n' "$id" "$1"; }}
count=0
while IFS= read -r line; do
    count=$((count + 1)); id=${{line#*:}}; id=${{id%%,*}}
    {before_an_answer}
    answer "$$"
done
"#
    );
    std::fs::write(dir.join("worker.sh"), text).unwrap();
}

/// The numbers of all workers that were ever started.
fn started(dir: &Path) -> Vec<u32> {
    let pids = std::fs::read_to_string(dir.join("pids")).unwrap_or_default();
    pids.lines().map(|pid| pid.parse().unwrap()).collect()
}

fn is_gone(pid: u32) -> bool {
    wait_until(|| process_state(pid).is_none(), HANG)
}

fn message(outcome: &Outcome) -> &str {
    outcome.effects.system_message.as_deref().unwrap_or_else(|| panic!("{:?} {:?}", outcome.runs, outcome.diagnostics))
}

fn fire(system: &HookSystem) -> Outcome {
    system.fire_blocking(call(system))
}

#[test]
fn one_process_answers_event_after_event_and_ends_with_the_system() {
    let dir = tempfile::tempdir().unwrap();
    let hook = worker(dir.path(), r#"printf '%s\n' "$line" >> lines; echo "$HOOKRAIL_WORKER$HOOKRAIL_RUN_ID" >> env"#);
    let system = system(dir.path(), [hook]);
    for _ in 0..5 {
        assert_eq!(message(&fire(&system)), started(dir.path())[0].to_string());
    }
    let pids = started(dir.path());
    assert_eq!(pids.len(), 1, "one process for all");
    let lines = std::fs::read_to_string(dir.path().join("lines")).unwrap();
    let ids: Vec<u64> = lines
        .lines()
        .map(|line| {
            let question: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(question["input"]["hook_event_name"], "BeforeTool");
            question["id"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    assert!(std::fs::read_to_string(dir.path().join("env")).unwrap().starts_with('1'));
    system.shutdown_blocking();
    assert!(process_state(pids[0]).is_none(), "shutdown has waited for its end");
}

#[test]
fn a_system_that_is_dropped_leaves_no_worker() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "")]);
    fire(&system);
    drop(system);
    assert!(is_gone(started(dir.path())[0]));
}

#[test]
fn events_at_once_have_a_few_workers_and_the_rest_waits() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "")]);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                for _ in 0..10 {
                    message(&fire(&system));
                }
            });
        }
    });
    let pids: BTreeSet<u32> = started(dir.path()).into_iter().collect();
    assert!((1..=4).contains(&pids.len()), "{pids:?}");
    system.shutdown_blocking();
    assert!(pids.into_iter().all(|pid| process_state(pid).is_none()));
}

#[test]
fn an_exit_code_in_the_answer_means_what_it_means_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let refuse = r#"printf '{"id":%s,"exitCode":2,"stderr":"not that one"}\n' "$id"; continue"#;
    let blocking = system(dir.path(), [worker(dir.path(), refuse)]);
    let outcome = fire(&blocking);
    assert!(outcome.is_denied());
    assert_eq!(outcome.effects.reason.as_deref(), Some("not that one"));
    assert_eq!(fire(&blocking).runs[0].exit_code, Some(2), "and it is asked again");
    assert_eq!(started(dir.path()).len(), 1);
    let dir = tempfile::tempdir().unwrap();
    let fail = r#"printf '{"id":%s,"exitCode":3}\n' "$id"; continue"#;
    let mut guard = worker(dir.path(), fail);
    guard.on_failure = OnFailure::Block;
    let failing = system(dir.path(), [guard]);
    let outcome = fire(&failing);
    assert_eq!((outcome.runs[0].end.name(), outcome.is_denied()), ("exited", true));
}

#[test]
fn a_worker_that_misbehaves_once_fails_once_and_is_replaced() {
    for (habit, end) in [
        ("exit 7", "exited"),
        ("exit 0", "bad-output"),
        ("kill -9 $$", "signalled"),
        ("id=99", "bad-output"),
        ("echo garbage; continue", "bad-output"),
        ("echo '{\"decision\":\"allow\"}'; continue", "bad-output"),
        ("exec >&-; read -r line", "bad-output"),
        ("printf '{\"id\":1'; exit 0", "bad-output"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut hook = worker(dir.path(), &format!("[ -e spent ] || {{ touch spent; {habit}; }}"));
        hook.on_failure = OnFailure::Block;
        let system = system(dir.path(), [hook]);
        let outcome = fire(&system);
        assert_eq!(outcome.runs[0].end.name(), end, "{habit}: {:?}", outcome.diagnostics);
        assert!(outcome.is_denied(), "{habit}: its failure policy counts");
        let outcome = fire(&system);
        assert_eq!(message(&outcome), started(dir.path())[1].to_string(), "{habit}: another one answers");
        assert!(is_gone(started(dir.path())[0]), "{habit}: the first one is ended");
        system.shutdown_blocking();
        assert!(is_gone(started(dir.path())[1]));
    }
}

#[test]
fn a_second_line_is_never_taken_for_the_next_answer() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "[ $count -gt 1 ] || { answer first; answer second; }")]);
    assert_eq!(message(&fire(&system)), "first");
    // Whether it has written more by now or does so later: its words are not an answer to the next event.
    for _ in 0..3 {
        let outcome = fire(&system);
        assert!(outcome.runs[0].end.name() == "bad-output" || message(&outcome) != "second", "{outcome:?}");
    }
}

#[test]
fn one_that_never_answers_is_ended_at_the_deadline_with_all_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let mut hook = worker(dir.path(), "[ -e spent ] || { touch spent; sleep 600 & echo $! >> pids; wait; }");
    hook.timeout = Duration::from_millis(400);
    let system = system(dir.path(), [hook]);
    assert_eq!(fire(&system).runs[0].end.name(), "timed-out");
    assert!(started(dir.path()).into_iter().all(is_gone));
    message(&fire(&system));
}

#[test]
fn a_cancelled_question_ends_its_worker() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "[ -e asked ] || { touch asked; sleep 600; }")]);
    let fire_and_forget = system.fire(call(&system));
    assert!(wait_until(|| dir.path().join("asked").exists(), HANG));
    drop(fire_and_forget);
    assert!(is_gone(started(dir.path())[0]));
    message(&fire(&system));
}

#[test]
fn floods_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let habit = "case $count in 1) head -c 400000 /dev/zero >&2 ;; 2) head -c 5000 /dev/zero | tr '\\0' x ;; esac";
    let builder = HookSystem::builder(dir.path()).environment(environment()).hook(worker(dir.path(), habit));
    let system = builder.output_limits(OutputLimits { stdout: 1000, stderr: 1000 }).build();
    let outcome = fire(&system);
    message(&outcome);
    assert_eq!(outcome.runs[0].stderr.len(), 1000);
    let outcome = fire(&system);
    assert_eq!(outcome.runs[0].end.name(), "output-limit", "{:?}", outcome.diagnostics);
}

#[test]
fn one_that_died_between_events_is_replaced_without_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "")]);
    message(&fire(&system));
    let first = started(dir.path())[0];
    send_signal(first, Signal::KILL);
    assert!(wait_until(|| !matches!(process_state(first), Some('R' | 'S' | 'D')), HANG));
    assert_ne!(message(&fire(&system)), first.to_string());
}

#[test]
fn crashes_in_a_row_are_slowed_down() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "exit 7")]);
    let began = Instant::now();
    for _ in 0..5 {
        assert_eq!(fire(&system).runs[0].end.name(), "exited");
    }
    // After the second, third and fourth crash: 100, 200 and 400 ms.
    assert!(began.elapsed() >= Duration::from_millis(700), "{:?}", began.elapsed());
}

#[test]
fn a_change_of_the_script_or_the_directory_or_the_environment_starts_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let system = system(dir.path(), [worker(dir.path(), "answer one; continue")]);
    assert_eq!(message(&fire(&system)), "one");
    script(dir.path(), "answer two; continue");
    assert_eq!(message(&fire(&system)), "two");
    assert!(is_gone(started(dir.path())[0]), "the old one is ended");
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    script(&other, "answer three; continue");
    let event = hookrail::Event::new(super::KIND, &other).with_text("tool_name", "t");
    assert_eq!(message(&system.fire_blocking(event)), "three");
    assert!(is_gone(started(dir.path())[1]));
    let event = call(&system).variable("MOOD", "good");
    assert_eq!(message(&system.fire_blocking(event)), "two");
    assert!(is_gone(started(&other)[0]));
    assert_eq!(started(dir.path()).len(), 3);
}

#[test]
fn a_hook_that_is_taken_out_of_the_settings_loses_its_worker() {
    let dir = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    script(dir.path(), "");
    let settings = home.path().join(".llxprt/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let entry = r#"{"type": "command", "command": "sh ./worker.sh", "mode": "worker"}"#;
    let with = |entry: &str| {
        format!(r#"{{"hooksConfig": {{"enabled": true}}, "hooks": {{"BeforeTool": [{{"hooks": [{entry}]}}]}}}}"#)
    };
    std::fs::write(&settings, with(entry)).unwrap();
    let environment = environment().with("HOME", home.path());
    let system = HookSystem::builder(dir.path()).environment(environment).build();
    assert_eq!(system.snapshot().hooks()[0].lifetime, ProcessLifetime::Worker);
    message(&fire(&system));
    system.reload();
    message(&fire(&system));
    assert_eq!(started(dir.path()).len(), 1, "a reload without a change changes nothing");
    std::fs::write(&settings, with("")).unwrap();
    system.reload();
    assert!(is_gone(started(dir.path())[0]));
}

#[test]
fn a_project_that_changes_its_granted_script_gets_no_answer_from_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join(".llxprt")).unwrap();
    script(&project, "");
    let settings = r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks":
        [{"type": "command", "command": "sh ./worker.sh", "mode": "worker"}]}]}}"#;
    std::fs::write(project.join(".llxprt/settings.json"), settings).unwrap();
    let environment = environment().with("HOME", dir.path().join("home"));
    let store = || hookrail::trust::FileTrustStore::new(dir.path().join("trust.json"));
    let build = || HookSystem::builder(&project).environment(environment.clone()).trust_store(store()).build();
    let untrusted = build();
    assert_eq!(crate::common::skipped(&fire(&untrusted))[0].1, "untrusted");
    assert!(started(&project).is_empty(), "a hook that is not trusted is never started");
    super::grant_all(&store(), &project, &untrusted);
    let system = build();
    message(&fire(&system));
    script(&project, "answer changed; continue");
    let outcome = fire(&system);
    assert!(outcome.runs.is_empty(), "{outcome:?}");
    assert_eq!(crate::common::skipped(&outcome)[0].1, "untrusted");
    assert!(is_gone(started(&project)[0]));
    assert_eq!(started(&project).len(), 1);
}
