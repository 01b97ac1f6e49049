//! An agent loop whose every tool call is guarded by hooks, over a connection to a server.
//!
//! ```text
//! cargo run -p hookrail-bus --example bus_agent_loop -- --socket PATH
//! cargo run -p hookrail-bus --example bus_agent_loop -- --program HOOKRAIL [--project DIR] [--trust-project]
//! ```
//!
//! The "model" is a list of calls, so that the example runs anywhere; the guard is the real thing.

use std::error::Error;
use std::process::Stdio;

use hookrail::{Decision, Json};
use hookrail_bus::transport::Lines;
use hookrail_bus::{Client, Hello, HookReport, NotGuarded, PROTOCOL, Request};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// What the model asks for, one after the other.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": "README.md"})),
        ("write_file", json!({"path": ".env", "content": "SECRET=1"})),
        ("write_file", json!({"path": "notes.txt", "content": "hello"})),
    ]
}

fn run_tool(name: &str, arguments: &Value) -> String {
    format!("{name} {}: done", arguments.get("path").and_then(Value::as_str).unwrap_or_default())
}

/// Fires an event. An error means that the operation is not guarded, which never means that it is allowed.
async fn fire(hooks: &Client, event: &str, input: &Value) -> Result<HookReport, NotGuarded> {
    Ok(hooks.execute(Request::new(event, Json::from(input))).await?.report)
}

/// One tool call: the hooks are asked before it, and told after it.
async fn guarded(hooks: &Client, session: &str, name: &str, arguments: Value) -> Result<String, Box<dyn Error>> {
    let mut call = json!({"session_id": session, "tool_name": name, "tool_input": arguments});
    let before = match fire(hooks, "BeforeTool", &call).await {
        Ok(before) => before,
        Err(error) => return Ok(format!("not run: {error}")),
    };
    // No user is present who could approve the call.
    if matches!(before.decision(), Some(Decision::Deny | Decision::Ask)) || before.must_stop() {
        return Ok(format!("blocked: {}", before.reason().unwrap_or_default()));
    }
    let arguments = before.tool_input().map_or(arguments, |changed| changed.to_value());
    let result = run_tool(name, &arguments);
    if let Some(call) = call.as_object_mut() {
        call.insert("tool_input".to_owned(), arguments);
        call.insert("tool_response".to_owned(), json!({"llmContent": result, "returnDisplay": "done"}));
    }
    let after = fire(hooks, "AfterTool", &call).await?;
    let context = after.document().as_object().and_then(|outcome| outcome.get("additionalContext")?.as_str());
    Ok(context.map_or(result.clone(), |context| format!("{result} [{context}]")))
}

/// A whole session; gives back what it printed.
pub(crate) async fn session(hooks: &Client) -> Result<Vec<String>, Box<dyn Error>> {
    let session = format!("agent-loop-{}", std::process::id());
    hooks.hello(Hello::new(PROTOCOL).from_client("agent_loop.rs")).await?;
    fire(hooks, "SessionStart", &json!({"session_id": session, "source": "startup"})).await?;
    let mut printed = Vec::new();
    for (name, arguments) in calls() {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        let came_of_it = guarded(hooks, &session, name, arguments).await?;
        println!("{name} {path} -> {came_of_it}");
        printed.push(format!("{name} {path} -> {came_of_it}"));
    }
    fire(hooks, "SessionEnd", &json!({"session_id": session, "reason": "exit"})).await?;
    Ok(printed)
}

/// Starts a server of its own and talks with it over its standard input and output.
pub(crate) fn start(mut command: Command) -> Result<(Client, Child), Box<dyn Error>> {
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) = (server.stdin.take(), server.stdout.take());
    let (Some(input), Some(output)) = (input, output) else { return Err("the server has no pipes".into()) };
    Ok((Client::new(Lines::new(output, input)), server))
}

#[tokio::main(flavor = "current_thread")]
#[allow(dead_code, reason = "the tests call the parts")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut socket, mut program, mut extra) = (None, "hookrail".to_owned(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--socket" => socket = arguments.next(),
            "--program" => program = arguments.next().ok_or("--program needs a path")?,
            "--project" => extra.extend([argument, arguments.next().ok_or("--project needs a folder")?]),
            "--trust-project" => extra.push(argument),
            other => return Err(format!("what is `{other}`?").into()),
        }
    }
    match socket {
        #[cfg(unix)]
        Some(path) => drop(session(&Client::connect(path).await?).await?),
        #[cfg(not(unix))]
        Some(_) => return Err("there are no such sockets here".into()),
        None => {
            let mut command = Command::new(program);
            command.args(["serve", "--stdio"]).args(extra);
            let (client, mut server) = start(command)?;
            session(&client).await?;
            // The end of its input is the end of the server.
            drop(client);
            server.wait().await?;
        }
    }
    Ok(())
}
