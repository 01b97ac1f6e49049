//! Installing a plugin from a folder, and the settings that enable or disable one.
//!
//! Only the lists and folders of the user's own are written, whole files at a time; what a plugin has kept in its data
//! folder survives everything.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hookrail_spawn::Replace;

use super::places::PluginPlaces;
use super::registry::{Plugin, read_folder};
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::{Document, PlacedValue, read_file};
use crate::event::timestamp;
use crate::hook::Action;
use crate::json::Json;
use crate::payload::object;
use crate::run::Environment;

/// Files and folders that are not copied into an installed plugin.
const LEFT_OUT: [&str; 4] = [".git", "node_modules", ".DS_Store", "Thumbs.db"];
const MOST_FILES: u64 = 20_000;
const LARGEST_FILE: u64 = 100 * 1024 * 1024;
const LARGEST_PLUGIN: u64 = 512 * 1024 * 1024;

/// Why something about plugins could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The folder holds no plugin that can be used.
    #[error("{}", .0.message)]
    NotAPlugin(Box<Diagnostic>),
    /// The hooks of the plugin cannot run: they are in the format of another agent, or none of them can be used.
    #[error("the hooks of `{plugin}` cannot run: {}", problem.message)]
    HooksCannotRun {
        /// The plugin.
        plugin: String,
        /// What is wrong with the first of them.
        problem: Box<Diagnostic>,
    },
    /// The environment names no place for plugins.
    #[error("there is no place for plugins: neither `HOME`, `X_CODE_HOME` nor `XC_PLUGINS_DIR` is set")]
    NoPlace,
    /// Nothing of that identity is installed.
    #[error("`{0}` is not installed")]
    NotInstalled(String),
    /// An administrator does not want it.
    #[error("`{0}` is on the list of blocked plugins")]
    Blocked(String),
    /// The plugin is larger than what is copied.
    #[error("the plugin is too large: {0}")]
    TooLarge(String),
    /// A file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file that would have to be changed is broken.
    #[error("`{}` cannot be changed because it is broken: {}", path.display(), problem.message)]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Box<Diagnostic>,
    },
}

/// Looks at the plugin in a folder, for a preview. Nothing is executed.
///
/// # Errors
/// When there is none.
pub fn preview(dir: &Path, environment: &Arc<Environment>) -> Result<Plugin, PluginError> {
    read_folder(dir, environment).map_err(|problem| PluginError::NotAPlugin(Box::new(problem)))
}

/// Installs the plugin of a folder for the user, in place of another version of it. Returns its identity and the files
/// that were left out because they lead outside.
///
/// # Errors
/// When it is no plugin, its hooks cannot run, it is too large or is blocked, or something cannot be written. An older version is left alone
/// then.
pub fn install(
    dir: &Path,
    places: &PluginPlaces,
    environment: &Arc<Environment>,
) -> Result<(Plugin, Vec<PathBuf>), PluginError> {
    let mut plugin = preview(dir, environment)?;
    if let Some(problem) = why_hooks_cannot_run(&plugin) {
        return Err(PluginError::HooksCannotRun { plugin: plugin.id, problem: Box::new(problem) });
    }
    let name = plugin.id.trim_end_matches("@local").to_owned();
    let target = places.cache("local", &name, &plugin.version).ok_or(PluginError::NoPlace)?;
    let registry = places.registry().ok_or(PluginError::NoPlace)?;
    if let Some(file) = places.in_root("known_marketplaces.json")
        && let Some(document) = parsed(&file)?
        && let Some(list) = document.root().and_then(|root| root.get("blockedPlugins")).and_then(PlacedValue::elements)
        && list.iter().any(|id| id.text() == Some(&plugin.id))
    {
        return Err(PluginError::Blocked(plugin.id));
    }
    let mut records = records(&registry)?;
    let beside = target.with_extension(format!("new-{}", std::process::id()));
    let copied = copy(dir, &beside);
    let left_out = copied.inspect_err(|_| drop(fs::remove_dir_all(&beside)))?;
    put_in_place(&beside, &target)?;
    let source = object([("kind", Json::string("local")), ("path", Json::string(&dir.to_string_lossy()))]);
    let record = object([
        ("id", Json::string(&plugin.id)),
        ("name", Json::string(&name)),
        ("marketplace", Json::string("local")),
        ("version", Json::string(&plugin.version)),
        ("source", source),
        ("installedAt", Json::string(&timestamp(SystemTime::now()))),
        ("installScope", Json::string("user")),
    ]);
    // One that is installed again keeps its place, because the order of plugins is the order of their hooks.
    match records.iter_mut().find(|(id, _)| *id == plugin.id) {
        Some((_, old)) => *old = record,
        None => records.push((plugin.id.clone(), record)),
    }
    write_records(&registry, &records)?;
    remove_other_versions(&target)?;
    plugin.dir = target;
    Ok((plugin, left_out))
}

