//! Every hook of the repository that decides about a prompt or the end of an answer, in every host: the same decision, or the loss
//! that the agent's table declares.
//!
//! The rows are test cases, as in `cross_hosts`. A new example brings its cases and so its row.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use hookrail::dialect::find_event;
use hookrail::{DialectId, EventKind};
use hookrail_bridge::{Agent, EffectKind, Handling};
use hookrail_testkit::has_program;
use serde_json::{Value, json};

use super::cross_hosts::{
    AgentMode, QUESTION, Row, Verdict, case_files, cases, documented, example_files, expected, install,
};
#[cfg(target_os = "linux")]
use super::pseudo_terminal::OnTerminal;
use super::sandbox::{ProgramOutput, Sandbox};

/// What hooks are asked about.
#[derive(Clone, Debug, PartialEq)]
enum Question {
    Prompt(String),
    /// The end of an answer, and whether a hook sent the agent back already.
    End {
        is_sent_back: bool,
    },
}

impl Question {
    fn of(case: &Value) -> Option<Self> {
        match find_event(case["event"].as_str()?)? {
            EventKind::Prompt => Some(Self::Prompt(case["prompt"].as_str()?.to_owned())),
            EventKind::AgentEnd => {
                Some(Self::End { is_sent_back: case["payload"]["stop_hook_active"].as_bool().unwrap_or_default() })
            }
            _ => None,
        }
    }

    fn kind(&self) -> EventKind {
        match self {
            Self::Prompt(_) => EventKind::Prompt,
            Self::End { .. } => EventKind::AgentEnd,
        }
    }

    /// The fields of the event.
    fn fields(&self) -> Value {
        match self {
            Self::Prompt(prompt) => json!({"prompt": prompt}),
            Self::End { is_sent_back } => {
                json!({"prompt": "go", "prompt_response": "done", "stop_hook_active": is_sent_back})
            }
        }
    }

    /// The prompt with which the agent comes to the question.
    fn prompt(&self) -> &str {
        match self {
            Self::Prompt(prompt) => prompt,
            Self::End { .. } => "go",
        }
    }

    /// What the model says, so that the agent comes to the question.
    fn turns(&self) -> Value {
        match self {
            Self::Prompt(_) => json!([{"text": "done"}]),
            Self::End { .. } => json!([{"text": "first answer"}, {"text": "done"}]),
        }
    }

    /// What became of it, as the agent shows it.
    fn shown(&self, text: &str) -> Verdict {
        let is_denied = match self {
            Self::Prompt(_) => {
                let is_refused = text.contains("denied") || text.contains(QUESTION);
                assert!(is_refused || text.contains("done"), "{self:?}: {text}");
                is_refused
            }
            // The agent goes on only if it is sent back.
            Self::End { .. } => {
                assert!(text.contains("first answer"), "{self:?}: {text}");
                text.contains("done")
            }
        };
        if is_denied { Verdict::Denied } else { Verdict::Passes }
    }

    /// The event as an agent sends it.
    fn payload(&self, agent: Agent, project: &Path) -> (&'static str, String) {
        let event = agent.event_name(self.kind()).unwrap();
        let mut payload = recorded(agent, event).unwrap_or_else(|| panic!("{agent}: {event}"));
        payload["cwd"] = json!(project);
        for (name, value) in self.fields().as_object().unwrap() {
            if let Some(member) = payload.get_mut(name) {
                member.clone_from(value);
            }
        }
        (event, payload.to_string())
    }
}

/// An event of an agent as it was recorded, if it was.
pub(super) fn recorded(agent: Agent, event: &str) -> Option<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agents/payloads");
    let text = std::fs::read_to_string(folder.join(format!("{agent}.json"))).unwrap();
    let all: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    let is_it = |key: &str| key == event || key.strip_prefix(event).is_some_and(|rest| rest.starts_with('.'));
    all.into_iter().find(|(key, _)| is_it(key)).map(|(_, payload)| payload)
}

/// A question to the hooks of a project.
struct Asked {
    row: Row,
    question: Question,
}

