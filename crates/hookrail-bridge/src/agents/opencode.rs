//! OpenCode, through a generated plugin.

use hookrail::EventKind;
use hookrail::tools::ToolColumn;
use serde_json::json;

use super::tool_words::{CAMEL_PATH, COMMAND, PATTERN, PROMPT, URL, same, tool};
use crate::effect::{EffectKind, Handling};
use crate::forms::PluginForm;
use crate::settings::{MissingProgram, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::{
    AgentEvent, AgentSpec, DoctorSpec, Evidence, InstallSpec, PayloadMembers, PayloadView, Questions, SamplePayload,
    any_rewrite_fits, as_written, grouped_entry, payload_names_event, usual_handling,
};

pub(super) static SPEC: AgentSpec = AgentSpec {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    tested_version: "1.18.33",
    tool_variables: &["OPENCODE"],
    project_variables: &["HOOKRAIL_BRIDGE_PROJECT_DIR"],
    events: EVENTS,
    other_events: &[],
    evidence,
    event_namer: payload_names_event,
    members: PayloadMembers::USUAL,
    machine_made_prompts: &[],
    tools: &TOOLS,
    other_tools: &[],
    mcp_separator: Some("_"),
    handling,
    questions: Questions::AsHandled,
    rewrite_fit: any_rewrite_fits,
    install: InstallSpec {
        place: |scope, agent_folders| match scope {
            Scope::User => {
                Some(agent_folders.directory("XDG_CONFIG_HOME", ".config").join("opencode/plugin/hookrail.js"))
            }
            Scope::Project => Some(agent_folders.project.join(".opencode/plugin/hookrail.js")),
            Scope::System => None,
        },
        hook_files: |_| Vec::new(),
        other_files: |_| Vec::new(),
        borrowed_files: |_| Vec::new(),
        files_above: |_, _| Vec::new(),
        syntax: SettingsSyntax::LenientJson,
        layout: |_| SettingsLayout::Plugin(include_str!("../../assets/opencode.js")),
        entry: grouped_entry,
        document: as_written,
        missing_program: |_| MissingProgram::Denies,
        // The plugin waits until the bridge ends.
        wait: |_| None,
        project_advice: None,
        trust: None,
        folder_trust: None,
    },
    doctor: DoctorSpec::NOTHING,
    sample: |file| {
        let members = json!({ "hook_event_name": "tool.execute.before", "tool": "read", "args": { "filePath": file } });
        SamplePayload { event: "tool.execute.before", members }
    },
};

static EVENTS: &[AgentEvent] = &[
    AgentEvent::new("session.created", EventKind::SessionStart, &PluginForm),
    AgentEvent::new("chat.message", EventKind::Prompt, &PluginForm),
    AgentEvent::new("tool.execute.before", EventKind::BeforeTool, &PluginForm),
    AgentEvent::new("tool.execute.after", EventKind::AfterTool, &PluginForm),
    AgentEvent::new("session.idle", EventKind::AgentEnd, &PluginForm),
    AgentEvent::new("experimental.session.compacting", EventKind::BeforeCompact, &PluginForm),
];

static TOOLS: ToolColumn = ToolColumn {
    whose: "OpenCode",
    tools: &[
        tool("write_file", "write", &[CAMEL_PATH]),
        tool("replace", "edit", &[CAMEL_PATH, ("old_string", &["oldString"]), ("new_string", &["newString"])]),
        tool("replace", "multiedit", &[CAMEL_PATH]),
        tool("read_file", "read", &[CAMEL_PATH]),
        tool("run_shell_command", "bash", &[COMMAND]),
        tool("list_directory", "list", &[("directory", &["path"])]),
        same("glob", &[PATTERN]),
        tool("search_file_content", "grep", &[PATTERN]),
        tool("web_fetch", "webfetch", &[URL]),
        same("task", &[PROMPT]),
        tool("todo_write", "todowrite", &[]),
        same("apply_patch", &[("patch", &["patchText"])]),
        tool("apply_patch", "patch", &[("patch", &["patchText"])]),
        same("batch", &[("calls", &["tool_calls"]), ("call_name", &["tool"]), ("call_input", &["parameters"])]),
    ],
    others: &["todoread", "skill"],
};

/// Only the generated plugin calls with these names.
fn evidence(payload: &PayloadView<'_>) -> Evidence {
    match (payload.is_one_of(EVENTS), payload.named == SPEC.name) {
        (true, true) => Evidence::Certain,
        (true, false) => Evidence::Possible,
        (false, _) => Evidence::No,
    }
}

fn handling(event: EventKind, effect: EffectKind) -> Handling {
    match (effect, event) {
        // A plugin only hears of the end.
        (EffectKind::Deny | EffectKind::Ask, EventKind::AgentEnd) => Handling::Dropped,
        (EffectKind::Prompt, _) => Handling::Honoured,
        (EffectKind::Context, EventKind::SessionStart) => Handling::KeptForLater,
        _ => usual_handling(event, effect),
    }
}