/// What keeps the hooks of a plugin from running. One bad entry among good ones does not; an installed plugin whose guards
/// never run would be taken for one that guards.
fn why_hooks_cannot_run(plugin: &Plugin) -> Option<Diagnostic> {
    let foreign = plugin.problems.iter().find(|problem| problem.code == Code::PluginForeignFormat);
    let can_run = plugin.hooks.iter().any(|hook| matches!(hook.action, Action::Shell(_) | Action::Program(_)));
    // An unknown event is only a warning, but it can be the reason why there is no hook at all.
    let broken = || plugin.problems.iter().filter(|problem| problem.level > Level::Note).find(|_| !can_run);
    foreign.or_else(broken).cloned()
}

/// Removes an installed plugin. Its data stays.
///
/// # Errors
/// When it is not installed, or something cannot be written.
pub fn uninstall(id: &str, places: &PluginPlaces) -> Result<(), PluginError> {
    let registry = places.registry().ok_or(PluginError::NoPlace)?;
    let mut records = records(&registry)?;
    let Some(at_place) = records.iter().position(|(known, _)| known == id) else {
        return Err(PluginError::NotInstalled(id.to_owned()));
    };
    let (_, record) = records.remove(at_place);
    write_records(&registry, &records)?;
    let text = |key: &str| record.as_object().and_then(|record| record.get(key).and_then(Json::as_str));
    let (name, marketplace) = (text("name"), text("marketplace"));
    if let (Some(name), Some(marketplace)) = (name, marketplace)
        && [&name, &marketplace].iter().all(|part| super::manifest::is_component(part))
        && let Some(cache) = places.in_root("cache")
    {
        let family = cache.join(marketplace).join(name);
        match fs::remove_dir_all(&family) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&family, error)),
            _ => {}
        }
    }
    Ok(())
}

/// Writes into a settings file whether a plugin takes part.
///
/// # Errors
/// When the file is broken or cannot be written.
pub fn set_enabled(settings: &Path, id: &str, enabled: bool) -> Result<(), PluginError> {
    let key = Json::string(id);
    let key = key.text();
    let Some(document) = parsed(settings)? else {
        return write(settings, &format!("{{\n  \"enabledPlugins\": {{{key}: {enabled}}}\n}}\n"));
    };
    let broken = |node: &PlacedValue, what: &str| {
        let problem = Box::new(document.mismatch(Code::FileShape, node, format!("{what} must be an object")));
        PluginError::Broken { path: settings.to_owned(), problem }
    };
    // The text is changed where it must be and nowhere else, so that comments and order survive.
    let (span, new) = match document.root() {
        None => (0..document.text().len(), format!("{{\n  \"enabledPlugins\": {{{key}: {enabled}}}\n}}\n")),
        Some(root) => match (root.members(), root.get("enabledPlugins")) {
            (None, _) => return Err(broken(root, "the settings")),
            (Some(_), Some(plugins)) => match (plugins.members(), plugins.get(id)) {
                (None, _) => return Err(broken(plugins, "`enabledPlugins`")),
                (Some(_), Some(value)) => (value.span.clone(), enabled.to_string()),
                (Some(others), None) => {
                    let comma = if others.is_empty() { "" } else { ", " };
                    (plugins.span.start + 1..plugins.span.start + 1, format!("{key}: {enabled}{comma}"))
                }
            },
            (Some(others), None) => {
                let end = if others.is_empty() { "\n" } else { "," };
                let new = format!("\n  \"enabledPlugins\": {{{key}: {enabled}}}{end}");
                (root.span.start + 1..root.span.start + 1, new)
            }
        },
    };
    let mut text = document.text().to_owned();
    text.replace_range(span, &new);
    write(settings, &text)
}

