//! The JSON Schemas: current in the repository, and of one mind with the parsers.

use std::path::{Path, PathBuf};

use crate::common::{drive, exited, hook, json};
use boon::{Compiler, Format, SchemaIndex, Schemas};
use hookrail::dialect::llxprt::{AnyHookInput, MATCHER_FORMAT, schemas};
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::sources::SourceKind;
use hookrail::{Code, DialectId, Environment, Event, EventKind, HookSystem};
use serde_json::{Value, json as value};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_schemas_in_the_repository_are_current() {
    are_current("llxprt", schemas());
    are_current("xcode", hookrail::dialect::xcode::schemas());
}

/// Compares generated files with those in the repository, or writes them when HOOKRAIL_BLESS=1.
fn are_current(dialect: &str, schemas: Vec<(String, Value)>) {
    let folder = repository().join("schemas").join(dialect);
    let bless = std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1");
    if bless {
        std::fs::create_dir_all(&folder).unwrap();
    }
    let mut expected = Vec::new();
    for (name, schema) in schemas {
        let text = format!("{schema:#}\n");
        let path = folder.join(format!("{name}.json"));
        expected.push(format!("{name}.json"));
        if bless {
            std::fs::write(&path, &text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{} is not current: run `HOOKRAIL_BLESS=1 cargo test -p hookrail --test it schemas::`",
            path.display()
        );
    }
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    expected.sort();
    assert_eq!(files, expected, "a schema that is not generated any more");
}

/// All schemas, compiled, with the matcher format checked by the engine's own matcher.
struct Checker {
    schemas: Schemas,
    indexes: Vec<(String, SchemaIndex)>,
}

impl Checker {
    fn new() -> Self {
        fn is_matcher(value: &Value) -> Result<(), Box<dyn std::error::Error>> {
            let Some(text) = value.as_str() else { return Ok(()) };
            match Matcher::compile(text, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::Literal).problem {
                Some(problem) => Err(problem.to_string().into()),
                None => Ok(()),
            }
        }
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler.register_format(Format { name: MATCHER_FORMAT, func: is_matcher });
        let mut compiled = Schemas::new();
        let mut indexes = Vec::new();
        for (name, schema) in schemas().into_iter().chain(hookrail::dialect::xcode::schemas()) {
            let location = format!("memory:///{name}.json");
            compiler.add_resource(&location, schema).unwrap();
            let index = compiler.compile(&location, &mut compiled).unwrap_or_else(|error| panic!("{name}: {error}"));
            indexes.push((name, index));
        }
        Self { schemas: compiled, indexes }
    }

    fn accepts(&self, name: &str, document: &Value) -> bool {
        let (_, index) = self.indexes.iter().find(|(known, _)| known == name).unwrap();
        self.schemas.validate(document, *index).is_ok()
    }
}

/// The settings of every conformance case, and every kind of mistake once.
fn settings_corpus() -> Vec<Value> {
    let mut corpus = Vec::new();
    for entry in std::fs::read_dir(repository().join("conformance/llxprt")).unwrap() {
        let path = entry.unwrap().path();
        let cases: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for case in cases.as_array().into_iter().flatten() {
            for layer in ["user", "project", "system"] {
                let document = match &case[layer] {
                    Value::String(text) if !text.contains("{{") => {
                        serde_json::from_str(text).ok().filter(|_| !has_repeated_keys(text))
                    }
                    Value::String(_) | Value::Null => None,
                    other => Some(other.clone()),
                };
                corpus.extend(document);
            }
        }
    }
    let hook = |extra: Value| {
        let mut hook = value!({"type": "command", "command": "c"});
        hook.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        value!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}})
    };
    let group = |event: &str, extra: Value| {
        let mut group = value!({"hooks": []});
        group.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        value!({"hooks": {event: [group]}})
    };
    let remote = |extra: Value| {
        let mut hook = value!({"type": "remote", "group": "guards"});
        hook.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        value!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}})
    };
    corpus.extend([
        remote(value!({})),
        remote(value!({"retries": 0, "timeout": 250, "onFailure": "block", "name": "n", "enforce": false})),
        remote(value!({"retries": 3.0})),
        remote(value!({"retries": 4})),
        remote(value!({"retries": "1"})),
        remote(value!({"group": "a-b_2"})),
        remote(value!({"group": ""})),
        remote(value!({"group": "a.b"})),
        remote(value!({"group": "Guards"})),
        remote(value!({"group": 1})),
        remote(value!({"command": "c"})),
        remote(value!({"args": []})),
        remote(value!({"mode": "once"})),
        remote(value!({"sandbox": "guard"})),
        remote(value!({"sandboxRequired": false})),
        value!({"hooks": {"BeforeTool": [{"hooks": [{"type": "remote"}]}]}}),
        hook(value!({"group": "guards"})),
        hook(value!({"retries": 1})),
        value!({}),
        value!([]),
        value!("x"),
        value!({"theme": 1, "tools": {"other": []}}),
        value!({"tools": 1}),
        value!({"tools": {"enableHooks": "yes"}}),
        value!({"enableHooks": true}),
        value!({"enableHooks": "yes"}),
        value!({"hooksConfig": {"enabled": true, "disabled": ["a"], "notifications": false, "modelDecisions": "strict"}}),
        value!({"hooksConfig": {"enbled": true}}),
        value!({"hooksConfig": {"disabled": "a"}}),
        value!({"hooksConfig": {"disabled": [1]}}),
        value!({"hooksConfig": {"modelDecisions": "loose"}}),
        value!({"hooksConfig": []}),
        value!({"security": 1}),
        value!({"security": {"environmentVariableRedaction": 1}}),
        value!({"security": {"environmentVariableRedaction": {"enabled": true, "allowed": ["A"], "blocked": []}}}),
        value!({"security": {"environmentVariableRedaction": {"enabled": 1}}}),
        value!({"security": {"environmentVariableRedaction": {"allowed": [1]}}}),
        value!({"hooks": []}),
        value!({"hooks": {"enabled": true}}),
        value!({"hooks": {"BeforTool": []}}),
        value!({"hooks": {"BeforeTool": {}}}),
        value!({"hooks": {"BeforeTool": [1]}}),
        value!({"hooks": {"BeforeTool": [{}]}}),
        value!({"hooks": {"BeforeTool": [{"hooks": {}}]}}),
        value!({"hooks": {"BeforeTool": [{"hooks": [1]}]}}),
        value!({"hooks": {"BeforeTool": [{"hooks": [{}]}]}}),
        value!({"hooks": {"BeforeTool": [{"hooks": [{"type": "plugin"}]}]}}),
        value!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command"}]}]}}),
        group("BeforeTool", value!({"matcher": "write_*"})),
        group("BeforeTool", value!({"matcher": "("})),
        group("BeforeTool", value!({"matcher": 1})),
        group("BeforeTool", value!({"sequential": 1})),
        group("BeforeTool", value!({"hoks": 1})),
        group("BeforeModel", value!({"matcher": "x"})),
        group("BeforeModel", value!({"matcher": " * "})),
        hook(value!({})),
        hook(value!({"command": ""})),
        hook(value!({"command": 1})),
        hook(value!({"command": "a\u{0}b"})),
        hook(value!({"args": ["a", "b"]})),
        hook(value!({"args": "a"})),
        hook(value!({"args": [1]})),
        hook(value!({"args": ["\u{0}"]})),
        hook(value!({"timeout": 1})),
        hook(value!({"timeout": 0.5})),
        hook(value!({"timeout": 0})),
        hook(value!({"timeout": -1})),
        hook(value!({"timeout": "1"})),
        hook(value!({"timeout": 86_400_000})),
        hook(value!({"timeout": 86_400_001})),
        hook(value!({"timeout": null})),
        hook(value!({"name": 1})),
        hook(value!({"name": "", "description": "d"})),
        hook(value!({"description": 1})),
        hook(value!({"onFailure": "ask"})),
        hook(value!({"onFailure": "deny"})),
        hook(value!({"onfailure": "ask"})),
        hook(value!({"mode": "worker"})),
        hook(value!({"mode": "daemon"})),
        hook(value!({"sandbox": "none"})),
        hook(value!({"sandbox": "guard", "sandboxRequired": true})),
        hook(value!({"sandbox": "gaurd"})),
        hook(value!({"sandbox": {}})),
        hook(value!({"sandbox": {"read": "all", "write": ["out", "~/x"], "network": true}, "sandboxRequired": false})),
        hook(value!({"sandbox": {"read": []}})),
        hook(value!({"sandbox": {"read": "some"}})),
        hook(value!({"sandbox": {"read": [""]}})),
        hook(value!({"sandbox": {"write": "out"}})),
        hook(value!({"sandbox": {"write": [1]}})),
        hook(value!({"sandbox": {"network": null}})),
        hook(value!({"sandbox": {"writes": []}})),
        hook(value!({"sandbox": true})),
        hook(value!({"sandbox": null})),
        hook(value!({"sandboxRequired": true})),
        hook(value!({"sandboxRequired": false})),
        hook(value!({"sandboxRequired": "yes", "sandbox": "guard"})),
        hook(value!({"sandboxRequired": true, "sandbox": "none"})),
        value!({"hooksConfig": {"sandbox": "guard"}}),
        value!({"hooksConfig": {"sandbox": {"write": ["."]}}}),
        value!({"hooksConfig": {"sandbox": "all"}}),
    ]);
    corpus
}

