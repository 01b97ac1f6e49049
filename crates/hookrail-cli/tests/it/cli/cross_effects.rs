//! Every hook of the repository that does something else than decide, in every host: it stops the agent, rewrites what goes in
//! or out, adds a text, or answers in the place of the model. The host does the same, or what the agent's table declares.
//!
//! The rows are test cases, as in `cross_hosts`. A new example brings its cases and so its row.

#![cfg(unix)]

use std::path::Path;

use hookrail::dialect::find_event;
use hookrail::{DialectId, EventKind};
use hookrail_bridge::{Agent, EffectKind, Handling};
use hookrail_testkit::has_program;
use serde_json::{Value, json};

use super::cross_hosts::{
    AgentMode, Call, Row, Verdict, case_files, documented, example_files, install, named, own_files,
};
use super::cross_prompts::recorded;
#[cfg(target_os = "linux")]
use super::pseudo_terminal::OnTerminal;
use super::sandbox::Sandbox;

/// What a hook wants, with a text by which it is known again.
#[derive(Clone, Debug, PartialEq)]
struct Wish {
    effect: EffectKind,
    mark: String,
}

/// The effects, with their member of an outcome.
const EFFECTS: [(EffectKind, &str); 9] = [
    (EffectKind::Stop, "stopReason"),
    (EffectKind::ToolInput, "toolInput"),
    (EffectKind::ToolOutput, "toolOutput"),
    (EffectKind::Context, "additionalContext"),
    (EffectKind::ModelRequest, "llmRequest"),
    (EffectKind::ModelResponse, "llmResponse"),
    (EffectKind::ToolConfig, "toolConfig"),
    (EffectKind::Messages, "messages"),
    (EffectKind::Result, "result"),
];

/// The texts in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

impl Wish {
    /// What a case expects beside a decision.
    fn of(case: &Value) -> Option<Self> {
        let expected = &case["expect"];
        let of_key = |effect, key: &str| Some(Self { effect, mark: (*texts(expected.get(key)?).last()?).to_owned() });
        let of_member = |(effect, member): &(EffectKind, &str)| {
            let mark = (*texts(expected["outcome"].get(member)?).last()?).to_owned();
            Some(Self { effect: *effect, mark })
        };
        of_key(EffectKind::Stop, "stop_reason_contains")
            .or_else(|| of_key(EffectKind::ToolInput, "rewrite"))
            .or_else(|| of_key(EffectKind::Context, "context_contains"))
            .or_else(|| EFFECTS.iter().find_map(of_member))
    }

    fn member(&self) -> &'static str {
        EFFECTS.iter().find(|(effect, _)| *effect == self.effect).unwrap().1
    }

    fn is_in(&self, text: &str) -> bool {
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        text.contains(&self.mark)
            || lines.into_iter().any(|line| texts(&line).iter().any(|text| text.contains(&self.mark)))
    }
}

/// A wish of the hooks of a project, and the event at which they have it.
struct Wanted {
    row: Row,
    kind: EventKind,
    wish: Wish,
    fields: Value,
}

