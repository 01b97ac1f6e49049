//! Makes an agent call the bridge, and takes that back.
//!
//! A change is planned first and written when its user agrees. A settings file that other programs write too only ever gets text
//! inserted; what was inserted is noted, so that an uninstallation leaves every other byte as it is.

mod change;
mod events;
mod note;
mod summary;
mod uninstall;
mod unrecorded;
mod write;

use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    AgentFolders, BridgeOption, EditError, FileAuthor, InstallOptions, Scope, SettingsFile, TrustScene, calls_bridge,
    insert_entries, own_file_author, read_settings, remove_entries, settings_files,
};

use crate::failure::{Failure, Result};
use crate::folders::{home, state_folder};
use crate::project::search::find_project;
pub use change::SettingsChange;
use change::{Backup, apply_all};
use note::{InstallNote, InstalledFile};
use summary::Direction;
pub use summary::{ChangeSummary, EventChange, EventChangeKind, FailureEffect};
pub use uninstall::{RemainingCall, Removal};
use write::SettingsRefusal;

/// What is to be installed.
#[derive(Clone, Debug)]
pub struct InstallRequest {
    pub agent: Agent,
    pub scope: Scope,
    /// How long the agent waits for hooks.
    pub timeout_seconds: u32,
    /// The events that hooks take part in, by hookrail's names or the agent's; if there are none, they are chosen.
    pub events: Vec<String>,
    /// The options of the bridge that are written into the settings.
    pub bridge: Vec<BridgeOption>,
    pub agent_trust: AgentTrust,
    /// The project; without one it is found upwards from the current directory.
    pub project: Option<PathBuf>,
}

/// Whether the agent's own trust in its hooks is written too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentTrust {
    /// The agent reviews them.
    LeftToAgent,
    /// It is recorded, where the agent has a record.
    Recorded,
}

impl InstallRequest {
    fn fires_noisy_events(&self) -> bool {
        self.bridge.contains(&BridgeOption::Noisy)
    }
}

/// An installation that is planned.
pub struct Installation {
    pub summary: ChangeSummary,
    /// The files that change; none if the agent already calls this program in the same way.
    pub changes: Vec<SettingsChange>,
    /// What is left to the user afterwards.
    pub advice: Vec<Advice>,
    /// The project whose hooks were looked at.
    pub project: PathBuf,
    agent: Agent,
    scope: Scope,
    surplus: SurplusEntries,
    state: PathBuf,
    note: InstallNote,
}

/// What is left to the user after an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A hook waits for an event that the agent does not fire.
    EventNotFired { hook: String, event: EventKind },
    /// A hook waits for an event that is fired only with `--noisy`.
    EventFiltered { hook: String, event: EventKind },
    /// The agent itself wants something before it runs a hook, in words of its own.
    OfAgent(&'static str),
}

/// What an installation or its removal did beside what was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// All other hooks are where they were.
    Kept,
    /// Hooks that stood behind those of hookrail have a new position, by which the agent trusts them.
    Moved {
        /// What the agent does then.
        consequence: &'static str,
    },
}

impl Position {
    /// The positions in an agent after some hooks were moved.
    fn moved(agent: Agent) -> Self {
        let trust = agent.spec().install.trust;
        trust.map_or(Self::Kept, |trust| Self::Moved { consequence: trust.moved })
    }
}

impl Installation {
    /// Plans an installation, and writes nothing.
    ///
    /// # Errors
    ///
    /// A settings file must not or cannot be changed, or the request does not fit the agent.
    pub fn plan(request: &InstallRequest) -> Result<Self> {
        let (agent, scope) = (request.agent, request.scope);
        let home = home_folder()?;
        let state = state_folder().ok_or_else(no_home)?;
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let project = request.project.clone().unwrap_or_else(|| find_project(&here, Some(&home)));
        let agent_folders = AgentFolders { home: &home, project: &project, variable: &|name| std::env::var(name).ok() };
        let wanted = events::wanted_by_hooks(&project);
        let registered = match agent_folders.settings_path(agent, scope) {
            Ok(path) => events::registered(agent, &path),
            Err(_) => Vec::new(),
        };
        let events = events::choose(request, &wanted, &registered)?;
        let surplus = registered.iter().any(|kind| *kind != EventKind::SessionStart && !events.contains(kind));
        let surplus = if surplus { SurplusEntries::Removed } else { SurplusEntries::None };
        let (timeout_seconds, bridge) = (request.timeout_seconds, request.bridge.clone());
        let options = InstallOptions { program: program()?, scope, events, timeout_seconds, bridge };
        let note = InstallNote::load(&state).map_err(|error| unusable_note(&error))?;
        let files = settings_files(agent, &options, &agent_folders)
            .map_err(|error| Failure::new(error.to_string()).hint("use `--scope user` or `--scope project`"))?;
        let known = |path: &Path| note.find(agent.name(), path);
        let plan = |file: &SettingsFile| planned(agent, scope, file, known(file.path()), surplus);
        let mut changes = files.iter().map(plan).collect::<Result<Vec<_>>>()?;
        let trust = trust_change(request, &changes, &agent_folders, &known)?;
        changes.extend(trust);
        let summary = ChangeSummary::new(agent, Direction::Install, &changes, &home, &project);
        changes.retain(SettingsChange::is_needed);
        let advice = advice(request, wanted);
        Ok(Self { summary, changes, advice, project, agent, scope, surplus, state, note })
    }

