//! Takes out what was installed, and finds what still calls hookrail.

use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    FileAuthor, Scope, SettingsSyntax, call_places, own_file_author, read_agent_file, read_settings, remove_entries,
    take_back,
};
use serde_json::Value;

use super::change::{Backup, SettingsChange, apply_removal};
use super::note::{InstallNote, InstalledFile};
use super::summary::{ChangeSummary, Direction};
use super::{Position, home_folder, no_home, read_in_scope, unrecorded, unusable_note, write};
use crate::failure::{Failure, Result};
use crate::folders::state_folder;
use crate::project::search::find_project;

/// A removal that is planned.
pub struct Removal {
    pub summary: ChangeSummary,
    /// The files that change.
    pub changes: Vec<SettingsChange>,
    /// What calls hookrail afterwards.
    pub left: Vec<RemainingCall>,
    agent: Agent,
    mine: Vec<InstalledFile>,
    others: Vec<InstalledFile>,
    state: PathBuf,
}

impl Removal {
    /// Plans a removal from the files of one scope, or of all, and writes nothing.
    ///
    /// # Errors
    ///
    /// A settings file must not or cannot be changed.
    pub fn plan(agent: Agent, scope: Option<Scope>) -> Result<Self> {
        let state = state_folder().ok_or_else(no_home)?;
        let note = InstallNote::load(&state).map_err(|error| unusable_note(&error))?;
        let is_meant =
            |file: &InstalledFile| file.agent == agent.name() && scope.is_none_or(|scope| file.scope == scope.name());
        let (mut mine, others): (Vec<_>, Vec<_>) = note.files.into_iter().partition(is_meant);
        if mine.is_empty() {
            mine = unrecorded::files(agent, &home_folder()?)?;
            mine.retain(is_meant);
        }
        let mut changes = Vec::new();
        for file in &mine {
            let scope = if file.scope == Scope::Project.name() { Scope::Project } else { Scope::User };
            let before = read_in_scope(agent, scope, &file.path)?;
            let Some(text) = &before else { continue };
            let after = if file.own {
                without_own_file(agent, file, text)?
            } else {
                Some(remove_insertions(agent, file, text)?)
            };
            // A file that the installation created and that holds nothing else goes with it.
            let after = after.filter(|text| file.existed || !text.trim().is_empty());
            let (path, insertions, original, folders) = (file.path.clone(), Vec::new(), None, Vec::new());
            let (own, backup) = (file.own, Backup::NotNeeded);
            changes.push(SettingsChange { path, before, after, insertions, own, original, folders, backup });
        }
        let left = remaining_calls(agent, scope, &mine, &changes)?;
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let home = home_folder()?;
        let summary =
            ChangeSummary::new(agent, Direction::Uninstall, &changes, &home, &find_project(&here, Some(&home)));
        changes.retain(SettingsChange::is_needed);
        Ok(Self { summary, changes, left, agent, mine, others, state })
    }

    /// Whether the agent calls hookrail in any way.
    pub fn is_installed(&self) -> bool {
        !self.mine.is_empty() || !self.left.is_empty()
    }

    /// Writes the files and forgets the installation.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(self) -> Result<Position> {
        for change in &self.changes {
            apply_removal(change)?;
        }
        write::remove_empty_folders(self.mine.iter().flat_map(|file| &file.folders));
        let note = InstallNote { files: self.others };
        note.save(&self.state).map_err(|error| unusable_note(&error))?;
        let is_moved = self.changes.iter().any(|change| has_hooks(self.agent, change));
        Ok(if is_moved { Position::moved(self.agent) } else { Position::Kept })
    }
}

/// Whether hooks are left in a file. In one that cannot be read there may be some.
fn has_hooks(agent: Agent, change: &SettingsChange) -> bool {
    let Some(text) = &change.after else { return false };
    let Ok(document) = read_agent_file(agent, &change.path, text) else { return true };
    let events = document.get("hooks").and_then(Value::as_object);
    events
        .into_iter()
        .flat_map(|events| events.values())
        .any(|groups| groups.as_array().is_some_and(|list| !list.is_empty()))
}

