//! What exactly is trusted when a hook is trusted.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::imports;
use crate::hook::{Action, Hook};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest in hexadecimal.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

/// A file that a hook names and that lies in its project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedFile {
    /// Where it is, inside the project.
    pub path: PathBuf,
    /// What is in it; none when it is too large or cannot be read.
    pub digest: Option<Digest>,
}

/// A hook's definition and the content it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fingerprint {
    /// The project.
    root: Arc<Path>,
    /// What the hook is: dialect, event, matcher, command.
    definition: Arc<str>,
    /// What it runs, for finding the files that belong to it.
    runs: Runs,
    /// The files it names, when the fingerprint was taken.
    files: Arc<[NamedFile]>,
}

/// Where a hook's files are found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Runs {
    /// They are words of this command, in which these variables stand for folders.
    Command(Arc<str>, Arc<[(String, PathBuf)]>),
    /// They are this module and its imports.
    Module(Arc<Path>),
}

impl Runs {
    fn files(&self, root: &Path) -> Vec<NamedFile> {
        match self {
            Self::Command(command, folders) => named_files(root, folders, command),
            Self::Module(module) => module_files(module),
        }
    }
}

impl Fingerprint {
    /// Takes the fingerprint of a project's hook.
    #[must_use]
    pub fn take(root: &Path, hook: &Hook) -> Self {
        // A project is the same project whichever link leads to it.
        let root = &root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let command = match &hook.action {
            Action::Shell(command) => command.to_string(),
            Action::Program(words) => words.join("\n"),
            Action::Module(path) => {
                let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
                real.strip_prefix(root).unwrap_or(&real).to_string_lossy().into_owned()
            }
            Action::Native(_) | Action::NotExecutable(_) | Action::Unusable(_) => String::new(),
        };
        let shape = match &hook.action {
            Action::Shell(_) => "shell",
            Action::Program(_) => "program",
            Action::Module(_) => "module",
            _ => "none",
        };
        // Which events a module is for is known only after it ran, so they are no part of what it is.
        let event = if shape == "module" { "" } else { hook.event.name() };
        let mut definition =
            serde_json::json!([hook.dialect.name(), event, hook.matcher.pattern(), shape, command]).to_string();
        // The same words mean another thing in another package.
        if let Some(owner) = &hook.owner {
            let real = owner.dir.canonicalize().unwrap_or_else(|_| owner.dir.clone());
            let inside = real.strip_prefix(root).unwrap_or(&real).to_string_lossy();
            definition.push_str(&serde_json::json!([owner.id, inside]).to_string());
        }
        let runs = match &hook.action {
            Action::Module(path) => Runs::Module(Arc::clone(path)),
            _ => Runs::Command(command.into(), folders(root, hook).into()),
        };
        let files = runs.files(root);
        Self { root: root.as_path().into(), definition: definition.into(), runs, files: files.into() }
    }

    /// The digest of the definition alone: which hook this is.
    #[must_use]
    pub fn definition(&self) -> Digest {
        Digest::of(self.definition.as_bytes())
    }

    /// The digest of definition and files; none when a file cannot be covered, so that nobody can trust it.
    #[must_use]
    pub fn content(&self) -> Option<Digest> {
        let mut hasher = Sha256::new();
        hasher.update(self.definition().0);
        for file in self.files.iter() {
            hasher.update(file.path.strip_prefix(&self.root).unwrap_or(&file.path).to_string_lossy().as_bytes());
            hasher.update([0]);
            hasher.update(file.digest?.0);
        }
        Some(Digest(hasher.finalize().into()))
    }

    /// The files the hook names.
    #[must_use]
    pub fn files(&self) -> &[NamedFile] {
        &self.files
    }

    /// Whether the command names no file of the project, so that only its text can be trusted.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether the files are still what they were.
    #[must_use]
    pub fn still_holds(&self) -> bool {
        *self.files == *self.runs.files(&self.root)
    }
}

/// Larger files are not hashed, and what names them cannot be granted.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The module and its imports. Too many of them cannot be covered.
fn module_files(module: &Path) -> Vec<NamedFile> {
    let files = imports::files_of(module);
    let coverable = files.len() <= imports::MOST_FILES;
    let digest = |path: &Path| if coverable { digest_of_file(path) } else { None };
    files.into_iter().map(|path| NamedFile { digest: digest(&path), path }).collect()
}

