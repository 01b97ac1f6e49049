//! Ending: no process of a child is left after a timeout, a cancellation or a drop.

#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::support::{Case, NEVER, is_reaped};
use hookrail_spawn::{CancelToken, ChildEnd, ChildExit, Survivors, TerminationForce, run};
use hookrail_testkit::{HANG, process_state, processes_with_marker, wait_until};

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_cancelled_child_that_hears_sigterm_ends_without_force() {
    let finished = Case::new(&["sleep", NEVER]).run_and_cancel().await;
    assert_eq!(finished.end, ChildEnd::Cancelled);
    assert_eq!(finished.survivors, Survivors::LeftToTermination);
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.exit, Some(ChildExit::Signal(libc::SIGTERM)));
    assert_eq!(report.force, TerminationForce::Asked);
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn a_token_cancelled_before_the_start_starts_nothing() {
    let case = Case::new(&["sleep", NEVER]);
    let cancel = CancelToken::new();
    cancel.cancel();
    let finished = run(&case.command, &cancel).await.unwrap();
    assert_eq!(finished.end, ChildEnd::Cancelled);
    assert_eq!(finished.pid, None);
    assert!(!case.ready_file().exists());
}

#[tokio::test]
async fn a_zero_timeout_starts_nothing() {
    let case = Case::new(&["sleep", NEVER]).with(|command| command.timeout(Duration::ZERO));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::TimedOut);
    assert_eq!(finished.pid, None);
}

#[tokio::test]
async fn the_result_of_a_timeout_does_not_wait_for_the_grace() {
    let case = Case::new(&["ignore-term"]).with(|command| command.timeout(Duration::from_millis(300)).grace(HANG * 10));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::TimedOut);
    // The process is still there: the termination has hardly begun.
    assert!(process_state(finished.pid.unwrap()).is_some());
    drop(finished.termination);
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn output_before_the_timeout_is_in_the_result() {
    let case = Case::new(&["flood-stdout", "10"]);
    // The child is replaced by a shell that prints and then stays.
    let command = hookrail_spawn::ChildCommand::new("/bin/sh")
        .args(["-c", "printf partial; : > \"$HOOKRAIL_CHILD_READY\"; sleep 600"])
        .env(std::sync::Arc::new(
            hookrail_spawn::Environment::new()
                .with("HOOKRAIL_CHILD_READY", case.ready_file())
                .with("PATH", "/usr/bin:/bin"),
        ))
        .grace(Duration::ZERO);
    let case = case.with(|_| command);
    let finished = case.run_and_cancel().await;
    assert_eq!(finished.end, ChildEnd::Cancelled);
    assert_eq!(finished.stdout.text(), Ok("partial"));
    finished.termination.unwrap().finish().await;
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_gone_after_the_termination() {
    let case = Case::new(&["ignore-term"]).with(|command| command.grace(SHORT));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.exit, Some(ChildExit::Signal(libc::SIGKILL)));
    assert_eq!(report.force, TerminationForce::Killed);
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn a_zero_grace_kills_at_once() {
    let case = Case::new(&["sleep", NEVER]).with(|command| command.grace(Duration::ZERO));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.exit, Some(ChildExit::Signal(libc::SIGKILL)));
    assert_eq!(report.force, TerminationForce::Killed);
}

#[tokio::test]
async fn a_stopped_child_hears_sigterm() {
    let case = Case::new(&["stop-self"]).with(|command| command.grace(HANG));
    let marker = case.marker.clone();
    let cancel = CancelToken::new();
    let waiting = case.on_ready({
        let cancel = cancel.clone();
        move || {
            let stopped = || {
                processes_with_marker(crate::support::MARKER, &marker)
                    .iter()
                    .any(|pid| process_state(*pid) == Some('T'))
            };
            assert!(wait_until(stopped, HANG));
            cancel.cancel();
        }
    });
    let finished = run(&case.command, &cancel).await.unwrap();
    waiting.join().unwrap();
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.exit, Some(ChildExit::Signal(libc::SIGTERM)));
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn a_handler_of_sigterm_may_write_before_it_tidies_up() {
    let case = Case::new(&[]);
    let tidied = case.scratch_file();
    let case = case.with(|command| command.arg("tidy-on-term").arg(&tidied).grace(HANG));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.exit, Some(ChildExit::Code(0)));
    assert_eq!(report.force, TerminationForce::Asked);
    assert!(tidied.exists());
}

