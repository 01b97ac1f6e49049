//! Codex CLI.

mod trust;

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::tools::ToolColumn;
use hookrail::{EventKind, Json};
use serde_json::json;

use super::claude;
use super::tool_words::{COMMAND, same, tool};
use crate::doctor::{DoctorCheck, DoctorScene, ManagedSettings};
use crate::effect::{EffectKind, Handling};
use crate::forms::{AnswerContent, AnsweredEvent, Members, QUESTION, StatusForm, given_text};
use crate::settings::{AgentFile, AgentFolders, FilePlace, MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, RewriteFit,
    SamplePayload, as_written, grouped_entry, payload_names_event, seconds, usual_handling,
};
use crate::tool_call::AgentToolCall;

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "codex",
    title: "Codex CLI",
    program: "codex",
    tested_version: "0.166.0",
    tool_variables: &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"],
    // It declares nothing; its `cwd` is the directory of the session.
    project_variables: &[],
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
    rewrite_fit,
    install: InstallSpec {
        place,
        hook_files: |agent_folders| {
            let folders = [agent_folders.project.join(".codex"), user_folder(agent_folders)];
            folders.iter().flat_map(|folder| hook_files_in(folder)).collect()
        },
        other_files: |_| {
            let managed = |name| FilePlace::File(Path::new(MANAGED.folder).join(name));
            ["config.toml", "requirements.toml"].map(managed).to_vec()
        },
        borrowed_files: |_| vec![Path::new(MANAGED.folder).join("hooks.json")],
        files_above: |agent_folders, repository| {
            let above = agent_folders.project.ancestors().take_while(|folder| folder.starts_with(repository));
            above.flat_map(|folder| hook_files_in(&folder.join(".codex"))).collect()
        },
        syntax: SettingsSyntax::StrictJson,
        layout: |_| SettingsLayout::Shared,
        entry: grouped_entry,
        document: as_written,
        missing_program: |_| MissingProgram::Passes,
        wait: |timeout| Some(seconds(timeout.unwrap_or(600.0))),
        project_advice: None,
        trust: Some(&trust::STORE),
        folder_trust: None,
    },
    doctor: DoctorSpec { managed: Some(MANAGED), switched_off, checks: &[trust::check, open_shells] },
    sample: |_| {
        let input = json!({ "command": "true" });
        let members = json!({
            "turn_id": "doctor", "model": "none", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input,
        });
        SamplePayload { event: "PreToolUse", members }
    },
};

fn hook_files_in(folder: &Path) -> [PathBuf; 2] {
    ["hooks.json", "config.toml"].map(|name| folder.join(name))
}

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("SessionStart", EventKind::SessionStart, &FORM),
    AgentEvent::new("SessionEnd", EventKind::SessionEnd, &FORM).waits_at_most(Duration::from_secs(1)),
    AgentEvent::new("UserPromptSubmit", EventKind::Prompt, &FORM),
    AgentEvent::new("PreToolUse", EventKind::BeforeTool, &FORM),
    AgentEvent::new(QUESTION, EventKind::PermissionRequest, &FORM),
    AgentEvent::new("PostToolUse", EventKind::AfterTool, &FORM),
    AgentEvent::new("Stop", EventKind::AgentEnd, &FORM),
    AgentEvent::new("PreCompact", EventKind::BeforeCompact, &FORM),
    AgentEvent::new("PostCompact", EventKind::AfterCompact, &FORM),
    AgentEvent::new("SubagentStart", EventKind::SubagentStart, &FORM),
    AgentEvent::new("SubagentStop", EventKind::SubagentStop, &FORM),
];

static TOOLS: ToolColumn = ToolColumn {
    whose: "Codex CLI",
    tools: &[
        tool("run_shell_command", "Bash", &[COMMAND]),
        // What it calls them itself; hooks are told `Bash`.
        tool("run_shell_command", "shell", &[COMMAND]),
        tool("run_shell_command", "local_shell", &[COMMAND]),
        tool("run_shell_command", "exec_command", &[("command", &["cmd"])]),
        tool("run_shell_command", "write_stdin", &[("command", &["chars"])]),
        same("apply_patch", &[("patch", &["command"])]),
    ],
    others: &[],
};

