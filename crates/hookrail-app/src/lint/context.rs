//! Everything the lints look at: the hooks, the entries they come from, and the scripts they run. A file is read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use hookrail::hook::Enablement;
use hookrail::plan::Snapshot;
use hookrail::sources::Location;
use hookrail::tools::ToolTable;
use hookrail::{Code, Diagnostic, Hook};

use super::command_line::{CommandUse, commands_of};
use super::entry::EntryPlaces;

/// The largest file that is looked at. A script of more is no script of a hook.
const MAX_FILE_BYTES: u64 = 512 * 1024;

/// The loaded configuration and the files behind it.
pub(super) struct LintContext<'s> {
    pub(super) root: &'s Path,
    pub(super) hooks: Vec<HookContext<'s>>,
    /// The tools that the user named in the configuration.
    pub(super) own_tools: Vec<&'s str>,
    files: &'s [PathBuf],
    texts: RefCell<HashMap<PathBuf, Option<Rc<str>>>>,
    entries: RefCell<HashMap<PathBuf, EntryPlaces>>,
}

/// One hook with its commands.
pub(super) struct HookContext<'s> {
    pub(super) hook: &'s Arc<Hook>,
    pub(super) commands: Vec<CommandUse>,
}

impl<'s> LintContext<'s> {
    pub(super) fn new(root: &'s Path, snapshot: &'s Snapshot) -> Self {
        let hooks =
            snapshot.hooks().iter().map(|hook| HookContext { hook, commands: commands_of(root, hook) }).collect();
        let own_tools = snapshot.tool_table().into_iter().flat_map(ToolTable::own_tools).collect();
        Self { root, hooks, own_tools, files: snapshot.files(), texts: RefCell::default(), entries: RefCell::default() }
    }

    /// The settings files that were looked for, and other JSON files that may switch hooks off.
    pub(super) fn settings_files(&self) -> impl Iterator<Item = &'s Path> {
        self.files.iter().map(PathBuf::as_path).filter(|file| {
            file.extension().is_some_and(|ending| ending == "json") && !file.ends_with("hooks/hooks.json")
        })
    }

    /// The hooks that are meant to run: those that a list or a switch turns off have no problem.
    pub(super) fn active(&self) -> impl Iterator<Item = &HookContext<'s>> {
        self.hooks.iter().filter(|seen| match seen.hook.enablement {
            Enablement::Active | Enablement::NeverSwitchedOn => true,
            Enablement::Disabled(_) | Enablement::SwitchedOff(_) | Enablement::OwnBridge | Enablement::RunByAgent => {
                false
            }
        })
    }

    /// The text of a regular file without a byte order mark; none if it cannot be read as text.
    pub(super) fn text(&self, file: &Path) -> Option<Rc<str>> {
        let mut texts = self.texts.borrow_mut();
        texts.entry(file.to_owned()).or_insert_with(|| read_text(file).map(Rc::from)).clone()
    }

    /// The place of a hook's value for a key; the place of its whole entry if it has none.
    pub(super) fn place_of(&self, hook: &Hook, key: &str) -> Location {
        let origin = &hook.origin.location;
        let value = self.value_span(hook, key).zip(self.text(&origin.file));
        value.map_or_else(|| origin.clone(), |(span, text)| Location::in_text(&origin.file, &text, span))
    }

    /// Whether a hook's entry has a value for a key.
    pub(super) fn has_key(&self, hook: &Hook, key: &str) -> bool {
        self.value_span(hook, key).is_some()
    }

    /// The span of a hook's value for a key.
    pub(super) fn value_span(&self, hook: &Hook, key: &str) -> Option<Range<usize>> {
        let origin = &hook.origin.location;
        let text = self.text(&origin.file)?;
        let mut entries = self.entries.borrow_mut();
        let places = entries.entry(origin.file.to_path_buf()).or_insert_with(|| EntryPlaces::read(&text));
        places.value(&origin.span, key)
    }

    /// A diagnostic about a hook's value for a key.
    pub(super) fn about_key(&self, hook: &Hook, key: &str, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(self.place_of(hook, key))
    }
}

impl HookContext<'_> {
    /// Where programs are looked for when the hook runs.
    pub(super) fn search_path(&self) -> OsString {
        let own = self.hook.environment.as_ref().and_then(|environment| environment.get("PATH")).map(OsString::from);
        own.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| "/usr/bin:/bin".into())
    }
}

/// The file that a program's name leads to in a search path, of which only absolute parts are used, as the engine does.
pub(super) fn find_program(search_path: &OsString, name: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The text of a file, without a byte order mark. Pipes, devices and files of the kernel are never waited for.
fn read_text(file: &Path) -> Option<String> {
    // A large file is no script.
    if std::fs::metadata(file).ok()?.len() > MAX_FILE_BYTES {
        return None;
    }
    hookrail::sources::read_file(file).ok()?
}
