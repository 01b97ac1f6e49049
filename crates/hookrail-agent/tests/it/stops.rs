//! Stops and outcomes beside the turns: while a summary is made, while the user is asked, in the model call of a module.

use serde_json::{Value, json};

use crate::world::{Shows as _, World, one_call, says, turns};

/// A hook that answers only when the model is asked for a summary.
fn about_summary(answer: &str) -> String {
    format!("if grep -q 'Summarise the conversation'; then echo '{answer}'; fi")
}

const STOP: &str = r#"{"continue": false, "stopReason": "budget"}"#;

/// The model makes the summary by itself.
fn one_answer() -> Value {
    says("one")
}

#[test]
fn a_stop_while_a_summary_is_made_stops_and_is_no_summary() {
    for event in ["BeforeModel", "AfterModel"] {
        let world = World::with(&[(event, "", &about_summary(STOP))], one_answer());
        let ran = world.lines(&[], &["first", "/compact", "second"]).ends_with(3);
        assert!(ran.shown("compacted").is_empty(), "{event}: {}", ran.stdout);
        assert_eq!(ran.texts("stopped", "reason"), ["budget"], "{event}: {}", ran.stdout);
        let session = std::fs::read_to_string(world.sessions().last().unwrap()).unwrap();
        assert!(!session.contains("\"type\":\"compaction\""), "{event}: {session}");
    }
    let world = World::with(&[("BeforeModel", "", "cat >/dev/null")], one_answer());
    let ran = world.lines(&[], &["first", "/compact"]).ends_with(0);
    assert_eq!(ran.texts("compacted", "summary"), ["A summary of 3 messages."]);
}

#[test]
fn a_stop_before_a_compaction_stops_it_with_its_reason() {
    let world = World::with(&[("PreCompress", "", &format!("cat >/dev/null; echo '{STOP}'"))], one_answer());
    let ran = world.lines(&[], &["first", "/compact"]).ends_with(3);
    assert!(ran.shown("compacted").is_empty(), "{}", ran.stdout);
    assert_eq!(ran.texts("stopped", "reason"), ["budget"], "{}", ran.stdout);
}

#[test]
fn a_stop_at_the_start_of_another_session_ends_the_agent_with_its_status() {
    let stop = format!("if grep -q '\"source\": *\"clear\"'; then echo '{STOP}'; fi");
    let world = World::with(&[("SessionStart", "", &stop)], one_answer());
    let ran = world.lines(&[], &["first", "/clear", "second"]).ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["budget"], "{}", ran.stdout);
    world.lines(&[], &["first"]).ends_with(0);
}

#[test]
fn tools_are_selected_only_where_there_are_tools() {
    let log = "cat >/dev/null; echo x >> selections";
    let world = World::with(&[("BeforeToolSelection", "", log)], one_answer());
    world.lines(&[], &["first", "/compact"]).ends_with(0);
    assert_eq!(world.read("selections").lines().count(), 1, "the summary is asked for without tools");
}

