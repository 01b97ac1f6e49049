//! Finding the hooks of an event among many.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use hookrail::{Event, EventKind, HookSystem};
use regex::{RegexSet, RegexSetBuilder};
use serde_json::{Value, json};

use super::BenchCase;
use super::support::gemini;
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, TOOL};

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "plan-1", title: "planning with 1 hook", prepare: |lab| plan(lab, 1) },
        BenchCase { name: "plan-100", title: "planning among 100 hooks", prepare: |lab| plan(lab, 100) },
        BenchCase { name: "plan-1000", title: "planning among 1,000 hooks", prepare: |lab| plan(lab, 1_000) },
        BenchCase { name: "plan-10000", title: "planning among 10,000 hooks", prepare: |lab| plan(lab, 10_000) },
    ]
}

/// Matchers as people write them, all different. The last one is for the tool.
fn matchers(count: usize) -> Vec<String> {
    let written = (1..count).map(|i| match i % 4 {
        0 => format!("^run_{i}$"),
        1 => format!("mcp__server{i}__.*"),
        2 => format!("edit_{i}|replace_{i}"),
        _ => format!("^(read|write)_{i}[a-z]*$"),
    });
    written.chain([format!("^{TOOL}$")]).collect()
}

/// Names of tools that no matcher matches. They begin like those of the matchers, as real ones do.
fn new_name(number: u64) -> String {
    match number % 4 {
        0 => format!("tool_x{number}"),
        1 => format!("mcp__serverx{number}__query"),
        2 => format!("edit_x{number}"),
        _ => format!("read_x{number}"),
    }
}

fn groups(matchers: &[String]) -> Value {
    let group = |(i, matcher): (usize, &String)| json!({"matcher": matcher, "hooks": [{"type": "command", "command": format!("true {i}")}]});
    matchers.iter().enumerate().map(group).collect()
}

fn plan(lab: &Lab, count: usize) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let matchers = matchers(count);
    let groups = groups(&matchers);
    let system = lab.system(&lab.project(&groups)?, Shell::Sh);
    case.add(hash_map(count));
    case.add(regex_set(&matchers)?);
    case.add(planned("hookrail-cached", "a tool seen before", &system, CALLS, |_| TOOL.to_owned()));
    case.add(planned("hookrail-new", "a tool never seen before", &system, CALLS, new_name));
    let times = (20_000 / count).clamp(1, 200);
    gemini(lab, &mut case, ("gemini", "the same tool again"), &groups, json!({"do": "plan", "times": times}));
    let new = json!({"do": "plan", "times": times, "fresh": true});
    gemini(lab, &mut case, ("gemini-new", "a tool never seen before"), &groups, new);
    Ok(case)
}

/// The floor for a tool that was seen before: one look-up in a map.
fn hash_map(count: usize) -> Variant {
    let entries = (1..count).map(|i| format!("tool_{i}")).chain([TOOL.to_owned()]);
    let map: HashMap<String, Arc<[usize]>> = entries.enumerate().map(|(i, name)| (name, Arc::from([i]))).collect();
    Variant::timed("floor-map", "one look into a hash map", CALLS, move || {
        black_box(black_box(&map).get(black_box(TOOL)).cloned()).map(drop).ok_or_else(|| "it is not there".into())
    })
}

/// The floor for a new tool: all patterns at once.
fn regex_set(matchers: &[String]) -> BenchResult<Variant> {
    let set: RegexSet = RegexSetBuilder::new(matchers).size_limit(1 << 30).dfa_size_limit(1 << 28).build()?;
    let mut number = 0_u64;
    Ok(Variant::new("floor-set", "one call of a `RegexSet`", move || {
        let names: Vec<String> = (0..u64::from(CALLS)).map(|i| new_name(number + i)).collect();
        number += u64::from(CALLS);
        let began = Instant::now();
        for name in &names {
            black_box(black_box(&set).matches(black_box(name)));
        }
        Ok(nanoseconds_each(began.elapsed(), CALLS))
    }))
}

/// How many calls one measurement has, of hookrail and of the floor alike: the first ones find cold caches.
const CALLS: u32 = 100;

/// Finding the plan of an event, as every fire does. The events are made before the measurement.
fn planned(name: &str, what: &str, system: &HookSystem, times: u32, tool: impl Fn(u64) -> String + 'static) -> Variant {
    let system = system.clone();
    let mut number = 0;
    Variant::new(name, what, move || {
        let mut made = |_| {
            number += 1;
            let event = Event::new(EventKind::BeforeTool, system.project());
            event.with_text("tool_name", &tool(number)).with("tool_input", hookrail::Json::empty_object())
        };
        let events: Vec<Event> = (0..times).map(&mut made).collect();
        let wanted = usize::from(tool(0) == TOOL);
        let mut plans = Vec::with_capacity(events.len());
        let began = Instant::now();
        for event in &events {
            plans.push(system.explain(event));
        }
        let took = began.elapsed();
        if plans.iter().any(|plan| plan.hooks().count() != wanted) {
            return Err(format!("{wanted} hooks should have been planned").into());
        }
        Ok(nanoseconds_each(took, times))
    })
}