/// The words of a command that are regular files inside the project.
fn named_files(root: &Path, folders: &[(String, PathBuf)], command: &str) -> Vec<NamedFile> {
    let canonical_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut found: Vec<NamedFile> = Vec::new();
    for word in words(command) {
        let Some(path) = inside(root, &canonical_root, folders, &word) else { continue };
        if found.iter().any(|file| file.path == path) || !path.is_file() {
            continue;
        }
        let digest = digest_of_file(&path);
        found.push(NamedFile { path, digest });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The words of a command line. Taking too many is harmless, so this splits at everything that can end a word in a
/// shell and drops the quotes; taking too few would leave a script unwatched.
fn words(command: &str) -> impl Iterator<Item = String> + '_ {
    let split = |character: char| character.is_whitespace() || ";|&<>()`=,:".contains(character);
    let loose = command.split(split).map(|word| word.replace(['"', '\'', '\\'], ""));
    // A quoted path may contain blanks, so what stands between quotes counts as a word too.
    let quoted = command.split(['"', '\'', '\n']).map(str::to_owned);
    loose.chain(quoted).chain(joined(command)).filter(|word| !word.is_empty())
}

/// The words as a shell would join them: a word may be quoted in parts.
fn joined(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        let Some(word) = words.last_mut() else { break };
        match (character, quote) {
            (end, Some(begin)) if end == begin => quote = None,
            ('\\', None | Some('"')) => word.extend(characters.next()),
            ('"' | '\'', None) => quote = Some(character),
            (blank, None) if blank.is_whitespace() || ";|&<>()`=".contains(blank) => words.push(String::new()),
            (other, _) => word.push(other),
        }
    }
    words
}

/// The folders that variables of a command stand for.
fn folders(root: &Path, hook: &Hook) -> Vec<(String, PathBuf)> {
    let of_project = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "PWD"];
    let mut folders: Vec<_> = of_project.into_iter().map(|name| (name.to_owned(), root.to_owned())).collect();
    if let Some(owner) = &hook.owner {
        folders.push(("pluginDir".to_owned(), owner.dir.clone()));
        folders.push(("cwd".to_owned(), root.to_owned()));
    }
    folders
}

/// The path a word means, when that is inside the project by name or in truth.
fn inside(root: &Path, canonical_root: &Path, folders: &[(String, PathBuf)], word: &str) -> Option<PathBuf> {
    let mut text = word.to_owned();
    for (name, folder) in folders {
        for reference in [format!("${{{name}}}"), format!("${name}")] {
            if let Some(rest) = text.strip_prefix(&reference) {
                text = format!("{}{rest}", folder.display());
            }
        }
    }
    let text = text.replace("${sep}", std::path::MAIN_SEPARATOR_STR);
    let path = lexically_normal(&root.join(text));
    let in_truth = path.canonicalize().is_ok_and(|real| real.starts_with(canonical_root));
    (path.starts_with(root) || path.starts_with(canonical_root) || in_truth).then_some(path)
}

/// The path without `.` and `..`.
pub(super) fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

fn digest_of_file(path: &Path) -> Option<Digest> {
    let mut file = File::open(path).ok()?.take(LARGEST + 1);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        let count = file.read(&mut buffer).ok()?;
        if count == 0 {
            break;
        }
        total += u64::try_from(count).ok()?;
        hasher.update(buffer.get(..count)?);
    }
    (total <= LARGEST).then(|| Digest(hasher.finalize().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_folders(root: &Path) -> Vec<(String, PathBuf)> {
        let name = |name: &str| (name.to_owned(), root.to_owned());
        vec![name("LLXPRT_PROJECT_DIR"), name("CLAUDE_PROJECT_DIR"), ("pluginDir".to_owned(), root.join("plug in"))]
    }

    fn files(root: &Path, command: &str) -> Vec<String> {
        named_files(root, &project_folders(root), command)
            .into_iter()
            .map(|file| file.path.strip_prefix(root).unwrap().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn scripts_are_found_however_they_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::write(root.join("a.sh"), "a").unwrap();
        std::fs::write(root.join("b c.sh"), "b").unwrap();
        for command in [
            "./a.sh",
            "bash a.sh --flag",
            "\"$LLXPRT_PROJECT_DIR/a.sh\"",
            "${CLAUDE_PROJECT_DIR}/a.sh",
            "true&&./a.sh;true",
            "X=1 ./sub/../a.sh",
            "cat<a.sh",
            "python3 'a.sh'",
        ] {
            assert_eq!(files(root, command), ["a.sh"], "{command}");
        }
        assert_eq!(files(root, "sh \"./b c.sh\""), ["b c.sh"]);
        assert!(files(root, "npm run lint").is_empty());
        std::fs::create_dir(root.join("plug in")).unwrap();
        std::fs::write(root.join("plug in/d e.sh"), "d").unwrap();
        for command in ["sh ${pluginDir}/\"d e.sh\"", "\"${pluginDir}\"/'d e.sh'", "\"${pluginDir}${sep}d e.sh\""] {
            assert_eq!(files(root, command), ["plug in/d e.sh"], "{command}");
        }
    }

    #[test]
    fn a_changed_file_breaks_the_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.sh"), "one").unwrap();
        let taken = named_files(dir.path(), &[], "./a.sh");
        std::fs::write(dir.path().join("a.sh"), "two").unwrap();
        assert_ne!(taken, named_files(dir.path(), &[], "./a.sh"));
    }
}