#[tokio::test]
async fn the_grace_is_for_the_whole_group_and_not_only_for_its_leader() {
    let case = Case::new(&[]);
    let tidied = case.scratch_file();
    let case = case.with(|command| command.arg("leave-tidy-relative").arg(&tidied).grace(HANG));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.exit, Some(ChildExit::Signal(libc::SIGTERM)));
    assert_eq!(report.force, TerminationForce::Asked);
    assert!(tidied.exists());
}

#[tokio::test]
async fn a_child_that_left_the_session_is_swept() {
    let case = Case::new(&["escape-session", NEVER]).with(|command| command.grace(SHORT));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!((report.escaped, report.left), (1, 0));
    assert!(case.alive().is_empty());
}

#[tokio::test]
async fn a_child_that_left_the_session_with_an_empty_environment_is_swept_with_its_parent() {
    for grace in [Duration::ZERO, SHORT] {
        let case = Case::new(&["escape-unmarked", NEVER]).with(|command| command.grace(grace));
        let finished = case.run_and_cancel().await;
        let report = finished.termination.unwrap().finish().await;
        assert_eq!((report.escaped, report.left), (1, 0));
    }
}

#[test]
fn a_child_that_left_the_session_and_cannot_be_read_is_swept_with_its_parent() {
    crate::support::without_privileges(async || {
        for grace in [Duration::ZERO, SHORT] {
            let (case, number) = unreadable("escape-unreadable");
            let case = case.with(|command| command.grace(grace));
            let finished = case.run_and_cancel().await;
            let report = finished.termination.unwrap().finish().await;
            assert_eq!((report.escaped, report.left), (1, 0));
            assert!(wait_until(|| is_gone(number()), HANG));
        }
    });
}

#[test]
fn dropping_the_termination_ends_a_child_that_left_the_session_and_cannot_be_read() {
    crate::support::without_privileges(async || {
        let (case, number) = unreadable("escape-unreadable");
        let finished = case.run_and_cancel().await;
        drop(finished.termination);
        assert!(wait_until(|| is_gone(number()), HANG));
    });
}

/// The limit that docs/evidence/README.md states: neither the environment nor the parent shows where such a process comes from.
#[test]
fn an_orphan_that_left_the_session_and_cannot_be_read_is_not_found() {
    crate::support::without_privileges(async || {
        let (case, number) = unreadable("orphan-unreadable");
        let case = case.with(|command| command.grace(SHORT));
        let finished = case.run_and_cancel().await;
        let report = finished.termination.unwrap().finish().await;
        assert_eq!((report.escaped, report.left), (0, 0));
        assert!(!is_gone(number()));
        // SAFETY: the call takes two integers.
        unsafe { libc::kill(number().cast_signed(), libc::SIGKILL) };
    });
}

/// A case of a relative that cannot be read, and a function for the number of the relative.
#[allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
fn unreadable(behaviour: &str) -> (Case, impl Fn() -> u32) {
    let case = Case::new(&[behaviour, NEVER]);
    let file = case.scratch_file();
    let case = case.with(|command| command.arg(&file));
    (case, move || std::fs::read_to_string(&file).unwrap().parse().unwrap())
}

fn is_gone(pid: u32) -> bool {
    matches!(process_state(pid), None | Some('Z'))
}

