//! Several hooks for one event, and several events at once.

use std::time::Instant;

use serde_json::{Value, json};

use super::BenchCase;
use super::one::SCRIPT;
use super::support::{blocking, from_task, gemini, opendev, threads};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, check_answered, event, line, program, tool_input};

/// How many hooks one event has.
const HOOKS_PER_EVENT: usize = 10;
/// How many events are fired at once.
const CONCURRENT_EVENTS: u32 = 64;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase {
            name: "ten-sh",
            title: "ten hooks, `sh -c`, side by side and one after the other",
            prepare: ten_sh,
        },
        BenchCase { name: "ten-tiny", title: "ten hooks, the cheapest child", prepare: ten_tiny },
        BenchCase { name: "fires-64", title: "64 events at once, one hook each (for one event)", prepare: fires },
    ]
}

/// Commands that are all different, so that none is dropped as a duplicate.
fn scripts() -> Vec<Value> {
    (0..HOOKS_PER_EVENT).map(|i| line(&format!("{SCRIPT} # {i}"))).collect()
}

fn ten_sh(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let parallel = lab.with_hooks(scripts(), Shell::Sh)?;
    let project = lab.project(&json!([{"sequential": true, "hooks": scripts()}]))?;
    let serial = lab.system(&project, Shell::Sh);
    case.add(one_by_one(lab, "/bin/sh".as_ref(), &["-c", SCRIPT])?);
    case.add(blocking(("hookrail-serial", "one after the other"), 1, &serial, &input, HOOKS_PER_EVENT));
    case.add(blocking(("hookrail", "side by side, blocking"), 1, &parallel, &input, HOOKS_PER_EVENT));
    case.add(from_task(("hookrail-tokio", "side by side, from a task"), 1, &parallel, &input, HOOKS_PER_EVENT)?);
    peers(lab, &mut case, &scripts());
    Ok(case)
}

fn ten_tiny(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let names: Vec<String> = (0..HOOKS_PER_EVENT).map(|i| i.to_string()).collect();
    let direct = names.iter().map(|name| program(&lab.tiny(), &[name])).collect();
    let lines: Vec<Value> = names.iter().map(|name| line(&format!("{} {name}", lab.tiny().display()))).collect();
    case.add(one_by_one(lab, &lab.tiny(), &[])?);
    let direct = lab.with_hooks(direct, Shell::Sh)?;
    let through_bash = lab.with_hooks(lines.clone(), Shell::Bash)?;
    case.add(blocking(("hookrail", "side by side, programs with arguments"), 2, &direct, &input, HOOKS_PER_EVENT));
    case.add(from_task(("hookrail-tokio", "the same, from a task"), 2, &direct, &input, HOOKS_PER_EVENT)?);
    case.add(blocking(("hookrail-bash", "side by side, through `bash -c`"), 1, &through_bash, &input, HOOKS_PER_EVENT));
    peers(lab, &mut case, &lines);
    Ok(case)
}

fn peers(lab: &Lab, case: &mut PreparedCase, hooks: &[Value]) {
    let parallel = json!([{"hooks": hooks}]);
    let serial = json!([{"sequential": true, "hooks": hooks}]);
    let work = json!({"do": "fire", "times": 1, "hooks": HOOKS_PER_EVENT});
    gemini(lab, case, ("gemini", "side by side, `bash -c`"), &parallel, work.clone());
    gemini(lab, case, ("gemini-serial", "one after the other, `bash -c`"), &serial, work.clone());
    opendev(lab, case, ("opendev", "one after the other, `sh -c`: it has no other way"), &parallel, work);
}

fn one_by_one(lab: &Lab, program: &std::path::Path, arguments: &[&str]) -> BenchResult<Variant> {
    let mut bare = BareCommand::new(program, arguments, &lab.environment(Shell::Sh))?;
    let input = vec![b'x'; 1200];
    Ok(Variant::timed("floor-serial", "raw spawns, one after the other", 1, move || {
        for _ in 0..HOOKS_PER_EVENT {
            bare.round_trip(&input)?;
        }
        Ok(())
    }))
}

fn fires(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    case.add(one_of_many(lab)?);
    let system = lab.with_hooks(vec![program(&lab.tiny(), &[])], Shell::Sh)?;
    let runtime = threads()?;
    case.add(Variant::new("hookrail", "programs with arguments, from tasks", move || {
        let began = Instant::now();
        let fires: Vec<_> = (0..CONCURRENT_EVENTS)
            .map(|_| {
                let (system, input) = (system.clone(), input.clone());
                runtime.spawn(async move { check_answered(&system.fire(event(&system, &input)).await, 1) })
            })
            .collect();
        runtime.block_on(async {
            for fire in fires {
                fire.await??;
            }
            Ok::<_, crate::BenchError>(())
        })?;
        Ok(nanoseconds_each(began.elapsed(), CONCURRENT_EVENTS))
    }));
    let groups = json!([{"hooks": [line(&lab.tiny().display().to_string())]}]);
    gemini(
        lab,
        &mut case,
        ("gemini", "`bash -c`"),
        &groups,
        json!({"do": "together", "count": CONCURRENT_EVENTS, "hooks": 1}),
    );
    Ok(case)
}

fn one_of_many(lab: &Lab) -> BenchResult<Variant> {
    let mut bare = BareCommand::new(&lab.tiny(), &[], &lab.environment(Shell::Sh))?;
    let input = vec![b'x'; 1200];
    Ok(Variant::timed("floor", "raw spawns, one after the other", CONCURRENT_EVENTS, move || {
        bare.round_trip(&input).map(drop)
    }))
}
