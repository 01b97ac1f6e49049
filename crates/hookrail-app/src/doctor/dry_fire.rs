//! Sends a sample of a tool call through the agent's own entry, as the agent would: one that a hook matches, if there is one. The
//! entry is executed only if it is the user's
//! own: a project may bring settings that name a program of its own, and nothing of a project runs before its user trusts it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use hookrail::hook::Enablement;
use hookrail::{EventKind, Hook, HookSystem};
use hookrail_bridge::doctor::DoctorCheck;
use hookrail_bridge::install::{AgentFile, InstalledCall, Scope};
use hookrail_bridge::{Agent, SAMPLE_SESSION, tools};
use serde_json::Value;

use super::outside::OutsideProject;
use super::{run_with_patience, settings};
use crate::bridge::session_file::SessionFiles;
use crate::sample;
use crate::text::visible;

/// Sends the sample through the program of the user's entry, or through this program if there is none.
pub(super) fn examine(
    agent: Agent,
    system: &HookSystem,
    files: &[AgentFile],
    project: &Path,
    outside: &OutsideProject,
) -> DoctorCheck {
    let DryRun { event, payload, about } = DryRun::plan(agent, system, project);
    let Ok(program) = std::env::current_exe() else {
        return DoctorCheck::error("dry-fire", "the path of this program is not known", "reinstall hookrail");
    };
    let is_asked = |call: &&InstalledCall| call.event == event || call.event == settings::EVERY_EVENT;
    let is_users = |file: &&AgentFile| file.scope == Some(Scope::User) && outside.real_path(&file.path).is_some();
    let entry = files.iter().filter(is_users).flat_map(|file| &file.calls).find(is_asked);
    let mut command = match entry.map(|call| (call, outside.program_of_command(&call.program))) {
        // The agent cannot start it either, which is said where the entries are looked at.
        Some((call, None)) if !is_there(&call.program) => {
            let text = format!("a dry run of {event} is not possible: `{}` cannot be started", visible(&call.program));
            return DoctorCheck::error("dry-fire", text, format!("run `hookrail install {agent}` again"));
        }
        Some((call, Some(found))) => {
            let mut direct = Command::new(found);
            direct.args(&call.arguments);
            // The command of a generated plugin names no event.
            if call.event != event {
                direct.args(["--event", event]);
            }
            direct
        }
        Some((_, None)) | None => {
            let mut direct = Command::new(program);
            direct.args(["bridge", agent.name(), "--event", event]);
            direct
        }
    };
    command.current_dir(project);
    for variable in agent.project_variables() {
        command.env(variable, project);
    }
    let begin = Instant::now();
    let ran = run_with_patience(&mut command, Some(payload));
    if let Ok(store) = SessionFiles::of(agent) {
        // Nothing of this session is worth remembering; if its state cannot be removed now, it is forgotten after a week.
        let _ = store.forget_session(SAMPLE_SESSION);
    }
    let (status, out, error) = match ran {
        Ok(ended) => ended,
        Err(error) => {
            let text = format!("a dry run of {event} failed: {error}");
            return DoctorCheck::error("dry-fire", text, "run `hookrail check`");
        }
    };
    let (said, warned) = (out.trim(), error.trim());
    match (status, own_refusal(agent, said, warned)) {
        (Some(0 | 2), Some(BridgeRefusal::Failed(text))) => DoctorCheck::error(
            "dry-fire",
            format!("a dry run of {event} reached no hook, because the bridge itself failed: {}", visible(&text)),
            "remove the cause that the message names; until then every tool is denied, or passes with `--on-error allow`",
        ),
        (Some(0 | 2), Some(BridgeRefusal::Late(text))) => DoctorCheck::error(
            "dry-fire",
            format!("a dry run of {event} ended at the deadline: {}", visible(&text)),
            format!("make the hooks faster, or run `hookrail install {agent}` with a longer `--timeout`"),
        ),
        (Some(0), None) => {
            let answer = if said.is_empty() { "no objection".to_owned() } else { visible(said) };
            DoctorCheck::fine(
                "dry-fire",
                format!("a dry run of {event} took {} ms: {answer}; {about}", begin.elapsed().as_millis()),
            )
        }
        (Some(2), None) => {
            DoctorCheck::fine("dry-fire", format!("a dry run of {event} was denied: {}; {about}", visible(warned)))
        }
        (status, _) => DoctorCheck::error(
            "dry-fire",
            format!("a dry run of {event} ended with {status:?}: {}", visible(warned)),
            format!("run `hookrail install {agent}`; if the entries are current, report this as a defect of hookrail"),
        ),
    }
}

/// A call that the agent could make.
struct DryRun {
    event: &'static str,
    payload: String,
    /// What the call is about, as a part of a sentence.
    about: String,
}

impl DryRun {
    /// Plans a call that a hook matches, in the words of the agent; a harmless one if no hook matches a tool of the agent.
    fn plan(agent: Agent, system: &HookSystem, project: &Path) -> Self {
        let snapshot = system.snapshot();
        let takes_part = |hook: &&Arc<Hook>| {
            let is_asked = hook.enablement == Enablement::Active && hook.trust.allows();
            is_asked && hook.known_event() == Some(EventKind::BeforeTool)
        };
        let matched = snapshot.hooks().iter().filter(takes_part).find_map(|hook| {
            let fields = sample::fields_for(hook);
            let (tool, input) = (fields.get("tool_name")?.as_str()?, fields.get("tool_input")?);
            let (tool, input) = tools::table().call_for(agent.tools(), &tool, input)?;
            let (event, payload) = agent.tool_event(project, &tool, &input.to_value());
            let about = format!("hook `{}` is asked about `{}`", visible(&hook.label), visible(&tool));
            Some(Self { event, payload, about })
        });
        matched.unwrap_or_else(|| {
            let (event, payload) = agent.sample_tool_event(project);
            Self { event, payload, about: "no hook is asked about it".to_owned() }
        })
    }
}

/// Whether a program exists, wherever it is.
fn is_there(program: &str) -> bool {
    !program.contains('/') || program.contains('$') || Path::new(program).exists()
}

/// Why the bridge answered without what hooks said.
enum BridgeRefusal {
    /// It failed.
    Failed(String),
    /// The hooks did not answer in time.
    Late(String),
}

/// The answer of the bridge itself, if no hook gave it. The bridge begins its own messages with its name, and agents show
/// them as they are.
fn own_refusal(agent: Agent, said: &str, warned: &str) -> Option<BridgeRefusal> {
    let mut texts: Vec<String> = warned.lines().map(str::to_owned).collect();
    if let Ok(answer) = serde_json::from_str(said) {
        collect_texts(&answer, &mut texts);
    }
    let advice = format!("run `hookrail doctor {agent}`");
    texts.retain(|text| text.starts_with("hookrail: "));
    texts.into_iter().find_map(|text| {
        if text.ends_with(&advice) {
            Some(BridgeRefusal::Failed(text))
        } else if text.contains("did not answer within") {
            Some(BridgeRefusal::Late(text))
        } else {
            None
        }
    })
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect_texts(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
