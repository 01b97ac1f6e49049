//! The cost of hooks when none runs: switched off, none configured, none that matches.

use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hookrail::tools::ToolTable;
use hookrail::{EventKind, HookSystem, Json, Protect};
use serde_json::{Value, json};

use super::BenchCase;
use super::support::{built, gemini, opendev};
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, TOOL, check_answered, event, program, tool_input};

/// How often a call of nanoseconds is repeated in a row.
const REPETITIONS: u32 = 200_000;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "off", title: "hooks off, or none configured: what asking costs", prepare: off },
        BenchCase {
            name: "off-allocations",
            title: "allocations in 1,000 calls when no hook wants the event",
            prepare: allocations,
        },
        BenchCase { name: "off-whole", title: "none configured: the whole call of a host", prepare: whole },
        BenchCase { name: "none-match", title: "one hook, and its matcher does not match", prepare: none_match },
        BenchCase { name: "protect", title: "a guard, and a tool that writes a file or none", prepare: protect },
    ]
}

fn off(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let project = lab.project(&json!([]))?;
    let flag = AtomicU64::new(0);
    case.add(Variant::new("floor", "an empty loop with one relaxed load", move || {
        let began = Instant::now();
        for _ in 0..REPETITIONS {
            black_box(black_box(&flag).load(Ordering::Relaxed));
        }
        Ok(nanoseconds_each(began.elapsed(), REPETITIONS))
    }));
    let builder = HookSystem::builder(&project).environment(lab.environment(Shell::Sh)).trust_project();
    let switched_off = builder.hooks_off("measuring").build();
    let none = lab.system(&project, Shell::Sh);
    for (name, what, system) in [("hookrail-off", "hooks off", switched_off), ("hookrail", "none configured", none)] {
        case.add(Variant::new(name, &format!("`wants`, {what}"), move || {
            let began = Instant::now();
            for _ in 0..REPETITIONS {
                if black_box(black_box(&system).has_hooks_for(EventKind::BeforeTool)) {
                    return Err("no hook should want the event".into());
                }
            }
            Ok(nanoseconds_each(began.elapsed(), REPETITIONS))
        }));
    }
    Ok(case)
}

fn whole(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let system = lab.system(&lab.project(&json!([]))?, Shell::Sh);
    let input = tool_input(1024)?;
    let asking = (system.clone(), input.clone());
    case.add(Variant::timed("hookrail", "asks `wants`, then would fire", 20_000, move || {
        let (system, input) = black_box(&asking);
        if black_box(system.has_hooks_for(EventKind::BeforeTool)) {
            return check_answered(&system.fire_blocking(event(system, input)), 0);
        }
        Ok(())
    }));
    case.add(before_tool(("hookrail-fire", "`fire_before_tool`, without asking first"), system, input));
    let groups = json!([]);
    gemini(lab, &mut case, ("gemini", "`fireBeforeToolEvent`"), &groups, json!({"do": "fire", "times": 500}));
    let off = json!({"do": "evaluate", "times": 2000, "off": true});
    gemini(lab, &mut case, ("gemini-off", "hooks disabled, the scheduler's call"), &groups, off);
    opendev(lab, &mut case, ("opendev", "`run_hooks`"), &groups, json!({"do": "fire", "times": 5000}));
    Ok(case)
}

/// The call of a host with a tool's name and input, for a tool that no hook wants.
fn before_tool((name, what): (&str, &str), system: HookSystem, input: Json) -> Variant {
    Variant::timed(name, what, 5_000, move || {
        let mut fire = pin!(system.fire_before_tool(TOOL, input.clone()));
        match fire.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => check_answered(&black_box(outcome), 0),
            Poll::Pending => Err("an event that no hook wants should be over at once".into()),
        }
    })
}

fn none_match(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let groups = json!([{"matcher": "^some_other_tool$", "hooks": [program(&lab.tiny(), &[])]}]);
    let system = lab.system(&lab.project(&groups)?, Shell::Sh);
    let input = tool_input(1024)?;
    // The call that corresponds to the peer's: the tool's name and its input, and as often in a row.
    case.add(before_tool(("hookrail", "`fire_before_tool`"), system.clone(), input.clone()));
    case.add(Variant::timed(
        "hookrail-event",
        "`fire_blocking`, with an event that is made field by field",
        5_000,
        move || check_answered(&system.fire_blocking(event(&system, &input)), 0),
    ));
    let theirs = json!([{"matcher": "^some_other_tool$", "hooks": [{"type": "command", "command": "true"}]}]);
    gemini(lab, &mut case, ("gemini", "`fireBeforeToolEvent`"), &theirs, json!({"do": "fire", "times": 500}));
    opendev(lab, &mut case, ("opendev", "`run_hooks`"), &theirs, json!({"do": "fire", "times": 5000}));
    Ok(case)
}

/// What it costs to know that a call writes nothing that decides which hooks run.
fn protect(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    case.add(microsecond());
    let guard = json!({"type": "command", "command": "true", "onFailure": "block"});
    let project = lab.project(&json!([{"matcher": "^some_other_tool$", "hooks": [guard]}]))?;
    for (name, what, protect, tool) in [
        ("off-file", "a file tool, `protect` is off", Protect::Off, TOOL),
        ("hookrail-file", "a file tool", Protect::Ask, TOOL),
        ("off-other", "another tool, `protect` is off", Protect::Off, "glob"),
        ("hookrail-other", "another tool", Protect::Ask, "glob"),
    ] {
        let builder = HookSystem::builder(&project).environment(lab.environment(Shell::Sh)).trust_project();
        let system = builder.tool_table(ToolTable::default()).protect(protect).build();
        let input = Json::of(&json!({"file_path": "src/main.rs", "pattern": "*"}))?;
        case.add(Variant::timed(name, what, 5_000, move || {
            let event =
                system.event(EventKind::BeforeTool).with_text("tool_name", tool).with("tool_input", input.clone());
            check_answered(&system.fire_blocking(event), 0)
        }));
    }
    Ok(case)
}

/// A microsecond by the clock, with which differences are compared.
pub(super) fn microsecond() -> Variant {
    Variant::new("microsecond", "one microsecond by the clock", || {
        const TIMES: u32 = 5_000;
        let began = Instant::now();
        while began.elapsed() < Duration::from_micros(1) * TIMES {}
        Ok(nanoseconds_each(began.elapsed(), TIMES))
    })
}

fn allocations(_lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let counter = built("hookrail-bench", "hookrail-bench-allocations")?;
    let said = std::process::Command::new(counter).output()?;
    let counts: serde_json::Map<String, Value> = serde_json::from_slice(&said.stdout)?;
    for (name, count) in counts {
        case.value(&name, "allocations", count.as_f64().ok_or("a count is no number")?);
    }
    Ok(case)
}
