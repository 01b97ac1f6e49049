//! The faster ways to run a hook that it can ask for: no shell, a worker, a prestarted process.

use std::path::Path;
use std::time::Duration;

use hookrail::HookSystem;
use serde_json::{Value, json};

use super::BenchCase;
use super::payload::knows;
use super::support::{blocking, floor};
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, check_answered, event, line, program, tool_input};

/// A worker in Python, as the guide for authors shows it.
const WORKER: &str = "import json, sys
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({\"id\": question[\"id\"], \"output\": {}}), flush=True)";

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "lane-shell", title: "one hook, a plain line with `\"shell\": \"auto\"`", prepare: shell },
        BenchCase { name: "lane-worker", title: "one hook, a worker that stays", prepare: worker },
        BenchCase {
            name: "sandbox",
            title: "one hook, an ordinary program, with `\"sandbox\": \"guard\"`",
            prepare: sandbox,
        },
        BenchCase { name: "lane-prewarm-python", title: "one hook, Python, started beforehand", prepare: ready_python },
        BenchCase { name: "lane-prewarm-node", title: "one hook, Node, started beforehand", prepare: ready_node },
    ]
}

/// A system with one hook that asks for an execution option; none if this version does not know the option.
fn asking(
    lab: &Lab,
    case: &mut PreparedCase,
    mut hook: Value,
    key: &str,
    value: Value,
) -> BenchResult<Option<HookSystem>> {
    if let Some(hook) = hook.as_object_mut() {
        hook.insert(key.to_owned(), value.clone());
    }
    let system = lab.with_hooks(vec![hook], Shell::Sh)?;
    if knows(&system, key) {
        return Ok(Some(system));
    }
    case.absent(format!("this version does not know `\"{key}\": {value}`"));
    Ok(None)
}

fn shell(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let command = lab.tiny().display().to_string();
    let always = lab.with_hooks(vec![line(&command)], Shell::Sh)?;
    case.add(floor(lab, ("floor", "raw spawn of the program"), 10, &lab.tiny(), &[], Shell::Sh)?);
    case.add(blocking(("hookrail-sh", "through `sh -c`"), 5, &always, &input, 1));
    if let Some(auto) = asking(lab, &mut case, line(&command), "shell", json!("auto"))? {
        case.add(blocking(("hookrail-auto", "the same line with `\"shell\": \"auto\"`"), 10, &auto, &input, 1));
    }
    Ok(case)
}

/// The cost of the sandbox at the start of a process. Handing the start over to the restricted thread costs two
/// wake-ups for any child, so an ordinary program is measured beside the cheapest one.
fn sandbox(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let ordinary = Path::new("/bin/true");
    case.add(floor(lab, ("floor", "raw spawn of the cheapest child"), 20, &lab.tiny(), &[], Shell::Sh)?);
    for (program_file, free, guarded) in [
        (ordinary, ("hookrail", "`/bin/true` without a sandbox"), ("hookrail-guard", "with `\"sandbox\": \"guard\"`")),
        (
            &lab.tiny(),
            ("hookrail-tiny", "the cheapest child without a sandbox"),
            ("hookrail-tiny-guard", "with `\"sandbox\": \"guard\"`"),
        ),
    ] {
        let without = lab.with_hooks(vec![program(program_file, &[])], Shell::Sh)?;
        case.add(blocking(free, 20, &without, &input, 1));
        if let Some(with) = asking(lab, &mut case, program(program_file, &[]), "sandbox", json!("guard"))? {
            case.add(blocking(guarded, 20, &with, &input, 1));
        }
    }
    Ok(case)
}

fn worker(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    case.add(floor(lab, ("floor", "raw spawn of the cheapest child"), 10, &lab.tiny(), &[], Shell::Sh)?);
    let own = program(&std::env::current_exe()?, &["worker"]);
    if let Some(system) = asking(lab, &mut case, own, "mode", json!("worker"))? {
        case.add(blocking(("hookrail-worker", "a worker in Rust"), 20, &system, &input, 1));
        let python = program(&lab.peers.python()?, &["-c", WORKER]);
        if let Some(system) = asking(lab, &mut case, python, "mode", json!("worker"))? {
            case.add(blocking(("hookrail-worker-python", "a worker in Python"), 20, &system, &input, 1));
        }
    }
    Ok(case)
}

fn ready_python(lab: &Lab) -> BenchResult<PreparedCase> {
    let code = "import json, sys\njson.load(sys.stdin)\nprint('{}')";
    ready(lab, &lab.peers.python()?, &["-c", code], Duration::from_millis(80))
}

fn ready_node(lab: &Lab) -> BenchResult<PreparedCase> {
    let code = "JSON.parse(require('fs').readFileSync(0)); console.log('{}')";
    ready(lab, &lab.peers.node()?, &["-e", code], Duration::from_millis(150))
}

/// Events with a pause between them, as those of an agent have, so that the next process is ready when it is wanted.
fn ready(lab: &Lab, path: &Path, arguments: &[&str], pause: Duration) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let hook = program(path, arguments);
    let cold = lab.with_hooks(vec![hook.clone()], Shell::Sh)?;
    let mut systems = vec![("hookrail", "started when the event is there", cold)];
    if let Some(ready) = asking(lab, &mut case, hook, "prewarm", json!(1))? {
        systems.push(("hookrail-ready", "started beforehand, with `\"prewarm\": 1`", ready));
    }
    for (name, what, system) in systems {
        let input = tool_input(1024)?;
        let made = system.clone();
        let prepare = move || {
            std::thread::sleep(pause);
            event(&made, &input)
        };
        case.add(Variant::prepared(name, what, 1, prepare, move |event| {
            check_answered(&system.fire_blocking(event), 1)
        }));
    }
    Ok(case)
}
