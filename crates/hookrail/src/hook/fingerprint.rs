//! The fingerprint of a hook: what exactly is trusted when it is trusted.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hookrail_spawn::real_path;
use serde::{Deserialize, Serialize};

use super::files::command::{Command, CommandFiles, ResolvedFile, UncoveredReason};
use super::files::imports;
use super::grant::{Grant, GrantedFile};
use crate::config::{FileStamp, is_absence, is_want_of_resources, read_within};
use crate::dialect_id::DialectId;
use crate::hook::capabilities::Capabilities;
use crate::hook::exec_options::ProcessLifetime;
use crate::hook::remote::RemoteTarget;
use crate::hook::{
    Action, CommandText, ENFORCE_TERM, Hook, ON_FAILURE_TERM, SANDBOX_REQUIRED_TERM, SANDBOX_TERM, TIMEOUT_TERM,
};
use crate::text::digest::Digest;

/// A file that a hook names and that lies in its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Where it is as the hook means it, inside the project.
    pub path: PathBuf,
    /// Where that leads, which is another path if there are links on the way.
    pub real: PathBuf,
    /// What is in it; none when it is too large or cannot be read.
    pub digest: Option<Digest>,
}

impl NamedFile {
    /// A file from its parts.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, digest: Option<Digest>) -> Self {
        let path = path.into();
        Self { real: path.clone(), path, digest }
    }
}

/// The definition of a hook in readable form. It is kept with the grant, so that a change can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The dialect it is written in.
    pub dialect: String,
    /// Its event; empty for a module, whose events are known only when it runs.
    pub event: String,
    /// Its matcher; none matches everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// What it is: `shell`, `program`, `module`, `remote`, `rule` or `none`.
    pub kind: String,
    /// The command line, the words of a program as a JSON list, the module's path in the project, or the group that is asked
    /// and how often, or the rule, as a JSON object.
    pub command: String,
    /// The lifetime of its process, if that is longer than one run.
    #[serde(rename = "life", default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<String>,
    /// The plugin it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Its failure policy, if that is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// Its timeout in milliseconds, if that is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// `false` for a hook that has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforce: Option<String>,
    /// What its processes may do, as JSON, where its entry asks for a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// `true` for a hook that does not run without all of its sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_required: Option<String>,
    /// What else its entry says and a grant covers: a condition, a shell, that it is not awaited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further: BTreeMap<String, String>,
}

/// The terms that have a field of their own in a definition.
const TERMS_WITH_FIELDS: [&str; 5] = [ON_FAILURE_TERM, TIMEOUT_TERM, ENFORCE_TERM, SANDBOX_TERM, SANDBOX_REQUIRED_TERM];

/// What was known of a hook's files when its project was trusted for a run.
#[derive(Clone, Debug)]
enum InitialCoverage {
    /// It ran the files that it names and no others.
    Closed,
    /// It could run others too. Its program, if that lay outside of the project.
    OpenEnded(Option<Arc<StampedProgram>>),
}

/// A program with the metadata that it had.
#[derive(Debug)]
struct StampedProgram {
    path: PathBuf,
    stamp: FileStamp,
}

impl StampedProgram {
    fn is_unchanged(&self) -> bool {
        FileStamp::read(&self.path).as_ref() == Some(&self.stamp)
    }
}

/// A hook's definition and the content of the files it runs.
///
/// The files are read when they are first needed, so a hook that was never granted costs nothing.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    /// The project.
    root: Arc<Path>,
    /// What the hook is: dialect, event, matcher, command, and its terms (timeout, failure policy, sandbox).
    definition: Arc<str>,
    /// The same without its terms, which is all that grants of earlier versions cover.
    without_terms: Arc<str>,
    /// The same in words.
    described: Arc<Definition>,
    /// Its command or module, for finding the files that belong to it.
    runs: FileOrigin,
    /// The files it names, as they were when they were first looked at.
    inspected: Arc<OnceLock<InspectedFiles>>,
    /// The capabilities that the grant leaves it, if those are not all.
    narrowed_to: Option<Capabilities>,
    /// The grant that covers it, or did before it changed.
    granted: Option<Arc<Grant>>,
    /// The digests of the definition with and without its terms: every grant is compared with them.
    digests: Arc<OnceLock<[Digest; 2]>>,
    /// What was known of its files when its project was trusted for a run.
    initial_coverage: InitialCoverage,
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.definition == other.definition
    }
}

impl Eq for Fingerprint {}

