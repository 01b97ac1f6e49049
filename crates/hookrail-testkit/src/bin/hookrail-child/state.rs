//! Says what this process was given: arguments, environment, descriptors, signals.

use std::ffi::OsStr;
use std::io::{self, Write};

/// Prints the environment in its order, one `NAME=value` per line.
pub(crate) fn print_env() -> io::Result<u8> {
    for (name, value) in std::env::vars_os() {
        line(&[&name, OsStr::new("="), &value])?;
    }
    Ok(0)
}

/// Prints all arguments, the zeroth and the behaviour's name included, one per line.
pub(crate) fn print_args() -> io::Result<u8> {
    for argument in std::env::args_os() {
        line(&[&argument])?;
    }
    Ok(0)
}

/// Prints everything this process was given, in a form in which two processes can be compared.
pub(crate) fn report() -> io::Result<u8> {
    for argument in std::env::args_os() {
        line(&[OsStr::new("arg "), OsStr::new(&format!("{argument:?}"))])?;
    }
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    for (name, value) in variables {
        line(&[OsStr::new("env "), &name, OsStr::new("="), OsStr::new(&format!("{value:?}"))])?;
    }
    line(&[OsStr::new("cwd "), std::env::current_dir()?.as_os_str()])?;
    let input = io::read_to_string(io::stdin())?;
    line(&[OsStr::new("stdin "), OsStr::new(&input)])?;
    Ok(0)
}

/// Prints the working directory.
pub(crate) fn print_cwd() -> io::Result<u8> {
    line(&[std::env::current_dir()?.as_os_str()])?;
    Ok(0)
}

/// Prints the numbers of the open descriptors, separated by spaces.
pub(crate) fn list_fds() -> io::Result<u8> {
    let mut numbers: Vec<i32> = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        // The descriptor that lists the folder points to the folder itself.
        let target = std::fs::read_link(entry.path())?;
        if target.starts_with("/proc") {
            continue;
        }
        if let Ok(number) = entry.file_name().to_string_lossy().parse() {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    let texts: Vec<String> = numbers.iter().map(i32::to_string).collect();
    line(&[OsStr::new(&texts.join(" "))])?;
    Ok(0)
}

/// Prints the signal masks as this program was started with them.
///
/// The Rust runtime itself ignores SIGPIPE before `main`, so that bit says
/// nothing here; `kill-self 13` through a shell would.
pub(crate) fn signal_state() -> io::Result<u8> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    for text in status.lines() {
        if text.starts_with("SigBlk:") || text.starts_with("SigIgn:") {
            line(&[OsStr::new(text)])?;
        }
    }
    Ok(0)
}

/// Prints the process, group and session ids, separated by spaces.
#[cfg(unix)]
pub(crate) fn session_id() -> io::Result<u8> {
    use rustix::process::{getpgrp, getpid, getsid};
    let [process, group, session] = [getpid(), getpgrp(), getsid(None)?].map(|id| id.as_raw_nonzero());
    line(&[OsStr::new(&format!("{process} {group} {session}"))])?;
    Ok(0)
}

#[cfg(not(unix))]
pub(crate) fn session_id() -> io::Result<u8> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Prints what kind of file stdin is.
#[cfg(unix)]
pub(crate) fn stdin_kind() -> io::Result<u8> {
    use std::os::unix::fs::FileTypeExt;
    let kind = std::fs::metadata("/dev/stdin")?.file_type();
    line(&[OsStr::new(if kind.is_fifo() { "pipe" } else { "other" })])?;
    Ok(0)
}

#[cfg(not(unix))]
pub(crate) fn stdin_kind() -> io::Result<u8> {
    Err(io::ErrorKind::Unsupported.into())
}

fn line(parts: &[&OsStr]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for part in parts {
        stdout.write_all(part.as_encoded_bytes())?;
    }
    stdout.write_all(b"\n")
}