/// Puts a text in the place of every text of a tool's result, whatever shape that has.
fn fill_texts(value: &mut Value, with: &str) {
    match value {
        Value::String(text) => with.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_texts(item, with)),
        Value::Object(members) => {
            let said = members.iter_mut().filter(|(name, _)| !["type", "resultType"].contains(&name.as_str()));
            said.for_each(|(_, item)| fill_texts(item, with));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Wanted {
    fn new(row: Row, kind: EventKind, wish: Wish, case: &Value) -> Self {
        let here = row.sandbox.project.to_str().unwrap().to_owned();
        let case: Value = serde_json::from_str(&case.to_string().replace("${project}", &here)).unwrap();
        let mut fields = case["payload"].as_object().cloned().unwrap_or_default();
        for (key, field) in [
            ("tool", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_response"),
            ("prompt", "prompt"),
            ("session_id", "session_id"),
        ] {
            fields.extend(case.get(key).map(|value| (field.to_owned(), value.clone())));
        }
        Self { row, kind, wish, fields: Value::Object(fields) }
    }

    fn tool_call(&self) -> Option<Call> {
        let tool = self.fields["tool_name"].as_str()?.to_owned();
        Some(Call { tool, input: self.fields["tool_input"].clone() })
    }

    /// What `fire` says about the event with these fields.
    fn fire(&self, fields: &Value, more: &[&str]) -> Value {
        let fields = fields.to_string();
        let ran = self.row.run(&[&["fire", self.kind.name(), "--json", "--payload", &fields], more].concat(), "");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}: {ran:?}", self.row.name))
    }

    fn bus(&self) -> Option<Value> {
        let name = self.kind.spec().column(DialectId::Llxprt).map(|column| column.name)?;
        let payload = json!({"eventName": name, "correlationId": "1", "input": self.fields});
        let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload});
        let ran = self.row.run(&["serve", "--stdio"], &format!("{request}\n"));
        let lines = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answer = lines.into_iter().find(|line| line["type"] == "HOOK_EXECUTION_RESPONSE");
        Some(answer.unwrap_or_else(|| panic!("{}: {ran:?}", self.row.name))["payload"]["outcome"].take())
    }

    /// The fields with a call in the words of an agent.
    fn named(&self, agent: Agent) -> Value {
        let mut fields = self.fields.clone();
        if let Some(Call { tool, input }) = self.tool_call().and_then(|call| call.named_by(agent.tools())) {
            fields["tool_name"] = json!(tool);
            fields["tool_input"] = input;
        }
        fields
    }

    /// The event as an agent sends it; none if the agent does not have it or the tool, or it was never recorded.
    fn payload(&self, agent: Agent) -> Option<(&'static str, String)> {
        let event = agent.event_name(self.kind)?;
        let mut payload = recorded(agent, event)?;
        payload["cwd"] = json!(self.row.sandbox.project);
        let mut set = |names: &[&str], value: Value| {
            for name in names {
                if let Some(member) = payload.get_mut(name) {
                    member.clone_from(&value);
                }
            }
        };
        if let Some(call) = self.tool_call() {
            let Call { tool, input } = call.named_by(agent.tools())?;
            set(&["tool_name", "toolName", "tool"], json!(tool));
            set(&["tool_input", "toolArgs", "args", "input"], input);
            let result = self.fields["tool_response"]["llmContent"].as_str();
            if let Some(text) = result.filter(|_| self.wish.effect == EffectKind::ToolOutput) {
                for name in ["tool_response", "toolResult", "output", "result"] {
                    payload.get_mut(name).into_iter().for_each(|result| fill_texts(result, text));
                }
            }
        } else {
            for (name, value) in self.fields.as_object().unwrap().iter().filter(|(name, _)| *name != "llm_response") {
                set(&[name.as_str()], value.clone());
            }
        }
        let response = &self.fields["llm_response"];
        if let Some(text) = response["text"].as_str() {
            // It stays a whole response, and not the first piece of one.
            payload["llm_response"]["text"] = json!(text);
            payload["llm_response"]["candidates"][0]["content"]["parts"][0] = json!(text);
            if response["usageMetadata"].is_object() {
                payload["llm_response"]["usageMetadata"] = response["usageMetadata"].clone();
            }
        }
        Some((event, payload.to_string()))
    }

    /// What differs in the bridge of an agent from what its table declares.
    fn bridged(&self, agent: Agent, make: &Make) -> Option<String> {
        let (event, payload) = self.payload(agent)?;
        let ran = self.row.run(&["bridge", agent.name(), "--event", event, "--noisy"], &payload);
        let is_said = self.wish.is_in(&ran.stdout) || ran.code == 2 && self.wish.is_in(&ran.stderr);
        let handling = agent.handling(self.kind, self.wish.effect);
        if self.row.is_run_by(agent) {
            return is_said.then(|| format!("the agent runs it itself: {ran:?}"));
        }
        let holds = match handling {
            Handling::Honoured | Handling::AddedAsContext | Handling::ReplacesResult | Handling::FollowsResponse => {
                is_said
            }
            Handling::DeniedUntilPrompt if !self.kind.spec().is_gating() => self.is_next_denied(agent, &payload),
            Handling::Denied | Handling::DeniedUntilPrompt => Verdict::of_bridge(&ran) == Verdict::Denied,
            Handling::KeptForLater | Handling::Dropped => !self.wish.is_in(&ran.stdout),
        };
        let losses = || make().fire(&self.named(agent), &["--agent", agent.name()])["losses"].to_string();
        match holds {
            false => Some(format!("{handling:?}: {ran:?}")),
            true if !handling.is_honoured() && !losses().contains("loss.") => {
                Some("what is lost is not reported".to_owned())
            }
            true => None,
        }
    }

    /// Whether the next call of the session is denied, without a hook that would deny it.
    fn is_next_denied(&self, agent: Agent, payload: &str) -> bool {
        let before: Value = serde_json::from_str(payload).unwrap();
        let (event, next) = agent.sample_tool_event(&self.row.sandbox.project);
        let mut next: Value = serde_json::from_str(&next).unwrap();
        let is_first = self.row.bridge_says(agent, event, &next.to_string()) == Verdict::Passes;
        next["session_id"] = before["session_id"].clone();
        is_first && self.row.bridge_says(agent, event, &next.to_string()) == Verdict::Denied
    }

    /// What the model does, so that the agent comes to the event, and what it must be told.
    fn turns(&self) -> Option<Value> {
        let call = match self.tool_call() {
            Some(call) => Some(call.named_by(hookrail_agent::tool_names())?),
            None => None,
        };
        let call = call.map(|Call { tool: name, input: mut args }| {
            // The agent checks the arguments of its tools before it asks hooks.
            if name == "write_file" && args.get("content").is_none() {
                args["content"] = json!("x");
            }
            json!([{"name": name, "args": args}])
        });
        let told = json!({"contains": [self.wish.mark]});
        match (self.wish.effect, self.kind) {
            // The script of the model has no counts of tokens.
            _ if self.fields["llm_response"]["usageMetadata"].is_object() => None,
            (EffectKind::Stop | EffectKind::ModelResponse, _) | (EffectKind::ToolInput, _) => {
                let text = self.fields["llm_response"]["text"].as_str().unwrap_or("first answer");
                Some(
                    json!([call.map_or_else(|| json!({"text": text}), |calls| json!({"calls": calls})), {"text": "done"}]),
                )
            }
            (EffectKind::Context | EffectKind::ToolOutput, EventKind::BeforeTool | EventKind::AfterTool) => {
                Some(json!([{"calls": call?}, {"text": "done", "expect": told}]))
            }
            (EffectKind::Context | EffectKind::ModelRequest, _) => Some(json!([{"text": "done", "expect": told}])),
            (EffectKind::ToolConfig, _) => {
                let mut names = self.fire(&self.fields, &[])["toolConfig"]["allowedFunctionNames"].as_array()?.clone();
                names.sort_by_key(ToString::to_string);
                Some(json!([{"text": "done", "expect": {"tools": names}}]))
            }
            _ => None,
        }
    }

    /// What the agent shows in one of its modes.
    fn agent(&self, turns: &Value, mode: AgentMode) -> Option<String> {
        let script = self.row.sandbox.write_home("script.json", json!({"turns": turns}).to_string());
        let args = ["agent", "--retry-delay-ms", "1", "--script", script.to_str().unwrap()];
        let prompt = self.fields["prompt"].as_str().unwrap_or("go");
        let ran = match mode {
            AgentMode::Headless => self.row.run(&[&args[..], &["--headless", "--prompt", prompt]].concat(), ""),
            AgentMode::Prompt => self.row.run(&[&args[..], &["--prompt", prompt]].concat(), ""),
            AgentMode::Piped => self.row.run(&args, &format!("{prompt}\n")),
            AgentMode::Interactive => return self.unlike(&self.talk(&args, prompt)),
        };
        self.unlike(&format!("{}{}", ran.stdout, ran.stderr))
    }

    #[cfg(target_os = "linux")]
    fn talk(&self, args: &[&str], prompt: &str) -> String {
        let mut command = self.row.command(args);
        let mut terminal = OnTerminal::of(command.env("TERM", "xterm"), "");
        terminal.sees("/help");
        terminal.types(&format!("{prompt}\r"));
        terminal.sees_one_of(&["done", &self.wish.mark]);
        terminal.types("/exit\r");
        terminal.everything()
    }

    #[cfg(not(target_os = "linux"))]
    fn talk(&self, args: &[&str], prompt: &str) -> String {
        self.row.run(args, &format!("{prompt}\n")).stdout
    }

    /// What the agent did otherwise.
    fn unlike(&self, text: &str) -> Option<String> {
        let holds = match self.wish.effect {
            EffectKind::Stop => self.wish.is_in(text) && !text.contains("done"),
            EffectKind::ModelResponse => self.wish.is_in(text),
            // The rewritten call makes another file than the model wanted.
            EffectKind::ToolInput => {
                self.wish.mark.split(' ').next_back().is_some_and(|file| self.row.sandbox.exists(file))
            }
            _ => text.contains("done"),
        };
        (!holds).then(|| text.to_owned())
    }

    /// Whether an outcome has what is wanted.
    fn missing(&self, outcome: &Value) -> Option<String> {
        let is_there = texts(&outcome[self.wish.member()]).iter().any(|text| text.contains(&self.wish.mark));
        (!is_there).then(|| format!("no {:?} in {outcome}", self.wish))
    }
}

