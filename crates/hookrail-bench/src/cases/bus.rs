//! The message bus: the same hook, run by the library, over a channel in the process, and over a socket.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hookrail::{HookSystem, Json};
use hookrail_bus::transport::{SocketListener, connect};
use hookrail_bus::{Bus, BusOptions, Client, Request};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::BenchCase;
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, TOOL, check_answered, event, program, tool_input};

/// How many requests one round has.
const TIMES: u32 = 10;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "bus", title: "one hook, asked for over the message bus", prepare: bus },
        BenchCase { name: "bus-unwanted", title: "a request on a socket that no hook wants", prepare: bus_unwanted },
    ]
}

fn bus(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let project = lab.project(&json!([{"hooks": [program(&lab.tiny(), &[])]}]))?;
    let environment = lab.environment(Shell::Sh);
    let describe = move |project: &Path| HookSystem::builder(project).environment(environment.clone()).trust_project();
    let system = describe(&project).build();
    let runtime = Arc::new(Builder::new_current_thread().enable_all().build()?);
    let input = tool_input(1024)?;
    let bus = Bus::new(BusOptions::new(&project, describe));
    let socket = lab.new_path("s");
    let (in_process, over_socket) = runtime.block_on(async {
        let listener = SocketListener::bind(&socket)?;
        let serving = bus.clone();
        tokio::spawn(async move { serving.listen(listener).await });
        Ok::<_, crate::BenchError>((bus.client(), Client::new(connect(&socket).await?)))
    })?;
    let payload = json!({"tool_name": TOOL, "tool_input": serde_json::from_str::<Value>(input.text())?});
    let request = Json::of(&payload)?;
    case.add(library(&runtime, system, input));
    case.add(through_bus("channel", "in process, over channels", &runtime, in_process, request.clone()));
    case.add(through_bus("socket", "over a Unix socket", &runtime, over_socket, request));
    Ok(case)
}

/// How the cost of a request grows with its size. The only hook has a matcher for another tool.
fn bus_unwanted(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let project = lab.project(&json!([{"matcher": "another_tool", "hooks": [program(&lab.tiny(), &[])]}]))?;
    let environment = lab.environment(Shell::Sh);
    let describe = move |project: &Path| HookSystem::builder(project).environment(environment.clone()).trust_project();
    let runtime = Arc::new(Builder::new_current_thread().enable_all().build()?);
    let bus = Bus::new(BusOptions::new(&project, describe));
    let socket = lab.new_path("s");
    let client = runtime.block_on(async {
        let listener = SocketListener::bind(&socket)?;
        tokio::spawn(async move { bus.listen(listener).await });
        Ok::<_, crate::BenchError>(Client::new(connect(&socket).await?))
    })?;
    for (name, what, bytes) in [("600b", "600 bytes", 600), ("64k", "64 KiB", 64 * 1024)] {
        let input: Value = serde_json::from_str(tool_input(bytes)?.text())?;
        let request = Json::of(&json!({"tool_name": TOOL, "tool_input": input}))?;
        case.add(through_bus(name, what, &runtime, client.clone(), request));
    }
    Ok(case)
}

fn library(runtime: &Arc<Runtime>, system: HookSystem, input: Json) -> Variant {
    let runtime = Arc::clone(runtime);
    Variant::new("library", "the library itself", move || {
        runtime.block_on(async {
            let began = Instant::now();
            for _ in 0..TIMES {
                check_answered(&system.fire(event(&system, &input)).await, 1)?;
            }
            Ok(nanoseconds_each(began.elapsed(), TIMES))
        })
    })
}

fn through_bus(name: &str, what: &str, runtime: &Arc<Runtime>, client: Client, input: Json) -> Variant {
    let runtime = Arc::clone(runtime);
    Variant::new(name, what, move || {
        runtime.block_on(async {
            let began = Instant::now();
            for _ in 0..TIMES {
                let report = client.execute(Request::new("BeforeTool", input.clone())).await?.report;
                std::hint::black_box(report);
            }
            Ok(nanoseconds_each(began.elapsed(), TIMES))
        })
    })
}
