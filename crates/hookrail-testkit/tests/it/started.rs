//! Tests do not depend on how they were started.

use std::process::Command;

/// The two signals that the C library keeps for itself: it refuses to change them.
const OF_THE_C_LIBRARY: u64 = (1 << (32 - 1)) | (1 << (33 - 1));

/// The signals that this process ignores and blocks, one bit each.
fn ignored_and_blocked() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let set = |name| {
        let text = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(text.trim(), 16).unwrap() & !OF_THE_C_LIBRARY
    };
    (set("SigIgn:"), set("SigBlk:"))
}

/// Started by the test below.
#[test]
#[ignore = "says what another test asks"]
fn says_which_signals_are_ignored_and_blocked() {
    println!("signals: {:?}", ignored_and_blocked());
}

#[test]
fn signals_that_the_caller_ignores_or_blocks_are_not_inherited() {
    const PYTHON: &str = "import os, signal, sys
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
print('caller:', open('/proc/thread-self/status').read())
sys.stdout.flush()
os.execv(sys.argv[1], sys.argv[1:])";
    if !hookrail_testkit::has_program("python3") {
        return;
    }
    let test = "started::says_which_signals_are_ignored_and_blocked";
    let output = Command::new("python3")
        .args(["-c", PYTHON])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The control: SIGHUP, the lowest bit, was ignored and blocked before.
    let of_caller = |name: &str| {
        let set = text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        u64::from_str_radix(set.unwrap_or_else(|| panic!("{output:?}")), 16).unwrap() & 1
    };
    assert_eq!((of_caller("SigIgn:"), of_caller("SigBlk:")), (1, 1), "{text}");
    // The runtime of Rust ignores SIGPIPE by itself.
    let only_sigpipe = 1 << (13 - 1);
    assert!(text.contains(&format!("signals: {:?}", (only_sigpipe, 0))), "{text}");
}
