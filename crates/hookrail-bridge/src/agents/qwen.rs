//! Qwen Code.

use hookrail::EventKind;
use hookrail::tools::ToolColumn;
use serde_json::json;

use super::claude;
use super::tool_words::{COMMAND, FILE_PATH, PATTERN, PROMPT, URL, same, tool};
use crate::effect::{EffectKind, Handling};
use crate::forms::{AnswerContent, AnsweredEvent, Members, QUESTION, StatusForm, permission};
use crate::settings::{AgentFile, MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, SamplePayload,
    any_rewrite_fits, as_written, grouped_entry, payload_names_event, seconds, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "qwen",
    title: "Qwen Code",
    program: "qwen",
    tested_version: "0.24.4",
    tool_variables: &["QWEN_CODE", "QWEN_CODE_SESSION_ID"],
    project_variables: &["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    events: EVENTS,
    other_events: &[],
    evidence,
    event_namer: payload_names_event,
    members: PayloadMembers::USUAL,
    machine_made_prompts: &[],
    tools: &TOOLS,
    other_tools: &[&claude::TOOLS],
    mcp_separator: None,
    handling,
    questions: Questions::AsHandled,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place: |scope, agent_folders| match scope {
            Scope::User => Some(agent_folders.home.join(".qwen/settings.json")),
            Scope::Project => Some(agent_folders.project.join(".qwen/settings.json")),
            Scope::System => None,
        },
        hook_files: |agent_folders| {
            [agent_folders.project, agent_folders.home].map(|folder| folder.join(".qwen/settings.json")).to_vec()
        },
        other_files: |_| Vec::new(),
        borrowed_files: |_| Vec::new(),
        files_above: |_, _| Vec::new(),
        syntax: SettingsSyntax::JsonWithComments,
        layout: |_| SettingsLayout::Shared,
        entry: grouped_entry,
        document: as_written,
        missing_program: |_| MissingProgram::Passes,
        // It takes large numbers for milliseconds.
        wait: |timeout| {
            let timeout = timeout.unwrap_or(60.0);
            Some(if timeout >= 1000.0 { seconds(timeout / 1000.0) } else { seconds(timeout) })
        },
        project_advice: None,
        trust: None,
        folder_trust: None,
    },
    doctor: DoctorSpec { switched_off, ..DoctorSpec::NOTHING },
    sample: |file| {
        let members =
            json!({ "hook_event_name": "PreToolUse", "tool_name": "read_file", "tool_input": { "file_path": file } });
        SamplePayload { event: "PreToolUse", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("SessionStart", EventKind::SessionStart, &FORM),
    AgentEvent::new("SessionEnd", EventKind::SessionEnd, &FORM),
    AgentEvent::new("UserPromptSubmit", EventKind::Prompt, &FORM),
    AgentEvent::new("PreToolUse", EventKind::BeforeTool, &FORM),
    AgentEvent::new(QUESTION, EventKind::PermissionRequest, &FORM),
    AgentEvent::new("PostToolUse", EventKind::AfterTool, &FORM),
    AgentEvent::new("PostToolUseFailure", EventKind::AfterTool, &FORM),
    AgentEvent::new("PostToolBatch", EventKind::TurnEnd, &FORM),
    AgentEvent::new("Stop", EventKind::AgentEnd, &FORM),
    AgentEvent::new("PreCompact", EventKind::BeforeCompact, &FORM),
    AgentEvent::new("PostCompact", EventKind::AfterCompact, &FORM),
    AgentEvent::new("SubagentStart", EventKind::SubagentStart, &FORM),
    AgentEvent::new("SubagentStop", EventKind::SubagentStop, &FORM),
    AgentEvent::new("Notification", EventKind::Notification, &FORM),
];

static TOOLS: ToolColumn = ToolColumn {
    whose: "Qwen Code",
    tools: &[
        same("write_file", &[FILE_PATH]),
        tool("replace", "edit", &[FILE_PATH]),
        same("read_file", &[FILE_PATH]),
        same("run_shell_command", &[COMMAND]),
        same("list_directory", &[("directory", &["path"])]),
        same("glob", &[PATTERN]),
        tool("search_file_content", "grep_search", &[PATTERN]),
        same("search_file_content", &[PATTERN]),
        same("web_fetch", &[URL]),
        tool("task", "agent", &[PROMPT]),
        same("todo_write", &[]),
    ],
    others: &["tool_search"],
};

/// It has Claude Code's names, and sends a time and a permission mode.
fn evidence(payload: &PayloadView<'_>) -> Evidence {
    let may_be_own = payload.named == SPEC.name || (payload.has("timestamp") && payload.has("permission_mode"));
    Evidence::possible_if(payload.is_one_of(EVENTS) && may_be_own)
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        // Without a terminal it denies by itself.
        (EffectKind::Ask, EventKind::BeforeTool) | (EffectKind::Stop, EventKind::Prompt) => Handling::Honoured,
        (EffectKind::Stop, EventKind::AfterTool) => Handling::ReplacesResult,
        // It takes another input with the answer to its question.
        (EffectKind::ToolInput, EventKind::PermissionRequest) => Handling::Honoured,
        // No form of a rewrite is honoured: the tool would run with its original input.
        (EffectKind::ToolInput, _) => Handling::Denied,
        (EffectKind::ToolOutput, _) => Handling::AddedAsContext,
        _ => usual_handling(event, effect),
    }
}

fn switched_off(file: &AgentFile, _: &std::path::Path) -> Option<&'static str> {
    if file.says("/hooksConfig/enabled", false) {
        Some("hooksConfig.enabled")
    } else if file.lists_hookrail("/hooksConfig/disabled") {
        Some("hooksConfig.disabled")
    } else {
        file.says("/disableAllHooks", true).then_some("disableAllHooks")
    }
}

static FORM: StatusForm = StatusForm { members };

fn members(event: &AnsweredEvent<'_>, content: &AnswerContent) -> Members {
    let (name, members) = (event.name, Members::new());
    match event.kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(content);
            let specific = Members::new().text("permissionDecision", decision).text("permissionDecisionReason", reason);
            members.specific(name, specific)
        }
        // A stop after a tool does not end the turn here, but the reason becomes the result, the whole result.
        EventKind::AfterTool => match &content.output {
            Some(output) => {
                let context = content.context_text();
                let text = context.map_or_else(|| output.clone(), |context| format!("{output}\n\n{context}"));
                members.stop(Some(&text))
            }
            None => members.context(name, content),
        },
        EventKind::PermissionRequest => members.answered_question(name, content),
        EventKind::AgentEnd => members.block(content),
        EventKind::Prompt => members.context(name, content).stop(content.stop.as_deref()),
        EventKind::SessionStart => members.context(name, content),
        _ => members,
    }
}
