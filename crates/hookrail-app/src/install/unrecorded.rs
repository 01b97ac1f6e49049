//! Installations whose record is gone: the state directory was deleted, or the settings came from another machine.

use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    AgentFolders, EditError, FileAuthor, Insertion, InstallOptions, Scope, SettingsFile, SettingsSyntax, bridge_calls,
    own_file_author, read_settings, settings_files,
};

use super::note::InstalledFile;
use super::{program, read_in_scope};
use crate::failure::{Failure, Result};
use crate::project::search::find_project;

/// The files that installations for an agent write here, in any scope.
pub(super) fn places(agent: Agent, home: &Path) -> Result<Vec<(Scope, SettingsFile)>> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let project = find_project(&here, Some(home));
    let agent_folders = AgentFolders { home, project: &project, variable: &|name| std::env::var(name).ok() };
    let mut places = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::System] {
        let (events, bridge) = (Vec::new(), Vec::new());
        let options = InstallOptions { program: program()?, scope, events, timeout_seconds: 0, bridge };
        let files = settings_files(agent, &options, &agent_folders).unwrap_or_default();
        places.extend(files.into_iter().map(|file| (scope, file)));
    }
    Ok(places)
}

/// The files of an agent that call the bridge, as if they had been recorded. What stood in the place of an entry is not
/// known, so that only the entries themselves are taken out.
pub(super) fn files(agent: Agent, home: &Path) -> Result<Vec<InstalledFile>> {
    let mut found = Vec::new();
    for (scope, file) in places(agent, home)? {
        let path = file.path().to_owned();
        // A file that does not mention hookrail needs no change, whatever it is.
        let Some(text) = std::fs::read_to_string(&path).ok().filter(|text| text.contains("hookrail")) else {
            continue;
        };
        read_in_scope(agent, scope, &path)?;
        let (own, insertions) = match &file {
            SettingsFile::Own { .. } if own_file_author(agent, &path, &text) == FileAuthor::Hookrail => {
                (true, Vec::new())
            }
            // Only a file of the user with settings can have entries.
            SettingsFile::Own { .. } if path.extension().is_none_or(|extension| extension != "json") => continue,
            SettingsFile::Own { .. } => match read_settings(&text, SettingsSyntax::LenientJson) {
                Ok(settings) => (false, insertions(agent, &settings)),
                Err(_) => continue,
            },
            SettingsFile::Shared { syntax, .. } => {
                let settings = read_settings(&text, *syntax).map_err(|error| unreadable(&path, &error))?;
                (false, insertions(agent, &settings))
            }
        };
        if own || !insertions.is_empty() {
            let (agent, scope) = (agent.name().to_owned(), scope.name().to_owned());
            let folders = own_folders(&path);
            let existed = !own;
            found.push(InstalledFile { agent, scope, path, insertions, existed, own, original: None, folders });
        }
    }
    Ok(found)
}

/// The folders above a file that belong to hookrail by their name. Whether the others were there before is not known.
fn own_folders(path: &Path) -> Vec<PathBuf> {
    let is_own = |folder: &&Path| folder.ancestors().any(|above| above.ends_with("extensions/hookrail"));
    path.ancestors().skip(1).take_while(is_own).map(Path::to_owned).collect()
}

fn unreadable(path: &Path, error: &EditError) -> Failure {
    Failure::new(format!("`{}` mentions hookrail and cannot be read: {error}", path.display()))
        .hint("repair the file, then try again; nothing was changed")
}

/// What [`remove_entries`](hookrail_bridge::install::remove_entries) needs to find the entries: their commands, and the
/// lists that are empty without them.
pub(super) fn insertions(agent: Agent, settings: &serde_json::Value) -> Vec<Insertion> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let insertion = |text: String| Insertion { offset: usize::MAX, text, replaced: String::new() };
    let calls = bridge_calls(agent, settings);
    let entries = calls.iter().flat_map(|call| [quoted(&call.command), format!("{}: [", quoted(&call.event))]);
    entries.map(insertion).collect()
}
