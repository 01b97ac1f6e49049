//! Fires many events at good and bad hooks of all three dialects, in random order, and checks that no process, file or
//! memory of them is left. `scripts/soak.sh` runs it.
//!
//! ```text
//! fire_soak [FIRES [SEED [LEAK]]]
//! ```

#![cfg(target_os = "linux")]

mod project;

use std::alloc::System;
use std::process::ExitCode;
use std::time::Duration;

use hookrail::{Environment, Event, EventKind, FireOptions, HookSystem, Json, Outcome};
use hookrail_testkit::Soak;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use project::{Habit, MIXTURE};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of events that run at once.
const CONCURRENT_EVENTS: usize = 32;

/// The host drops one of this many events before it ends.
const ONE_IN_ABANDONED: u64 = 50;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<ExitCode> {
    let soak = Soak::from_arguments()?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("project");
    project::write(&root)?;
    let (marker, own) = soak.marker();
    let environment: Environment = std::env::vars_os().collect();
    let environment = environment
        .with(marker, own)
        .with("HOME", folder.path())
        .with("XDG_STATE_HOME", folder.path())
        .with("TMPDIR", soak.temporary());
    let mut limits = hookrail_js::RuntimeLimits::default();
    limits.cpu = Duration::from_millis(100);
    limits.memory = 16 << 20;
    let runner = hookrail_js::Modules::with_limits(limits);
    let system = HookSystem::builder(&root).environment(environment).runner(runner).trust_project().build();
    for finding in system.snapshot().diagnostics() {
        println!("{finding}");
    }
    let heap = || {
        // Resident memory must show what is in use, not what the allocator keeps for later.
        hookrail_spawn::give_back_free_memory();
        let heap = HEAP.stats();
        heap.bytes_allocated.saturating_sub(heap.bytes_deallocated)
    };
    let verdict = soak.run("fires", CONCURRENT_EVENTS, heap, |random, number| {
        let habit = random.choose(MIXTURE).copied().unwrap_or(Habit::Silent);
        let given_up = (random.below(ONE_IN_ABANDONED) == 0).then(|| Duration::from_millis(random.below(40)));
        fire(system.clone(), habit, number, given_up)
    });
    let verdict = verdict.await;
    system.shutdown().await;
    Ok(verdict)
}

/// Fires one event and returns how each hook ended. With `given_up`, the future is dropped after that time.
async fn fire(system: HookSystem, habit: Habit, number: u64, given_up: Option<Duration>) -> Vec<String> {
    let kind = if number.is_multiple_of(3) { EventKind::AfterTool } else { EventKind::BeforeTool };
    let input = Json::parse(&format!(r#"{{"path": "a.txt", "n": {number}}}"#)).unwrap_or_else(|_| Json::empty_object());
    let event = Event::new(kind, system.project())
        .with_text("session_id", "soak")
        .with_text("tool_name", habit.tool())
        .with("tool_input", input)
        .with("tool_response", Json::parse(r#"{"llmContent": "x"}"#).unwrap_or_else(|_| Json::empty_object()));
    let firing = system.fire_with(event, FireOptions::new().wait_for_all());
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
