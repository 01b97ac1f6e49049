//! Writing and reading: whatever a child does with its streams, the run does not hang and its answer is not lost.

#![cfg(target_os = "linux")]

use std::time::Duration;

use hookrail_testkit::HANG;

use crate::support::{Case, NEVER, is_reaped, stdout};
use hookrail_spawn::{
    AwaitedStreams, CaptureLimits, ChildEnd, ChildExit, LateOutput, LateWait, OutputSoFar, Survivors, Truncation,
};

const MIB: usize = 1 << 20;

/// The default, except for a drain grace that no machine is too slow for.
fn patient() -> CaptureLimits {
    CaptureLimits { drain_grace: HANG, ..CaptureLimits::default() }
}

fn payload(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index % 251) as u8).collect()
}

#[tokio::test]
async fn stdin_comes_back_unchanged_whatever_its_size() {
    for size in [0, 1, 4096, 65_535, 65_536, 65_537, MIB, MIB + 1, 5 * MIB] {
        let case = Case::new(&["echo-stdin"]).with(|command| command.stdin(payload(size)));
        let finished = case.run().await;
        assert_eq!(finished.end, ChildEnd::Exited(0), "{size} bytes");
        assert_eq!(finished.stdout.bytes, payload(size), "{size} bytes");
        assert_eq!(finished.survivors, Survivors::NoneSeen);
    }
}

#[tokio::test]
async fn stdin_is_a_pipe_whatever_its_size() {
    for size in [0, 100, 2 * MIB] {
        let case = Case::new(&["stdin-kind"]).with(|command| command.stdin(payload(size)));
        assert_eq!(stdout(&case.run().await), "pipe\n");
    }
}

#[tokio::test]
async fn a_child_that_never_reads_ten_mebibytes_ends_normally() {
    let case = Case::new(&["ignore-stdin"]).with(|command| command.stdin(payload(10 * MIB)));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(stdout(&finished), "{}");
}

#[tokio::test]
async fn a_child_that_closes_stdin_ends_normally() {
    let case = Case::new(&["close-stdin", "100"]).with(|command| command.stdin(payload(10 * MIB)));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(stdout(&finished), "{}");
}

#[tokio::test]
async fn a_child_that_writes_much_before_it_reads_much_does_not_deadlock() {
    let case = Case::new(&["write-before-read", &MIB.to_string()]).with(|command| command.stdin(payload(10 * MIB)));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(finished.stdout.bytes.len(), MIB + (10 * MIB).to_string().len());
    assert!(finished.stdout.bytes.ends_with((10 * MIB).to_string().as_bytes()));
}

#[tokio::test]
async fn the_deadline_covers_writing_stdin() {
    let case = Case::new(&["sleep", NEVER])
        .with(|command| command.stdin(payload(10 * MIB)).timeout(Duration::from_millis(100)).grace(Duration::ZERO));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::TimedOut);
    finished.termination.unwrap().finish().await;
}

#[tokio::test]
async fn a_grandchild_that_holds_stdin_and_stdout_does_not_delay_the_result() {
    let case = Case::new(&["daemon-holds-stdout", NEVER]).with(|command| command.stdin(payload(10 * MIB)));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(stdout(&finished), "{}");
    case.end_survivors();
}

#[tokio::test]
async fn a_zero_drain_grace_loses_nothing_that_the_child_wrote() {
    let limits = CaptureLimits { drain_grace: Duration::ZERO, ..CaptureLimits::default() };
    let case = Case::new(&["daemon-holds-stdout", NEVER]).with(|command| command.limits(limits));
    let finished = case.run().await;
    assert_eq!(stdout(&finished), "{}");
    case.end_survivors();
}

#[tokio::test]
async fn survivors_are_counted_and_left_alone_after_a_normal_exit() {
    let case = Case::new(&["daemon-holds-stdout", NEVER]);
    let finished = case.run().await;
    assert_eq!(finished.survivors, Survivors::Seen(1));
    assert!(finished.termination.is_none());
    assert_eq!(case.alive().len(), 1);
    assert!(is_reaped(finished.pid.unwrap()));
    case.end_survivors();
}

#[tokio::test]
async fn a_late_writer_is_heard_within_the_drain_grace() {
    let case = Case::new(&["late-writer", "20", "late"]).with(|command| command.limits(patient()));
    let finished = case.run().await;
    assert_eq!(stdout(&finished), "early late");
    assert_eq!(finished.end, ChildEnd::Exited(0));
}

