//! Children that wait for their input, and children that take more than one request.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Duration;

use hookrail_testkit::HANG;

use crate::support::is_reaped;
use hookrail_spawn::{
    CancelToken, CaptureLimits, ChildCommand, ChildEnd, ChildExit, Environment, Exchange, ExchangeReply, ParkedChild,
    Truncation,
};

const ECHO: &str = "while read -r line; do echo \"$$ $line\"; done";

fn shell(script: &str) -> ChildCommand {
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    ChildCommand::new("/bin/sh").args(["-c", script]).env(Arc::new(environment)).timeout(HANG)
}

async fn ask(parked: ParkedChild, command: &ChildCommand, line: &str) -> Exchange {
    let command = command.clone().stdin(format!("{line}\n").into_bytes());
    parked.request_line(&command, &CancelToken::new()).await.unwrap()
}

fn line(exchange: &Exchange) -> &str {
    match &exchange.reply {
        ExchangeReply::Line(line) => std::str::from_utf8(line).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_child_answers_several_requests_in_different_runtimes() {
    let command = shell(ECHO);
    let mut parked = ParkedChild::start(&command).unwrap();
    let pid = parked.pid();
    for number in 0..4 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let exchange = runtime.block_on(ask(parked, &command, &format!("line {number}")));
        assert_eq!(line(&exchange), format!("{pid} line {number}"));
        parked = exchange.parked.unwrap();
        assert!(parked.is_quiet() && !parked.has_exited());
    }
    drop(parked);
    assert!(is_reaped(pid));
}

#[tokio::test]
async fn a_large_request_is_written_whole_and_a_child_that_answers_early_gets_no_further_request() {
    let large = "x".repeat(3 << 20);
    let command = shell("while IFS= read -r line; do echo ${#line}; done");
    let exchange = ask(ParkedChild::start(&command).unwrap(), &command, &large[..200_000]).await;
    assert_eq!(line(&exchange), "200000");
    assert!(exchange.parked.is_some());
    let early = shell("echo early; exec sleep 600");
    let exchange = ask(ParkedChild::start(&early).unwrap(), &early, &large).await;
    assert_eq!(line(&exchange), "early");
    assert!(exchange.parked.is_none() && exchange.termination.is_some());
}

#[tokio::test]
async fn a_child_that_writes_more_than_one_line_gets_no_further_request() {
    let command = shell("read -r line; echo one; echo two; exec sleep 600");
    let parked = ParkedChild::start(&command).unwrap();
    let pid = parked.pid();
    let exchange = ask(parked, &command, "a").await;
    assert_eq!(line(&exchange), "one");
    match exchange.parked {
        // The second line came later than the reply; it is noticed before the next request.
        Some(parked) => assert!(hookrail_testkit::wait_until(|| !parked.is_quiet(), HANG)),
        None => assert_eq!(exchange.termination.unwrap().finish().await.left, 0),
    }
    assert!(is_reaped(pid));
}

#[tokio::test]
async fn ends_without_an_answer_are_distinguished() {
    for (script, expected) in [
        ("read -r line; exit 7", ExchangeReply::Exited(ChildExit::Code(7))),
        ("read -r line; printf half; exit 0", ExchangeReply::Exited(ChildExit::Code(0))),
        ("read -r line; kill -9 $$", ExchangeReply::Exited(ChildExit::Signal(9))),
        ("read -r line; exec >&-; exec sleep 600", ExchangeReply::Closed),
        ("read -r line; echo 0123456789", ExchangeReply::TooLong),
        ("exit 3", ExchangeReply::Exited(ChildExit::Code(3))),
    ] {
        let limits = CaptureLimits { stdout_keep: 8, ..CaptureLimits::default() };
        let command = shell(script).limits(limits).grace(Duration::ZERO);
        let exchange = ask(ParkedChild::start(&command).unwrap(), &command, "a").await;
        assert_eq!(exchange.reply, expected, "{script}");
        assert!(exchange.parked.is_none());
        let report = exchange.termination.unwrap().finish().await;
        assert_eq!(report.left, 0, "{script}");
    }
}

#[tokio::test]
async fn the_deadline_and_a_cancel_end_the_whole_group() {
    let script = "read -r line; sleep 600 & wait";
    let command = shell(script).timeout(Duration::from_millis(50)).grace(Duration::ZERO);
    let parked = ParkedChild::start(&command).unwrap();
    let pid = parked.pid();
    let exchange = ask(parked, &command, "a").await;
    assert_eq!(exchange.reply, ExchangeReply::TimedOut);
    exchange.termination.unwrap().finish().await;
    assert!(is_reaped(pid));
    let command = shell(script).grace(Duration::ZERO);
    let cancel = CancelToken::new();
    cancel.cancel();
    let exchange = ParkedChild::start(&command).unwrap().request_line(&command, &cancel).await.unwrap();
    assert_eq!(exchange.reply, ExchangeReply::Cancelled);
}

#[tokio::test]
async fn a_flood_on_stderr_does_not_block_the_child_and_is_cut() {
    let limits = CaptureLimits { stderr_keep: 100, ..CaptureLimits::default() };
    let command = shell("while read -r line; do head -c 500000 /dev/zero >&2; echo done; done").limits(limits);
    let exchange = ask(ParkedChild::start(&command).unwrap(), &command, "a").await;
    assert_eq!(line(&exchange), "done");
    assert_eq!((exchange.stderr.bytes.len(), exchange.stderr.truncation), (100, Truncation::Cut));
    assert!(exchange.parked.is_some());
}

#[tokio::test]
async fn a_prestarted_child_reads_its_input_late_and_ends_like_any_run() {
    let command = shell("cat; exit 5").stdin(*b"input");
    let prestarted = ParkedChild::start(&command).unwrap();
    let finished = prestarted.finish(&command, &CancelToken::new()).await.unwrap();
    assert_eq!((finished.end, finished.stdout.text_lossy().as_ref()), (ChildEnd::Exited(5), "input"));
    let early = ParkedChild::start(&shell("exit 0")).unwrap();
    assert!(hookrail_testkit::wait_until(|| early.has_exited(), HANG), "an exit before the input is noticed");
}

#[tokio::test]
async fn a_prestarted_child_that_is_not_needed_never_reads_an_empty_input() {
    let place = hookrail_testkit::TestProject::new();
    let script = format!("cd {}; touch ready; cat > /dev/null; touch ended", place.project.display());
    for retire in [false, true] {
        let prestarted = ParkedChild::start(&shell(&script)).unwrap();
        let pid = prestarted.pid();
        assert!(hookrail_testkit::wait_until(|| place.exists("ready"), HANG));
        if retire {
            prestarted.retire(Duration::ZERO).finish().await;
        } else {
            drop(prestarted);
        }
        assert!(is_reaped(pid));
        assert!(!place.exists("ended"), "it read the end of the pipe as its input");
    }
}
