//! What the users of the three original agents expect of a session: when its events fire and what they carry, what the
//! model and the user are told, and what of the configuration lasts.

use serde_json::{Value, json};

use crate::screen::Screen;
use crate::world::{ProgramOutput, Shows as _, World, one_call, says, turns};

/// A plugin command that writes down what it receives.
fn noted(file: &str) -> Value {
    json!([{"command": format!("cat >> '${{cwd}}/{file}'; echo >> '${{cwd}}/{file}'")}])
}

/// A module that writes down the events of these names, one per line, with the members that are picked.
fn noting(names: &[&str], picked: &str) -> String {
    format!(
        r#"import {{ appendFileSync }} from "node:fs";
        export default (pi) => {{ for (const name of {names:?}) pi.on(name, async (event, ctx) => {{
            const picked = ({picked})(event, ctx);
            appendFileSync(ctx.cwd + "/module.log", JSON.stringify({{ name, ...picked }}) + "\n");
        }}); }};"#
    )
}

fn lines(world: &World, file: &str) -> Vec<Value> {
    if !world.exists(file) {
        return Vec::new();
    }
    let text = world.read(file);
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn names(lines: &[Value]) -> Vec<String> {
    let name = |line: &Value| line["name"].as_str().or(line["event"].as_str()).unwrap_or_default().to_owned();
    lines.iter().map(name).collect()
}

fn warnings(ran: &ProgramOutput) -> Vec<String> {
    ran.texts("warning", "text")
}

fn write() -> Value {
    json!({"path": "a.txt", "content": "hello"})
}

fn session(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.sessions().last().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_piped_prompt_has_no_line_break_at_its_end() {
    let world = World::with(&[("BeforeAgent", "", "cat > prompt.json")], says("ok"));
    world.feed(&[], "do it\n").ends_with(0);
    let stdin: Value = serde_json::from_str(&world.read("prompt.json")).unwrap();
    assert_eq!(stdin["prompt"], "do it");
    world.script(says("ok"));
    world.feed(&[], "two\nlines\r\n\n").ends_with(0);
    let stdin: Value = serde_json::from_str(&world.read("prompt.json")).unwrap();
    assert_eq!(stdin["prompt"], "two\nlines");
}

#[test]
fn changed_settings_are_in_force_at_the_next_prompt_and_inside_a_prompt() {
    // The first tool writes a hook of the user, who needs no grant; the second one meets it.
    let world = World::new(turns(json!([
        {"calls": [{"name": "run_shell_command", "args": {"command": "mkdir -p \"$HOME/.llxprt\"; cp new.json \"$HOME/.llxprt/settings.json\""}},
                   {"name": "write_file", "args": {"path": "a.txt", "content": ""}}]},
        {"text": "one"},
        {"calls": [{"name": "write_file", "args": {"path": "b.txt", "content": ""}}]},
        {"text": "two"}
    ])));
    let hook = json!({"type": "command", "name": "gate", "command": "echo closed >&2; exit 2"});
    let settings =
        json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"matcher": "write_file", "hooks": [hook]}]}});
    world.write("new.json", settings.to_string());
    let ran = world.lines(&[], &["first", "second"]).ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["ran", "denied", "denied"], "{}", ran.stdout);
    assert!(!world.exists("a.txt") && !world.exists("b.txt"));
}

#[test]
fn hooks_that_a_user_disables_stay_disabled_in_the_next_run() {
    let world = World::with(&[("BeforeTool", "", "exit 2"), ("BeforeTool", "", "exit 2")], says("x"));
    let call = || one_call("write_file", write(), json!({}));
    world.script(call());
    let ran = world.lines(&[], &["/hooks disable h1", "/hooks disable h2", "go"]).ends_with(0);
    assert!(ran.shown("error").is_empty(), "{}", ran.stdout);
    assert_eq!(ran.texts("tool_result", "end"), ["ran"], "{}", ran.stdout);
    world.script(call());
    assert_eq!(world.say("go").ends_with(0).texts("tool_result", "end"), ["ran"], "the next run");
    let settings = std::fs::read_to_string(world.home.join(".llxprt/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings["hooksConfig"]["disabled"], json!(["h1", "h2"]));
    world.script(call());
    let ran = world.lines(&[], &["/hooks enable h1", "/hooks reload", "go"]).ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["denied"], "{}", ran.stdout);
    world.script(call());
    let ran = world.lines(&[], &["/hooks disable-all", "go", "/hooks enable-all", "/hooks"]).ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["ran"], "{}", ran.stdout);
    let listed = ran.shown("listing")[0]["lines"].to_string();
    assert!(!listed.contains("disabled"), "{listed}");
}

