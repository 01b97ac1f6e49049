//! Every hook of the repository in every host: the same decision about the same call, whatever the host calls the tool.
//!
//! The rows are the test cases of the examples, which are the recipes of `add` too, and of what `new` writes; the example of
//! X-Code's document is among them. A new example brings its cases and so its row.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use hookrail::{EventKind, Json};
use hookrail_bridge::{Agent, EffectKind, tools};
use hookrail_testkit::has_program;
use serde_json::{Value, json};

use super::sandbox::{ProgramOutput, Sandbox};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passes,
    Asks,
    Denied,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// One call, and what the hooks of a project say about it.
struct Row {
    name: String,
    sandbox: Sandbox,
    variables: Vec<(String, String)>,
    tool: String,
    input: Value,
    expected: Verdict,
}

const BEFORE_TOOL: [&str; 4] = ["BeforeTool", "PreToolUse", "tool_call", "before-tool"];

/// Keys of a case that are about something else than a call of a tool, or bring what no host has.
const OTHER_CASES: [&str; 8] = ["stdin", "payload", "links", "answers", "only_on", "agent", "git", "exit"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The cases of a file about calls of tools, with their defaults: the first of each verdict.
fn cases(file: &Path) -> Vec<(Value, Verdict)> {
    let document: Value = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut found: Vec<(Value, Verdict)> = Vec::new();
    for case in document["case"].as_array().into_iter().flatten() {
        let mut merged = document.get("defaults").cloned().unwrap_or_else(|| json!({}));
        for (key, value) in case.as_object().unwrap() {
            merged[key] = value.clone();
        }
        let event = merged["event"].as_str().unwrap_or_default();
        let is_call = BEFORE_TOOL.contains(&event) && merged["tool"].is_string() && merged["tool_input"].is_object();
        if !is_call || OTHER_CASES.iter().any(|key| merged.get(*key).is_some()) {
            continue;
        }
        let expected = match merged["expect"]["decision"].as_str() {
            Some("deny") => Verdict::Denied,
            Some("ask") => Verdict::Asks,
            Some("allow") => Verdict::Passes,
            None if merged["expect"]["silent"] == true => Verdict::Passes,
            _ => continue,
        };
        if !found.iter().any(|(_, verdict)| *verdict == expected) {
            found.push((merged, expected));
        }
    }
    found
}

fn case_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            case_files(&path, found);
        } else if path.to_string_lossy().ends_with(".hooktest.toml") {
            found.push(path);
        }
    }
    found.sort();
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A project with the hook of an example, as a user would have it.
fn install(sandbox: &Sandbox, folder: &Path, case: &Value) {
    if let Some(settings) = case["settings"].as_str() {
        let text = std::fs::read_to_string(folder.join(settings)).unwrap();
        sandbox.write(".llxprt/settings.json", &text);
        for (target, source) in case["copy"].as_object().into_iter().flatten() {
            let target = sandbox.project.join(target);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(folder.join(source.as_str().unwrap()), target).unwrap();
        }
    } else if case["hook"] == "." {
        let name = folder.file_name().unwrap();
        copy_folder(folder, &sandbox.project.join(".x-code/plugins").join(name));
    } else if let Some(module) = case["hook"].as_str() {
        let target = sandbox.project.join(".xcsh/hooks").join(module);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(folder.join(module), target).unwrap();
    }
}

