//! A child process with one bad habit, picked by its first argument.
//!
//! Each behaviour is the smallest program that shows it. It must not know
//! anything of hooks or of the crates under test: it talks only through its
//! arguments, its three streams, its exit and the file named in
//! `HOOKRAIL_CHILD_READY`, which it creates as soon as the habit is in place
//! (so that a test can await it instead of sleeping).

#![forbid(unsafe_code)]

mod relatives;
mod signals;
mod state;
mod streams;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

/// The environment variable that names the file to create when ready.
const READY: &str = "HOOKRAIL_CHILD_READY";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(behaviour) = arguments.next() else {
        eprintln!("usage: hookrail-child BEHAVIOUR [ARGUMENT...]");
        return ExitCode::from(64);
    };
    let rest: Vec<OsString> = arguments.collect();
    match behave(&behaviour.to_string_lossy(), &Arguments(rest)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("hookrail-child: {error}");
            ExitCode::from(65)
        }
    }
}

/// Runs one behaviour and returns the exit code.
fn behave(behaviour: &str, arguments: &Arguments) -> io::Result<u8> {
    match behaviour {
        "echo-stdin" => streams::echo_stdin(),
        "count-stdin" => streams::count_stdin(),
        "ignore-stdin" => streams::print("{}"),
        "close-stdin" => streams::close_stdin(arguments.number(0)?),
        "print" => streams::print(&arguments.text(0)?),
        "print-and-exit" => streams::print_and_exit(arguments.number(0)?, &arguments.text(1)?, &arguments.text(2)?),
        "flood-stdout" => streams::flood_stdout(arguments.number(0)?),
        "flood-stderr" => streams::flood_stderr(arguments.number(0)?),
        "flood-forever" => streams::flood_stdout(u64::MAX),
        "write-before-read" => streams::write_before_read(arguments.number(0)?),
        "half-utf8" => streams::write_raw(&[b"a\xe2\x82"]),
        "split-utf8" => streams::write_raw(&[b"\xe2\x82", b"\xac"]),
        "print-bytewise" => streams::print_bytewise(&arguments.text(0)?, arguments.number(1)?),
        "print-utf16" => streams::print_utf16(&arguments.text(0)?),
        "print-nested" => streams::print_nested(arguments.number(0)?),
        "print-many-keys" => streams::print_many_keys(arguments.number(0)?),
        "print-long-reason" => streams::print_long_reason(arguments.number(0)?),
        "sleep" => signals::sleep(arguments.number(0)?),
        "ignore-term" => signals::ignore_term(),
        "tidy-on-term" => signals::tidy_on_term(&arguments.text(0)?),
        "stop-self" => signals::stop_self(),
        "exec-self" => signals::exec_self(),
        "kill-self" => signals::kill_self(arguments.number(0)?),
        "daemon-holds-stdout" => relatives::daemon_holds_stdout(arguments.number(0)?),
        "escape-session" => relatives::escape_session(arguments.number(0)?),
        "double-fork" => relatives::double_fork(arguments.number(0)?),
        "late-writer" => relatives::late_writer(arguments.number(0)?, &arguments.text(1)?),
        "leave-tidy-relative" => relatives::leave_tidy_relative(&arguments.text(0)?),
        "fork-chain" => relatives::fork_chain(arguments.number(0)?),
        "fork-tree" => relatives::fork_tree(arguments.number(0)?, arguments.number(1)?),
        "escape-unmarked" => relatives::escape_unmarked(arguments.number(0)?),
        "escape-unreadable" => relatives::escape_unreadable(arguments.number(0)?, &arguments.text(1)?),
        "orphan-unreadable" => relatives::orphan_unreadable(arguments.number(0)?, &arguments.text(1)?),
        "print-env" => state::print_env(),
        "print-args" => state::print_args(),
        "report" => state::report(),
        "print-cwd" => state::print_cwd(),
        "list-fds" => state::list_fds(),
        "signal-state" => state::signal_state(),
        "session-id" => state::session_id(),
        "stdin-kind" => state::stdin_kind(),
        // As what the relatives are started; not for tests.
        "relative-stay" => relatives::stay(arguments.number(0)?),
        "relative-escaped" => relatives::escaped(arguments.number(0)?),
        "relative-unreadable" => relatives::unreadable(arguments.number(0)?, &arguments.text(1)?),
        "relative-between-unreadable" => relatives::between_unreadable(arguments.number(0)?, &arguments.text(1)?),
        "relative-orphan-unreadable" => {
            relatives::unreadable_orphan(arguments.number(0)?, arguments.number(1)?, &arguments.text(2)?)
        }
        "relative-between" => relatives::between(arguments.number(0)?),
        "relative-orphan" => relatives::orphan(arguments.number(0)?, arguments.number(1)?),
        "relative-late-writer" => relatives::write_late(arguments.number(0)?, &arguments.text(1)?),
        "relative-first-link" => relatives::first_link(arguments.number(0)?),
        "relative-next-link" => relatives::next_link(arguments.number(0)?),
        other => Err(io::Error::other(format!("unknown behaviour {other}"))),
    }
}

/// The arguments after the behaviour's name.
struct Arguments(Vec<OsString>);

impl Arguments {
    fn text(&self, index: usize) -> io::Result<String> {
        match self.0.get(index) {
            Some(text) => Ok(text.to_string_lossy().into_owned()),
            None => Err(io::Error::other(format!("argument {} is missing", index + 1))),
        }
    }

    fn number<N: std::str::FromStr>(&self, index: usize) -> io::Result<N> {
        self.text(index)?.parse().map_err(|_| io::Error::other(format!("argument {} is not a fit number", index + 1)))
    }
}

/// Tells the test that the behaviour is in place.
fn announce_ready() -> io::Result<()> {
    match std::env::var_os(READY) {
        Some(path) => std::fs::write(path, b""),
        None => Ok(()),
    }
}
