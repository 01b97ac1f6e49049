//! What the bridge knows about each agent, as one file for each: its events, the answer table, denials, files that an
//! installation writes, tools and a sample. A change of an agent shows there, and nowhere else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::{DialectId, EventKind};
use hookrail_bridge::install::{
    AgentFolders, InstallOptions, MissingProgram, Scope, SettingsFile, SettingsSyntax, bridge_calls, settings_files,
};
use hookrail_bridge::{
    Agent, AgentEvent, Answer, AnswerContent, AnswerStatus, AnsweredEvent, EffectKind, Handling, Lateness,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const SCOPES: [Scope; 3] = [Scope::User, Scope::Project, Scope::System];

/// The directories that the user can move, and where they are then.
const MOVED: [(&str, &str); 5] = [
    ("CLAUDE_CONFIG_DIR", "/srv/claude"),
    ("CODEX_HOME", "/srv/codex"),
    ("COPILOT_HOME", "/srv/copilot"),
    ("XDG_CONFIG_HOME", "/srv/config"),
    ("FACTORY_HOME_OVERRIDE", "/srv/factory"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

fn unmoved(_: &str) -> Option<String> {
    None
}

fn moved(name: &str) -> Option<String> {
    MOVED.iter().find(|(known, _)| *known == name).map(|(_, folder)| (*folder).to_owned())
}

fn events(agent: Agent) -> Value {
    let event = |event: &AgentEvent| {
        json!({
            "name": event.name,
            "kind": event.kind.name(),
            "longestWaitMs": event.longest_wait.map(|wait| u64::try_from(wait.as_millis()).unwrap()),
            "isFiltered": agent.is_filtered(event.kind),
            "streams": agent.streams(event.kind),
            "guards": event.guards_an_operation(),
        })
    };
    agent.events().iter().map(event).collect()
}

/// The effects of each event that are not dropped.
fn handling(agent: Agent) -> Value {
    let words = |kind: EventKind| {
        let handled = EffectKind::ALL.into_iter().map(|effect| (effect, agent.handling(kind, effect)));
        let kept = handled.filter(|(_, handling)| *handling != Handling::Dropped);
        kept.map(|(effect, handling)| format!("{}: {handling:?}", effect.name())).collect::<Vec<_>>()
    };
    EventKind::all().map(|kind| (kind.name().to_owned(), json!(words(kind)))).collect::<serde_json::Map<_, _>>().into()
}

fn losses(agent: Agent) -> Value {
    let of_dialect = |dialect: DialectId| {
        let names = |kind| {
            let losses = agent.possible_losses(dialect, kind);
            losses.iter().map(|loss| format!("{}: {:?}", loss.effect.name(), loss.handling)).collect::<Vec<_>>()
        };
        let fired = EventKind::all().filter(|kind| agent.fires(*kind)).map(|kind| (kind, names(kind)));
        let lost = fired.filter(|(_, names)| !names.is_empty());
        lost.map(|(kind, names)| (kind.name().to_owned(), json!(names))).collect::<serde_json::Map<_, _>>()
    };
    DialectId::ORDER
        .into_iter()
        .map(|dialect| (dialect.name(), of_dialect(dialect)))
        .collect::<BTreeMap<_, _>>()
        .into_json()
}

/// A map as JSON.
trait IntoJson {
    fn into_json(self) -> Value;
}

impl IntoJson for BTreeMap<&str, serde_json::Map<String, Value>> {
    fn into_json(self) -> Value {
        let members = self.into_iter().map(|(name, value)| (name.to_owned(), Value::Object(value)));
        members.collect::<serde_json::Map<_, _>>().into()
    }
}

fn answer(answer: &Answer) -> Value {
    let stdout = answer.stdout.as_ref().map(hookrail::Json::to_value);
    json!({ "status": answer.status.code(), "stdout": stdout, "stderr": answer.stderr })
}

/// How each event, and one that is not known, is denied, and answered when the hooks are late.
fn denials(agent: Agent) -> Value {
    let mut denials = serde_json::Map::new();
    denials.insert("(unknown)".to_owned(), answer(&Answer::denial(None, "no")));
    for event in agent.events() {
        denials.insert(event.name.to_owned(), answer(&Answer::denial(Some(*event), "no")));
        let late = Answer::late(agent, *event, Lateness::Deadline(Duration::from_secs(1)));
        denials.insert(format!("{} (late)", event.name), answer(&late));
    }
    denials.into()
}

fn installed(agent: Agent) -> Value {
    let options = |scope| InstallOptions {
        program: PathBuf::from("/opt/hookrail"),
        scope,
        events: vec![EventKind::BeforeTool, EventKind::AgentEnd, EventKind::SessionEnd, EventKind::AfterModel],
        timeout_seconds: 60,
        bridge: vec![hookrail_bridge::install::BridgeOption::StrictTrust],
    };
    let file = |file: &SettingsFile| match file {
        SettingsFile::Own { path, text } => json!({ "own": path, "text": text }),
        SettingsFile::Shared { path, entries, syntax } => {
            let entries: Vec<_> = entries.iter().map(|entry| json!({ entry.event: entry.value })).collect();
            json!({ "shared": path, "syntax": format!("{syntax:?}"), "entries": entries })
        }
    };
    let mut scopes = serde_json::Map::new();
    for scope in SCOPES {
        for (moved, variable) in [(false, &unmoved as &dyn Fn(&str) -> Option<String>), (true, &moved)] {
            let (home, project) = (Path::new("/home/user"), Path::new("/project"));
            let agent_folders = AgentFolders { home, project, variable };
            let written = match settings_files(agent, &options(scope), &agent_folders) {
                Ok(files) if moved => files.iter().map(|file| json!(file.path())).collect(),
                Ok(files) => files.iter().map(file).collect(),
                Err(error) => json!(error.to_string()),
            };
            let read = agent_folders.hook_files(agent);
            let name = if moved { format!("{} (moved)", scope.name()) } else { scope.name().to_owned() };
            scopes.insert(name, json!({ "written": written, "read": read }));
        }
    }
    scopes.into()
}

/// What the agent does if the program of an entry is missing, with members that an entry can have.
fn missing_program(agent: Agent) -> Value {
    let name = agent.event_name(EventKind::BeforeTool).unwrap();
    let found = |hook: Value| {
        let calls = bridge_calls(agent, &json!({ "hooks": { name: [{ "hooks": [hook] }] } }));
        calls.first().map(|call| match call.missing_program {
            MissingProgram::Denies => "denies",
            MissingProgram::Passes => "passes",
        })
    };
    let call = format!("hookrail bridge {agent}");
    json!({
        "plain": found(json!({ "type": "command", "command": call })),
        "onFailure": found(json!({ "type": "command", "command": call, "onFailure": "block" })),
    })
}

fn tools(agent: Agent) -> Value {
    let column = agent.tools();
    let tool = |entry: &hookrail::tools::ColumnTool| {
        let arguments = entry.arguments.iter().map(|(argument, names)| format!("{argument}: {}", names.join(", ")));
        json!({ "tool": entry.tool, "name": entry.name, "arguments": arguments.collect::<Vec<_>>() })
    };
    json!({ "whose": column.whose, "tools": column.tools.iter().map(tool).collect::<Vec<_>>(), "others": column.others })
}

fn table(agent: Agent) -> Value {
    let (event, sample) = agent.sample_tool_event(Path::new("/project"));
    json!({
        "name": agent.name(),
        "title": agent.title(),
        "program": agent.program(),
        "testedVersion": agent.tested_version(),
        "projectVariables": agent.project_variables(),
        "toolVariables": agent.tool_variables(),
        "syntax": format!("{:?}", SettingsSyntax::of(agent)),
        "events": events(agent),
        "handling": handling(agent),
        "losses": losses(agent),
        "denials": denials(agent),
        "installed": installed(agent),
        "missingProgram": missing_program(agent),
        "tools": tools(agent),
        "sample": { event: serde_json::from_str::<Value>(&sample).unwrap() },
    })
}

#[test]
#[cfg(unix)]
fn the_table_of_every_agent_is_current() {
    let bless = std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1");
    for agent in Agent::ALL {
        let file = folder().join(format!("{agent}.json"));
        let current = serde_json::to_string_pretty(&table(agent)).unwrap() + "\n";
        // The manifest of an extension names the version of this program.
        let current = current.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        if bless {
            std::fs::write(&file, &current).unwrap();
        }
        let stored = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(stored, current, "{}: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-bridge`", file.display());
    }
}

#[test]
fn a_denial_is_written_wherever_an_agent_honours_one() {
    let denied = AnswerContent { deny: Some("the reason".to_owned()), ..AnswerContent::default() };
    for agent in Agent::ALL {
        let honoured = |event: &&AgentEvent| agent.handling(event.kind, EffectKind::Deny).is_honoured();
        for AgentEvent { name, kind, form, .. } in agent.events().iter().filter(honoured) {
            let event = AnsweredEvent { name, kind: *kind, prompt: None, tool_result: None, llm_request: None };
            let says = |content: &AnswerContent| {
                let answer = form.write(&event, content);
                let text = match answer.status {
                    AnswerStatus::Answered => answer.stdout.map(|document| document.text().to_owned()),
                    AnswerStatus::Denied => answer.stderr,
                };
                text.unwrap_or_default()
            };
            assert!(says(&denied).contains("the reason"), "{agent} {name}: {}", says(&denied));
            assert_eq!(says(&AnswerContent::default()), "", "{agent} {name}");
        }
    }
}