    /// Writes all files, or leaves all as they were.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self) -> Result<Position> {
        let mut note = self.note.clone();
        for change in &self.changes {
            note.put(InstalledFile {
                agent: self.agent.name().to_owned(),
                scope: self.scope.name().to_owned(),
                path: change.path.clone(),
                insertions: change.insertions.clone(),
                existed: change.before.is_some(),
                own: change.own,
                original: change.original.clone(),
                folders: change.folders.clone(),
            });
        }
        // Noted first: an interruption must not leave a change that cannot be taken back.
        note.save(&self.state).map_err(|error| unusable_note(&error))?;
        if let Err(failure) = apply_all(&self.changes) {
            self.note.save(&self.state).map_err(|error| unusable_note(&error))?;
            return Err(failure);
        }
        Ok(match self.surplus {
            SurplusEntries::None => Position::Kept,
            SurplusEntries::Removed => Position::moved(self.agent),
        })
    }
}

/// Returns what is left to do.
fn advice(request: &InstallRequest, wanted: Vec<(EventKind, String)>) -> Vec<Advice> {
    let agent = request.agent;
    let about_event = |(event, hook): (EventKind, String)| {
        if !agent.fires(event) {
            Some(Advice::EventNotFired { hook, event })
        } else if agent.is_filtered(event) && !request.fires_noisy_events() {
            Some(Advice::EventFiltered { hook, event })
        } else {
            None
        }
    };
    let mut advice: Vec<Advice> = wanted.into_iter().filter_map(about_event).collect();
    let install = &agent.spec().install;
    let untrusted = install.trust.filter(|_| request.agent_trust == AgentTrust::LeftToAgent).map(|trust| trust.advice);
    let in_project = install.project_advice.filter(|_| request.scope == Scope::Project);
    advice.extend(untrusted.into_iter().chain(in_project).map(Advice::OfAgent));
    advice
}

/// Whether a file has entries for events that are no longer registered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SurplusEntries {
    /// It has none.
    None,
    /// It has some, and they are taken out.
    Removed,
}

/// Computes the change of one file and writes nothing.
fn planned(
    agent: Agent,
    scope: Scope,
    file: &SettingsFile,
    known: Option<&InstalledFile>,
    surplus: SurplusEntries,
) -> Result<SettingsChange> {
    let path = file.path().to_owned();
    let before = read_in_scope(agent, scope, &path)?;
    let folders = write::missing_parents(&path);
    match file {
        SettingsFile::Own { text, .. } => {
            let (after, insertions) = (Some(text.clone()), Vec::new());
            let foreign = before.clone().filter(|found| own_file_author(agent, &path, found) == FileAuthor::Other);
            let backup = if foreign.is_some() { Backup::Made } else { Backup::NotNeeded };
            // What the user made of a file of an earlier installation is kept as a copy, and is not what was there before.
            let original = foreign.filter(|_| known.is_none());
            Ok(SettingsChange { path, before, after, insertions, own: true, original, folders, backup })
        }
        SettingsFile::Shared { entries, syntax, .. } => {
            let mut text = before.clone().unwrap_or_default();
            let mut recorded = known.map(|known| known.insertions.clone()).unwrap_or_default();
            let refused = |error: EditError| {
                let hint = match error {
                    EditError::ByteOrderMark => "save it as UTF-8 without a byte order mark, then try again",
                    EditError::Syntax { .. } | EditError::Shape { .. } => {
                        "the agent cannot read this file either, and ignores all hooks in it; repair it first"
                    }
                };
                Failure::new(format!("`{}` cannot be edited: {error}", path.display())).hint(hint)
            };
            if surplus == SurplusEntries::Removed {
                // All entries are taken out and the wanted ones added again: what is recorded must describe the file as a
                // whole, so that an uninstallation gives every byte back.
                if recorded.is_empty() {
                    recorded = unrecorded::insertions(agent, &read_settings(&text, *syntax).map_err(refused)?);
                }
                text = remove_entries(agent, &text, &recorded).map_err(refused)?;
                recorded = Vec::new();
            }
            let (after, insertions) = insert_entries(&text, entries, *syntax, &recorded).map_err(refused)?;
            let backup = if known.is_none() { Backup::Made } else { Backup::NotNeeded };
            Ok(SettingsChange {
                path,
                before,
                after: Some(after),
                insertions,
                own: false,
                original: None,
                folders,
                backup,
            })
        }
    }
}

