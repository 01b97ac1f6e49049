//! The short form of the load programs: no answer is lost or doubled, and killed clients leave nothing behind.

#![cfg(unix)]

#[allow(dead_code)]
#[path = "../../../hookrail-bench/examples/load/chaos.rs"]
mod chaos;
#[allow(dead_code)]
#[path = "../../../hookrail-bench/examples/load/hold.rs"]
mod hold;
#[allow(dead_code)]
#[path = "../../../hookrail-bench/examples/load/server.rs"]
mod server;

use std::path::PathBuf;
use std::time::Duration;

use hookrail_testkit::HANG;

use crate::support::{Sandbox, environment, within};
use hookrail::HookSystem;
use hookrail_bus::transport::SocketListener;
use hookrail_bus::{Bus, BusOptions};

/// What the hooks of a test have in their environment.
const MARKER: &str = "HOOKRAIL_BUS_TEST";

fn listen(sandbox: &Sandbox) -> (Bus, PathBuf) {
    server::write_hooks(&sandbox.project).unwrap();
    let (home, mark) = (sandbox.base.join("home"), sandbox.base.clone());
    let bus = Bus::new(BusOptions::new(&sandbox.project, move |project| {
        HookSystem::builder(project).environment(environment(&home).with(MARKER, &mark)).trust_project()
    }));
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    (bus, path)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_in_flight_lose_and_double_nothing() {
    let sandbox = Sandbox::new();
    let (bus, path) = listen(&sandbox);
    // A slow machine takes its time for the last thousand; only a hang is a failure.
    let held = tokio::time::timeout(10 * HANG, hold::hold(&path, 1000, Duration::from_secs(2))).await.unwrap().unwrap();
    assert_eq!((held.lost(), held.duplicated, held.wrong), (0, 0, 0), "{} sent", held.sent);
    assert_eq!(held.most, 1000);
    within(bus.drain()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_clients_leave_no_process_and_no_connection() {
    let sandbox = Sandbox::new();
    let (bus, path) = listen(&sandbox);
    let done = chaos::chaos(&path, Duration::from_secs(2)).await;
    assert!(done.killed > 10);
    let mark = sandbox.base.to_string_lossy().into_owned();
    let quiet = || {
        let text = bus.metrics().text();
        text.contains("hookrail_bus_connections 0")
            && text.contains("hookrail_bus_in_flight 0")
            && hookrail_testkit::processes_with_marker(MARKER, &mark).is_empty()
    };
    assert!(tokio::task::block_in_place(|| hookrail_testkit::wait_until(quiet, HANG)), "{}", bus.metrics().text());
    within(bus.drain()).await;
}
