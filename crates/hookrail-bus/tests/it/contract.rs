//! The contract of the message bus, rule by rule: `llxprt:R124` to `llxprt:R129`.

#![cfg(unix)]

use crate::support::{Raw, Sandbox, code, environment, tool};
use hookrail::{HookSystem, Json};
use hookrail_bus::{Bus, BusOptions, NotGuarded, Request};
use serde_json::{Value, json};

/// A hook that repeats what it got in `systemMessage`.
const ECHO: &str = r#"input=$(cat | sed 's/"/\\"/g'); printf '{"systemMessage":"%s"}' "$input""#;

/// What the hook of [`ECHO`] got.
fn heard(response: &Value) -> Value {
    assert_eq!(response["success"], true, "{response}");
    let text = response["outcome"]["systemMessage"].as_str().unwrap_or_else(|| panic!("{response}"));
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn r124_one_response_for_every_request_under_its_name() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let mut client = Raw::new(&sandbox.bus());
    client.request(json!({"correlationId": "c-1", "eventName": "BeforeTool", "input": tool("x")})).await;
    let message = client.next().await.unwrap();
    assert_eq!(message["type"], "HOOK_EXECUTION_RESPONSE");
    let payload = &message["payload"];
    assert_eq!(payload["correlationId"], "c-1");
    assert_eq!(payload["success"], true);
    assert!(payload.get("error").is_none());
    // the combined result of `llxprt:R82`.
    let output = payload["output"].as_object().unwrap();
    assert_eq!(output["success"], true);
    assert_eq!(output["errors"], json!([]));
    assert!(output["allOutputs"].is_array() && output["totalDuration"].is_number());
    // Nothing more comes.
    client.finish().await;
    assert_eq!(client.next().await, None);
}

#[tokio::test]
async fn r125_c46_a_missing_name_is_made_up() {
    let sandbox = Sandbox::new();
    let mut client = Raw::new(&sandbox.bus());
    let mut names = Vec::new();
    for payload in [
        json!({"eventName": "BeforeTool", "input": tool("x")}),
        json!({"correlationId": "", "eventName": "BeforeTool", "input": tool("x")}),
        json!({"correlationId": null, "eventName": "Nonsense", "input": {}}),
        json!({}),
    ] {
        let response = client.ask(payload).await;
        let name = response["correlationId"].as_str().unwrap().to_owned();
        assert_eq!(name.len(), 36, "{name}");
        assert!(!names.contains(&name));
        names.push(name);
    }
}

