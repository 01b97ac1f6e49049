//! What a module hook costs: `cargo run --release -p hookrail-js --example figures`.
//!
//! Prints how long a loaded hook takes to answer an event of 1 KiB, with the whole engine around it, on the thread that
//! waits, and through the module's own; how long it takes to load a hook of sixty lines of TypeScript; and how much memory an idle one holds. The path of
//! another hook can be given; it must have nothing against the event.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a measurement that fails has nothing to print")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookrail::host::NoHost;
use hookrail::module::{ModuleCall, ModuleContext};
use hookrail::process::RawEnd;
use hookrail::{EndKind, Environment, EventKind, HookSystem, Json, ModuleRunner as _};
use hookrail_js::Modules;

const CALLS: usize = 20_000;
const LOADS: usize = 200;
const IDLE: usize = 100;

fn main() {
    let file = || Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/figures/guard.ts");
    let guard = Hook::new(std::env::args_os().nth(1).map_or_else(file, PathBuf::from));
    guard.fire();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let modules = hookrail_js::modules();
        guard.ask(&modules, Way::Thread).await;
        for way in [Way::Here, Way::Thread] {
            let mut times = Vec::with_capacity(CALLS);
            for _ in 0..CALLS {
                times.push(guard.ask(&modules, way).await);
            }
            print(&format!("an event of {} bytes, {way:?}", guard.payload.len()), times);
        }
        let mut times = Vec::with_capacity(LOADS);
        for _ in 0..LOADS {
            times.push(guard.ask(&hookrail_js::modules(), Way::Thread).await);
        }
        print("thread, runtime, loading and the first event", times);
        let times = (0..LOADS).map(|_| guard.look(&modules)).collect();
        print("looking into it", times);
        memory(&guard).await;
    });
}

/// Which way an event takes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// On the thread that waits for the answer.
    Here,
    /// Through the module's own thread.
    Thread,
}

/// A module and what it is asked.
struct Hook {
    file: PathBuf,
    input: String,
    payload: String,
    world: ModuleContext,
}

impl Hook {
    fn new(file: PathBuf) -> Self {
        let content = "const answer = 42; // ".repeat(42);
        let input = serde_json::json!({ "path": "src/answer.ts", "content": content });
        let payload =
            serde_json::json!({ "type": "tool_call", "toolName": "write", "toolCallId": "c1", "input": input });
        let world = ModuleContext::new("/", Arc::new(Environment::default()));
        Self { file, input: input.to_string(), payload: payload.to_string(), world }
    }

    async fn ask(&self, modules: &Modules, way: Way) -> Duration {
        let timeout = Duration::from_secs(60);
        let began = Instant::now();
        let call = ModuleCall {
            module: &self.file,
            event: "tool_call",
            payload: &self.payload,
            timeout,
            world: self.world.clone(),
            host: Arc::new(NoHost),
        };
        let returned = match way {
            Way::Here => modules.call_here(call).await,
            Way::Thread => modules.call(call).await,
        };
        let took = began.elapsed();
        assert!(matches!(returned.how, RawEnd::Returned(None)), "the guard has nothing against it: {returned:?}");
        took
    }

    /// The whole event: fired by a host that waits for the outcome.
    fn fire(&self) {
        let system = HookSystem::builder("/").runner(hookrail_js::modules()).module(&self.file).build();
        let input = Json::parse(&self.input).expect("the input is JSON");
        let fire = || {
            let event = system.event(EventKind::BeforeTool).with_text("tool_name", "write");
            let event = event.with("tool_input", input.clone());
            let began = Instant::now();
            let outcome = system.fire_blocking(event);
            let took = began.elapsed();
            assert!(matches!(outcome.runs.as_slice(), [run] if run.end == EndKind::Silent), "{outcome:?}");
            took
        };
        fire();
        print("an event that is fired and waited for", (0..CALLS).map(|_| fire()).collect());
    }

    fn look(&self, modules: &Modules) -> Duration {
        let began = Instant::now();
        let found = modules.inspect(&self.file, &self.world);
        let took = began.elapsed();
        assert!(
            matches!(found, hookrail::module::ModuleInspection::Registered(_)),
            "the guard can be loaded: {found:?}"
        );
        took
    }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let part = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    println!("{what}: p50 {:?}, p99 {:?}", part(50), part(99));
}

/// How much more memory the process holds for every module that is loaded and idle.
async fn memory(guard: &Hook) {
    let before = resident();
    let mut idle = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        let modules = hookrail_js::modules();
        guard.ask(&modules, Way::Thread).await;
        idle.push(modules);
    }
    match before.zip(resident()) {
        Some((before, now)) => println!("memory of an idle module: {} KiB", now.saturating_sub(before) / IDLE),
        None => println!("memory of an idle module: this system does not say"),
    }
}

/// The resident memory of this process in KiB.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
