//! The benchmark's spawner starts a program, or returns the error of the system.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write, pipe};
use std::os::fd::AsFd;

use hookrail_bench::BareSpawn;

#[test]
fn it_starts_a_program_with_its_streams_arguments_and_environment() {
    let script = OsStr::new("read -r line; printf '%s %s' \"$line\" \"$NAME\"");
    let variables = [(OsStr::new("NAME"), OsStr::new("value"))];
    let mut bare = BareSpawn::new(OsStr::new("/bin/sh"), [OsStr::new("-c"), script], variables).unwrap();
    for _ in 0..3 {
        let ((stdin, mut feed), (mut answer, stdout)) = (pipe().unwrap(), pipe().unwrap());
        feed.write_all(b"input\n").unwrap();
        let pid = bare.start(stdin.as_fd(), stdout.as_fd()).unwrap();
        drop((stdin, feed, stdout));
        let mut text = String::new();
        answer.read_to_string(&mut text).unwrap();
        assert_eq!(text, "input value");
        assert_eq!(status_of(pid), Some(0));
    }
}

#[test]
fn a_program_that_is_not_there_is_an_error_and_no_process() {
    let mut bare = BareSpawn::new(OsStr::new("/nonexistent/program"), [], []).unwrap();
    let null = File::open("/dev/null").unwrap();
    let error = bare.start(null.as_fd(), null.as_fd()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// Reaps a child and returns its exit status. Nothing else in this process reaps it.
fn status_of(pid: i32) -> Option<i32> {
    let ended = rustix::process::waitpid(rustix::process::Pid::from_raw(pid), rustix::process::WaitOptions::empty());
    ended.ok()?.and_then(|(_, status)| status.exit_status())
}
