//! Load and chaos against a real server. `scripts/bus-load` and `scripts/bus-chaos` run it.
//!
//! ```text
//! load hold  PROGRAM SECONDS IN_FLIGHT    so many requests in flight over one socket, every answer accounted for
//! load chaos PROGRAM SECONDS              clients that are killed at random; then nothing may be left
//! load reloads PROGRAM SECONDS            signals to reload, 750 in a second: answers come as without them
//! load heap SECONDS                       the same in one process, with an allocator that counts
//! ```

#![cfg(unix)]

mod chaos;
mod heap;
mod hold;
mod reloads;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use server::{Holds, Server};

/// How many storms there are in the time.
pub(crate) const STORMS: u32 = 6;

/// How much more memory a server may hold after a storm than before it, in KiB. Allocators keep some.
const SLACK: u64 = 8 * 1024;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    if let (Some("heap"), Some(seconds)) = (arguments.first().map(String::as_str), number(1)) {
        let fine = heap::heap(Duration::from_secs(seconds)).await?;
        return Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let (Some(kind), Some(program), Some(seconds)) = (arguments.first(), arguments.get(1), number(2)) else {
        eprintln!(
            "usage: load (hold PROGRAM SECONDS IN_FLIGHT | chaos PROGRAM SECONDS | reloads PROGRAM SECONDS | heap SECONDS)"
        );
        return Ok(ExitCode::FAILURE);
    };
    let server = Server::start(&PathBuf::from(program))?;
    let duration = Duration::from_secs(seconds);
    let fine = match kind.as_str() {
        "hold" => hold(&server, number(3).unwrap_or(1000), duration).await?,
        "chaos" => chaos(&server, duration).await?,
        "reloads" => reloads(&server, duration).await?,
        _ => false,
    };
    let ended_well = server.stop()?;
    println!("server ended well on SIGTERM: {ended_well}");
    Ok(if fine && ended_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn hold(server: &Server, in_flight: u64, duration: Duration) -> std::io::Result<bool> {
    let in_flight = usize::try_from(in_flight).unwrap_or(usize::MAX);
    // A first round brings memory and descriptors to where they stay.
    hold::hold(&server.socket(), in_flight, Duration::from_millis(500)).await?;
    let before = server.settles(usize::MAX);
    let held = hold::hold(&server.socket(), in_flight, duration).await?;
    let after = server.settles(before.descriptors);
    println!("requests sent: {}, answered: {}", held.sent, held.answered);
    println!("lost: {}, duplicated: {}, wrong: {}", held.lost(), held.duplicated, held.wrong);
    println!("in flight at most: {}, for {:.1} s", held.most, held.took.as_secs_f64());
    println!("requests per second: {:.0}", held.answered as f64 / held.took.as_secs_f64());
    let milliseconds = |part| held.percentile(part).as_secs_f64() * 1_000.0;
    println!("from request to answer: median {:.0} ms, 99 % {:.0} ms", milliseconds(0.5), milliseconds(0.99));
    print_holds(before, after);
    Ok(held.lost() + held.duplicated + held.wrong == 0 && held.most == in_flight && nothing_left(before, after))
}

async fn chaos(server: &Server, duration: Duration) -> std::io::Result<bool> {
    // Storms of equal length: an allocator keeps what its worst moment needed, a leak grows with every storm.
    let mut holds = Vec::new();
    let mut least = usize::MAX;
    for storm in 1..=STORMS {
        let done = chaos::chaos(&server.socket(), duration / STORMS).await;
        least = least.min(server_idle(server));
        let now = server.settles(least);
        println!("storm {storm}: {} clients killed, afterwards {now:?}", done.killed);
        holds.push(now);
    }
    // A client that connects afterwards is served.
    let held = hold::hold(&server.socket(), 100, Duration::from_millis(500)).await?;
    println!("served afterwards: {} of {}", held.answered, held.sent);
    let (Some(middle), Some(last)) = (holds.get(holds.len() / 2), holds.last()) else { return Ok(false) };
    Ok(nothing_left(*middle, *last) && held.lost() == 0 && held.answered > 0)
}

/// The fewest answers during reloads for one without them.
const LEAST_RATIO: f64 = 0.5;

async fn reloads(server: &Server, duration: Duration) -> std::io::Result<bool> {
    let done = reloads::reloads(server, duration).await?;
    println!("answers without signals: {}, during {} signals: {}", done.alone, done.signals, done.reloading);
    println!("ratio: {:.2}, at least {LEAST_RATIO}; lost or wrong: {}", done.ratio(), done.wrong);
    Ok(done.wrong == 0 && done.ratio() >= LEAST_RATIO)
}

/// The descriptors of a server that has been used and has no client: it settles when its processes are gone.
fn server_idle(server: &Server) -> usize {
    let _ = hookrail_testkit::wait_until(|| server.holds().processes == 0, Duration::from_secs(30));
    // Connections are closed a moment after their processes; the smallest number of a while is the idle one.
    let mut least = server.holds().descriptors;
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(20));
        least = least.min(server.holds().descriptors);
    }
    least
}

fn print_holds(before: Holds, after: Holds) {
    println!("before: {before:?}");
    println!("after:  {after:?}");
}

fn nothing_left(before: Holds, after: Holds) -> bool {
    after.processes == 0 && after.descriptors <= before.descriptors && after.memory <= before.memory + SLACK
}
