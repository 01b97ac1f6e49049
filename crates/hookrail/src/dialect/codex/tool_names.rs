//! What Codex CLI tells hooks that its tools are called: a shell, and patches in the place of file tools.

use crate::tools::{ColumnTool, ToolColumn};

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "Codex CLI",
    tools: &[
        ColumnTool::new("run_shell_command", "Bash", &[("command", &["command"])]),
        ColumnTool::new("apply_patch", PATCH, &[("patch", &["command"])]),
    ],
    others: &[],
};

const PATCH: &str = "apply_patch";

/// Further names by which a matcher selects a tool.
pub(super) fn matched_as(tool: &str) -> &'static [&'static str] {
    if tool == PATCH { &["Write", "Edit"] } else { &[] }
}