/// Where administrators put settings for all users.
const MANAGED: ManagedSettings = ManagedSettings { folder: "/etc/codex", only: "allow_managed_hooks_only" };

fn user_folder(agent_folders: &AgentFolders<'_>) -> PathBuf {
    agent_folders.directory("CODEX_HOME", ".codex")
}

fn evidence(payload: &PayloadView<'_>) -> Evidence {
    let sends = payload.has("turn_id") && payload.has("model");
    match (payload.is_one_of(EVENTS), payload.named == SPEC.name) {
        (true, _) | (_, true) if sends => Evidence::Certain,
        (is_event, is_named) => Evidence::possible_if(is_event && is_named),
    }
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        (EffectKind::Stop, EventKind::Prompt | EventKind::SessionStart)
        | (EffectKind::Context, EventKind::BeforeTool)
        | (EffectKind::SystemMessage, _) => Handling::Honoured,
        (EffectKind::Stop, EventKind::AfterTool) => Handling::ReplacesResult,
        // That it takes another input with the answer to its question is not known.
        (EffectKind::ToolInput, EventKind::PermissionRequest) => Handling::Denied,
        // It ignores a question and runs the tool, and voids a whole answer that has `suppressOutput`.
        _ => usual_handling(event, effect),
    }
}

/// Whether a rewrite of a shell call changes what Codex CLI does not show and cannot change: its hooks know `command` alone.
fn rewrite_fit(call: &AgentToolCall, rewritten: &Json) -> RewriteFit {
    if call.name != "Bash" {
        return RewriteFit::AsHandled;
    }
    let (old, new) = (call.agent_input.as_object().unwrap_or_default(), rewritten.as_object().unwrap_or_default());
    let is_kept = |name: &str, value: &Json| name == "command" || old.get(name).is_some_and(|old| old.same_as(value));
    let all_kept = new.iter().all(|(name, value)| is_kept(name, value));
    match all_kept && new.get("command").and_then(Json::as_str).is_some() {
        true => RewriteFit::AsHandled,
        false => RewriteFit::Impossible,
    }
}

fn place(scope: Scope, agent_folders: &AgentFolders<'_>) -> Option<PathBuf> {
    let folder = match scope {
        Scope::User => user_folder(agent_folders),
        Scope::Project => agent_folders.project.join(".codex"),
        Scope::System => PathBuf::from(MANAGED.folder),
    };
    Some(folder.join("hooks.json"))
}

fn switched_off(file: &AgentFile, _: &Path) -> Option<&'static str> {
    file.says("/features/hooks", false).then_some("features.hooks")
}

fn open_shells(_: &DoctorScene<'_>) -> Vec<DoctorCheck> {
    vec![DoctorCheck::warning(
        "limits",
        "commands typed into a shell that the agent keeps open (`write_stdin`) reach no hook",
        "guard the program that is started, or forbid `tty` shells in Codex CLI's configuration",
    )]
}

static FORM: StatusForm = StatusForm { members };

/// An answer with one member too many is void, so that each event gets exactly what Codex CLI knows.
fn members(event: &AnsweredEvent<'_>, content: &AnswerContent) -> Members {
    let members = Members::new().text("systemMessage", content.system_message.as_deref());
    match event.kind {
        EventKind::BeforeTool => {
            // A rewrite counts only beside `allow`, and `allow` only beside a rewrite.
            let allow = content.input.as_ref().map(|_| "allow");
            let specific = Members::new()
                .text("permissionDecision", allow)
                .value("updatedInput", content.input.clone())
                .text("additionalContext", content.context_text().as_deref());
            members.specific(event.name, specific)
        }
        EventKind::PermissionRequest => members.answered_question(event.name, content),
        EventKind::AfterTool => {
            let output = content.output.as_deref().map(given_text);
            let members = members.text("decision", output.map(|_| "block")).text("reason", output);
            members.context(event.name, content)
        }
        EventKind::AgentEnd => members.block(content).stop(content.stop.as_deref()),
        EventKind::Prompt | EventKind::SessionStart => {
            members.context(event.name, content).stop(content.stop.as_deref())
        }
        _ => members,
    }
}
