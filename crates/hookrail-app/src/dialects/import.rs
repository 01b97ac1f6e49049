//! `hookrail import`: the entries of an agent's settings as entries of LLxprt settings, with what each would mean otherwise. For
//! those who want to leave a format behind; to run hooks as they are, their dialect is switched on.

mod convert;
mod words;

use std::path::{Path, PathBuf};

use hookrail::sources::Location;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{HookGroup, Scope};
use serde_json::{Value, json};

use crate::agent_entries;
use crate::author::settings::{MergedSettings, merge_text};
use crate::failure::{Failure, Result};
use crate::folders::{home, refuse_links};
use crate::temporary_file::write_atomically;

/// What became of the entries of an agent.
#[derive(Debug)]
pub struct Import {
    pub agent: Agent,
    project: PathBuf,
    pub entries: Vec<ImportedEntry>,
    /// A file that the agent cannot read, and why: it runs none of its hooks.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// One entry, and what it becomes.
#[derive(Debug)]
pub struct ImportedEntry {
    /// The agent's event.
    pub event: String,
    pub location: Location,
    /// The entry as it is written.
    pub entry: Value,
    /// What it becomes; none if there is nothing that does the same.
    pub target: Option<ImportTarget>,
    pub changes: Vec<ImportChange>,
}

/// A group of hooks in a settings file of LLxprt.
#[derive(Debug)]
pub struct ImportTarget {
    pub file: PathBuf,
    pub event: &'static str,
    pub group: Value,
}

/// What is different about an entry afterwards.
#[derive(Debug, PartialEq, Eq)]
pub struct ImportChange {
    pub text: String,
    pub meaning: Meaning,
}

/// What a change does to what the hook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It is written in another way.
    Kept,
    /// The hook does something else, or nothing.
    Lost,
}

impl ImportedEntry {
    /// Whether the hook does something else afterwards.
    pub fn is_lossy(&self) -> bool {
        self.changes.iter().any(|change| change.meaning == Meaning::Lost)
    }
}

impl Import {
    /// Reads the entries of an agent and converts them. Nothing is written.
    pub fn plan(agent: Agent, project: &Path) -> Self {
        let found = agent_entries::of_agent(agent, project);
        let entries = found.entries.into_iter().map(|entry| convert::entry(agent, project, entry)).collect();
        Self { agent, project: project.to_owned(), entries, unreadable: found.unreadable }
    }

    /// Whether an entry does something else afterwards.
    pub fn is_lossy(&self) -> bool {
        self.entries.iter().any(ImportedEntry::is_lossy)
    }

    /// Returns the document for programs.
    pub fn document(&self) -> Value {
        let entries = self.entries.iter().map(|entry| {
            let location = &entry.location;
            let from = json!({
                "file": &*location.file, "line": location.line, "event": entry.event, "entry": entry.entry,
            });
            let to = entry
                .target
                .as_ref()
                .map(|target| json!({ "file": target.file, "event": target.event, "entry": target.group }));
            let changes: Vec<&str> = entry.changes.iter().map(|change| change.text.as_str()).collect();
            json!({ "from": from, "to": to, "changes": changes, "lossy": entry.is_lossy() })
        });
        json!({ "entries": entries.collect::<Vec<_>>() })
    }

    /// Writes what the entries become into the settings of their layers, all files or none. Hooks that are there already are not
    /// added again.
    ///
    /// # Errors
    ///
    /// A file cannot be read, changed or written.
    pub fn write(&self) -> Result<Vec<WrittenSettings>> {
        let mut files: Vec<(PathBuf, Vec<HookGroup>)> = Vec::new();
        for target in self.entries.iter().filter_map(|entry| entry.target.as_ref()) {
            let text = serde_json::to_string_pretty(&target.group).unwrap_or_default();
            let group = HookGroup { event: target.event.to_owned(), text };
            match files.iter_mut().find(|(file, _)| *file == target.file) {
                Some((_, groups)) => groups.push(group),
                None => files.push((target.file.clone(), vec![group])),
            }
        }
        let mut planned = Vec::new();
        for (file, groups) in files {
            let shown = file.display().to_string();
            // In the home directory a file of the project is the user's own.
            if home().as_deref() != Some(&*self.project) {
                refuse_links(&self.project, &file)?;
            }
            let existing = match std::fs::read_to_string(&file) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(Failure::new(format!("`{shown}` cannot be read: {error}"))),
            };
            let MergedSettings { text, warning } = merge_text(existing.clone(), &shown, &groups)?;
            planned.push((WrittenSettings { file, warning, changed: existing.as_ref() != Some(&text) }, text));
        }
        let mut written = Vec::new();
        for (settings, text) in planned {
            let file = settings.file.canonicalize().unwrap_or_else(|_| settings.file.clone());
            let write = || {
                file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                write_atomically(&file, &text, None)
            };
            write().map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", file.display())))?;
            written.push(settings);
        }
        Ok(written)
    }
}

/// A settings file that was written.
#[derive(Debug)]
pub struct WrittenSettings {
    pub file: PathBuf,
    /// Why its hooks do not run although they are in the file.
    pub warning: Option<String>,
    /// Whether it is another file than before.
    pub changed: bool,
}

/// The settings file of LLxprt in a layer.
fn target_file(layer: Scope, project: &Path) -> PathBuf {
    match layer {
        Scope::Project => project.join(".llxprt/settings.json"),
        Scope::User => home().unwrap_or_else(|| project.to_owned()).join(".llxprt/settings.json"),
        Scope::System => {
            let named = std::env::var_os("LLXPRT_SYSTEM_SETTINGS_PATH").map(PathBuf::from);
            named.filter(|file| file.is_absolute()).unwrap_or_else(|| "/etc/llxprt-code/settings.json".into())
        }
    }
}