#[test]
fn a_summary_that_a_hook_hides_is_not_shown() {
    let hide = about_summary(r#"{"suppressOutput": true}"#);
    let world = World::with(&[("AfterModel", "", &hide)], one_answer());
    let ran = world.lines(&[], &["first", "/compact"]).ends_with(0);
    assert_eq!(ran.texts("compacted", "summary"), ["null"]);
}

#[test]
fn what_a_hook_says_to_a_notification_is_shown_and_stops() {
    let ask = ("BeforeTool", "", r#"cat >/dev/null; echo '{"decision": "ask", "reason": "sure?"}'"#);
    let stop = r#"cat >/dev/null; echo '{"continue": false, "stopReason": "not now", "systemMessage": "look here"}'"#;
    let call = || one_call("list_directory", json!({}), json!({}));
    let world = World::with(&[ask, ("Notification", "", stop)], call());
    let ran = world.say("go");
    assert_eq!(ran.texts("system_message", "text"), ["look here"], "{}", ran.stdout);
    assert_eq!(ran.texts("turn_end", "end"), ["stopped"], "{}", ran.stdout);
    assert_eq!(ran.texts("turn_end", "detail"), ["not now"]);
    let world = World::with(&[ask, ("Notification", "", "cat >/dev/null")], call());
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("turn_end", "end"), ["answered"], "{}", ran.stdout);
}

#[test]
fn a_stop_in_the_model_call_of_a_module_is_no_answer_of_the_model() {
    let stop = format!("if grep -q 'a question of a module'; then echo '{STOP}'; fi");
    let module = r#"import { complete } from "@oh-my-pi/pi-ai";
        export default (pi) => { pi.on("turn_end", async (event, ctx) => {
            const content = [{ type: "text", text: "a question of a module" }];
            let said;
            try { said = JSON.stringify(await complete(ctx.model, { messages: [{ role: "user", content }] }, {})); }
            catch (error) { said = "failed: " + error.message; }
            await pi.exec("sh", ["-c", 'printf "%s" "$1" > said', "sh", said]);
        }); };"#;
    let world = World::with(&[("BeforeModel", "", &stop)], one_answer());
    world.module(module);
    world.say("go");
    assert!(
        world.read("said").starts_with("failed: ") && world.read("said").contains("budget"),
        "{}",
        world.read("said")
    );
    let world = World::new(one_answer());
    world.module(module);
    world.say("go").ends_with(0);
    assert!(world.read("said").contains("An answer to 1 messages."), "{}", world.read("said"));
}

#[test]
fn a_module_that_cannot_be_loaded_is_reported_once() {
    let world = World::new(one_call("list_directory", json!({}), json!({})));
    world.module("export default (pi) => {");
    let ran = world.say("go").ends_with(0);
    let codes = ran.texts("warning", "code");
    assert_eq!(codes.iter().filter(|code| *code == "module-load").count(), 1, "{codes:?}");
}

#[test]
fn a_handler_that_throws_is_reported_once() {
    let world = World::new(says("done"));
    world.module(r#"export default (pi) => { pi.on("turn_start", () => { throw new Error("boom"); }); };"#);
    let ran = world.say("go").ends_with(0);
    let warnings: Vec<String> = ran.texts("warning", "text").into_iter().filter(|text| text.contains("boom")).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn a_tool_call_in_the_answer_of_a_hook_is_run() {
    let call = r#"{"functionCall": {"name": "write_file", "args": {"path": "a.txt", "content": "from a hook"}}}"#;
    let answer = format!(
        r#"cat >/dev/null; [ -e once ] && exit 0; touch once
        echo '{{"hookSpecificOutput": {{"llm_response": {{"candidates": [{{"content": {{"role": "model", "parts": ["I write", {call}]}}}}]}}}}}}'"#
    );
    let done = json!({"text": "done", "expect": {"contains": ["wrote a.txt"]}});
    for (event, script) in [("BeforeModel", json!([done])), ("AfterModel", json!([{"text": "nothing"}, done]))] {
        let world = World::with(&[(event, "", &answer)], turns(script));
        world.say("go").ends_with(0);
        assert_eq!(world.read("a.txt"), "from a hook", "{event}");
    }
}

#[test]
fn a_denied_model_call_reads_as_one() {
    let deny = r#"cat >/dev/null; echo '{"decision": "deny", "reason": "quota"}'"#;
    let world = World::with(&[("BeforeModel", "", deny)], says("done"));
    let ran = world.run(&["--prompt", "go"]);
    assert!(ran.stderr.contains("model call denied by hook h1: quota"), "{}", ran.stderr);
}

#[test]
fn the_end_of_the_agent_has_the_message_of_a_failed_model() {
    let world = World::new(turns(json!([{"error": {"kind": "failed", "message": "no model"}}])));
    world.module(
        r#"export default (pi) => { pi.on("agent_end", async (event) => {
            await pi.exec("sh", ["-c", 'printf "%s" "$1" > end.json', "sh", JSON.stringify(event.messages)]);
        }); };"#,
    );
    world.say("go");
    let messages: Value = serde_json::from_str(&world.read("end.json")).unwrap();
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!((&last["role"], &last["stopReason"]), (&json!("assistant"), &json!("error")), "{messages}");
}
