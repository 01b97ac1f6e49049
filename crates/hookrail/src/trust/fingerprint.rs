//! What exactly is trusted when a hook is trusted.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::grants::Grant;
use super::imports;
use crate::config::{is_want_of_resources, without_dots};
use crate::hook::{Action, Hook};
use crate::lane::Life;
use crate::run::Capabilities;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Whether that text is the digest in hexadecimal.
    pub(super) fn is(&self, hex: &str) -> bool {
        let half = |byte: u8| char::from_digit(u32::from(byte), 16);
        let digits = self.0.iter().flat_map(|byte| [half(byte >> 4), half(byte & 15)]);
        digits.eq(hex.chars().map(Some))
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

impl NamedFile {
    /// A file from its parts.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, digest: Option<Digest>) -> Self {
        Self { path: path.into(), digest }
    }
}

/// What a hook is, in words: kept with its grant, so that a change can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Definition {
    /// The dialect it is written in.
    pub dialect: String,
    /// Its event; empty for a module, whose events are known only when it runs.
    pub event: String,
    /// What it is compared with; none matches everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// What it is: `shell`, `program`, `module` or `none`.
    pub kind: String,
    /// The command line, the words of a program as a JSON list, or the module's path in the project.
    pub command: String,
    /// How long its process lives, where that is longer than one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<String>,
    /// The plugin it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// What a failure of it does, where that is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// The time it has in milliseconds, where that is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// A hook's definition and the content it stands for.
///
/// The files are read when somebody asks for them: what nobody ever granted costs nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fingerprint {
    /// The project.
    root: Arc<Path>,
    /// What the hook is: dialect, event, matcher, command, and on which terms it runs.
    definition: Arc<str>,
    /// The same without its terms, which is all that grants of earlier versions cover.
    without_terms: Arc<str>,
    /// The same in words.
    described: Arc<Definition>,
    /// What it runs, for finding the files that belong to it.
    runs: Runs,
    /// The files it names, as they were when they were first looked at.
    looked: Arc<OnceLock<Looked>>,
    /// What the grant leaves to it, where that is less than everything.
    narrowed_to: Option<Capabilities>,
    /// The grant that covers it, or did before it changed.
    granted: Option<Arc<Grant>>,
    /// The digests of the definition with and without its terms: every grant is compared with them.
    digests: Arc<OnceLock<[Digest; 2]>>,
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.definition == other.definition
    }
}

impl Eq for Fingerprint {}

/// What looking at a hook's files found.
#[derive(Debug)]
struct Looked {
    files: Arc<[NamedFile]>,
    /// Whether these are all there can be.
    coverable: bool,
    /// Whether something could not be read for want of resources, which says nothing about the files.
    out_of_resources: bool,
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
    /// The files by name, for a command that is started in `cwd`, and whether they can be covered. Only a module has to
    /// be read for that, and what that lacked resources for is noted.
    fn paths(&self, root: &Path, cwd: &Path, starved: &mut bool) -> (Vec<PathBuf>, bool) {
        match self {
            Self::Command(command, _) if command.len() > LONGEST_COMMAND => (Vec::new(), false),
            Self::Command(command, folders) => {
                let here = |folder: &PathBuf| if folder == root { cwd.to_owned() } else { folder.clone() };
                let folders: Vec<_> = folders.iter().map(|(name, folder)| (name.clone(), here(folder))).collect();
                (named_paths(root, cwd, &folders, command), true)
            }
            Self::Module(module) => {
                let found = imports::files_of(module);
                *starved |= found.out_of_resources;
                (found.paths.into_iter().collect(), found.complete)
            }
        }
    }

    /// The files with what is in them.
    fn look(&self, root: &Path, cwd: &Path) -> Looked {
        let mut out_of_resources = false;
        let (paths, coverable) = self.paths(root, cwd, &mut out_of_resources);
        let mut budget = LARGEST;
        let mut digest = |path: &Path| {
            if !coverable {
                return None;
            }
            digest_of_file(path, &mut budget).unwrap_or_else(|error| {
                out_of_resources |= is_want_of_resources(&error);
                None
            })
        };
        let files = paths.into_iter().map(|path| NamedFile { digest: digest(&path), path }).collect();
        Looked { files, coverable, out_of_resources }
    }
}

