//! Gemini CLI.

use std::path::Path;

use hookrail::dialect::llxprt::is_extension_disabled;
use hookrail::tools::ToolColumn;
use hookrail::{EventKind, Json, JsonObject};
use serde_json::{Value, json};

use super::copilot;
use super::tool_words::{COMMAND, FILE_PATH, PATTERN, PROMPT, same, tool};
use crate::doctor::{DoctorCheck, DoctorScene};
use crate::effect::{EffectKind, Handling};
use crate::forms::{Answer, AnswerContent, AnswerForm, AnsweredEvent, Members, given_text, permission};
use crate::settings::{AgentFile, FilePlace, MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, Repeats,
    SamplePayload, any_rewrite_fits, as_written, payload_names_event, seconds, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    tested_version: "0.61.0",
    tool_variables: &["GEMINI_CLI"],
    project_variables: &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    events: EVENTS,
    other_events: &[],
    evidence,
    event_namer: payload_names_event,
    members: PayloadMembers::USUAL,
    machine_made_prompts: &[],
    tools: &TOOLS,
    other_tools: &[],
    mcp_separator: None,
    handling,
    questions: Questions::AtTerminal,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place: |scope, agent_folders| match scope {
            Scope::User => Some(agent_folders.home.join(".gemini/extensions/hookrail/hooks/hooks.json")),
            Scope::Project => Some(agent_folders.project.join(".gemini/settings.json")),
            Scope::System => None,
        },
        hook_files: |agent_folders| {
            [agent_folders.project, agent_folders.home].map(|folder| folder.join(".gemini/settings.json")).to_vec()
        },
        other_files: |agent_folders| {
            vec![FilePlace::File(agent_folders.home.join(".gemini/extensions").join(ENABLEMENT))]
        },
        borrowed_files: |agent_folders| {
            vec![agent_folders.home.join(".gemini/extensions"), "/etc/gemini-cli/settings.json".into()]
        },
        files_above: |_, _| Vec::new(),
        syntax: SettingsSyntax::JsonWithComments,
        layout: |scope| match scope {
            Scope::User => SettingsLayout::Extension { manifest: "gemini-extension.json" },
            Scope::Project | Scope::System => SettingsLayout::Shared,
        },
        entry,
        document: as_written,
        missing_program: |_| MissingProgram::Denies,
        wait: |timeout| Some(seconds(timeout.unwrap_or(60_000.0) / 1000.0)),
        project_advice: None,
        trust: None,
        folder_trust: None,
    },
    doctor: DoctorSpec { switched_off, checks: &[folder_trust], ..DoctorSpec::NOTHING },
    sample: |file| {
        let members =
            json!({ "hook_event_name": "BeforeTool", "tool_name": "read_file", "tool_input": { "file_path": file } });
        SamplePayload { event: "BeforeTool", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("SessionStart", EventKind::SessionStart, &GeminiForm),
    AgentEvent::new("SessionEnd", EventKind::SessionEnd, &GeminiForm),
    AgentEvent::new("BeforeAgent", EventKind::Prompt, &GeminiForm),
    AgentEvent::new("AfterAgent", EventKind::AgentEnd, &GeminiForm),
    AgentEvent::new("BeforeModel", EventKind::BeforeModel, &GeminiForm),
    AgentEvent::new("AfterModel", EventKind::AfterModel, &GeminiForm).repeats(Repeats::InPieces),
    AgentEvent::new("BeforeToolSelection", EventKind::ToolSelection, &GeminiForm),
    AgentEvent::new("BeforeTool", EventKind::BeforeTool, &GeminiForm),
    AgentEvent::new("AfterTool", EventKind::AfterTool, &GeminiForm),
    AgentEvent::new("PreCompress", EventKind::BeforeCompact, &GeminiForm).repeats(Repeats::Filtered),
    AgentEvent::new("Notification", EventKind::Notification, &GeminiForm),
];

static TOOLS: ToolColumn = ToolColumn {
    whose: "Gemini CLI",
    tools: &[
        same("write_file", &[FILE_PATH]),
        same("replace", &[FILE_PATH]),
        same("read_file", &[FILE_PATH]),
        same("run_shell_command", &[COMMAND]),
        same("list_directory", &[("directory", &["dir_path"])]),
        same("glob", &[PATTERN]),
        same("search_file_content", &[PATTERN]),
        tool("search_file_content", "grep_search", &[PATTERN]),
        same("web_fetch", &[]),
        same("google_web_search", &[]),
        tool("task", "invoke_agent", &[PROMPT]),
    ],
    others: &["read_many_files", "save_memory"],
};

/// The file that says in which projects an extension is off.
const ENABLEMENT: &str = "extension-enablement.json";

/// The agents whose settings it can take over.
const TAKEN_OVER: [&str; 3] = ["claude", "codex", "qwen"];

/// Its events that other agents have under the same name.
const SHARED_NAMES: [&str; 3] = ["SessionStart", "SessionEnd", "Notification"];

fn evidence(payload: &PayloadView<'_>) -> Evidence {
    let sends = payload.has("timestamp") && !payload.has("permission_mode");
    let is_started = payload.variable("GEMINI_SESSION_ID").is_some() && !copilot::runs_hooks_of_claude(payload);
    match payload.is_one_of(EVENTS) {
        false => Evidence::No,
        true if is_started && sends && TAKEN_OVER.contains(&payload.named) => Evidence::Certain,
        true => Evidence::possible_if(payload.named == SPEC.name || !SHARED_NAMES.contains(&payload.event)),
    }
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        (
            EffectKind::ModelRequest | EffectKind::ModelResponse | EffectKind::ToolConfig | EffectKind::SystemMessage,
            _,
        )
        | (EffectKind::ClearContext, EventKind::AgentEnd)
        | (
            EffectKind::Stop,
            EventKind::BeforeTool
            | EventKind::AfterTool
            | EventKind::Prompt
            | EventKind::BeforeModel
            | EventKind::AfterModel
            | EventKind::ToolSelection,
        ) => Handling::Honoured,
        // A question without a terminal ends the whole run, silently.
        _ => usual_handling(event, effect),
    }
}

