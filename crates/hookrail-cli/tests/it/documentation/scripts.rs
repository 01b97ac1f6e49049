//! The samples and scripts of the guide: what arrives on standard input, and what an answer does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::markdown::{Block, blocks};
use super::sandbox::{ProgramOutput, Sandbox, missing};

/// The pages with samples and scripts.
pub(super) const GUIDES: [&str; 2] = ["reference/protocol.md", "how-to/faster.md"];

/// The blocks of all these pages.
fn guide_blocks() -> Vec<Block> {
    GUIDES.iter().flat_map(|page| blocks(page)).collect()
}

/// The project's directory in the samples.
const SAMPLE_PROJECT: &str = "/home/ana/shop";

const EVENTS: [&str; 11] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "SessionStart",
    "SessionEnd",
    "PreCompress",
    "Notification",
];

/// The language of a block, the program that runs it, and how its file's name ends.
const LANGUAGES: [(&str, &str, &str); 3] = [("sh", "sh", "sh"), ("python", "python3", "py"), ("js", "node", "mjs")];

/// Settings with one hook for an event, which is a worker when its block says so.
fn settings(event: &str, command: &str, mode: Option<&str>) -> String {
    let mode = mode.unwrap_or("once");
    let hooks = json!([{"hooks": [{"type": "command", "command": command, "timeout": 30000, "mode": mode}]}]);
    json!({"hooksConfig": {"enabled": true}, "hooks": {event: hooks}}).to_string()
}

/// The members that every event has; the guide shows them once, in the sample of this event.
const COMMON: [&str; 5] = ["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp"];
const WHOLE_SAMPLE: &str = "BeforeTool";

/// The samples of standard input, by event: what the guide shows of each, with the members that every event has.
fn samples() -> BTreeMap<String, Value> {
    let found = guide_blocks().into_iter().filter_map(|block| {
        let event = block.value("stdin")?.to_owned();
        Some((event, serde_json::from_str(&block.text).unwrap()))
    });
    let mut samples: BTreeMap<String, Value> = found.collect();
    let whole = samples[WHOLE_SAMPLE].clone();
    for (event, sample) in &mut samples {
        let members = sample.as_object_mut().unwrap();
        for name in COMMON {
            members.entry(name).or_insert_with(|| whole[name].clone());
        }
        members.insert("hook_event_name".to_owned(), json!(event));
    }
    samples
}

/// A sample as it is in that project.
fn moved(sample: &Value, sandbox: &Sandbox) -> Value {
    let text = sample.to_string().replace(SAMPLE_PROJECT, sandbox.project.to_str().unwrap());
    serde_json::from_str(&text).unwrap()
}

/// The same event with nothing in it that a hook would mind.
fn harmless(event: &str, mut payload: Value) -> Value {
    let change = match event {
        "BeforeTool" => json!({"tool_input": {"path": "src/notes.md", "content": "hello\n"}}),
        "AfterTool" => json!({"tool_response": {"llmContent": "all passed", "returnDisplay": "all passed"}}),
        "BeforeAgent" => json!({"prompt": "explain the shop"}),
        "AfterAgent" => json!({"prompt_response": "Done, and the tests pass."}),
        "BeforeModel" => json!({"llm_request": {"messages": [{"role": "user", "content": "hello"}]}}),
        "AfterModel" => json!({"llm_response": {"text": "I do not know."}}),
        "BeforeToolSelection" => json!({"llm_request": {"messages": [{"role": "user", "content": "fix it"}]}}),
        "SessionStart" => json!({"source": "clear"}),
        _ => json!({}),
    };
    payload.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    payload
}

#[test]
fn every_event_has_a_sample() {
    let samples = samples();
    assert_eq!(samples.keys().map(String::as_str).collect::<BTreeSet<_>>(), EVENTS.into_iter().collect());
    let scripts: Vec<Block> = guide_blocks().into_iter().filter(|block| block.value("event").is_some()).collect();
    for (language, ..) in LANGUAGES {
        assert!(scripts.iter().any(|block| block.language == language), "no script in {language}");
    }
}