#[test]
fn after_a_stop_at_the_selection_of_tools_no_request_is_judged() {
    let world = World::with(
        &[
            ("BeforeToolSelection", "", r#"cat >/dev/null; echo '{"continue":false,"stopReason":"budget"}'"#),
            ("BeforeModel", "", "cat >/dev/null; touch asked"),
        ],
        says("never"),
    );
    let ran = world.say("go").ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["budget"]);
    assert!(!world.exists("asked"), "a request that is never sent is not judged");
}

#[test]
fn the_session_of_plugins_and_modules_is_the_run_of_the_agent() {
    let world = World::with(
        &[
            ("SessionStart", "", "cat >> llxprt.log; echo >> llxprt.log"),
            ("SessionEnd", "", "cat >> llxprt.log; echo >> llxprt.log"),
        ],
        turns(json!([{"text": "one"}, {"text": "two"}])),
    );
    world.plugin(json!({"SessionStart": noted("xcode.log"), "SessionEnd": noted("xcode.log")}));
    world.module(&noting(
        &["session_start", "session_shutdown", "session_switch", "session_compact"],
        "(event) => ({ reason: event.reason })",
    ));
    world.lines(&[], &["hello", "again", "/compact", "/clear", "/resume"]).ends_with(0);
    assert_eq!(names(&lines(&world, "xcode.log")), ["SessionStart", "SessionEnd"]);
    assert_eq!(
        names(&lines(&world, "module.log")),
        ["session_start", "session_compact", "session_switch", "session_switch", "session_shutdown"]
    );
    let told: Vec<String> = lines(&world, "llxprt.log")
        .iter()
        .map(|line| line["source"].as_str().or(line["reason"].as_str()).unwrap().to_owned())
        .collect();
    assert_eq!(told, ["startup", "compress", "clear", "clear", "other", "resume", "exit"]);
}

#[test]
fn every_event_of_a_plugin_names_the_model() {
    let world = World::new(json!({"model": "test-model", "turns": [
        {"calls": [{"name": "write_file", "args": write()}]}, {"text": "done"}
    ]}));
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TurnComplete", "SessionEnd"];
    let hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), noted(&format!("{event}.log")))).collect();
    world.plugin(Value::Object(hooks));
    world.say("go").ends_with(0);
    for event in events {
        for line in lines(&world, &format!("{event}.log")) {
            assert_eq!(line["session"]["modelId"], "test-model", "{event}");
        }
        assert!(world.exists(&format!("{event}.log")), "{event}");
    }
}

#[test]
fn the_first_prompt_waits_for_the_hooks_of_the_session_s_start_and_not_for_ever() {
    let world = World::new(turns(json!([{"text": "one"}])));
    world.plugin(json!({
        "SessionStart": [{"command": "sleep 0.5; echo start >> '${cwd}/order'"}],
        "UserPromptSubmit": [{"command": "cat > /dev/null; echo prompt >> '${cwd}/order'"}]
    }));
    world.say("go").ends_with(0);
    assert_eq!(world.read("order"), "start\nprompt\n");

    let world = World::new(turns(json!([{"text": "one"}])));
    world.plugin(json!({
        "SessionStart": [{"command": "sleep 4; echo start >> '${cwd}/order'"}],
        "UserPromptSubmit": [{"command": "cat > /dev/null; echo prompt >> '${cwd}/order'"}]
    }));
    world.say("go").ends_with(0);
    assert!(world.read("order").starts_with("prompt\n"), "{}", world.read("order"));
}

#[test]
fn detached_hooks_that_fail_and_an_end_that_is_cut_off_are_reported() {
    let world = World::new(says("one"));
    world.plugin(json!({
        "SessionStart": [{"command": "no-such-command-here"}],
        "TurnComplete": [{"command": "exit 3"}],
        "SessionEnd": [{"command": "sleep 20", "timeout": 30000}]
    }));
    let ran = world.say("go").ends_with(0);
    let told = warnings(&ran);
    for (event, what) in
        [("in SessionStart, ", "exit status 127"), ("in TurnComplete, ", "exited with status 3"), ("", "1500 ms")]
    {
        let once: Vec<_> = told.iter().filter(|text| text.contains(what)).collect();
        assert!(matches!(once.as_slice(), [text] if text.starts_with(event)), "{what}: {told:?}");
    }
    assert!(told.iter().any(|text| text.contains("was still running")), "{told:?}");
}