impl Fingerprint {
    /// Takes the fingerprint of a project's hook.
    #[must_use]
    pub fn take(root: &Path, hook: &Hook) -> Self {
        // A project is the same project whichever link leads to it.
        let root = &root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let command = match &hook.action {
            Action::Shell(_) | Action::Program(_) => command_of(hook),
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
        let mut described = Definition {
            dialect: hook.dialect.name().to_owned(),
            event: event.to_owned(),
            matcher: hook.matcher.pattern().map(str::to_owned),
            kind: shape.to_owned(),
            command: command.clone(),
            life: (hook.lane.life != Life::Once).then(|| hook.lane.life.name().to_owned()),
            package: hook.owner.as_ref().map(|owner| owner.id.clone()),
            on_failure: None,
            timeout: None,
        };
        // A process that stays, or is there before it is needed, is more than was looked at when it was not.
        if hook.lane.life != Life::Once {
            definition.push_str(&serde_json::json!([hook.lane.life.name()]).to_string());
        }
        // The same words mean another thing in another package.
        if let Some(owner) = &hook.owner {
            let real = owner.dir.canonicalize().unwrap_or_else(|_| owner.dir.clone());
            let inside = real.strip_prefix(root).unwrap_or(&real).to_string_lossy();
            definition.push_str(&serde_json::json!([owner.id, inside]).to_string());
        }
        let without_terms: Arc<str> = definition.as_str().into();
        let terms = hook.terms();
        if !terms.is_empty() {
            definition.push_str(&serde_json::json!({ "terms": terms }).to_string());
        }
        for (term, value) in terms {
            match term {
                "onFailure" => described.on_failure = Some(value),
                "timeout" => described.timeout = Some(hook.timeout.as_millis().to_string()),
                _ => {}
            }
        }
        let runs = match &hook.action {
            Action::Module(path) => Runs::Module(Arc::clone(path)),
            _ => Runs::Command(command.into(), folders(root, hook).into()),
        };
        Self {
            root: root.as_path().into(),
            definition: definition.into(),
            without_terms,
            described: Arc::new(described),
            runs,
            looked: Arc::default(),
            narrowed_to: None,
            granted: None,
            digests: Arc::default(),
        }
    }

    /// The fingerprint of a hook that this grant covers, or did before the hook changed.
    pub(super) fn granted_by(mut self, grant: &Grant) -> Self {
        self.granted = Some(Arc::new(grant.clone()));
        self
    }

    /// The grant that covers the hook, or did before it changed; none when there never was one.
    #[must_use]
    pub fn granted(&self) -> Option<&Grant> {
        self.granted.as_deref()
    }

    /// Whether the hook is a module one of whose files contains the text, so far as they can be read.
    pub(super) fn is_module_mentioning(&self, text: &str) -> bool {
        let Runs::Module(_) = &self.runs else { return false };
        let mentions = |path: &Path| {
            let bytes = hookrail_spawn::open_regular(path).ok().and_then(|file| {
                let mut bytes = Vec::new();
                file.take(LARGEST).read_to_end(&mut bytes).ok().map(|_| bytes)
            });
            // What cannot be read may hold anything.
            bytes.is_none_or(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        };
        self.files().iter().any(|file| mentions(&file.path))
    }

    /// The fingerprint of a module with the capabilities that its grant leaves it.
    pub(super) fn narrowed_to(mut self, capabilities: Option<Capabilities>) -> Self {
        self.narrowed_to = capabilities;
        self
    }

    /// The only capabilities its grant leaves it, where that is less than everything.
    #[must_use]
    pub fn capabilities(&self) -> Option<Capabilities> {
        self.narrowed_to
    }

    /// What the hook is, in words.
    #[must_use]
    pub fn described(&self) -> &Definition {
        &self.described
    }

    /// The digest of the definition alone: which hook this is.
    #[must_use]
    pub fn definition(&self) -> Digest {
        let [definition, _] = *self.digests();
        definition
    }

    fn digests(&self) -> &[Digest; 2] {
        self.digests.get_or_init(|| [&self.definition, &self.without_terms].map(|text| Digest::of(text.as_bytes())))
    }

    /// The digest of the definition without its terms: which hook this is to grants of earlier versions.
    pub(super) fn definition_without_terms(&self) -> Digest {
        let [_, without_terms] = *self.digests();
        without_terms
    }

    /// The digest of definition and files; none when a file cannot be covered, so that nobody can trust it.
    #[must_use]
    pub fn content(&self) -> Option<Digest> {
        self.content_under(self.definition())
    }

    /// The digest of the files under that definition.
    pub(super) fn content_under(&self, definition: Digest) -> Option<Digest> {
        let looked = self.looked();
        if !looked.coverable {
            return None;
        }
        let mut hasher = Sha256::new();
        hasher.update(definition.0);
        for file in looked.files.iter() {
            hasher.update(file.path.strip_prefix(&self.root).unwrap_or(&file.path).to_string_lossy().as_bytes());
            hasher.update([0]);
            hasher.update(file.digest?.0);
        }
        Some(Digest(hasher.finalize().into()))
    }

    /// The project.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files the hook names.
    #[must_use]
    pub fn files(&self) -> &[NamedFile] {
        &self.looked().files
    }

    /// The same files for whoever keeps them: every call of a module has them with it, and none copies them.
    pub(crate) fn shared_files(&self) -> Arc<[NamedFile]> {
        Arc::clone(&self.looked().files)
    }

    /// Whether the files were looked at and could not be read for want of resources. Then the fingerprint says nothing
    /// about what is in them.
    pub(crate) fn is_out_of_resources(&self) -> bool {
        self.looked.get().is_some_and(|looked| looked.out_of_resources)
    }

    fn looked(&self) -> &Looked {
        self.looked.get_or_init(|| self.runs.look(&self.root, &self.root))
    }

    /// The files the hook names, without looking into them: for showing what there is, which must cost nothing however
    /// much somebody put there.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        match self.looked.get() {
            Some(looked) => looked.files.iter().map(|file| file.path.clone()).collect(),
            None => self.runs.paths(&self.root, &self.root, &mut false).0,
        }
    }

