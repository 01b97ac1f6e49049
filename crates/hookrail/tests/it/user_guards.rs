//! No hook bypasses a guard of the user: if a hook of the project changed the input after the guard had answered, the
//! guard is asked once more about what would really run.

use crate::common::{drive, exited, hook, json, module_end, module_hook, plugin_hook, stdin, tool_call};
use hookrail::hook::{Action, GroupOrder};
use hookrail::process::{NativeEnd, RawEnd, RunEnd};
use hookrail::sources::{Origin, SourceKind};
use hookrail::{Code, DialectId, Effects, Event, EventKind, Hook, NativeHook, OnFailure, Outcome};

const KIND: EventKind = EventKind::BeforeTool;

/// A command hook of the user whose failure has an effect.
fn guard(kind: EventKind) -> Hook {
    let mut made = hook(kind, "guard", SourceKind::User);
    made.on_failure = OnFailure::Block;
    made
}

fn plugin_guard() -> Hook {
    let mut made = plugin_hook(KIND, "guard");
    made.on_failure = OnFailure::Block;
    made
}

/// A hook of a plugin that lies in the project.
fn project_plugin(kind: EventKind, name: &str) -> Hook {
    let mut made = plugin_hook(kind, name);
    made.origin.kind = SourceKind::Project;
    made
}

