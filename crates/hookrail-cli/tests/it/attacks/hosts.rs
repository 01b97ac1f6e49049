//! The hosts through which an attack of the data is tried, and what each makes of a call.

use std::process::Command;

use hookrail::{DialectId, EventKind, Json};
use hookrail_bridge::{Agent, EffectKind, tools};
use hookrail_testkit::{ProgramOutput, TestProject};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::attacks::entry::Call;

/// A host: one that is given the call of the entry, or a whole command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Host {
    /// `fire`, `bus`, `agent`, `bridge AGENT`, or any other command line, split at blanks.
    Line(String),
    /// A command line with what it reads.
    Reading { command: Vec<String>, stdin: Value },
}

/// What a host makes of a call.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Passes,
    Asks,
    Denied,
}

/// How a host is started: the words behind the program, what it reads, and how its answer is read.
pub(crate) struct Started {
    pub(crate) arguments: Vec<String>,
    pub(crate) stdin: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Fire,
    Bus,
    Agent,
    Bridge(Agent),
    /// A command that answers no call.
    Other,
}

impl Host {
    pub(crate) fn needs_call(&self) -> bool {
        matches!(self, Self::Line(line) if matches!(line.as_str(), "fire" | "bus" | "agent") || self.bridged().is_some())
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Reading { command, .. } => command.join(" "),
        }
    }

    /// The agent of a line `bridge AGENT`.
    fn bridged(&self) -> Option<Agent> {
        let Self::Line(line) = self else { return None };
        let name = line.strip_prefix("bridge ")?;
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// What to start for a call.
    pub(crate) fn start(&self, call: Option<&Call>, place: &TestProject) -> Started {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match self {
            Self::Reading { command, stdin } => {
                let stdin = stdin.as_str().map_or_else(|| stdin.to_string(), str::to_owned);
                Started { arguments: command.clone(), stdin, kind: kind_of(command) }
            }
            Self::Line(line) if !self.needs_call() => {
                let arguments = words(line);
                Started { kind: kind_of(&arguments), arguments, stdin: String::new() }
            }
            Self::Line(line) => {
                let call = call.unwrap_or_else(|| panic!("`{line}` needs a call"));
                match (self.bridged(), line.as_str()) {
                    (Some(agent), _) => bridge(agent, call, place),
                    (None, "bus") => bus(call),
                    (None, "agent") => agent(call, place),
                    (None, _) => fire(call),
                }
            }
        }
    }
}

fn kind_of(arguments: &[String]) -> Kind {
    let agent = || {
        let name = arguments.get(1)?;
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    };
    match arguments.first().map(String::as_str) {
        Some("fire") if arguments.iter().any(|word| word == "--json") => Kind::Fire,
        Some("bridge") => agent().map_or(Kind::Other, Kind::Bridge),
        _ => Kind::Other,
    }
}

fn fire(call: &Call) -> Started {
    let words = ["fire", "before-tool", "--json", "--tool", &call.tool, "--tool-input", &call.input.to_string()];
    Started { arguments: words.map(str::to_owned).to_vec(), stdin: String::new(), kind: Kind::Fire }
}

fn bus(call: &Call) -> Started {
    let input = json!({"tool_name": call.tool, "tool_input": call.input});
    let payload = json!({"eventName": "BeforeTool", "correlationId": "1", "input": input});
    let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload});
    let arguments = ["serve", "--stdio"].map(str::to_owned).to_vec();
    Started { arguments, stdin: format!("{request}\n"), kind: Kind::Bus }
}

fn agent(call: &Call, place: &TestProject) -> Started {
    let input = Json::from(call.input.clone());
    let own = tools::table().call_for(hookrail_agent::tool_names(), &call.tool, &input);
    let (name, args) = own.map_or_else(|| (call.tool.clone(), call.input.clone()), |own| (own.0, own.1.to_value()));
    let script = json!({"turns": [{"calls": [{"name": name, "args": args}]}, {"text": "the-end"}]});
    let file = place.write_at("script.json", script.to_string());
    let words = ["agent", "--headless", "--prompt", "go", "--retry-delay-ms", "1", "--script", file.to_str().unwrap()];
    Started { arguments: words.map(str::to_owned).to_vec(), stdin: String::new(), kind: Kind::Agent }
}

