//! Starts a great many children, good ones and bad ones in a random mixture, and checks that nothing of them is left.
//! `scripts/soak.sh` runs it.
//!
//! ```text
//! spawn_soak [CHILDREN [SEED [LEAK]]]
//! ```

#![cfg(target_os = "linux")]

use std::alloc::System;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{CancelToken, ChildCommand, Environment, run};
use hookrail_testkit::Soak;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of children at a time.
const CONCURRENT: usize = 24;

/// What a child does.
#[derive(Clone, Copy, Debug)]
enum Child {
    Quick,
    Fails,
    KillsItself,
    Writes,
    WritesTooMuch,
    ReadsNothing,
    MissingProgram,
    MissingFolder,
    TakesTooLong,
    IgnoresSigterm,
    LeavesItsSession,
    Cancelled,
    Abandoned,
}

const MIXTURE: &[(u64, Child)] = &[
    (600, Child::Quick),
    (100, Child::Fails),
    (60, Child::KillsItself),
    (100, Child::Writes),
    (10, Child::WritesTooMuch),
    (40, Child::ReadsNothing),
    (20, Child::MissingProgram),
    (20, Child::MissingFolder),
    (20, Child::TakesTooLong),
    (5, Child::IgnoresSigterm),
    (5, Child::LeavesItsSession),
    (10, Child::Cancelled),
    (10, Child::Abandoned),
];

impl Child {
    fn command(self, environment: &Arc<Environment>, number: u64) -> ChildCommand {
        let shell = |script: &str| ChildCommand::new("/bin/sh").arg("-c").arg(script);
        let command = match self {
            Self::Quick => ChildCommand::new("/bin/true"),
            Self::Fails => ChildCommand::new("/bin/false"),
            Self::KillsItself => shell("kill -9 $$"),
            Self::Writes => shell("cat; echo warning >&2"),
            Self::WritesTooMuch => shell("head -c 10000000 /dev/zero"),
            Self::ReadsNothing => shell("exec 0<&-; exit 3"),
            Self::MissingProgram => ChildCommand::new("/no/such/program"),
            Self::MissingFolder => ChildCommand::new("/bin/true").cwd("/no/such/folder"),
            Self::TakesTooLong | Self::Cancelled | Self::Abandoned => ChildCommand::new("/bin/sleep").arg("600"),
            Self::IgnoresSigterm => shell("trap '' TERM; sleep 600 & wait; sleep 600"),
            Self::LeavesItsSession => shell("setsid sleep 600 & wait"),
        };
        let input = if matches!(self, Self::ReadsNothing) { vec![b'x'; 300_000] } else { b"{\"n\":1}".to_vec() };
        let is_late = matches!(self, Self::TakesTooLong | Self::IgnoresSigterm | Self::LeavesItsSession);
        let timeout = if is_late { Duration::from_millis(30) } else { Duration::from_secs(300) };
        command
            .stdin(input)
            .timeout(timeout)
            .grace(Duration::from_millis(50))
            .env(Arc::clone(environment))
            .marker("HOOKRAIL_SOAK_RUN", number.to_string())
    }

    /// Runs the child to its end, including its termination.
    async fn run_to_end(self, environment: Arc<Environment>, number: u64) -> String {
        let command = self.command(&environment, number);
        let cancel = CancelToken::new();
        let running = run(&command, &cancel);
        let a_moment = tokio::time::sleep(Duration::from_millis(10));
        let ended = match self {
            // Dropping the future in the middle ends the child, too.
            Self::Abandoned => tokio::select! {
                ended = running => ended,
                () = a_moment => return "dropped".to_owned(),
            },
            Self::Cancelled => {
                let cancelling = async {
                    a_moment.await;
                    cancel.cancel();
                };
                tokio::join!(running, cancelling).0
            }
            _ => running.await,
        };
        match ended {
            Ok(finished) => {
                if let Some(termination) = finished.termination {
                    termination.finish().await;
                }
                format!("{:?}", finished.end)
            }
            Err(_) => "not started".to_owned(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<ExitCode> {
    let soak = Soak::from_arguments()?;
    let (marker, own) = soak.marker();
    let environment: Environment = std::env::vars_os().collect();
    let environment = Arc::new(environment.with(marker, own).with("TMPDIR", soak.temporary()));
    let heap = || {
        // Resident memory should show what is in use, not what the allocator keeps for later.
        hookrail_spawn::give_back_free_memory();
        let heap = HEAP.stats();
        heap.bytes_allocated.saturating_sub(heap.bytes_deallocated)
    };
    let verdict = soak.run("children", CONCURRENT, heap, |random, number| {
        let child = random.choose(MIXTURE).copied().unwrap_or(Child::Quick);
        let living = child.run_to_end(Arc::clone(&environment), number);
        async { vec![living.await] }
    });
    Ok(verdict.await)
}