fn rewrite(path: &str) -> String {
    format!(r#"{{"hookSpecificOutput":{{"tool_input":{{"path":"{path}"}}}}}}"#)
}

fn modify(args: &str) -> String {
    format!(r#"{{"decision":"modify","args":{args}}}"#)
}

/// Drives a tool call about `a` in which `other` rewrites to `b`. Returns what the guard was asked about.
fn asked(hooks: Vec<Hook>, mut answer: impl FnMut(usize) -> RunEnd) -> (Vec<String>, Outcome) {
    let mut asked = Vec::new();
    let outcome = drive(hooks, tool_call(r#"{"path":"a"}"#), |request| {
        if &*request.hook.label == "guard" {
            let input = request.event.field("tool_input").unwrap().to_value();
            asked.push(input["path"].as_str().unwrap().to_owned());
            return answer(asked.len());
        }
        match request.hook.dialect {
            DialectId::Xcode => exited(0, &modify(r#"{"path":"b"}"#), ""),
            DialectId::Native => {
                let effects = Effects::none().with_tool_input(json(r#"{"path":"b"}"#));
                let how = RawEnd::Decided(Box::new(effects));
                RunEnd::Native(NativeEnd { how, duration: std::time::Duration::ZERO })
            }
            _ => exited(0, &rewrite("b"), ""),
        }
    });
    (asked, outcome)
}

/// Silent at first, then as given.
fn then(second: impl Fn() -> RunEnd) -> impl FnMut(usize) -> RunEnd {
    move |round| if round == 1 { exited(0, "", "") } else { second() }
}

#[test]
fn a_plugin_of_the_project_does_not_talk_past_a_guard_of_any_dialect() {
    for first in [guard(KIND), plugin_guard()] {
        let (asked, outcome) = asked(vec![first, project_plugin(KIND, "other")], then(|| exited(1, "", "oops")));
        assert_eq!(asked, ["a", "b"]);
        assert!(outcome.is_denied(), "the policy of the guard applies to the second answer too");
    }
}

#[test]
fn a_module_that_handles_tool_calls_is_a_guard() {
    let mut late = Hook::new(
        KIND,
        DialectId::Native,
        "other",
        Action::Native(NativeHook::new(|_| Effects::none())),
        Origin::without_file(SourceKind::Project),
    );
    let mut module = module_hook(KIND, "guard");
    module.event = KIND;
    let returned = |text: &str| module_end(RawEnd::Returned(Some(json(text))));
    let blocks = |round: usize| returned(if round == 1 { "{}" } else { r#"{"block":true,"reason":"no"}"# });
    let (seen, outcome) = asked(vec![module.clone(), late.clone()], blocks);
    assert_eq!(seen, ["a", "b"]);
    assert!(outcome.is_denied());
    late.origin.kind = SourceKind::Native;
    let (seen, outcome) = asked(vec![module, late], blocks);
    assert_eq!(seen, ["a"], "the embedding program is as authoritative as its user");
    assert!(!outcome.is_denied());
}

#[test]
fn a_change_by_an_equal_a_hook_that_is_no_guard_and_a_guard_of_the_project_ask_no_guard_again() {
    let cases = [
        vec![guard(KIND), hook(KIND, "other", SourceKind::Extension)],
        vec![guard(KIND), plugin_hook(KIND, "other")],
        vec![hook(KIND, "guard", SourceKind::User), project_plugin(KIND, "other")],
        vec![
            {
                let mut made = guard(KIND);
                made.origin.kind = SourceKind::Project;
                made
            },
            project_plugin(KIND, "other"),
        ],
    ];
    for hooks in cases {
        let (asked, outcome) = asked(hooks, then(|| exited(2, "", "no")));
        assert_eq!(asked, ["a"]);
        assert!(!outcome.is_denied());
    }
}

#[test]
fn in_a_chain_a_guard_after_the_project_has_seen_everything() {
    let mut hooks = vec![hook(KIND, "other", SourceKind::Project), guard(KIND)];
    hooks[0].order = GroupOrder::Sequential;
    let (asked, outcome) = asked(hooks, |_| exited(0, "", ""));
    assert_eq!(asked, ["b"]);
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"path":"b"}"#);
}

#[test]
fn an_answer_in_the_second_round_that_differs_from_the_final_input_is_a_deny() {
    let hooks = || vec![plugin_guard(), project_plugin(KIND, "other")];
    let (_, outcome) = asked(hooks(), then(|| exited(0, &modify(r#"{"path":"c"}"#), "")));
    assert!(outcome.is_denied());
    assert!(outcome.diagnostics.iter().any(|found| found.code == Code::RewriteAfterGuard));
    // The same input in other words is no other input.
    let (_, outcome) = asked(hooks(), then(|| exited(0, &modify(r#"{ "path" : "\u0062" }"#), "")));
    assert!(!outcome.is_denied());
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"path":"b"}"#);
}

#[test]
fn a_guard_whose_own_rewrite_the_project_took_away_denies() {
    let (asked, outcome) = asked(vec![guard(KIND), project_plugin(KIND, "other")], |_| exited(0, &rewrite("safe"), ""));
    assert_eq!(asked, ["a", "b"]);
    assert!(outcome.is_denied());
}

#[test]
fn a_guard_of_prompts_sees_the_context_that_the_project_adds() {
    let context = r#"{"decision":"allow","context":"xyzzy","hookSpecificOutput":{"additionalContext":"xyzzy"}}"#;
    let event = || Event::new(EventKind::Prompt, "/p").with_text("prompt", "p");
    for other in [hook(EventKind::Prompt, "other", SourceKind::Project), project_plugin(EventKind::Prompt, "other")] {
        let outcome = drive(vec![other, guard(EventKind::Prompt)], event(), |request| {
            if &*request.hook.label == "other" {
                return exited(0, context, "");
            }
            let seen = stdin(request)["prompt"].as_str().unwrap().contains("xyzzy");
            if seen { exited(2, "", "no magic words") } else { exited(0, "", "") }
        });
        assert!(outcome.is_denied());
    }
}

#[test]
fn a_guard_of_model_requests_sees_what_the_project_made_of_them() {
    let kind = EventKind::BeforeModel;
    let event = Event::new(kind, "/p").with("llm_request", json(r#"{"model":"m","messages":[]}"#));
    let other = hook(kind, "other", SourceKind::Project);
    let outcome = drive(vec![other, guard(kind)], event, |request| {
        if &*request.hook.label == "other" {
            return exited(0, r#"{"hookSpecificOutput":{"llm_request":{"model":"elsewhere"}}}"#, "");
        }
        let model = stdin(request)["llm_request"]["model"].clone();
        if model == "elsewhere" { exited(2, "", "not that one") } else { exited(0, "", "") }
    });
    assert!(outcome.is_denied());
}

#[test]
fn a_stop_and_a_wish_to_hide_output_stand_in_the_second_round() {
    let hooks = vec![hook(KIND, "other", SourceKind::Project), guard(KIND)];
    let second = || exited(0, r#"{"continue":false,"stopReason":"enough","suppressOutput":true}"#, "");
    let (_, outcome) = asked(hooks, then(second));
    assert_eq!(outcome.effects.stop.unwrap().reason, "enough");
    assert!(outcome.effects.suppress_output);
}

#[test]
fn a_guard_that_the_project_repeats_keeps_its_authority() {
    // The project's entry comes first and is the one that runs; the user's takes nothing less with it.
    let repeated = hook(KIND, "guard", SourceKind::Project);
    let (asked, outcome) =
        asked(vec![repeated, guard(KIND), project_plugin(KIND, "other")], then(|| exited(2, "", "no")));
    assert_eq!(asked, ["a", "b"]);
    assert!(outcome.is_denied());
}
