//! Replaying a journal, against firing the same events in one program.

use std::process::Command;

use hookrail::{HookSystem, Json};
use hookrail_journal::{Journal, JournalOptions};
use serde_json::{Value, json};

use super::BenchCase;
use super::support::installed;
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, check_answered, event, tool_input};
use crate::peers::script;

/// The number of events.
const EVENTS: u32 = 1_000;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![BenchCase { name: "replay", title: "1,000 recorded events and one module", prepare: replay }]
}

fn replay(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let module = script("guard.ts");
    let project = lab.project(&json!([]))?.canonicalize()?;
    let input: Json = tool_input(1024)?;
    let environment = lab.environment(Shell::Sh);
    let (place, hook) = (project.clone(), module.clone());
    let build = move || {
        let builder = HookSystem::builder(&place).environment(environment.clone()).trust_project();
        builder.runner(hookrail_js::modules()).module(&hook)
    };
    let state = lab.new_path("state");
    let journal = Journal::new(JournalOptions::new(state.join("hookrail/journal")));
    let recorded = build().recorder(journal).build();
    for _ in 0..EVENTS {
        check_answered(&recorded.fire_blocking(event(&recorded, &input)), 1)?;
    }
    case.add(Variant::new("in-process", "a system is built, fires them and ends", move || {
        let began = std::time::Instant::now();
        let system = build().build();
        for _ in 0..EVENTS {
            check_answered(&system.fire_blocking(event(&system, &input)), 1)?;
        }
        system.shutdown_blocking();
        Ok(nanoseconds_each(began.elapsed(), EVENTS))
    }));
    let binary = installed(lab)?;
    case.add(Variant::new(
        "hookrail-replay",
        "`hookrail replay --json`, from start to end of the process",
        move || {
            let began = std::time::Instant::now();
            let mut command = Command::new(&binary);
            command.args(["replay", "--json", "--trust-project", "--project"]).arg(&project).arg("--hook").arg(&module);
            let output = command.env_clear().env("XDG_STATE_HOME", &state).output()?;
            let took = began.elapsed();
            let found: Value = serde_json::from_slice(&output.stdout)?;
            let count = |name: &str| found.get(name).and_then(Value::as_u64);
            if (count("replayed"), count("same")) == (Some(EVENTS.into()), Some(EVENTS.into())) {
                Ok(nanoseconds_each(took, EVENTS))
            } else {
                Err(format!("the replay found {found}").into())
            }
        },
    ));
    Ok(case)
}