/// A run inside of a run: each of its processes has the marker of both.
#[tokio::test]
async fn a_run_inside_of_a_run_is_swept_with_the_outer_one() {
    let outer = Case::new(&["sleep", NEVER]).with(|command| command.grace(SHORT));
    let inner = Case::new(&["double-fork", NEVER]);
    let ready = inner.ready_file();
    let environment = hookrail_spawn::Environment::new()
        .with(crate::support::MARKER, &outer.marker)
        .with("HOOKRAIL_CHILD_READY", &ready);
    let inner = inner.with(|command| command.env(std::sync::Arc::new(environment)));
    // What the host of the inner run started is no child of the outer one, and is found by the outer marker alone.
    let cancel = CancelToken::new();
    let running = tokio::spawn({
        let (command, cancel) = (inner.command.clone(), cancel.clone());
        async move { run(&command, &cancel).await }
    });
    assert!(tokio::task::spawn_blocking(move || wait_until(|| ready.exists(), HANG)).await.unwrap());
    let finished = outer.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!((report.escaped, report.left), (2, 0));
    assert!(inner.vanishes());
    let _ = running.await;
}

#[tokio::test]
async fn a_double_forked_daemon_is_swept() {
    let case = Case::new(&["double-fork", NEVER]).with(|command| command.grace(SHORT));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!((report.escaped, report.left), (1, 0));
    assert!(case.alive().is_empty());
}

#[tokio::test]
async fn a_chain_of_forks_across_sessions_is_swept() {
    let case = Case::new(&["fork-chain", "60"]).with(|command| command.grace(Duration::ZERO));
    let finished = case.run_and_cancel().await;
    let report = finished.termination.unwrap().finish().await;
    assert_eq!(report.left, 0);
    assert!(case.alive().is_empty());
}

#[tokio::test]
async fn nothing_is_left_after_the_output_limit_even_if_the_child_exited() {
    let limits = hookrail_spawn::CaptureLimits { stdout_keep: 1, ..Default::default() };
    let case = Case::new(&["daemon-holds-stdout", NEVER]).with(|command| command.limits(limits).grace(SHORT));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::OutputLimit);
    assert_eq!(finished.exit, Some(ChildExit::Code(0)));
    finished.termination.unwrap().finish().await;
    assert!(case.alive().is_empty());
}

#[tokio::test]
async fn a_signal_from_elsewhere_is_the_end() {
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGPIPE] {
        let finished = Case::new(&["kill-self", &signal.to_string()]).run().await;
        assert_eq!(finished.end, ChildEnd::Signalled(signal));
    }
}

#[tokio::test]
async fn dropping_the_run_kills_and_reaps() {
    let case = Case::new(&["escape-session", NEVER]);
    let (ready, marker) = (case.ready_file(), case.marker.clone());
    let cancel = CancelToken::new();
    let ready = tokio::task::spawn_blocking(move || {
        assert!(wait_until(|| ready.exists(), HANG));
        processes_with_marker(crate::support::MARKER, &marker)
    });
    let pids = tokio::select! {
        _ = run(&case.command, &cancel) => panic!("the run ended by itself"),
        pids = ready => pids.unwrap(),
    };
    assert_eq!(pids.len(), 2);
    assert!(case.vanishes());
    // The one that escaped is not ours to reap, so only this process's own count.
    let zombie = || pids.iter().any(|pid| parent(*pid) == Some(std::process::id()));
    assert!(wait_until(|| !zombie(), HANG));
}

#[tokio::test]
async fn dropping_the_termination_kills_and_reaps() {
    let case = Case::new(&["ignore-term"]).with(|command| command.grace(HANG));
    let finished = case.run_and_cancel().await;
    drop(finished.termination);
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn dropping_a_termination_that_is_under_way_kills_and_reaps() {
    let case = Case::new(&["ignore-term"]).with(|command| command.grace(HANG));
    let finished = case.run_and_cancel().await;
    let under_way = tokio::time::timeout(SHORT, finished.termination.unwrap().finish()).await;
    assert!(under_way.is_err());
    assert!(is_reaped(finished.pid.unwrap()));
    assert!(case.alive().is_empty());
}

#[test]
fn a_runtime_that_shuts_down_leaves_nothing() {
    let case = Case::new(&["ignore-term"]).with(|command| command.grace(HANG));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let finished = runtime.block_on(case.run_and_cancel());
    runtime.spawn(finished.termination.unwrap().finish());
    drop(runtime);
    assert!(is_reaped(finished.pid.unwrap()));
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}