    /// Whether the command may run something of the project that is not among [`Fingerprint::files`], so that its text
    /// is all that can be trusted of that: it names no file, changes its directory, or names files in a way that only a
    /// shell can work out.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        match &self.runs {
            Runs::Module(_) => false,
            Runs::Command(command, folders) => has_loose_ends(command, folders) || self.paths().is_empty(),
        }
    }

    /// Whether a run in that directory would run what the files were, and nothing else of the project.
    #[must_use]
    pub fn still_holds(&self, cwd: &Path) -> bool {
        let known = self.files();
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let elsewhere = || self.runs.look(&self.root, &cwd).files.iter().all(|file| known.contains(file));
        known == &*self.runs.look(&self.root, &self.root).files && (*self.root == *cwd || elsewhere())
    }
}

/// No system starts a longer command, and none is searched for files.
const LONGEST_COMMAND: usize = 128 * 1024;

/// More than this is not hashed for one hook, and what names it cannot be granted.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The words of a command that are regular files inside the project, sorted.
fn named_paths(root: &Path, cwd: &Path, folders: &[(String, PathBuf)], command: &str) -> Vec<PathBuf> {
    let different: HashSet<String> = words(command).collect();
    let meant = different.iter().filter_map(|word| inside(root, cwd, folders, word));
    let found: BTreeSet<PathBuf> = meant.filter(|path| path.is_file()).collect();
    found.into_iter().collect()
}

