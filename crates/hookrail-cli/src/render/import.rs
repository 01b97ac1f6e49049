//! What became of the hooks of another agent.

use hookrail_app::dialects::import::{Import, ImportedEntry, Meaning, WrittenSettings};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{counted, one_line, short, visible};
use serde_json::Value;

use crate::render::style::{CAREFUL, GOOD, HEADING, HINT, paint};

/// How much of a command is shown.
const MOST_LETTERS: usize = 70;

/// Every hook, with what it becomes and what changes.
pub(crate) fn entries(import: &Import, places: &PathDisplay) -> String {
    let mut text = String::new();
    for (file, problem) in &import.unreadable {
        let line = format!("{} cannot read {}: {problem}", import.agent.title(), places.path(file));
        text.push_str(&format!("{}: {}\n", paint(CAREFUL, "warning"), visible(&line)));
    }
    for entry in &import.entries {
        text.push_str(&of_entry(entry, places));
    }
    text
}

fn of_entry(entry: &ImportedEntry, places: &PathDisplay) -> String {
    let command = entry.entry.get("command").and_then(Value::as_str).unwrap_or("no command");
    let place = visible(&places.location(&entry.location));
    let shown = short(&one_line(command), MOST_LETTERS);
    let mut text = format!("{} {}: {}\n", paint(HEADING, place), visible(&entry.event), visible(&shown));
    text.push_str(&match &entry.target {
        Some(target) => format!("  becomes {} in {}\n", target.event, places.path(&target.file)),
        None => "  is left out\n".to_owned(),
    });
    for change in &entry.changes {
        let mark = match change.meaning {
            Meaning::Kept => paint(HINT, "same"),
            Meaning::Lost => paint(CAREFUL, "lost"),
        };
        text.push_str(&format!("  {mark}  {}\n", visible(&change.text)));
    }
    text
}

/// What was written.
pub(crate) fn written(import: &Import, written: &[WrittenSettings], places: &PathDisplay) -> String {
    let mut text = String::new();
    for settings in written {
        let verb = if settings.changed { paint(GOOD, "written") } else { paint(GOOD, "unchanged") };
        text.push_str(&format!("{verb}: {}\n", places.path(&settings.file)));
    }
    if !written.is_empty() {
        let title = import.agent.title();
        let dialect = import.to.dialect;
        let enable = if dialect.needs_enabling() { format!("`hookrail enable {dialect}` and ") } else { String::new() };
        text.push_str(&format!(
            "{}: {title} still runs its own entries: remove them, or they run twice where it calls hookrail; hooks of a \
             project run after {enable}`hookrail trust grant`\n",
            paint(HINT, "note")
        ));
    }
    text
}

/// Why nothing was written.
pub(crate) fn not_written(import: &Import, is_refused: bool) -> String {
    let lossy = import.entries.iter().filter(|entry| entry.is_lossy()).count();
    let count = counted(import.entries.len(), "hook");
    let agent = import.agent.name();
    if import.entries.is_empty() {
        return format!("{} has no hooks of its own here\n", import.agent.title());
    }
    if is_refused {
        return format!(
            "{count}, {lossy} of which would do something else: nothing was written; `hookrail enable {agent}` runs them as \
             they are, `--allow-loss` accepts this\n"
        );
    }
    format!("{count}: nothing was written; `--write` writes them\n")
}
