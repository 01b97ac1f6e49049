//! What `serve` and `agent` export, that nothing else does, and how they end without a collector.

use std::time::{Duration, Instant};

use hookrail_testkit::{OtlpReceiver, PARENT, ProgramOutput, SilentCollector, TRACE, has_program};
use serde_json::{Value, json};

use crate::telemetry::support::Sandbox;

fn named<'v>(values: &'v [Value], name: &str) -> &'v Value {
    values.iter().find(|value| value["name"] == name).unwrap_or_else(|| panic!("no {name} in {values:?}"))
}

#[test]
fn a_server_exports_its_events_under_the_trace_of_its_client() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let sandbox = Sandbox::exporting_to(&collector.endpoint);
    let served = sandbox.serve(&[]);
    assert_eq!(served.stderr, "");
    let spans = collector.wait_for("spans", 2);
    let (fire, guard) = (named(&spans, "hookrail.fire before-tool"), named(&spans, "hookrail.hook guard"));
    assert_eq!((&fire["trace"], &fire["parent"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!((&guard["trace"], &guard["parent"]), (&json!(TRACE), &fire["span"]));
    let about = &guard["attributes"];
    assert_eq!((&about["hookrail.hook.layer"], &about["hookrail.hook.end"]), (&json!("user"), &json!("exited")));
    assert_eq!(guard["error"], Value::Null, "a hook that exits with 2 to deny is well");
    assert_eq!(collector.wait_for("logs", 1)[0]["attributes"]["hookrail.decision"], "deny");
    assert_eq!(collector.wait_for("metrics", 3).len(), 3);
    let requests = collector.requests();
    assert_eq!(requests[0]["resource"]["service.name"], "hookrail");
    assert!(requests[0]["resource"]["host.name"].is_string());
    assert!(!json!(requests).to_string().contains("secret"), "inputs and reasons are off");
    // The journal of the server has the same event under the number that was exported.
    let log = ProgramOutput::capture(&mut sandbox.command(&["log", "--json"])).ends_with(0);
    assert_eq!(log.json()["seq"], fire["attributes"]["hookrail.journal.seq"], "{log:?}");
}

#[test]
fn a_server_without_a_journal_exports_too() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let sandbox = Sandbox::new();
    let endpoint = &collector.endpoint;
    sandbox.user_config(&format!(
        "[journal]\nrecord = \"never\"\n\n[telemetry]\nendpoint = \"{endpoint}\"\ninputs = true\n"
    ));
    sandbox.serve(&[]);
    let spans = collector.wait_for("spans", 2);
    let about = &named(&spans, "hookrail.fire before-tool")["attributes"];
    assert_eq!(
        (&about["hookrail.journal.seq"], &about["hookrail.reason"]),
        (&Value::Null, &json!("the reason is a secret"))
    );
    assert!(about["hookrail.input"].as_str().unwrap().contains("the input is a secret"));
    assert_eq!(about["hookrail.project"].as_str(), sandbox.project.to_str());
}

#[test]
fn a_collector_over_tls_has_to_be_vouched_for() {
    let sandbox = Sandbox::new();
    if !has_program("openssl") {
        return;
    }
    let made = ProgramOutput::capture(
        sandbox
            .place_command("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
            .args(["-keyout", "tls.key", "-out", "tls.crt", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]),
    );
    let _ = made.ends_with(0);
    let certificate = sandbox.project.join("tls.crt");
    let Some(collector) = OtlpReceiver::start_tls(&certificate, &sandbox.project.join("tls.key")) else { return };
    sandbox.user_config(&format!("[telemetry]\nendpoint = \"{}\"\n", collector.endpoint));
    let refused = sandbox.serve(&[]).stderr;
    assert!(refused.contains("warning: telemetry: the collector cannot be reached: "), "{refused}");
    let mut command = sandbox.command(&["serve", "--stdio"]);
    assert_eq!(sandbox.serve_with(command.env("SSL_CERT_FILE", certificate)).stderr, "");
    assert_eq!(collector.wait_for("spans", 2).len(), 2);
}

#[test]
fn the_reference_agent_exports() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let sandbox = Sandbox::exporting_to(&collector.endpoint);
    let call = json!({"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]});
    sandbox.write("talk.jsonl", format!("{call}\n{}\n", json!({"text": "done"})));
    let ran = ProgramOutput::capture(&mut sandbox.command(&["agent", "--script", "talk.jsonl", "--prompt", "write"]));
    let ran = ran.ends_with(0);
    assert!(!sandbox.exists("a.txt"), "{ran:?}");
    let spans = collector.wait_for("spans", 2);
    let fire = named(&spans, "hookrail.fire before-tool");
    assert_eq!(fire["attributes"]["gen_ai.tool.name"], "write_file");
    assert_eq!((&fire["parent"], fire["trace"].as_str().unwrap().len()), (&json!(""), 32));
}

#[test]
fn commands_that_end_at_once_never_connect() {
    let collector = SilentCollector::new();
    let sandbox = Sandbox::exporting_to(&collector.endpoint);
    let fire = ["fire", "BeforeTool", "--tool", "write_file"];
    ProgramOutput::capture(&mut sandbox.command(&fire)).ends_with(2);
    ProgramOutput::capture(&mut sandbox.command(&[&fire[..], &["--journal"]].concat())).ends_with(2);
    let payload = json!({"session_id": "s1", "cwd": sandbox.project, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": sandbox.project.join("a.txt"), "content": "x"}});
    let mut bridge = sandbox.command(&["bridge", "claude", "--event", "PreToolUse"]);
    bridge.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    let bridged = ProgramOutput::with_input(&mut bridge, &payload.to_string());
    assert!(bridged.stdout.contains("the reason is a secret"), "{bridged:?}");
    for command in [&["list"][..], &["check"], &["explain", "BeforeTool"], &["log"]] {
        let _ = ProgramOutput::capture(&mut sandbox.command(command));
    }
    assert!(!collector.was_reached());
    // The collector would have noticed: a server does connect.
    sandbox.user_config(&format!("[telemetry]\nendpoint = \"{}\"\nshutdown-ms = 100\n", collector.endpoint));
    sandbox.serve(&[]);
    assert!(collector.was_reached());
}

#[test]
fn a_collector_that_is_away_or_silent_delays_the_end_no_longer_than_the_limit() {
    let silent = SilentCollector::new();
    let away = SilentCollector::absent();
    for (endpoint, shown) in [
        (&silent.endpoint, "warning: telemetry: the collector did not answer in time; 3 records dropped\n"),
        (&away, "warning: telemetry: the collector cannot be reached: "),
    ] {
        let sandbox = Sandbox::new();
        sandbox.user_config(&format!("[telemetry]\nendpoint = \"{endpoint}\"\nshutdown-ms = 200\n"));
        let began = Instant::now();
        let served = sandbox.serve(&[]);
        assert!(served.stderr.contains(shown), "{}", served.stderr);
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
