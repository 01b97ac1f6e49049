//! Before and after tools: `llxprt:R104` to `llxprt:R110`.

use serde_json::json;

use crate::world::{Shows as _, World, one_call, turns};

const WRITE: &str = "write_file";

fn write() -> serde_json::Value {
    json!({"path": "a.txt", "content": "hello"})
}

fn answer(hook: &str) -> String {
    format!("cat >/dev/null; echo '{hook}'")
}

#[test]
fn before_tool_exit_2_blocks_and_the_model_reads_why() {
    let world = World::with(
        &[("BeforeTool", WRITE, "echo 'not that file' >&2; exit 2"), ("AfterTool", "*", "touch after")],
        one_call(WRITE, write(), json!({"contains": ["\"error\":\"denied by hook `h1`: not that file\""]})),
    );
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["denied"]);
    assert!(!world.exists("a.txt"), "the tool did not run");
    assert!(!world.exists("after"), "nothing ran, so nothing comes after it");
    assert_eq!(world.receipts()[0]["decision"], "deny");
}

#[test]
fn before_tool_block_and_deny_decisions_block() {
    for decision in ["block", "deny"] {
        let hook = answer(&format!(r#"{{"decision":"{decision}","reason":"policy"}}"#));
        let script = one_call(WRITE, write(), json!({"contains": ["\"error\":\"denied by hook `h1`: policy\""]}));
        let world = World::with(&[("BeforeTool", WRITE, &hook)], script);
        world.say("go").ends_with(0);
        assert!(!world.exists("a.txt"), "{decision}");
    }
}

#[test]
fn a_denial_that_comes_after_the_exit_of_its_hook_counts() {
    let late = r#"(cat >/dev/null; sleep 0.4; echo '{"decision":"deny","reason":"late"}') &"#;
    let script = one_call(WRITE, write(), json!({"contains": ["\"error\":\"denied by hook `h1`: late\""]}));
    let world = World::with(&[("BeforeTool", WRITE, late)], script);
    world.say("go").ends_with(0);
    assert!(!world.exists("a.txt"));
    // A process that holds nothing of the hook says nothing for it.
    let silent = "sleep 30 >/dev/null 2>&1 &";
    let world =
        World::with(&[("BeforeTool", WRITE, silent)], one_call(WRITE, write(), json!({"contains": ["wrote a.txt"]})));
    world.say("go").ends_with(0);
    assert_eq!(world.read("a.txt"), "hello");
}

#[test]
fn before_tool_allow_approve_and_silence_let_it_run() {
    for hook in [answer(r#"{"decision":"allow"}"#), answer(r#"{"decision":"approve"}"#), "exit 0".to_owned()] {
        let world =
            World::with(&[("BeforeTool", "", &hook)], one_call(WRITE, write(), json!({"contains": ["wrote a.txt"]})));
        world.say("go").ends_with(0);
        assert_eq!(world.read("a.txt"), "hello", "{hook}");
    }
}

#[test]
fn before_tool_rewrites_the_input_that_runs() {
    let hook = answer(r#"{"hookSpecificOutput":{"tool_input":{"path":"b.txt","content":"other"}}}"#);
    let world =
        World::with(&[("BeforeTool", WRITE, &hook)], one_call(WRITE, write(), json!({"contains": ["wrote b.txt"]})));
    let ran = world.say("go").ends_with(0);
    assert!(!world.exists("a.txt"));
    assert_eq!(world.read("b.txt"), "other");
    assert_eq!(ran.shown("tool_result")[0]["input"], json!({"path": "b.txt", "content": "other"}));
    let receipt = &world.receipts()[0];
    assert_ne!(receipt["ran"][0]["judged"], receipt["input"], "the receipt tells what was judged from what ran");
}

#[test]
fn before_tool_stops_the_agent_and_says_why() {
    let hook = answer(r#"{"continue":false,"stopReason":"enough for today"}"#);
    let script = turns(json!([
        {"calls": [{"name": WRITE, "args": write()}, {"name": WRITE, "args": {"path": "b.txt", "content": ""}}]},
        {"text": "the model must not be asked again"}
    ]));
    let world = World::with(&[("BeforeTool", WRITE, &hook)], script);
    let ran = world.say("go").ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["enough for today"]);
    assert!(!world.exists("b.txt"), "what had not begun does not begin");
}

#[test]
fn before_tool_that_fails_lets_the_tool_run_with_a_warning() {
    for hook in ["exit 1", "kill -9 $$", "sleep 60 # short"] {
        let world =
            World::with(&[("BeforeTool", WRITE, hook)], one_call(WRITE, write(), json!({"contains": ["wrote"]})));
        let ran = world.say("go").ends_with(0);
        assert!(world.exists("a.txt"), "{hook}");
        assert_eq!(ran.shown("warning").len(), 1, "{hook}: {}", ran.stdout);
    }
}

#[test]
fn before_tool_fires_only_for_tools_that_match() {
    let world = World::with(
        &[
            ("BeforeTool", "^read_file$", "touch read"),
            ("BeforeTool", "write", "touch wrote"),
            ("BeforeTool", "", "touch all"),
        ],
        one_call(WRITE, write(), json!({})),
    );
    world.say("go").ends_with(0);
    assert_eq!((world.exists("read"), world.exists("wrote"), world.exists("all")), (false, true, true));
}

#[test]
fn before_tool_receives_the_documented_fields() {
    let world = World::with(
        &[("BeforeTool", "", "cat > in.json"), ("AfterTool", "", "cat > out.json")],
        one_call(WRITE, write(), json!({})),
    );
    world.say("go").ends_with(0);
    let input: serde_json::Value = serde_json::from_str(&world.read("in.json")).unwrap();
    assert_eq!((input["hook_event_name"].as_str(), input["tool_name"].as_str()), (Some("BeforeTool"), Some(WRITE)));
    let all_names = json!({"file_path": "a.txt", "absolute_path": "a.txt", "path": "a.txt", "content": "hello"});
    assert_eq!(input["tool_input"], all_names);
    let session = world.sessions()[0].clone();
    assert_eq!(input["transcript_path"], session.to_str().unwrap(), "the transcript is the session's file");
    assert!(session.to_str().unwrap().contains(input["session_id"].as_str().unwrap()));
    let output: serde_json::Value = serde_json::from_str(&world.read("out.json")).unwrap();
    assert_eq!(output["tool_response"]["llmContent"], "wrote a.txt (5 bytes)");
}

#[test]
fn after_tool_adds_context_for_the_model() {
    let hook = answer(r#"{"hookSpecificOutput":{"additionalContext":"now run the linter"}}"#);
    let expect = json!({"contains": ["wrote a.txt (5 bytes)\\n\\nnow run the linter"]});
    let world = World::with(&[("AfterTool", WRITE, &hook)], one_call(WRITE, write(), expect));
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "display"), ["wrote a.txt (5 bytes)"], "the user sees the result as it was");
}

#[test]
fn after_tool_stops_the_agent() {
    let hook = answer(r#"{"continue":false,"stopReason":"seen enough"}"#);
    let world = World::with(&[("AfterTool", WRITE, &hook)], one_call(WRITE, write(), json!({"lacks": ["go"]})));
    let ran = world.say("go").ends_with(3);
    assert!(world.exists("a.txt"), "the tool had run");
    assert_eq!(ran.texts("stopped", "reason"), ["seen enough"]);
}

#[test]
fn after_tool_hides_the_output_from_the_user_only() {
    let world = World::with(
        &[("AfterTool", "read_file", &answer(r#"{"suppressOutput":true}"#))],
        one_call("read_file", json!({"path": "secret.txt"}), json!({"contains": ["the secret"]})),
    );
    world.write("secret.txt", "the secret");
    let headless = world.say("go").ends_with(0);
    assert_eq!(headless.texts("tool_result", "display"), ["null"]);
    let plain = world.run(&["--prompt", "go"]).ends_with(0);
    assert!(plain.stderr.contains("(hidden by a hook)"), "{}", plain.stderr);
    for ran in [headless, plain] {
        assert!(!ran.stdout.contains("the secret") && !ran.stderr.contains("the secret"), "really hidden");
    }
}

#[test]
fn after_tool_puts_a_system_message_into_the_conversation() {
    let hook = answer(r#"{"systemMessage":"the build is red"}"#);
    let world = World::with(
        &[("AfterTool", WRITE, &hook)],
        one_call(WRITE, write(), json!({"contains": ["System message: the build is red"]})),
    );
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("system_message", "text"), ["the build is red"]);
}

#[test]
fn after_tool_that_fails_changes_nothing() {
    let world =
        World::with(&[("AfterTool", WRITE, "exit 7")], one_call(WRITE, write(), json!({"contains": ["wrote a.txt"]})));
    assert_eq!(world.say("go").ends_with(0).shown("warning").len(), 1);
}

#[test]
fn after_tool_sees_a_tool_that_failed() {
    let world =
        World::with(&[("AfterTool", "", "cat > out.json")], one_call("read_file", json!({"path": "none"}), json!({})));
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["failed"]);
    assert!(world.read("out.json").contains(r#""error":{"message":"`none`"#), "{}", world.read("out.json"));
}

#[test]
fn a_question_without_a_user_is_a_deny() {
    let hook = answer(r#"{"decision":"ask","reason":"sure?"}"#);
    let world = World::with(
        &[("BeforeTool", WRITE, &hook), ("Notification", "ToolPermission", "cat > told.json")],
        one_call(WRITE, write(), json!({"contains": ["no user can be asked"]})),
    );
    for args in [&["--headless", "--prompt", "go"][..], &["--prompt", "go"]] {
        world.run(args).ends_with(0);
        assert!(!world.exists("a.txt"));
    }
    world.feed(&[], "go").ends_with(0);
    assert!(!world.exists("a.txt"));
    assert!(world.read("told.json").contains("permission is needed for write_file"));
}

#[test]
fn a_rule_answers_the_question_of_a_hook_but_not_that_of_a_rule() {
    let hook = answer(r#"{"decision":"ask","reason":"sure?"}"#);
    let asked = [("BeforeTool", WRITE, hook.as_str()), ("Notification", "", "touch asked")];
    let allow =
        "[[rule]]\nname = \"let\"\nallow = \"yes\"\nwhen = { event = \"permission-request\", tool = \"write_file\" }\n";
    let ask = "[[rule]]\nname = \"no\"\nask = \"why?\"\nwhen = { writes = \"a.txt\" }\n";
    for (rules, is_asked) in [(allow.to_owned(), false), (format!("{allow}{ask}"), true)] {
        let world = World::with(&asked, one_call(WRITE, write(), json!({})));
        world.write_home(".config/hookrail/rules.toml", &rules);
        let ran = world.say("go").ends_with(0);
        assert_eq!((world.exists("a.txt"), world.exists("asked")), (!is_asked, is_asked), "{}", ran.stdout);
    }
}

#[test]
fn a_rule_about_what_is_read_holds_however_the_path_is_written() {
    let rule = "[[rule]]\nname = \"keys\"\ndeny = \"no keys\"\nwhen = { reads = \"~/.ssh/**\" }\n";
    for (path, expected) in [("~/.ssh/id", "no keys"), ("@~/.ssh/id", "no keys"), ("~/.config/id", "\"error\"")] {
        let world = World::with(&[], one_call("read_file", json!({"path": path}), json!({"contains": [expected]})));
        world.write_home(".config/hookrail/rules.toml", rule);
        world.say("go").ends_with(0);
    }
}
