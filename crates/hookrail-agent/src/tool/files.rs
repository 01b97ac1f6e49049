//! The tools that read, write and list files. `workspace` checks their paths, and `content` reads and writes the bytes.

use std::fmt::Write as _;

use hookrail::Json;
use hookrail::guard::{ToolFailure, ToolOutput};

use super::schema::Arguments;
use super::workspace::{Workspace, path_failure};
use super::{ToolResult, content};

pub(super) fn read(workspace: &Workspace, arguments: &Arguments) -> ToolResult {
    let given_path = arguments.text("path");
    let path = workspace.existing(&given_path)?;
    let first = arguments.number("offset").unwrap_or(1);
    let most_lines = arguments.number("limit").unwrap_or(u64::MAX);
    let part = content::read_lines(&path, first, most_lines).map_err(|error| path_failure(&given_path, &error))?;
    let mut out = part.text;
    if let Some(note) = part.cut_note {
        let _ = write!(out, "\n{note}");
    }
    let display = format!("read {} ({} bytes)", workspace.display_path(&path), out.len());
    Ok(ToolOutput::new(Json::string(&out), Json::string(&display)))
}

pub(super) fn write(workspace: &Workspace, arguments: &Arguments) -> ToolResult {
    let given_path = arguments.text("path");
    let path = workspace.writable(&given_path)?;
    let text = arguments.text("content");
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| path_failure(&given_path, &error))?;
    }
    content::write_all(&path, &text).map_err(|error| path_failure(&given_path, &error))?;
    Ok(ToolOutput::text(&format!("wrote {} ({} bytes)", workspace.display_path(&path), text.len())))
}

pub(super) fn replace(workspace: &Workspace, arguments: &Arguments) -> ToolResult {
    let given_path = arguments.text("path");
    let path = workspace.writable(&given_path)?;
    let old = arguments.text("old_string");
    if old.is_empty() {
        return Err(ToolFailure("`old_string` must not be empty".to_owned()));
    }
    let text = content::read_all(&path).map_err(|error| path_failure(&given_path, &error))?;
    let count = text.matches(&old).count();
    match count {
        0 => return Err(ToolFailure(format!("`{given_path}` does not contain the old text"))),
        1 => {}
        _ if arguments.flag("all") => {}
        _ => return Err(ToolFailure(format!("`{given_path}` contains the old text {count} times; give more of it"))),
    }
    let changed = text.replace(&old, &arguments.text("new_string"));
    content::write_all(&path, &changed).map_err(|error| path_failure(&given_path, &error))?;
    Ok(ToolOutput::text(&format!("replaced {count} in {}", workspace.display_path(&path))))
}

pub(super) fn list(workspace: &Workspace, arguments: &Arguments) -> ToolResult {
    let given_path = arguments.text("path");
    let path = workspace.existing(&given_path)?;
    let entries = std::fs::read_dir(&path).map_err(|error| path_failure(&given_path, &error))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| {
            let suffix = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            format!("{}{suffix}", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    Ok(ToolOutput::text(&if names.is_empty() { "(empty)".to_owned() } else { names.join("\n") }))
}
