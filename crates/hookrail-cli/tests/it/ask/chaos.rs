//! What takes longer: servers and workers that are killed in turn while hooks ask. Ignored unless `scripts/fleet-chaos.sh` asks for it,
//! which prints the lines that begin with `chaos:`.

use std::time::{Duration, Instant};

use hookrail::{EndKind, Outcome};
use serde_json::json;

use crate::ask::load::{POLICY, fire_during, require_answers};
use crate::ask::support::{Net, remote};

fn slowest(outcomes: &[Outcome]) -> Duration {
    outcomes.iter().map(|outcome| outcome.runs[0].duration).max().unwrap_or_default()
}

#[test]
#[ignore = "takes long; run by scripts/fleet-chaos.sh"]
fn each_of_three_servers_is_killed_and_started_again_while_hooks_ask() {
    let Some(mut net) = Net::start_servers(3) else { return };
    net.ask_with(&remote(&json!({"timeout": 6_000, "retries": 2})));
    let _workers = [net.worker(POLICY, &[]), net.worker_as_configured(&[]), net.worker_as_configured(&[])];
    let system = net.system();
    let servers = &mut net.servers;
    let outcomes = fire_during(&system, 8, |some_more| {
        for server in servers.iter_mut() {
            some_more();
            server.kill();
            some_more();
            server.restart();
            some_more();
        }
    });
    require_answers(&outcomes);
    let (count, slowest) = (outcomes.len(), slowest(&outcomes));
    println!(
        "chaos: each of 3 servers killed and started again: {count} asked, 0 failed, slowest {} ms",
        slowest.as_millis()
    );
}

#[test]
#[ignore = "takes long; run by scripts/fleet-chaos.sh"]
fn each_of_three_workers_is_killed_and_started_again_while_hooks_ask() {
    let Some(net) = Net::start_servers(3) else { return };
    net.ask_with(&remote(&json!({"timeout": 6_000, "retries": 2})));
    let mut workers = vec![net.worker(POLICY, &[]), net.worker_as_configured(&[]), net.worker_as_configured(&[])];
    let outcomes = fire_during(&net.system(), 8, |some_more| {
        for worker in &mut workers {
            some_more();
            worker.kill();
            some_more();
            *worker = net.worker_as_configured(&[]);
        }
        some_more();
    });
    require_answers(&outcomes);
    let (count, slowest) = (outcomes.len(), slowest(&outcomes));
    println!(
        "chaos: each of 3 workers killed and started again: {count} asked, 0 failed, slowest {} ms",
        slowest.as_millis()
    );
}

#[test]
#[ignore = "takes long; run by scripts/fleet-chaos.sh"]
fn without_any_worker_every_question_ends_by_its_policy() {
    let Some(mut net) = Net::start_servers(3) else { return };
    net.ask_with(&remote(&json!({"timeout": 1_000})));
    let system = net.system();
    let servers = &mut net.servers;
    let began = Instant::now();
    let outcomes = fire_during(&system, 8, |some_more| {
        for server in servers.iter_mut() {
            some_more();
            server.kill();
            some_more();
        }
        some_more();
    });
    let took = began.elapsed();
    assert!(outcomes.iter().all(Outcome::is_denied), "one was allowed by accident");
    let count = |end: EndKind| outcomes.iter().filter(|outcome| outcome.runs[0].end == end).count();
    let slowest = slowest(&outcomes);
    assert!(slowest < Duration::from_secs(10), "a question outlives its time");
    println!(
        "chaos: no worker, then no server: {} asked in {} ms, all denied; {} no-responders, {} not-connected, {} timed-out, slowest {} ms",
        outcomes.len(),
        took.as_millis(),
        count(EndKind::NoResponders),
        count(EndKind::NotConnected),
        count(EndKind::TimedOut),
        slowest.as_millis()
    );
}
