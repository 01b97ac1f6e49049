//! The outcome is a function of the configuration and the answers: over random plans of every dialect, neither the
//! order in which runs end nor their delays change anything, and no failed, made-up or later answer turns a deny into
//! an allow where the rules do not say so.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{hook, json, module_hook, plugin_hook};
use hookrail::{
    Action, Code, Decision, DialectId, Effects, Environment, Event, EventKind, Firing, GroupOrder, Hook, HookSystem,
    How, NativeHook, OnFailure, Origin, Outcome, RunEnd, RunRequest, Snapshot, SourceKind, SpawnFailure, Step,
    outcome_document,
};
use proptest::prelude::*;
use serde_json::{Value, json as value};

/// A hook of any dialect, and how each of its runs ends.
#[derive(Clone, Debug)]
struct Scripted {
    dialect: DialectId,
    layer: SourceKind,
    order: GroupOrder,
    on_failure: OnFailure,
    end: RunEnd,
}

impl Scripted {
    fn hook(&self, kind: EventKind, name: &str) -> Hook {
        let mut made = match self.dialect {
            DialectId::Xcode => plugin_hook(kind, name),
            DialectId::Xcsh => module_hook(kind, name),
            DialectId::Native => {
                let origin = Origin::without_file(SourceKind::Native);
                let nothing = NativeHook::new(|_| Effects::none());
                Hook::new(kind, DialectId::Native, name, Action::Native(nothing), origin)
            }
            _ => {
                let mut made = hook(kind, name, self.layer);
                made.order = self.order;
                made
            }
        };
        made.on_failure = match (self.dialect, self.on_failure) {
            // A plugin's policy knows two words.
            (DialectId::Xcode, OnFailure::Ask) => OnFailure::Block,
            (_, policy) => policy,
        };
        made
    }
}

fn end(how: How) -> RunEnd {
    RunEnd::new(how, Duration::from_millis(1))
}

