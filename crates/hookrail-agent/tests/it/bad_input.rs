//! Models, hooks, scripts and people that do not behave: a clear message, nothing lost, a documented exit status.

use serde_json::json;

use crate::world::{Shows as _, World, one_call, says, turns};

#[test]
fn an_unknown_tool_is_an_error_result() {
    let world = World::with(
        &[("BeforeTool", "", "touch asked")],
        one_call("launch_missiles", json!({}), json!({"contains": ["there is no tool `launch_missiles`"]})),
    );
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["failed"]);
    assert!(!world.exists("asked"));
}

#[test]
fn arguments_that_are_not_json_are_an_error_result() {
    for (raw, problem) in
        [("{\"path\": ", "not valid JSON"), ("[1]", "must be an object"), ("{\"path\":1}", "must be of type string")]
    {
        let script = turns(json!([
            {"calls": [{"name": "read_file", "args_text": raw}]},
            {"text": "ok", "expect": {"contains": [problem]}}
        ]));
        World::new(script).say("go").ends_with(0);
    }
}

#[test]
fn a_model_that_loops_is_ended() {
    let world = World::new(turns(json!([{"calls": [{"name": "list_directory", "args": {}}], "repeat": true}])));
    let ran = world.run(&["--max-turns", "4", "--headless", "--prompt", "go"]).ends_with(1);
    assert_eq!(ran.shown("tool_result").len(), 4);
    assert_eq!(ran.texts("turn_end", "end"), ["capped"]);
    let plain = world.run(&["--max-turns", "4", "--prompt", "go"]).ends_with(1);
    assert!(plain.stderr.contains("the agent ended after 4 turns"), "{}", plain.stderr);
}

#[test]
fn a_rewritten_input_that_does_not_fit_is_an_error_never_the_original_call() {
    let hook = r#"cat >/dev/null; echo '{"hookSpecificOutput":{"tool_input":{"file":"b.txt"}}}'"#;
    let world = World::with(
        &[("BeforeTool", "", hook), ("AfterTool", "", "cat > after.json")],
        one_call(
            "write_file",
            json!({"path": "a.txt", "content": "x"}),
            json!({"contains": ["the arguments do not fit the tool `write_file`"]}),
        ),
    );
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["failed"]);
    assert!(!world.exists("a.txt") && !world.exists("b.txt"));
    assert!(world.exists("after.json"), "the call ends in exactly one terminal event");
}

#[test]
fn tools_do_not_write_what_decides_about_hooks() {
    let world = World::with(
        &[("AfterTool", "nothing", "true")],
        one_call(
            "write_file",
            json!({"path": ".llxprt/settings.json", "content": "{}"}),
            json!({"contains": ["decides which hooks run"]}),
        ),
    );
    let before = world.read(".llxprt/settings.json");
    world.say("go").ends_with(0);
    assert_eq!(world.read(".llxprt/settings.json"), before);
}

#[test]
fn a_script_that_is_missing_broken_or_too_short_is_a_clear_failure() {
    let world = World::new(says("x"));
    std::fs::write(world.home.join("script.json"), "{\"turns\": [{\"txt\": 1}]}").unwrap();
    let ran = world.run(&["--prompt", "x"]).ends_with(1);
    assert!(ran.stderr.contains("unknown field `txt`") && ran.stderr.contains("line 1"), "{}", ran.stderr);
    std::fs::remove_file(world.home.join("script.json")).unwrap();
    assert!(world.run(&["--prompt", "x"]).ends_with(1).stderr.contains("cannot be used"));
    world.script(turns(json!([])));
    let ran = world.run(&["--prompt", "x"]).ends_with(1);
    assert!(ran.stderr.contains("the script has no more answers"), "{}", ran.stderr);
}

#[test]
fn a_model_that_fails_for_good_fails_the_run_and_hooks_hear_of_each_try() {
    let script = turns(json!([{"error": {"kind": "transient", "message": "busy"}, "repeat": true}]));
    let world = World::with(&[("BeforeModel", "", "echo x >> asked")], script);
    let ran = world.say("go").ends_with(1);
    assert_eq!(world.read("asked"), "x\n", "once for the logical call, not for each try");
    assert!(ran.texts("turn_end", "detail")[0].contains("busy"));
    assert_eq!(ran.shown("note").len(), 3, "three more tries");
}

#[test]
fn a_provider_that_ends_the_sign_in_ends_the_session_with_logout() {
    let world = World::with(
        &[("SessionEnd", "", "cat > end.json")],
        turns(json!([{"error": {"kind": "signed-out", "message": "expired"}}])),
    );
    world.say("go").ends_with(1);
    assert!(world.read("end.json").contains(r#""reason":"logout""#));
}

#[test]
fn lines_that_are_no_prompt_are_reported_and_skipped() {
    let world = World::new(says("fine"));
    let ran =
        world.lines(&[], &["{\"neither\": 1}", "{broken", "/unheard", "", "{\"prompt\": \"hello\"}"]).ends_with(0);
    assert_eq!(ran.shown("error").len(), 3);
    assert_eq!(ran.texts("answer", "text"), ["fine"]);
}

#[test]
fn rules_that_cannot_be_used_are_a_clear_failure() {
    let world = World::new(says("x"));
    let rules = world.home.join("rules.json");
    std::fs::write(&rules, r#"[{"name":"r","pattern":"(","message":""}]"#).unwrap();
    let ran = world.run(&["--rules", rules.to_str().unwrap(), "--prompt", "x"]).ends_with(1);
    assert!(ran.stderr.contains("rule `r`"), "{}", ran.stderr);
}

#[test]
fn a_hook_that_starts_the_agent_again_comes_to_an_end() {
    let world = World::new(one_call("list_directory", json!({}), json!({})));
    let agent = hookrail_testkit::hookrail().display().to_string();
    let script = world.home.join("script.json").display().to_string();
    let body = format!(
        "cat >/dev/null; echo x >> depth; {agent} agent --script '{script}' --project . --trust-project --prompt go >/dev/null 2>&1; exit 0"
    );
    let hook = json!({"type": "command", "name": "again", "command": body, "timeout": 60000});
    world.write(
        ".llxprt/settings.json",
        json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string(),
    );
    world.say("go").ends_with(0);
    assert_eq!(world.read("depth").lines().count(), 3, "the engine ends the recursion");
}

#[test]
fn a_line_that_is_not_text_is_reported_and_later_prompts_are_answered() {
    use std::io::Write as _;
    let world = World::new(turns(json!([{"text": "one"}, {"text": "two"}])));
    let mut child = world.agent(&["--headless"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"first\n\xff\xfe\nsecond\n").unwrap();
    let ran = crate::world::ProgramOutput::from(child.wait_with_output().unwrap()).ends_with(0);
    assert_eq!(ran.texts("error", "text"), ["the line is not UTF-8"]);
    assert_eq!(ran.texts("answer", "text"), ["one", "two"]);
}