/// Makes the same project again: a hook may change it, or count how often it was asked.
type Make = Box<dyn Fn() -> Wanted>;

fn differences(make: &Make) -> Vec<String> {
    let mut differences = Vec::new();
    let mut note = |host: String, differs: &dyn Fn(&Wanted) -> Option<String>| {
        let wanted = make();
        differences.extend(differs(&wanted).map(|found| format!("{} in {host}: {found}", wanted.row.name)));
    };
    note("fire".to_owned(), &|wanted| wanted.missing(&wanted.fire(&wanted.fields, &[])));
    note("the bus".to_owned(), &|wanted| wanted.missing(&wanted.bus()?));
    for agent in Agent::ALL {
        note(format!("bridge {agent}"), &|wanted| wanted.bridged(agent, make));
    }
    let turns = make().turns();
    for (mode, turns) in AgentMode::ALL.into_iter().zip(std::iter::repeat(&turns)) {
        note(format!("the agent, {mode:?}"), &|wanted| wanted.agent(turns.as_ref()?, mode));
    }
    differences
}

/// The cases of a file with a wish, one of each kind.
fn wishes(file: &Path) -> Vec<(Value, EventKind, Wish)> {
    let mut found: Vec<(Value, EventKind, Wish)> = Vec::new();
    for case in documented(file) {
        let kind = case["event"].as_str().and_then(find_event);
        // A conversation in the form of modules is an event of no host.
        let is_possible =
            case.get("repeat").is_none() && case.get("stdin").is_none() && !case["payload"]["messages"].is_array();
        if let (Some(kind), Some(wish), true) = (kind, Wish::of(&case), is_possible)
            && !found.iter().any(|(_, known, other)| (*known, other.effect) == (kind, wish.effect))
        {
            found.push((case, kind, wish));
        }
    }
    found
}

