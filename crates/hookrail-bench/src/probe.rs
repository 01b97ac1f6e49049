//! A host in a separate process, for what cannot be measured in the harness itself, such as its memory.
//!
//! It is another instance of this program, with one request per line like a peer.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use hookrail::{Environment, Event, EventKind, HookSystem, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::BenchResult;
use crate::harness::nanoseconds_each;
use crate::lab::{check_answered, event, tool_input};
use crate::peers::PeerDriver;

/// What kind of host it is.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ProbeHost {
    /// Its project.
    pub(crate) project: PathBuf,
    /// How many mebibytes it has in use beside the hooks.
    pub(crate) fill_mib: usize,
    /// The module hooks it has loaded.
    pub(crate) modules: Vec<PathBuf>,
}

/// Starts a host.
pub(crate) fn start(host: &ProbeHost, environment: &Environment) -> BenchResult<PeerDriver> {
    let program = std::env::current_exe()?;
    PeerDriver::start(Command::new(program).arg("probe").arg(serde_json::to_string(host)?), environment)
}

/// Runs as a host until its input ends.
pub(crate) fn run_host(description: &str) -> BenchResult<()> {
    let host: ProbeHost = serde_json::from_str(description)?;
    let ballast = vec![1_u8; host.fill_mib << 20];
    let mut builder = HookSystem::builder(&host.project).trust_project();
    if !host.modules.is_empty() {
        builder = builder.runner(hookrail_js::modules());
    }
    for module in &host.modules {
        builder = builder.module(module);
    }
    let system = builder.build();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"ready": true}))?;
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let answer = work(&system, &asked).unwrap_or_else(|error| json!({"error": error.to_string()}));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    // Keeps the memory in use until the input ends.
    drop(std::hint::black_box(ballast));
    Ok(())
}

fn work(system: &HookSystem, asked: &Value) -> BenchResult<Value> {
    let number = |name: &str, default: u64| asked.get(name).and_then(Value::as_u64).unwrap_or(default);
    match asked.get("do").and_then(Value::as_str) {
        Some("fire") => {
            let times = u32::try_from(number("times", 1))?;
            let (bytes, hooks) = (usize::try_from(number("bytes", 1024))?, usize::try_from(number("hooks", 1))?);
            let fresh = asked.get("fresh").and_then(Value::as_bool).unwrap_or_default();
            let same = tool_input(bytes)?;
            let began = Instant::now();
            for i in 0..times {
                let event = if fresh { fresh_event(system, bytes, i)? } else { event(system, &same) };
                check_answered(&system.fire_blocking(event), hooks)?;
            }
            Ok(json!({"ns": nanoseconds_each(began.elapsed(), times)}))
        }
        Some("memory") => Ok(json!({"bytes": resident_bytes()?})),
        other => Err(format!("{other:?} is not known").into()),
    }
}

/// Returns an event that differs from every other.
fn fresh_event(system: &HookSystem, bytes: usize, number: u32) -> BenchResult<Event> {
    let input = json!({"file_path": format!("{number}.rs"), "content": format!("{number} {}", "x".repeat(bytes))});
    let event = system.event(EventKind::BeforeTool).with_text("tool_name", crate::lab::TOOL);
    Ok(event.with("tool_input", Json::of(&input)?))
}

/// Returns how much memory of this process is in use.
fn resident_bytes() -> BenchResult<u64> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the kernel does not say")?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes << 10)
}
