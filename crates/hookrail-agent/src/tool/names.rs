//! The names of the tools and their arguments in each dialect, so that unmodified hooks of each dialect run.

/// The name of one tool in one dialect.
#[derive(Debug)]
struct DialectName {
    tool: &'static str,
    dialect: hookrail::DialectId,
    name: &'static str,
    /// Arguments whose names differ: the agent's name, then the dialect's.
    arguments: &'static [(&'static str, &'static str)],
}

use hookrail::DialectId::{Xcode, Xcsh};
use hookrail::{Json, JsonObject};

const fn name(
    tool: &'static str,
    dialect: hookrail::DialectId,
    name: &'static str,
    arguments: &'static [(&'static str, &'static str)],
) -> DialectName {
    DialectName { tool, dialect, name, arguments }
}

/// Every tool that has another name in a dialect. In the settings-file dialect the tools have the agent's names.
static NAMES: &[DialectName] = &[
    name("read_file", Xcode, "readFile", &[("path", "filePath")]),
    name("read_file", Xcsh, "read", &[]),
    name("write_file", Xcode, "writeFile", &[("path", "filePath")]),
    name("write_file", Xcsh, "write", &[]),
    name(
        "replace",
        Xcode,
        "edit",
        &[("path", "filePath"), ("old_string", "oldString"), ("new_string", "newString"), ("all", "replaceAll")],
    ),
    name("replace", Xcsh, "edit", &[("old_string", "oldText"), ("new_string", "newText")]),
    name("list_directory", Xcode, "listDir", &[("path", "dirPath")]),
    name("list_directory", Xcsh, "ls", &[]),
    name("glob", Xcsh, "find", &[]),
    name("search_file_content", Xcode, "grep", &[("include", "glob")]),
    name("search_file_content", Xcsh, "grep", &[("include", "glob")]),
    name("run_shell_command", Xcode, "shell", &[("timeout_ms", "timeout")]),
    name("run_shell_command", Xcsh, "bash", &[("timeout_ms", "timeout")]),
    name("todo_write", Xcode, "todoWrite", &[]),
];

/// Declares the names of the agent's tools in every dialect.
#[must_use = "the builder carries the declarations"]
pub fn declare(builder: hookrail::Builder) -> hookrail::Builder {
    super::TOOLS.iter().fold(builder, |builder, tool| {
        let names = NAMES.iter().filter(|name| name.tool == tool.name);
        let declared = names.fold(hookrail::ToolNames::new(tool.name), |declared, name| {
            declared.in_dialect(name.dialect, name.name, name.arguments.iter().copied())
        });
        builder.tool(declared)
    })
}

/// Returns the name of a tool in a dialect, which is the agent's name if the dialect has no other.
pub(crate) fn name_in_dialect(tool: &str, dialect: hookrail::DialectId) -> &str {
    find_name(tool, dialect).map_or(tool, |name| name.name)
}

/// Renames a tool's arguments to their names in a dialect.
pub(crate) fn arguments_in_dialect(tool: &str, dialect: hookrail::DialectId, arguments: &Json) -> Json {
    let (Some(dialect_name), Some(members)) = (find_name(tool, dialect), arguments.as_object()) else {
        return arguments.clone();
    };
    let renamed = |name: &str| {
        let pair = dialect_name.arguments.iter().find(|(own, _)| *own == name);
        pair.map_or(name, |(_, in_dialect)| *in_dialect).to_owned()
    };
    members.iter().map(|(name, value)| (renamed(name), value.clone())).collect::<JsonObject>().to_json()
}

fn find_name(tool: &str, dialect: hookrail::DialectId) -> Option<&'static DialectName> {
    NAMES.iter().find(|name| name.tool == tool && name.dialect == dialect)
}
