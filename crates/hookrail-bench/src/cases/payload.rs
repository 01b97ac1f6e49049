//! Payloads from one kibibyte to ten mebibytes, to one hook and to ten.

use hookrail::{HookSystem, Json};
use serde_json::{Value, json};

use super::BenchCase;
use super::support::{gemini, opendev};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, check_answered, event, line, program, tool_input};

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "payload-1k", title: "1 KiB to one hook", prepare: |lab| payload(lab, 1 << 10, 1) },
        BenchCase { name: "payload-64k", title: "64 KiB to one hook", prepare: |lab| payload(lab, 64 << 10, 1) },
        BenchCase { name: "payload-1m", title: "1 MiB to one hook", prepare: |lab| payload(lab, 1 << 20, 1) },
        BenchCase { name: "payload-10m", title: "10 MiB to one hook", prepare: |lab| payload(lab, 10 << 20, 1) },
        BenchCase { name: "payload-1k-x10", title: "1 KiB to ten hooks", prepare: |lab| payload(lab, 1 << 10, 10) },
        BenchCase { name: "payload-64k-x10", title: "64 KiB to ten hooks", prepare: |lab| payload(lab, 64 << 10, 10) },
        BenchCase { name: "payload-1m-x10", title: "1 MiB to ten hooks", prepare: |lab| payload(lab, 1 << 20, 10) },
        BenchCase { name: "payload-10m-x10", title: "10 MiB to ten hooks", prepare: |lab| payload(lab, 10 << 20, 10) },
    ]
}

fn payload(lab: &Lab, bytes: usize, hooks: usize) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(bytes)?;
    let times = if bytes < 1 << 20 { 5 } else { 1 };
    let mut bare = BareCommand::new(&lab.tiny(), &[], &lab.environment(Shell::Sh))?;
    let raw = input.text().as_bytes().to_vec();
    case.add(Variant::timed("floor-loop", "raw spawns, 64 KiB pipes, one poll loop", times, move || {
        bare.pump(&raw, hooks)
    }));
    let names: Vec<String> = (0..hooks).map(|i| i.to_string()).collect();
    let entries = names.iter().map(|name| program(&lab.tiny(), &[name])).collect();
    case.add(fired("hookrail", "over pipes", times, lab.with_hooks(entries, Shell::Sh)?, &input, hooks));
    let lines: Vec<Value> = names.iter().map(|name| line(&format!("{} {name}", lab.tiny().display()))).collect();
    let groups = json!([{"hooks": lines}]);
    let work = json!({"do": "fire", "times": 1, "bytes": bytes, "hooks": hooks});
    gemini(lab, &mut case, ("gemini", "side by side, `bash -c`"), &groups, work.clone());
    if hooks == 1 {
        opendev(lab, &mut case, ("opendev", "`sh -c`"), &groups, work);
    }
    Ok(case)
}

/// Fires events that were made before the measurement, as a host has them ready.
fn fired(name: &str, what: &str, times: u32, system: HookSystem, input: &Json, hooks: usize) -> Variant {
    let input = input.clone();
    let made = system.clone();
    Variant::prepared(
        name,
        what,
        times,
        move || event(&made, &input),
        move |event| check_answered(&system.fire_blocking(event), hooks),
    )
}
