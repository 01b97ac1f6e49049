//! What a hook can ask for: a worker that stays, and a sandbox.

use std::path::Path;

use hookrail::HookSystem;
use serde_json::{Value, json};

use super::BenchCase;
use super::support::{blocking, floor};
use crate::BenchResult;
use crate::harness::PreparedCase;
use crate::lab::{Lab, Shell, program, tool_input};

/// A worker in Python, as the guide for authors shows it.
const WORKER: &str = "import json, sys
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({\"id\": question[\"id\"], \"output\": {}}), flush=True)";

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "lane-worker", title: "one hook, a worker that stays", prepare: worker },
        BenchCase {
            name: "sandbox",
            title: "one hook, an ordinary program, with `\"sandbox\": \"guard\"`",
            prepare: sandbox,
        },
    ]
}

/// A system with one hook that asks for an execution option.
fn asking(lab: &Lab, mut hook: Value, key: &str, value: &str) -> BenchResult<HookSystem> {
    if let Some(hook) = hook.as_object_mut() {
        hook.insert(key.to_owned(), json!(value));
    }
    lab.with_hooks(vec![hook], Shell::Sh)
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
        let with = asking(lab, program(program_file, &[]), "sandbox", "guard")?;
        case.add(blocking(guarded, 20, &with, &input, 1));
    }
    Ok(case)
}

fn worker(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    case.add(floor(lab, ("floor", "raw spawn of the cheapest child"), 10, &lab.tiny(), &[], Shell::Sh)?);
    let own = program(&std::env::current_exe()?, &["worker"]);
    let own = asking(lab, own, "mode", "worker")?;
    case.add(blocking(("hookrail-worker", "a worker in Rust"), 20, &own, &input, 1));
    let python = asking(lab, program(&lab.peers.python()?, &["-c", WORKER]), "mode", "worker")?;
    case.add(blocking(("hookrail-worker-python", "a worker in Python"), 20, &python, &input, 1));
    Ok(case)
}
