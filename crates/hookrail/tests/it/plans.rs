//! Random plans of all dialects, with every way to answer and to fail, and a driver that ends their runs in any order.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]
#![allow(dead_code, reason = "each test file uses a part of this")]

use std::sync::Arc;
use std::time::Duration;

use hookrail::document::outcome_document;
use hookrail::hook::{Action, GroupOrder};
use hookrail::plan::{Firing, ModelDecisions, Plan, Policy, Snapshot, Step};
use hookrail::process::{NativeEnd, PlannedRun, RawEnd, RunEnd, SpawnFailure};
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Effects, Event, EventKind, Hook, NativeHook, OnFailure, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json as value};

use crate::common::{exited, hook, json, module_end, module_hook, plugin_hook, process_end};

/// A hook of any dialect, and how each of its runs ends.
#[derive(Clone, Debug)]
pub(crate) struct Scripted {
    pub(crate) dialect: DialectId,
    pub(crate) layer: SourceKind,
    pub(crate) order: GroupOrder,
    pub(crate) on_failure: OnFailure,
    pub(crate) end: RunEnd,
}

impl Scripted {
    /// Plugins and modules are the user's, or lie in the project.
    fn of_project(&self, mut made: Hook) -> Hook {
        if self.layer == SourceKind::Project {
            made.origin.kind = SourceKind::Project;
        }
        made
    }

