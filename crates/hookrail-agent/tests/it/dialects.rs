//! Hooks of plugins and modules, unmodified: `xcode:85` to `xcode:109`, `xcsh:91` to `xcsh:95`.

use serde_json::json;

use crate::world::{Shows as _, World, one_call, says, turns};

fn plugin(script: serde_json::Value, event: &str, matcher: &str, answer: &str) -> World {
    let world = World::new(script);
    let command = format!("cat > '${{cwd}}/{event}.json'; echo '{answer}'");
    world.plugin(json!({event: [{"matcher": matcher, "command": command}]}));
    world
}

fn write() -> serde_json::Value {
    json!({"path": "a.txt", "content": "hello"})
}

#[test]
fn user_prompt_submit_deny_is_a_synthetic_assistant_message() {
    let world =
        plugin(turns(json!([])), "UserPromptSubmit", "", r#"{"decision":"deny","reason":"not in this repository"}"#);
    let ran = world.say("secret plan").ends_with(2);
    assert_eq!(ran.texts("prompt_denied", "reason"), ["not in this repository"]);
    let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(session.contains(r#""role":"model""#) && session.contains("not in this repository"));
    assert!(!session.contains("secret plan"), "the prompt reaches no model later");
}

#[test]
fn user_prompt_submit_context_is_prepended() {
    for decision in ["allow", "modify"] {
        let answer = format!(r#"{{"decision":"{decision}","context":"Sprint 42"}}"#);
        let script = turns(json!([{"text": "ok", "expect": {"contains": ["Sprint 42"]}}]));
        let world = plugin(script, "UserPromptSubmit", "", &answer);
        world.say("hello").ends_with(0);
        let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
        let (context, prompt) = (session.find("Sprint 42").unwrap(), session.find("hello").unwrap());
        assert!(context < prompt, "{session}");
    }
}

#[test]
fn pre_tool_use_deny_replaces_the_result() {
    let script = one_call("write_file", write(), json!({"contains": ["prod is forbidden"]}));
    let world = plugin(script, "PreToolUse", "writeFile", r#"{"decision":"deny","reason":"prod is forbidden"}"#);
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["denied"]);
    assert!(!world.exists("a.txt"));
    let stdin: serde_json::Value = serde_json::from_str(&world.read("PreToolUse.json")).unwrap();
    assert_eq!(stdin["tool"]["name"], "writeFile", "the hook reads its own dialect's names");
    assert_eq!(stdin["tool"]["args"], json!({"filePath": "a.txt", "content": "hello", "path": "a.txt"}));
}

#[test]
fn pre_tool_use_modify_replaces_the_arguments() {
    let script = one_call("write_file", write(), json!({"contains": ["wrote safe/a.txt"]}));
    let world = plugin(
        script,
        "PreToolUse",
        "writeFile|edit",
        r#"{"decision":"modify","args":{"filePath":"safe/a.txt","content":"changed"}}"#,
    );
    world.say("go").ends_with(0);
    assert_eq!((world.exists("a.txt"), world.read("safe/a.txt").as_str()), (false, "changed"));
}

#[test]
fn pre_tool_use_context_is_ignored() {
    let script = one_call("write_file", write(), json!({"contains": ["wrote"], "lacks": ["stray context"]}));
    plugin(script, "PreToolUse", "", r#"{"decision":"allow","context":"stray context"}"#).say("go").ends_with(0);
}

#[test]
fn post_tool_use_modify_replaces_what_the_model_sees() {
    let script =
        one_call("read_file", json!({"path": "s.txt"}), json!({"contains": ["[redacted]"], "lacks": ["s3cret"]}));
    let world = plugin(script, "PostToolUse", "readFile", r#"{"decision":"modify","output":"[redacted]"}"#);
    world.write("s.txt", "s3cret");
    let ran = world.say("go").ends_with(0);
    assert!(!ran.stdout.contains("s3cret"));
}

#[test]
fn post_tool_use_deny_comes_too_late() {
    let script = one_call("write_file", write(), json!({"contains": ["wrote a.txt"], "lacks": ["too late"]}));
    let world = plugin(script, "PostToolUse", "", r#"{"decision":"deny","reason":"too late"}"#);
    assert_eq!(world.say("go").ends_with(0).texts("tool_result", "end"), ["ran"]);
}

#[test]
fn the_other_plugin_events_have_no_decisions() {
    let world = World::new(says("hello"));
    let deny = json!([{"command": "echo '{\"decision\":\"deny\",\"reason\":\"no\"}'"}]);
    world.plugin(json!({"SessionStart": deny, "TurnComplete": deny, "SessionEnd": deny}));
    assert_eq!(world.say("go").ends_with(0).texts("answer", "text"), ["hello"]);
}

#[test]
fn a_plugin_s_failure_policy_decides_about_failures() {
    for (policy, wrote) in [("allow", true), ("block", false)] {
        let world = World::new(one_call("write_file", write(), json!({})));
        world.plugin(json!({"PreToolUse": [{"command": "exit 1", "failurePolicy": policy}]}));
        world.say("go").ends_with(0);
        assert_eq!(world.exists("a.txt"), wrote, "{policy}");
    }
}

fn module(script: serde_json::Value, code: &str) -> World {
    let world = World::new(script);
    world.module(&format!("export default function (pi) {{ {code} }}"));
    world
}

#[test]
fn tool_call_blocks_and_the_tool_does_not_run() {
    let world = module(
        one_call("run_shell_command", json!({"command": "rm -rf x"}), json!({"contains": ["rm -rf blocked (no UI)"]})),
        r#"pi.on("tool_call", async (event, ctx) => {
            if (event.toolName === "bash" && event.input.command.includes("rm -rf") && !ctx.hasUI) return { block: true, reason: "rm -rf blocked (no UI)" };
        }); pi.on("tool_result", async () => { pi.appendEntry("after", {}); });"#,
    );
    world.write("x/kept", "");
    assert_eq!(world.say("go").ends_with(0).texts("tool_result", "end"), ["denied"]);
    assert!(world.exists("x/kept"));
    assert!(
        !std::fs::read_to_string(&world.sessions()[0]).unwrap().contains("\"after\""),
        "a blocked call has no result"
    );
}

#[test]
fn tool_call_that_throws_blocks() {
    let world = module(
        one_call("write_file", write(), json!({"contains": ["boom"]})),
        r#"pi.on("tool_call", async () => { throw new Error("boom"); });"#,
    );
    assert_eq!(world.say("go").ends_with(0).texts("tool_result", "end"), ["denied"]);
    assert!(!world.exists("a.txt"));
}

#[test]
fn tool_call_cannot_change_the_input_in_place() {
    let world = module(
        one_call("write_file", write(), json!({})),
        r#"pi.on("tool_call", async (event) => { event.input.path = "b.txt"; });"#,
    );
    world.say("go").ends_with(0);
    assert_eq!((world.exists("a.txt"), world.exists("b.txt")), (true, false));
}

#[test]
fn tool_result_overrides_the_content_of_a_success() {
    let world = module(
        one_call("read_file", json!({"path": "env"}), json!({"contains": ["API_KEY=[REDACTED]"], "lacks": ["abc123"]})),
        r#"pi.on("tool_result", async (event) => {
            if (event.toolName !== "read" || event.isError) return;
            return { content: event.content.map((chunk) => chunk.type === "text" ? { ...chunk, text: chunk.text.replaceAll(/API_KEY=\S+/g, "API_KEY=[REDACTED]") } : chunk) };
        });"#,
    );
    world.write("env", "API_KEY=abc123");
    world.say("go").ends_with(0);
}

#[test]
fn tool_result_hears_of_an_error_and_the_error_stays() {
    let world = module(
        one_call("read_file", json!({"path": "none"}), json!({"contains": ["\"error\""]})),
        r#"pi.on("tool_result", async (event) => { pi.appendEntry("heard", { isError: event.isError }); });"#,
    );
    assert_eq!(world.say("go").ends_with(0).texts("tool_result", "end"), ["failed"]);
    assert!(std::fs::read_to_string(&world.sessions()[0]).unwrap().contains(r#""isError":true"#));
}

#[test]
fn context_changes_what_one_call_sends() {
    let world = module(
        turns(json!([{"text": "ok", "expect": {"contains": ["HELLO"]}}])),
        r#"pi.on("context", async (event) => ({ messages: event.messages.map((m) => JSON.parse(JSON.stringify(m).replace("hello", "HELLO"))) }));"#,
    );
    world.say("hello").ends_with(0);
}

#[test]
fn before_agent_start_brings_a_message() {
    let world = module(
        turns(json!([{"text": "ok", "expect": {"contains": ["remember the style guide"]}}])),
        r#"pi.on("before_agent_start", async () => ({ message: { customType: "style", content: "remember the style guide", display: true } }));"#,
    );
    world.say("hello").ends_with(0);
}

#[test]
fn one_call_through_hooks_of_all_dialects() {
    let world = World::with(
        &[(
            "BeforeTool",
            "write_file",
            r#"cat >/dev/null; echo '{"hookSpecificOutput":{"tool_input":{"path":"one.txt","content":"x"}}}'"#,
        )],
        one_call("write_file", write(), json!({"contains": ["seen by a module"]})),
    );
    world.plugin(json!({"PreToolUse": [{"matcher": "writeFile", "command": "grep -q one.txt && echo '{\"decision\":\"modify\",\"args\":{\"filePath\":\"two.txt\",\"content\":\"y\"}}'"}]}));
    world.module(
        r#"export default (pi) => {
            pi.on("tool_call", async (event) => { if (event.toolName !== "write" || event.input.path !== "two.txt") return { block: true, reason: "order" }; });
            pi.on("tool_result", async (event) => ({ content: [{ type: "text", text: "seen by a module" }] }));
        };"#,
    );
    world.say("go").ends_with(0);
    assert_eq!((world.exists("a.txt"), world.exists("one.txt"), world.read("two.txt").as_str()), (false, false, "y"));
    let receipts = world.receipts();
    let receipt = receipts.iter().find(|receipt| receipt["operation"] == "tool write_file").unwrap();
    let dialects: Vec<&str> =
        receipt["ran"].as_array().unwrap().iter().map(|run| run["dialect"].as_str().unwrap()).collect();
    assert_eq!(dialects, ["llxprt", "xcode", "xcsh", "xcsh"]);
}

#[test]
fn a_module_s_command_goes_on_in_a_new_session() {
    let world = World::new(turns(json!([
        {"text": "one"},
        {"text": "two", "expect": {"contains": ["Continue from prior session summary."], "lacks": ["first prompt"]}}
    ])));
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    world.module(&std::fs::read_to_string(root.join("examples/modules/handoff-command.ts")).unwrap());
    std::fs::rename(world.project.join(".xcsh/hooks/sample.js"), world.project.join(".xcsh/hooks/sample.ts")).unwrap();
    let ran = world.lines(&[], &["first prompt", "/handoff", "second prompt"]).ends_with(0);
    assert_eq!(ran.texts("session", "source"), ["startup", "clear"], "{}", ran.stdout);
    let sessions = world.sessions();
    let header = std::fs::read_to_string(&sessions[1]).unwrap();
    assert!(
        header.lines().next().unwrap().contains(sessions[0].to_str().unwrap()),
        "the new session knows where it comes from"
    );
}

#[test]
fn a_module_s_message_can_want_an_answer_of_its_own() {
    let world = module(
        turns(json!([{"text": "one"}, {"text": "two", "expect": {"contains": ["look at the build"]}}])),
        r#"pi.registerCommand("build", { description: "d", handler: async () => {
            pi.sendMessage({ customType: "build", content: "look at the build", display: true }, { triggerTurn: true });
        } });"#,
    );
    let ran = world.lines(&[], &["hello", "/build", "/help"]).ends_with(0);
    assert!(ran.shown("error").is_empty());
    assert!(ran.stdout.contains("/build "), "commands of modules are listed");
    assert_eq!(ran.texts("answer", "text"), ["one", "two"], "{}", ran.stdout);
}

#[test]
fn every_tool_has_its_name_in_every_dialect() {
    let calls = json!([
        {"name": "write_file", "args": {"path": "a", "content": "one"}},
        {"name": "read_file", "args": {"path": "a"}},
        {"name": "replace", "args": {"path": "a", "old_string": "one", "new_string": "two"}},
        {"name": "list_directory", "args": {"path": "."}},
        {"name": "glob", "args": {"pattern": "*"}},
        {"name": "search_file_content", "args": {"pattern": "two", "include": "a"}},
        {"name": "run_shell_command", "args": {"command": "true", "timeout_ms": 5000}}
    ]);
    let world = World::new(turns(json!([{"calls": calls}, {"text": "done"}])));
    world.plugin(json!({"PreToolUse": [{"command": "cat >> '${cwd}/xcode.log'; echo >> '${cwd}/xcode.log'"}]}));
    world.module(r#"export default (pi) => { pi.on("tool_call", async (e) => { pi.appendEntry("saw", { [e.toolName]: Object.keys(e.input).sort() }); }); };"#);
    let ran = world.run(&["--headless", "--plugin-debug", "--prompt", "go"]).ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["ran"; 7], "{}", ran.stdout);
    assert!(ran.stderr.contains("hooks.exec-ran"), "breadcrumbs are mirrored: {}", ran.stderr);
    let log = world.read("xcode.log");
    let lines = log
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let seen: Vec<String> = lines
        .map(|line| {
            let mut names: Vec<&String> = line["tool"]["args"].as_object().unwrap().keys().collect();
            names.sort();
            format!("{} {names:?}", line["tool"]["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        seen,
        [
            r#"writeFile ["content", "filePath", "path"]"#,
            r#"readFile ["filePath", "path"]"#,
            r#"edit ["filePath", "newString", "oldString", "path"]"#,
            r#"listDir ["dirPath", "path"]"#,
            r#"glob ["pattern"]"#,
            r#"grep ["glob", "pattern"]"#,
            r#"shell ["command", "timeout"]"#,
        ]
    );
    let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    for saw in [
        r#""write":["content","path"]"#,
        r#""read":["path"]"#,
        r#""edit":["newText","oldText","path"]"#,
        r#""ls":["path"]"#,
        r#""find":["pattern"]"#,
        r#""grep":["glob","pattern"]"#,
        r#""bash":["command","timeout"]"#,
    ] {
        assert!(session.contains(saw), "{saw}: {session}");
    }
}
