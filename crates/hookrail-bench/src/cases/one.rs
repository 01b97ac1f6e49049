//! One hook, in all the ways a hook can be written.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;

use super::BenchCase;
use super::support::{blocking, floor, from_task, gemini, opendev};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, line, program, tool_input};

/// What nearly every shell hook does: it reads its input and answers.
pub(crate) const SCRIPT: &str = "cat >/dev/null; echo {}";

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "one-tiny", title: "one hook, the cheapest child", prepare: tiny },
        BenchCase { name: "one-sh", title: "one hook, `sh -c`", prepare: sh },
        BenchCase { name: "one-bash", title: "one hook, `bash -c`", prepare: bash },
        BenchCase { name: "one-script", title: "one hook, a shell script", prepare: script },
        BenchCase { name: "one-python", title: "one hook, Python", prepare: python },
        BenchCase { name: "one-node", title: "one hook, Node", prepare: node },
    ]
}

fn tiny(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let direct = lab.with_hooks(vec![program(&lab.tiny(), &[])], Shell::Sh)?;
    let shell = lab.with_hooks(vec![line(&lab.tiny().display().to_string())], Shell::Sh)?;
    case.add(floor(lab, ("floor", "raw spawn"), 100, &lab.tiny(), &[], Shell::Sh)?);
    case.add(standard_library(lab));
    case.add(spawner(lab)?);
    case.add(blocking(("hookrail", "blocking, program with arguments"), 100, &direct, &input, 1));
    case.add(from_task(("hookrail-tokio", "from a task of a multi-threaded runtime"), 100, &direct, &input, 1)?);
    let lent = lab.builder(vec![program(&lab.tiny(), &[])])?.lend_runtime().build();
    case.add(from_task(("hookrail-lent", "the same, with that runtime lent"), 100, &lent, &input, 1)?);
    case.add(blocking(("hookrail-sh", "blocking, through `sh -c`"), 5, &shell, &input, 1));
    let same_line = lab.with_hooks(vec![line(&lab.tiny().display().to_string())], Shell::Bash)?;
    case.add(blocking(("hookrail-bash", "blocking, through `bash -c`"), 5, &same_line, &input, 1));
    peers(lab, &mut case, &lab.tiny().display().to_string());
    Ok(case)
}

/// The time of the standard library for a child with three pipes, without an engine.
fn standard_library(lab: &Lab) -> Variant {
    let (program, environment) = (lab.tiny(), lab.environment(Shell::Sh));
    let input = vec![b'x'; 1200];
    Variant::timed("floor-std", "`std::process`, three pipes, `wait_with_output`", 20, move || {
        let mut command = Command::new(&program);
        command.env_clear().envs(environment.iter());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&input)?;
        }
        let ended = child.wait_with_output()?;
        if ended.stdout.starts_with(b"{}") { Ok(()) } else { Err("the child did not answer".into()) }
    })
}

/// The time of hookrail's spawner (session, signals, descriptors, deadline, exit and end of file), without the engine.
fn spawner(lab: &Lab) -> BenchResult<Variant> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let command = hookrail_spawn::ChildCommand::new(lab.tiny())
        .env(Arc::new(lab.environment(Shell::Sh)))
        .stdin(vec![b'x'; 1200])
        .timeout(std::time::Duration::from_secs(60));
    Ok(Variant::timed("hookrail-spawn", "only the spawner, without the engine", 20, move || {
        let finished = runtime.block_on(hookrail_spawn::run(&command, &hookrail_spawn::CancelToken::new()))?;
        match finished.end {
            hookrail_spawn::ChildEnd::Exited(0) => Ok(()),
            end => Err(format!("the child ended with {end:?}").into()),
        }
    }))
}

fn sh(lab: &Lab) -> BenchResult<PreparedCase> {
    through(lab, Shell::Sh, "/bin/sh")
}

fn bash(lab: &Lab) -> BenchResult<PreparedCase> {
    through(lab, Shell::Bash, "/usr/bin/bash")
}

fn through(lab: &Lab, shell: Shell, interpreter: &str) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let system = lab.with_hooks(vec![line(SCRIPT)], shell)?;
    case.add(floor(lab, ("floor", "raw spawn"), 5, Path::new(interpreter), &["-c", SCRIPT], shell)?);
    case.add(blocking(("hookrail", "blocking"), 5, &system, &input, 1));
    case.add(from_task(("hookrail-tokio", "from a task of a multi-threaded runtime"), 5, &system, &input, 1)?);
    peers(lab, &mut case, SCRIPT);
    Ok(case)
}

fn peers(lab: &Lab, case: &mut PreparedCase, command: &str) {
    let groups = json!([{"hooks": [line(command)]}]);
    let work = json!({"do": "fire", "times": 3, "hooks": 1});
    gemini(lab, case, ("gemini", "`bash -c`"), &groups, work.clone());
    opendev(lab, case, ("opendev", "`sh -c`"), &groups, work);
}

fn script(lab: &Lab) -> BenchResult<PreparedCase> {
    let file = lab.new_path("script").with_extension("sh");
    std::fs::write(&file, format!("#!/bin/sh\n{SCRIPT}\n"))?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
    let mut case = interpreted(lab, &file, &[])?;
    let shell = lab.with_hooks(vec![line(&file.display().to_string())], Shell::Sh)?;
    case.add(blocking(("hookrail-sh", "blocking, through `sh -c`"), 2, &shell, &tool_input(1024)?, 1));
    Ok(case)
}

fn python(lab: &Lab) -> BenchResult<PreparedCase> {
    interpreted(lab, &lab.peers.python()?, &["-c", "import json, sys\njson.load(sys.stdin)\nprint('{}')"])
}

fn node(lab: &Lab) -> BenchResult<PreparedCase> {
    let code = "JSON.parse(require('fs').readFileSync(0)); console.log('{}')";
    interpreted(lab, &lab.peers.node()?, &["-e", code])
}

/// A program that reads JSON and answers.
fn interpreted(lab: &Lab, path: &Path, arguments: &[&str]) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let system = lab.with_hooks(vec![program(path, arguments)], Shell::Bash)?;
    let mut bare = BareCommand::new(path, arguments, &lab.environment(Shell::Bash))?;
    let text = input.text().as_bytes().to_vec();
    case.add(Variant::timed("floor", "raw spawn", 2, move || bare.round_trip(&text).map(drop)));
    case.add(blocking(("hookrail", "blocking"), 2, &system, &input, 1));
    Ok(case)
}
