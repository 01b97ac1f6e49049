//! A child that ended in time is not reported as timed out, even if its host was busy and checked after the deadline.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{CancelToken, ChildCommand, ChildEnd, ChildExit, Environment, ExchangeReply, ParkedChild, run};
use hookrail_testkit::{HANG, TestProject, wait_until};

/// The timeout of each child. They need a small part of it.
const TIMEOUT: Duration = Duration::from_millis(500);

struct Scene(TestProject);

impl Scene {
    fn new() -> Self {
        Self(TestProject::new())
    }

    fn shell(&self, script: &str) -> ChildCommand {
        let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let command = ChildCommand::new("/bin/sh").args(["-c", script]).env(Arc::new(environment));
        command.cwd(&self.0.project).timeout(TIMEOUT)
    }

    /// Blocks the only thread of the runtime until the child has created the file `done`, and the deadline has passed.
    async fn absent_host(&self) {
        let done = self.0.project.join("done");
        assert!(wait_until(|| done.exists(), HANG), "the child does not create the file");
        std::thread::sleep(TIMEOUT * 2);
    }
}

#[tokio::test]
async fn an_exit_in_time_is_reported_with_everything_that_was_written() {
    let scene = Scene::new();
    // The runtime waits for it in both ways, because it takes longer than the calling thread waits.
    let command = scene.shell("sleep 0.05; echo out; echo err >&2; : > done; exit 3");
    let cancel = CancelToken::new();
    let (finished, ()) = tokio::join!(run(&command, &cancel), scene.absent_host());
    let finished = finished.unwrap();
    assert_eq!(finished.end, ChildEnd::Exited(3));
    assert_eq!(finished.stdout.text_lossy(), "out\n");
    assert_eq!(finished.stderr.text_lossy(), "err\n");
}

#[tokio::test]
async fn a_child_that_waited_for_the_host_to_read_can_finish_its_answer() {
    let scene = Scene::new();
    let command = scene.shell("sleep 0.05; : > done; head -c 300000 /dev/zero; exit 3");
    let cancel = CancelToken::new();
    let (finished, ()) = tokio::join!(run(&command, &cancel), scene.absent_host());
    let finished = finished.unwrap();
    assert_eq!((finished.end, finished.stdout.total), (ChildEnd::Exited(3), 300_000));
}

#[tokio::test]
async fn a_child_that_still_runs_when_the_host_looks_has_timed_out() {
    let scene = Scene::new();
    for script in ["sleep 0.05; : > done; exec sleep 600", "sleep 0.05; : > done; echo early; exec sleep 600"] {
        let command = scene.shell(script);
        let cancel = CancelToken::new();
        let (finished, ()) = tokio::join!(run(&command, &cancel), scene.absent_host());
        assert_eq!(finished.unwrap().end, ChildEnd::TimedOut);
        std::fs::remove_file(scene.0.project.join("done")).unwrap();
    }
}

#[tokio::test]
async fn a_cancelled_run_is_cancelled_whatever_the_child_did() {
    let scene = Scene::new();
    let command = scene.shell("sleep 0.05; : > done; exit 3");
    let cancel = CancelToken::new();
    let (finished, ()) = tokio::join!(run(&command, &cancel), async {
        scene.absent_host().await;
        cancel.cancel();
    });
    assert_eq!(finished.unwrap().end, ChildEnd::Cancelled);
}

#[tokio::test]
async fn a_child_that_was_started_early_is_answered_too() {
    let scene = Scene::new();
    let command = scene.shell("read line; sleep 0.05; echo \"$line\"; : > done; exit 3").stdin(*b"asked\n");
    let parked = ParkedChild::start(&command).unwrap();
    let cancel = CancelToken::new();
    let (finished, ()) = tokio::join!(parked.finish(&command, &cancel), scene.absent_host());
    let finished = finished.unwrap();
    assert_eq!(finished.end, ChildEnd::Exited(3));
    assert_eq!(finished.stdout.text_lossy(), "asked\n");
}

#[tokio::test]
async fn a_line_or_an_exit_of_a_child_that_stays_is_answered_too() {
    let line = "echo \"$line\"; : > done; exec sleep 600";
    let long = ": > done; head -c 200000 /dev/zero | tr '\\0' x; echo; exec sleep 600";
    for (script, expected) in [
        (line, ExchangeReply::Line(b"asked".to_vec())),
        (long, ExchangeReply::Line(vec![b'x'; 200_000])),
        (": > done; exit 3", ExchangeReply::Exited(ChildExit::Code(3))),
        (": > done; exec sleep 600", ExchangeReply::TimedOut),
    ] {
        let scene = Scene::new();
        let command = scene.shell(&format!("read line; sleep 0.05; {script}")).stdin(*b"asked\n");
        let parked = ParkedChild::start(&command).unwrap();
        let cancel = CancelToken::new();
        let (exchange, ()) = tokio::join!(parked.request_line(&command, &cancel), scene.absent_host());
        assert!(exchange.unwrap().reply == expected, "{script}");
    }
}