/// The text of a command in which its words can be found.
fn command_of(hook: &Hook) -> String {
    match &hook.action {
        Action::Shell(command) => command.to_string(),
        Action::Program(words) => serde_json::json!(**words).to_string(),
        _ => String::new(),
    }
}

/// Every regular file that a hook's command names, inside of a project or not, when it is started in that directory.
pub(crate) fn files_named_by(hook: &Hook, cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut folders = folders(cwd, hook);
    folders.extend(home.map(|home| ("HOME".to_owned(), home.to_owned())));
    let command = command_of(hook);
    let mut found = Vec::new();
    for word in words(&command) {
        let word = match (word.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
            _ => word,
        };
        found.extend(inside(Path::new("/"), cwd, &folders, &word).filter(|path| path.is_file()));
    }
    found.sort();
    found.dedup();
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
            // A line that goes on in the next one is one line.
            ('\\', None | Some('"')) => word.extend(characters.next().filter(|next| *next != '\n')),
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
fn inside(root: &Path, cwd: &Path, folders: &[(String, PathBuf)], word: &str) -> Option<PathBuf> {
    let mut text = word.to_owned();
    for (name, folder) in folders {
        for reference in [format!("${{{name}}}"), format!("${name}")] {
            if let Some(rest) = text.strip_prefix(&reference) {
                text = format!("{}{rest}", folder.display());
            }
        }
    }
    let text = text.replace("${sep}", std::path::MAIN_SEPARATOR_STR);
    let path = without_dots(&cwd.join(text));
    let in_truth = path.canonicalize().is_ok_and(|real| real.starts_with(root));
    (path.starts_with(root) || in_truth).then_some(path)
}

/// Whether a command runs in another directory, expands patterns or other variables, or evaluates text.
fn has_loose_ends(command: &str, folders: &[(String, PathBuf)]) -> bool {
    let known = folders.iter().flat_map(|(name, _)| [format!("${{{name}}}"), format!("${name}")]);
    let rest = known.fold(command.to_owned(), |rest, reference| rest.replace(&reference, ""));
    rest.contains(['$', '`', '*', '?', '[', '{', '~']) || words(&rest).any(|word| LOOSE_WORDS.contains(&word.as_str()))
}

/// Words after which a relative path means something else, or after which text becomes a command.
const LOOSE_WORDS: [&str; 6] = ["cd", "pushd", "chdir", "eval", "env", "xargs"];

/// The digest of a file, while the budget of bytes lasts.
fn digest_of_file(path: &Path, budget: &mut u64) -> std::io::Result<Option<Digest>> {
    let file = hookrail_spawn::open_regular(path)?;
    // A file that says it is too large is not even begun.
    if file.metadata()?.len() > *budget {
        return Ok(None);
    }
    let mut file = file.take(*budget + 1);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(Some(Digest(hasher.finalize().into())));
        }
        let left = u64::try_from(count).ok().and_then(|count| budget.checked_sub(count));
        let (Some(left), Some(read)) = (left, buffer.get(..count)) else { return Ok(None) };
        *budget = left;
        hasher.update(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_folders(root: &Path) -> Vec<(String, PathBuf)> {
        let name = |name: &str| (name.to_owned(), root.to_owned());
        vec![name("LLXPRT_PROJECT_DIR"), name("CLAUDE_PROJECT_DIR"), ("pluginDir".to_owned(), root.join("plug in"))]
    }

    fn files(root: &Path, command: &str) -> Vec<String> {
        named_paths(root, root, &project_folders(root), command)
            .into_iter()
            .map(|path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned())
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
        assert_eq!(files(root, "sh a\\\n.sh"), ["a.sh"]);
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
        let look = || Runs::Command("./a.sh".into(), Arc::default()).look(dir.path(), dir.path()).files;
        let taken = look();
        std::fs::write(dir.path().join("a.sh"), "two").unwrap();
        assert_ne!(taken, look());
    }
}
