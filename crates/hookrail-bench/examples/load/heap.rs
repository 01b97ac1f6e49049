//! The same storms against a bus in this process, whose allocator counts: what is held is told apart from what the
//! allocator keeps.

use std::alloc::System;
use std::path::Path;
use std::time::Duration;

use hookrail::{Environment, HookSystem};
use hookrail_bus::{Bus, BusOptions, transport::SocketListener};
use hookrail_testkit::SoakLedger;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::{STORMS, chaos, server};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MARKER: &str = "HOOKRAIL_BUS_HEAP";

/// Runs storms of clients, and returns whether the last one left more memory in use than the first.
pub(crate) async fn heap(duration: Duration) -> std::io::Result<bool> {
    let folder = tempfile::tempdir()?;
    let (project, socket) = (folder.path().join("project"), folder.path().join("s"));
    server::write_hooks(&project)?;
    let own = std::process::id().to_string();
    let environment: Environment = std::env::vars_os().collect();
    let environment = environment.with(MARKER, &own).with("HOME", folder.path());
    let describe = move |directory: &Path| {
        HookSystem::builder(directory).environment(environment.clone()).trust_project().no_plugins()
    };
    let bus = Bus::new(BusOptions::new(&project, describe));
    let listener = SocketListener::bind(&socket).map_err(std::io::Error::other)?;
    let serving = bus.clone();
    let served = tokio::spawn(async move { serving.listen(listener).await });
    let mut ledger = SoakLedger::new(MARKER, &own);
    let mut killed = 0;
    println!("{}", SoakLedger::head().replace("| after |", "| clients killed |"));
    for _ in 0..STORMS {
        killed += chaos::chaos(&socket, duration / STORMS).await.killed;
        while !ledger.is_calm() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Resident memory should show what is in use, not what the allocator keeps for later.
        hookrail_spawn::give_back_free_memory();
        let heap = HEAP.stats();
        let held = heap.bytes_allocated.saturating_sub(heap.bytes_deallocated);
        println!("{}", ledger.measure(u64::try_from(killed).unwrap_or(u64::MAX), held));
    }
    bus.drain().await;
    let _ = served.await;
    let left = ledger.left_behind();
    println!("left behind: {}", if left.is_empty() { "nothing" } else { &left });
    Ok(left.is_empty())
}
