//! Claude Code.

use std::path::PathBuf;
use std::time::Duration;

use hookrail::EventKind;
use hookrail::tools::ToolColumn;
use serde_json::{Value, json};

use super::tool_words::{COMMAND, FILE_PATH, PATTERN, PROMPT, URL, tool};
use crate::doctor::ManagedSettings;
use crate::effect::{EffectKind, Handling};
use crate::forms::{ClaudeForm, QUESTION};
use crate::settings::{AgentFile, AgentFolders, FilePlace, MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, SamplePayload,
    any_rewrite_fits, as_written, grouped_entry, payload_names_event, seconds, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    tested_version: "2.1.325",
    tool_variables: &["CLAUDECODE"],
    project_variables: &["CLAUDE_PROJECT_DIR"],
    events: EVENTS,
    other_events: &[],
    evidence,
    event_namer: payload_names_event,
    members: PayloadMembers::USUAL,
    machine_made_prompts: &[
        "<bash-input>",
        "<bash-stderr>",
        "<bash-stdout>",
        "<local-command-caveat>",
        "<local-command-stderr>",
        "<local-command-stdout>",
        "<task-notification>",
    ],
    tools: &TOOLS,
    other_tools: &[],
    mcp_separator: None,
    handling,
    questions: Questions::AsHandled,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place,
        hook_files,
        other_files: |_| {
            let managed = PathBuf::from(MANAGED.folder);
            let single = FilePlace::File(managed.join("managed-settings.json"));
            vec![single, FilePlace::JsonFilesIn(managed.join("managed-settings.d"))]
        },
        borrowed_files: |agent_folders| vec![agent_folders.directory("CLAUDE_CONFIG_DIR", ".claude").join("plugins")],
        files_above: |_, repository| vec![repository.join(".claude/settings.local.json")],
        syntax: SettingsSyntax::StrictJson,
        layout: |scope| match scope {
            Scope::User | Scope::Project => SettingsLayout::Shared,
            Scope::System => SettingsLayout::Own { version: None },
        },
        entry,
        document: as_written,
        missing_program: |hook| match hook.get("onFailure").and_then(Value::as_str) {
            Some("block") => MissingProgram::Denies,
            Some(_) | None => MissingProgram::Passes,
        },
        wait: |timeout| Some(seconds(timeout.unwrap_or(60.0))),
        project_advice: None,
        trust: None,
        folder_trust: None,
    },
    doctor: DoctorSpec { managed: Some(MANAGED), switched_off, checks: &[] },
    sample: |file| {
        let members =
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": { "file_path": file } });
        SamplePayload { event: "PreToolUse", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("SessionStart", EventKind::SessionStart, &ClaudeForm),
    AgentEvent::new("SessionEnd", EventKind::SessionEnd, &ClaudeForm).waits_at_most(Duration::from_millis(1500)),
    AgentEvent::new("UserPromptSubmit", EventKind::Prompt, &ClaudeForm),
    AgentEvent::new("PreToolUse", EventKind::BeforeTool, &ClaudeForm),
    AgentEvent::new(QUESTION, EventKind::PermissionRequest, &ClaudeForm),
    AgentEvent::new("PostToolUse", EventKind::AfterTool, &ClaudeForm),
    AgentEvent::new("PostToolUseFailure", EventKind::AfterTool, &ClaudeForm),
    AgentEvent::new("PostToolBatch", EventKind::TurnEnd, &ClaudeForm),
    AgentEvent::new("Stop", EventKind::AgentEnd, &ClaudeForm),
    AgentEvent::new("PreCompact", EventKind::BeforeCompact, &ClaudeForm),
    AgentEvent::new("PostCompact", EventKind::AfterCompact, &ClaudeForm),
    AgentEvent::new("SubagentStart", EventKind::SubagentStart, &ClaudeForm),
    AgentEvent::new("SubagentStop", EventKind::SubagentStop, &ClaudeForm),
    AgentEvent::new("Notification", EventKind::Notification, &ClaudeForm),
];

/// The names of tools, which Codex CLI, Qwen Code and others take too.
pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "Claude Code",
    tools: &[
        tool("write_file", "Write", &[FILE_PATH]),
        tool("replace", "Edit", &[FILE_PATH]),
        tool("replace", "MultiEdit", &[FILE_PATH]),
        tool("replace", "NotebookEdit", &[("file_path", &["notebook_path"]), ("new_string", &["new_source"])]),
        tool("read_file", "Read", &[FILE_PATH]),
        tool("run_shell_command", "Bash", &[COMMAND]),
        tool("run_shell_command", "Monitor", &[COMMAND]),
        tool("run_shell_command", "PowerShell", &[COMMAND]),
        tool("list_directory", "LS", &[("directory", &["path"])]),
        tool("glob", "Glob", &[PATTERN]),
        tool("search_file_content", "Grep", &[PATTERN, ("include", &["glob"])]),
        tool("web_fetch", "WebFetch", &[URL]),
        tool("google_web_search", "WebSearch", &[]),
        tool("task", "Agent", &[PROMPT]),
        tool("task", "Task", &[PROMPT]),
        tool("todo_write", "TodoWrite", &[]),
    ],
    others: &["BashOutput", "KillShell", "ExitPlanMode", "Skill", "ToolSearch"],
};

/// Where administrators put settings for all users.
const MANAGED: ManagedSettings = ManagedSettings { folder: "/etc/claude-code", only: "allowManagedHooksOnly" };

/// Whether a payload has what only Claude Code sends. An agent that was started by another one may have inherited its
/// variables, but it sends its own payload.
pub(super) fn is_own_payload(payload: &PayloadView<'_>) -> bool {
    let has = |name| payload.has(name);
    has("permission_mode") || has("prompt_id") || (has("transcript_path") && !has("timestamp"))
}

fn evidence(payload: &PayloadView<'_>) -> Evidence {
    let may_be_own = payload.named == SPEC.name || !payload.has("timestamp");
    Evidence::possible_if(payload.is_one_of(EVENTS) && may_be_own)
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        (EffectKind::Allow | EffectKind::Ask | EffectKind::Context, EventKind::BeforeTool)
        | (EffectKind::Stop, EventKind::BeforeTool | EventKind::AfterTool | EventKind::Prompt)
        | (EffectKind::SystemMessage, _) => Handling::Honoured,
        _ => usual_handling(event, effect),
    }
}

fn place(scope: Scope, agent_folders: &AgentFolders<'_>) -> Option<PathBuf> {
    Some(match scope {
        Scope::User => agent_folders.directory("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
        Scope::Project => agent_folders.project.join(".claude/settings.json"),
        Scope::System => PathBuf::from(MANAGED.folder).join("managed-settings.d/50-hookrail.json"),
    })
}

fn hook_files(agent_folders: &AgentFolders<'_>) -> Vec<PathBuf> {
    let own = agent_folders.project.join(".claude");
    let user = agent_folders.directory("CLAUDE_CONFIG_DIR", ".claude");
    vec![own.join("settings.json"), own.join("settings.local.json"), user.join("settings.json")]
}

/// Claude Code can be told that a hook which fails blocks; without this word it lets the tool run.
fn entry(event: &AgentEvent, command: &str, seconds: u32) -> Value {
    if event.guards_an_operation() {
        json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds, "onFailure": "block" }] })
    } else {
        grouped_entry(event, command, seconds)
    }
}

fn switched_off(file: &AgentFile, _: &std::path::Path) -> Option<&'static str> {
    file.says("/disableAllHooks", true).then_some("disableAllHooks")
}
