//! Every end of a question, with the real client.

use hookrail_testkit::{HANG, RunningProgram, Signal};
use serde_json::json;

use crate::ask::support::{Net, fire_until, remote, tool_call};

#[test]
fn the_decision_of_a_worker_is_that_of_the_hook() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({})));
    let _worker = net.worker("cat > seen.json; echo 'not from here' >&2; exit 2", &[]);
    let outcome = net.fire(&[]);
    assert_eq!((&outcome["decision"], &outcome["reason"]), (&json!("deny"), &json!("not from here")), "{outcome}");
    assert_eq!(outcome["runs"][0]["end"], "answered");
    let answer = outcome["runs"][0]["stdout"].as_str().unwrap();
    assert!(answer.contains("\"hook\":\"policy\""), "the outcome of the worker is kept: {answer}");
    let seen = net.guard.read("seen.json");
    assert!(seen.contains("write_file") && !seen.contains(net.desk.project.to_str().unwrap()), "{seen}");
}

#[test]
fn a_rewrite_of_a_worker_reaches_the_tool_call() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({})));
    let answer = r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#;
    let _worker = net.worker(answer, &[]);
    assert_eq!(net.fire(&[])["toolInput"], json!({"path": "b"}));
}

#[test]
fn without_a_worker_every_policy_applies_within_the_time_of_the_hook() {
    let Some(net) = Net::start() else { return };
    for (policy, decision) in [("block", json!("deny")), ("ask", json!("ask")), ("allow", json!(null))] {
        net.ask_with(&remote(&json!({"onFailure": policy})));
        let outcome = net.fire(&[]);
        assert_eq!(
            (&outcome["runs"][0]["end"], &outcome["decision"]),
            (&json!("no-responders"), &decision),
            "{outcome}"
        );
        assert!(outcome["runs"][0]["durationMs"].as_f64().unwrap() < 20_000.0, "{outcome}");
    }
}

#[test]
fn without_a_server_every_policy_applies() {
    let Some(mut net) = Net::start() else { return };
    net.servers[0].kill();
    for (policy, decision) in [("block", json!("deny")), ("ask", json!("ask")), ("allow", json!(null))] {
        net.ask_with(&remote(&json!({"onFailure": policy, "timeout": 2_000})));
        let outcome = net.fire(&[]);
        assert_eq!(
            (&outcome["runs"][0]["end"], &outcome["decision"]),
            (&json!("not-connected"), &decision),
            "{outcome}"
        );
    }
}

#[test]
fn a_worker_that_does_not_answer_in_time_has_failed() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"timeout": 1_500})));
    let _worker = net.worker("sleep 600", &[]);
    let outcome = net.fire(&[]);
    assert_eq!((&outcome["runs"][0]["end"], &outcome["decision"]), (&json!("timed-out"), &json!("deny")), "{outcome}");
}

#[test]
fn a_worker_at_its_limit_refuses_at_once_and_takes_questions_again_afterwards() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"retries": 0})));
    // The command waits at a pipe, so that the test says when it ends.
    let pipe = net.guard.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _worker =
        net.worker("echo started > started; read line < ../pipe; echo \"$line\" >&2; exit 2", &["--limit", "1"]);
    let system = net.system();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| system.fire_blocking(tool_call(&system, 1)));
        assert!(hookrail_testkit::wait_until(|| net.guard.exists("started"), HANG), "the first question runs");
        let second = system.fire_blocking(tool_call(&system, 2));
        assert_eq!((second.runs[0].end.name(), second.is_denied()), ("overloaded", true), "{second:?}");
        std::fs::write(&pipe, "first\n").unwrap();
        assert_eq!(first.join().unwrap().effects.reason.as_deref(), Some("first"));
        let third = scope.spawn(|| system.fire_blocking(tool_call(&system, 3)));
        std::fs::write(&pipe, "third\n").unwrap();
        assert_eq!(third.join().unwrap().effects.reason.as_deref(), Some("third"));
    });
}

#[test]
fn an_event_that_no_server_carries_is_refused_and_not_lost() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({})));
    let _worker = net.worker("exit 0", &[]);
    let system = net.system();
    let long = hookrail::Json::parse(&json!({"path": "x".repeat(9_000_000)}).to_string()).unwrap();
    let outcome = system.fire_blocking(tool_call(&system, 1).with("tool_input", long));
    assert_eq!((outcome.runs[0].end.name(), outcome.is_denied()), ("refused", true), "{:?}", outcome.diagnostics);
    assert!(!fire_until(&system, 1, || true)[0].is_denied(), "the connection is still good");
}

#[test]
fn a_worker_asks_no_other_worker() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({})));
    let asking = std::fs::read_to_string(net.desk.path("home/.llxprt/settings.json")).unwrap();
    net.guard.write_home(".llxprt/settings.json", asking);
    let _worker = net.worker_as_configured(&[]);
    let outcome = net.fire(&[]);
    assert_eq!(outcome["decision"], "deny", "{outcome}");
    assert!(outcome["reason"].as_str().unwrap().contains("asks no others"), "{outcome}");
}

#[test]
fn a_worker_that_cannot_guard_does_not_join_its_group() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"retries": 0})));
    let hook = json!({"type": "command", "command": "exit 0"});
    let with = |enabled: bool| {
        json!({"hooksConfig": {"enabled": enabled}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string()
    };
    for (text, why) in [
        ("{\"hooks\": ".to_owned(), "cannot be used"),
        (String::new(), "cannot be used"),
        ("{}".to_owned(), "no hook is configured"),
        (with(false), "no hook is configured"),
    ] {
        net.guard.write_home(".llxprt/settings.json", &text);
        let mut command = net.worker_command(&net.addresses, &[]);
        let mut worker = RunningProgram::start(command.stderr(std::process::Stdio::piped()));
        assert_eq!(worker.exit_status(), Some(1), "{text}");
        let said = std::io::read_to_string(worker.stderr.take().unwrap()).unwrap();
        assert!(said.contains("does not join group `guards`") && said.contains(why), "{text}: {said}");
        assert!(!said.contains("answering group"), "{said}");
        let outcome = net.fire(&[]);
        assert_eq!((&outcome["runs"][0]["end"], &outcome["decision"]), (&json!("no-responders"), &json!("deny")));
    }
    net.guard.write_home(".llxprt/settings.json", with(true));
    let _worker = net.worker_as_configured(&[]);
    assert_eq!(net.fire(&[])["decision"], json!(null), "the hook of the worker has no objection");
}

#[test]
fn a_worker_that_loses_its_hooks_answers_with_a_failure() {
    let Some(net) = Net::start() else { return };
    net.ask_with(&remote(&json!({"retries": 0})));
    let worker = net.worker("exit 0", &[]);
    assert_eq!(net.fire(&[])["decision"], json!(null));
    net.guard.write_home(".llxprt/settings.json", "{}");
    worker.signal(Signal::HUP);
    let mut outcome = json!(null);
    let is_refused = || {
        outcome = net.fire(&[]);
        outcome["decision"] == "deny"
    };
    assert!(hookrail_testkit::wait_until(is_refused, HANG), "{outcome}");
    assert_eq!(outcome["runs"][0]["end"], "refused", "{outcome}");
    assert!(outcome["reason"].as_str().unwrap().contains("no hook is configured"), "{outcome}");
}
