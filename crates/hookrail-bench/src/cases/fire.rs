//! Starting from nothing: the command line, and the first event of an agent that has just started.

use std::path::{Path, PathBuf};

use hookrail::Environment;
use serde_json::json;

use super::BenchCase;
use super::support::{floor, installed};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, line, program};
use crate::peers::script;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![BenchCase {
        name: "cold-start",
        title: "from the start of a process to the end of its first event",
        prepare: cold,
    }]
}

fn cold(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let environment = lab.environment(Shell::Sh);
    case.add(floor(
        lab,
        ("floor", "raw spawn of the cheapest child, which is also the hook"),
        10,
        &lab.tiny(),
        &[],
        Shell::Sh,
    )?);
    let mut truth = BareCommand::new(Path::new("/bin/true"), &[], &environment)?;
    case.add(Variant::timed("true", "raw spawn of /bin/true, which is linked dynamically", 5, move || {
        truth.round_trip(b"").map(drop)
    }));
    let project = lab.project(&json!([{"hooks": [program(&lab.tiny(), &[])]}]))?;
    case.add(command_line(&installed(lab)?, &project, &environment)?);
    case.add(node(lab)?);
    match gemini(lab) {
        Ok(variant) => case.add(variant),
        Err(why) => case.absent(why.to_string()),
    }
    Ok(case)
}

fn command_line(binary: &Path, project: &Path, environment: &Environment) -> BenchResult<Variant> {
    let project = project.to_str().ok_or("the folder's name is not text")?;
    let arguments = [
        "fire",
        "BeforeTool",
        "--tool",
        "write_file",
        "--tool-input",
        "{}",
        "--trust-project",
        "--project",
        project,
        "--json",
    ];
    let mut fire = BareCommand::new(binary, &arguments, environment)?;
    Ok(Variant::timed("hookrail", "`hookrail fire` with one hook", 3, move || {
        let said = fire.round_trip(b"")?;
        if said.windows(8).any(|part| part == b"answered") {
            return Ok(());
        }
        Err(format!("the hook should have answered: {}", String::from_utf8_lossy(said)).into())
    }))
}

fn node(lab: &Lab) -> BenchResult<Variant> {
    let mut node = BareCommand::new(&lab.peers.node()?, &["-e", "0"], &lab.environment(Shell::Bash))?;
    Ok(Variant::timed("node", "starting Node with nothing to do", 1, move || node.round_trip(b"").map(drop)))
}

fn gemini(lab: &Lab) -> BenchResult<Variant> {
    let (driver, package) = (script("gemini.mjs"), lab.peers.gemini_package()?);
    let text = |path: &PathBuf| path.to_str().map(str::to_owned).ok_or("a path is not text");
    let (driver, package) = (text(&driver)?, text(&package)?);
    let mut start = BareCommand::new(&lab.peers.node()?, &[&driver, &package], &lab.environment(Shell::Bash))?;
    let prepare = json!({"do": "prepare", "id": "a", "groups": [{"hooks": [line(&lab.tiny().display().to_string())]}]});
    let asked = format!("{prepare}\n{}\n", json!({"do": "fire", "id": "a", "times": 1, "hooks": 1}));
    Ok(Variant::timed("gemini", "gemini-cli-core: Node, the hook classes, one hook", 1, move || {
        let said = start.round_trip(asked.as_bytes())?;
        if said.windows(4).any(|part| part == b"\"ns\"") { Ok(()) } else { Err("it fired nothing".into()) }
    }))
}