    fn hook(&self, kind: EventKind, name: &str) -> Hook {
        let mut made = match self.dialect {
            DialectId::Xcode => self.of_project(plugin_hook(kind, name)),
            DialectId::Xcsh => self.of_project(module_hook(kind, name)),
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

/// Every way to fail, with a decision on standard output that must not count.
pub(crate) fn failures() -> impl Strategy<Value = RunEnd> {
    let how = prop_oneof![
        prop::sample::select(vec![1, 3, 126, 127, 255]).prop_map(RawEnd::Exited),
        prop::sample::select(vec![6, 9, 11]).prop_map(RawEnd::Signalled),
        Just(RawEnd::TimedOut(Duration::from_millis(5))),
        Just(RawEnd::OutputLimit),
        Just(RawEnd::Cancelled),
        Just(RawEnd::StatusUnknown),
        Just(RawEnd::SpawnFailed(SpawnFailure::NotFound("x".into()))),
        Just(RawEnd::Unusable("broken".into())),
        Just(RawEnd::BrokeProtocol("no answer".into())),
        Just(RawEnd::Threw("thrown".into())),
        Just(RawEnd::OverLimit("memory".into())),
    ];
    let said = prop::sample::select(vec!["", "text", r#"{"decision":"allow"}"#, r#"{"decision":"deny"}"#, "{"]);
    (how, said).prop_map(|(how, said)| process_end(how, said, "words"))
}

pub(crate) fn command_answers() -> impl Strategy<Value = RunEnd> {
    let decision =
        prop::sample::select(vec![Value::Null, value!("allow"), value!("ask"), value!("deny"), value!("block")]);
    let rewrite = prop::option::of(0..3_u8);
    let text = prop::option::of(prop::sample::select(vec!["a", "b"]));
    (decision, rewrite, text, any::<Option<bool>>(), 0..9_u8).prop_map(|(decision, rewrite, text, goes_on, style)| {
        let mut answer = value!({"decision": decision, "hookSpecificOutput": {}});
        if let Some(number) = rewrite {
            answer["hookSpecificOutput"]["tool_input"] = value!({"n": number});
            answer["hookSpecificOutput"]["llm_request"] = value!({"config": {"topK": number}});
            answer["hookSpecificOutput"]["llm_response"] = value!({"text": number.to_string()});
            answer["hookSpecificOutput"]["toolConfig"] = value!({"allowedFunctionNames": [number.to_string()]});
        }
        if let Some(text) = text {
            (answer["reason"], answer["systemMessage"]) = (value!(text), value!(text));
            answer["hookSpecificOutput"]["additionalContext"] = value!(text);
        }
        if let Some(goes_on) = goes_on {
            answer["continue"] = value!(goes_on);
            answer["stopReason"] = value!(["enough", ""][usize::from(style % 2)]);
            answer["suppressOutput"] = value!(style % 3 == 0);
        }
        match style {
            0 => exited(0, "plain text", ""),
            1 => exited(0, r#"{"decision":"#, ""),
            2 => exited(2, "", "no"),
            3 => exited(0, "", ""),
            4 => exited(2, &answer.to_string(), ""),
            _ => exited(0, &answer.to_string(), ""),
        }
    })
}

pub(crate) fn plugin_answers() -> impl Strategy<Value = RunEnd> {
    let said = vec![
        r#"{"decision":"allow"}"#,
        r#"{"decision":"allow","context":"c"}"#,
        r#"{"decision":"deny","reason":"plugin"}"#,
        r#"{"decision":"modify","args":{"p":1}}"#,
        r#"{"decision":"modify","output":"o"}"#,
        "noise",
        "",
    ];
    prop::sample::select(said).prop_map(|said| exited(0, said, ""))
}

pub(crate) fn module_answers() -> impl Strategy<Value = RunEnd> {
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
    prop::sample::select(said).prop_map(|said| module_end(RawEnd::Returned(said.map(json))))
}

pub(crate) fn native_answers() -> impl Strategy<Value = RunEnd> {
    let effects = vec![
        Effects::none(),
        Effects::allow(),
        Effects::ask("native"),
        Effects::deny("native"),
        Effects::deny("native").with_tool_input(json(r#"{"native":2}"#)),
        Effects::none().with_tool_input(json(r#"{"native":1}"#)),
    ];
    prop::sample::select(effects).prop_map(|effects| {
        let how = RawEnd::Decided(Box::new(effects));
        RunEnd::Native(NativeEnd { how, duration: Duration::from_millis(1) })
    })
}

pub(crate) fn scripted() -> impl Strategy<Value = Scripted> {
    scripted_in(prop_oneof![
        4 => Just(DialectId::Llxprt),
        2 => Just(DialectId::Xcode),
        2 => Just(DialectId::Xcsh),
        1 => Just(DialectId::Native),
    ])
}

/// A hook of one of these dialects.
fn scripted_in(dialect: impl Strategy<Value = DialectId>) -> impl Strategy<Value = Scripted> {
    let answer =
        (dialect, command_answers(), plugin_answers(), module_answers(), native_answers(), failures(), 0..4_u8);
    let answer = answer.prop_map(|(dialect, command, plugin, module, native, failure, style)| {
        let end = match (style, dialect) {
            (0, _) => failure,
            (_, DialectId::Xcode) => plugin,
            (_, DialectId::Xcsh) => module,
            (_, DialectId::Native) => native,
            _ => command,
        };
        (dialect, end)
    });
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

pub(crate) fn dialects() -> impl Strategy<Value = DialectId> {
    prop::sample::select(vec![DialectId::Llxprt, DialectId::Xcode, DialectId::Xcsh, DialectId::Native])
}

pub(crate) fn plans() -> impl Strategy<Value = Vec<Scripted>> {
    // What happens within one dialect is rare in a mixture.
    let alike = dialects().prop_flat_map(|dialect| prop::collection::vec(scripted_in(Just(dialect)), 0..5));
    prop_oneof![2 => prop::collection::vec(scripted(), 0..8), 1 => alike]
}

pub(crate) fn sample(kind: EventKind) -> Event {
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
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Drives a plan; the seed says in which order the runs of a batch end. A machine that is asked in between has to wait.
pub(crate) fn fire(kind: EventKind, plan: &[Scripted], seed: Option<u64>) -> Outcome {
    fire_and_repeat(kind, plan, seed, None)
}

/// The same, with a second end for every run, which the machine does not wait for.
pub(crate) fn fire_and_repeat(
    kind: EventKind,
    plan: &[Scripted],
    seed: Option<u64>,
    again: Option<&RunEnd>,
) -> Outcome {
    drive(kind, plan, snapshot(kind, plan), seed, again)
}

/// The same where a deny of a model call counts, whatever comes after it.
pub(crate) fn fire_strictly(kind: EventKind, plan: &[Scripted]) -> Outcome {
    let policy = Policy { model_decisions: ModelDecisions::Strict, ..Policy::default() };
    drive(kind, plan, snapshot(kind, plan).with_policy(policy), None, None)
}

fn snapshot(kind: EventKind, plan: &[Scripted]) -> Snapshot {
    let hooks = plan.iter().enumerate().map(|(at, scripted)| scripted.hook(kind, &at.to_string())).collect();
    Snapshot::new(hooks, Vec::new())
}

fn drive(kind: EventKind, plan: &[Scripted], snapshot: Snapshot, seed: Option<u64>, again: Option<&RunEnd>) -> Outcome {
    let mut firing = Firing::new(Arc::new(snapshot), sample(kind));
    let mut choices = seed.map(Choices);
    loop {
        match firing.step() {
            Step::Done(outcome) => return *outcome,
            Step::Run(batch) => {
                let mut open: Vec<PlannedRun> = batch.requests;
                while !open.is_empty() {
                    let at = choices.as_mut().map_or(0, |choices| choices.below(open.len()));
                    let request = open.remove(at);
                    firing.ended(request.id, &plan[place(&request.hook)].end);
                    if let Some(again) = again {
                        firing.ended(request.id, again);
                    }
                    if !open.is_empty() {
                        assert!(matches!(firing.step(), Step::Wait), "it goes on without all ends");
                    }
                }
            }
            other => panic!("the machine waits for nothing: {other:?}"),
        }
    }
}

/// The same with hooks that are not enforced at places between the others, and how many of those are planned.
pub(crate) fn fire_beside(
    kind: EventKind,
    plan: &[Scripted],
    beside: &[(Scripted, prop::sample::Index)],
    seed: Option<u64>,
) -> (Outcome, usize) {
    let mut hooks: Vec<Hook> =
        plan.iter().enumerate().map(|(at, scripted)| scripted.hook(kind, &at.to_string())).collect();
    for (number, (scripted, at)) in beside.iter().enumerate() {
        let hook = scripted.hook(kind, &format!("shadow {number}")).shadow();
        hooks.insert(at.index(hooks.len() + 1), hook);
    }
    let planned = Plan::new(&Arc::new(Snapshot::new(hooks.clone(), Vec::new())), &sample(kind));
    let outcome = drive(kind, plan, Snapshot::new(hooks, Vec::new()), seed, None);
    (outcome, planned.shadow_hooks().count())
}

/// Where a hook stands in its plan.
pub(crate) fn place(hook: &Hook) -> usize {
    hook.label.parse().unwrap()
}

pub(crate) fn document(outcome: &Outcome) -> String {
    outcome_document(outcome).text().to_owned()
}

pub(crate) fn kinds() -> impl Strategy<Value = EventKind> {
    prop::sample::select(EventKind::all().collect::<Vec<_>>())
}