fn bridge(agent: Agent, call: &Call, place: &TestProject) -> Started {
    let input = Json::from(call.input.clone());
    let own = tools::table().call_for(agent.tools(), &call.tool, &input);
    let own = own.map(|(name, input)| (name, input.to_value()));
    let (name, args) = own.or_else(|| as_patch(call)).unwrap_or_else(|| (call.tool.clone(), call.input.clone()));
    let (event, stdin) = agent.tool_event(&place.project, &name, &args);
    let arguments = ["bridge", agent.name(), "--event", event].map(str::to_owned).to_vec();
    Started { arguments, stdin, kind: Kind::Bridge(agent) }
}

/// A new file as the patch with which an agent without a tool for it writes the same.
fn as_patch(call: &Call) -> Option<(String, Value)> {
    let (name, input) = tools::table().call_in(DialectId::Llxprt, &call.tool, &Json::from(call.input.clone()));
    let input = input.to_value();
    let path = ["file_path", "path", "absolute_path"].iter().find_map(|name| input[*name].as_str())?;
    let lines: String = input["content"].as_str().unwrap_or("x").lines().map(|line| format!("+{line}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
    (name == "write_file").then(|| ("apply_patch".to_owned(), json!({"command": patch})))
}

impl Started {
    /// The variables by which agents say what their project is.
    pub(crate) fn variables(&self, command: &mut Command, place: &TestProject) {
        if let Kind::Bridge(_) = self.kind {
            for name in
                ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR", "HOOKRAIL_BRIDGE_PROJECT_DIR"]
            {
                command.env(name, &place.project);
            }
        }
    }

    /// The outcome, from a host that shows one.
    pub(crate) fn outcome(&self, ran: &ProgramOutput) -> Option<Value> {
        match self.kind {
            Kind::Fire => serde_json::from_str(&ran.stdout).ok(),
            Kind::Bus => {
                let mut lines = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
                let mut answer = lines.find(|line| line["type"] == "HOOK_EXECUTION_RESPONSE")?;
                Some(answer["payload"]["outcome"].take())
            }
            Kind::Agent | Kind::Bridge(_) => None,
            // `check --json` has diagnostics too.
            Kind::Other => serde_json::from_str(&ran.stdout).ok(),
        }
    }

    /// What was made of the call; none if the program did not answer it.
    pub(crate) fn verdict(&self, ran: &ProgramOutput) -> Option<Verdict> {
        let of_word = |word: Option<&str>| match word {
            Some("deny") => Verdict::Denied,
            Some("ask") => Verdict::Asks,
            _ => Verdict::Passes,
        };
        match self.kind {
            Kind::Fire | Kind::Bus => {
                let outcome = self.outcome(ran)?;
                outcome.is_object().then(|| of_word(outcome["decision"].as_str()))
            }
            Kind::Agent => {
                let text = format!("{}{}", ran.stdout, ran.stderr);
                let is_refused = text.contains("denied") || text.contains("is not available");
                // A prompt that is denied comes to no call, and to no end of the script.
                let is_whole = text.contains("the-end") || text.contains("\"prompt_denied\"");
                is_whole.then_some(if is_refused { Verdict::Denied } else { Verdict::Passes })
            }
            Kind::Bridge(_) => bridge_verdict(ran),
            Kind::Other => None,
        }
    }

    /// What the host makes of a verdict: where there is no user to ask, a question is a denial.
    pub(crate) fn expected(&self, verdict: Verdict) -> Verdict {
        let can_ask = match self.kind {
            Kind::Agent => false,
            Kind::Bridge(agent) => agent.handling(EventKind::BeforeTool, EffectKind::Ask).is_honoured(),
            Kind::Fire | Kind::Bus | Kind::Other => true,
        };
        if verdict == Verdict::Asks && !can_ask { Verdict::Denied } else { verdict }
    }
}

fn bridge_verdict(ran: &ProgramOutput) -> Option<Verdict> {
    if ran.code == 2 {
        return Some(Verdict::Denied);
    }
    let answer: Value =
        if ran.stdout.trim().is_empty() { json!({}) } else { serde_json::from_str(&ran.stdout).ok()? };
    let specific = &answer["hookSpecificOutput"]["permissionDecision"];
    let said = [&answer["decision"], &answer["permissionDecision"], specific];
    let is = |words: &[&str]| said.iter().any(|said| said.as_str().is_some_and(|word| words.contains(&word)));
    let denies = is(&["deny", "block"]) || answer["deny"].is_string();
    let verdict = if denies {
        Verdict::Denied
    } else if is(&["ask"]) {
        Verdict::Asks
    } else {
        Verdict::Passes
    };
    (ran.code == 0).then_some(verdict)
}
