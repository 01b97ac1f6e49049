//! Every hook of the repository in every host: the same decision about the same call, whatever the host calls the tool.
//!
//! The rows are the test cases of the examples, which are the recipes of `add` too, of what `new` writes, of the examples that the
//! three systems publish, and of hooks in the own files of agents. A new example brings its cases and so its row.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookrail::tools::{ColumnTool, NeutralTool, ToolAccess, ToolColumn};
use hookrail::{DialectId, EventKind, Json};
use hookrail_bridge::{Agent, EffectKind, tools};
use hookrail_testkit::{has_program, search_path_after};
use serde_json::{Value, json};

use super::new::cargo;
#[cfg(target_os = "linux")]
use super::pseudo_terminal::OnTerminal;
use super::sandbox::{ProgramOutput, Sandbox};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passes,
    Asks,
    Denied,
}

impl Verdict {
    pub(super) fn of(outcome: &Value) -> Self {
        match outcome["decision"].as_str() {
            Some("deny") => Self::Denied,
            Some("ask") => Self::Asks,
            _ => Self::Passes,
        }
    }

    /// What a bridge told its agent.
    pub(super) fn of_bridge(ran: &ProgramOutput) -> Self {
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let specific = &answer["hookSpecificOutput"]["permissionDecision"];
        let said = [&answer["decision"], &answer["permissionDecision"], specific];
        let is = |words: &[&str]| said.iter().any(|said| said.as_str().is_some_and(|word| words.contains(&word)));
        match () {
            () if ran.code == 2 || is(&["deny", "block"]) || answer["deny"].is_string() => Self::Denied,
            () if is(&["ask"]) => Self::Asks,
            () => Self::Passes,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) input: Value,
}

impl Call {
    /// The call in the words of an agent, if it has such a tool.
    fn in_words_of(&self, column: &'static ToolColumn) -> Option<Self> {
        let (tool, input) = tools::table().call_for(column, &self.tool, &Json::from(self.input.clone()))?;
        Some(Self { tool, input: input.to_value() })
    }

    /// The call as a patch in the words of an agent that has those.
    fn as_patch_of(&self, column: &'static ToolColumn) -> Option<Self> {
        let input = Json::from(json!({"patch_content": self.as_patch()?}));
        let (tool, input) = tools::table().call_for(column, "apply_patch", &input)?;
        Some(Self { tool, input: input.to_value() })
    }

    /// The call in the words of a host, as a patch if it has those alone; none if it has no such tool.
    pub(super) fn named_by(&self, column: &'static ToolColumn) -> Option<Self> {
        self.in_words_of(column).or_else(|| self.as_patch_of(column))
    }

    /// A file tool's call as the patch that does the same.
    fn as_patch(&self) -> Option<String> {
        let (tool, input) = tools::table().call_in(DialectId::Llxprt, &self.tool, &Json::from(self.input.clone()));
        let input = input.to_value();
        let path = ["file_path", "path", "absolute_path"].iter().find_map(|name| input[*name].as_str())?.to_owned();
        let lines = |mark: &str, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        let body = match tool.as_str() {
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
        Some(format!("*** Begin Patch\n{body}*** End Patch\n"))
    }
}

/// How the agent is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum AgentMode {
    Headless,
    Prompt,
    Piped,
    Interactive,
}

impl AgentMode {
    pub(super) const ALL: [Self; 4] = [Self::Headless, Self::Prompt, Self::Piped, Self::Interactive];
}

/// The end of a question of the agent.
pub(super) const QUESTION: &str = "[y/N] ";

/// One call, and what the hooks of a project say about it.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) sandbox: Sandbox,
    variables: Vec<(String, OsString)>,
    call: Call,
    pub(super) expected: Verdict,
    /// The agents that run the hook themselves, so that their bridges leave it out.
    run_by: &'static [&'static str],
}

const BEFORE_TOOL: [&str; 4] = ["BeforeTool", "PreToolUse", "tool_call", "before-tool"];