fn has_repeated_keys(text: &str) -> bool {
    fn keys(value: &Value) -> usize {
        match value {
            Value::Object(members) => members.len() + members.values().map(keys).sum::<usize>(),
            Value::Array(elements) => elements.iter().map(keys).sum(),
            _ => 0,
        }
    }
    serde_json::from_str::<Value>(text).is_ok_and(|value| keys(&value) != text.matches("\":").count())
}

#[test]
fn the_settings_schema_accepts_exactly_what_the_parser_finds_nothing_wrong_with() {
    let checker = Checker::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("system.json");
    let environment: Environment =
        [("LLXPRT_SYSTEM_SETTINGS_PATH", file.as_os_str()), ("HOME", dir.path().as_os_str())].into_iter().collect();
    let (mut accepted, mut refused) = (0, 0);
    for document in settings_corpus() {
        std::fs::write(&file, document.to_string()).unwrap();
        // A system of its own: one that has read another text waits until the file is stable.
        let system = HookSystem::builder(dir.path().join("project")).environment(environment.clone()).build();
        let findings = system.reload();
        // A switch may stand in another file, and entries of type `plugin` and `remote` are valid although they are not executed
        // here.
        let elsewhere = [Code::HooksNeverOn, Code::NotExecutable, Code::RemoteNoClient];
        let of_this_file = findings.iter().filter(|found| !elsewhere.contains(&found.code)).count();
        assert_eq!(
            checker.accepts("settings", &document),
            of_this_file == 0,
            "{document:#}\nthe parser says: {findings:?}"
        );
        if of_this_file == 0 { accepted += 1 } else { refused += 1 }
    }
    assert!(accepted > 100 && refused > 40, "the corpus has both: {accepted} accepted, {refused} refused");
}

