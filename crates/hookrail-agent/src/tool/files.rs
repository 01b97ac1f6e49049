//! Reading and writing files.

use std::fmt::Write as _;

use hookrail::Json;
use hookrail::guard::{ToolFailure, ToolOutput};

use super::content;
use super::place::{Workspace, failed};
use super::schema::Arguments;

type Done = Result<ToolOutput, ToolFailure>;

pub(super) fn read(place: &Workspace, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.existing(&named)?;
    let first = arguments.number("offset").unwrap_or(1);
    let wanted = arguments.number("limit").unwrap_or(u64::MAX);
    let part = content::read_lines(&path, first, wanted).map_err(|error| failed(&named, &error))?;
    let mut out = part.text;
    if let Some(cut) = part.cut {
        let _ = write!(out, "\n{cut}");
    }
    let display = format!("read {} ({} bytes)", place.shown(&path), out.len());
    Ok(ToolOutput::new(Json::string(&out), Json::string(&display)))
}

pub(super) fn write(place: &Workspace, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.writable(&named)?;
    let text = arguments.text("content");
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(&named, &error))?;
    }
    content::write_all(&path, &text).map_err(|error| failed(&named, &error))?;
    Ok(ToolOutput::text(&format!("wrote {} ({} bytes)", place.shown(&path), text.len())))
}

pub(super) fn replace(place: &Workspace, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.writable(&named)?;
    let old = arguments.text("old_string");
    if old.is_empty() {
        return Err(ToolFailure("`old_string` must not be empty".to_owned()));
    }
    let text = content::read_all(&path).map_err(|error| failed(&named, &error))?;
    let count = text.matches(&old).count();
    match count {
        0 => return Err(ToolFailure(format!("`{named}` does not contain the old text"))),
        1 => {}
        _ if arguments.flag("all") => {}
        _ => return Err(ToolFailure(format!("`{named}` contains the old text {count} times; give more of it"))),
    }
    let changed = text.replace(&old, &arguments.text("new_string"));
    content::write_all(&path, &changed).map_err(|error| failed(&named, &error))?;
    Ok(ToolOutput::text(&format!("replaced {count} in {}", place.shown(&path))))
}

pub(super) fn list(place: &Workspace, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.existing(&named)?;
    let entries = std::fs::read_dir(&path).map_err(|error| failed(&named, &error))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| {
            let end = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            format!("{}{end}", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    Ok(ToolOutput::text(&if names.is_empty() { "(empty)".to_owned() } else { names.join("\n") }))
}
