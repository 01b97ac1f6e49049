//! A running server notices the switch.

use std::process::Stdio;

use hookrail_testkit::{HANG, RunningProgram, Talk, wait_until};

use crate::fleet::support::{Fleet, denying};

/// Fires until the response contains a text.
#[track_caller]
fn wait_for(talk: &mut Talk, text: &str) {
    let mut last = String::new();
    let found = || {
        talk.ask_for("c", "write_file");
        last = talk.next_of("HOOK_EXECUTION_RESPONSE").to_string();
        last.contains(text)
    };
    assert!(wait_until(found, HANG), "never `{text}`: {last}");
}

#[test]
fn a_running_server_takes_each_new_bundle() {
    let fleet = Fleet::new();
    let mut command = fleet.command(&["serve", "--stdio"]);
    let mut server = RunningProgram::start(command.stdin(Stdio::piped()).stderr(Stdio::null()));
    let mut talk = Talk::with(&mut server);
    wait_for(&mut talk, "no bundle is installed");
    for number in 1..=4 {
        fleet.publish(&denying(&format!("policy number {number}")), &[]);
        assert_eq!(fleet.apply(), "switched");
        wait_for(&mut talk, &format!("policy number {number}"));
    }
}