fn entry(_: &AgentEvent, command: &str, seconds: u32) -> Value {
    let hook = json!({ "name": "hookrail", "type": "command", "command": command, "timeout": seconds * 1000 });
    json!({ "hooks": [hook] })
}

fn switched_off(file: &AgentFile, project: &Path) -> Option<&'static str> {
    if file.says("/hooksConfig/enabled", false) {
        Some("hooksConfig.enabled")
    } else if file.lists_hookrail("/hooksConfig/disabled") {
        Some("hooksConfig.disabled")
    } else {
        let is_excluded = file.path.ends_with(ENABLEMENT) && is_extension_disabled(&file.text, "hookrail", project);
        is_excluded.then_some("hookrail.overrides")
    }
}

fn folder_trust(scene: &DoctorScene<'_>) -> Vec<DoctorCheck> {
    if !scene.files.iter().any(|file| file.says("/security/folderTrust/enabled", true)) {
        return Vec::new();
    }
    let project = scene.project.display();
    let text = format!("folder trust is on: Gemini CLI runs nothing in `{project}` unless it is trusted");
    vec![DoctorCheck::warning("folder-trust", text, "start `gemini` in the project once and trust the folder")]
}

#[derive(Debug)]
struct GeminiForm;

impl AnswerForm for GeminiForm {
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        Answer::of_document(&members(event, content).0)
    }
}

fn members(event: &AnsweredEvent<'_>, content: &AnswerContent) -> Members {
    let (decision, reason) = permission(content);
    // The dialog shows the message, not the reason.
    let shown: Vec<&str> = [&content.system_message, &content.ask].into_iter().flatten().map(String::as_str).collect();
    let members = Members::new().text("systemMessage", (!shown.is_empty()).then(|| shown.join("\n")).as_deref());
    let context = content.context_text();
    let members = match (event.kind, &content.output) {
        // A replaced result takes its context along: beside a decision the agent drops it.
        (EventKind::AfterTool, Some(output)) => {
            let output = given_text(output);
            let text = context.map_or_else(|| output.to_owned(), |context| format!("{output}\n\n{context}"));
            members.text("decision", Some("deny")).text("reason", Some(&text))
        }
        (EventKind::BeforeModel, None) if content.llm_response.is_some() && decision.is_none() => {
            // Without a decision beside it a response does not keep the model from being called.
            let members = members.text("decision", Some("deny")).text("reason", Some("a hook answered for the model"));
            members.specific(event.name, Members::new().value("llm_response", content.llm_response.clone()))
        }
        _ => {
            let changed = content.llm_request.as_ref().and_then(|changed| changed_request(event, changed));
            let specific = Members::new()
                .value("tool_input", content.input.clone())
                .text("additionalContext", context.as_deref())
                .value("llm_request", changed)
                .value("llm_response", content.llm_response.clone())
                .value("toolConfig", content.tool_config.clone())
                .value("clearContext", content.clear_context.then(|| Json::boolean(true)));
            members.text("decision", decision).text("reason", reason).specific(event.name, specific)
        }
    };
    members.stop(content.stop.as_deref())
}

/// The members of a request to the model that differ from those of the payload. A member that is sent replaces the agent's
/// own: the messages of a payload have no tool calls, and those of the agent would be lost.
fn changed_request(event: &AnsweredEvent<'_>, changed: &Json) -> Option<Json> {
    let original = event.llm_request.and_then(Json::as_object).unwrap_or_default();
    let Some(members) = changed.as_object() else { return Some(changed.clone()) };
    let differs = |name: &str, value: &Json| original.get(name).is_none_or(|original| !original.same_as(value));
    let members = members.iter().filter(|(name, value)| differs(name, value));
    let members: JsonObject = members.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    (!members.is_empty()).then(|| members.to_json())
}