#[test]
fn escape_aborts_the_hook_that_runs() {
    let world = World::with(&[("BeforeTool", "", "touch began; sleep 60")], one_call("write_file", write(), json!({})));
    let mut screen = Screen::start(&world, &[]);
    screen.line("go");
    screen.sees("running hook h1");
    screen.keys("\x1b");
    screen.sees("the hook was interrupted");
    screen.sees("done");
    screen.exit();
    assert!(!world.exists("a.txt"), "an operation whose guard was interrupted does not happen");
}

#[test]
fn keys_that_are_typed_while_the_agent_works_are_the_next_prompt() {
    let hook = "cat >/dev/null; touch began; while [ ! -e go-on ]; do sleep 0.05; done";
    let world = World::with(&[("BeforeAgent", "", hook)], turns(json!([{"text": "one"}, {"text": "two"}])));
    let mut screen = Screen::start(&world, &[]);
    screen.line("first");
    screen.sees("running hook h1");
    screen.keys("second\r");
    world.write("go-on", "");
    screen.sees("two");
    screen.exit();
    let session = std::fs::read_to_string(world.sessions().last().unwrap()).unwrap();
    assert!(session.contains(r#""text":"second""#), "{session}");
}

#[test]
fn the_model_reads_that_a_hook_denied_its_call() {
    let expect = json!({"contains": ["denied by hook `h1`: not here"]});
    let world =
        World::with(&[("BeforeTool", "", "echo 'not here' >&2; exit 2")], one_call("write_file", write(), expect));
    let ran = world.say("go").ends_with(0);
    let result = &ran.shown("tool_result")[0];
    assert_eq!(
        (&result["display"], &result["by"]),
        (&json!("not here"), &json!(["h1"])),
        "the user sees the reason once"
    );

    let expect = json!({"contains": ["denied by hook `.xcsh/hooks/sample.js`: no"]});
    let world = World::new(one_call("write_file", write(), expect));
    world.module(r#"export default (pi) => { pi.on("tool_call", () => ({ block: true, reason: "no" })); };"#);
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.shown("tool_result")[0]["by"], json!([".xcsh/hooks/sample.js"]), "no absolute path");
    let listed = world.lines(&[], &["/hooks"]).ends_with(0);
    assert!(listed.shown("listing")[0]["lines"][0].as_str().unwrap().starts_with(".xcsh/hooks/sample.js  "));
}

#[test]
fn rounds_count_from_one_and_tokens_add_up() {
    let world = World::new(json!({
        "agents": {"writer": [{"text": "twelve chars"}, {"text": "twelve chars"}]},
        "turns": [
            {"calls": [{"name": "task", "args": {"agent": "writer", "prompt": "write"}}]},
            {"text": "one"},
            {"text": "two"}
        ]
    }));
    world.plugin(json!({"TurnComplete": noted("rounds.log"), "SubagentStop": noted("sub.log")}));
    world.lines(&[], &["first", "second"]).ends_with(0);
    let mut rounds = lines(&world, "rounds.log");
    rounds.sort_by_key(|line| line["tokenUsage"]["totalTokens"].as_u64());
    // One of them is the sub-agent's, whose tokens count on their own.
    let turns: Vec<u64> = rounds.iter().map(|line| line["turn"].as_u64().unwrap()).collect();
    assert_eq!(turns.iter().filter(|turn| **turn == 1).count(), 3, "{rounds:?}");
    assert_eq!(turns.iter().filter(|turn| **turn == 2).count(), 1, "{rounds:?}");
    let totals: Vec<u64> = rounds.iter().map(|line| line["tokenUsage"]["totalTokens"].as_u64().unwrap()).collect();
    assert!(totals.windows(2).all(|pair| pair[0] < pair[1]), "each total has the ones before: {totals:?}");
    let stopped = &lines(&world, "sub.log")[0]["tokenUsage"];
    assert_eq!(stopped["outputTokens"], 3, "{stopped}");
    assert!(stopped["totalTokens"].as_u64() > stopped["outputTokens"].as_u64(), "{stopped}");
}

#[test]
fn entries_and_messages_have_their_time_and_answers_their_model_and_usage() {
    let world = World::new(json!({"model": "test-model", "turns": [
        {"calls": [{"name": "write_file", "args": write()}]}, {"text": "done"}
    ]}));
    world.module(&noting(
        &["agent_end", "turn_end"],
        "(event, ctx) => ({ messages: event.messages, message: event.message, results: event.toolResults, \
         entries: ctx.sessionManager.getEntries(), header: ctx.sessionManager.getHeader() })",
    ));
    world.say("go").ends_with(0);
    let told = lines(&world, "module.log");
    let iso = |value: &Value| value.as_str().is_some_and(|text| text.len() == 24 && text.ends_with('Z'));
    let end = told.iter().find(|line| line["name"] == "agent_end").unwrap();
    assert!(iso(&end["header"]["timestamp"]), "{}", end["header"]);
    let entries = end["entries"].as_array().unwrap();
    assert!(entries.len() >= 4 && entries.iter().all(|entry| iso(&entry["timestamp"])), "{entries:?}");
    let turn = told.iter().find(|line| line["name"] == "turn_end").unwrap();
    let messages = end["messages"].as_array().unwrap();
    let from_entries: Vec<&Value> =
        entries.iter().map(|entry| &entry["message"]).filter(|message| !message.is_null()).collect();
    let told = messages.iter().chain(from_entries).chain([&turn["message"]]).chain(turn["results"].as_array().unwrap());
    let mut answers = 0;
    for message in told {
        assert!(message["timestamp"].as_u64().is_some_and(|time| time > 1_600_000_000_000), "{message}");
        if message["role"] == "assistant" {
            answers += 1;
            assert_eq!(message["model"], "test-model", "{message}");
            assert!(message["usage"]["input"].as_u64() > Some(0), "{message}");
            assert!(message["usage"]["cost"]["total"].is_number() && message["usage"]["totalTokens"].is_number());
        }
    }
    assert_eq!(answers, 5, "two in the end, two in the entries, one in the turn");
}

#[test]
fn the_messages_of_the_context_have_their_time_and_answers_their_model_and_usage() {
    let world = World::new(json!({"model": "test-model", "turns": [
        {"calls": [{"name": "write_file", "args": write()}]},
        {"text": "done", "expect": {"lacks": ["timestamp", "usage"]}}
    ]}));
    world.module(&noting(&["context"], "(event) => ({ messages: event.messages })"));
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    world.say("go").ends_with(0);
    let told = lines(&world, "module.log");
    let messages = told.last().unwrap()["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult"]);
    for message in messages {
        assert!(message["timestamp"].as_u64().is_some_and(|time| u128::from(time) + 1 > before), "{message}");
    }
    let answer = &messages[1];
    assert_eq!((&answer["model"], &answer["stopReason"]), (&json!("test-model"), &json!("toolUse")), "{answer}");
    assert_eq!((&answer["provider"], &answer["api"]), (&json!("scripted"), &json!("scripted")));
    assert!(answer["usage"]["input"].as_u64() > Some(0), "{answer}");
}

const TURN_EVENTS: [&str; 4] = ["agent_start", "turn_start", "turn_end", "agent_end"];
const TURN_MEMBERS: &str = "(event) => ({ index: event.turnIndex, stop: event.message?.stopReason, \
                            texts: event.messages?.map((m) => m.role + ':' + (m.content ?? []).map((c) => c.text ?? c.name).join()) })";

#[test]
fn turns_and_messages_are_those_of_the_prompt() {
    let world = World::new(turns(json!([
        {"calls": [{"name": "write_file", "args": write()}]}, {"text": "one"}, {"text": "two"}
    ])));
    world.module(&noting(&TURN_EVENTS, TURN_MEMBERS));
    world.lines(&[], &["first", "second"]).ends_with(0);
    let told = lines(&world, "module.log");
    let starts: Vec<u64> =
        told.iter().filter(|line| line["name"] == "turn_start").map(|line| line["index"].as_u64().unwrap()).collect();
    assert_eq!(starts, [0, 1, 0]);
    let ends: Vec<&Value> = told.iter().filter(|line| line["name"] == "agent_end").map(|line| &line["texts"]).collect();
    assert_eq!(ends[0], &json!(["user:first", "assistant:write", "toolResult:wrote a.txt (5 bytes)", "assistant:one"]));
    assert_eq!(ends[1], &json!(["user:second", "assistant:two"]));
}

#[test]
fn a_failed_model_and_an_interrupt_end_the_turn_and_the_agent() {
    let world = World::new(turns(json!([{"error": {"kind": "failed", "message": "broken"}}])));
    world.module(&noting(&TURN_EVENTS, TURN_MEMBERS));
    world.say("go").ends_with(1);
    let told = lines(&world, "module.log");
    assert_eq!(names(&told), TURN_EVENTS);
    assert_eq!(told[2]["stop"], "error");

    let world = World::new(turns(json!([{"text": "hm", "hang": true}, {"text": "two"}])));
    world.module(&noting(&TURN_EVENTS, TURN_MEMBERS));
    let mut screen = Screen::start(&world, &[]);
    screen.line("go");
    screen.sees("hm");
    screen.keys("\x1b");
    screen.sees("interrupted");
    screen.exit();
    let told = lines(&world, "module.log");
    assert_eq!(names(&told), TURN_EVENTS);
    assert_eq!(told[2]["stop"], "aborted");
}

#[test]
fn a_branch_can_leave_the_conversation_as_it_is() {
    for (skip, expect) in
        [(true, json!({"contains": ["apples", "pears"]})), (false, json!({"contains": ["apples"], "lacks": ["pears"]}))]
    {
        let world = World::new(turns(json!([{"text": "one"}, {"text": "two"}])));
        world.module(&format!(
            r#"export default (pi) => {{ pi.on("session_before_branch", () => ({{ skipConversationRestore: {skip} }})); }};"#
        ));
        world.lines(&[], &["apples", "pears"]).ends_with(0);
        let prompts: Vec<String> = session(&world)
            .iter()
            .filter(|entry| entry["message"]["role"] == "user")
            .map(|entry| entry["id"].as_str().unwrap().to_owned())
            .collect();
        world.script(turns(json!([{"text": "three", "expect": expect}])));
        let ran = world.lines(&["--resume"], &[&format!("/branch {}", prompts[1]), "third"]).ends_with(0);
        assert_eq!(ran.texts("answer", "text"), ["three"], "{skip}: {}", ran.stdout);
    }
}

#[test]
fn a_follow_up_is_delivered_when_the_work_is_done_and_a_steering_message_at_once() {
    let script = |next: Value, last: Value| {
        turns(json!([
            {"calls": [{"name": "write_file", "args": write()}]},
            {"text": "one", "expect": next},
            {"text": "two", "expect": last}
        ]))
    };
    let module = |deliver: &str| {
        format!(
            r#"export default (pi) => {{ let sent = false; pi.on("tool_result", () => {{
                if (!sent) pi.sendMessage({{ customType: "c", content: "look here", display: true }}, {{ deliverAs: "{deliver}" }});
                sent = true;
            }}); }};"#
        )
    };
    let world = World::new(script(json!({"lacks": ["look here"]}), json!({"contains": ["look here"]})));
    world.module(&module("followUp"));
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("answer", "text"), ["", "one", "two"], "{}", ran.stdout);

    let world = World::new(script(json!({"contains": ["look here"]}), json!({})));
    world.module(&module("steer"));
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("answer", "text"), ["", "one"], "{}", ran.stdout);
}

