//! Hooks that other agents find in their own settings files and that do not take part here: of a dialect that is not enabled, or
//! of an agent whose format is not known. A user could think that they do, so commands for people say it. Nothing in these files is
//! executed, and a file that cannot be read has no hooks.

use std::path::{Path, PathBuf};

use hookrail::document::diagnostics_document;
use hookrail::sources::{Location, read_file};
use hookrail::{Code, Diagnostic, Json};
use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    AgentFolders, EditError, SettingsSyntax, count_foreign_hooks, read_agent_file, read_settings,
};
use serde_json::Value;

use crate::config::{EnabledDialect, HookrailConfiguration, ProjectFileTrust, switchable_dialects};
use crate::folders::home;
use crate::path_display::PathDisplay;

/// The hooks of one agent in one file.
#[derive(Clone, Debug)]
pub struct ForeignHooks {
    /// The agent's name on the command line; that of an agent without a bridge is written in the same way.
    pub agent: &'static str,
    pub diagnostic: Diagnostic,
}

/// Agents that hookrail does not bridge, with the file in a project that has their hooks.
const WITHOUT_BRIDGE: [(&str, &str, &str); 2] =
    [("cursor", "Cursor", ".cursor/hooks.json"), ("windsurf", "Windsurf", ".windsurf/hooks.json")];

/// Counts the hooks that agents have for themselves in files of a project and of the user. Entries that call hookrail are not
/// among them, and neither are those of an enabled dialect.
pub fn find(root: &Path) -> Vec<ForeignHooks> {
    let home = home();
    let places = PathDisplay::new(root, home.clone());
    let variable = |name: &str| std::env::var(name).ok();
    // Without a home directory only the project is left, whose files are counted once.
    let agent_folders = AgentFolders { home: home.as_deref().unwrap_or(root), project: root, variable: &variable };
    let mut counted: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    let configuration = HookrailConfiguration::load(root, ProjectFileTrust::Untrusted);
    let is_enabled = |enabled: &EnabledDialect, agent: Agent| enabled.name == agent.name();
    let takes_part = |agent: &Agent| configuration.enabled_dialects().iter().any(|enabled| is_enabled(enabled, *agent));
    let switchable = switchable_dialects();
    for agent in Agent::ALL.into_iter().filter(|agent| !takes_part(agent)) {
        for file in agent_folders.hook_files(agent) {
            let format = if switchable.contains(&agent.name()) { HookFormat::Switchable } else { HookFormat::Unknown };
            let owner = Owner { agent: agent.name(), title: agent.title(), format };
            let Some(hooks) = in_file(owner, &file, &places, |text| read_agent_file(agent, &file, text)) else {
                continue;
            };
            // A home directory that is the project has the same file under two names.
            let real = file.canonicalize().unwrap_or(file);
            if !counted.contains(&real) {
                found.push(hooks);
                counted.push(real);
            }
        }
    }
    for (agent, title, name) in WITHOUT_BRIDGE {
        let read = |text: &str| read_settings(text, SettingsSyntax::LenientJson);
        let owner = Owner { agent, title, format: HookFormat::Unknown };
        found.extend(in_file(owner, &root.join(name), &places, read));
    }
    found
}

/// [`find`], as diagnostics.
pub fn diagnostics(root: &Path) -> Vec<Diagnostic> {
    find(root).into_iter().map(|found| found.diagnostic).collect()
}

/// Adds diagnostics to those that a document has.
pub fn added_to(document: &Json, found: &[Diagnostic]) -> Json {
    const KEY: &str = "diagnostics";
    let mut members = document.as_object().unwrap_or_default();
    let listed = |document: &Json| document.as_object().and_then(|document| document.get(KEY).cloned());
    let listed = |document: &Json| listed(document).and_then(|list| list.as_array()).unwrap_or_default();
    let all = [listed(document), listed(&diagnostics_document(found))].concat();
    members.set(KEY, Json::of(&all).unwrap_or_else(|_| Json::null()));
    members.to_json()
}

/// The agent that a file belongs to.
struct Owner {
    agent: &'static str,
    title: &'static str,
    format: HookFormat,
}

/// Whether there is a dialect for the hooks of an agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HookFormat {
    /// There is one, which is not enabled.
    Switchable,
    Unknown,
}

fn in_file(
    owner: Owner,
    file: &Path,
    places: &PathDisplay,
    parse: impl Fn(&str) -> Result<Value, EditError>,
) -> Option<ForeignHooks> {
    let Owner { agent, title, format } = owner;
    let text = read_file(file).ok().flatten().filter(|text| text.contains("hooks"))?;
    let shown = places.path(file);
    let (whose, pronoun) = match count_foreign_hooks(&parse(&text).ok()?) {
        0 => return None,
        1 => (format!("1 hook in {shown} is {title}'s own"), "it"),
        count => (format!("{count} hooks in {shown} are {title}'s own"), "them"),
    };
    let enable = format!("`hookrail enable {agent}` lets {pronoun} take part");
    let (message, hint) = match format {
        HookFormat::Switchable => {
            let convert = format!("`hookrail import --from {agent}` converts {pronoun}");
            (format!("{whose}; {enable}"), format!("run `hookrail enable {agent}`; {convert}"))
        }
        HookFormat::Unknown => {
            let hint = format!(
                "{title} runs its own hooks; hooks for hookrail are in `.llxprt/settings.json`, which `hookrail new` makes"
            );
            (format!("{whose}; hookrail does not run {pronoun}"), hint)
        }
    };
    let keys = ["\"hooks\"", "[[hooks", "[hooks"];
    let key = keys.iter().find_map(|key| Some((text.find(key)?, key.len())));
    let place = match key {
        Some((at, length)) => Location::in_text(file, &text, at..at + length),
        None => Location::whole_file(file),
    };
    Some(ForeignHooks { agent, diagnostic: Diagnostic::new(Code::ForeignHooks, message).at(place).hint(hint) })
}