impl Row {
    fn new(name: String, sandbox: Sandbox, case: &Value, expected: Verdict) -> Self {
        let here = sandbox.project.to_str().unwrap().to_owned();
        let filled: Value = serde_json::from_str(&case.to_string().replace("${project}", &here)).unwrap();
        for (path, text) in filled["files"].as_object().into_iter().flatten() {
            sandbox.write(path, text.as_str().unwrap());
        }
        for (program, text) in filled["programs"].as_object().into_iter().flatten() {
            sandbox.write_program_at(&format!("bin/{program}"), text.as_str().unwrap());
        }
        let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap());
        let mut variables = vec![("PATH".to_owned(), path)];
        for (name, value) in filled["env"].as_object().into_iter().flatten() {
            variables.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
        }
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let (tool, input) = (filled["tool"].as_str().unwrap().to_owned(), filled["tool_input"].clone());
        Self { name, sandbox, variables, tool, input, expected }
    }

    fn run(&self, args: &[&str], stdin: &str) -> ProgramOutput {
        let mut command = self.sandbox.command(args);
        command.envs(self.variables.iter().cloned());
        for variable in
            ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR", "HOOKRAIL_BRIDGE_PROJECT_DIR"]
        {
            command.env(variable, &self.sandbox.project);
        }
        ProgramOutput::with_input(&mut command, stdin)
    }

    /// The call in the words of each host that has such a tool.
    fn in_words_of(&self, column: &'static hookrail::tools::ToolColumn) -> Option<(String, Value)> {
        let call = tools::table().call_for(column, &self.tool, &Json::from(self.input.clone()))?;
        Some((call.0, call.1.to_value()))
    }

    fn fire(&self, tool: &str, input: &Value, more: &[&str]) -> Verdict {
        let input = input.to_string();
        let args = ["fire", "before-tool", "--json", "--tool", tool, "--tool-input", &input];
        let ran = self.run(&[&args, more].concat(), "");
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}: {ran:?}", self.name));
        match outcome["decision"].as_str() {
            Some("deny") => Verdict::Denied,
            Some("ask") => Verdict::Asks,
            _ => Verdict::Passes,
        }
    }

    fn bus(&self, tool: &str, input: &Value) -> Verdict {
        let payload =
            json!({"eventName": "BeforeTool", "correlationId": "1", "input": {"tool_name": tool, "tool_input": input}});
        let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload});
        let ran = self.run(&["serve", "--stdio"], &format!("{request}\n"));
        let answer = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answer = answer.into_iter().find(|line| line["type"] == "HOOK_EXECUTION_RESPONSE");
        let answer = answer.unwrap_or_else(|| panic!("{}: {ran:?}", self.name));
        match answer["payload"]["outcome"]["decision"].as_str() {
            Some("deny") => Verdict::Denied,
            Some("ask") => Verdict::Asks,
            _ => Verdict::Passes,
        }
    }

    /// The agent in one of its modes. Where no user can be asked it denies.
    fn agent(&self, tool: &str, input: &Value, mode: &[&str], stdin: &str) -> Verdict {
        let script = json!({"turns": [{"calls": [{"name": tool, "args": input}]}, {"text": "done"}]});
        let file = self.sandbox.home.join("script.json");
        std::fs::write(&file, script.to_string()).unwrap();
        let args = ["agent", "--retry-delay-ms", "1", "--script", file.to_str().unwrap()];
        let ran = self.run(&[&args, mode].concat(), stdin);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains("done"), "{}: {ran:?}", self.name);
        // A hook may also have kept the tool from being offered.
        let is_refused = text.contains("denied") || text.contains("is not available");
        if is_refused { Verdict::Denied } else { Verdict::Passes }
    }

    fn bridge(&self, agent: Agent, tool: &str, input: &Value) -> Verdict {
        let (event, sample) = agent.sample_tool_event(&self.sandbox.project);
        let mut payload: Value = serde_json::from_str(&sample).unwrap();
        for (key, value) in [("tool_name", json!(tool)), ("toolName", json!(tool)), ("tool", json!(tool))] {
            if payload.get(key).is_some() {
                payload[key] = value;
            }
        }
        for key in ["tool_input", "toolArgs", "args", "input"] {
            if payload.get(key).is_some() {
                payload[key] = input.clone();
            }
        }
        let ran = self.run(&["bridge", agent.name(), "--event", event], &payload.to_string());
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let specific = &answer["hookSpecificOutput"]["permissionDecision"];
        let said = [&answer["decision"], &answer["permissionDecision"], specific];
        let is = |words: &[&str]| said.iter().any(|said| said.as_str().is_some_and(|word| words.contains(&word)));
        match () {
            () if ran.code == 2 || is(&["deny", "block"]) || answer["deny"].is_string() => Verdict::Denied,
            () if is(&["ask"]) => Verdict::Asks,
            () => Verdict::Passes,
        }
    }

    /// What a bridge makes of the verdict: an agent that cannot ask denies, and its table says so.
    fn expected_of(&self, agent: Agent) -> Verdict {
        match self.expected {
            Verdict::Asks if !agent.handling(EventKind::BeforeTool, EffectKind::Ask).is_honoured() => Verdict::Denied,
            verdict => verdict,
        }
    }
}