/// A rule that knows one complete output, and waits for it.
struct WaitsFor(&'static str);

impl LateOutput for WaitsFor {
    fn wait_after(&self, _exit: ChildExit) -> LateWait {
        LateWait { longest: HANG, streams: AwaitedStreams::Stdout }
    }

    fn is_complete(&self, _exit: ChildExit, output: OutputSoFar<'_>) -> bool {
        output.stdout.text() == Ok(self.0)
    }
}

/// A rule that finds nothing complete, and waits for a moment only.
struct NeverComplete;

impl LateOutput for NeverComplete {
    fn wait_after(&self, _exit: ChildExit) -> LateWait {
        LateWait { longest: Duration::from_millis(300), streams: AwaitedStreams::Both }
    }

    fn is_complete(&self, _exit: ChildExit, _output: OutputSoFar<'_>) -> bool {
        false
    }
}

#[tokio::test]
async fn a_late_writer_is_awaited_until_the_rule_finds_its_output_complete() {
    let case = Case::new(&["late-writer", "400", "late"]).with(|command| command.late_output(&WaitsFor("early late")));
    let finished = case.run().await;
    assert_eq!(stdout(&finished), "early late");
    assert_eq!((finished.end, finished.held), (ChildEnd::Exited(0), None));
}

#[tokio::test]
async fn a_complete_output_is_not_delayed_by_a_process_that_holds_it() {
    let case = Case::new(&["daemon-holds-stdout", NEVER]).with(|command| command.late_output(&WaitsFor("{}")));
    let finished = case.run().await;
    assert_eq!((stdout(&finished), &finished.held), ("{}", &None));
    assert!(finished.elapsed < HANG);
    case.end_survivors();
}

#[tokio::test]
async fn the_process_that_holds_an_incomplete_output_is_named() {
    let case = Case::new(&["daemon-holds-stdout", NEVER]).with(|command| command.late_output(&NeverComplete));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    let held = finished.held.unwrap();
    assert!(held.waited >= Duration::from_millis(300), "{held:?}");
    assert_eq!(held.holders.iter().map(|holder| holder.pid).collect::<Vec<_>>(), case.alive());
    assert!(held.holders.iter().all(|holder| holder.name.starts_with("hookrail-child")), "{held:?}");
    case.end_survivors();
}

#[tokio::test]
async fn output_that_no_process_holds_is_not_awaited() {
    let finished =
        Case::new(&["print-and-exit", "0", "x", ""]).with(|command| command.late_output(&NeverComplete)).run().await;
    assert_eq!((stdout(&finished), &finished.held), ("x", &None));
}

#[tokio::test]
async fn the_deadline_ends_the_wait_for_late_writers_but_not_the_answer() {
    let case = Case::new(&["daemon-holds-stdout", NEVER])
        .with(|command| command.limits(patient()).timeout(Duration::from_secs(1)));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(stdout(&finished), "{}");
    assert!(finished.elapsed < HANG);
    case.end_survivors();
}

#[tokio::test]
async fn both_streams_are_captured_separately() {
    let finished = Case::new(&["print-and-exit", "3", "out", "err"]).run().await;
    assert_eq!(finished.end, ChildEnd::Exited(3));
    assert_eq!(finished.exit, Some(ChildExit::Code(3)));
    assert_eq!(stdout(&finished), "out");
    assert_eq!(finished.stderr.text(), Ok("err"));
}

#[tokio::test]
async fn a_character_split_over_two_writes_is_whole() {
    assert_eq!(stdout(&Case::new(&["split-utf8"]).run().await), "€");
}

#[tokio::test]
async fn half_a_character_is_no_strict_text() {
    let finished = Case::new(&["half-utf8"]).run().await;
    assert!(finished.stdout.text().is_err());
    assert_eq!(finished.stdout.text_lossy(), "a\u{fffd}");
}

#[tokio::test]
async fn stdout_over_its_bound_is_cut_and_is_the_end_but_the_exit_is_known() {
    let limits = CaptureLimits { stdout_keep: 1000, ..CaptureLimits::default() };
    let case = Case::new(&["flood-stdout", "3000000"]).with(|command| command.limits(limits));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::OutputLimit);
    assert_eq!(finished.exit, Some(ChildExit::Code(0)));
    assert_eq!(finished.stdout.bytes.len(), 1000);
    assert_eq!(finished.stdout.truncation, Truncation::Cut);
    assert_eq!(finished.stdout.total, 3_000_000);
    finished.termination.unwrap().finish().await;
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn stdout_of_exactly_its_bound_is_whole() {
    let limits = CaptureLimits { stdout_keep: 100_000, ..CaptureLimits::default() };
    let case = Case::new(&["flood-stdout", "100000"]).with(|command| command.limits(limits));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(finished.stdout.truncation, Truncation::Whole);
}

#[tokio::test]
async fn stderr_over_its_bound_is_cut_and_marked_and_nothing_more() {
    let limits = CaptureLimits { stdout_keep: 1000, stderr_keep: 1000, drain: 10_000, ..CaptureLimits::default() };
    let case = Case::new(&["flood-stderr", "3000000"]).with(|command| command.limits(limits));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::Exited(0));
    assert_eq!(stdout(&finished), "{}");
    assert_eq!(finished.stderr.bytes.len(), 1000);
    assert_eq!(finished.stderr.truncation, Truncation::Cut);
    assert_eq!(finished.stderr.total, 3_000_000);
}

#[tokio::test]
async fn an_endless_flood_is_stopped_by_the_drain_bound() {
    let limits = CaptureLimits { stdout_keep: 1000, drain: 4 << 20, ..CaptureLimits::default() };
    let case = Case::new(&["flood-forever"]).with(|command| command.limits(limits));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::OutputLimit);
    assert_eq!(finished.exit, None);
    assert_eq!(finished.stdout.bytes.len(), 1000);
    finished.termination.unwrap().finish().await;
    assert!(is_reaped(finished.pid.unwrap()));
}

#[tokio::test]
async fn an_endless_flood_does_not_hide_the_deadline() {
    let limits = CaptureLimits { drain: u64::MAX, ..CaptureLimits::default() };
    let case = Case::new(&["flood-forever"]).with(|command| command.limits(limits).timeout(Duration::from_millis(200)));
    let finished = case.run().await;
    assert_eq!(finished.end, ChildEnd::TimedOut);
    finished.termination.unwrap().finish().await;
    assert!(is_reaped(finished.pid.unwrap()));
}
