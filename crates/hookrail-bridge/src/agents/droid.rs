//! Droid, the agent of Factory.

use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail::tools::ToolColumn;
use serde_json::{Value, json};

use super::claude;
use super::tool_words::{COMMAND, FILE_PATH, PATTERN, PROMPT, URL, same, tool};
use crate::effect::{EffectKind, Handling};
use crate::forms::{Answer, AnswerContent, AnswerForm, AnsweredEvent, Members, permission};
use crate::settings::{AgentFolders, MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, SamplePayload,
    any_rewrite_fits, grouped_entry, payload_names_event, seconds, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "droid",
    title: "Droid",
    program: "droid",
    tested_version: "0.215.0",
    // `droid exec` sets the first two for its tools, and every Droid the third.
    tool_variables: &["FACTORY_EXEC_TARGET_AUTONOMY", "FACTORY_DISABLE_SETTINGS_PERSISTENCE", "BUN_PTY_LIB"],
    project_variables: &["DROID_PROJECT_DIR", "FACTORY_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    events: EVENTS,
    other_events: &[],
    evidence,
    event_namer: payload_names_event,
    members: PayloadMembers {
        others: &[
            "CLAUDE_ENV_FILE",
            "calling_session_id",
            "elapsed_time",
            "has_images",
            "message_count",
            "message_id",
            "session_duration_ms",
            "task_name",
            "task_result",
            "tool_execution_count",
        ],
        ..PayloadMembers::USUAL
    },
    // The prompt of a sub-agent, which has a session of its own.
    machine_made_prompts: &["# Task Tool Invocation"],
    tools: &TOOLS,
    other_tools: &[&claude::TOOLS],
    mcp_separator: Some("___"),
    handling,
    questions: Questions::AsHandled,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place: |scope, agent_folders| match scope {
            Scope::User => Some(user_folder(agent_folders).join("settings.json")),
            Scope::Project => Some(agent_folders.project.join(FOLDER).join("settings.json")),
            Scope::System => None,
        },
        hook_files: |agent_folders| {
            let folders = [agent_folders.project.join(FOLDER), user_folder(agent_folders)];
            folders.iter().flat_map(|folder| [folder.join("settings.json"), folder.join(HOOKS_FILE)]).collect()
        },
        other_files: |_| Vec::new(),
        borrowed_files: |_| Vec::new(),
        files_above: |_, _| Vec::new(),
        syntax: SettingsSyntax::JsonWithComments,
        layout: |_| SettingsLayout::Shared,
        entry: grouped_entry,
        document,
        missing_program: |_| MissingProgram::Passes,
        wait: |timeout| Some(seconds(timeout.unwrap_or(60.0))),
        project_advice: None,
        trust: None,
        folder_trust: None,
    },
    doctor: DoctorSpec::NOTHING,
    sample: |file| {
        let members =
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": { "file_path": file } });
        SamplePayload { event: "PreToolUse", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("SessionStart", EventKind::SessionStart, &DroidForm),
    AgentEvent::new("SessionEnd", EventKind::SessionEnd, &DroidForm),
    AgentEvent::new("UserPromptSubmit", EventKind::Prompt, &DroidForm),
    AgentEvent::new("PreToolUse", EventKind::BeforeTool, &DroidForm),
    AgentEvent::new("PostToolUse", EventKind::AfterTool, &DroidForm),
    AgentEvent::new("Stop", EventKind::AgentEnd, &DroidForm),
    AgentEvent::new("PreCompact", EventKind::BeforeCompact, &DroidForm),
    AgentEvent::new("SubagentStop", EventKind::SubagentStop, &DroidForm),
    AgentEvent::new("Notification", EventKind::Notification, &DroidForm),
];

static TOOLS: ToolColumn = ToolColumn {
    whose: "Droid",
    tools: &[
        tool("write_file", "Create", &[FILE_PATH]),
        tool("replace", "Edit", &[FILE_PATH, ("old_string", &["old_str"]), ("new_string", &["new_str"])]),
        tool("replace", "MultiEdit", &[FILE_PATH]),
        tool("read_file", "Read", &[FILE_PATH]),
        tool("run_shell_command", "Execute", &[COMMAND]),
        tool("list_directory", "LS", &[("directory", &["directory_path"])]),
        // Its patterns are a list.
        tool("glob", "Glob", &[]),
        tool("search_file_content", "Grep", &[PATTERN, ("include", &["glob_pattern"])]),
        tool("web_fetch", "FetchUrl", &[URL]),
        tool("google_web_search", "WebSearch", &[]),
        tool("task", "Task", &[PROMPT]),
        tool("todo_write", "TodoWrite", &[]),
        tool("apply_patch", "ApplyPatch", &[("patch", &["input"])]),
        same("apply_patch", &[("patch", &["input"])]),
    ],
    others: &["AskUser", "ExitSpecMode", "Skill", "TaskOutput", "TaskStop", "ToolSearch"],
};

/// The folder of the settings, in a project and in the home directory.
const FOLDER: &str = ".factory";

/// A file with hooks alone: the events stand at its top, and a wrapper `hooks` around them makes Droid ignore it.
const HOOKS_FILE: &str = "hooks.json";

/// Its home directory can be another one than the user's.
fn user_folder(agent_folders: &AgentFolders<'_>) -> PathBuf {
    agent_folders.directory("FACTORY_HOME_OVERRIDE", "").join(FOLDER)
}

fn document(path: &Path, document: Value) -> Value {
    if path.ends_with(HOOKS_FILE) { json!({ "hooks": document }) } else { document }
}

/// Its payloads look like Claude Code's. It sets its own variable for hooks and not for tools, so that an agent that one of its
/// tools starts does not inherit it.
fn evidence(payload: &PayloadView<'_>) -> Evidence {
    let is_droid = payload.variable("DROID_PROJECT_DIR").is_some() && payload.has("permission_mode");
    let is_another = payload.has("timestamp") || payload.has("turn_id");
    match payload.is_one_of(EVENTS) {
        true if is_droid && !is_another => Evidence::Certain,
        is_event => Evidence::possible_if(is_event && payload.named == SPEC.name),
    }
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        (EffectKind::Stop, EventKind::BeforeTool | EventKind::AfterTool) => Handling::Honoured,
        (EffectKind::ToolOutput, _) => Handling::AddedAsContext,
        // It takes a question for no objection, and runs the tool.
        _ => usual_handling(event, effect),
    }
}

/// A denial is status 2 with a text on standard error: `decision` is ignored before a tool. A stop has a member, so that what
/// ends the turn is a document.
#[derive(Debug)]
struct DroidForm;

impl AnswerForm for DroidForm {
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        match &content.deny {
            Some(reason) if event.kind == EventKind::Prompt => Answer::of_status(reason),
            Some(reason) if event.kind == EventKind::BeforeTool && content.stop.is_none() => Answer::of_status(reason),
            Some(_) | None => Answer::of_document(&members(event, content).0),
        }
    }

    fn denies_by_status(&self, kind: EventKind) -> bool {
        kind == EventKind::Prompt
    }
}

fn members(event: &AnsweredEvent<'_>, content: &AnswerContent) -> Members {
    let (name, members) = (event.name, Members::new());
    match event.kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(content);
            let specific = Members::new()
                .text("permissionDecision", decision)
                .text("permissionDecisionReason", reason)
                .value("updatedInput", content.input.clone());
            members.specific(name, specific).stop(content.stop.as_deref())
        }
        EventKind::AfterTool => members.context(name, content).stop(content.stop.as_deref()),
        EventKind::AgentEnd => members.block(content),
        EventKind::Prompt | EventKind::SessionStart => members.context(name, content),
        _ => members,
    }
}
