//! `hookrail import`: the entries of an agent's settings as entries of another format, with what each would mean otherwise. For
//! those who want to leave a format behind; to run hooks as they are, their dialect is switched on.

mod convert;
mod target;
mod words;

use std::path::PathBuf;

use hookrail::hook::Enablement;
use hookrail::sources::{Location, SourceKind};
use hookrail::{DialectId, Hook};
use hookrail_bridge::Agent;
use hookrail_bridge::install::HookGroup;
use serde_json::{Value, json};

use crate::agent_entries;
use crate::author::settings::MergedSettings;
use crate::config::named_root;
use crate::failure::{Failure, Result};
use crate::folders::{home, refuse_links};
use crate::project::Project;
use crate::temporary_file::write_atomically;

pub use target::Format;

/// What became of the entries of an agent.
#[derive(Debug)]
pub struct Import {
    pub agent: Agent,
    project: PathBuf,
    /// What the entries become.
    pub to: &'static Format,
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

/// A group of hooks in a settings file of the other format.
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
    ///
    /// # Errors
    ///
    /// The configuration of the project cannot be read, or it is not known what the entries would be in the other format.
    pub fn plan(agent: Agent, to: DialectId, project: &Project) -> Result<Self> {
        let formats = Format::pair(agent, to)?;
        let mut found = agent_entries::of_agent(agent, project.root());
        if let Some(root) = named_root() {
            let of_machine = agent_entries::of_machine_below(&root, agent, project.root());
            found.entries.extend(of_machine.entries);
            found.unreadable.extend(of_machine.unreadable);
        }
        let converted = found.entries.into_iter().map(|entry| convert::entry(agent, formats, project.root(), entry));
        let entries = converted.chain(installed(agent, project)?).collect();
        Ok(Self { agent, project: project.root().to_owned(), to: formats.1, entries, unreadable: found.unreadable })
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
            let MergedSettings { text, warning } = self.to.merge(existing.clone(), &shown, &groups)?;
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

/// The hooks of what the user has installed for an agent. They are the files of others, which an update replaces, so none of them
/// is converted.
fn installed(agent: Agent, project: &Project) -> Result<Vec<ImportedEntry>> {
    let Some(dialect) = DialectId::from_name(agent.name()) else { return Ok(Vec::new()) };
    let system = project.builder(project.root())?.enable_dialect(dialect).build();
    let is_installed = |hook: &Hook| {
        let is_of_others = matches!(hook.origin.kind, SourceKind::Plugin | SourceKind::Extension);
        hook.dialect == dialect && is_of_others && matches!(hook.enablement, Enablement::Active)
    };
    let snapshot = system.snapshot();
    let entries = snapshot.hooks().iter().filter(|hook| is_installed(hook)).map(|hook| {
        let owner = hook.owner.as_ref().map_or("?", |owner| &owner.id);
        let what = if hook.origin.kind == SourceKind::Plugin { "plugin" } else { "extension" };
        let text = format!(
            "it belongs to the {what} `{owner}`, which its updates replace, and is not converted; `hookrail enable {dialect}` runs it"
        );
        ImportedEntry {
            event: hook.event.spec().column(dialect).map_or(hook.event.name(), |column| column.name).to_owned(),
            location: hook.origin.location.clone(),
            entry: json!({"command": &*hook.label}),
            target: None,
            changes: vec![ImportChange { text, meaning: Meaning::Lost }],
        }
    });
    Ok(entries.collect())
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
