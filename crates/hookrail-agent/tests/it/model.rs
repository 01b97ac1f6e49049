//! Before and after models, and the choice of tools: `llxprt:R111` to `llxprt:R117`.

use serde_json::json;

use crate::world::{Shows as _, World, says, turns};

fn answer(hook: &str) -> String {
    format!("cat >/dev/null; echo '{hook}'")
}

#[test]
fn before_model_blocks_with_a_synthetic_response() {
    for decision in ["block", "deny"] {
        let hook = answer(&format!(
            r#"{{"decision":"{decision}","reason":"no","hookSpecificOutput":{{"llm_response":{{"text":"from the cache"}}}}}}"#
        ));
        let ran = World::with(&[("BeforeModel", "", &hook)], turns(json!([]))).say("go").ends_with(0);
        assert_eq!(ran.texts("answer", "text"), ["from the cache"], "the script is empty: the model was not called");
        assert_eq!(ran.texts("answer", "from"), ["hook"]);
    }
}

#[test]
fn before_model_blocks_without_a_response() {
    let hook = answer(r#"{"decision":"block","reason":"quiet hours"}"#);
    let ran = World::with(&[("BeforeModel", "", &hook)], turns(json!([]))).say("go").ends_with(0);
    assert_eq!(ran.texts("model_blocked", "reason"), ["quiet hours"]);
    assert_eq!(ran.texts("answer", "text"), [""]);
}

#[test]
fn before_model_rewrites_the_request() {
    let hook = answer(r#"{"hookSpecificOutput":{"llm_request":{"config":{"temperature":0.25}}}}"#);
    let script = turns(json!([{"text": "ok", "expect": {"contains": ["\"temperature\":0.25", "go"]}}]));
    World::with(&[("BeforeModel", "", &hook)], script).say("go").ends_with(0);
}

#[test]
fn before_model_adds_messages_that_are_sent_and_never_stored() {
    let hook = answer(
        r#"{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"go"},{"role":"user","content":"be brief"}]}}}"#,
    );
    let script = turns(json!([{"text": "ok", "expect": {"contains": ["go", "be brief"]}}]));
    let world = World::with(&[("BeforeModel", "", &hook)], script);
    world.say("go").ends_with(0);
    let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(session.contains("go") && !session.contains("be brief"));
}

#[test]
fn before_model_stops_the_agent() {
    let hook = answer(r#"{"continue":false,"stopReason":"over budget"}"#);
    let ran = World::with(&[("BeforeModel", "", &hook)], turns(json!([]))).say("go").ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["over budget"]);
}

#[test]
fn before_model_that_fails_lets_the_model_answer() {
    let ran = World::with(&[("BeforeModel", "", "exit 1")], says("hello")).say("go").ends_with(0);
    assert_eq!((ran.texts("answer", "text"), ran.shown("warning").len()), (vec!["hello".to_owned()], 1));
}

#[test]
fn before_model_fires_for_every_call_and_sees_the_tools_result() {
    let script = turns(json!([{"calls": [{"name": "list_directory", "args": {}}]}, {"text": "done"}]));
    let world = World::with(&[("BeforeModel", "", "cat >> seen; echo >> seen")], script);
    world.say("go").ends_with(0);
    assert_eq!(world.read("seen").lines().filter(|line| line.contains("BeforeModel")).count(), 2);
}

#[test]
fn after_model_rewrites_the_response_before_it_is_shown() {
    let hook = answer(r#"{"hookSpecificOutput":{"llm_response":{"text":"the key is [redacted]"}}}"#);
    let script = turns(json!([
        {"chunks": ["the key ", "is s3cret"], "calls": [{"name": "list_directory", "args": {}}]},
        {"text": "done", "expect": {"contains": ["[redacted]"], "lacks": ["s3cret"]}}
    ]));
    let world = World::with(&[("AfterModel", "", &hook)], script);
    let ran = world.say("go").ends_with(0);
    assert!(ran.shown("text").is_empty(), "nothing is streamed while a hook can still change it");
    assert!(!ran.stdout.contains("s3cret"));
    assert_eq!(ran.texts("tool_result", "end"), ["ran"], "the call in the response survives");
    let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(!session.contains("s3cret"));
}

#[test]
fn without_an_after_model_hook_the_answer_is_streamed() {
    let ran = World::new(turns(json!([{"chunks": ["one ", "two"]}]))).say("go").ends_with(0);
    assert_eq!(ran.texts("text", "text"), ["one ", "two"]);
}

#[test]
fn after_model_replaces_the_response() {
    let hook = answer(
        r#"{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"role":"model","parts":["another answer"]},"finishReason":"STOP"}]}}}"#,
    );
    let ran = World::with(&[("AfterModel", "", &hook)], says("the first answer")).say("go").ends_with(0);
    assert_eq!(ran.texts("answer", "text"), ["another answer"]);
}

#[test]
fn after_model_stops_the_agent_with_a_response_that_says_so() {
    let hook = answer(r#"{"continue":false,"stopReason":"that is all"}"#);
    let script =
        turns(json!([{"text": "I will", "calls": [{"name": "write_file", "args": {"path": "a", "content": ""}}]}]));
    let world = World::with(&[("AfterModel", "", &hook)], script);
    let ran = world.say("go").ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["that is all"]);
    assert!(!world.exists("a"), "the calls of the response are not run");
    assert!(std::fs::read_to_string(&world.sessions()[0]).unwrap().contains("that is all"));
}

#[test]
fn after_model_hides_the_response_from_the_user_only() {
    let script = turns(json!([
        {"text": "between us", "calls": [{"name": "list_directory", "args": {}}]},
        {"text": "between us too", "expect": {"contains": ["between us"]}}
    ]));
    let world = World::with(&[("AfterModel", "", &answer(r#"{"suppressOutput":true}"#))], script);
    for args in [&["--headless", "--prompt", "go"][..], &["--prompt", "go"]] {
        let ran = world.run(args).ends_with(0);
        assert!(!ran.stdout.contains("between us") && !ran.stderr.contains("between us"), "{}", ran.stdout);
    }
}

#[test]
fn what_is_hidden_before_the_call_is_not_streamed() {
    let world = World::with(&[("BeforeModel", "", &answer(r#"{"suppressOutput":true}"#))], says("between us"));
    for args in [&["--headless", "--prompt", "go"][..], &["--prompt", "go"]] {
        assert!(!world.run(args).ends_with(0).stdout.contains("between us"));
    }
}

#[test]
fn after_model_that_fails_changes_nothing() {
    let ran = World::with(&[("AfterModel", "", "exit 3")], says("hello")).say("go").ends_with(0);
    assert_eq!((ran.texts("answer", "text"), ran.shown("warning").len()), (vec!["hello".to_owned()], 1));
}

fn selects(config: &str) -> String {
    answer(&format!(r#"{{"hookSpecificOutput":{{"toolConfig":{config}}}}}"#))
}

#[test]
fn tool_selection_restricts_what_the_model_sees_and_can_call() {
    let hook = selects(r#"{"mode":"AUTO","allowedFunctionNames":["read_file","glob"]}"#);
    let script = turns(json!([
        {"calls": [{"name": "write_file", "args": {"path": "a", "content": ""}}], "expect": {"tools": ["glob", "read_file"]}},
        {"text": "ok", "expect": {"contains": ["is not available for this request"]}}
    ]));
    let world = World::with(&[("BeforeToolSelection", "", &hook), ("BeforeTool", "", "touch asked")], script);
    world.say("go").ends_with(0);
    assert!(!world.exists("a"), "a model that calls what it was not offered gets an error");
    assert!(!world.exists("asked"), "and no hook is troubled with it");
}

#[test]
fn tool_selection_changes_the_mode() {
    let script = turns(json!([{"text": "ok", "expect": {"contains": ["\"mode\":\"ANY\""]}}]));
    World::with(&[("BeforeToolSelection", "", &selects(r#"{"mode":"ANY"}"#))], script).say("go").ends_with(0);
}

#[test]
fn tool_selection_none_leaves_no_tools() {
    let script = turns(json!([{"text": "ok", "expect": {"tools": []}}]));
    World::with(&[("BeforeToolSelection", "", &selects(r#"{"mode":"NONE"}"#))], script).say("go").ends_with(0);
}

#[test]
fn tool_selection_stops_the_agent() {
    let hook = answer(r#"{"continue":false,"stopReason":"no tools today"}"#);
    let ran = World::with(&[("BeforeToolSelection", "", &hook)], turns(json!([]))).say("go").ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["no tools today"]);
}

#[test]
fn tool_selection_that_fails_changes_nothing() {
    let script = turns(json!([{"text": "ok", "expect": {"contains": ["write_file"]}}]));
    let ran = World::with(&[("BeforeToolSelection", "", "exit 1")], script).say("go").ends_with(0);
    assert_eq!(ran.shown("warning").len(), 1);
}
