//! Runs a program and writes down how much memory it took at most.
//!
//! `hookrail-measure REPORT PROGRAM [ARGUMENT...]` passes its own streams and environment on, writes the peak of the
//! resident memory in KiB to the file REPORT, and exits as the program did (128 and more for a signal). The peak is
//! that of the program and of every process it waited for. It must not know what it measures.
//!
//! This is a program of its own because a process inherits the peak of the process that started it, and this one is small.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    match measure() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("hookrail-measure: {error}");
            ExitCode::from(64)
        }
    }
}

#[cfg(target_os = "linux")]
fn measure() -> std::io::Result<u8> {
    use std::io::{Error, ErrorKind};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use nix::sys::resource::{UsageWho, getrusage};

    let mut arguments = std::env::args_os().skip(1);
    let missing = || Error::new(ErrorKind::InvalidInput, "usage: hookrail-measure REPORT PROGRAM [ARGUMENT...]");
    let report = arguments.next().ok_or_else(missing)?;
    let status = Command::new(arguments.next().ok_or_else(missing)?).args(arguments).status()?;
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    std::fs::write(report, peak.to_string())?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!(
        "hookrail-measure: the system does not say how much memory its processes take in one way that is known here"
    );
    ExitCode::from(64)
}