/// Manifests of plugins: every kind of mistake once.
fn manifests() -> Vec<Value> {
    let manifest = |extra: Value| {
        let mut manifest = value!({"name": "p"});
        manifest.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        manifest
    };
    let entry = |event: &str, extra: Value| {
        let mut entry = value!({"command": "c"});
        entry.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        value!({"name": "p", "hooks": {event: [entry]}})
    };
    let hook = |extra: Value| entry("PreToolUse", extra);
    vec![
        value!([]),
        value!({}),
        value!({"name": 1}),
        value!({"name": "A"}),
        value!({"name": "a_b"}),
        value!({"name": "con"}),
        value!({"name": "com1"}),
        value!({"name": "com10"}),
        value!({"name": ""}),
        manifest(value!({})),
        manifest(value!({"$schema": "./plugin.schema.json", "author": {"name": "x"}, "description": "d"})),
        manifest(value!({"description": 1})),
        manifest(value!({"version": "1.0.0-beta+x"})),
        manifest(value!({"version": ""})),
        manifest(value!({"version": "a/b"})),
        manifest(value!({"version": "a."})),
        manifest(value!({"version": "NUL.txt"})),
        manifest(value!({"version": "x\n"})),
        manifest(value!({"version": 1})),
        manifest(value!({"hooks": []})),
        manifest(value!({"hooks": {}})),
        manifest(value!({"hooks": {"PreToolUse": []}})),
        manifest(value!({"hooks": {"PreToolUse": {}}})),
        manifest(value!({"hooks": {"PreToolUse": [1]}})),
        manifest(value!({"hooks": {"BeforeTool": []}})),
        manifest(value!({"hooks": {"PreToolUse": [{"matcher": "x"}]}})),
        manifest(value!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "c"}]}]}})),
        hook(value!({})),
        hook(value!({"command": ""})),
        hook(value!({"command": " "})),
        hook(value!({"command": 1})),
        hook(value!({"command": "a\u{0}b"})),
        hook(value!({"commandLinux": "l", "commandDarwin": "d", "commandWindows": "w"})),
        hook(value!({"commandWindows": ""})),
        hook(value!({"matcher": "^a$"})),
        hook(value!({"matcher": 1})),
        entry("SessionStart", value!({"matcher": "*"})),
        entry("SessionStart", value!({"matcher": "x"})),
        hook(value!({"timeout": 1})),
        hook(value!({"timeout": 30_000})),
        hook(value!({"timeout": 30_001})),
        hook(value!({"timeout": 0})),
        hook(value!({"timeout": 1.5})),
        hook(value!({"timeout": "1"})),
        hook(value!({"description": "d", "statusMessage": "s"})),
        hook(value!({"description": 1})),
        hook(value!({"statusMessage": 1})),
        hook(value!({"failurePolicy": "block"})),
        hook(value!({"failurePolicy": "ask"})),
        hook(value!({"onFailure": "block"})),
        hook(value!({"enforce": false})),
        hook(value!({"enforce": "no"})),
        hook(value!({"sandbox": "guard", "sandboxRequired": true})),
        hook(value!({"sandboxRequired": true})),
        hook(value!({"sandbox": {"write": ["out"]}})),
        hook(value!({"sandbox": "all"})),
    ]
}