#[test]
fn the_samples_are_what_arrives_on_standard_input() {
    for (event, sample) in samples() {
        let sandbox = Sandbox::with_settings(&settings(&event, "cat > received.json", None));
        let sample = moved(&sample, &sandbox);
        let ran = sandbox.fire(&event, &sample, &[]);
        assert_eq!(ran.code, 0, "{event}: {}", ran.stderr);
        let received = fs::read_to_string(sandbox.project.join("received.json")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&received).unwrap(), sample, "{event}");
    }
}

#[test]
fn scripts_for_the_shell_do_what_they_promise() {
    run_scripts("sh");
}

#[test]
fn scripts_in_python_do_what_they_promise() {
    run_scripts("python");
}

#[test]
fn scripts_for_node_do_what_they_promise() {
    run_scripts("js");
}

fn run_scripts(language: &str) {
    let samples = samples();
    let (_, program, ending) = LANGUAGES.into_iter().find(|(name, ..)| *name == language).unwrap();
    for block in guide_blocks().iter().filter(|block| block.language == language) {
        let event = block.value("event").unwrap_or_else(|| panic!("{}: names no event", block.place));
        let missing = missing([program].into_iter().chain(block.value("needs")));
        if !missing.is_empty() {
            println!("skipped: {} needs {}", block.place, missing.join(" and "));
            continue;
        }
        let name = format!(".llxprt/hooks/guide.{ending}");
        let command = format!("{program} \"$LLXPRT_PROJECT_DIR/{name}\"");
        let sandbox = Sandbox::with_settings(&settings(event, &command, block.value("mode")));
        sandbox.write(&name, &block.text);
        sandbox.write(".llxprt/transcript.jsonl", "{}\n");
        let sample = moved(&samples[event], &sandbox);
        let expected = block.value("expect").unwrap_or_else(|| panic!("{}: promises nothing", block.place));
        check(block, expected, &sandbox.fire(event, &sample, &[]));
        if let Some(file) = block.value("writes") {
            let written = fs::read_to_string(sandbox.project.join(file)).unwrap_or_default();
            assert!(!written.is_empty(), "{}: did not write {file}", block.place);
        } else if !block.has("always") {
            check(block, "silent", &sandbox.fire(event, &harmless(event, sample), &[]));
        }
    }
}

/// Compares an outcome with what a block promises. A clean answer leaves nothing to report.
fn check(block: &Block, expected: &str, ran: &ProgramOutput) {
    let outcome = ran.json();
    let told = |why: &str| format!("{}: {why}\n{}{}", block.place, ran.stdout, ran.stderr);
    assert_eq!(outcome["diagnostics"], json!([]), "{}", told("something is reported"));
    assert_eq!(effect(&outcome), expected, "{}", told("another effect"));
    let status = match expected {
        "deny" => 2,
        "stop" => 3,
        "ask" => 4,
        _ => 0,
    };
    assert_eq!(ran.code, status, "{}", told("another exit status"));
}

/// The one thing an outcome does, in the words of the info strings.
pub(super) fn effect(outcome: &Value) -> String {
    let mut found = Vec::new();
    if outcome["stop"] == true {
        found.push("stop");
    }
    if let Some(decision) = outcome["decision"].as_str() {
        found.push(decision);
    }
    let others = [
        ("additionalContext", "context"),
        ("toolInput", "rewrite"),
        ("llmRequest", "request"),
        ("llmResponse", "response"),
        ("toolConfig", "tools"),
        ("systemMessage", "message"),
    ];
    // A stop after the model answered brings its own response, which says nothing but the reason of the stop.
    let of_the_stop = |field: &str| {
        field == "llmResponse" && outcome[field]["text"] == outcome["stopReason"] && outcome["stop"] == true
    };
    let there = |field: &str| !outcome[field].is_null() && !of_the_stop(field);
    found.extend(others.into_iter().filter(|(field, _)| there(field)).map(|(_, word)| word));
    if found.is_empty() { "silent".to_owned() } else { found.join("+") }
}