/// A file tool's call as the patch with which Codex does the same.
fn as_patch(row: &Row) -> Option<(String, Value)> {
    let llxprt = tools::table().call_in(hookrail::DialectId::Llxprt, &row.tool, &Json::from(row.input.clone()));
    let input = llxprt.1.to_value();
    let path = ["file_path", "path", "absolute_path"].iter().find_map(|name| input[*name].as_str())?.to_owned();
    let lines = |mark: &str, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let body = match llxprt.0.as_str() {
        "write_file" => {
            format!("*** Add File: {path}\n{}", lines("+", input["content"].as_str().unwrap_or_default()))
        }
        "replace" => format!(
            "*** Update File: {path}\n@@\n{}{}",
            lines("-", input["old_string"].as_str()?),
            lines("+", input["new_string"].as_str()?)
        ),
        _ => return None,
    };
    Some(("apply_patch".to_owned(), json!({"command": format!("*** Begin Patch\n{body}*** End Patch\n")})))
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut files = Vec::new();
    case_files(&repository().join("examples"), &mut files);
    for file in files {
        let folder = file.parent().unwrap();
        for (case, expected) in cases(&file) {
            if case["needs"].as_str().is_some_and(|program| !has_program(program)) {
                continue;
            }
            let sandbox = Sandbox::new();
            install(&sandbox, folder, &case);
            let name = format!("{}: {}", file.display(), case["name"]);
            rows.push(Row::new(name, sandbox, &case, expected));
        }
    }
    rows.extend(templates());
    rows
}

/// The hooks that `new` writes, with the cases that it writes beside them.
fn templates() -> Vec<Row> {
    let mut rows = Vec::new();
    let wanted = [
        ("llxprt", "bash"),
        ("llxprt", "python"),
        ("llxprt", "node"),
        ("xcode", "bash"),
        ("xcode", "python"),
        ("xcode", "node"),
        ("xcsh", "typescript"),
        ("xcsh", "node"),
    ];
    for (dialect, language) in wanted {
        let program = BTreeMap::from([("python", "python3"), ("node", "node"), ("bash", "bash")]);
        if program.get(language).is_some_and(|program| !has_program(program)) {
            continue;
        }
        let written = |sandbox: &Sandbox| {
            sandbox.run(&["new", "gate", "--dialect", dialect, "--lang", language]).ends_with(0);
        };
        let first = Sandbox::new();
        written(&first);
        let mut files = Vec::new();
        case_files(&first.project, &mut files);
        for (case, expected) in files.iter().flat_map(|file| cases(file)) {
            let sandbox = Sandbox::new();
            written(&sandbox);
            rows.push(Row::new(format!("new {dialect} {language}: {}", case["name"]), sandbox, &case, expected));
        }
    }
    rows
}

#[test]
fn every_hook_says_the_same_in_every_host() {
    let rows = rows();
    assert!(rows.iter().any(|row| row.name.contains("ts-lint-gate-original") && row.expected == Verdict::Denied));
    let mut differences = Vec::new();
    for row in &rows {
        let mut note = |host: &str, found: Verdict, expected: Verdict| {
            if found != expected {
                differences.push(format!("{} in {host}: {found}, not {expected}", row.name));
            }
        };
        note("fire", row.fire(&row.tool, &row.input, &[]), row.expected);
        note("the bus", row.bus(&row.tool, &row.input), row.expected);
        for agent in Agent::ALL {
            let call = row.in_words_of(agent.tools()).or_else(|| as_patch(row).filter(|_| agent == Agent::Codex));
            let Some((tool, input)) = call else { continue };
            let expected = row.expected_of(agent);
            note(&format!("bridge {agent}"), row.bridge(agent, &tool, &input), expected);
            note(&format!("fire --agent {agent}"), row.fire(&tool, &input, &["--agent", agent.name()]), expected);
            if tool != "apply_patch" {
                note(&format!("fire with the names of {agent}"), row.fire(&tool, &input, &[]), row.expected);
                note(&format!("the bus with the names of {agent}"), row.bus(&tool, &input), row.expected);
            }
        }
    }
    assert_eq!(differences, Vec::<String>::new());
}

#[test]
fn every_hook_says_the_same_in_every_mode_of_the_agent() {
    let mut differences = Vec::new();
    for row in rows() {
        let Some((tool, mut input)) = row.in_words_of(hookrail_agent::tool_names()) else { continue };
        // The agent checks the arguments of its tools before it asks hooks.
        if tool == "write_file" && input.get("content").is_none() {
            input["content"] = json!("x");
        }
        let expected = if row.expected == Verdict::Asks { Verdict::Denied } else { row.expected };
        for (mode, args, stdin) in [
            ("headless", &["--headless", "--prompt", "go"][..], ""),
            ("prompt", &["--prompt", "go"][..], ""),
            ("piped", &[][..], "go\n"),
        ] {
            let found = row.agent(&tool, &input, args, stdin);
            if found != expected {
                differences.push(format!("{} in the agent, {mode}: {found}, not {expected}", row.name));
            }
        }
    }
    assert_eq!(differences, Vec::<String>::new());
}