/// The result of inspecting a hook's files.
#[derive(Debug)]
struct InspectedFiles {
    files: Arc<[NamedFile]>,
    /// The files outside of the project, each with the digest of what it is known by.
    outside: Vec<GrantedFile>,
    /// Why the command may run others, as far as its words and its program tell.
    open_end: Option<UncoveredReason>,
    /// Whether these are all there can be.
    coverable: bool,
    /// Whether something could not be read for lack of resources, which says nothing about the files.
    out_of_resources: bool,
}

impl InspectedFiles {
    /// Whether these are the same files, and a command that ran no others still runs no others.
    fn are_still(&self, now: &Self) -> bool {
        self.files == now.files && !self.opens_in(now) && lead_where(&self.outside, &now.outside)
    }

    /// Whether a command that is closed here is open-ended there.
    fn opens_in(&self, other: &Self) -> bool {
        self.open_end.is_none() && other.open_end.is_some()
    }
}

/// Whether files outside of the project lead where they led. One that is gone runs nothing.
fn lead_where(before: &[GrantedFile], now: &[GrantedFile]) -> bool {
    before.iter().all(|file| now.iter().all(|now| now.path != file.path || now.sha256 == file.sha256))
}

/// Where a hook's files are found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileOrigin {
    /// They are words of this command, or what its interpreter imports.
    Command(Arc<Command>),
    /// They are this module and its imports.
    Module(Arc<Path>),
    /// There are none: what answers is not on this machine.
    Nowhere,
}

impl FileOrigin {
    /// The paths of the files, for a command that is started in `cwd`, and whether all can be covered. Only a module
    /// has to be read for that; a lack of resources is recorded.
    fn paths(&self, root: &Path, cwd: &Path, starved: &mut bool) -> CommandFiles {
        match self {
            Self::Command(command) if command.length() > LONGEST_COMMAND => CommandFiles::new(Vec::new(), false),
            Self::Command(command) => command.files(root, cwd),
            Self::Module(module) => {
                let imports = imports::files_of(module);
                *starved |= imports.out_of_resources;
                let real = |path: &Path| real_path(path).unwrap_or_else(|_| path.to_owned());
                let found = imports.paths.into_iter().map(|path| ResolvedFile { real: real(&path), path }).collect();
                CommandFiles::new(found, imports.complete)
            }
            Self::Nowhere => CommandFiles::new(Vec::new(), true),
        }
    }

    /// The files with their content.
    fn inspect(&self, root: &Path, cwd: &Path) -> InspectedFiles {
        let mut out_of_resources = false;
        let CommandFiles { found, outside, complete: coverable, open_end } =
            self.paths(root, cwd, &mut out_of_resources);
        let mut budget = LARGEST;
        let mut digest = |path: &Path| {
            if !coverable {
                return None;
            }
            let read = read_within(path, &mut budget).unwrap_or_else(|error| {
                out_of_resources |= is_want_of_resources(&error);
                None
            });
            read.map(|bytes| Digest::of(&bytes))
        };
        let named = |found: ResolvedFile| NamedFile { digest: digest(&found.real), path: found.path, real: found.real };
        let files = found.into_iter().map(named).collect();
        let known_by = |file: &ResolvedFile| Digest::of(file.known_by().as_encoded_bytes()).hex();
        let outside =
            outside.into_iter().map(|file| GrantedFile { sha256: known_by(&file), path: file.path }).collect();
        InspectedFiles { files, outside, open_end, coverable, out_of_resources }
    }
}

