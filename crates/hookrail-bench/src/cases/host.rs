//! Hosts that are large, and hosts that have fired many events.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::json;

use super::BenchCase;
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, line, program};
use crate::peers::SharedDriver;
use crate::probe::{self, ProbeHost};

const MIB: f64 = 1024.0 * 1024.0;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "host-2g", title: "one hook from a host with 2 GiB in use", prepare: large_host },
        BenchCase { name: "memory", title: "memory of a host, idle and after many events", prepare: memory },
        BenchCase { name: "memory-kept", title: "memory kept for each event with 1 MiB", prepare: retained_memory },
    ]
}

fn project_of_one(lab: &Lab) -> BenchResult<std::path::PathBuf> {
    lab.project(&json!([{"hooks": [program(&lab.tiny(), &[])]}]))
}

fn large_host(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let project = project_of_one(lab)?;
    let sizes =
        [("small", "a small host", 0), ("large", "a host with 2 GiB in use", if lab.quick { 256 } else { 2048 })];
    for (name, what, fill_mib) in sizes {
        let host = ProbeHost { project: project.clone(), fill_mib, ..ProbeHost::default() };
        let mut driver = probe::start(&host, &lab.environment(Shell::Sh))?;
        let work = json!({"do": "fire", "times": 20, "hooks": 1});
        case.add(Variant::new(name, &format!("hookrail in {what}"), move || driver.time(&work)));
    }
    if lab.quick {
        case.absent("the large host has only 256 MiB in a quick look");
    }
    Ok(case)
}

fn memory(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let environment = lab.environment(Shell::Sh);
    let mut bare =
        probe::start(&ProbeHost { project: lab.project(&json!([]))?, ..ProbeHost::default() }, &environment)?;
    case.value("none configured", "MiB", bare.number(&json!({"do": "memory"}), "bytes")? / MIB);
    let mut driver = probe::start(&ProbeHost { project: project_of_one(lab)?, ..ProbeHost::default() }, &environment)?;
    driver.time(&json!({"do": "fire", "times": 100}))?;
    let before = driver.number(&json!({"do": "memory"}), "bytes")?;
    case.value("after 100 events", "MiB", before / MIB);
    let times = if lab.quick { 1_000 } else { 100_000 };
    driver.time(&json!({"do": "fire", "times": times}))?;
    let after = driver.number(&json!({"do": "memory"}), "bytes")?;
    case.value(&format!("after {times} events more"), "MiB", after / MIB);
    case.value("kept for each event", "bytes", (after - before) / f64::from(times));
    Ok(case)
}

/// The memory that stays after events with a mebibyte of input that differs each time, as from an agent that writes
/// files.
fn retained_memory(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let host = ProbeHost { project: project_of_one(lab)?, ..ProbeHost::default() };
    let ours = Rc::new(RefCell::new(probe::start(&host, &lab.environment(Shell::Sh))?));
    case.value("hookrail", "KiB for each event", growth(&ours, "host", lab)? / 1024.0);
    match lab.peers.gemini(&lab.environment(Shell::Bash)) {
        Ok(gemini) => {
            let groups = json!([{"hooks": [line(&lab.tiny().display().to_string())]}]);
            gemini.borrow_mut().request(&json!({"do": "prepare", "id": "kept", "groups": groups}))?;
            case.value("gemini", "KiB for each event", growth(&gemini, "kept", lab)? / 1024.0);
        }
        Err(why) => case.absent(why.to_string()),
    }
    Ok(case)
}

fn growth(driver: &SharedDriver, id: &str, lab: &Lab) -> BenchResult<f64> {
    let times = if lab.quick { 30 } else { 200 };
    let mut driver = driver.borrow_mut();
    let fire =
        |times: u32| json!({"do": "fire", "id": id, "times": times, "bytes": 1 << 20, "hooks": 1, "fresh": true});
    driver.time(&fire(20))?;
    let before = driver.number(&json!({"do": "memory"}), "bytes")?;
    driver.time(&fire(times))?;
    Ok((driver.number(&json!({"do": "memory"}), "bytes")? - before) / f64::from(times))
}