/// Keys of a case that are about something else than a call of a tool, or bring what no host has.
const OTHER_CASES: [&str; 8] = ["stdin", "payload", "links", "answers", "only_on", "agent", "git", "exit"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The cases of a file with their defaults.
pub(super) fn documented(file: &Path) -> Vec<Value> {
    let document: Value = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let merged = |case: &Value| {
        let mut merged = document.get("defaults").cloned().unwrap_or_else(|| json!({}));
        for (key, value) in case.as_object().unwrap() {
            merged[key] = value.clone();
        }
        merged
    };
    document["case"].as_array().into_iter().flatten().map(merged).collect()
}

/// What a case expects, if that is a decision or nothing at all.
pub(super) fn expected(case: &Value) -> Option<Verdict> {
    match case["expect"]["decision"].as_str() {
        Some("deny") => Some(Verdict::Denied),
        Some("ask") => Some(Verdict::Asks),
        Some("allow") => Some(Verdict::Passes),
        Some(_) => None,
        None => (case["expect"]["silent"] == true).then_some(Verdict::Passes),
    }
}

/// The cases of a file about calls of tools: the first of each verdict.
pub(super) fn cases(file: &Path) -> Vec<(Value, Verdict)> {
    let mut found: Vec<(Value, Verdict)> = Vec::new();
    for merged in documented(file) {
        let event = merged["event"].as_str().unwrap_or_default();
        let is_call = BEFORE_TOOL.contains(&event) && merged["tool"].is_string() && merged["tool_input"].is_object();
        if !is_call || OTHER_CASES.iter().any(|key| merged.get(*key).is_some()) {
            continue;
        }
        let Some(expected) = expected(&merged) else { continue };
        if !found.iter().any(|(_, verdict)| *verdict == expected) {
            found.push((merged, expected));
        }
    }
    found
}

pub(super) fn case_files(folder: &Path, found: &mut Vec<PathBuf>) {
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
pub(super) fn install(sandbox: &Sandbox, folder: &Path, case: &Value) {
    if let Some(settings) = case["settings"].as_str() {
        let text = std::fs::read_to_string(folder.join(settings)).unwrap();
        sandbox.write(".llxprt/settings.json", &text);
        for (target, source) in case["copy"].as_object().into_iter().flatten() {
            let target = match target.strip_prefix("~/") {
                Some(below) => sandbox.home.join(below),
                None => sandbox.project.join(target),
            };
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
    pub(super) fn new(name: String, sandbox: Sandbox, case: &Value, expected: Verdict) -> Self {
        let here = sandbox.project.to_str().unwrap().to_owned();
        let filled: Value = serde_json::from_str(&case.to_string().replace("${project}", &here)).unwrap();
        for (path, text) in filled["files"].as_object().into_iter().flatten() {
            sandbox.write(path, text.as_str().unwrap());
        }
        for (program, text) in filled["programs"].as_object().into_iter().flatten() {
            sandbox.write_program_at(&format!("bin/{program}"), text.as_str().unwrap());
        }
        let path = search_path_after(&sandbox.path("bin"));
        let mut variables = vec![("PATH".to_owned(), path)];
        for (name, value) in filled["env"].as_object().into_iter().flatten() {
            variables.push((name.clone(), value.as_str().unwrap_or_default().into()));
        }
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let tool = filled["tool"].as_str().unwrap_or_default().to_owned();
        let call = Call { tool, input: filled["tool_input"].clone() };
        Self { name, sandbox, variables, call, expected, run_by: &[] }
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(args);
        command.envs(self.variables.iter().cloned());
        for variable in
            ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR", "HOOKRAIL_BRIDGE_PROJECT_DIR"]
        {
            command.env(variable, &self.sandbox.project);
        }
        command
    }

    pub(super) fn run(&self, args: &[&str], stdin: &str) -> ProgramOutput {
        ProgramOutput::with_input(&mut self.command(args), stdin)
    }

    /// What `fire` says, with the losses that it reports.
    fn fire(&self, call: &Call, more: &[&str]) -> (Verdict, Value) {
        let input = call.input.to_string();
        let args = ["fire", "before-tool", "--json", "--tool", &call.tool, "--tool-input", &input];
        let ran = self.run(&[&args, more].concat(), "");
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}: {ran:?}", self.name));
        (Verdict::of(&outcome), outcome["losses"].clone())
    }

    /// What one server says about several calls.
    fn bus(&self, calls: &[Call]) -> Vec<Verdict> {
        let request = |(number, Call { tool, input }): (usize, &Call)| {
            let input = json!({"tool_name": tool, "tool_input": input});
            let payload = json!({"eventName": "BeforeTool", "correlationId": number.to_string(), "input": input});
            format!("{}\n", json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload}))
        };
        let requests: String = calls.iter().enumerate().map(request).collect();
        let ran = self.run(&["serve", "--stdio"], &requests);
        let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let answer = |number: usize| {
            let number = number.to_string();
            let is_it = |line: &&Value| {
                line["type"] == "HOOK_EXECUTION_RESPONSE" && line["payload"]["correlationId"] == number.as_str()
            };
            lines.iter().find(is_it).unwrap_or_else(|| panic!("{}: {ran:?}", self.name))
        };
        (0..calls.len()).map(|number| Verdict::of(&answer(number)["payload"]["outcome"])).collect()
    }

    /// The agent in one of its modes. Where no user can be asked it denies, and a user who is asked says no.
    fn agent(&self, call: &Call, mode: AgentMode) -> Verdict {
        let script = json!({"turns": [{"calls": [{"name": call.tool, "args": call.input}]}, {"text": "done"}]});
        let file = self.sandbox.home.join("script.json");
        std::fs::write(&file, script.to_string()).unwrap();
        let args = ["agent", "--retry-delay-ms", "1", "--script", file.to_str().unwrap()];
        let output = |ran: ProgramOutput| format!("{}{}", ran.stdout, ran.stderr);
        let text = match mode {
            AgentMode::Headless => output(self.run(&[&args[..], &["--headless", "--prompt", "go"]].concat(), "")),
            AgentMode::Prompt => output(self.run(&[&args[..], &["--prompt", "go"]].concat(), "")),
            AgentMode::Piped => output(self.run(&args, "go\n")),
            AgentMode::Interactive => self.talk(&args),
        };
        assert!(text.contains("done"), "{} {mode:?}: {text}", self.name);
        // A hook may also have kept the tool from being offered.
        let is_refused = text.contains("denied") || text.contains("is not available") || text.contains(QUESTION);
        if is_refused { Verdict::Denied } else { Verdict::Passes }
    }

    #[cfg(target_os = "linux")]
    fn talk(&self, args: &[&str]) -> String {
        let mut command = self.command(args);
        let mut terminal = OnTerminal::of(command.env("TERM", "xterm"), "");
        terminal.sees("/help");
        terminal.types("go\r");
        if terminal.sees_one_of(&["done", QUESTION]) == 1 {
            // The line of the question is drawn again with the answer, so it is not waited for a second time.
            terminal.types("n\r");
            terminal.sees_one_of(&["done"]);
        }
        terminal.types("/exit\r");
        terminal.everything()
    }

    #[cfg(not(target_os = "linux"))]
    fn talk(&self, args: &[&str]) -> String {
        self.run(args, "go\n").stdout
    }

    fn bridge(&self, agent: Agent, Call { tool, input }: &Call) -> Verdict {
        let (event, payload) = agent.tool_event(&self.sandbox.project, tool, input);
        self.bridge_says(agent, event, &payload)
    }

    /// What a bridge tells its agent about an event.
    pub(super) fn bridge_says(&self, agent: Agent, event: &str, payload: &str) -> Verdict {
        let ran = self.run(&["bridge", agent.name(), "--event", event], payload);
        Verdict::of_bridge(&ran)
    }

    pub(super) fn is_run_by(&self, agent: Agent) -> bool {
        self.run_by.contains(&agent.name())
    }

    /// What a bridge makes of the verdict: an agent that cannot ask denies, and its table says so.
    fn expected_of(&self, agent: Agent) -> Verdict {
        match self.expected {
            _ if self.is_run_by(agent) => Verdict::Passes,
            Verdict::Asks if !agent.handling(EventKind::BeforeTool, EffectKind::Ask).is_honoured() => Verdict::Denied,
            verdict => verdict,
        }
    }
}

/// The files with cases of the examples, and of those that the three systems publish.
pub(super) fn example_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    case_files(&repository().join("examples"), &mut files);
    case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/published"), &mut files);
    files
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for file in example_files() {
        let folder = file.parent().unwrap();
        for (case, expected) in cases(&file) {
            if case["needs"].as_str().is_some_and(|program| !has_program(program)) {
                continue;
            }
            let sandbox = Sandbox::new();
            install(&sandbox, folder, &case);
            rows.push(Row::new(named(&file, &case), sandbox, &case, expected));
        }
    }
    rows.extend(templates());
    rows.extend(agents_own());
    rows
}

