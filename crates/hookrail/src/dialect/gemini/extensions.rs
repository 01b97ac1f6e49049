//! The hooks of extensions: `hooks/hooks.json` beside the manifest of each.

use std::path::Path;
use std::sync::Arc;

use super::Gemini;
use super::launch::with_separator;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::SourceKind;
use crate::config::{Document, Parsed, PlacedValue, SourceId, SourceReader};
use crate::dialect::DialectId;
use crate::dialect::command_hooks::section_hooks;
use crate::dialect::extension_enablement::ExtensionEnablement;
use crate::hook::{Action, Enablement, Hook, Owner};

const MANIFEST: &str = "gemini-extension.json";
const ENABLEMENT_FILE: &str = "extension-enablement.json";

fn place(path: &Path) -> SourceId<'_> {
    SourceId { path, kind: SourceKind::Extension, dialect: Some(DialectId::Gemini) }
}

/// Loads the hooks of every extension in a folder, in the order of the folders' names.
pub(super) fn load_all(
    folder: &Path,
    project: &Path,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
) -> Vec<Hook> {
    let file = folder.join(ENABLEMENT_FILE);
    let rules = reading.read_document(place(&file), found, |document| ExtensionEnablement::read(&document));
    // A file that cannot be used disables none, because an extension may be a guard.
    let rules = rules.into_value().unwrap_or_default();
    let mut hooks = Vec::new();
    for entry in reading.list_folder(place(folder), found) {
        if !entry.is_folder() {
            continue;
        }
        let Some(owner) = owner(&entry.path, reading, found) else { continue };
        let file = entry.path.join("hooks/hooks.json");
        let read = reading.read_document(place(&file), found, |document| read_hooks(&document, &owner));
        let disabled = rules.disables(&owner.id, project);
        for mut hook in read.into_value().unwrap_or_default() {
            if disabled {
                hook.enablement = Enablement::Disabled(format!("`{}`", folder.join(ENABLEMENT_FILE).display()).into());
            }
            hooks.push(hook);
        }
    }
    hooks
}

/// The extension in a folder; none if the folder has no manifest that can be read.
fn owner(folder: &Path, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Option<Arc<Owner>> {
    let manifest = folder.join(MANIFEST);
    let read = reading.read_document(place(&manifest), found, |document| {
        let name = document.root().and_then(|root| root.get("name")).and_then(PlacedValue::text).map(str::to_owned);
        Parsed::usable(name, Vec::new())
    });
    let name = read.into_value()?;
    let id = name.unwrap_or_else(|| folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
    Some(Arc::new(Owner { id, dir: folder.to_owned(), data_dir: None }))
}

fn read_hooks(document: &Document, owner: &Arc<Owner>) -> Parsed<Vec<Hook>> {
    let mut found = Vec::new();
    let Some(root) = document.root() else { return Parsed::usable(Vec::new(), found) };
    let Some(section) = root.get("hooks") else {
        found.push(document.finding(Code::FileShape, &root.span, "`hooks/hooks.json` needs a key `hooks`"));
        return Parsed::usable(Vec::new(), found);
    };
    document.duplicate_keys(section, &mut found);
    let mut hooks = section_hooks::<Gemini>(document, SourceKind::Extension, section, &mut found);
    for hook in &mut hooks {
        hook.owner = Some(Arc::clone(owner));
        // The other variables are valid shell syntax and are passed in the environment.
        if let Action::Shell(line) = &hook.action {
            hook.action = Action::Shell(with_separator(line));
        }
    }
    Parsed::usable(hooks, found)
}