#[tokio::test]
async fn r125_c47_every_error_has_its_code() {
    let sandbox = Sandbox::new();
    let mut client = Raw::new(&sandbox.bus());
    client.send(r#"{"type":"HOOK_EXECUTION_REQUEST"}"#).await;
    assert_eq!(code(&client.response().await), "invalid_request");
    for payload in [
        json!({"correlationId": "n"}),
        json!({"correlationId": "n", "eventName": "BeforeTool"}),
        json!({"correlationId": "n", "input": {}}),
        json!({"correlationId": "n", "eventName": "BeforeTool", "input": []}),
    ] {
        let response = client.ask(payload).await;
        assert_eq!(code(&response), "invalid_request");
        assert_eq!(response["correlationId"], "n");
        assert!(!response["error"]["message"].as_str().unwrap().is_empty());
    }
    let response = client.ask(json!({"correlationId": "e", "eventName": "BeforTool", "input": {}})).await;
    assert_eq!(code(&response), "unsupported_event");
    assert_eq!(response["error"]["message"], "`BeforTool` is not an event of any dialect; did you mean `BeforeTool`?");
}

#[tokio::test]
async fn r126_payloads_are_checked_before_anything_runs_and_the_field_is_named() {
    let sandbox = Sandbox::with_hook("BeforeTool", "touch ran");
    let mut client = Raw::new(&sandbox.bus());
    for (event, input, field) in [
        ("BeforeTool", json!({"tool_input": {}}), "tool_name"),
        ("BeforeTool", json!({"tool_name": "", "tool_input": {}}), "tool_name"),
        ("BeforeTool", json!({"tool_name": 1, "tool_input": {}}), "tool_name"),
        ("BeforeTool", json!({"tool_name": "x"}), "tool_input"),
        ("BeforeTool", json!({"tool_name": "x", "tool_input": []}), "tool_input"),
        ("BeforeTool", json!({"tool_name": "x", "tool_input": {}, "mcp_context": {}}), "server_name"),
        ("BeforeTool", json!({"tool_name": "x", "tool_input": {}, "mcp_context": {"server_name": ""}}), "server_name"),
        ("BeforeTool", json!({"tool_name": "x", "tool_input": {}, "mcp_context": []}), "mcp_context"),
        ("PreToolUse", json!({"tool_input": {}}), "tool_name"),
        ("tool_call", json!({"tool_name": "x", "tool_call_id": "1"}), "tool_input"),
        ("AfterTool", json!({"tool_name": "x", "tool_input": {}}), "tool_response"),
        ("AfterTool", json!({"tool_name": "x", "tool_input": {}, "tool_response": "text"}), "tool_response"),
        ("BeforeAgent", json!({}), "prompt"),
        ("BeforeAgent", json!({"prompt": 1}), "prompt"),
        ("AfterAgent", json!({"prompt": "p", "prompt_response": "r"}), "stop_hook_active"),
        ("AfterAgent", json!({"prompt": "p", "prompt_response": "r", "stop_hook_active": "no"}), "stop_hook_active"),
        ("BeforeModel", json!({}), "llm_request"),
        ("BeforeModel", json!({"llm_request": []}), "llm_request"),
        ("AfterModel", json!({"llm_request": {}}), "llm_response"),
        ("BeforeToolSelection", json!({"llm_request": 1}), "llm_request"),
        ("Notification", json!({"message": "m", "details": {}}), "notification_type"),
        ("Notification", json!({"notification_type": "t", "message": "", "details": {}}), "message"),
        ("Notification", json!({"notification_type": "t", "message": "m", "details": []}), "details"),
        ("SessionStart", json!({"source": 1}), "source"),
        ("SessionStart", json!({"source": "startup", "session_id": 1}), "session_id"),
    ] {
        let response = client.ask(json!({"eventName": event, "input": input})).await;
        assert_eq!(code(&response), "invalid_request", "{event} {input}");
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{field}`")), "{event} {input}: {message}");
    }
    assert!(!sandbox.project.join("ran").exists());
    // Unknown keys are ignored.
    let input = json!({"tool_name": "x", "tool_input": {}, "extra": [1]});
    assert_eq!(client.ask(json!({"eventName": "BeforeTool", "input": input})).await["success"], true);
    assert!(sandbox.project.join("ran").exists());
}

#[tokio::test]
async fn r127_all_eleven_events_and_every_other_dialects_words_are_taken() {
    let sandbox = Sandbox::new();
    let llxprt = [
        ("SessionStart", json!({"source": "startup"})),
        ("SessionEnd", json!({"reason": "exit"})),
        ("BeforeAgent", json!({"prompt": "p"})),
        ("AfterAgent", json!({"prompt": "p", "prompt_response": "r", "stop_hook_active": false})),
        ("BeforeModel", json!({"llm_request": {}})),
        ("AfterModel", json!({"llm_request": {}, "llm_response": {}})),
        ("BeforeToolSelection", json!({"llm_request": {}})),
        ("BeforeTool", tool("x")),
        ("AfterTool", json!({"tool_name": "x", "tool_input": {}, "tool_response": {"llmContent": ""}})),
        ("PreCompress", json!({"trigger": "auto"})),
        ("Notification", json!({"notification_type": "ToolPermission", "message": "m", "details": {}})),
    ];
    for (event, _) in &llxprt {
        sandbox.hooks(json!({*event: [{"hooks": [{"type": "command", "command": "true"}]}]}));
    }
    let hooks: serde_json::Map<String, Value> = llxprt
        .iter()
        .map(|(event, _)| ((*event).to_owned(), json!([{"hooks": [{"type": "command", "command": "true"}]}])))
        .collect();
    sandbox.hooks(Value::Object(hooks));
    let mut client = Raw::new(&sandbox.bus());
    for (event, input) in llxprt {
        let response = client.ask(json!({"eventName": event, "input": input})).await;
        assert_eq!(response["success"], true, "{response}");
        assert_eq!(response["outcome"]["runs"].as_array().unwrap().len(), 1, "{event}: {response}");
    }
    for (event, input, neutral) in [
        ("PreToolUse", tool("x"), "before-tool"),
        ("tool_call", json!({"tool_name": "x", "tool_input": {}, "tool_call_id": "1"}), "before-tool"),
        ("before-tool", tool("x"), "before-tool"),
        ("session.compacting", json!({"session_id": "s", "messages": []}), "compacting"),
        ("SubagentStop", json!({"agent": {}, "duration_ms": 1, "outcome": "ok"}), "subagent-stop"),
        ("turn_start", json!({"turn_index": 1, "timestamp": 1}), "turn-start"),
    ] {
        let response = client.ask(json!({"eventName": event, "input": input})).await;
        assert_eq!(response["outcome"]["event"], neutral, "{response}");
    }
}

#[tokio::test]
async fn r128_success_says_that_it_ran_and_the_output_what_the_hooks_did() {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo no >&2; exit 2");
    let mut client = Raw::new(&sandbox.bus());
    let response = client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
    assert_eq!(response["success"], true);
    assert!(response.get("error").is_none());
    assert_eq!(response["output"]["success"], false, "health is in the output");
    assert_eq!(response["output"]["finalOutput"]["decision"], "deny");
    assert_eq!(response["outcome"]["decision"], "deny");
    assert_eq!(response["outcome"]["reason"], "no");
    assert_eq!(response["outcome"]["runs"][0]["exitCode"], 2);
}

#[tokio::test]
async fn r129_the_bus_is_alive_and_tells_that_hooks_run() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let mut client = Raw::new(&sandbox.bus());
    client.say("notify", json!({"lifecycle": true})).await;
    client.request(json!({"correlationId": "c", "eventName": "BeforeTool", "input": tool("x")})).await;
    let mut phases = Vec::new();
    loop {
        let message = client.next().await.unwrap();
        assert_eq!(message["payload"]["correlationId"], "c");
        if message["type"] != "notify" {
            assert_eq!(message["type"], "HOOK_EXECUTION_RESPONSE");
            break;
        }
        phases.push(message["payload"]["phase"].as_str().unwrap().to_owned());
    }
    assert_eq!(phases, ["queued", "planned", "hook-started", "hook-ended"]);
    client.say("notify", json!({"lifecycle": false})).await;
    client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
}

#[tokio::test]
async fn c45_base_fields_reach_the_hook_and_the_events_name_is_the_engines() {
    let sandbox = Sandbox::with_hook("BeforeTool", ECHO);
    let elsewhere = sandbox.base.join("home");
    let mut client = Raw::new(&sandbox.bus());
    let mut input = tool("write_file");
    let base = json!({
        "session_id": "s-1", "transcript_path": "/t", "timestamp": "2020-01-01T00:00:00Z",
        "cwd": elsewhere, "hook_event_name": "SessionStart",
    });
    for (key, value) in base.as_object().unwrap() {
        input[key] = value.clone();
    }
    let got = heard(&client.ask(json!({"eventName": "PreToolUse", "input": input})).await);
    assert_eq!(got["session_id"], "s-1");
    assert_eq!(got["transcript_path"], "/t");
    assert_eq!(got["timestamp"], "2020-01-01T00:00:00Z");
    assert_eq!(got["cwd"], elsewhere.to_str().unwrap());
    assert_eq!(got["hook_event_name"], "BeforeTool");
    assert_eq!(got["tool_name"], "write_file");
    // Without base fields the project is the directory.
    let got = heard(&client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await);
    assert_eq!(got["cwd"], sandbox.project.to_str().unwrap());
}

#[tokio::test]
async fn a_trace_reaches_the_hook_and_nothing_else_can_be_set() {
    let sandbox = Sandbox::with_hook("BeforeTool", r#"printf '%s %s' "$TRACEPARENT" "$TRACESTATE""#);
    let mut client = Raw::new(&sandbox.bus());
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let request = json!({"eventName": "BeforeTool", "input": tool("x"), "traceparent": trace, "tracestate": "a=b"});
    let response = client.ask(request).await;
    assert_eq!(response["outcome"]["systemMessage"], format!("{trace} a=b"), "{response}");
    let request = json!({"eventName": "BeforeTool", "input": tool("x"), "traceparent": "nonsense"});
    assert_eq!(code(&client.ask(request).await), "invalid_request");
}

#[tokio::test]
async fn hello_agrees_on_a_protocol_or_refuses() {
    let sandbox = Sandbox::new();
    let mut client = Raw::new(&sandbox.bus());
    client.say("hello", json!({"correlationId": "h", "protocol": 1, "client": "test"})).await;
    let message = client.next().await.unwrap();
    assert_eq!((&message["type"], &message["payload"]["protocol"]), (&json!("hello"), &json!(1)));
    assert_eq!(message["payload"]["correlationId"], "h");
    assert_eq!(message["payload"]["lineLimit"], 16 * 1024 * 1024);
    assert!(message["payload"]["capabilities"].as_array().unwrap().contains(&json!("cancel")));
    client.say("hello", json!({"correlationId": "h", "protocol": 2})).await;
    let refused = client.response().await;
    assert_eq!((code(&refused), &refused["correlationId"]), ("unsupported_protocol", &json!("h")));
    let request = json!({"eventName": "BeforeTool", "input": tool("x")});
    assert_eq!(code(&client.ask(request.clone()).await), "unsupported_protocol");
    client.say("hello", json!({"protocol": 1})).await;
    assert_eq!(client.next().await.unwrap()["type"], "hello");
    assert_eq!(client.ask(request).await["success"], true);
}

#[tokio::test]
async fn ping_is_answered_while_requests_run() {
    let sandbox = Sandbox::with_hook("BeforeTool", "cat pipe");
    let made = std::process::Command::new("mkfifo").arg(sandbox.project.join("pipe")).status().unwrap();
    assert!(made.success());
    let mut client = Raw::new(&sandbox.bus());
    client.request(json!({"correlationId": "c", "eventName": "BeforeTool", "input": tool("x")})).await;
    client.say("ping", json!({"correlationId": "p"})).await;
    let message = client.next().await.unwrap();
    assert_eq!(message, json!({"type": "pong", "payload": {"correlationId": "p"}}));
    client.send(r#"{"type":"ping"}"#).await;
    assert_eq!(client.next().await.unwrap(), json!({"type": "pong", "payload": {}}));
    // Opening a pipe waits for its reader, which this very thread may have to start.
    let pipe = sandbox.project.join("pipe");
    crate::support::within(tokio::task::spawn_blocking(move || std::fs::write(pipe, "done"))).await.unwrap().unwrap();
    assert_eq!(client.response().await["outcome"]["systemMessage"], "done");
}

#[tokio::test]
async fn a_request_can_wait_for_everything() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let mut client = Raw::new(&sandbox.bus());
    // No hook runs for this event; only a full answer lists the hooks and the reasons.
    let input = json!({"notification_type": "t", "message": "m", "details": {}});
    let response = client.ask(json!({"eventName": "Notification", "input": input, "wait": "all"})).await;
    assert_eq!(response["success"], true, "{response}");
    let response = client.ask(json!({"eventName": "BeforeTool", "input": tool("x"), "wait": "all"})).await;
    assert_eq!(response["outcome"]["runs"][0]["end"], "silent");
}

/// `engine:E7.2`: a source of the system layer that exists and cannot be used denies every gating event.
#[tokio::test]
async fn a_system_layer_that_cannot_be_used_is_no_success() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let system = sandbox.base.join("system.json");
    std::fs::write(&system, "{{{").unwrap();
    let home = sandbox.home.clone();
    let bus = Bus::new(BusOptions::new(&sandbox.project, move |project| {
        let with_system = environment(&home).with("LLXPRT_SYSTEM_SETTINGS_PATH", &system);
        HookSystem::builder(project).environment(with_system).trust_project()
    }));
    let mut client = Raw::new(&bus);
    let response = client.ask(json!({"correlationId": "c", "eventName": "BeforeTool", "input": tool("x")})).await;
    assert_eq!((code(&response), &response["correlationId"]), ("system_unusable", &json!("c")));
    let error = bus.client().execute(Request::new("BeforeTool", Json::from(tool("x")))).await.unwrap_err();
    assert!(matches!(error, NotGuarded::Refused(_)), "{error}");
    // An event that cannot be denied is executed, and its answer reports the problem.
    let told = client.ask(json!({"eventName": "SessionEnd", "input": {"reason": "exit"}})).await;
    assert_eq!(told["success"], true, "{told}");
}

#[tokio::test]
async fn at_the_limit_of_depth_both_ways_to_wait_agree() {
    let sandbox = Sandbox::new();
    let guarded = json!([{"matcher": "guarded", "hooks": [{"type": "command", "command": "true"}]}]);
    sandbox.hooks(json!({"BeforeTool": guarded}));
    let home = sandbox.home.clone();
    let bus = Bus::new(BusOptions::new(&sandbox.project, move |project| {
        let deep = environment(&home).with("HOOKRAIL_DEPTH", "3");
        HookSystem::builder(project).environment(deep).trust_project()
    }));
    let mut client = Raw::new(&bus);
    for wait in ["all", "answers"] {
        for (name, expected) in [("guarded", json!("deny")), ("other", Value::Null)] {
            let request = json!({"eventName": "BeforeTool", "input": tool(name), "wait": wait});
            let response = client.ask(request).await;
            assert_eq!(response["outcome"]["decision"], expected, "{wait} {name}: {response}");
            assert_eq!(response["output"]["finalOutput"]["decision"], expected, "{wait} {name}: {response}");
        }
    }
}

#[tokio::test]
async fn a_native_request_comes_back_whole() {
    let answer = r#"{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"changed"}]}}}"#;
    let sandbox = Sandbox::with_hook("BeforeModel", &format!("echo '{answer}'"));
    let mut client = Raw::new(&sandbox.bus());
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let given = json!({"contents": [{"role": "user", "parts": [{"text": "look"}, image]}], "tools": [1]});
    let response = client.ask(json!({"eventName": "BeforeModel", "input": {"llm_request": given}})).await;
    let expected = json!({"contents": [{"role": "user", "parts": [{"text": "changed"}, image]}], "tools": [1]});
    assert_eq!(response["outcome"]["nativeRequest"], expected, "{response}");
    let same = &response["output"]["finalOutput"]["hookSpecificOutput"]["llm_request"];
    assert_eq!(*same, response["outcome"]["llmRequest"], "{response}");
}
