//! Fires a great many events at good and bad hooks of all three dialects, in a random mixture, and checks that nothing
//! of them is left. `scripts/soak.sh` runs it.
//!
//! ```text
//! fire_soak [FIRES [SEED]]
//! ```

#![cfg(target_os = "linux")]

mod project;

use std::alloc::System;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hookrail::{Environment, Event, EventKind, HookSystem, Json, Outcome};
use hookrail_testkit::{Ledger, Random};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::task::JoinSet;

use project::{Habit, MIXTURE};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many events there are at a time.
const SIDE_BY_SIDE: usize = 16;

/// How many times it is looked at what is held.
const LOOKS: u64 = 10;

const MARKER: &str = "HOOKRAIL_SOAK";

/// How often the host loses interest in the middle.
const ONE_IN_ABANDONED: u64 = 50;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().ok());
    let total = arguments.next().flatten().unwrap_or(100_000);
    let seed = arguments.next().flatten().unwrap_or(1);
    let own = std::process::id().to_string();
    let folder = tempfile::tempdir()?;
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary)?;
    let root = folder.path().join("project");
    project::write(&root)?;
    let environment: Environment = std::env::vars_os().collect();
    let environment = environment
        .with(MARKER, &own)
        .with("HOME", folder.path())
        .with("XDG_STATE_HOME", folder.path())
        .with("TMPDIR", &temporary)
        .with("LLXPRT_SYSTEM_SETTINGS_PATH", folder.path().join("none.json"));
    let mut limits = hookrail_js::Limits::default();
    limits.cpu = Duration::from_millis(100);
    limits.memory = 16 << 20;
    let runner = hookrail_js::Modules::with_limits(limits);
    let system = HookSystem::builder(&root).environment(environment).runner(runner).trust_project().build();
    for finding in system.snapshot().diagnostics() {
        println!("{finding}");
    }
    let mut random = Random::new(seed);
    let mut ledger = Ledger::new(MARKER, &own).with_folder(&temporary);
    let (mut fires, mut ends) = (JoinSet::new(), BTreeMap::new());
    let mut took = Duration::ZERO;
    println!("{total} fires with seed {seed}, {SIDE_BY_SIDE} at a time.\n\n{}", Ledger::head());
    let mut began = Instant::now();
    for number in 1..=total {
        let habit = random.choose(MIXTURE).copied().unwrap_or(Habit::Silent);
        let given_up = (random.below(ONE_IN_ABANDONED) == 0).then(|| Duration::from_millis(random.below(40)));
        fires.spawn(fire(system.clone(), habit, number, given_up));
        let looks = number % (total / LOOKS).max(1) == 0;
        while fires.len() >= if looks { 1 } else { SIDE_BY_SIDE } {
            for end in fires.join_next().await.and_then(Result::ok).unwrap_or_default() {
                *ends.entry(end).or_insert(0_u64) += 1;
            }
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
    println!("\n{:.0} fires per second. How hooks ended:\n", total as f64 / took.as_secs_f64());
    for (end, times) in &ends {
        println!("* {end}: {times}");
    }
    system.shutdown().await;
    let left = ledger.left_behind();
    println!("\nLeft behind: {}", if left.is_empty() { "nothing." } else { &left });
    Ok(if left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Fires one event and says how each hook ended. A host that gives up drops the future in the middle.
async fn fire(system: HookSystem, habit: Habit, number: u64, given_up: Option<Duration>) -> Vec<String> {
    let kind = if number.is_multiple_of(3) { EventKind::AfterTool } else { EventKind::BeforeTool };
    let input = Json::parse(&format!(r#"{{"path": "a.txt", "n": {number}}}"#)).unwrap_or_else(|_| Json::empty_object());
    let event = Event::new(kind, system.project())
        .with_text("session_id", "soak")
        .with_text("tool_name", habit.tool())
        .with("tool_input", input)
        .with("tool_response", Json::parse(r#"{"llmContent": "x"}"#).unwrap_or_else(|_| Json::empty_object()));
    let firing = system.fire_fully(event);
    match given_up {
        None => ended(&firing.await),
        Some(after) => tokio::select! {
            outcome = firing => ended(&outcome),
            () = tokio::time::sleep(after) => vec!["(dropped by its host)".to_owned()],
        },
    }
}

fn ended(outcome: &Outcome) -> Vec<String> {
    outcome.runs.iter().map(|run| format!("{} {}", run.hook.dialect, run.end.name())).collect()
}