impl Fingerprint {
    /// Takes the fingerprint of a project's hook.
    #[must_use]
    pub fn take(root: &Path, hook: &Hook) -> Self {
        // A project has one fingerprint, whichever link leads to it.
        let root = &real_path(root).unwrap_or_else(|_| root.to_owned());
        let (shape, command) = match &hook.action {
            Action::Shell(line) => ("shell", line.to_string()),
            Action::Program(words) => ("program", serde_json::json!(**words).to_string()),
            Action::Module(path) => {
                let real = real_path(path).unwrap_or_else(|_| path.to_path_buf());
                ("module", real.strip_prefix(root).unwrap_or(&real).to_string_lossy().into_owned())
            }
            Action::Remote(RemoteTarget { group, retries }) => {
                ("remote", serde_json::json!({"group": group.as_str(), "retries": retries}).to_string())
            }
            Action::Http(target) => ("http", target.to_json()),
            Action::Rule(rule) => ("rule", rule.definition().to_owned()),
            Action::Native(_) | Action::NotExecutable(_) | Action::Unusable(_) | Action::Missing(_) => {
                ("none", String::new())
            }
        };
        // The events of a module are known only after it ran, so they are not part of its definition.
        let event = if shape == "module" { "" } else { hook.event.name() };
        let mut definition =
            serde_json::json!([hook.dialect.name(), event, hook.matcher.pattern(), shape, command]).to_string();
        let terms = hook.terms();
        let term = |name| terms.iter().find(|(term, _)| *term == name).map(|(_, value)| value.clone());
        let has_field = |name: &str| TERMS_WITH_FIELDS.contains(&name);
        let further =
            terms.iter().filter(|(name, _)| !has_field(name)).map(|(name, text)| ((*name).to_owned(), text.clone()));
        let described = Definition {
            dialect: hook.dialect.name().to_owned(),
            event: event.to_owned(),
            matcher: hook.matcher.pattern().map(str::to_owned),
            kind: shape.to_owned(),
            command,
            lifetime: (hook.lifetime != ProcessLifetime::Once).then(|| hook.lifetime.name().to_owned()),
            package: hook.owner.as_ref().map(|owner| owner.id.clone()),
            on_failure: term(ON_FAILURE_TERM),
            timeout: term(TIMEOUT_TERM).map(|_| hook.timeout.as_millis().to_string()),
            enforce: term(ENFORCE_TERM),
            sandbox: term(SANDBOX_TERM),
            sandbox_required: term(SANDBOX_REQUIRED_TERM),
            further: further.collect(),
        };
        // A pooled process lives longer than the run that was reviewed, so its lifetime is part of the definition.
        if hook.lifetime != ProcessLifetime::Once {
            definition.push_str(&serde_json::json!([hook.lifetime.name()]).to_string());
        }
        // The same words mean other files in another plugin.
        if let Some(owner) = &hook.owner {
            let real = real_path(&owner.dir).unwrap_or_else(|_| owner.dir.clone());
            let inside = real.strip_prefix(root).unwrap_or(&real).to_string_lossy();
            definition.push_str(&serde_json::json!([owner.id, inside]).to_string());
        }
        let without_terms: Arc<str> = definition.as_str().into();
        if !terms.is_empty() {
            definition.push_str(&serde_json::json!({ "terms": terms }).to_string());
        }
        let runs = match &hook.action {
            Action::Module(path) => FileOrigin::Module(Arc::clone(path)),
            Action::Remote(_) | Action::Http(_) | Action::Rule(_) => FileOrigin::Nowhere,
            Action::Shell(_)
            | Action::Program(_)
            | Action::Native(_)
            | Action::NotExecutable(_)
            | Action::Unusable(_)
            | Action::Missing(_) => FileOrigin::Command(Arc::new(command_of(root, hook))),
        };
        Self {
            root: root.as_path().into(),
            definition: definition.into(),
            without_terms,
            described: Arc::new(described),
            runs,
            inspected: Arc::default(),
            narrowed_to: None,
            granted: None,
            digests: Arc::default(),
            initial_coverage: InitialCoverage::Closed,
        }
    }

    /// The fingerprint of a hook whose project is trusted for a run that begins now. The files of a closed command and
    /// of a module are read now. An open-ended command is known by its definition: it may name files that it writes.
    pub(crate) fn at_the_beginning(mut self) -> Self {
        match self.open_end() {
            Some(why) => self.initial_coverage = InitialCoverage::OpenEnded(self.program_outside(why).map(Arc::new)),
            None => {
                self.inspected();
            }
        }
        self
    }

    /// Whether a hook with the same definition has the content that this one had at the start of the run. A command
    /// that was open-ended because its script was missing is another one when the script exists.
    pub(crate) fn is_same_as(&self, now: &Self) -> bool {
        match (&self.initial_coverage, now.is_open_ended()) {
            (InitialCoverage::OpenEnded(_), is_open_ended) => is_open_ended,
            (InitialCoverage::Closed, true) => false,
            (InitialCoverage::Closed, false) => self.files() == now.files(),
        }
    }