/// Every way to fail, with a decision on standard output that must not count.
fn failures() -> impl Strategy<Value = RunEnd> {
    let how = prop_oneof![
        prop::sample::select(vec![1, 3, 126, 127, 255]).prop_map(How::Exited),
        prop::sample::select(vec![6, 9, 11]).prop_map(How::Signalled),
        Just(How::TimedOut(Duration::from_millis(5))),
        Just(How::OutputLimit),
        Just(How::Cancelled),
        Just(How::StatusUnknown),
        Just(How::SpawnFailed(SpawnFailure::NotFound("x".into()))),
        Just(How::Threw("thrown".into())),
        Just(How::OverLimit("memory".into())),
    ];
    let said = prop::sample::select(vec!["", "text", r#"{"decision":"allow"}"#, r#"{"decision":"deny"}"#, "{"]);
    (how, said).prop_map(|(how, said)| end(how).stdout(said).stderr("words"))
}

fn command_answers() -> impl Strategy<Value = RunEnd> {
    let decision =
        prop::sample::select(vec![Value::Null, value!("allow"), value!("ask"), value!("deny"), value!("block")]);
    let rewrite = prop::option::of(0..3_u8);
    let text = prop::option::of(prop::sample::select(vec!["a", "b"]));
    (decision, rewrite, text, any::<Option<bool>>(), 0..8_u8).prop_map(|(decision, rewrite, text, goes_on, style)| {
        let mut answer = value!({"decision": decision, "hookSpecificOutput": {}});
        if let Some(number) = rewrite {
            answer["hookSpecificOutput"]["tool_input"] = value!({"n": number});
            answer["hookSpecificOutput"]["llm_request"] = value!({"config": {"topK": number}});
            answer["hookSpecificOutput"]["toolConfig"] = value!({"allowedFunctionNames": [number.to_string()]});
        }
        if let Some(text) = text {
            (answer["reason"], answer["systemMessage"]) = (value!(text), value!(text));
            answer["hookSpecificOutput"]["additionalContext"] = value!(text);
        }
        if let Some(goes_on) = goes_on {
            answer["continue"] = value!(goes_on);
        }
        match style {
            0 => end(How::Exited(0)).stdout("plain text"),
            1 => end(How::Exited(0)).stdout(r#"{"decision":"#),
            2 => end(How::Exited(2)).stderr("no"),
            3 => end(How::Exited(0)),
            _ => end(How::Exited(0)).stdout(answer.to_string()),
        }
    })
}

fn plugin_answers() -> impl Strategy<Value = RunEnd> {
    let said = vec![
        r#"{"decision":"allow"}"#,
        r#"{"decision":"allow","context":"c"}"#,
        r#"{"decision":"deny","reason":"plugin"}"#,
        r#"{"decision":"modify","args":{"p":1}}"#,
        r#"{"decision":"modify","output":"o"}"#,
        "noise",
        "",
    ];
    prop::sample::select(said).prop_map(|said| end(How::Exited(0)).stdout(said))
}

fn module_answers() -> impl Strategy<Value = RunEnd> {
    let said = vec![
        None,
        Some(r#"{"block":true,"reason":"module"}"#),
        Some(r#"{"block":false}"#),
        Some(r#"{"cancel":true}"#),
        Some(r#"{"content":[{"type":"text","text":"t"}]}"#),
        Some(r#"{"message":{"customType":"x","content":"m"}}"#),
        Some(r#"{"messages":[{"role":"user","content":"u"}]}"#),
        Some(r#""text""#),
    ];
    prop::sample::select(said).prop_map(|said| end(How::Returned(said.map(json))))
}

fn native_answers() -> impl Strategy<Value = RunEnd> {
    let effects = vec![
        Effects::none(),
        Effects::allow(),
        Effects::ask("native"),
        Effects::deny("native"),
        Effects::none().with_tool_input(json(r#"{"native":1}"#)),
    ];
    prop::sample::select(effects).prop_map(|effects| end(How::Decided(Box::new(effects))))
}

fn scripted() -> impl Strategy<Value = Scripted> {
    let answer = prop_oneof![
        4 => command_answers().prop_map(|end| (DialectId::Llxprt, end)),
        2 => plugin_answers().prop_map(|end| (DialectId::Xcode, end)),
        2 => module_answers().prop_map(|end| (DialectId::Xcsh, end)),
        1 => native_answers().prop_map(|end| (DialectId::Native, end)),
        3 => (dialects(), failures()),
    ];
    let layer =
        prop::sample::select(vec![SourceKind::Project, SourceKind::User, SourceKind::System, SourceKind::Extension]);
    let order = prop_oneof![5 => Just(GroupOrder::Parallel), 1 => Just(GroupOrder::Sequential)];
    let policy = prop::sample::select(vec![OnFailure::Allow, OnFailure::Ask, OnFailure::Block]);
    (answer, layer, order, policy).prop_map(|((dialect, end), layer, order, on_failure)| Scripted {
        dialect,
        layer,
        order,
        on_failure,
        end,
    })
}

fn dialects() -> impl Strategy<Value = DialectId> {
    prop::sample::select(vec![DialectId::Llxprt, DialectId::Xcode, DialectId::Xcsh, DialectId::Native])
}

fn plans() -> impl Strategy<Value = Vec<Scripted>> {
    prop::collection::vec(scripted(), 0..8)
}

fn sample(kind: EventKind) -> Event {
    Event::new(kind, "/p")
        .session("s")
        .at_time("2025-02-18T16:30:00.000Z")
        .with_text("tool_name", "write_file")
        .with("tool_input", json(r#"{"path":"a","n":9007199254740993}"#))
        .with("tool_response", json(r#"{"llmContent":"x"}"#))
        .with("llm_request", json(r#"{"messages":[{"role":"user","content":"u"}]}"#))
        .with("llm_response", json(r#"{"text":"t"}"#))
        .with_text("prompt", "p")
}

/// A source of choices that is the same for the same seed.
struct Choices(u64);

impl Choices {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Drives a plan; the seed says in which order the runs of a batch end. A machine that is asked in between has to wait.
fn fire(kind: EventKind, plan: &[Scripted], seed: Option<u64>) -> Outcome {
    let hooks = plan.iter().enumerate().map(|(at, scripted)| scripted.hook(kind, &at.to_string())).collect();
    let mut firing = Firing::new(Arc::new(Snapshot::new(hooks, Vec::new())), sample(kind));
    let mut choices = seed.map(Choices);
    loop {
        match firing.step() {
            Step::Done(outcome) => return *outcome,
            Step::Run(batch) => {
                let mut open: Vec<RunRequest> = batch.requests;
                while !open.is_empty() {
                    let at = choices.as_mut().map_or(0, |choices| choices.below(open.len()));
                    let request = open.remove(at);
                    let number: usize = request.hook.label.parse().unwrap();
                    firing.ended(request.id, &plan[number].end);
                    if !open.is_empty() {
                        assert!(matches!(firing.step(), Step::Wait), "it goes on without all ends");
                    }
                }
            }
            other => panic!("the machine waits for nothing: {other:?}"),
        }
    }
}

fn document(outcome: &Outcome) -> String {
    outcome_document(outcome).text().to_owned()
}

fn kinds() -> impl Strategy<Value = EventKind> {
    prop::sample::select(EventKind::all().collect::<Vec<_>>())
}

/// Whether an explicit deny was replaced by a later word, which model events allow and report.
fn was_overridden(kind: EventKind, outcome: &Outcome) -> bool {
    kind == EventKind::BeforeModel && outcome.diagnostics.iter().any(|found| found.code == Code::DecisionOverridden)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn the_order_in_which_runs_end_changes_nothing(kind in kinds(), plan in plans(), seed in any::<u64>()) {
        prop_assert_eq!(document(&fire(kind, &plan, None)), document(&fire(kind, &plan, Some(seed))));
    }

    #[test]
    fn a_deny_of_any_run_denies_where_the_event_can_be_denied(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::Prompt, EventKind::BeforeModel]),
        plan in plans(),
    ) {
        let outcome = fire(kind, &plan, None);
        let said = outcome.runs.iter().any(|run| run.decision == Some(Decision::Deny));
        prop_assert!(!said || outcome.is_denied() || was_overridden(kind, &outcome), "{}", document(&outcome));
    }

    #[test]
    fn no_further_hook_turns_a_deny_into_anything_else(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::Prompt, EventKind::BeforeModel]),
        plan in plans(),
        further in scripted(),
        at in any::<prop::sample::Index>(),
    ) {
        let before = fire(kind, &plan, None);
        let mut more = plan;
        more.insert(at.index(more.len() + 1), further);
        let after = fire(kind, &more, None);
        prop_assert!(!before.is_denied() || after.is_denied() || was_overridden(kind, &after), "{}", document(&after));
    }

    #[test]
    fn a_failure_alone_never_allows_and_never_hides_a_deny(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::BeforeModel]),
        plan in plans(),
        dialect in dialects(),
        failure in failures(),
        at in any::<prop::sample::Index>(),
    ) {
        let before = fire(kind, &plan, None);
        // The new hook must not be what makes the event a chain.
        let is_chain = plan.iter().any(|one| one.dialect == DialectId::Llxprt && one.order == GroupOrder::Sequential);
        let order = if is_chain { GroupOrder::Sequential } else { GroupOrder::Parallel };
        let failing = Scripted { dialect, layer: SourceKind::User, order, on_failure: OnFailure::Allow, end: failure };
        let mut more = plan;
        more.insert(at.index(more.len() + 1), failing);
        let after = fire(kind, &more, None);
        prop_assert!(after.effects.decision >= before.effects.decision, "{}\n{}", document(&before), document(&after));
        // A guard module blocks when it fails; nobody else says anything by failing.
        if dialect != DialectId::Xcsh {
            prop_assert_eq!(after.effects.decision, before.effects.decision);
            prop_assert_eq!(after.effects.tool_input, before.effects.tool_input);
        }
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
    // How long each one waits is in a file, so that the hooks themselves are always the same.
    let commands = said.iter().enumerate().map(|(at, said)| {
        let command = format!("sleep $(cat delay-{at}); echo '{said}'");
        hook(EventKind::BeforeTool, &command, SourceKind::User)
    });
    let failing = hook(EventKind::BeforeTool, "sleep $(cat delay-5); exit 3", SourceKind::User);
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
            std::fs::write(folder.path().join(format!("delay-{at}")), delay).unwrap();
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
    }
    document
}