/// The dialects of agents, each with the agents that read its files in a project themselves.
const READ_BY: [(&str, &[&str]); 3] = [("claude", &["claude"]), ("gemini", &["gemini"]), ("codex", &["codex"])];

/// A file with cases about hooks in the own files of an agent, which are read once its dialect is enabled.
#[derive(Clone)]
pub(super) struct OwnFile {
    pub(super) file: PathBuf,
    dialect: &'static str,
    run_by: &'static [&'static str],
}

impl OwnFile {
    pub(super) fn row(&self, case: &Value, expected: Verdict) -> Row {
        let sandbox = Sandbox::new();
        let enabled = format!("[dialects]\nenabled = [\"{}\"]\n", self.dialect);
        sandbox.write_home(".config/hookrail/config.toml", enabled);
        copy_folder(self.file.parent().unwrap(), &sandbox.project);
        let row = Row::new(named(&self.file, case), sandbox, case, expected);
        Row { run_by: self.run_by, ..row }
    }
}

pub(super) fn own_files() -> Vec<OwnFile> {
    let mut own = Vec::new();
    for (dialect, run_by) in READ_BY {
        let mut files = Vec::new();
        case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents_own").join(dialect), &mut files);
        assert!(!files.is_empty(), "{dialect}");
        own.extend(files.into_iter().map(|file| OwnFile { file, dialect, run_by }));
    }
    own
}

