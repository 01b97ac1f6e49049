//! What an agent's settings are to an installation and to `hookrail doctor`: places, syntax, layout, the calls in them, and
//! changes of their text.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Whose sessions the bridge takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All sessions of the user.
    User,
    /// The sessions in one project.
    Project,
    /// All sessions of all users of the machine.
    System,
}

impl Scope {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::System => "system",
        }
    }
}

/// The folders in which the agents look for their settings.
#[derive(Clone, Copy)]
pub struct AgentFolders<'a> {
    /// The user's home directory.
    pub home: &'a Path,
    /// The project.
    pub project: &'a Path,
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl AgentFolders<'_> {
    /// Returns the directory that a variable names, or a default in the home directory.
    pub(crate) fn directory(&self, variable: &str, default: &str) -> PathBuf {
        let named = (self.variable)(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        named.unwrap_or_else(|| self.home.join(default))
    }
}

/// What an agent accepts in a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsSyntax {
    /// JSON and nothing else: a comment makes the agent ignore all hooks of the file.
    StrictJson,
    /// JSON with comments. A trailing comma makes the file unreadable.
    JsonWithComments,
    /// JSON with comments, trailing commas and the other liberties of JSON5: for files about whose reader nothing else is
    /// known.
    LenientJson,
}

/// How an installation writes its entries into the file of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsLayout {
    /// They are added to the lists below `hooks` of a file that other programs and people write too.
    Shared,
    /// They are a file of hookrail's own, with the version of the format if the agent wants one.
    Own {
        /// The member `version`.
        version: Option<u32>,
    },
    /// They are a file of hookrail's own two folders below the one of an extension, whose manifest is written too.
    Extension {
        /// The name of the manifest.
        manifest: &'static str,
    },
    /// The agent loads a generated file, which calls the bridge for every event. The text has placeholders for what an
    /// installation fills in.
    Plugin(&'static str),
}

/// Whether an agent trusts the folder in which it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FolderStanding {
    /// It does, or runs all of its files anywhere.
    Trusted,
    /// It leaves the files of others there alone.
    Untrusted,
}

/// A place in which an agent looks for hooks and for settings that turn them off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// One file.
    File(PathBuf),
    /// Every file of a folder that is named as JSON.
    JsonFilesIn(PathBuf),
}

/// What an agent does if it cannot start the program of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingProgram {
    /// It denies what the entry is asked about.
    Denies,
    /// It goes on as if there were no entry.
    Passes,
}

/// A member in which an entry is not what an installation writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDifference {
    /// The name of the member.
    pub member: String,
    /// What it means for hooks.
    pub effect: DifferenceEffect,
}

/// What it means for hooks that an entry is not what an installation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceEffect {
    /// The agent may not ask the bridge, or may not wait for its answer.
    Disarms,
    /// The agent asks the bridge and waits for its answer.
    Asks,
}

/// A hook of a settings file that calls the bridge.
#[derive(Clone, Debug, PartialEq)]
pub struct InstalledCall {
    /// The agent's name of the event.
    pub event: String,
    /// The command.
    pub command: String,
    /// The program in it.
    pub program: String,
    /// The words behind the program.
    pub arguments: Vec<String>,
    /// The time that the agent waits, in the agent's unit, if it is written there.
    pub timeout: Option<f64>,
    /// In what the entry is not the one that an installation writes.
    pub differences: Vec<EntryDifference>,
    /// What the agent does if the program of the command cannot be started.
    pub missing_program: MissingProgram,
}

/// A file in which an agent has hooks or switches, as `hookrail doctor` looks at it.
#[derive(Clone, Debug)]
pub struct AgentFile {
    /// The file.
    pub path: PathBuf,
    /// The scope whose installation writes the file; none if no installation does.
    pub scope: Option<Scope>,
    /// What it holds.
    pub text: String,
    /// What the file says; nothing if the agent cannot read it.
    pub document: Value,
    /// The hooks in it that call the bridge.
    pub calls: Vec<InstalledCall>,
    /// Why the agent cannot read it.
    pub problem: Option<String>,
}

impl AgentFile {
    /// Whether a member of the document is this truth value.
    pub(crate) fn says(&self, pointer: &str, value: bool) -> bool {
        self.document.pointer(pointer) == Some(&Value::Bool(value))
    }

    /// Whether a member of the document is a list that names hookrail.
    pub(crate) fn lists_hookrail(&self, pointer: &str) -> bool {
        let list = self.document.pointer(pointer).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|name| name == "hookrail"))
    }
}

/// Why a settings file cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The agent could not read the file as it is.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The file begins with a byte order mark, which JSON does not allow.
    #[error("it begins with a byte order mark")]
    ByteOrderMark,
    /// A part of the file is not what hooks need it to be.
    #[error("`{key}` is not {expected}")]
    Shape {
        /// The part.
        key: String,
        /// What it has to be.
        expected: &'static str,
    },
}

/// A text that was inserted, or that took the place of another one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Insertion {
    /// Where, in bytes of the text before the insertion.
    pub offset: usize,
    /// What.
    pub text: String,
    /// The text that stood there before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub replaced: String,
}

impl Insertion {
    pub(crate) fn apply(&self, text: &mut String) {
        text.replace_range(self.offset..self.offset + self.replaced.len(), &self.text);
    }
}

/// Records that a text took the place of another. If the old text was itself part of an insertion, that insertion changes.
pub fn record_replacement(insertions: &mut Vec<Insertion>, offset: usize, old: &str, new: &str) {
    match insertions.iter_mut().find(|known| known.text.contains(old)) {
        Some(known) => known.text = known.text.replacen(old, new, 1),
        None => insertions.push(Insertion { offset, text: new.to_owned(), replaced: old.to_owned() }),
    }
}