/// A place that calls hookrail after the uninstallation: something that hookrail did not write, or that it cannot read.
pub struct RemainingCall {
    pub path: PathBuf,
    pub line: usize,
    pub what: String,
}

/// What still calls hookrail in the files that were changed and in the others that installations write here.
fn remaining_calls(
    agent: Agent,
    scope: Option<Scope>,
    mine: &[InstalledFile],
    changes: &[SettingsChange],
) -> Result<Vec<RemainingCall>> {
    let mut paths: Vec<PathBuf> = mine.iter().map(|file| file.path.clone()).collect();
    let mut places = unrecorded::places(agent, &home_folder()?)?;
    places.retain(|(place, _)| scope.is_none_or(|scope| scope == *place));
    paths.extend(places.into_iter().map(|(_, file)| file.path().to_owned()));
    let mut left = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        if paths.iter().take(index).any(|known| known == path) {
            continue;
        }
        let text = match changes.iter().find(|change| change.path == *path) {
            Some(change) => change.after.clone(),
            None => std::fs::read_to_string(path).ok(),
        };
        let Some(text) = text.filter(|text| text.contains("hookrail") || text.contains(" bridge ")) else { continue };
        left.extend(calls_in(agent, path, &text));
    }
    Ok(left)
}

fn calls_in(agent: Agent, path: &Path, text: &str) -> Vec<RemainingCall> {
    let remaining = |line, what: String| RemainingCall { path: path.to_owned(), line, what };
    if agent.plugin_template().is_some() {
        let starts_bridge =
            |(_, line): &(usize, &str)| line.contains("\"bridge\"") || line.contains("hookrail bridge ");
        let call = text.lines().enumerate().find(starts_bridge);
        return call.into_iter().map(|(index, line)| remaining(index + 1, line.trim().to_owned())).collect();
    }
    match path.extension().is_some_and(|extension| extension == "json").then(|| call_places(text)) {
        Some(Ok(places)) => places.into_iter().map(|place| remaining(place.line, place.command)).collect(),
        // A file that cannot be read does not prove that it has no entries.
        Some(Err(error)) if text.contains(" bridge ") => vec![remaining(1, format!("cannot be read: {error}"))],
        Some(Err(_)) | None => Vec::new(),
    }
}

/// What remains of a file of hookrail's own: what the user had in its place, or what the user added to it since.
fn without_own_file(agent: Agent, file: &InstalledFile, text: &str) -> Result<Option<String>> {
    if own_file_author(agent, &file.path, text) == FileAuthor::Hookrail {
        return Ok(file.original.clone());
    }
    let is_json = file.path.extension().is_some_and(|extension| extension == "json");
    let settings = if is_json { read_settings(text, SettingsSyntax::LenientJson).ok() } else { None };
    let Some(settings) = settings else { return Ok(Some(text.to_owned())) };
    let insertions = unrecorded::insertions(agent, &settings);
    remove_entries(agent, text, &insertions).map(Some).map_err(|error| {
        Failure::new(format!("`{}` cannot be edited: {error}", file.path.display())).hint("repair it, then try again")
    })
}

fn remove_insertions(agent: Agent, file: &InstalledFile, text: &str) -> Result<String> {
    let is_json = file.path.extension().is_some_and(|extension| extension == "json");
    if !is_json {
        // The insertions are removed one by one, because the agent may have changed the text of one since. That one is
        // left to the agent.
        let pieces = file.insertions.iter().rev();
        return Ok(
            pieces.fold(text.to_owned(), |text, piece| take_back(&text, std::slice::from_ref(piece)).unwrap_or(text))
        );
    }
    remove_entries(agent, text, &file.insertions).map_err(|error| {
        Failure::new(format!("`{}` cannot be edited: {error}", file.path.display())).hint("repair it, then try again")
    })
}
