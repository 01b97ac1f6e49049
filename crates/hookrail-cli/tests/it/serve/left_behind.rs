//! The server after one that was killed: it ends the hooks that are left, and nothing else.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use hookrail_testkit::{HANG, RunningProgram, process_state, wait_until};
use serde_json::json;

use crate::serve::support::{Sandbox, ends, started};

fn is_alive(process: u32) -> bool {
    process_state(process).is_some_and(|state| state != 'Z')
}

/// Where servers record the hooks that run.
fn records(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.base.join("home/.local/state/hookrail/running");
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(|path| path.extension().is_some_and(|extension| extension == "running")).collect()
}

/// Waits until the server has recorded a hook: the hook may write its number before the server does.
fn recorded(sandbox: &Sandbox, hook: u32) -> PathBuf {
    let line = format!("\n{hook} ");
    let has_line = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&line));
    assert!(wait_until(|| records(sandbox).iter().any(has_line), HANG), "no record of {hook}");
    records(sandbox).into_iter().find(has_line).unwrap()
}

/// A process that no server has started.
fn stranger() -> RunningProgram {
    RunningProgram::start(Command::new("sleep").arg("600").stdin(Stdio::null()))
}

#[test]
fn the_next_server_ends_what_a_killed_one_left_and_nothing_else() {
    // A hook with a child in its group, one in another session, and one that has dropped its marker.
    let hook = "sleep 600 & setsid sleep 601 & echo $! > escaped; echo $$ > pid.new; mv pid.new pid; wait";
    let sandbox = Sandbox::with_hook(hook);
    let stranger = stranger();
    let (mut server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    let left = started(&sandbox);
    let escaped: u32 = std::fs::read_to_string(sandbox.project.join("escaped")).unwrap().trim().parse().unwrap();
    recorded(&sandbox, left);
    assert_eq!(records(&sandbox).len(), 1);
    server.kill();
    assert!(is_alive(left) && is_alive(escaped), "nothing ends them before the next server starts");
    let (second, mut talk) = sandbox.on_stdio(&[]);
    talk.say("ping", &json!({}));
    assert_eq!(talk.next().unwrap()["type"], "pong");
    ends(left);
    ends(escaped);
    assert!(is_alive(stranger.id()), "a stranger is left alone");
    assert_eq!(records(&sandbox).len(), 1, "the record of the dead server is gone");
    talk.finish();
    second.ends_with(0);
    assert_eq!(records(&sandbox), Vec::<PathBuf>::new());
}

#[test]
fn a_server_leaves_the_hooks_of_one_that_lives_alone() {
    let sandbox =
        Sandbox::with_hook("echo $$ > pid.new; mv pid.new pid; until [ -e open ]; do sleep 0.02; done; exit 2");
    let (_first, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    let running = started(&sandbox);
    let (_second, mut other) = sandbox.on_stdio(&[]);
    other.say("ping", &json!({}));
    assert_eq!(other.next().unwrap()["type"], "pong");
    assert!(is_alive(running));
    std::fs::write(sandbox.project.join("open"), "").unwrap();
    assert_eq!(talk.next().unwrap()["payload"]["outcome"]["decision"], "deny");
    assert!(wait_until(|| records(&sandbox).len() == 2, HANG));
}

#[test]
fn a_record_of_a_number_that_another_process_has_now_ends_no_process() {
    let sandbox = Sandbox::with_hook("echo $$ > pid.new; mv pid.new pid; exec sleep 600");
    let stranger = stranger();
    let (mut server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    let left = started(&sandbox);
    let record = recorded(&sandbox, left);
    server.kill();
    // The record says the number of a process that was started at another time.
    let text = std::fs::read_to_string(&record).unwrap();
    let other = stranger.id().to_string();
    let (before, after) = text.split_once(&format!("\n{left} ")).unwrap();
    std::fs::write(&record, format!("{before}\n{other} {after}")).unwrap();
    let (_second, mut talk) = sandbox.on_stdio(&[]);
    talk.say("ping", &json!({}));
    assert_eq!(talk.next().unwrap()["type"], "pong");
    // The hook itself is still known by the variable in its environment.
    ends(left);
    assert!(is_alive(stranger.id()));
}

#[test]
fn a_server_without_a_place_for_records_serves_all_the_same() {
    let sandbox = Sandbox::with_hook("exit 2");
    std::fs::create_dir_all(sandbox.base.join("home/.local/state")).unwrap();
    std::fs::write(sandbox.base.join("home/.local/state/hookrail"), "a file").unwrap();
    let (_server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    assert_eq!(talk.next().unwrap()["payload"]["outcome"]["decision"], "deny");
}
