//! Starts a great many children, good ones and bad ones in a random mixture, and checks that nothing of them is left.
//! `scripts/soak.sh` runs it.
//!
//! ```text
//! spawn_soak [CHILDREN [SEED]]
//! ```

#![cfg(target_os = "linux")]

use std::alloc::System;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookrail_spawn::{CancelToken, Command, Environment, run};
use hookrail_testkit::{Ledger, Random};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::task::JoinSet;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many children there are at a time.
const SIDE_BY_SIDE: usize = 8;

/// How many times it is looked at what is held.
const LOOKS: u64 = 10;

const MARKER: &str = "HOOKRAIL_SOAK";

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
    fn command(self, environment: &Arc<Environment>, number: u64) -> Command {
        let shell = |script: &str| Command::new("/bin/sh").arg("-c").arg(script);
        let command = match self {
            Self::Quick => Command::new("/bin/true"),
            Self::Fails => Command::new("/bin/false"),
            Self::KillsItself => shell("kill -9 $$"),
            Self::Writes => shell("cat; echo warning >&2"),
            Self::WritesTooMuch => shell("head -c 10000000 /dev/zero"),
            Self::ReadsNothing => shell("exec 0<&-; exit 3"),
            Self::MissingProgram => Command::new("/no/such/program"),
            Self::MissingFolder => Command::new("/bin/true").cwd("/no/such/folder"),
            Self::TakesTooLong | Self::Cancelled | Self::Abandoned => Command::new("/bin/sleep").arg("600"),
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

    /// Runs it to its end, with everything that has to be done after it.
    async fn live(self, environment: Arc<Environment>, number: u64) -> String {
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
                if let Some(ladder) = finished.ladder {
                    ladder.finish().await;
                }
                format!("{:?}", finished.end)
            }
            Err(_) => "not started".to_owned(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().ok());
    let total = arguments.next().flatten().unwrap_or(100_000);
    let seed = arguments.next().flatten().unwrap_or(1);
    let own = std::process::id().to_string();
    let environment: Environment = std::env::vars_os().collect();
    let environment = Arc::new(environment.with(MARKER, &own));
    let mut random = Random::new(seed);
    let mut ledger = Ledger::new(MARKER, &own);
    let (mut children, mut ends) = (JoinSet::new(), BTreeMap::new());
    let mut took = Duration::ZERO;
    println!("{total} children with seed {seed}, {SIDE_BY_SIDE} at a time.\n\n{}", Ledger::head());
    let mut began = Instant::now();
    for number in 1..=total {
        let child = random.choose(MIXTURE).copied().unwrap_or(Child::Quick);
        children.spawn(child.live(Arc::clone(&environment), number));
        let looks = number % (total / LOOKS).max(1) == 0;
        while children.len() >= if looks { 1 } else { SIDE_BY_SIDE } {
            let end = children.join_next().await.and_then(Result::ok).unwrap_or_else(|| "panicked".to_owned());
            *ends.entry(end).or_insert(0_u64) += 1;
        }
        if looks {
            took += began.elapsed();
            while !ledger.is_calm() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let heap = HEAP.stats();
            println!("{}", ledger.look(number, heap.bytes_allocated.saturating_sub(heap.bytes_deallocated)));
            began = Instant::now();
        }
    }
    println!("\n{:.0} children per second. How they ended:\n", total as f64 / took.as_secs_f64());
    for (end, times) in &ends {
        println!("* {end}: {times}");
    }
    let left = ledger.left_behind();
    println!("\nLeft behind: {}", if left.is_empty() { "nothing." } else { &left });
    if left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