#[test]
fn what_a_module_says_about_a_summary_is_kept() {
    let world = World::new(turns(json!([{"text": "one"}, {"text": "two"}])));
    world.module(
        r#"export default (pi) => {
            pi.on("session_before_tree", () => ({ summary: { summary: "was left", details: { files: ["a"] } } }));
            pi.on("session_before_compact", (event) => ({ compaction: { summary: "short", firstKeptEntryId: event.preparation.firstKeptEntryId, tokensBefore: 999 } }));
        };"#,
    );
    world.lines(&[], &["first", "second", "/compact"]).ends_with(0);
    let entries = session(&world);
    let compaction = entries.iter().find(|entry| entry["type"] == "compaction").unwrap();
    assert_eq!((&compaction["summary"], &compaction["tokensBefore"]), (&json!("short"), &json!(999)));
    let first = entries.iter().find(|entry| entry["message"]["role"] == "user").unwrap()["id"].as_str().unwrap();
    world.lines(&["--resume"], &[&format!("/tree {first} summary")]).ends_with(0);
    let entries = session(&world);
    let left = entries.iter().find(|entry| entry["type"] == "branch_summary").unwrap();
    assert_eq!((&left["summary"], &left["details"]), (&json!("was left"), &json!({"files": ["a"]})));
}