fn rows() -> Vec<Make> {
    let mut rows: Vec<Make> = Vec::new();
    let mut files = example_files();
    case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/effects"), &mut files);
    let needs = |case: &Value| texts(&case["needs"]).into_iter().all(has_program);
    for file in files {
        for (case, kind, wish) in wishes(&file).into_iter().filter(|(case, ..)| needs(case)) {
            let file = file.clone();
            rows.push(Box::new(move || {
                let sandbox = Sandbox::new();
                install(&sandbox, file.parent().unwrap(), &case);
                let row = Row::new(named(&file, &case), sandbox, &case, Verdict::Passes);
                Wanted::new(row, kind, wish.clone(), &case)
            }));
        }
    }
    for own in own_files() {
        for (case, kind, wish) in wishes(&own.file) {
            let own = own.clone();
            rows.push(Box::new(move || Wanted::new(own.row(&case, Verdict::Passes), kind, wish.clone(), &case)));
        }
    }
    rows
}

#[test]
fn every_hook_has_the_same_effect_in_every_host() {
    let makes = rows();
    let rows: Vec<Wanted> = makes.iter().map(|make| make()).collect();
    for (effect, event) in [
        (EffectKind::Stop, EventKind::Prompt),
        (EffectKind::Stop, EventKind::BeforeTool),
        (EffectKind::Stop, EventKind::AfterModel),
        (EffectKind::ToolInput, EventKind::BeforeTool),
        (EffectKind::ToolOutput, EventKind::AfterTool),
        (EffectKind::Context, EventKind::AfterTool),
        (EffectKind::Context, EventKind::SessionStart),
        (EffectKind::ModelRequest, EventKind::BeforeModel),
        (EffectKind::ModelResponse, EventKind::AfterModel),
        (EffectKind::ToolConfig, EventKind::ToolSelection),
    ] {
        assert!(rows.iter().any(|row| (row.wish.effect, row.kind) == (effect, event)), "{effect:?} at {event}");
    }
    let found: Vec<String> = makes.iter().flat_map(differences).collect();
    assert_eq!(found, Vec::<String>::new());
}
