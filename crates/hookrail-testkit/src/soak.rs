//! The frame of a long run: it starts a random mixture of work, some of it at a time, measures ten times what its
//! process holds, and reports what is left at the end. The caller decides what is started and how that ends.

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
const LOOKS: u64 = 10;

/// The pause between two checks whether it is time to measure.
const PAUSE: Duration = Duration::from_millis(50);

/// The variable that every process of the run has in its environment.
const MARKER: &str = "HOOKRAIL_SOAK";

/// A long run.
#[derive(Debug)]
pub struct Soak {
    total: u64,
    seed: u64,
    leak: Option<Leak>,
    own: String,
    folder: TempDir,
}

impl Soak {
    /// The run that the command line asks for: `[COUNT [SEED [LEAK]]]`.
    ///
    /// # Errors
    /// If an argument is invalid, or the folder for temporary files cannot be made.
    pub fn from_arguments() -> Result<Self> {
        let mut arguments = std::env::args().skip(1);
        let mut number = |otherwise| arguments.next().map_or(Ok(otherwise), |text| text.parse().map_err(invalid));
        let (total, seed) = (number(100_000)?, number(1)?);
        let leak = arguments.next().map(|word| Leak::from_name(&word)).transpose()?;
        Ok(Self { total, seed, leak, own: std::process::id().to_string(), folder: tempfile::tempdir()? })
    }

    /// The variable that all processes of the run must have in their environment, and its value.
    #[must_use]
    pub fn marker(&self) -> (&'static str, &str) {
        (MARKER, &self.own)
    }

    /// The folder for temporary files, in which nothing may be left.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.folder.path()
    }

    /// Starts everything, `side_by_side` at a time, and prints every measurement, how everything ended, and what is
    /// left. `heap` returns how many bytes are allocated; it is called before resident memory is read, so that it can
    /// first make the allocator return free memory. `start` receives its random choices and a number, and what it
    /// starts returns how that ended.
    pub async fn run<F>(
        &self,
        what: &str,
        side_by_side: usize,
        heap: impl Fn() -> usize,
        mut start: impl FnMut(&mut Random, u64) -> F,
    ) -> ExitCode
    where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        let mut random = Random::new(self.seed);
        let mut ledger = SoakLedger::new(MARKER, &self.own).with_folder(self.temporary());
        let mut kept = PlantedLeaks::default();
        let (mut running, mut ends) = (JoinSet::new(), BTreeMap::new());
        let mut took = Duration::ZERO;
        println!("{} {what} with seed {}, {side_by_side} at a time.\n\n{}", self.total, self.seed, SoakLedger::head());
        let mut began = Instant::now();
        for number in 1..=self.total {
            running.spawn(start(&mut random, number));
            let looks = number % (self.total / LOOKS).max(1) == 0;
            while running.len() >= if looks { 1 } else { side_by_side } {
                let ended = running.join_next().await.and_then(std::result::Result::ok);
                for end in ended.unwrap_or_else(|| vec!["(panicked)".to_owned()]) {
                    *ends.entry(end).or_insert(0_u64) += 1;
                }
            }
            if let Some(leak) = self.leak {
                kept.keep(leak, number == self.total, self);
            }
            if looks {
                took += began.elapsed();
                while !ledger.is_calm() {
                    tokio::time::sleep(PAUSE).await;
                }
                println!("{}", ledger.measure(number, heap()));
                began = Instant::now();
            }
        }
        println!("\n{:.0} {what} per second. How they ended:\n", self.total as f64 / took.as_secs_f64());
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
    /// How much memory is leaked each time.
    const MEMORY: usize = 64 << 10;

    /// Memory is leaked every time, because a small growth is allowed; of any other resource one at the end is enough
    /// to fail.
    fn keep(&mut self, leak: Leak, is_last: bool, soak: &Soak) {
        match leak {
            Leak::Memory => self.memory.push(vec![1; Self::MEMORY]),
            _ if !is_last => {}
            Leak::Descriptor => self.descriptors.extend(File::open("/dev/null")),
            Leak::Thread => self.threads.push(thread::spawn(thread::park).thread().clone()),
            Leak::Process => {
                let mut sleeper = Command::new("sleep");
                sleeper.arg("600").env(MARKER, &soak.own).stdin(Stdio::null()).stdout(Stdio::null());
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
