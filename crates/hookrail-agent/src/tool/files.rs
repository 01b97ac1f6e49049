//! Reading and writing files.

use std::fmt::Write as _;

use hookrail::Json;
use hookrail::guard::{ToolFailure, ToolOutput};

use super::place::{Place, failed};
use super::schema::Arguments;

/// How much of a file is read at most.
const MOST: usize = 1 << 20;

type Done = Result<ToolOutput, ToolFailure>;

pub(super) fn read(place: &Place, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.existing(&named)?;
    if !path.is_file() {
        return Err(ToolFailure(format!("`{named}` is not a file")));
    }
    let bytes = std::fs::read(&path).map_err(|error| failed(&named, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    let first = arguments.number("offset").unwrap_or(1).max(1);
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let wanted = arguments.number("limit").map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut out = String::new();
    let mut cut = false;
    for line in text.split_inclusive('\n').skip(skipped).take(wanted) {
        if out.len() + line.len() > MOST {
            cut = true;
            break;
        }
        out.push_str(line);
    }
    if cut {
        let _ = write!(out, "\n[cut: the file has {} bytes; read the rest with offset]", bytes.len());
    }
    let display = format!("read {} ({} bytes)", place.shown(&path), out.len());
    Ok(ToolOutput::new(Json::string(&out), Json::string(&display)))
}

pub(super) fn write(place: &Place, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.writable(&named)?;
    let content = arguments.text("content");
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(&named, &error))?;
    }
    std::fs::write(&path, &content).map_err(|error| failed(&named, &error))?;
    Ok(ToolOutput::text(&format!("wrote {} ({} bytes)", place.shown(&path), content.len())))
}

pub(super) fn replace(place: &Place, arguments: &Arguments) -> Done {
    let named = arguments.text("path");
    let path = place.writable(&named)?;
    let old = arguments.text("old_string");
    if old.is_empty() {
        return Err(ToolFailure("`old_string` must not be empty".to_owned()));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&named, &error))?;
    let count = text.matches(&old).count();
    match count {
        0 => return Err(ToolFailure(format!("`{named}` does not contain the old text"))),
        1 => {}
        _ if arguments.flag("all") => {}
        _ => return Err(ToolFailure(format!("`{named}` contains the old text {count} times; give more of it"))),
    }
    std::fs::write(&path, text.replace(&old, &arguments.text("new_string"))).map_err(|error| failed(&named, &error))?;
    Ok(ToolOutput::text(&format!("replaced {count} in {}", place.shown(&path))))
}

pub(super) fn list(place: &Place, arguments: &Arguments) -> Done {
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
