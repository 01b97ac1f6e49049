//! The server's own behaviour as a process.

use std::io::{BufRead as _, BufReader, Read as _};

use hookrail_testkit::{RunningProgram, Signal, Talk};
use serde_json::json;

use crate::serve::support::{Sandbox, ends, started};
use crate::serve::watching::get;

const SLEEPS: &str = "echo $$ > pid.new; mv pid.new pid; exec sleep 600";

#[test]
fn standard_input_and_output_carry_one_message_per_line() {
    let sandbox = Sandbox::with_hook("echo no >&2; exit 2");
    let (server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    let answer = talk.next().unwrap();
    assert_eq!(answer["type"], "HOOK_EXECUTION_RESPONSE");
    assert_eq!(answer["payload"]["correlationId"], "c");
    assert_eq!(answer["payload"]["success"], true);
    assert_eq!(answer["payload"]["outcome"]["decision"], "deny");
    talk.line("nonsense");
    assert_eq!(talk.next_error(), "invalid_request");
    // The end of input is the end of the server, after everything is answered.
    talk.ask_for("last", "x");
    talk.finish();
    assert_eq!(talk.next().unwrap()["payload"]["correlationId"], "last");
    assert_eq!(talk.next(), None);
    server.ends_with(0);
}

/// Sends requests until one is refused, which is how a client sees that a signal has arrived.
fn refused(talk: &mut Talk) {
    for at in 0.. {
        // A cancelled request is over, so that only the first one runs on.
        talk.ask_for(&format!("r{at}"), "x");
        talk.say("cancel", &json!({"correlationId": format!("r{at}")}));
        match talk.next_error().as_str() {
            "shutting_down" => return,
            code => assert_eq!(code, "cancelled"),
        }
    }
}

#[test]
fn a_signal_finishes_what_runs_and_refuses_what_is_new() {
    let finishes = |sandbox: &Sandbox, server: RunningProgram, mut talk: Talk, signal: Signal| {
        talk.ask_for("first", "x");
        talk.say("ping", &json!({}));
        assert_eq!(talk.next().unwrap()["type"], "pong", "the request was read");
        server.signal(signal);
        refused(&mut talk);
        std::fs::write(sandbox.project.join("open"), "").unwrap();
        while let Some(message) = talk.next() {
            if message["payload"]["correlationId"] == "first" {
                assert_eq!(message["payload"]["outcome"]["systemMessage"], "done", "{message}");
                server.ends_with(0);
                return;
            }
        }
        panic!("the first request was not answered");
    };
    let waiting = "until [ -e open ]; do sleep 0.02; done; echo done";
    for signal in [Signal::TERM, Signal::INT] {
        let sandbox = Sandbox::with_hook(waiting);
        let (server, talk) = sandbox.on_stdio(&[]);
        finishes(&sandbox, server, talk, signal);
    }
    let sandbox = Sandbox::with_hook(waiting);
    let (server, path, talk) = sandbox.on_socket(&[]);
    finishes(&sandbox, server, talk, Signal::TERM);
    assert!(!path.exists(), "the socket is removed");
}

#[test]
fn a_second_signal_ends_what_runs() {
    let sandbox = Sandbox::with_hook(SLEEPS);
    let (server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("first", "x");
    let hook = started(&sandbox);
    server.signal(Signal::TERM);
    refused(&mut talk);
    server.signal(Signal::TERM);
    while let Some(message) = talk.next() {
        if message["payload"]["correlationId"] == "first" {
            assert_eq!(message["payload"]["error"]["code"], "cancelled", "{message}");
        }
    }
    server.ends_with(143);
    ends(hook);
}

#[test]
fn a_client_that_vanishes_takes_its_hooks_along() {
    let sandbox = Sandbox::with_hook(SLEEPS);
    let (server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    let hook = started(&sandbox);
    drop(talk);
    server.ends_with(0);
    ends(hook);

    let sandbox = Sandbox::with_hook(SLEEPS);
    let (_server, _path, mut talk) = sandbox.on_socket(&[]);
    talk.ask_for("c", "x");
    let hook = started(&sandbox);
    drop(talk);
    ends(hook);
}

#[test]
fn metrics_are_offered_where_asked_for() {
    let sandbox = Sandbox::with_hook("true");
    let (mut server, mut talk) = sandbox.on_stdio(&["--metrics", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("metrics at http://").unwrap().strip_suffix("/metrics").unwrap().to_owned();
    talk.ask_for("c", "x");
    talk.next().unwrap();
    let text = get(&address, "/metrics");
    assert!(text.contains("hookrail_bus_requests_total{event=\"before-tool\"} 1"), "{text}");
}

#[test]
fn the_users_configuration_is_in_force_unless_an_option_says_otherwise() {
    let sandbox = Sandbox::with_hook("true");
    let folder = sandbox.base.join("home/.config/hookrail");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[bus]\nin-flight = 7\nline-kib = 1\nrequest = 3\n").unwrap();
    // A project's file cannot set this.
    std::fs::create_dir(sandbox.project.join(".hookrail")).unwrap();
    std::fs::write(sandbox.project.join(".hookrail/config.toml"), "[bus]\nin-flight = 1\n").unwrap();
    for (options, in_flight) in [(&[][..], 7), (&["--in-flight", "9"][..], 9)] {
        let (mut server, stdio) = sandbox.on_stdio(options);
        let (_other, _, socket) = sandbox.on_socket(options);
        for mut talk in [socket, stdio] {
            talk.say("hello", &json!({"protocol": 1}));
            let welcome = talk.next().unwrap();
            assert_eq!(welcome["payload"]["lineLimit"], 1024, "{welcome}");
            assert_eq!(welcome["payload"]["inFlightLimit"], in_flight, "{welcome}");
            talk.line(&"x".repeat(1025));
            assert_eq!(talk.next_error(), "line_too_long");
        }
        let mut told = String::new();
        server.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(told.contains("did you mean `requests`?") && told.contains("config-user-only"), "{told}");
    }
}

#[test]
fn a_place_that_is_taken_is_an_error() {
    let sandbox = Sandbox::with_hook("true");
    let (_server, path, _talk) = sandbox.on_socket(&[]);
    let path = path.to_str().unwrap();
    let second = sandbox.command(Sandbox::program()).args(["serve", "--socket", path]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let text = String::from_utf8(second.stderr).unwrap();
    assert!(text.contains("another server already listens") && text.contains("hint: "), "{text}");
}

#[test]
fn trust_is_the_servers_own_project_and_no_others() {
    let (own, other) = (Sandbox::with_hook("echo own"), Sandbox::with_hook("echo other"));
    let (_server, mut talk) = own.on_stdio(&[]);
    let input = json!({"tool_name": "x", "tool_input": {}});
    let project = other.project.to_str().unwrap();
    talk.say("HOOK_EXECUTION_REQUEST", &json!({"eventName": "BeforeTool", "input": input, "project": project}));
    let answer = talk.next().unwrap();
    assert_eq!(answer["payload"]["outcome"]["skipped"][0]["why"], "untrusted", "{answer}");
    talk.ask_for("c", "x");
    assert_eq!(talk.next().unwrap()["payload"]["outcome"]["systemMessage"], "own");
}

#[test]
fn a_grant_is_in_force_without_a_restart() {
    let sandbox = Sandbox::with_hook("echo granted");
    let (_server, mut talk) = sandbox.on_stdio_as_granted(&[]);
    talk.ask_for("before", "x");
    assert_eq!(talk.next().unwrap()["payload"]["outcome"]["skipped"][0]["why"], "untrusted");
    let granted = sandbox.command(Sandbox::program()).args(["trust", "grant", "--yes"]).output().unwrap();
    assert!(granted.status.success(), "{}", String::from_utf8_lossy(&granted.stderr));
    let in_force = || {
        talk.ask_for("after", "x");
        talk.next().unwrap()["payload"]["outcome"]["systemMessage"] == "granted"
    };
    assert!(hookrail_testkit::wait_until(in_force, hookrail_testkit::HANG), "the grant is not in force");
}