/// Copies a folder without what does not belong into it. Returns the links that lead outside.
fn copy(from: &Path, to: &Path) -> Result<Vec<PathBuf>, PluginError> {
    let root = from.canonicalize().map_err(|source| at(from, source))?;
    let mut left_out = Vec::new();
    let (mut files, mut bytes) = (0, 0);
    let mut folders = VecDeque::from([(from.to_owned(), to.to_owned())]);
    while let Some((source, target)) = folders.pop_front() {
        fs::create_dir_all(&target).map_err(|error| at(&target, error))?;
        for entry in fs::read_dir(&source).map_err(|error| at(&source, error))? {
            let entry = entry.map_err(|error| at(&source, error))?;
            let (path, name) = (entry.path(), entry.file_name());
            if LEFT_OUT.iter().any(|left_out| name == *left_out) {
                continue;
            }
            let inside = path.canonicalize().is_ok_and(|real| real.starts_with(&root) && real != root);
            if !inside {
                left_out.push(path);
                continue;
            }
            let about = fs::metadata(&path).map_err(|error| at(&path, error))?;
            if about.is_dir() && path.is_symlink() {
                // A link to a folder of the plugin could lead in a circle.
                left_out.push(path);
            } else if about.is_dir() {
                folders.push_back((path, target.join(name)));
            } else if about.is_file() {
                files += 1;
                bytes += about.len();
                within_limits(&path, files, about.len(), bytes)?;
                copy_file(&path, &target.join(name)).map_err(|error| at(&path, error))?;
            } else {
                left_out.push(path);
            }
        }
    }
    left_out.sort();
    Ok(left_out)
}

/// Copies the content of a file, and of its mode only whether it can be executed. A copy that kept all bits could
/// turn a setuid program of another user into one of the user who installs it.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = hookrail_spawn::open_regular(from)?;
    let mut target = new_file(to, &source.metadata()?)?;
    io::copy(&mut source, &mut target)?;
    Ok(())
}

#[cfg(unix)]
fn new_file(path: &Path, like: &fs::Metadata) -> io::Result<fs::File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let mode = if like.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 };
    fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn new_file(path: &Path, _like: &fs::Metadata) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)
}

fn within_limits(path: &Path, files: u64, size: u64, bytes: u64) -> Result<(), PluginError> {
    let mib = |bytes: u64| bytes / 1024 / 1024;
    let problem = if files > MOST_FILES {
        format!("it has more than {MOST_FILES} files")
    } else if size > LARGEST_FILE {
        format!("`{}` is larger than {} MiB", path.display(), mib(LARGEST_FILE))
    } else if bytes > LARGEST_PLUGIN {
        format!("it is larger than {} MiB", mib(LARGEST_PLUGIN))
    } else {
        return Ok(());
    };
    Err(PluginError::TooLarge(problem))
}

/// Gives a copy its name. What had the name before comes back if that fails.
fn put_in_place(copy: &Path, target: &Path) -> Result<(), PluginError> {
    let aside = target.with_extension(format!("old-{}", std::process::id()));
    let replaces = target.exists();
    if replaces {
        fs::rename(target, &aside).map_err(|source| at(target, source))?;
    }
    fs::rename(copy, target).map_err(|source| {
        if replaces {
            // There is nothing more to be done when this fails too.
            let _ = fs::rename(&aside, target);
        }
        at(target, source)
    })
}

