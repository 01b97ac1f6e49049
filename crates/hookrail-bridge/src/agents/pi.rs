//! pi, through a generated extension.

use hookrail::EventKind;
use hookrail::tools::ToolColumn;
use serde_json::json;

use super::tool_words::{COMMAND, PATH, PATTERN, tool};
use crate::effect::{EffectKind, Handling};
use crate::forms::PluginForm;
use crate::settings::{MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, SamplePayload,
    any_rewrite_fits, as_written, grouped_entry, payload_names_event, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "pi",
    title: "pi",
    program: "pi",
    tested_version: "0.73.1",
    tool_variables: &["PI_CODING_AGENT"],
    project_variables: &["HOOKRAIL_BRIDGE_PROJECT_DIR"],
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
    questions: Questions::AsHandled,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place: |scope, agent_folders| match scope {
            Scope::User => Some(agent_folders.home.join(".pi/agent/extensions/hookrail.ts")),
            Scope::Project => Some(agent_folders.project.join(".pi/extensions/hookrail.ts")),
            Scope::System => None,
        },
        hook_files: |_| Vec::new(),
        other_files: |_| Vec::new(),
        borrowed_files: |_| Vec::new(),
        files_above: |_, _| Vec::new(),
        syntax: SettingsSyntax::LenientJson,
        layout: |_| SettingsLayout::Plugin(include_str!("../../assets/pi.ts")),
        entry: grouped_entry,
        document: as_written,
        missing_program: |_| MissingProgram::Denies,
        // The extension waits until the bridge ends.
        wait: |_| None,
        project_advice: None,
        trust: None,
        folder_trust: None,
    },
    doctor: DoctorSpec::NOTHING,
    sample: |file| {
        let members = json!({ "hook_event_name": "tool_call", "toolName": "read", "input": { "path": file } });
        SamplePayload { event: "tool_call", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("session_start", EventKind::SessionStart, &PluginForm),
    AgentEvent::new("session_shutdown", EventKind::SessionEnd, &PluginForm),
    AgentEvent::new("before_agent_start", EventKind::Prompt, &PluginForm),
    AgentEvent::new("tool_call", EventKind::BeforeTool, &PluginForm),
    AgentEvent::new("tool_result", EventKind::AfterTool, &PluginForm),
    AgentEvent::new("agent_end", EventKind::AgentEnd, &PluginForm),
    AgentEvent::new("turn_end", EventKind::TurnEnd, &PluginForm),
    AgentEvent::new("session_before_compact", EventKind::BeforeCompact, &PluginForm),
    AgentEvent::new("session_compact", EventKind::AfterCompact, &PluginForm),
];

static TOOLS: ToolColumn = ToolColumn {
    whose: "pi",
    tools: &[
        tool("write_file", "write", &[PATH]),
        tool("replace", "edit", &[PATH, ("old_string", &["oldText"]), ("new_string", &["newText"])]),
        tool("read_file", "read", &[PATH]),
        tool("run_shell_command", "bash", &[COMMAND]),
        tool("list_directory", "ls", &[("directory", &["path"])]),
        tool("glob", "find", &[PATTERN]),
        tool("search_file_content", "grep", &[PATTERN]),
    ],
    others: &[],
};

/// Only the generated extension calls with these names.
fn evidence(payload: &PayloadView<'_>) -> Evidence {
    match (payload.is_one_of(EVENTS), payload.named == SPEC.name) {
        (true, true) => Evidence::Certain,
        (true, false) => Evidence::Possible,
        (false, _) => Evidence::No,
    }
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        // An extension cannot keep a prompt from the model, but the calls that follow from it can be denied.
        (EffectKind::Deny | EffectKind::Ask | EffectKind::LateAnswer, EventKind::Prompt) => Handling::DeniedUntilPrompt,
        (EffectKind::Deny, EventKind::BeforeCompact) => Handling::Honoured,
        (EffectKind::Ask, EventKind::BeforeCompact) => Handling::Denied,
        // It only hears of the end.
        (EffectKind::Deny | EffectKind::Ask, EventKind::AgentEnd) => Handling::Dropped,
        (EffectKind::Context, EventKind::SessionStart) => Handling::KeptForLater,
        _ => usual_handling(event, effect),
    }
}
