//! The outcome is a function of the configuration and the answers: over random plans of every dialect, neither the
//! order in which runs end nor their delays change anything.

use std::time::Duration;

use crate::common::{hook, json};
use crate::plans::{Choices, document, failures, fire, fire_and_repeat, kinds, plans, scripted};
use hookrail::document::outcome_document;
use hookrail::hook::Action;
use hookrail::process::RunEnd;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Effects, Environment, EventKind, Hook, HookSystem, NativeHook};
use proptest::prelude::*;
use serde_json::{Value, json as value};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn the_order_in_which_runs_end_changes_nothing(kind in kinds(), plan in plans(), seed in any::<u64>()) {
        prop_assert_eq!(document(&fire(kind, &plan, None)), document(&fire(kind, &plan, Some(seed))));
    }

    #[test]
    fn how_long_runs_take_changes_nothing(kind in kinds(), plan in plans(), seed in any::<u64>()) {
        let mut choices = Choices(seed);
        let mut other = plan.clone();
        for scripted in &mut other {
            let other = Duration::from_millis(choices.below(1000) as u64);
            match &mut scripted.end {
                RunEnd::Process(end) => end.duration = other,
                RunEnd::Module(end) => end.duration = other,
                RunEnd::Native(end) => end.duration = other,
                RunEnd::Remote(end) => end.duration = other,
                RunEnd::NotRun(_) => {}
            }
        }
        let timeless = |plan| without_times(outcome_document(&fire(kind, plan, None)).to_value());
        prop_assert_eq!(timeless(&plan), timeless(&other));
    }

    #[test]
    fn a_second_end_of_a_run_changes_nothing(
        kind in kinds(),
        plan in plans(),
        again in prop_oneof![failures(), scripted().prop_map(|other| other.end)],
    ) {
        let twice = fire_and_repeat(kind, &plan, None, Some(&again));
        prop_assert_eq!(document(&fire(kind, &plan, None)), document(&twice));
    }
}

#[test]
fn delays_of_real_processes_and_closures_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let said = [
        r#"{"decision":"allow","systemMessage":"one"}"#,
        r#"{"decision":"ask","reason":"two"}"#,
        r#"{"hookSpecificOutput":{"tool_input":{"n":3}},"systemMessage":"three"}"#,
        r#"{"hookSpecificOutput":{"tool_input":{"n":4}},"systemMessage":"four"}"#,
        "text",
    ];
    // How long each one waits is in a file outside of the project, so that the hooks themselves are always the same.
    let waits = tempfile::tempdir().unwrap();
    let waits = waits.path();
    let commands = said.iter().enumerate().map(|(at, said)| {
        let command = format!("sleep $(cat {}/delay-{at}); echo '{said}'", waits.display());
        hook(EventKind::BeforeTool, &command, SourceKind::User)
    });
    let failing = format!("sleep $(cat {}/delay-5); exit 3", waits.display());
    let failing = hook(EventKind::BeforeTool, &failing, SourceKind::User);
    let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let builder = HookSystem::builder(folder.path()).environment(environment);
    let system = commands.chain([failing]).fold(builder, |builder, hook| builder.hook(hook)).build();
    let origin = Origin::without_file(SourceKind::Native);
    let asks = NativeHook::new(|_| Effects::ask("native"));
    system.register(Hook::new(EventKind::BeforeTool, DialectId::Native, "asks", Action::Native(asks), origin));
    let mut choices = Choices(7);
    let mut seen = Vec::new();
    for _ in 0..8 {
        let mut delays = ["0", "0.02", "0.04", "0.06", "0.08", "0.1"];
        for at in (1..delays.len()).rev() {
            delays.swap(at, choices.below(at + 1));
        }
        for (at, delay) in delays.iter().enumerate() {
            std::fs::write(waits.join(format!("delay-{at}")), delay).unwrap();
        }
        let event = system.event(EventKind::BeforeTool).at_time("t").with_text("tool_name", "write_file");
        let outcome = system.fire_blocking(event.with("tool_input", json(r#"{"n":1}"#)));
        seen.push(without_times(outcome_document(&outcome).to_value()));
    }
    assert_eq!(seen[0]["decision"], "ask");
    assert_eq!(seen[0]["toolInput"], value!({"n": 4}), "the last in the plan, not the last to end");
    for other in &seen[1..] {
        assert_eq!(other, &seen[0]);
    }
}

/// A document without how long anything took, which is all that may differ.
fn without_times(mut document: Value) -> Value {
    document["aggregated"]["totalDuration"] = Value::Null;
    for run in document["runs"].as_array_mut().unwrap() {
        run["durationMs"] = Value::Null;
        run["startedMs"] = Value::Null;
    }
    document
}
