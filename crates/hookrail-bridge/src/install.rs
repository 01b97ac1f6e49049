//! What has to be written so that an agent calls the bridge, and how to take it back.
//!
//! Nothing here touches a file: a function gets the text that a settings file has and returns the text it should have. The
//! command line shows the difference, writes it and records it.

mod codex_trust;
mod edit;
mod entries;
mod places;

pub use codex_trust::{CodexTrust, codex_trust};
pub use edit::{EditError, Insertion, insert_entries, remove_entries};
pub use entries::{InstallOptions, SettingsEntry, SettingsFile, SettingsSyntax, settings_files};
pub use places::{Locations, Scope, UnsupportedScope};

/// Whether a command of a settings file calls the bridge.
#[must_use]
pub fn calls_bridge(command: &str) -> bool {
    // The program may be quoted, and its path may hold blanks: what counts is where the path ends and what follows.
    let Some((program, arguments)) = command.split_once(" bridge ") else { return false };
    let program = program.trim().trim_matches(['"', '\'']);
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_one_word = !name.contains(char::is_whitespace);
    is_one_word && name.trim_end_matches(".exe") == "hookrail" && !arguments.trim().is_empty()
}
