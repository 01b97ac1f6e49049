//! Asks a server while it is told to reload all the time, and compares with a server that is left alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::hold::{self, Held};
use crate::server::Server;

/// How many requests are in flight: an agent has few.
const IN_FLIGHT: usize = 4;

/// The pause between two signals: 6,000 in 8 s.
const PAUSE: Duration = Duration::from_micros(1_300);

/// How many hooks a reload reads beside the one that runs.
const OTHER_HOOKS: usize = 300;

/// How often both are measured, in turn, so that other work on the machine meets both.
const ROUNDS: u32 = 2;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Reloaded {
    /// The signals that were sent.
    pub(crate) signals: u64,
    /// The answers without signals, and with them.
    pub(crate) alone: usize,
    pub(crate) reloading: usize,
    /// Requests without an answer, with two, or with a wrong one.
    pub(crate) wrong: usize,
}

impl Reloaded {
    /// The answers with signals for one without.
    pub(crate) fn ratio(&self) -> f64 {
        self.reloading as f64 / self.alone.max(1) as f64
    }

    fn count(&mut self, held: &Held) -> usize {
        self.wrong += held.lost() + held.duplicated + held.wrong;
        held.answered
    }
}

pub(crate) async fn reloads(server: &Server, duration: Duration) -> std::io::Result<Reloaded> {
    server.write_more_hooks(OTHER_HOOKS)?;
    // Whatever the first requests find, those that are counted find this.
    hold::hold(&server.socket(), IN_FLIGHT, Duration::from_secs(1)).await?;
    let mut done = Reloaded::default();
    for _ in 0..ROUNDS {
        let alone = hold::hold(&server.socket(), IN_FLIGHT, duration / ROUNDS).await?;
        done.alone += done.count(&alone);
        let is_over = AtomicBool::new(false);
        let held = std::thread::scope(|scope| {
            let signalling = scope.spawn(|| {
                let (began, mut sent) = (Instant::now(), 0_u32);
                while let (false, Some(server)) =
                    (is_over.load(Ordering::Relaxed), Pid::from_raw(server.id().cast_signed()))
                {
                    // A thread that slept too long on a busy machine makes up for it.
                    while PAUSE * sent < began.elapsed() {
                        let _ = kill_process(server, Signal::HUP);
                        sent += 1;
                    }
                    std::thread::sleep(PAUSE);
                }
                u64::from(sent)
            });
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let socket = server.socket();
            let held = scope.spawn(move || runtime.block_on(hold::hold(&socket, IN_FLIGHT, duration / ROUNDS)));
            let held = held.join().unwrap_or_else(|_| Err(std::io::Error::other("the client panicked")));
            is_over.store(true, Ordering::Relaxed);
            done.signals += signalling.join().unwrap_or_default();
            held
        })?;
        done.reloading += done.count(&held);
    }
    Ok(done)
}