    /// Whether a run in that directory would run what existed at the start, as far as that is known.
    pub(crate) fn is_as_it_began(&self, cwd: &Path) -> bool {
        match &self.runs {
            // A module that is gone has no other content: its runner keeps the version that it loaded.
            FileOrigin::Module(module) if is_gone(module) => true,
            FileOrigin::Module(_) => self.still_holds(cwd),
            FileOrigin::Nowhere => true,
            FileOrigin::Command(_) => match &self.initial_coverage {
                InitialCoverage::Closed => self.still_holds(cwd),
                InitialCoverage::OpenEnded(Some(program)) if program.is_unchanged() => true,
                InitialCoverage::OpenEnded(_) => self.is_open_ended(),
            },
        }
    }

    /// The program of a command that is open-ended because its program lies outside of the project: as long as it is the
    /// same file, nothing else has to be looked at.
    fn program_outside(&self, why: UncoveredReason) -> Option<StampedProgram> {
        let FileOrigin::Command(command) = &self.runs else { return None };
        if why != UncoveredReason::UnknownProgram {
            return None;
        }
        let path = command.program_path(&self.root)?;
        Some(StampedProgram { stamp: FileStamp::read(&path)?, path })
    }

    /// The fingerprint of a hook that this grant covers, or did before the hook changed.
    pub(crate) fn granted_by(mut self, grant: &Grant) -> Self {
        self.granted = Some(Arc::new(grant.clone()));
        self
    }

    /// Whether the hook was granted as one that has no effect.
    pub(crate) fn was_granted_as_shadow(&self) -> bool {
        let described = self.granted.as_ref().and_then(|grant| grant.described.as_ref());
        described.is_some_and(|described| described.enforce.is_some())
    }

    /// The grant that covers the hook, or did before it changed; none when there never was one.
    #[must_use]
    pub fn granted(&self) -> Option<&Grant> {
        self.granted.as_deref()
    }

    /// Whether the hook is a module of which a file contains the text, as far as its files can be read.
    pub(crate) fn is_module_mentioning(&self, text: &str) -> bool {
        let FileOrigin::Module(_) = &self.runs else { return false };
        let mentions = |path: &Path| {
            let bytes = read_within(path, &mut { LARGEST }).ok().flatten();
            // A file that cannot be read may contain the text.
            bytes.is_none_or(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        };
        self.files().iter().any(|file| mentions(&file.path))
    }

    /// The fingerprint of a module with the capabilities that its grant leaves it.
    pub(crate) fn narrowed_to(mut self, capabilities: Option<Capabilities>) -> Self {
        self.narrowed_to = capabilities;
        self
    }

    /// The only capabilities that its grant leaves it, if those are not all.
    #[must_use]
    pub fn capabilities(&self) -> Option<&Capabilities> {
        self.narrowed_to.as_ref()
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

    /// The digest of the definition without its terms, which grants of earlier versions are compared with.
    pub(crate) fn definition_without_terms(&self) -> Digest {
        let [_, without_terms] = *self.digests();
        without_terms
    }

    /// The digest of definition and files; none when a file cannot be covered, so that the hook cannot be trusted.
    #[must_use]
    pub fn content(&self) -> Option<Digest> {
        self.content_under(self.definition())
    }

    /// The digest of the files under that definition.
    pub(crate) fn content_under(&self, definition: Digest) -> Option<Digest> {
        let inspected = self.inspected();
        if !inspected.coverable {
            return None;
        }
        let mut text = definition.bytes().to_vec();
        for file in inspected.files.iter() {
            let inside =
                |path: &Path| path.strip_prefix(&self.root).unwrap_or(path).as_os_str().as_encoded_bytes().to_owned();
            text.extend(inside(&file.path));
            text.push(0);
            if file.real != file.path {
                text.extend(inside(&file.real));
                text.push(0);
            }
            text.extend(file.digest?.bytes());
        }
        Some(Digest::of(&text))
    }

    /// The project.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files the hook names.
    #[must_use]
    pub fn files(&self) -> &[NamedFile] {
        &self.inspected().files
    }

    /// The files outside of the project that the hook names, each with the digest of what it is known by: where it leads,
    /// or which interpreter it is.
    pub(crate) fn outside(&self) -> &[GrantedFile] {
        &self.inspected().outside
    }

    /// The links outside of the project that the hook names and where they lead, which a grant remembers. Interpreters are left
    /// out: their links change with every update of the system.
    #[must_use]
    pub fn links_outside(&self) -> Vec<NamedFile> {
        let named = self.runs.paths(&self.root, &self.root, &mut false).outside.into_iter();
        let links = named.filter(|file| file.path != file.real && file.known_by() == file.real.as_os_str());
        links.map(|file| NamedFile { path: file.path, real: file.real, digest: None }).collect()
    }

    /// Whether the files outside of the project that a grant names lead where they led.
    pub(crate) fn leads_where(&self, granted: &[GrantedFile]) -> bool {
        granted.is_empty() || lead_where(granted, self.outside())
    }

    /// The same files, shared: every call of a module carries them, and none copies them.
    pub(crate) fn shared_files(&self) -> Arc<[NamedFile]> {
        Arc::clone(&self.inspected().files)
    }

    /// Whether the files could not be read for lack of resources. The fingerprint then says nothing about their
    /// content.
    pub(crate) fn is_out_of_resources(&self) -> bool {
        self.inspected.get().is_some_and(|inspected| inspected.out_of_resources)
    }

    fn inspected(&self) -> &InspectedFiles {
        self.inspected.get_or_init(|| self.runs.inspect(&self.root, &self.root))
    }

    /// The paths of the files that the hook names, without reading them: for display, which must be cheap however large
    /// the files are.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        match self.inspected.get() {
            Some(inspected) => inspected.files.iter().map(|file| file.path.clone()).collect(),
            None => {
                self.runs.paths(&self.root, &self.root, &mut false).found.into_iter().map(|found| found.path).collect()
            }
        }
    }

