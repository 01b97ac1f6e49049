//! A plugin's manifest: its name, its version, and where its hooks are. Nothing in it is trusted.

use std::path::{Path, PathBuf};

use super::entries::{self, Context};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Location, SourceKind};
use crate::config::{
    Document, Parsed, PlacedKey, PlacedValue, Source, SourceId, SourceReader, Usability, ValueShape, nearest,
};
use crate::dialect::DialectId;
use crate::hook::Hook;

/// Where a manifest may be, the first that exists counts.
const MANIFESTS: [&str; 3] = [".x-code-plugin/plugin.json", ".claude-plugin/plugin.json", "plugin.json"];

/// Where hooks are when the manifest does not say.
const CONVENTION: &str = "hooks/hooks.json";

/// A manifest that can be used.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) description: Option<String>,
    document: Document,
    /// Diagnostics about keys that are probably misspelled.
    pub(super) likely_typos: Vec<Diagnostic>,
}

/// A source of a plugin.
pub(super) fn place(path: &Path, kind: SourceKind) -> SourceId<'_> {
    SourceId { path, kind, dialect: Some(DialectId::Xcode) }
}

/// Reads the manifest of the plugin in a folder.
pub(super) fn read(
    dir: &Path,
    kind: SourceKind,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
) -> Option<Manifest> {
    let missing = |reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>| {
        let problem = without_manifest(dir);
        // What is on the list of installed plugins or in a bundle must be one; a folder of a project may be anything.
        if kind != SourceKind::Project {
            reading.unusable(place(dir, kind), problem.message.clone());
        }
        found.push(problem);
        None
    };
    let Some(file) = reading.first_of(MANIFESTS.iter().map(|name| dir.join(name))) else {
        return missing(reading, found);
    };
    let file = match inside(dir, &file, reading) {
        Ok(file) => file,
        Err(problem) => {
            reading.unusable(place(&file, kind), problem.message.clone());
            found.push(problem.at(Location::whole_file(&file)));
            return None;
        }
    };
    match reading.read_document(place(&file, kind), found, |document| parse(&file, document).into()) {
        Source::InForce(manifest) => Some(manifest),
        Source::Unusable(_) => None,
        Source::Absent => missing(reading, found),
    }
}

fn parse(file: &Path, document: Document) -> Result<Manifest, Diagnostic> {
    let at = |node: &PlacedValue, message: String| document.finding(Code::PluginManifest, &node.span, message);
    let root = document.root().filter(|root| root.members().is_some()).ok_or_else(|| {
        let message = format!("the manifest `{}` must be an object", file.display());
        Diagnostic::new(Code::PluginManifest, message).at(Location::whole_file(file))
    })?;
    let name = match root.get("name") {
        Some(name) => match name.text() {
            Some(text) if is_name(text) => text.to_owned(),
            _ => {
                let message = "`name` must be lower-case letters, digits and dashes, and begin with a letter or digit";
                return Err(at(name, message.to_owned()));
            }
        },
        None => return Err(at(root, "a manifest needs a `name`".to_owned())),
    };
    let version = match root.get("version") {
        Some(version) => match version.text() {
            Some(text) if is_component(text) => text.to_owned(),
            _ => return Err(at(version, "`version` must be text that can name a folder".to_owned())),
        },
        None => "0.0.0".to_owned(),
    };
    if let Some(hooks) =
        root.get("hooks").filter(|hooks| !matches!(hooks.shape, ValueShape::Object(_) | ValueShape::Text(_)))
    {
        return Err(document.mismatch(Code::SettingType, hooks, "`hooks` must be an object or a path"));
    }
    let description = root.get("description").and_then(PlacedValue::text).map(str::to_owned);
    let likely_typos =
        root.members().unwrap_or_default().iter().filter_map(|(key, _)| likely_typo(&document, key)).collect();
    Ok(Manifest { name, version, description, document, likely_typos })
}