#[test]
fn the_plugin_schema_accepts_exactly_what_the_parser_finds_nothing_wrong_with() {
    let checker = Checker::new();
    let dir = tempfile::tempdir().unwrap();
    let environment: Environment = [("HOME", dir.path().join("home").as_os_str())].into_iter().collect();
    let project = dir.path().join("project");
    let plugin = project.join(".x-code/plugins/p");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    std::fs::create_dir(dir.path().join("home")).unwrap();
    let findings = |document: &Value| {
        std::fs::write(plugin.join("plugin.json"), document.to_string()).unwrap();
        HookSystem::builder(&project).environment(environment.clone()).build().reload()
    };
    let (mut accepted, mut refused) = (0, 0);
    for document in manifests() {
        let found = findings(&document);
        assert_eq!(checker.accepts("plugin", &document), found.is_empty(), "{document:#}\nthe parser says: {found:?}");
        if found.is_empty() {
            accepted += 1;
        } else {
            refused += 1;
        }
        // The same hooks in a file of their own.
        if let Some(hooks @ Value::Object(_)) = document.get("hooks") {
            std::fs::write(plugin.join("hooks/hooks.json"), hooks.to_string()).unwrap();
            let found = findings(&value!({"name": "p"}));
            assert_eq!(checker.accepts("plugin-hooks", hooks), found.is_empty(), "{hooks:#}\n{found:?}");
            std::fs::remove_file(plugin.join("hooks/hooks.json")).unwrap();
        }
    }
    assert!(accepted > 15 && refused > 25, "the corpus has both: {accepted} accepted, {refused} refused");
}

