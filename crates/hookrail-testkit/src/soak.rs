//! Runs a random mixture of work for a long time, measures ten times which resources the process holds, and reports what is
//! left at the end. The caller decides what the work is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::{Random, SoakLedger};

/// How many measurements there are.
const MEASUREMENTS: u64 = 10;

/// The pause between two checks whether it is time to measure.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The variable that every process of the run has in its environment.
const MARKER: &str = "HOOKRAIL_SOAK";

/// A long run. Every process of it has the marker in its environment, so that those that are left can be found.
#[derive(Debug)]
pub struct Soak {
    total: u64,
    seed: u64,
    leak: Option<Leak>,
    /// The pid of this process, which is the value of the marker.
    process_id: String,
    folder: TempDir,
}

impl Soak {
    /// The run that the command line asks for: `[COUNT [SEED [LEAK]]]`. `LEAK` names a resource to leak on
    /// purpose, which must make the run fail.
    ///
    /// # Errors
    /// If an argument is invalid, or the folder for temporary files cannot be made.
    pub fn from_arguments() -> Result<Self> {
        let mut arguments = std::env::args().skip(1);
        let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse().map_err(invalid));
        let (total, seed) = (number(100_000)?, number(1)?);
        let leak = arguments.next().map(|word| Leak::from_name(&word)).transpose()?;
        Ok(Self { total, seed, leak, process_id: std::process::id().to_string(), folder: tempfile::tempdir()? })
    }

    /// The variable that all processes of the run must have in their environment, and its value.
    #[must_use]
    pub fn marker(&self) -> (&'static str, &str) {
        (MARKER, &self.process_id)
    }

    /// The folder for temporary files, in which nothing may be left.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.folder.path()
    }

    /// Starts all work, at most `concurrency` pieces at a time, and prints every measurement, how the pieces ended, and
    /// what is left. `heap` returns how many bytes are allocated; it is called before resident memory is read, so that it
    /// can first make the allocator return free memory. `start` receives the source of random choices and the number of
    /// the piece. Its future returns how the piece ended, for the counts.
    pub async fn run<F>(
        &self,
        what: &str,
        concurrency: usize,
        heap: impl Fn() -> usize,
        mut start: impl FnMut(&mut Random, u64) -> F,
    ) -> ExitCode
    where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        let mut random = Random::new(self.seed);
        let mut ledger = SoakLedger::new(MARKER, &self.process_id).with_folder(self.temporary());
        let mut planted_leaks = PlantedLeaks::default();
        let (mut running, mut ends) = (JoinSet::new(), BTreeMap::new());
        let mut working_time = Duration::ZERO;
        println!("{} {what} with seed {}, {concurrency} at a time.\n\n{}", self.total, self.seed, SoakLedger::head());
        let mut began = Instant::now();
        for number in 1..=self.total {
            running.spawn(start(&mut random, number));
            let is_measured = number % (self.total / MEASUREMENTS).max(1) == 0;
            // Before a measurement all work must have ended.
            while running.len() >= if is_measured { 1 } else { concurrency } {
                let ended = running.join_next().await.and_then(std::result::Result::ok);
                for end in ended.unwrap_or_else(|| vec!["(panicked)".to_owned()]) {
                    *ends.entry(end).or_insert(0_u64) += 1;
                }
            }
            if let Some(leak) = self.leak {
                planted_leaks.leak(leak, number == self.total, self);
            }
            if is_measured {
                working_time += began.elapsed();
                while !ledger.is_calm() {
                    tokio::time::sleep(CHECK_INTERVAL).await;
                }
                println!("{}", ledger.measure(number, heap()));
                began = Instant::now();
            }
        }
        println!("\n{:.0} {what} per second. How they ended:\n", self.total as f64 / working_time.as_secs_f64());
        for (end, times) in &ends {
            println!("* {end}: {times}");
        }
        let left = ledger.left_behind();
        println!("\nLeft behind: {}", if left.is_empty() { "nothing." } else { &left });
        if left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidInput, why.to_string())
}

/// A resource to leak on purpose, to see that the run then fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leak {
    Memory,
    Descriptor,
    Thread,
    Process,
    File,
}

impl Leak {
    fn from_name(name: &str) -> Result<Self> {
        Ok(match name {
            "memory" => Self::Memory,
            "descriptor" => Self::Descriptor,
            "thread" => Self::Thread,
            "process" => Self::Process,
            "file" => Self::File,
            _ => return Err(invalid(format!("`{name}` is nothing that can be left behind"))),
        })
    }
}

/// The resources that were leaked on purpose. They are released when the run is over.
#[derive(Debug, Default)]
struct PlantedLeaks {
    memory: Vec<Vec<u8>>,
    descriptors: Vec<File>,
    threads: Vec<Thread>,
    processes: Vec<Child>,
}

impl PlantedLeaks {
    /// The number of bytes that are leaked each time.
    const LEAKED_BYTES: usize = 64 << 10;

    /// Leaks a resource. Memory is leaked every time, because a small growth is allowed. Of any other resource, one at the
    /// end is enough to fail the run.
    fn leak(&mut self, leak: Leak, is_last: bool, soak: &Soak) {
        match leak {
            Leak::Memory => self.memory.push(vec![1; Self::LEAKED_BYTES]),
            _ if !is_last => {}
            Leak::Descriptor => self.descriptors.extend(File::open("/dev/null")),
            Leak::Thread => self.threads.push(thread::spawn(thread::park).thread().clone()),
            Leak::Process => {
                let mut sleeper = Command::new("sleep");
                sleeper.arg("600").env(MARKER, &soak.process_id).stdin(Stdio::null()).stdout(Stdio::null());
                self.processes.extend(sleeper.spawn());
            }
            Leak::File => {
                let _ = File::create(soak.temporary().join("left"));
            }
        }
    }
}

impl Drop for PlantedLeaks {
    fn drop(&mut self) {
        self.threads.iter().for_each(Thread::unpark);
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
