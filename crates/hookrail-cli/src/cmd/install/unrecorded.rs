//! Installations whose record is gone: the state directory was deleted, or the settings came from another machine.

use std::path::{Path, PathBuf};

use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    Insertion, InstallOptions, Locations, Scope, SettingsFile, bridge_calls, read_settings, settings_files,
};

use super::record::InstalledFile;
use super::{program, refusal_failure, write};
use crate::errors::Result;
use crate::project_search::find_project;

/// The files of an agent that call the bridge, as if they had been recorded. What stood in the place of an entry is not
/// known, so that only the entries themselves are taken out.
pub(super) fn files(agent: Agent, home: &Path) -> Result<Vec<InstalledFile>> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let project = find_project(&here, Some(home));
    let locations = Locations { home, project: &project, variable: &|name| std::env::var(name).ok() };
    let mut found = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::System] {
        let options = InstallOptions { program: program()?, scope, events: Vec::new(), timeout_seconds: 0 };
        for file in settings_files(agent, &options, &locations).unwrap_or_default() {
            let path = file.path().to_owned();
            let text = write::read_settings(&path).map_err(|refusal| refusal_failure(&path, &refusal))?;
            let Some(text) = text else { continue };
            let (own, insertions) = match &file {
                SettingsFile::Own { .. } => (text.contains("hookrail"), Vec::new()),
                SettingsFile::Shared { syntax, .. } => {
                    (false, read_settings(&text, *syntax).map(|settings| insertions(&settings)).unwrap_or_default())
                }
            };
            if own || !insertions.is_empty() {
                let (agent, scope) = (agent.name().to_owned(), scope.name().to_owned());
                found.push(InstalledFile { agent, scope, path, insertions, existed: !own, own, original: None });
            }
        }
    }
    Ok(found)
}

/// What [`remove_entries`](hookrail_bridge::install::remove_entries) needs to find the entries: their commands, and the
/// lists that are empty without them.
fn insertions(settings: &serde_json::Value) -> Vec<Insertion> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let insertion = |text: String| Insertion { offset: usize::MAX, text, replaced: String::new() };
    let calls = bridge_calls(settings);
    let entries = calls.iter().flat_map(|call| [quoted(&call.command), format!("{}: [", quoted(&call.event))]);
    entries.map(insertion).collect()
}