fn sample(kind: EventKind) -> Event {
    Event::new(kind, "/p")
        .with_text("tool_name", "t")
        .with("tool_input", json("{}"))
        .with("tool_response", json("{}"))
        .with("llm_request", json(r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"config":{"topK":1}}"#))
        .with("llm_response", json(r#"{"text":"t"}"#))
        .with_text("prompt", "p")
        .with_text("prompt_response", "r")
        .with("stop_hook_active", json("false"))
        .with_text("source", "startup")
        .with_text("reason", "exit")
        .with_text("trigger", "auto")
        .with_text("notification_type", "ToolPermission")
        .with_text("message", "m")
        .with("details", json("{}"))
}

fn events() -> impl Iterator<Item = (EventKind, &'static str)> {
    EventKind::all().filter_map(|kind| Some((kind, kind.spec().column(DialectId::Llxprt)?.name)))
}

#[test]
fn what_hooks_receive_fits_its_schema() {
    let checker = Checker::new();
    for (kind, name) in events() {
        let payload = AnyHookInput::of_event(&sample(kind)).unwrap().to_json().to_value();
        assert!(checker.accepts(&format!("{name}.stdin"), &payload), "{name}: {payload:#}");
        let mut wrong = payload.clone();
        wrong["hook_event_name"] = value!("Other");
        assert!(!checker.accepts(&format!("{name}.stdin"), &wrong), "{name}");
    }
}

#[test]
fn the_answer_schemas_accept_exactly_what_is_read_without_a_word() {
    let checker = Checker::new();
    let answers = [
        value!({}),
        value!({"decision": "deny", "reason": "r"}),
        value!({"decision": null}),
        value!({"decision": "DENY"}),
        value!({"decision": 1}),
        value!({"decison": "deny"}),
        value!({"continue": false, "stopReason": "s", "suppressOutput": true, "systemMessage": "m"}),
        value!({"continue": "no"}),
        value!({"reason": 1}),
        value!({"hookSpecificOutput": "x"}),
        value!({"hookSpecificOutput": {"tool_input": {"a": 1}}}),
        value!({"hookSpecificOutput": {"tool_input": []}}),
        value!({"hookSpecificOutput": {"additionalContext": "c"}}),
        value!({"hookSpecificOutput": {"additionalContext": 1}}),
        value!({"hookSpecificOutput": {"llm_request": {"model": "m"}}}),
        value!({"hookSpecificOutput": {"llm_response": {"text": "t"}}}),
        value!({"hookSpecificOutput": {"toolConfig": {"mode": "NONE", "allowedFunctionNames": ["a"]}}}),
        value!({"hookSpecificOutput": {"toolConfig": {"mode": "SOME"}}}),
        value!({"hookSpecificOutput": {"toolConfig": {"allowedFunctionNames": [1]}}}),
        value!({"hookSpecificOutput": {"clearContext": true}}),
        value!({"hookSpecificOutput": {"clearContext": "yes"}}),
        value!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}),
        value!({"hookSpecificOutput": {"permissionDecision": "never"}}),
        value!({"hookSpecificOutput": {"hookEventName": "BeforeTool"}}),
        value!({"hookSpecificOutput": {"unknown": 1}}),
    ];
    for (kind, name) in events() {
        for answer in &answers {
            let outcome =
                drive(vec![hook(kind, "h", SourceKind::User)], sample(kind), |_| exited(0, &answer.to_string(), ""));
            let remarks: Vec<&str> = outcome
                .diagnostics
                .iter()
                .filter(|found| {
                    matches!(
                        found.code,
                        Code::AnswerField | Code::AnswerUnknownField | Code::AnswerIgnored | Code::EventNameMismatch
                    )
                })
                .map(|found| found.message.as_str())
                .collect();
            assert_eq!(
                checker.accepts(&format!("{name}.stdout"), answer),
                remarks.is_empty(),
                "{name}: {answer} {remarks:?}"
            );
        }
    }
}