/// Reads a settings file that will be changed, or returns `None` if it does not exist.
fn read_in_scope(agent: Agent, scope: Scope, path: &Path) -> Result<Option<String>> {
    let no_folder = Path::new("");
    let inside =
        AgentFolders { home: no_folder, project: no_folder, variable: &|_| None }.settings_path(agent, scope).ok();
    let read = match inside.filter(|_| scope == Scope::Project) {
        Some(inside) => write::read_in_project(path, &inside),
        None => write::read_settings(path),
    };
    read.map_err(|refusal| refusal_failure(path, &refusal))
}

/// The trust that the agent wants for the changed hooks, if it was asked for.
fn trust_change<'r>(
    request: &InstallRequest,
    changes: &[SettingsChange],
    agent_folders: &AgentFolders<'_>,
    known: &impl Fn(&Path) -> Option<&'r InstalledFile>,
) -> Result<Option<SettingsChange>> {
    let wanted = request.agent.spec().install.trust.filter(|_| request.agent_trust == AgentTrust::Recorded);
    let Some(trust) = wanted else { return Ok(None) };
    let path = (trust.file)(agent_folders);
    let before = write::read_settings(&path).map_err(|refusal| refusal_failure(&path, &refusal))?;
    let known = known(&path);
    let hooks: Vec<(&Path, &str)> =
        changes.iter().map(|change| (change.path.as_path(), change.after.as_deref().unwrap_or_default())).collect();
    let scene = TrustScene {
        text: before.as_deref().unwrap_or_default(),
        hooks: &hooks,
        recorded: known.map(|known| known.insertions.as_slice()).unwrap_or_default(),
        calls_bridge,
    };
    let (after, insertions) = (trust.extend)(&scene)
        .map_err(|error| Failure::new(format!("`{}` cannot be extended: {error}", path.display())).hint(trust.hint))?;
    let folders = write::missing_parents(&path);
    let backup = if known.is_none() { Backup::Made } else { Backup::NotNeeded };
    Ok(Some(SettingsChange {
        path,
        before,
        after: Some(after),
        insertions,
        own: false,
        original: None,
        folders,
        backup,
    }))
}

/// The program that agents call: by its real path, which survives a changed `PATH`.
fn program() -> Result<PathBuf> {
    std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
        Failure::new(format!("the path of this program is not known: {error}")).hint("reinstall hookrail")
    })
}

fn home_folder() -> Result<PathBuf> {
    home().ok_or_else(no_home)
}

fn no_home() -> Failure {
    Failure::new("`HOME` is not set").hint("set `HOME` to your home directory")
}

fn unusable_note(error: &std::io::Error) -> Failure {
    Failure::new(format!("the record of what was installed cannot be used: {error}"))
        .hint("it is `hookrail/bridge/installed.json` in the state directory")
}

fn refusal_failure(path: &Path, refusal: &SettingsRefusal) -> Failure {
    let shown = path.display();
    match refusal {
        SettingsRefusal::Link => Failure::new(format!("`{shown}` is a symbolic link; it is not changed"))
            .hint("edit the file it points to by hand, or replace the link by a file"),
        SettingsRefusal::LinkedFolder(folder) => {
            Failure::new(format!("`{}` is a symbolic link; nothing is written through it", folder.display()))
                .hint("replace the link by a folder, or install for the user: `--scope user`")
        }
        SettingsRefusal::ReadOnly => Failure::new(format!("`{shown}` is read-only; it is not changed"))
            .hint("make it writable with `chmod u+w`, then try again"),
        SettingsRefusal::NotAFile => Failure::new(format!("`{shown}` is not a regular file; it is not changed")),
        SettingsRefusal::Unreadable(error) => Failure::new(format!("`{shown}` cannot be read: {error}")),
    }
}
