//! Module hooks: the same TypeScript file in hookrail, and in Node and Bun processes that are already running.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hookrail::module::{ModuleContext, ModuleInspection};
use hookrail::{HookSystem, ModuleRunner};
use serde_json::{Value, json};

use super::BenchCase;
use super::support::{blocking, floor, from_task};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, tool_input};
use crate::peers::{PeerDriver, script};
use crate::probe::{self, ProbeHost};

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "module", title: "one module hook, loaded", prepare: prepare_loaded },
        BenchCase { name: "module-load", title: "loading a module of 60 lines of TypeScript", prepare: prepare_load },
        BenchCase { name: "module-memory", title: "memory of an idle module", prepare: prepare_memory },
    ]
}

/// The module that all variants run.
fn hook() -> PathBuf {
    script("guard.ts")
}

fn prepare_loaded(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let project = lab.project(&json!([]))?;
    let builder = HookSystem::builder(project).environment(lab.environment(Shell::Sh)).trust_project();
    let system = builder.runner(hookrail_js::modules()).module(hook()).build();
    let input = tool_input(1024)?;
    case.add(floor(lab, ("floor", "raw spawn of the cheapest child"), 10, &lab.tiny(), &[], Shell::Sh)?);
    case.add(blocking(("hookrail", "blocking"), 50, &system, &input, 1));
    case.add(from_task(("hookrail-tokio", "from a task of a multi-threaded runtime"), 50, &system, &input, 1)?);
    let event = json!({"type": "tool_call", "toolName": "write_file", "toolCallId": "1",
        "input": serde_json::from_str::<Value>(input.text())?});
    for (name, inside, driver) in [("node", "node-inside", in_node(lab)), ("bun", "bun-inside", in_bun(lab))] {
        let mut driver = match driver {
            Ok(driver) => driver,
            Err(why) => {
                case.absent(format!("{name}: {why}"));
                continue;
            }
        };
        let time = json!({"do": "time", "times": 50, "event": event});
        let line = format!("{event}\n").into_bytes();
        let mut answer = Vec::new();
        let mut inside_driver = if name == "node" { in_node(lab)? } else { in_bun(lab)? };
        case.add(Variant::timed(name, "asked over pipes by a host that is another process", 50, move || {
            driver.exchange(&line, &mut answer)
        }));
        case.add(Variant::new(inside, "without the pipes: parse, handlers, serialise", move || {
            inside_driver.time(&time)
        }));
    }
    Ok(case)
}

/// Runs the module in Node. This version of Node does not strip types, so Bun strips them first.
fn in_node(lab: &Lab) -> BenchResult<PeerDriver> {
    let javascript = lab.new_path("guard").with_extension("mjs");
    let stripped = Command::new(lab.peers.bun()?)
        .args(["build", "--no-bundle"])
        .arg(hook())
        .arg("--outfile")
        .arg(&javascript)
        .output()?;
    if !stripped.status.success() {
        return Err(String::from_utf8_lossy(&stripped.stderr).into_owned().into());
    }
    start_driver(lab, &lab.peers.node()?, &javascript)
}

fn in_bun(lab: &Lab) -> BenchResult<PeerDriver> {
    start_driver(lab, &lab.peers.bun()?, &hook())
}

/// Starts a process that has loaded the module and answers events over its pipes.
fn start_driver(lab: &Lab, program: &Path, module: &Path) -> BenchResult<PeerDriver> {
    PeerDriver::start(Command::new(program).arg(script("module.mjs")).arg(module), &lab.environment(Shell::Bash))
}

fn prepare_load(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let environment = lab.environment(Shell::Bash);
    let start_of =
        |name: &str, what: &str, program: BenchResult<PathBuf>, arguments: &[&str]| -> BenchResult<Variant> {
            let mut bare = BareCommand::new(&program?, arguments, &environment)?;
            Ok(Variant::timed(name, what, 1, move || bare.round_trip(b"").map(drop)))
        };
    case.add(start_of("node", "starting Node with nothing to do", lab.peers.node(), &["-e", "0"])?);
    match start_of("bun", "starting Bun with nothing to do", lab.peers.bun(), &["-e", "0"]) {
        Ok(variant) => case.add(variant),
        Err(why) => case.absent(why.to_string()),
    }
    let world = ModuleContext::new(lab.project(&json!([]))?, Arc::new(lab.environment(Shell::Sh)));
    case.add(Variant::timed("hookrail", "reading, stripping, compiling and running the factory", 3, move || {
        // A new runner each time, so that nothing is cached.
        match hookrail_js::modules().inspect(&hook(), &world) {
            ModuleInspection::Registered(found) if found.events == ["tool_call"] => Ok(()),
            other => Err(format!("the module should have registered one event: {other:?}").into()),
        }
    }));
    Ok(case)
}

fn prepare_memory(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let source = std::fs::read_to_string(hook())?;
    let folder = lab.new_path("modules");
    std::fs::create_dir_all(&folder)?;
    let project = lab.project(&json!([]))?;
    let mut sizes = Vec::new();
    // The first module includes what all modules share; each further one shows the cost of one more.
    for count in [1, 41] {
        let modules: Vec<PathBuf> = (0..count).map(|i| folder.join(format!("guard-{i}.ts"))).collect();
        modules.iter().try_for_each(|module| std::fs::write(module, &source))?;
        let host = ProbeHost { project: project.clone(), modules, ..ProbeHost::default() };
        let mut driver = probe::start(&host, &lab.environment(Shell::Sh))?;
        driver.time(&json!({"do": "fire", "times": 3, "hooks": count}))?;
        sizes.push(driver.number(&json!({"do": "memory"}), "bytes")?);
    }
    if let [one, many] = sizes.as_slice() {
        case.value("host with one module", "MiB", one / 1024.0 / 1024.0);
        case.value("each further module", "KiB", (many - one) / 40.0 / 1024.0);
    }
    Ok(case)
}