fn agents_own() -> Vec<Row> {
    let rows = |own: OwnFile| cases(&own.file).into_iter().map(move |(case, expected)| own.row(&case, expected));
    own_files().into_iter().flat_map(rows).collect()
}

/// What a row is called.
pub(super) fn named(file: &Path, case: &Value) -> String {
    format!("{}: {}", file.display(), case["name"])
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
        ("llxprt", "rust"),
        ("xcode", "rust"),
        ("xcsh", "typescript"),
        ("xcsh", "node"),
    ];
    for (dialect, language) in wanted {
        let program = BTreeMap::from([("python", "python3"), ("node", "node"), ("bash", "bash"), ("rust", "cargo")]);
        if program.get(language).is_some_and(|program| !has_program(program)) {
            continue;
        }
        let first = Sandbox::new();
        first.run(&["new", "gate", "--dialect", dialect, "--lang", language]).ends_with(0);
        if language == "rust" {
            build(&first, dialect);
        }
        let mut files = Vec::new();
        case_files(&first.project, &mut files);
        for (case, expected) in files.iter().flat_map(|file| cases(file)) {
            let sandbox = Sandbox::new();
            copy_folder(&first.project, &sandbox.project);
            rows.push(Row::new(format!("new {dialect} {language}: {}", case["name"]), sandbox, &case, expected));
        }
    }
    rows
}

/// Builds the hook that `new` wrote in Rust.
fn build(sandbox: &Sandbox, dialect: &str) {
    let folder = if dialect == "xcode" { ".x-code/plugins/gate/scripts/gate" } else { ".llxprt/hooks/gate" };
    let manifest = format!("{folder}/Cargo.toml");
    let mut command = cargo(sandbox, &manifest);
    command.args(["build", "--release", "--manifest-path", &manifest]);
    ProgramOutput::capture(&mut command).ends_with(0);
}

/// What differs from what is expected of one row.
fn differences(row: &Row) -> Vec<String> {
    let mut differences = Vec::new();
    let mut note = |host: String, found: Verdict, expected: Verdict| {
        if found != expected {
            differences.push(format!("{} in {host}: {found}, not {expected}", row.name));
        }
    };
    note("fire".to_owned(), row.fire(&row.call, &[]).0, row.expected);
    let mut calls = vec![row.call.clone()];
    for agent in Agent::ALL {
        let (direct, patch) = (row.call.in_words_of(agent.tools()), row.call.as_patch_of(agent.tools()));
        if let Some(call) = direct.as_ref().or(patch.as_ref()) {
            let expected = row.expected_of(agent);
            note(format!("bridge {agent}"), row.bridge(agent, call), expected);
            if row.expected == Verdict::Asks && expected == Verdict::Denied {
                let (found, losses) = row.fire(call, &["--agent", agent.name()]);
                note(format!("fire --agent {agent}"), found, expected);
                assert!(losses.to_string().contains("loss.ask"), "{}: what is lost is reported: {losses}", row.name);
            }
        }
        calls.extend(direct.into_iter().chain(patch));
    }
    // One server answers under every name that an agent has for the tool.
    for (call, found) in calls.iter().zip(row.bus(&calls)) {
        note(format!("the bus, {call:?}"), found, row.expected);
    }
    let expected = if row.expected == Verdict::Asks { Verdict::Denied } else { row.expected };
    if let Some(mut call) = row.call.in_words_of(hookrail_agent::tool_names()) {
        // The agent checks the arguments of its tools before it asks hooks.
        if call.tool == "write_file" && call.input.get("content").is_none() {
            call.input["content"] = json!("x");
        }
        for mode in AgentMode::ALL {
            note(format!("the agent, {mode:?}"), row.agent(&call, mode), expected);
        }
    }
    differences
}