    /// Why the command may run something of the project that is not among [`Fingerprint::files`], so that only its text
    /// can be trusted; nothing if it runs these files and no others.
    #[must_use]
    pub fn open_end(&self) -> Option<UncoveredReason> {
        match &self.runs {
            FileOrigin::Module(_) | FileOrigin::Nowhere => None,
            FileOrigin::Command(command) => command.open_end(&self.root),
        }
    }

    /// Whether the command may run something of the project that is not among [`Fingerprint::files`].
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        self.open_end().is_some()
    }

    /// Whether a run in that directory would run exactly the covered files and nothing else of the project.
    #[must_use]
    pub fn still_holds(&self, cwd: &Path) -> bool {
        let known = self.inspected();
        let cwd = real_path(cwd).unwrap_or_else(|_| cwd.to_owned());
        // In another directory the words may lead to other files. Each must be a covered one. They may also lead to no
        // file: then bash, for one, looks for a script of that name on the search path. So each covered file must be
        // named there, too.
        let is_known = |file: &NamedFile| {
            let mut files = known.files.iter();
            files.any(|known| known.real == file.real && known.digest == file.digest && file.digest.is_some())
        };
        let elsewhere = || {
            let there = self.runs.inspect(&self.root, &cwd);
            let is_named = |known: &NamedFile| there.files.iter().any(|file| file.real == known.real);
            there.files.iter().all(is_known) && known.files.iter().all(is_named) && !known.opens_in(&there)
        };
        known.are_still(&self.runs.inspect(&self.root, &self.root)) && (*self.root == *cwd || elsewhere())
    }
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| is_absence(&error))
}

/// The longest command that is searched for files. No system starts a longer one.
const LONGEST_COMMAND: usize = 128 * 1024;

/// The most bytes that are hashed for one hook. A hook that names more cannot be granted.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The command of a hook, with what its words are looked up in.
fn command_of(root: &Path, hook: &Hook) -> Command {
    let text = hook.action.command().unwrap_or(CommandText::Line("".into()));
    let environment = hook.environment.as_deref();
    let search_path = environment.and_then(|environment| environment.get("PATH")).map(OsStr::to_owned);
    let home = environment.and_then(|environment| environment.get("HOME")).map(PathBuf::from);
    Command { text, folders: folders(root, hook).into(), search_path, home }
}

/// Every regular file that a hook's command names, inside of a project or not, when it is started in that directory.
pub(crate) fn files_named_by(hook: &Hook, cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut command = command_of(cwd, hook);
    let home = home.map(|home| [("HOME".to_owned(), home.to_owned()), ("~".to_owned(), home.to_owned())]);
    command.folders = command.folders.iter().cloned().chain(home.into_iter().flatten()).collect();
    command.files_anywhere(cwd)
}

/// The folders that variables of a command mean.
fn folders(root: &Path, hook: &Hook) -> Vec<(String, PathBuf)> {
    let of_project = DialectId::project_variables().chain(["PWD"]);
    let mut folders: Vec<_> = of_project.map(|name| (name.to_owned(), root.to_owned())).collect();
    if let Some(owner) = &hook.owner {
        folders.push(("pluginDir".to_owned(), owner.dir.clone()));
        folders.push(("cwd".to_owned(), root.to_owned()));
    }
    folders
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