impl Asked {
    /// Whether the agent does what the hook asked for.
    fn is_honoured_by(&self, agent: Agent) -> bool {
        let honours = |effect| agent.handling(self.question.kind(), effect).is_honoured();
        match self.row.expected {
            Verdict::Passes => true,
            Verdict::Asks => honours(EffectKind::Ask),
            Verdict::Denied => honours(EffectKind::Deny),
        }
    }

    /// What a bridge makes of the verdict: what an agent cannot do becomes a denial or is lost, and its table says so.
    fn expected_of(&self, agent: Agent) -> Verdict {
        if self.is_honoured_by(agent) {
            return self.row.expected;
        }
        match agent.handling(self.question.kind(), EffectKind::Deny) {
            Handling::Honoured | Handling::Denied | Handling::DeniedUntilPrompt => Verdict::Denied,
            Handling::AddedAsContext
            | Handling::KeptForLater
            | Handling::ReplacesResult
            | Handling::FollowsResponse
            | Handling::Dropped => Verdict::Passes,
        }
    }

    /// What `fire` says, with the losses that it reports.
    fn fire(&self, more: &[&str]) -> (Verdict, Value) {
        let (kind, fields) = (self.question.kind(), self.question.fields().to_string());
        let ran = self.row.run(&[&["fire", kind.name(), "--json", "--payload", &fields], more].concat(), "");
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}: {ran:?}", self.row.name));
        (Verdict::of(&outcome), outcome["losses"].clone())
    }

    fn bus(&self) -> Verdict {
        let name = self.question.kind().spec().column(DialectId::Llxprt).map(|column| column.name);
        let payload = json!({"eventName": name, "correlationId": "1", "input": self.question.fields()});
        let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload});
        let ran = self.row.run(&["serve", "--stdio"], &format!("{request}\n"));
        let lines = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answer = lines.into_iter().find(|line| line["type"] == "HOOK_EXECUTION_RESPONSE");
        Verdict::of(&answer.unwrap_or_else(|| panic!("{}: {ran:?}", self.row.name))["payload"]["outcome"])
    }

    /// The agent in one of its modes. Where no user can be asked it denies, and a user who is asked says no.
    fn agent(&self, mode: AgentMode) -> Verdict {
        let script = self.row.sandbox.write_home("script.json", json!({"turns": self.question.turns()}).to_string());
        let args = ["agent", "--retry-delay-ms", "1", "--script", script.to_str().unwrap()];
        let prompt = self.question.prompt();
        let output = |ran: ProgramOutput| format!("{}{}", ran.stdout, ran.stderr);
        let text = match mode {
            AgentMode::Headless => output(self.row.run(&[&args[..], &["--headless", "--prompt", prompt]].concat(), "")),
            AgentMode::Prompt => output(self.row.run(&[&args[..], &["--prompt", prompt]].concat(), "")),
            AgentMode::Piped => output(self.row.run(&args, &format!("{prompt}\n"))),
            AgentMode::Interactive => self.talk(&args),
        };
        self.question.shown(&text)
    }

    #[cfg(target_os = "linux")]
    fn talk(&self, args: &[&str]) -> String {
        let mut command = self.row.command(args);
        let mut terminal = OnTerminal::of(command.env("TERM", "xterm"), "");
        terminal.sees("/help");
        terminal.types(&format!("{}\r", self.question.prompt()));
        let ends: &[&str] = match self.question {
            Question::Prompt(_) => &["done", QUESTION, "denied"],
            Question::End { .. } => &["first answer"],
        };
        if terminal.sees_one_of(ends) == 1 {
            // The line of the question is drawn again with the answer, so it is not waited for a second time.
            terminal.types("n\r");
            terminal.sees_one_of(&["done", "denied"]);
        }
        terminal.types("/exit\r");
        terminal.everything()
    }

    #[cfg(not(target_os = "linux"))]
    fn talk(&self, args: &[&str]) -> String {
        self.row.run(args, &format!("{}\n", self.question.prompt())).stdout
    }

    /// What differs from what is expected.
    fn differences(&self) -> Vec<String> {
        let (row, mut differences) = (&self.row, Vec::new());
        let mut note = |host: String, found: Verdict, expected: Verdict| {
            if found != expected {
                differences.push(format!("{} in {host}: {found}, not {expected}", row.name));
            }
        };
        note("fire".to_owned(), self.fire(&[]).0, row.expected);
        note("the bus".to_owned(), self.bus(), row.expected);
        for agent in Agent::ALL {
            let expected = self.expected_of(agent);
            let (event, payload) = self.question.payload(agent, &row.sandbox.project);
            note(format!("bridge {agent}"), row.bridge_says(agent, event, &payload), expected);
            if !self.is_honoured_by(agent) {
                let losses = self.fire(&["--agent", agent.name()]).1;
                assert!(losses.to_string().contains("loss."), "{}: what is lost is reported: {losses}", row.name);
            }
        }
        let expected = if row.expected == Verdict::Asks { Verdict::Denied } else { row.expected };
        // The first answer of the agent is never one that a hook asked for.
        if self.question != (Question::End { is_sent_back: true }) {
            for mode in AgentMode::ALL {
                note(format!("the agent, {mode:?}"), self.agent(mode), expected);
            }
        }
        differences
    }
}