#[test]
fn every_hook_says_the_same_in_every_host() {
    let rows = rows();
    for published in [
        "ts-lint-gate-original",
        "llxprt-reference",
        "llxprt-architecture",
        "llxprt-specification",
        "policy",
        "agents_own/claude",
    ] {
        let has = |verdict| rows.iter().any(|row| row.name.contains(published) && row.expected == verdict);
        assert!(has(Verdict::Denied) && has(Verdict::Passes), "{published}");
    }
    let found: Vec<String> = rows.iter().flat_map(differences).collect();
    assert_eq!(found, Vec::<String>::new());
}

/// A project with a guard of these tools that denies what names the forbidden thing.
fn guarded(matcher: &str) -> Row {
    let sandbox = Sandbox::with_hooks(&format!(
        r#""BeforeTool": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "name": "guard",
            "command": "if grep -q forbidden; then echo no >&2; exit 2; fi", "onFailure": "block"}}]}}]"#,
    ));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let call = Call { tool: String::new(), input: Value::Null };
    let name = "guard".to_owned();
    Row { name, sandbox, variables: Vec::new(), call, expected: Verdict::Denied, run_by: &[] }
}

/// The main argument of a tool that writes or runs something, with a value that names a word.
fn main_argument(entry: &ColumnTool, word: &str) -> Option<Value> {
    let tool = NeutralTool::find(entry.tool)?;
    let value = match tool.access {
        ToolAccess::Write => word.to_owned(),
        ToolAccess::Run => format!("touch {word}"),
        ToolAccess::Patch => format!("*** Begin Patch\n*** Add File: {word}\n+x\n*** End Patch\n"),
        ToolAccess::Read | ToolAccess::Fetch | ToolAccess::Calls | ToolAccess::Other => return None,
    };
    let main = tool.arguments.first()?;
    let (_, names) = entry.arguments.iter().find(|(argument, _)| argument == main)?;
    Some(json!({*names.first()?: value}))
}

#[test]
fn every_tool_that_writes_or_runs_reaches_the_guard_of_files_and_commands() {
    let row = guarded("write_file|replace|run_shell_command");
    let mut found = Vec::new();
    let mut check = |agent: Agent, call: Call, expected: Verdict| {
        for (host, verdict) in
            [("fire", row.fire(&call, &["--agent", agent.name()]).0), ("bridge", row.bridge(agent, &call))]
        {
            if verdict != expected {
                found.push(format!("{host} {agent}: {call:?}: {verdict}, not {expected}"));
            }
        }
    };
    for agent in Agent::ALL {
        for entry in agent.tools().tools {
            for (word, expected) in [("forbidden", Verdict::Denied), ("harmless", Verdict::Passes)] {
                let Some(input) = main_argument(entry, word) else { continue };
                check(agent, Call { tool: entry.name.to_owned(), input }, expected);
            }
        }
        // A tool that is in no table, with something that a guard could ask about and without.
        for (name, expected) in [("path", Verdict::Denied), ("command", Verdict::Denied), ("title", Verdict::Passes)] {
            check(agent, Call { tool: "BrandNewTool".to_owned(), input: json!({name: "forbidden"}) }, expected);
        }
    }
    let patch = |word: &str| json!(format!("*** Begin Patch\n*** Delete File: {word}\n*** End Patch\n"));
    for (word, expected) in [("forbidden", Verdict::Denied), ("harmless", Verdict::Passes)] {
        let call = Call { tool: "apply_patch".to_owned(), input: patch(word) };
        let verdict = row.bridge(Agent::copilot(), &call);
        assert_eq!(verdict, expected, "the text of a patch as the whole input, {word}");
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_hook_that_knows_patches_is_asked_about_file_tools_in_every_host() {
    let mut row = guarded("apply_patch");
    for (word, expected) in [("forbidden", Verdict::Denied), ("harmless", Verdict::Passes)] {
        row.call = Call { tool: "write_file".to_owned(), input: json!({"path": word, "content": "x"}) };
        assert_eq!(row.fire(&row.call, &[]).0, expected);
        assert_eq!(row.bus(std::slice::from_ref(&row.call)), [expected]);
        assert_eq!(row.agent(&row.call, AgentMode::Headless), expected);
        for agent in [Agent::claude(), Agent::copilot(), Agent::pi()] {
            let call = row.call.in_words_of(agent.tools()).unwrap();
            assert_eq!(row.bridge(agent, &call), expected, "{agent}");
        }
    }
}