impl Manifest {
    /// Reads the hooks. An explicit key, even of nothing, leaves the conventional file alone.
    pub(super) fn hooks(
        &self,
        context: &Context<'_>,
        dir: &Path,
        reading: &mut SourceReader<'_>,
        found: &mut Vec<Diagnostic>,
    ) -> Vec<Hook> {
        let hooks = self.document.root().and_then(|root| root.get("hooks"));
        let (file, named_at) = match hooks.map(|hooks| (&hooks.shape, hooks)) {
            None => {
                let file = dir.join(CONVENTION);
                if !reading.is_there(&file) {
                    return Vec::new();
                }
                let named_at = Location::whole_file(&file);
                (file, named_at)
            }
            Some((ValueShape::Text(path), hooks)) => (dir.join(path), self.document.location(&hooks.span)),
            Some((_, map)) => {
                let (hooks, problems) = entries::read(context, &self.document, map);
                found.extend(problems);
                return hooks;
            }
        };
        let file = match inside(dir, &file, reading) {
            Ok(file) => file,
            Err(problem) => {
                reading.unusable(place(&file, context.kind), problem.message.clone());
                found.push(problem.at(named_at));
                return Vec::new();
            }
        };
        let read = reading.read_document(place(&file, context.kind), found, |document| {
            let (hooks, problems) = entries::read_file(context, &document);
            let is_map = document.root().is_none_or(|root| root.members().is_some());
            let verdict = if is_map { Usability::Usable } else { Usability::Broken };
            Parsed { value: Some(hooks), problems, verdict }
        });
        match read {
            Source::Absent => {
                let message = format!("`{}` cannot be read: it does not exist", file.display());
                found.push(Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(&file)));
                Vec::new()
            }
            read => read.into_value().unwrap_or_default(),
        }
    }
}

/// Other readers have keys of their own, so only one that nearly says `hooks` is reported.
fn likely_typo(document: &Document, key: &PlacedKey) -> Option<Diagnostic> {
    if key.name == "hooks" || nearest(&key.name, ["hooks"]).is_none() {
        return None;
    }
    let message = format!("`{}` is not a key of a manifest that says anything about hooks", key.name);
    Some(document.finding(Code::UnknownKey, &key.span, message).hint("did you mean `hooks`?"))
}

/// A name that can stand in an identity.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && is_component(name)
}

/// Text that can name one folder, on every system.
pub(super) fn is_component(text: &str) -> bool {
    const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = text.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device).is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    !text.is_empty()
        && !text.contains(['/', '\\', ':'])
        && !text.chars().any(char::is_control)
        && !text.ends_with(['.', ' '])
        && !DEVICES.contains(&stem.as_str())
        && !numbered
}

/// The file by its one real name, when that is inside the plugin.
fn inside(dir: &Path, file: &Path, reading: &mut SourceReader<'_>) -> Result<PathBuf, Diagnostic> {
    let real = reading.real_path(file).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", file.display());
        Diagnostic::new(Code::FileUnreadable, message)
    })?;
    let root = reading.real_path(dir).unwrap_or_else(|_| dir.to_owned());
    if !real.starts_with(&root) {
        let message = format!("`{}` is outside of the plugin, so it is not read", file.display());
        let hint = "keep the file in the plugin's own folder, and name it relative to that";
        return Err(Diagnostic::new(Code::PluginPath, message).hint(hint));
    }
    // The name under which the plugin is known is kept, because people look for that one.
    Ok(real.strip_prefix(&root).map_or(real.clone(), |rest| dir.join(rest)))
}

pub(super) fn without_manifest(dir: &Path) -> Diagnostic {
    let foreign = dir.join("gemini-extension.json");
    if foreign.exists() {
        let message = format!("`{}` is a Gemini CLI extension, not a plugin", dir.display());
        let hint = "a plugin has a `plugin.json` with its name";
        return Diagnostic::new(Code::PluginManifest, message).at(Location::whole_file(&foreign)).hint(hint);
    }
    let message = format!("`{}` has no manifest, so it is no plugin", dir.display());
    let hint = format!("write one of {}", MANIFESTS.map(|name| format!("`{name}`")).join(", "));
    Diagnostic::new(Code::PluginManifest, message).at(Location::whole_file(dir)).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_cannot_leave_their_folder() {
        for good in ["a", "ts-lint-gate", "0x"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-a", "A", "a/b", "..", "a_b", "con", "com1"] {
            assert!(!is_name(bad), "{bad}");
        }
        for good in ["1.2.0", "1.0.0-beta+x", "main"] {
            assert!(is_component(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a\\b", "c:d", "a.", "a ", "x\n", "NUL", "nul.txt", "LPT9"] {
            assert!(!is_component(bad), "{bad}");
        }
    }
}
