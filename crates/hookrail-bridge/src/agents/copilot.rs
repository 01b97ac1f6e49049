//! Copilot CLI. It also runs the hooks of Claude Code's settings, under Claude Code's names of events.

use hookrail::tools::ToolColumn;
use hookrail::{EventKind, Json, JsonObject};
use serde_json::json;

use super::claude;
use super::tool_words::{COMMAND, PATH, PATTERN, PROMPT, same, tool};
use crate::doctor::{DoctorCheck, DoctorScene};
use crate::effect::{EffectKind, Handling};
use crate::forms::{
    Answer, AnswerContent, AnswerForm, AnsweredEvent, Members, OutputFit, StopText, claude_members, claude_output,
    given_text, permission,
};
use crate::settings::{AgentFile, AgentFolders, FilePlace, MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, EventNamer, Evidence, FolderTrust, InstallSpec, PayloadMembers, PayloadView,
    Questions, SamplePayload, any_rewrite_fits, as_written, seconds, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    tested_version: "1.0.102",
    tool_variables: &["COPILOT_CLI"],
    project_variables: &["COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    events: EVENTS,
    other_events: CLAUDE_EVENTS,
    evidence,
    // Its own notifications carry Claude Code's event name.
    event_namer: |payload| if payload.has("session_id") { EventNamer::Payload } else { EventNamer::CommandLine },
    members: PayloadMembers::USUAL,
    machine_made_prompts: &[],
    tools: &TOOLS,
    other_tools: &[&claude::TOOLS],
    mcp_separator: Some("-"),
    handling,
    questions: Questions::AsHandled,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place: |scope, agent_folders| match scope {
            Scope::User => Some(user_folder(agent_folders).join("hooks/hookrail.json")),
            Scope::Project => Some(agent_folders.project.join(PROJECT_HOOKS).join("hookrail.json")),
            Scope::System => None,
        },
        // Every file of a folder counts.
        hook_files: |_| Vec::new(),
        other_files: |agent_folders| {
            let user = user_folder(agent_folders);
            let settings = ["settings.json", "config.json"].map(|name| FilePlace::File(user.join(name)));
            let folders = [user.join("hooks"), agent_folders.project.join(PROJECT_HOOKS)].map(FilePlace::JsonFilesIn);
            settings.into_iter().chain(folders).collect()
        },
        borrowed_files: |agent_folders| {
            let own = agent_folders.project.join(".claude");
            ["settings.json", "settings.local.json"].map(|name| own.join(name)).to_vec()
        },
        files_above: |_, _| Vec::new(),
        syntax: SettingsSyntax::LenientJson,
        layout: |_| SettingsLayout::Own { version: Some(1) },
        entry: |_, command, seconds| json!({ "type": "command", "bash": command, "timeoutSec": seconds }),
        document: as_written,
        missing_program: |_| MissingProgram::Denies,
        wait: |timeout| Some(seconds(timeout.unwrap_or(30.0))),
        project_advice: Some(
            "Copilot CLI runs hooks of a project only in a trusted folder: start it with `--trust-folder`.",
        ),
        trust: None,
        folder_trust: Some(&FOLDER_TRUST),
    },
    doctor: DoctorSpec { switched_off, checks: &[folder_trust, hooks_of_claude], ..DoctorSpec::NOTHING },
    sample: |file| {
        let members = json!({ "toolName": "view", "toolArgs": { "path": file } });
        SamplePayload { event: "preToolUse", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("sessionStart", EventKind::SessionStart, &CopilotForm),
    AgentEvent::new("sessionEnd", EventKind::SessionEnd, &CopilotForm),
    AgentEvent::new("userPromptSubmitted", EventKind::Prompt, &CopilotForm),
    AgentEvent::new("preToolUse", EventKind::BeforeTool, &CopilotForm),
    AgentEvent::new("permissionRequest", EventKind::PermissionRequest, &CopilotForm),
    AgentEvent::new("postToolUse", EventKind::AfterTool, &CopilotForm),
    AgentEvent::new("postToolUseFailure", EventKind::AfterTool, &CopilotForm),
    AgentEvent::new("agentStop", EventKind::AgentEnd, &CopilotForm),
    AgentEvent::new("preCompact", EventKind::BeforeCompact, &CopilotForm),
    AgentEvent::new("subagentStart", EventKind::SubagentStart, &CopilotForm),
    AgentEvent::new("subagentStop", EventKind::SubagentStop, &CopilotForm),
    AgentEvent::new("notification", EventKind::Notification, &CopilotForm),
];

static CLAUDE_EVENTS: &[AgentEvent] = &[
    AgentEvent::new("SessionStart", EventKind::SessionStart, &FormUnderClaudeNames),
    AgentEvent::new("SessionEnd", EventKind::SessionEnd, &FormUnderClaudeNames),
    AgentEvent::new("UserPromptSubmit", EventKind::Prompt, &FormUnderClaudeNames),
    AgentEvent::new("PreToolUse", EventKind::BeforeTool, &FormUnderClaudeNames),
    AgentEvent::new("PermissionRequest", EventKind::PermissionRequest, &FormUnderClaudeNames),
    AgentEvent::new("PostToolUse", EventKind::AfterTool, &FormUnderClaudeNames),
    AgentEvent::new("PostToolUseFailure", EventKind::AfterTool, &FormUnderClaudeNames),
    AgentEvent::new("PostToolBatch", EventKind::TurnEnd, &FormUnderClaudeNames),
    AgentEvent::new("Stop", EventKind::AgentEnd, &FormUnderClaudeNames),
    AgentEvent::new("PreCompact", EventKind::BeforeCompact, &FormUnderClaudeNames),
    AgentEvent::new("PostCompact", EventKind::AfterCompact, &FormUnderClaudeNames),
    AgentEvent::new("SubagentStart", EventKind::SubagentStart, &FormUnderClaudeNames),
    AgentEvent::new("SubagentStop", EventKind::SubagentStop, &FormUnderClaudeNames),
    AgentEvent::new("Notification", EventKind::Notification, &FormUnderClaudeNames),
];

/// Under the names of Claude Code's events it uses Claude Code's names of tools. These are no names of its own, so that a hook for
/// `Bash` is asked about `bash`.
static TOOLS: ToolColumn = ToolColumn {
    whose: "Copilot CLI",
    tools: &[
        tool("write_file", "create", &[PATH, ("content", &["file_text"])]),
        tool("replace", "edit", &[PATH, ("old_string", &["old_str"]), ("new_string", &["new_str"])]),
        tool("read_file", "view", &[PATH]),
        tool("run_shell_command", "bash", &[COMMAND]),
        // Keys for a shell that runs already, which may be a command line.
        tool("run_shell_command", "write_bash", &[("command", &["input"])]),
        tool("run_shell_command", "powershell", &[COMMAND]),
        tool("run_shell_command", "write_powershell", &[("command", &["input"])]),
        // The text itself is the input.
        same("apply_patch", &[("patch", &["input"])]),
        tool("search_file_content", "grep", &[PATTERN]),
        same("glob", &[PATTERN]),
        same("task", &[PROMPT]),
    ],
    others: &["read_bash", "stop_bash"],
};

/// In a folder that it trusts it runs the hooks of Claude Code's project settings. Trust for one run (`--trust-folder`) is in no file
/// and no variable; the hooks run twice then.
static FOLDER_TRUST: FolderTrust = FolderTrust {
    file: |agent_folders| user_folder(agent_folders).join("config.json"),
    list: "trustedFolders",
    variable: "COPILOT_ALLOW_ALL",
};

/// The folder of a project whose files have hooks.
const PROJECT_HOOKS: &str = ".github/hooks";

fn user_folder(agent_folders: &AgentFolders<'_>) -> std::path::PathBuf {
    agent_folders.directory("COPILOT_HOME", ".copilot")
}

/// Whether it runs an entry of Claude Code's settings.
pub(super) fn runs_hooks_of_claude(payload: &PayloadView<'_>) -> bool {
    let is_started = payload.variable("COPILOT_CLI").is_some_and(|value| value == "1");
    payload.named == claude::SPEC.name && is_started && !claude::is_own_payload(payload)
}

/// Only the generated plugins of other agents call with names of their own.
const READABLE_SETTINGS: [&str; 4] = ["claude", "codex", "gemini", "qwen"];

fn evidence(payload: &PayloadView<'_>) -> Evidence {
    let sends_own_names = payload.has("sessionId") && payload.has("toolName");
    if runs_hooks_of_claude(payload) || (sends_own_names && READABLE_SETTINGS.contains(&payload.named)) {
        return Evidence::Certain;
    }
    let sends = payload.has("timestamp") && !payload.has("permission_mode");
    let is_claude_name = payload.is_one_of(CLAUDE_EVENTS) && (payload.named == SPEC.name || sends);
    Evidence::possible_if(payload.is_one_of(EVENTS) || is_claude_name)
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        // Without a terminal it denies by itself.
        (EffectKind::Allow | EffectKind::Ask, EventKind::BeforeTool) | (EffectKind::Prompt, _) => Handling::Honoured,
        (EffectKind::Stop, EventKind::AfterTool) => Handling::ReplacesResult,
        // What it asks about has another form than the call, and cannot be changed.
        (EffectKind::ToolInput, EventKind::PermissionRequest) => Handling::Denied,
        _ => usual_handling(event, effect),
    }
}

fn switched_off(file: &AgentFile, _: &std::path::Path) -> Option<&'static str> {
    file.says("/disableAllHooks", true).then_some("disableAllHooks")
}