#[test]
fn a_move_in_the_session_names_a_module_only_if_one_wrote_the_summary() {
    for (answer, expected) in [("undefined", Value::Null), (r#"{ summary: { summary: "was left" } }"#, json!(true))] {
        let world = World::new(turns(json!([{"text": "one"}, {"text": "two"}])));
        world.module(&noting(&["session_tree"], "(event) => ({ from: event.fromExtension })"));
        let summary = format!(r#"export default (pi) => {{ pi.on("session_before_tree", () => ({answer})); }};"#);
        world.write(".xcsh/hooks/summary.js", summary);
        world.lines(&[], &["first", "second"]).ends_with(0);
        let entries = session(&world);
        let first = entries.iter().find(|entry| entry["message"]["role"] == "user").unwrap()["id"].as_str().unwrap();
        world.lines(&["--resume"], &[&format!("/tree {first}")]).ends_with(0);
        assert_eq!(lines(&world, "module.log")[0]["from"], expected, "{answer}");
    }
}

#[test]
fn context_is_asked_for_the_conversation_and_not_for_a_summary() {
    let world = World::with(
        &[("BeforeModel", "", "cat >> model.log; echo >> model.log")],
        json!({"summaries": ["in short"], "completions": ["by the way"], "turns": [{"text": "one"}, {"text": "two"}, {"text": "three"}]}),
    );
    world.module(
        r#"import { appendFileSync } from "node:fs";
        export default (pi) => {
            pi.on("context", (event, ctx) => appendFileSync(ctx.cwd + "/module.log", JSON.stringify({ name: "context", last: event.messages.at(-1).content[0].text }) + "\n"));
            pi.registerCommand("aside", { handler: async (_args, ctx) => {
                const { complete } = await import("@oh-my-pi/pi-ai");
                const said = await complete(ctx.model, { messages: [{ role: "user", content: "aside", timestamp: 1 }] });
                appendFileSync(ctx.cwd + "/module.log", JSON.stringify({ name: "aside", last: said.content[0].text }) + "\n");
            } });
        };"#,
    );
    world.lines(&[], &["first", "second", "/compact", "/aside", "third"]).ends_with(0);
    let told: Vec<(String, String)> = lines(&world, "module.log")
        .iter()
        .map(|line| (line["name"].as_str().unwrap().to_owned(), line["last"].as_str().unwrap().to_owned()))
        .collect();
    let told: Vec<(&str, &str)> = told.iter().map(|(name, last)| (name.as_str(), last.as_str())).collect();
    let expected = [("context", "first"), ("context", "second"), ("aside", "by the way"), ("context", "third")];
    assert_eq!(told, expected);
    assert_eq!(lines(&world, "model.log").len(), 5, "hooks of settings are asked about every model call");
}

#[test]
fn an_answer_is_in_the_session_of_modules_after_its_calls_were_judged() {
    let world = World::new(one_call("run_shell_command", json!({"command": "echo hi"}), json!({})));
    world.module(&noting(
        &["tool_call", "tool_result"],
        r#"(event, ctx) => { const session = ctx.sessionManager; const role = (entry) => entry.message?.role ?? entry.type;
            return { branch: session.getBranch().map(role), entries: session.getEntries().map(role), leaf: role(session.getLeafEntry()), same: session.getLeafId() === session.getBranch().at(-1).id }; }"#,
    ));
    world.say("go").ends_with(0);
    let told = lines(&world, "module.log");
    let seen = |roles: &[&str]| json!([roles, roles, roles.last(), true]);
    let told: Vec<Value> =
        told.iter().map(|line| json!([line["branch"], line["entries"], line["leaf"], line["same"]])).collect();
    assert_eq!(told, [seen(&["user"]), seen(&["user", "assistant"])]);
}

#[test]
fn the_end_of_an_automatic_compaction_has_its_result() {
    let world = World::new(json!({"context_window": 4500, "summaries": ["in short"], "turns": [
        {"text": "one"}, {"error": {"kind": "overflow", "message": "too long"}}, {"text": "two"}
    ]}));
    world
        .module(&noting(&["auto_compaction_end"], "(event) => ({ result: event.result, willRetry: event.willRetry })"));
    world.lines(&[], &["first", "second"]).ends_with(0);
    let told = lines(&world, "module.log");
    let result = &told.iter().find(|line| line["willRetry"] == true).unwrap()["result"];
    assert_eq!(result["summary"], "in short", "{result}");
    assert!(result["tokensBefore"].is_number() && result["firstKeptEntryId"].is_string(), "{result}");
}

#[test]
fn tools_of_a_sub_agent_tell_whose_they_are() {
    let world = World::with(
        &[
            ("BeforeTool", "", "cat >> tools.log; echo >> tools.log"),
            ("AfterTool", "", "cat >> tools.log; echo >> tools.log"),
        ],
        json!({
            "agents": {"writer": [{"calls": [{"name": "write_file", "args": write()}]}, {"text": "written"}]},
            "turns": [{"calls": [{"name": "task", "args": {"agent": "writer", "prompt": "write"}}]}, {"text": "done"}]
        }),
    );
    world.module(&noting(
        &["tool_call"],
        "(event) => ({ tool: event.toolName, agent: event.agentType ?? event.agent_type ?? null })",
    ));
    world.say("go").ends_with(0);
    for line in lines(&world, "tools.log") {
        let inner = line["tool_name"] == "write_file";
        assert_eq!(line["agent_type"].as_str(), inner.then_some("writer"), "{line}");
        assert_eq!(line["agent_id"].as_str().is_some_and(|id| !id.is_empty()), inner, "{line}");
    }
    let agents: Vec<Value> = lines(&world, "module.log").iter().map(|line| line["agent"].clone()).collect();
    assert_eq!(agents, [Value::Null, json!("writer")]);
}

#[test]
fn the_line_about_slow_hooks_names_all_that_run_and_says_what_they_do() {
    let world = World::new(one_call("write_file", write(), json!({})));
    let hook = |name: &str, file: &str| {
        json!({"type": "command", "name": name, "statusMessage": format!("checking {name}"),
               "command": format!("cat >/dev/null; while [ ! -e {file} ]; do sleep 0.05; done")})
    };
    world.write_hooks(&json!({"BeforeTool": [{"hooks": [hook("alpha", "end-alpha"), hook("beta", "end-beta")]}]}));
    let mut screen = Screen::start(&world, &[]);
    screen.line("go");
    screen.until("both hooks", |text| text.contains("checking alpha") && text.contains("checking beta"));
    world.write("end-alpha", "");
    screen.until("the other one", |text| {
        !text.contains("checking alpha") && text.contains("running hook beta (checking beta)")
    });
    world.write("end-beta", "");
    screen.sees("done");
    assert!(!screen.text().contains("running hook"), "{}", screen.text());
    screen.exit();
}

#[test]
fn changed_arguments_and_their_author_are_shown() {
    let world = World::with(
        &[
            (
                "BeforeTool",
                "",
                r#"cat >/dev/null; echo '{"hookSpecificOutput":{"tool_input":{"path":"b.txt","content":"x"}}}'"#,
            ),
            ("BeforeTool", "", "cat >/dev/null"),
        ],
        one_call("write_file", write(), json!({})),
    );
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.shown("tool_result")[0]["rewrittenBy"], json!(["h1"]), "{}", ran.stdout);
    world.script(one_call("write_file", write(), json!({})));
    let ran = world.run(&["--prompt", "go"]).ends_with(0);
    assert!(ran.stderr.contains(r#"arguments changed by hook h1: {"path":"b.txt","content":"x"}"#), "{}", ran.stderr);
}

#[test]
fn a_process_that_a_module_does_not_wait_for_is_drained_at_the_end() {
    let world = World::new(says("one"));
    world.module(
        r#"export default (pi) => { pi.on("agent_end", () => { pi.exec("sh", ["-c", "sleep 0.4; echo ding > sound"]); }); };"#,
    );
    world.say("go").ends_with(0);
    assert!(world.exists("sound"), "it was killed");
}

#[test]
fn a_process_that_a_module_does_not_wait_for_is_reported_when_it_is_cut_off() {
    let world = World::new(says("one"));
    world.module(r#"export default (pi) => { pi.on("agent_end", () => { pi.exec("sleep", ["600"]); }); };"#);
    let ran = world.say("go").ends_with(0);
    let told = warnings(&ran);
    let expected = "hook `.xcsh/hooks/sample.js`: its process `sleep` was still running 1500 ms after the shutdown began; it was ended";
    assert!(told.iter().any(|text| text.starts_with(expected)), "{told:?}");
}

#[test]
fn the_context_of_a_module_is_the_conversation_of_the_model() {
    let world = World::new(turns(json!([
        {"calls": [{"name": "write_file", "args": write()}]},
        {"text": "done", "expect": {"lacks": ["only for debugging"], "contains": ["wrote a.txt", "You are a coding agent"]}}
    ])));
    world.module(
        r#"import { appendFileSync } from "node:fs";
        export default (pi) => {
            pi.on("before_agent_start", () => ({ message: { customType: "debug-only", content: "only for debugging", display: true } }));
            pi.on("context", (event, ctx) => {
                appendFileSync(ctx.cwd + "/module.log", JSON.stringify({ name: event.messages.map((m) => m.customType ?? m.role).join() }) + "\n");
                return { messages: event.messages.filter((m) => !(m.role === "custom" && m.customType === "debug-only")) };
            });
        };"#,
    );
    world.say("go").ends_with(0);
    assert_eq!(names(&lines(&world, "module.log")), ["user,debug-only", "user,debug-only,assistant,toolResult"]);
}

#[test]
fn what_a_module_adds_to_a_prompt_follows_the_prompt() {
    let world = World::new(says("ok"));
    world.module(&noting(
        &["context"],
        r#"(event) => ({ seen: event.messages.map((message) => [message.role, message.content[0].text ?? message.content]) })"#,
    ));
    world.write(
        ".xcsh/hooks/adds.ts",
        r#"export default (pi) => pi.on("before_agent_start", () => ({ message: { customType: "t", content: "HELLO", display: true } }));"#,
    );
    world.say("go").ends_with(0);
    let seen = &lines(&world, "module.log")[0]["seen"];
    assert_eq!(seen[0], json!(["user", "go"]), "{seen}");
    assert_eq!((&seen[1][0], seen.as_array().map(Vec::len)), (&json!("custom"), Some(2)), "{seen}");
}

#[test]
fn replaced_parts_and_details_stay_in_the_conversation() {
    let world = World::new(one_call("run_shell_command", json!({"command": "echo secret"}), json!({})));
    world.module(&noting(
        &["context", "turn_end"],
        r#"(event) => ({ results: (event.messages ?? event.toolResults).filter((message) => message.role === "toolResult").map((message) => [message.content.map((part) => part.text), message.details ?? null]) })"#,
    ));
    world.write(
        ".xcsh/hooks/replaces.ts",
        r#"export default (pi) => pi.on("tool_result", () => ({ content: [{ type: "text", text: "one" }, { type: "text", text: "two" }], details: { x: 1 } }));"#,
    );
    world.say("go").ends_with(0);
    let noted = lines(&world, "module.log");
    let results: Vec<&Value> = noted.iter().map(|line| &line["results"]).filter(|it| **it != json!([])).collect();
    assert!(!results.is_empty(), "{noted:?}");
    assert_eq!(*results[0], json!([[["one", "two"], {"x": 1}]]), "{noted:?}");
    assert_eq!(*results[1], *results[0], "the model call after it: {noted:?}");
    assert_eq!(noted.iter().filter(|line| line["name"] == "context" && line["results"] == *results[0]).count(), 1);
}

#[test]
fn context_shows_tools_under_the_names_of_modules_and_the_model_keeps_its_own() {
    let expect = json!({"contains": ["changed", "run_shell_command"], "lacks": ["bash"]});
    let world = World::new(one_call("run_shell_command", json!({"command": "echo hi"}), expect));
    world.module(&noting(
        &["context"],
        r#"(event) => ({ calls: event.messages.flatMap((message) => message.role === "assistant" ? message.content.filter((part) => part.type === "toolCall").map((part) => part.name) : message.role === "toolResult" ? [message.toolName] : []) })"#,
    ));
    world.write(
        ".xcsh/hooks/changes.ts",
        r#"export default (pi) => pi.on("context", (event) => ({ messages: event.messages.map((message) => message.role === "toolResult" ? { ...message, content: [{ type: "text", text: "changed" }] } : message) }));"#,
    );
    world.say("go").ends_with(0);
    assert_eq!(lines(&world, "module.log").last().unwrap()["calls"], json!(["bash", "bash"]));
}

#[test]
fn a_module_that_cannot_be_loaded_is_reported_once() {
    let world = World::new(one_call("run_shell_command", json!({"command": "echo hi"}), json!({})));
    world.module("export default 7;");
    let ran = world.say("go").ends_with(0);
    let told = warnings(&ran).into_iter().filter(|text| text.contains("Hook must export a default function")).count();
    assert_eq!(told, 1, "{:?}", warnings(&ran));
}

#[test]
fn a_guard_that_is_registered_when_the_session_starts_blocks() {
    let world = World::new(one_call("run_shell_command", json!({"command": "touch ran"}), json!({})));
    world.module(
        r#"export default (pi) => pi.on("session_start", () => { pi.on("tool_call", () => ({ block: true, reason: "late" })); });"#,
    );
    world.say("go").ends_with(0);
    assert!(!world.exists("ran"));
}
