//! The end of a server: what runs is finished, what is new is refused, and nothing is left.

#![cfg(unix)]

use crate::support::{Raw, Sandbox, code, tool, within};
use hookrail::Json;
use hookrail_bus::{ErrorCode, NotGuarded, Request};
use serde_json::json;

#[tokio::test]
async fn what_runs_is_finished_and_what_is_new_is_refused() {
    let sandbox = Sandbox::with_hook("BeforeTool", "read line < gate; echo \"$line\"");
    let gate = sandbox.project.join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    let mut idle = Raw::new(&bus);
    client.request(json!({"correlationId": "old", "eventName": "BeforeTool", "input": tool("x")})).await;
    client.say("ping", json!({})).await;
    client.next().await;
    let draining = tokio::spawn({
        let bus = bus.clone();
        async move { bus.drain().await }
    });
    // A connection without requests ends at once, which is how a client learns of it.
    assert_eq!(idle.next().await, None);
    client.request(json!({"correlationId": "new", "eventName": "BeforeTool", "input": tool("x")})).await;
    let refused = client.response().await;
    assert_eq!((code(&refused), &refused["correlationId"]), ("shutting_down", &json!("new")));
    within(tokio::task::spawn_blocking(move || std::fs::write(gate, "done\n"))).await.unwrap().unwrap();
    assert_eq!(client.response().await["outcome"]["systemMessage"], "done");
    assert_eq!(client.next().await, None);
    within(draining).await.unwrap();
}

#[tokio::test]
async fn what_runs_can_be_ended() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exec sleep 600");
    let bus = sandbox.bus();
    let client = bus.client();
    let mut lifecycles = client.lifecycles();
    let asked = tokio::spawn({
        let client = client.clone();
        async move { client.execute(Request::new("BeforeTool", Json::from(tool("x")))).await }
    });
    while within(lifecycles.next()).await.unwrap().phase.name() != "hook-started" {}
    bus.end();
    within(bus.drain()).await;
    let error = within(asked).await.unwrap().unwrap_err();
    assert!(matches!(&error, NotGuarded::Refused(error) if error.known() == Some(ErrorCode::Cancelled)), "{error}");
    let late = within(client.execute(Request::new("BeforeTool", Json::from(tool("x"))))).await;
    assert_eq!(late.unwrap_err(), NotGuarded::Closed);
}
