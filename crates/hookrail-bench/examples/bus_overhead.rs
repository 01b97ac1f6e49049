//! The cost of the bus over calling the library: one request at a time, the same hook, all ways in turn in one run.

#![cfg(unix)]

use std::path::Path;
use std::time::{Duration, Instant};

use hookrail::{Environment, Event, EventKind, HookSystem, Json};
use hookrail_bus::transport::{SocketListener, connect};
use hookrail_bus::{Bus, BusOptions, Client, Request};

const ROUNDS: usize = 1_000;

type Failure = Box<dyn std::error::Error>;

fn environment(home: &Path) -> Environment {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Environment::new().with("PATH", path).with("HOME", home)
}

fn write_hook(project: &Path, tool: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(project.join(".llxprt"))?;
    let settings = serde_json::json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [
        {"matcher": tool, "hooks": [{"type": "command", "command": "true", "args": []}]}]}});
    std::fs::write(project.join(".llxprt/settings.json"), settings.to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    write_hook(&project, "guarded")?;
    let home = folder.path().to_owned();
    let describe = move |project: &Path| HookSystem::builder(project).environment(environment(&home)).trust_project();
    let system = describe(&project).build();
    let bus = Bus::new(BusOptions::new(&project, describe));
    let socket = folder.path().join("s");
    let listener = SocketListener::bind(&socket)?;
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    let in_process = bus.client();
    let over_socket = Client::new(connect(&socket).await?);
    // Text with line ends and quotes, as in a file that an agent writes.
    let code = "    let name = \"a value\"; // and a comment\n";
    let cases = [
        ("guarded", code, 600, "one hook (`true`)"),
        ("free", code, 600, "no hook that matches"),
        ("free", code, 64 * 1024, "no hook that matches, 64 KiB of code"),
        ("free", "x", 64 * 1024, "no hook that matches, 64 KiB of one letter"),
    ];
    for (tool, text, bytes, what) in cases {
        let content: String = text.chars().cycle().take(bytes).collect();
        let input = Json::of(&serde_json::json!({"tool_name": tool, "tool_input": {"content": content}}))?;
        let mut times: [Vec<Duration>; 3] = Default::default();
        for round in 0..ROUNDS + 50 {
            let began = Instant::now();
            let event = Event::new(EventKind::BeforeTool, &project).with_payload(&input)?;
            system.fire(event).await;
            let library = began.elapsed();
            let took = [library, asked(&in_process, &input).await?, asked(&over_socket, &input).await?];
            // The first rounds warm everything up.
            if round >= 50 {
                times.iter_mut().zip(took).for_each(|(times, took)| times.push(took));
            }
        }
        let [library, channel, line] = times.map(median);
        let ratio = |time: Duration| time.as_secs_f64() / library.as_secs_f64();
        println!("{what}, {ROUNDS} requests each way, medians:");
        println!("  library     {:>8.1} us   1.00", micros(library));
        println!("  in process  {:>8.1} us   {:.2}", micros(channel), ratio(channel));
        println!("  socket      {:>8.1} us   {:.2}", micros(line), ratio(line));
    }
    bus.drain().await;
    Ok(())
}

async fn asked(client: &Client, input: &Json) -> Result<Duration, Failure> {
    let began = Instant::now();
    client.execute(Request::new("BeforeTool", input.clone())).await?;
    Ok(began.elapsed())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000_000.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
