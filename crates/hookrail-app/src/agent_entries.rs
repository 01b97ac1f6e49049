//! The entries of an agent's own settings files as data, with the place of each: what `import` converts, and what is looked at
//! without loading a hook. Nothing in these files is executed.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hookrail::sources::{Document, Location, read_file};
use hookrail_bridge::Agent;
use hookrail_bridge::install::{AgentFolders, FilePlace, Scope, calls_bridge, read_agent_file};
use serde_json::Value;

use crate::folders::home;

/// One entry below an event of an agent's settings file.
#[derive(Clone, Debug)]
pub struct AgentEntry {
    /// The layer of the file.
    pub layer: Scope,
    /// The agent's name of the event.
    pub event: String,
    /// The group without its list of hooks: the matcher, and what else it says.
    pub group: Value,
    /// The hook; a group without an inner list has none.
    pub hook: Option<Value>,
    /// The place of the hook, or of its group.
    pub location: Location,
}

/// The entries of all files of one agent, and the files that the agent cannot read.
#[derive(Debug, Default)]
pub struct AgentEntries {
    pub entries: Vec<AgentEntry>,
    /// A file that the agent could not read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Reads the entries of an agent in its files of the project, of the user and of the machine. Those that call hookrail are not
/// among them.
pub fn of_agent(agent: Agent, project: &Path) -> AgentEntries {
    in_files(agent, files(agent, project))
}

/// Reads the entries of an agent in the files that stand for the machine's below another root.
pub fn of_machine_below(root: &Path, agent: Agent, project: &Path) -> AgentEntries {
    let below = |path: PathBuf| path.strip_prefix("/").map_or_else(|_| path.clone(), |path| root.join(path));
    let places = with_folders(project, |agent_folders| machine_places(agent_folders, agent));
    let places = places.into_iter().map(|place| match place {
        FilePlace::File(path) => FilePlace::File(below(path)),
        FilePlace::JsonFilesIn(folder) => FilePlace::JsonFilesIn(below(folder)),
    });
    let mut files: Vec<PathBuf> = places.flat_map(files_at).collect();
    files.sort();
    files.dedup();
    in_files(agent, files.into_iter().map(|file| (Scope::System, file)))
}

fn in_files(agent: Agent, files: impl IntoIterator<Item = (Scope, PathBuf)>) -> AgentEntries {
    let mut found = AgentEntries::default();
    for (layer, file) in files {
        let Some(text) = read_file(&file).ok().flatten().filter(|text| text.contains("hooks")) else { continue };
        match read_agent_file(agent, &file, &text) {
            Ok(document) => found.entries.extend(entries_in(layer, &file, &text, &document)),
            Err(error) => found.unreadable.push((file, error.to_string())),
        }
    }
    found
}

/// Where the machine's files of all agents are.
const MACHINE: &str = "/etc";

fn with_folders<T>(project: &Path, find: impl FnOnce(&AgentFolders<'_>) -> T) -> T {
    let home = home();
    let variable = |name: &str| std::env::var(name).ok();
    find(&AgentFolders { home: home.as_deref().unwrap_or(project), project, variable: &variable })
}

/// The places of the machine in which an agent has hooks.
fn machine_places(agent_folders: &AgentFolders<'_>, agent: Agent) -> Vec<FilePlace> {
    let written = agent_folders.settings_path(agent, Scope::System).ok();
    let single = written.into_iter().chain(agent_folders.borrowed_files(agent)).map(FilePlace::File);
    let mut places: Vec<FilePlace> = agent_folders.other_files(agent).into_iter().chain(single).collect();
    places.retain(|(FilePlace::File(path) | FilePlace::JsonFilesIn(path))| path.starts_with(MACHINE));
    places
}

/// The files in which an agent has hooks, with their layers, each once.
pub fn files(agent: Agent, project: &Path) -> Vec<(Scope, PathBuf)> {
    let home = home();
    let mut found: Vec<(Scope, PathBuf)> = Vec::new();
    let all = with_folders(project, |agent_folders| {
        let own = agent_folders.hook_files(agent).into_iter().map(FilePlace::File);
        let places = own.chain(agent_folders.other_files(agent)).chain(machine_places(agent_folders, agent));
        places.flat_map(files_at).collect::<Vec<_>>()
    });
    for file in all {
        let layer = if home.as_deref() != Some(project) && file.starts_with(project) {
            Scope::Project
        } else if file.starts_with(MACHINE) {
            Scope::System
        } else {
            Scope::User
        };
        if found.iter().all(|(_, known)| *known != file) {
            found.push((layer, file));
        }
    }
    found
}

/// The other files in which an agent has hooks, or settings that turn them off.
pub fn other_files(agent_folders: &AgentFolders<'_>, agent: Agent) -> Vec<PathBuf> {
    agent_folders.other_files(agent).into_iter().flat_map(files_at).collect()
}

fn files_at(place: FilePlace) -> Vec<PathBuf> {
    match place {
        FilePlace::File(path) => vec![path],
        FilePlace::JsonFilesIn(folder) => json_files(&folder),
    }
}

/// The files of a folder that are named as JSON, in the order of their names.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

fn entries_in(layer: Scope, file: &Path, text: &str, document: &Value) -> Vec<AgentEntry> {
    let is_toml = file.extension().is_some_and(|extension| extension == "toml");
    let placed =
        if is_toml { Document::of_toml(file, text.to_owned()) } else { Document::of_json(file, text.to_owned()) };
    let placed = placed.ok();
    let mut entries = Vec::new();
    for (event, groups) in document.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            let list = group.get("hooks").and_then(Value::as_array);
            let mut outer = group.clone();
            if let (Some(_), Some(members)) = (list, outer.as_object_mut()) {
                members.remove("hooks");
            }
            let mut add = |hook: Option<&Value>, inner: Option<usize>| {
                let place =
                    placed.as_ref().and_then(|placed| Some(placed.location(span_of(placed, event, at, inner)?)));
                let location = place.unwrap_or_else(|| Location::whole_file(file));
                let (group, hook, event) = (outer.clone(), hook.cloned(), event.clone());
                entries.push(AgentEntry { layer, event, group, hook, location });
            };
            match list {
                Some(hooks) => hooks.iter().enumerate().for_each(|(inner, hook)| add(Some(hook), Some(inner))),
                None => add(None, None),
            }
        }
    }
    entries.retain(|entry| {
        let command = entry.hook.as_ref().and_then(|hook| hook.get("command")).and_then(Value::as_str);
        !command.is_some_and(calls_bridge)
    });
    entries
}