fn folder_trust(scene: &DoctorScene<'_>) -> Vec<DoctorCheck> {
    let folder = scene.project.join(".github");
    if !scene.files.iter().any(|file| file.path.starts_with(&folder) && !file.calls.is_empty()) {
        return Vec::new();
    }
    let text = "Copilot CLI runs hooks of a project only in a trusted folder";
    vec![DoctorCheck::warning("folder-trust", text, "start it with `--trust-folder`, or install for the user")]
}

fn hooks_of_claude(scene: &DoctorScene<'_>) -> Vec<DoctorCheck> {
    if !scene.files.iter().any(|file| !file.calls.is_empty()) {
        return Vec::new();
    }
    let files = (scene.files_of)(claude::SPEC.name);
    let shared = files.iter().find(|file| file.path.starts_with(scene.project) && !file.calls.is_empty());
    let check = |shared: &AgentFile| {
        let text = format!(
            "in a trusted folder Copilot CLI also runs `{}`, which calls hookrail too: every hook runs twice",
            shared.path.display()
        );
        DoctorCheck::warning("other-agents", text, "install one of the two for the user instead of the project")
    };
    shared.map(check).into_iter().collect()
}

/// Its own form, for its events in camel case.
#[derive(Debug)]
struct CopilotForm;

impl AnswerForm for CopilotForm {
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        Answer::of_document(&members(event, content))
    }

    /// Status 2 loses the text, and blocks no prompt.
    fn denial_document(&self, kind: EventKind, reason: &str) -> Option<Json> {
        Some(denial(kind, reason).to_json())
    }
}

