//! `fire`: exit statuses, the document, and the report.

use serde_json::json;

use crate::cli::sandbox::Sandbox;

const WRITE: [&str; 6] =
    ["fire", "BeforeTool", "--trust-project", "--tool", "write_file", "--tool-input={\"path\":\"a\"}"];

#[track_caller]
fn status(event: &str, answer: &str, code: i32) {
    let sandbox = Sandbox::with_hook(event, answer);
    sandbox.run(&["fire", event, "--trust-project"]).ends_with(code);
}

#[test]
fn going_on_is_0() {
    status("BeforeTool", "true", 0);
    status("BeforeTool", r#"echo '{"decision":"allow"}'"#, 0);
    Sandbox::new().run(&["fire", "before-tool"]).ends_with(0);
}

#[test]
fn blocked_is_2_and_only_where_the_event_is_gating() {
    status("BeforeTool", "exit 2", 2);
    status("BeforeTool", r#"echo '{"decision":"deny","reason":"no"}'"#, 2);
    status("BeforeAgent", "exit 2", 2);
    status("AfterTool", "exit 2", 0);
    status("Notification", "exit 2", 0);
}

#[test]
fn stop_is_3_also_when_blocked() {
    status("BeforeTool", r#"echo '{"continue":false,"stopReason":"enough"}'"#, 3);
    status("BeforeTool", r#"echo '{"continue":false,"decision":"deny","reason":"no"}'"#, 3);
    status("AfterModel", r#"echo '{"continue":false}'"#, 3);
}

#[test]
fn ask_is_4() {
    status("BeforeTool", r#"echo '{"decision":"ask","reason":"sure?"}'"#, 4);
}

#[test]
fn a_failed_hook_lets_the_operation_go_on() {
    status("BeforeTool", "exit 7", 0);
}

#[test]
fn the_document_has_every_field() {
    let sandbox = Sandbox::with_hook("BeforeTool", r#"echo note >&2; echo '{"decision":"deny","reason":"no"}'"#);
    let mut args = WRITE.to_vec();
    args.push("--json");
    let ran = sandbox.run(&args).ends_with(2);
    assert_eq!(ran.stderr, "");
    let document = ran.json();
    let fields = [
        "event",
        "decision",
        "reason",
        "stop",
        "stopReason",
        "systemMessage",
        "suppressOutput",
        "additionalContext",
        "toolInput",
        "toolOutput",
        "prompt",
        "messages",
        "entries",
        "llmRequest",
        "llmResponse",
        "toolConfig",
        "result",
        "aggregated",
        "runs",
        "skipped",
        "diagnostics",
        "configuration",
    ];
    for field in fields {
        assert!(document.get(field).is_some(), "{field}");
    }
    assert_eq!(document["event"], "before-tool");
    assert_eq!((&document["decision"], &document["reason"]), (&json!("deny"), &json!("no")));
    assert_eq!(document["aggregated"]["success"], true);
    let run = &document["runs"][0];
    assert_eq!((&run["hook"], &run["dialect"], &run["end"]), (&json!("sample"), &json!("llxprt"), &json!("answered")));
    assert_eq!((&run["exitCode"], &run["signal"], &run["decision"]), (&json!(0), &json!(null), &json!("deny")));
    assert_eq!(run["source"]["kind"], "project");
    assert_eq!(run["source"]["file"], sandbox.project.join(".llxprt/settings.json").to_str().unwrap());
    assert_eq!(run["source"]["line"], 4);
    assert!(run["durationMs"].is_number() && run["startedMs"].is_number());
    assert_eq!(run["id"].as_str().map(str::len), Some(16));
    assert_eq!(run["fingerprint"].as_str().map(str::len), Some(64));
    assert_eq!(document["configuration"]["revision"], 1);
    assert_eq!(document["configuration"]["digest"].as_str().map(str::len), Some(64));
    assert_eq!(
        (&run["stdout"], &run["stderr"]),
        (&json!("{\"decision\":\"deny\",\"reason\":\"no\"}\n"), &json!("note\n"))
    );
}

#[test]
fn exit_2_of_a_hook_is_exited_with_a_deny() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let run = &sandbox.run(&["fire", "BeforeTool", "--trust-project", "--json"]).ends_with(2).json()["runs"][0];
    assert_eq!((&run["end"], &run["exitCode"], &run["decision"]), (&json!("exited"), &json!(2), &json!("deny")));
}

#[test]
fn load_diagnostics_come_before_those_of_the_run() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "exit 9"}]}]"#,
    );
    let document = sandbox.run(&["fire", "BeforeTool", "--trust-project", "--json"]).ends_with(0).json();
    let codes: Vec<&str> =
        document["diagnostics"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unknown-event", "hook-exited"]);
    assert_eq!(document["diagnostics"][0]["line"], 4);
}

#[test]
fn the_payload_comes_from_the_option_from_stdin_and_from_a_file() {
    let sandbox = Sandbox::with_hook("BeforeAgent", "cat");
    let prompt = |ran: crate::cli::sandbox::ProgramOutput| {
        let document = ran.ends_with(0).json();
        let stdin: serde_json::Value = serde_json::from_str(document["runs"][0]["stdout"].as_str().unwrap()).unwrap();
        stdin
    };
    let base = ["fire", "prompt", "--trust-project", "--json"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let given = r#"{"prompt":"hi"}"#;
    assert_eq!(prompt(sandbox.run(&with(&["--payload", given])))["prompt"], "hi");
    assert_eq!(prompt(sandbox.run_with_input(&with(&["--payload", "-"]), given))["prompt"], "hi");
    sandbox.write("event.json", given);
    assert_eq!(prompt(sandbox.run(&with(&["--payload", "@event.json"])))["prompt"], "hi");
    let stdin = prompt(sandbox.run(&with(&[
        "--payload",
        given,
        "--prompt",
        "bye",
        "--session-id",
        "s1",
        "--transcript",
        "/t",
    ])));
    assert_eq!(stdin["prompt"], "bye");
    assert_eq!((&stdin["session_id"], &stdin["transcript_path"]), (&json!("s1"), &json!("/t")));
}

#[test]
fn the_short_cuts_reach_the_hook_byte_for_byte() {
    let sandbox = Sandbox::with_hook("AfterTool", "cat");
    let ran = sandbox.run(&[
        "fire",
        "AfterTool",
        "--trust-project",
        "--json",
        "--tool",
        "t",
        "--tool-input",
        r#"{"n": 1.0}"#,
        "--tool-response",
        r#"{"llmContent": 12345678901234567890}"#,
    ]);
    let document = ran.ends_with(0).json();
    let stdin = document["runs"][0]["stdout"].as_str().unwrap();
    assert!(stdin.contains(r#""tool_input":{"n":1.0}"#), "{stdin}");
    assert!(stdin.contains(r#""tool_response":{"llmContent":12345678901234567890}"#), "{stdin}");
}

#[test]
fn untrusted_hooks_are_skipped_visibly() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let document = sandbox.run(&["fire", "BeforeTool", "--json"]).ends_with(0).json();
    assert_eq!(document["runs"], json!([]));
    assert_eq!(
        (&document["skipped"][0]["hook"], &document["skipped"][0]["why"]),
        (&json!("sample"), &json!("untrusted"))
    );
}

#[test]
fn no_hooks_and_other_dialects_run_nothing() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let base = ["fire", "BeforeTool", "--trust-project", "--json"];
    let document = sandbox.run(&[&base[..], &["--no-hooks"]].concat()).ends_with(0).json();
    assert_eq!(document["skipped"][0]["why"], "hooks-off");
    let document = sandbox.run(&[&base[..], &["--dialect", "xcode", "--dialect", "xcsh"]].concat()).ends_with(0).json();
    assert_eq!(document["runs"], json!([]));
    sandbox.run(&[&base[..], &["--dialect", "llxprt"]].concat()).ends_with(2);
}

#[test]
fn every_name_of_an_event_fires_it() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    for name in ["BeforeTool", "PreToolUse", "tool_call", "before-tool"] {
        sandbox.run(&["fire", name, "--trust-project"]).ends_with(2);
    }
}

#[test]
fn the_report_for_people() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [
  {"matcher": "write_file", "hooks": [
    {"type": "command", "name": "guard", "command": "echo '{\"decision\": \"deny\", \"reason\": \"no secrets\"}'"},
    {"type": "command", "name": "broken", "command": "echo 'cannot open x' >&2; exit 7"},
    {"type": "command", "command": "echo '{\"decision\": \"allow\"}'"}
  ]},
  {"matcher": "replace", "hooks": [{"type": "command", "name": "lint", "command": "true"}]}
]"#,
    );
    let ran = sandbox.run(&WRITE).ends_with(2);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(sandbox.steady(&ran.stdout), @r#"
    blocked  before-tool write_file
      reason  no secrets

    ran
      guard                         answered  deny  [TIME]  .llxprt/settings.json:6
      broken                        exited 7  no decision  [TIME]  .llxprt/settings.json:7
      echo '{"decision": "allow"}'  answered  allow  [TIME]  .llxprt/settings.json:8

    did not run
      lint  matcher  `replace` does not match tool_name `write_file`  .llxprt/settings.json:10

    warning[hook-exited]: hook `broken` exited with status 7: cannot open x
     --> .llxprt/settings.json:7:5
      |
    7 |     {"type": "command", "name": "broken", "command": "echo 'cannot open x' >&2; exit 7"},
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: exit with 2 to block; any other status is a failure, and `onFailure` decides what that does
    "#);
}

#[test]
fn the_report_names_every_change() {
    let answer =
        r#"echo '{"systemMessage":"seen","suppressOutput":true,"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#;
    let sandbox = Sandbox::with_hook("BeforeTool", answer);
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&WRITE).ends_with(0).stdout), @r#"
    allowed  before-tool write_file
      message      seen
      tool input   {"path":"b"}
      hide output  yes

    ran
      sample  answered  no decision  [TIME]  .llxprt/settings.json:4
    "#);
}

#[test]
fn the_report_when_nothing_is_trusted() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["fire", "BeforeTool"]).ends_with(0).stdout), @r"
    allowed  before-tool
      no hook ran

    did not run
      sample  untrusted  the project has not been trusted to run this hook  .llxprt/settings.json:4

    hint: 1 hook is not trusted; run `hookrail trust grant` to look at it and trust it
    ");
}
