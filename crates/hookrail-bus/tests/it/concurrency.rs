//! Many requests at once: order, turns, waiting, cancellation, and lost clients.

#![cfg(unix)]

use hookrail_testkit::HANG;

use crate::support::{Raw, Sandbox, code, tool, within};
use hookrail::{Json, JsonObject};
use hookrail_bus::{Bus, Phase, Request};
use serde_json::{Value, json};

fn fifo(sandbox: &Sandbox, name: &str) -> std::path::PathBuf {
    let pipe = sandbox.project.join(name);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// Releases a hook that reads this pipe.
async fn release(pipe: std::path::PathBuf) {
    within(tokio::task::spawn_blocking(move || std::fs::write(pipe, "\n"))).await.unwrap().unwrap();
}

fn in_session(session: &str, name: &str) -> Value {
    let mut input = tool(name);
    input["session_id"] = json!(session);
    input
}

#[tokio::test]
async fn answers_come_in_any_order() {
    let sandbox = Sandbox::new();
    sandbox.hooks(json!({"BeforeTool": [
        {"matcher": "slow", "hooks": [{"type": "command", "command": "read line < slow"}]},
        {"matcher": "fast", "hooks": [{"type": "command", "command": "true"}]},
    ]}));
    let pipe = fifo(&sandbox, "slow");
    let mut client = Raw::new(&sandbox.bus());
    client.request(json!({"correlationId": "1", "eventName": "BeforeTool", "input": tool("slow")})).await;
    client.request(json!({"correlationId": "2", "eventName": "BeforeTool", "input": tool("fast")})).await;
    assert_eq!(client.response().await["correlationId"], "2");
    release(pipe).await;
    assert_eq!(client.response().await["correlationId"], "1");
}

#[tokio::test]
async fn sessions_take_turns_and_waiting_is_reported_and_costs_no_time() {
    let sandbox = Sandbox::new();
    // The hook's time is short; with the time in the queue it would be over.
    sandbox.hooks(json!({"BeforeTool": [
        {"matcher": "gate", "hooks": [{"type": "command", "command": "read line < gate"}]},
        {"matcher": "next", "hooks": [{"type": "command", "command": "true", "timeout": 1000}]},
    ]}));
    let gate = fifo(&sandbox, "gate");
    let bus = Bus::new(sandbox.settings().limit(1));
    let mut client = Raw::new(&bus);
    client.request(json!({"correlationId": "gate", "eventName": "BeforeTool", "input": in_session("a", "gate")})).await;
    for at in 0..3 {
        let input = in_session("a", "next");
        client.request(json!({"correlationId": format!("a{at}"), "eventName": "BeforeTool", "input": input})).await;
    }
    let input = in_session("b", "next");
    client.request(json!({"correlationId": "b0", "eventName": "BeforeTool", "input": input})).await;
    // Answered after all of them were read; then let them wait for longer than the hook's own time.
    client.say("ping", json!({})).await;
    assert_eq!(client.next().await.unwrap()["type"], "pong");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    release(gate).await;
    let mut order = Vec::new();
    for _ in 0..5 {
        let response = client.response().await;
        let name = response["correlationId"].as_str().unwrap().to_owned();
        if name != "gate" {
            assert!(response["queueMs"].as_f64().unwrap() >= 1000.0, "{response}");
            assert_eq!(response["outcome"]["runs"][0]["end"], "silent", "{response}");
        }
        order.push(name);
    }
    assert_eq!(order, ["gate", "a0", "b0", "a1", "a2"]);
}

#[tokio::test]
async fn a_full_connection_is_not_read_until_there_is_room() {
    let sandbox = Sandbox::with_hook("BeforeTool", "until [ -e open ]; do sleep 0.02; done");
    let bus = Bus::new(sandbox.settings().in_flight(2));
    let mut client = Raw::new(&bus);
    for at in 0..3 {
        client.request(json!({"correlationId": at.to_string(), "eventName": "BeforeTool", "input": tool("x")})).await;
    }
    client.say("ping", json!({})).await;
    let in_flight = || bus.metrics().text().contains("hookrail_bus_in_flight 2");
    within(async {
        while !in_flight() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The third request and the ping are not read, so an answer comes before the sign of life.
    std::fs::write(sandbox.project.join("open"), "").unwrap();
    let mut kinds = Vec::new();
    for _ in 0..4 {
        kinds.push(client.next().await.unwrap()["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds[0], "HOOK_EXECUTION_RESPONSE");
    assert_eq!(kinds.iter().filter(|kind| *kind == "pong").count(), 1);
}

#[tokio::test]
async fn a_cancelled_request_gets_its_one_answer_and_its_hooks_end() {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo $$ > pid.new; mv pid.new pid; exec sleep 600");
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    client.say("cancel", json!({"correlationId": "c"})).await;
    assert_eq!(
        client.next().await.unwrap(),
        json!({"type": "cancel", "payload": {"correlationId": "c", "found": false}})
    );
    client.request(json!({"correlationId": "c", "eventName": "BeforeTool", "input": tool("x")})).await;
    let hook = started(&sandbox).await;
    client.say("cancel", json!({"correlationId": "c"})).await;
    let mut answers = [client.next().await.unwrap(), client.next().await.unwrap()];
    answers.sort_by_key(|answer| answer["type"].as_str().unwrap().to_owned());
    assert_eq!(code(&answers[0]["payload"]), "cancelled");
    assert_eq!(answers[1]["payload"]["found"], true);
    ends(hook).await;
}

/// The hook's process, as soon as it has said so.
async fn started(sandbox: &Sandbox) -> u32 {
    let file = sandbox.project.join("pid");
    let seen = tokio::task::spawn_blocking(move || {
        assert!(hookrail_testkit::wait_until(|| file.exists(), HANG), "the hook never started");
        std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
    });
    seen.await.unwrap()
}

async fn ends(process: u32) {
    let ended = move || hookrail_testkit::wait_until(|| hookrail_testkit::process_state(process).is_none(), HANG);
    assert!(tokio::task::spawn_blocking(ended).await.unwrap(), "the hook is still there");
}

#[tokio::test]
async fn a_client_that_vanishes_has_its_hooks_ended() {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo $$ > pid.new; mv pid.new pid; exec sleep 600");
    let bus = sandbox.bus();
    let path = sandbox.base.join("s");
    let listener = hookrail_bus::transport::SocketListener::bind(&path).unwrap();
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    let client = hookrail_bus::Client::new(hookrail_bus::transport::connect(&path).await.unwrap());
    let input = Json::from(tool("x"));
    let asked = tokio::spawn({
        let client = client.clone();
        async move { client.execute(Request::new("BeforeTool", input)).await }
    });
    let hook = started(&sandbox).await;
    asked.abort();
    drop(client);
    ends(hook).await;
    within(bus.drain()).await;
    // A client that is given up cancels what it asked for. If that is answered before the end is seen, it was served.
    let text = bus.metrics().text();
    assert!(["vanished", "served"].iter().any(|why| text.contains(&format!("why=\"{why}\"}} 1"))), "{text}");
}

#[tokio::test]
async fn in_process_nothing_is_serialised_and_dropping_cancels() {
    let sandbox = Sandbox::new();
    // The user's hooks need no grant, also not when they change while the bus runs.
    let home = sandbox.base.join("home");
    let hook = |command: &str| json!({"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]});
    hookrail_testkit::write_hooks(&home, &hook("echo '{\"decision\":\"block\",\"reason\":\"no\"}'"));
    let bus = sandbox.bus();
    let client = bus.client();
    let mut lifecycles = client.lifecycles();
    let input: JsonObject =
        [("tool_name", Json::string("x")), ("tool_input", Json::empty_object())].into_iter().collect();
    let response = within(client.execute(Request::new("BeforeTool", input.to_json()).named("n"))).await.unwrap();
    assert_eq!(response.correlation_id, "n");
    let report = response.report;
    assert!(report.outcome().is_some(), "the engine's own value");
    assert!(report.is_denied());
    assert_eq!(report.reason().as_deref(), Some("no"));
    let mut phases = Vec::new();
    for _ in 0..4 {
        phases.push(within(lifecycles.next()).await.unwrap().phase);
    }
    assert_eq!(phases, Phase::ALL);
    hookrail_testkit::write_hooks(&home, &hook("echo $$ > pid.new; mv pid.new pid; exec sleep 600"));
    within(bus.reloaded(1)).await;
    let asked = tokio::spawn(async move { client.execute(Request::new("BeforeTool", input.to_json())).await });
    let hook = started(&sandbox).await;
    asked.abort();
    ends(hook).await;
    within(bus.drain()).await;
}