/// The place of a group of an event, or of one of its hooks.
fn span_of<'d>(file: &'d Document, event: &str, group: usize, hook: Option<usize>) -> Option<&'d Range<usize>> {
    let group = file.root()?.get("hooks")?.get(event)?.elements()?.get(group)?;
    match hook {
        Some(hook) => Some(&group.get("hooks")?.elements()?.get(hook)?.span),
        None => Some(&group.span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str, text: &str) -> Vec<(String, u32, Option<String>)> {
        let file = Path::new(file);
        let agent = if file.starts_with("/p/.codex") { Agent::codex() } else { Agent::claude() };
        let document = read_agent_file(agent, file, text).unwrap();
        let command = |hook: &Value| hook.get("command").and_then(Value::as_str).map(str::to_owned);
        let entries = entries_in(Scope::Project, file, text, &document).into_iter();
        entries.map(|entry| (entry.event, entry.location.line, entry.hook.as_ref().and_then(command))).collect()
    }

    #[test]
    fn every_entry_has_its_place() {
        let json = "{\"hooks\": {\n\"PreToolUse\": [\n{\"matcher\": \"Bash\", \"hooks\": [\n{\"command\": \"a\"},\n{\"command\": \"b\"}]},\n\
             {\"command\": \"c\"}],\n\"Stop\": [{\"hooks\": [{\"command\": \"hookrail bridge claude\"}]}]}}";
        let expected = [("PreToolUse", 4, Some("a")), ("PreToolUse", 5, Some("b")), ("PreToolUse", 6, None)];
        let expected = expected.map(|(event, line, command)| (event.to_owned(), line, command.map(str::to_owned)));
        assert_eq!(lines("/p/.claude/settings.json", json), expected);
        let toml = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"a\"\n";
        assert_eq!(lines("/p/.codex/config.toml", toml), [("Stop".to_owned(), 2, Some("a".to_owned()))]);
    }
}