/// The form under Claude Code's names of events. It reads its own members too, and for prompts nothing else.
#[derive(Debug)]
struct FormUnderClaudeNames;

impl AnswerForm for FormUnderClaudeNames {
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        let claude = claude_members(event, content);
        let own = match event.kind {
            // Claude Code's form of a question is not known to be honoured, and its own is.
            EventKind::BeforeTool => {
                let (decision, reason) = permission(content);
                Members::new().text("permissionDecision", decision).text("permissionDecisionReason", reason).0
            }
            EventKind::Prompt | EventKind::AgentEnd => return Answer::of_document(&members(event, content)),
            _ => members(event, content),
        };
        let mut both = own;
        both.merge(&claude);
        Answer::of_document(&both)
    }

    fn denial_document(&self, kind: EventKind, reason: &str) -> Option<Json> {
        Some(denial(kind, reason).to_json())
    }

    fn fit_output(&self, event: &AnsweredEvent<'_>, text: &str) -> OutputFit {
        if claude_output(event, text).is_some() { OutputFit::AsHandled } else { OutputFit::ContextToo }
    }

    fn stop_text(&self) -> StopText {
        StopText::AsResultAndContext
    }
}

fn denial(kind: EventKind, reason: &str) -> JsonObject {
    let members = Members::new();
    match kind {
        EventKind::Prompt | EventKind::AgentEnd => members.text("decision", Some("block")).text("reason", Some(reason)),
        EventKind::PermissionRequest => members.text("behavior", Some("deny")).text("message", Some(reason)),
        _ => members.text("permissionDecision", Some("deny")).text("permissionDecisionReason", Some(reason)),
    }
    .0
}

fn members(event: &AnsweredEvent<'_>, content: &AnswerContent) -> JsonObject {
    if let Some(reason) = &content.deny {
        return denial(event.kind, reason);
    }
    let context = content.context_text();
    let members = Members::new();
    match event.kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(content);
            let members = members.text("permissionDecision", decision).text("permissionDecisionReason", reason);
            members.value("modifiedArgs", content.input.clone()).0
        }
        EventKind::PermissionRequest => members.text("behavior", content.allow.then_some("allow")).0,
        EventKind::AfterTool => {
            let result = content.output.as_deref().map(|text| {
                let result = Members::new().text("resultType", Some(&result_type(event)));
                result.text("textResultForLlm", Some(given_text(text))).0.to_json()
            });
            members.text("additionalContext", context.as_deref()).value("modifiedResult", result).0
        }
        EventKind::Prompt => members.text("modifiedPrompt", modified_prompt(event, content).as_deref()).0,
        EventKind::SessionStart => members.text("additionalContext", context.as_deref()).0,
        _ => members.0,
    }
}

/// The prompt is the only way in for context.
fn modified_prompt(event: &AnsweredEvent<'_>, content: &AnswerContent) -> Option<String> {
    let prompt = content.prompt.as_deref().or(event.prompt).unwrap_or_default();
    let added: Vec<&str> = content.context.iter().map(String::as_str).filter(|text| !prompt.contains(text)).collect();
    match (added.is_empty(), &content.prompt) {
        (true, None) => None,
        (true, Some(prompt)) => Some(prompt.clone()),
        (false, _) => Some(format!("{prompt}\n\n{}", added.join("\n"))),
    }
}

/// How the tool ended. A replaced text does not change that.
fn result_type(event: &AnsweredEvent<'_>) -> String {
    let result = event.tool_result.and_then(Json::as_object);
    let named = result.and_then(|result| result.get("resultType").or_else(|| result.get("result_type"))?.as_str());
    // The event of a tool that failed has an error in the place of a result.
    named.unwrap_or_else(|| if event.tool_result.is_some() { "success" } else { "failure" }.to_owned())
}