/// Removes all versions of a plugin but this one.
fn remove_other_versions(version: &Path) -> Result<(), PluginError> {
    let Some(Ok(entries)) = version.parent().map(fs::read_dir) else { return Ok(()) };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path != version) {
        let removed =
            if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// The records of the list of installed plugins, with their identities.
fn records(registry: &Path) -> Result<Vec<(String, Json)>, PluginError> {
    let Some(document) = parsed(registry)? else { return Ok(Vec::new()) };
    let records =
        document.root().and_then(|root| root.get("plugins")).and_then(PlacedValue::elements).unwrap_or_default();
    let text = |record: &PlacedValue, key: &str| record.get(key).and_then(PlacedValue::text).map(str::to_owned);
    let id = |record: &PlacedValue| match (text(record, "name"), text(record, "marketplace")) {
        (Some(name), Some(marketplace)) => format!("{name}@{marketplace}"),
        _ => text(record, "id").unwrap_or_default(),
    };
    Ok(records.iter().map(|record| (id(record), record.to_json())).collect())
}

fn write_records(registry: &Path, records: &[(String, Json)]) -> Result<(), PluginError> {
    // A record on a line, so that people can read the list and put it under version control.
    let list: Vec<String> = records.iter().map(|(_, record)| format!("\n    {}", record.text())).collect();
    let end = if list.is_empty() { "" } else { "\n  " };
    write(registry, &format!("{{\n  \"schemaVersion\": \"1\",\n  \"plugins\": [{}{end}]\n}}\n", list.join(",")))
}

fn parsed(file: &Path) -> Result<Option<Document>, PluginError> {
    match read_file(file) {
        Ok(Some(text)) => match Document::parse(file, text) {
            Ok(document) => Ok(Some(document)),
            Err(problem) => Err(PluginError::Broken { path: file.to_owned(), problem: Box::new(problem) }),
        },
        Ok(None) => Ok(None),
        Err(problem) => Err(at(file, io::Error::other(problem.to_string()))),
    }
}

fn write(file: &Path, text: &str) -> Result<(), PluginError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|source| at(folder, source))?;
    }
    hookrail_spawn::replace_file(file, text.as_bytes(), &Replace::KEPT).map_err(|source| at(file, source))
}

fn at(path: &Path, source: io::Error) -> PluginError {
    PluginError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enabling_changes_one_place_of_the_settings() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/settings.json");
        for (before, after) in [
            (None, "{\n  \"enabledPlugins\": {\"a@m\": false}\n}\n"),
            (Some(""), "{\n  \"enabledPlugins\": {\"a@m\": false}\n}\n"),
            (Some("{}"), "{\n  \"enabledPlugins\": {\"a@m\": false}\n}"),
            (Some("{\"x\": 1.0 /* c */}"), "{\n  \"enabledPlugins\": {\"a@m\": false},\"x\": 1.0 /* c */}"),
            (Some("{\"enabledPlugins\": {}}"), "{\"enabledPlugins\": {\"a@m\": false}}"),
            (Some("{\"enabledPlugins\": {\"b\": true}}"), "{\"enabledPlugins\": {\"a@m\": false, \"b\": true}}"),
            (Some("{\"enabledPlugins\": {\"a@m\": 7}, }"), "{\"enabledPlugins\": {\"a@m\": false}, }"),
        ] {
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            set_enabled(&file, "a@m", false).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), after);
        }
        for broken in ["[]", "{", "{\"enabledPlugins\": []}"] {
            fs::write(&file, broken).unwrap();
            assert!(matches!(set_enabled(&file, "a@m", true), Err(PluginError::Broken { .. })), "{broken}");
            assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        }
    }

    #[cfg(unix)]
    #[test]
    fn linked_settings_stay_linked_and_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.json"), dir.path().join("settings.json"));
        fs::write(&real, "{}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        set_enabled(&link, "a@m", true).unwrap();
        assert!(link.is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("a@m"));
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_limits_hold() {
        let path = Path::new("x");
        assert!(within_limits(path, MOST_FILES, LARGEST_FILE, LARGEST_PLUGIN).is_ok());
        assert!(within_limits(path, MOST_FILES + 1, 1, 1).is_err());
        assert!(within_limits(path, 1, LARGEST_FILE + 1, LARGEST_FILE + 1).is_err());
        assert!(within_limits(path, 1, 1, LARGEST_PLUGIN + 1).is_err());
    }
}
