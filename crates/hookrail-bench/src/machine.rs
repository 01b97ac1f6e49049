//! The machine of a run, and the real-time priority that keeps other work from disturbing it.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::results::Machine;

/// The real-time priority: a low one is enough, because every real-time priority comes before ordinary work.
const REAL_TIME_PRIORITY: &str = "5";

/// Describes the machine.
pub(crate) fn describe() -> Machine {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let processor = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_owned()));
    Machine {
        processor: processor.unwrap_or_else(|| "unknown".to_owned()),
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        load: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        rustc: said_by("rustc", &["--version"]),
        commit: said_by("git", &["describe", "--always", "--dirty", "--exclude=*"]),
    }
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    let said = Command::new(program).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    said.ok().map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default()
}

/// The policy that the kernel says this process has.
pub(crate) fn scheduling() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name, which may hold anything; the policy is the 41st of all, and the name is the second.
    let policy = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(38));
    match policy {
        Some("2") => "real-time, round robin",
        Some("1") => "real-time, first in first out",
        Some("0") => "ordinary",
        _ => "unknown",
    }
    .to_owned()
}

/// Starts this program again with real-time priority, which its children inherit. Returns only if that is not needed or
/// not allowed.
pub(crate) fn ask_for_real_time() {
    if scheduling().starts_with("real-time") {
        return;
    }
    let allowed = Command::new("chrt")
        .args(["-r", REAL_TIME_PRIORITY, "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("real-time priority is not allowed; other work on this machine will show in the numbers");
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let error =
        Command::new("chrt").args(["-r", REAL_TIME_PRIORITY]).arg(program).args(std::env::args_os().skip(1)).exec();
    eprintln!("real-time priority could not be had: {error}");
}
