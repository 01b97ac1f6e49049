//! Workers and servers that go away while questions are asked.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use hookrail::{EndKind, HookSystem, Outcome};
use hookrail_testkit::{HANG, Signal};
use serde_json::json;

use crate::ask::support::{Net, fire_until, remote, tool_call};

/// The hook of the workers: it always denies, so that an answer cannot be confused with a failure that allows.
pub(crate) const POLICY: &str = "echo policy >&2; exit 2";

/// Requires that a worker has decided about every event.
#[track_caller]
pub(crate) fn require_answers(outcomes: &[Outcome]) {
    for outcome in outcomes {
        assert_eq!(outcome.runs[0].end, EndKind::Answered, "{:?}", outcome.diagnostics);
        assert_eq!(outcome.effects.reason.as_deref(), Some("policy"));
    }
}

/// Fires while something happens to the workers. It is given a function that waits for some more outcomes, so that questions are on
/// their way at any moment.
pub(crate) fn fire_during(system: &HookSystem, threads: usize, what: impl FnOnce(&dyn Fn())) -> Vec<Outcome> {
    let (is_over, fired) = (AtomicBool::new(false), AtomicUsize::new(0));
    let more = || {
        let enough = fired.load(Ordering::Relaxed) + 60;
        assert!(hookrail_testkit::wait_until(|| fired.load(Ordering::Relaxed) >= enough, HANG), "no more outcomes");
    };
    std::thread::scope(|scope| {
        let firing = scope.spawn(|| {
            fire_until(system, threads, || {
                fired.fetch_add(1, Ordering::Relaxed);
                is_over.load(Ordering::Relaxed)
            })
        });
        what(&more);
        is_over.store(true, Ordering::Relaxed);
        firing.join().unwrap()
    })
}

#[test]
fn a_killed_worker_costs_no_answer() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"timeout": 8_000})));
    let (mut first, _second) = (net.worker(POLICY, &[]), net.worker_as_configured(&[]));
    let outcomes = fire_during(&net.system(), 6, |some_more| {
        some_more();
        first.kill();
        some_more();
    });
    require_answers(&outcomes);
}

#[test]
fn a_worker_that_is_told_to_end_loses_no_question_even_without_a_retry() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"retries": 0})));
    let (mut first, _second) = (net.worker(POLICY, &[]), net.worker_as_configured(&[]));
    let outcomes = fire_during(&net.system(), 6, |some_more| {
        some_more();
        first.signal(Signal::TERM);
        assert_eq!(first.exit_status(), Some(0));
        some_more();
    });
    require_answers(&outcomes);
}

#[test]
fn a_question_that_runs_is_answered_before_a_worker_ends() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"retries": 0})));
    let pipe = net.guard.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let waits =
        "case $(cat) in *file-0*) echo started > started; read line < ../pipe; echo \"$line\" >&2;; esac; exit 2";
    let mut worker = net.worker(waits, &[]);
    let system = net.system();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| fire_until(&system, 1, || true));
        assert!(hookrail_testkit::wait_until(|| net.guard.exists("started"), HANG), "the question runs");
        worker.signal(Signal::TERM);
        // The group has no worker any more, while the last one still works.
        let is_left = || system.fire_blocking(tool_call(&system, 7)).runs[0].end == EndKind::NoResponders;
        assert!(hookrail_testkit::wait_until(is_left, HANG), "the worker leaves its group");
        std::fs::write(&pipe, "done\n").unwrap();
        assert_eq!(asked.join().unwrap()[0].effects.reason.as_deref(), Some("done"));
    });
    assert_eq!(worker.exit_status(), Some(0));
}

#[test]
fn a_restarted_server_is_found_again_by_both_sides() {
    let Some(mut net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"timeout": 3_000})));
    let _worker = net.worker(POLICY, &[]);
    let system = net.system();
    require_answers(&fire_until(&system, 2, || true));
    net.servers[0].kill();
    for outcome in fire_until(&system, 2, || true) {
        assert!(outcome.is_denied(), "nothing is allowed by accident");
        assert!(matches!(outcome.runs[0].end, EndKind::NotConnected | EndKind::TimedOut), "{:?}", outcome.diagnostics);
    }
    net.servers[0].restart();
    let began = Instant::now();
    let is_back = || fire_until(&system, 1, || true)[0].runs[0].end == EndKind::Answered;
    assert!(hookrail_testkit::wait_until(is_back, HANG), "after {:?}", began.elapsed());
}