/// The first case of each verdict and event in a file that asks such a question.
fn questions(file: &Path) -> Vec<(Value, Question, Verdict)> {
    let mut found: Vec<(Value, Question, Verdict)> = Vec::new();
    for case in documented(file) {
        if let (Some(question), Some(expected)) = (Question::of(&case), expected(&case))
            && !found.iter().any(|(_, other, verdict)| other.kind() == question.kind() && *verdict == expected)
        {
            found.push((case, question, expected));
        }
    }
    found
}

fn rows() -> Vec<Asked> {
    let mut rows = Vec::new();
    for file in example_files() {
        for (case, question, expected) in questions(&file) {
            if case["needs"].as_str().is_some_and(|program| !has_program(program)) {
                continue;
            }
            let sandbox = Sandbox::new();
            install(&sandbox, file.parent().unwrap(), &case);
            let name = format!("{}: {}", file.display(), case["name"]);
            rows.push(Asked { row: Row::new(name, sandbox, &case, expected), question });
        }
    }
    for dialect in ["llxprt", "xcode"] {
        let written = |sandbox: &Sandbox| {
            sandbox.run(&["new", "gate", "--dialect", dialect, "--event", "prompt"]).ends_with(0);
        };
        let (first, mut files) = (Sandbox::new(), Vec::new());
        written(&first);
        case_files(&first.project, &mut files);
        for (case, question, expected) in files.iter().flat_map(|file| questions(file)) {
            let sandbox = Sandbox::new();
            written(&sandbox);
            let name = format!("new {dialect}: {}", case["name"]);
            rows.push(Asked { row: Row::new(name, sandbox, &case, expected), question });
        }
    }
    rows
}

#[test]
fn every_hook_says_the_same_about_prompts_and_ends_in_every_host() {
    let rows = rows();
    for kind in [EventKind::Prompt, EventKind::AgentEnd] {
        let has = |verdict| rows.iter().any(|asked| asked.question.kind() == kind && asked.row.expected == verdict);
        assert!(has(Verdict::Denied) && has(Verdict::Passes), "{kind}");
    }
    assert!(rows.iter().any(|asked| asked.row.expected == Verdict::Asks));
    assert!(rows.iter().any(|asked| asked.row.name.contains("published/xcode-manifest")));
    let found: Vec<String> = rows.iter().flat_map(Asked::differences).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_example_that_denies_or_asks_is_asked_in_every_host() {
    let decides = |case: &Value| expected(case).is_some_and(|verdict| verdict != Verdict::Passes);
    let is_asked = |file: &PathBuf| {
        questions(file).iter().any(|(case, ..)| decides(case)) || cases(file).iter().any(|(case, _)| decides(case))
    };
    let deciding: Vec<PathBuf> =
        example_files().into_iter().filter(|file| documented(file).iter().any(decides)).collect();
    assert!(deciding.len() >= 10, "{deciding:?}");
    let missing: Vec<&PathBuf> = deciding.iter().filter(|file| !is_asked(file)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
