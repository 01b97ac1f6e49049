//! Every event, and every value of source, reason and trigger, from a real cause; told to hooks of every dialect.

use std::collections::BTreeSet;

use hookrail::{DialectId, EventKind};
use serde_json::{Value, json};

use crate::world::{Shows as _, World};

/// A module that writes down everything it is told.
const MODULE: &str = r#"
export default function (pi) {
  const names = NAMES;
  for (const name of names) {
    pi.on(name, async (event) => {
      const line = JSON.stringify({...event, type: name, messages: undefined, preparation: event.preparation && Object.keys(event.preparation)});
      await pi.exec("sh", ["-c", 'printf "%s\\n" "$1" >> xcsh.log', "sh", line]);
    });
  }
}
"#;

fn names(dialect: DialectId) -> BTreeSet<String> {
    EventKind::all().filter_map(|kind| Some(kind.spec().column(dialect)?.name.to_owned())).collect()
}

/// A project in which every event of every dialect is written down.
fn listening(script: Value) -> World {
    let log = "cat >> llxprt.log; echo >> llxprt.log";
    let llxprt = names(DialectId::Llxprt);
    let ask = ("BeforeTool", "run_shell_command", r#"cat >/dev/null; echo '{"decision":"ask","reason":"sure?"}'"#);
    let hooks: Vec<_> = llxprt.iter().map(|name| (name.as_str(), "", log)).chain([ask]).collect();
    let world = World::with(&hooks, script);
    let plugin: serde_json::Map<String, Value> = names(DialectId::Xcode)
        .into_iter()
        .map(|name| (name, json!([{"command": "cat >> '${cwd}/xcode.log'; echo >> '${cwd}/xcode.log'"}])))
        .collect();
    world.plugin(Value::Object(plugin));
    world.module(&MODULE.replace("NAMES", &json!(names(DialectId::Xcsh)).to_string()));
    world
}

impl World {
    fn log(&self, name: &str) -> Vec<Value> {
        let text = self.read(&format!("{name}.log"));
        text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The values a field has in a log, where the event has one of these names.
    fn values(&self, log: &str, event: &str, field: &str) -> BTreeSet<String> {
        let name = |line: &Value| {
            ["hook_event_name", "event", "type"].iter().find_map(|key| line[key].as_str().map(str::to_owned))
        };
        let lines = self.log(log).into_iter().filter(|line| name(line).as_deref() == Some(event));
        lines.filter_map(|line| line[field].as_str().map(str::to_owned)).collect()
    }
}

fn set(values: &[&str]) -> BTreeSet<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn script() -> Value {
    let todo =
        |status: &str| json!({"name": "todo_write", "args": {"todos": [{"content": "tests", "status": status}]}});
    json!({
        "context_window": 4500,
        "agents": {"reviewer": [
            {"calls": [{"name": "list_directory", "args": {}}]},
            {"text": "the review is done"}
        ]},
        "turns": [
            {"error": {"kind": "transient", "message": "busy"}},
            {"calls": [
                {"name": "run_shell_command", "args": {"command": "true"}},
                {"name": "task", "args": {"agent": "reviewer", "description": "review", "prompt": "review this"}},
                todo("pending")
            ]},
            {"text": "this is forbidden talk"},
            {"text": "done?", "expect": {"contains": ["speak politely"]}},
            {"calls": [todo("completed")], "expect": {"contains": ["these tasks are still open"]}},
            {"text": "done"},
            {"text": "a long prompt"},
            {"text": "more"},
            {"error": {"kind": "overflow", "message": "too long"}},
            {"text": "shorter now"}
        ]
    })
}

#[test]
fn every_event_and_every_value_fires_from_a_real_cause() {
    let world = listening(script());
    let rules = world.home.join("rules.json");
    std::fs::write(&rules, r#"[{"name":"polite","pattern":"forbidden","message":"speak politely"}]"#).unwrap();
    let long = format!("long {}", "x ".repeat(6000));
    let ran =
        world.lines(&["--rules", rules.to_str().unwrap()], &["first", &long, "more", "again", "/compact"]).ends_with(0);
    assert_eq!(ran.texts("turn_end", "end"), ["answered"; 5], "{}", ran.stdout);
    assert_eq!(ran.texts("compacted", "reason"), ["threshold", "idle", "overflow", "manual"], "{}", ran.stdout);

    let first = world.sessions()[0].clone();
    let entries: Vec<Value> =
        std::fs::read_to_string(&first).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let prompts: Vec<&str> = entries
        .iter()
        .filter(|entry| entry["message"]["role"] == "user" && entry["message"]["parts"][0]["text"].is_string())
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    let id = first.file_stem().unwrap().to_str().unwrap();
    let lines = [
        format!("/tree {} summary", prompts[1]),
        format!("/branch {}", prompts[1]),
        "/fork".to_owned(),
        "/clear".to_owned(),
        format!("/resume {id}"),
        "/logout".to_owned(),
    ];
    let ran = world.lines(&["--resume"], &lines.each_ref().map(String::as_str)).ends_with(0);
    assert_eq!(
        ran.texts("session", "source"),
        ["resume", "tree", "branch", "fork", "clear", "resume"],
        "{}",
        ran.stdout
    );

    for (log, dialect, key) in [
        ("llxprt", DialectId::Llxprt, "hook_event_name"),
        ("xcode", DialectId::Xcode, "event"),
        ("xcsh", DialectId::Xcsh, "type"),
    ] {
        let heard: BTreeSet<String> =
            world.log(log).iter().map(|line| line[key].as_str().unwrap().to_owned()).collect();
        assert_eq!(heard, names(dialect), "{log}");
    }
    assert_eq!(world.values("llxprt", "SessionStart", "source"), set(&["startup", "resume", "clear", "compress"]));
    assert_eq!(
        world.values("llxprt", "SessionEnd", "reason"),
        set(&["exit", "clear", "logout", "other"]),
        "the fifth needs a terminal"
    );
    assert_eq!(world.values("llxprt", "PreCompress", "trigger"), set(&["auto", "manual"]));
    assert_eq!(world.values("llxprt", "Notification", "notification_type"), set(&["ToolPermission"]));
    assert_eq!(world.values("xcode", "PreCompact", "trigger"), set(&["proactive", "reactive"]));
    assert_eq!(world.values("xcode", "SubagentStop", "outcome"), set(&["completed"]));
    assert_eq!(world.values("xcsh", "session_before_switch", "reason"), set(&["new", "resume", "fork"]));
    assert_eq!(world.values("xcsh", "session_switch", "reason"), set(&["new", "resume", "fork"]));
    assert_eq!(world.values("xcsh", "auto_compaction_start", "reason"), set(&["threshold", "overflow", "idle"]));
}

#[test]
fn a_sub_agent_has_the_hooks_but_no_session() {
    let world = listening(json!({
        "agents": {"writer": [{"calls": [{"name": "write_file", "args": {"path": "a", "content": ""}}]}, {"text": "written"}]},
        "turns": [
            {"calls": [{"name": "task", "args": {"agent": "writer", "prompt": "write"}}]},
            {"text": "done", "expect": {"contains": ["written"]}}
        ]
    }));
    world.say("go").ends_with(0);
    let events: Vec<String> =
        world.log("llxprt").iter().map(|line| line["hook_event_name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events.iter().filter(|name| *name == "SessionStart").count(), 1);
    assert_eq!(events.iter().filter(|name| *name == "SessionEnd").count(), 1);
    let tools: Vec<Value> =
        world.log("llxprt").into_iter().filter(|line| line["hook_event_name"] == "BeforeTool").collect();
    assert_eq!(
        tools.iter().map(|line| line["tool_name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["task", "write_file"]
    );
}

#[test]
fn a_hook_inside_a_sub_agent_blocks_and_stops_the_whole_agent() {
    let agents = json!({"writer": [{"calls": [{"name": "write_file", "args": {"path": "a", "content": ""}}]}, {"text": "could not"}]});
    let script = json!({"agents": agents, "turns": [{"calls": [{"name": "task", "args": {"agent": "writer", "prompt": "write"}}]}, {"text": "ok"}]});
    let world = World::with(&[("BeforeTool", "write_file", "echo no >&2; exit 2")], script.clone());
    world.say("go").ends_with(0);
    assert!(!world.exists("a"));
    let world =
        World::with(&[("BeforeTool", "write_file", r#"echo '{"continue":false,"stopReason":"halt"}'"#)], script);
    let ran = world.say("go").ends_with(3);
    assert!(ran.texts("stopped", "reason").contains(&"halt".to_owned()), "{}", ran.stdout);
}

#[test]
fn before_and_after_the_agent() {
    let deny = World::with(
        &[("BeforeAgent", "", "echo 'not here' >&2; exit 2")],
        json!({"turns": [{"text": "x", "expect": {"lacks": ["my password"]}}]}),
    );
    let ran = deny.say("my password is 1234").ends_with(2);
    assert_eq!(ran.texts("prompt_denied", "reason"), ["not here"]);
    deny.hooks(&[]);
    deny.run(&["--resume", "--headless", "--prompt", "hello"]).ends_with(0);

    let context = World::with(
        &[("BeforeAgent", "", r#"cat >/dev/null; echo '{"hookSpecificOutput":{"additionalContext":"sprint 42"}}'"#)],
        json!({"turns": [{"text": "x", "expect": {"contains": ["hello\n\nsprint 42"]}}]}),
    );
    context.say("hello").ends_with(0);

    let again = World::with(
        &[(
            "AfterAgent",
            "",
            r#"grep -q '"stop_hook_active":true' || echo '{"decision":"block","reason":"run the tests"}'"#,
        )],
        json!({"turns": [{"text": "first"}, {"text": "second", "expect": {"contains": ["run the tests"]}}]}),
    );
    let ran = again.say("hello").ends_with(0);
    assert_eq!(ran.texts("sent_back", "message"), ["run the tests"]);

    let forever = World::with(
        &[("AfterAgent", "", r#"cat >/dev/null; echo '{"decision":"block","reason":"again"}'"#)],
        json!({"turns": [{"text": "done", "repeat": true}]}),
    );
    let ran = forever.say("hello").ends_with(0);
    assert_eq!(ran.shown("sent_back").len(), 5, "a hook that never lets the agent end is capped");
    assert!(ran.texts("warning", "code").contains(&"sent-back-too-often".to_owned()));
}

#[test]
fn a_session_begins_with_context_or_not_at_all() {
    let start = |answer: &str| format!("cat >/dev/null; echo '{answer}'");
    let world = World::with(
        &[(
            "SessionStart",
            "startup",
            &start(r#"{"systemMessage":"hi","hookSpecificOutput":{"additionalContext":"use tabs"}}"#),
        )],
        json!({"turns": [{"text": "x", "expect": {"contains": ["use tabs", "hi"]}}]}),
    );
    world.say("go").ends_with(0);
    let world = World::with(
        &[("SessionStart", "", &start(r#"{"continue":false,"stopReason":"closed"}"#))],
        json!({"turns": []}),
    );
    let ran = world.say("go").ends_with(3);
    assert_eq!(ran.texts("stopped", "reason"), ["closed"]);
}
