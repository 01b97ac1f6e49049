//! A plugin's manifest: its name, its version, and where its hooks are. All of it is data from a stranger.

use std::path::{Path, PathBuf};

use crate::config::{Document, Key, Node, Shape, nearest, read_file};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Location;

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
    /// Keys that were probably meant to be others.
    pub(super) slips: Vec<Diagnostic>,
}

/// Where the hooks of a plugin stand.
pub(super) enum HooksAt<'m> {
    /// In the manifest.
    Inline(&'m Document, &'m Node),
    /// In a file of their own.
    Own(Document),
    Nowhere,
}

/// Reads the manifest of the plugin in a folder.
pub(super) fn read(dir: &Path) -> Result<Manifest, Diagnostic> {
    let Some(file) = MANIFESTS.iter().map(|name| dir.join(name)).find(|file| file.exists() || file.is_symlink()) else {
        return Err(without_manifest(dir));
    };
    let file = inside(dir, &file).map_err(|problem| problem.at(Location::whole_file(&file)))?;
    let document = document(&file)?;
    let at = |node: &Node, message: String| document.finding(Code::PluginManifest, &node.span, message);
    let root = document.root().filter(|root| root.members().is_some()).ok_or_else(|| {
        let message = format!("the manifest `{}` must be an object", file.display());
        Diagnostic::new(Code::PluginManifest, message).at(Location::whole_file(&file))
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
    let description = root.get("description").and_then(Node::text).map(str::to_owned);
    let slips = root.members().unwrap_or_default().iter().filter_map(|(key, _)| slip(&document, key)).collect();
    Ok(Manifest { name, version, description, document, slips })
}

impl Manifest {
    /// Finds the hooks. An explicit key, even of nothing, leaves the conventional file alone.
    pub(super) fn hooks(&self, dir: &Path) -> Result<HooksAt<'_>, Diagnostic> {
        let Some(hooks) = self.document.root().and_then(|root| root.get("hooks")) else {
            let file = dir.join(CONVENTION);
            if !file.exists() && !file.is_symlink() {
                return Ok(HooksAt::Nowhere);
            }
            let file = inside(dir, &file).map_err(|problem| problem.at(Location::whole_file(&file)))?;
            return document(&file).map(HooksAt::Own);
        };
        match &hooks.shape {
            Shape::Object(_) => Ok(HooksAt::Inline(&self.document, hooks)),
            Shape::Text(path) => {
                let problem = |problem: Diagnostic| problem.at(self.document.location(&hooks.span));
                let file = inside(dir, &dir.join(path)).map_err(problem)?;
                document(&file).map(HooksAt::Own)
            }
            _ => {
                let message = format!("`hooks` must be an object or a path, not {}", hooks.described());
                Err(self.document.finding(Code::SettingType, &hooks.span, message))
            }
        }
    }
}

/// Other readers have keys of their own, so only one that nearly says `hooks` is reported.
fn slip(document: &Document, key: &Key) -> Option<Diagnostic> {
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
fn inside(dir: &Path, file: &Path) -> Result<PathBuf, Diagnostic> {
    let real = file.canonicalize().map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", file.display());
        Diagnostic::new(Code::FileUnreadable, message)
    })?;
    let root = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    if !real.starts_with(&root) {
        let message = format!("`{}` is outside of the plugin, so it is not read", file.display());
        let hint = "keep the file in the plugin's own folder, and name it relative to that";
        return Err(Diagnostic::new(Code::PluginPath, message).hint(hint));
    }
    // The name under which the plugin is known is kept, because people look for that one.
    Ok(real.strip_prefix(&root).map_or(real.clone(), |rest| dir.join(rest)))
}

fn document(file: &Path) -> Result<Document, Diagnostic> {
    match read_file(file) {
        Ok(Some(text)) => Document::parse(file, text),
        Ok(None) => Err(unreadable(file, "it does not exist")),
        Err(problem) => Err(unreadable(file, &problem.to_string())),
    }
}

fn unreadable(file: &Path, problem: &str) -> Diagnostic {
    let message = format!("`{}` cannot be read: {problem}", file.display());
    Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(file))
}

fn without_manifest(dir: &Path) -> Diagnostic {
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
