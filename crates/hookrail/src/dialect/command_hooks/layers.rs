//! Settings files of an agent with the section `hooks`: what each layer reads, as positions in its file.

use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::{CommandDialect, read_event};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Location, SourceKind};
use crate::config::{
    Document, KeptReason, Parsed, PlacedValue, Source, SourceId, SourceReader, Usability, is_absence, not_roots_alone,
};
use crate::dialect::{MachineFile, SettingsReach};
use crate::hook::{Action, Authority, Hook, OnFailure};

/// A settings file, and the layer that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct LayerFile {
    pub(crate) kind: SourceKind,
    pub(crate) file: PathBuf,
    pub(crate) syntax: LayerSyntax,
    /// What its settings act on, beside bringing hooks.
    pub(crate) reach: SettingsReach,
}

impl LayerFile {
    /// A file of the project or the user.
    pub(crate) fn new(kind: SourceKind, file: PathBuf, syntax: LayerSyntax) -> Self {
        Self { kind, file, syntax, reach: SettingsReach::Layers }
    }

    /// A file of the machine.
    pub(crate) fn of_machine(file: MachineFile, syntax: LayerSyntax) -> Self {
        Self { kind: SourceKind::System, file: file.path, syntax, reach: file.reach }
    }
}

/// What the agent accepts in its files. It ignores a file that is anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerSyntax {
    /// JSON and nothing else.
    StrictJson,
    /// JSON with comments and trailing commas.
    WithComments,
    /// TOML.
    Toml,
}

impl LayerSyntax {
    fn parse(self, file: &Path, text: String) -> Result<Document, Diagnostic> {
        match self {
            Self::StrictJson | Self::WithComments => Document::parse(file, text),
            Self::Toml => Document::parse_toml(file, text),
        }
    }
}

/// What a layer has beside its hooks: settings that only its dialect reads.
pub(crate) struct ReadLayer<S> {
    pub(crate) hooks: Vec<Hook>,
    pub(crate) settings: S,
}

/// Reads the hooks of a file, and with `settings` what else its dialect wants to know of it.
pub(crate) fn read_layer<D: CommandDialect, S: Default>(
    layer: &LayerFile,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
    settings: impl Fn(&Document, &PlacedValue, &mut Vec<Diagnostic>) -> S,
) -> Option<ReadLayer<S>> {
    let place = SourceId { path: &layer.file, kind: layer.kind, dialect: Some(D::DIALECT) };
    let read = |document: Document| read_document::<D, S>(&document, layer, &settings);
    // A root that a variable names is taken as its invoker gave it.
    let is_checked = layer.kind.authority() == Authority::System && layer.reach == SettingsReach::Layers;
    let problem = is_checked.then(|| system_file_problem(&layer.file)).flatten();
    let Some(problem) = problem else {
        let parse = |text: &str| match layer.syntax.parse(&layer.file, text.to_owned()) {
            Ok(document) => read(document),
            Err(problem) => Parsed::broken(problem),
        };
        return match reading.read(place, found, parse) {
            Source::InForce(read) | Source::Unusable(Some(read)) => Some(read),
            Source::Absent | Source::Unusable(None) => None,
        };
    };
    let message = problem.message.clone();
    found.push(problem);
    reading.look_at(&layer.file);
    let Some(text) = reading.last_good(&layer.file) else {
        reading.unusable(place, message);
        return None;
    };
    reading.keep(&layer.file, KeptReason::Unusable, found);
    layer.syntax.parse(&layer.file, text.to_string()).ok().and_then(|document| read(document).value)
}

fn read_document<D: CommandDialect, S: Default>(
    document: &Document,
    layer: &LayerFile,
    settings: &impl Fn(&Document, &PlacedValue, &mut Vec<Diagnostic>) -> S,
) -> Parsed<ReadLayer<S>> {
    let mut found = Vec::new();
    let nothing = |problems| Parsed {
        value: Some(ReadLayer { hooks: Vec::new(), settings: S::default() }),
        problems,
        verdict: Usability::Usable,
    };
    let Some(root) = document.root() else { return nothing(found) };
    if root.members().is_none() {
        return Parsed::broken(document.mismatch(Code::FileShape, root, "settings must be an object"));
    }
    document.duplicate_keys(root, &mut found);
    let mut hooks = root.get("hooks").map(|section| section_hooks::<D>(document, layer.kind, section, &mut found));
    let settings = match layer.reach {
        SettingsReach::Layers => settings(document, root, &mut found),
        SettingsReach::OwnHooks => S::default(),
    };
    let refused = match layer.syntax {
        LayerSyntax::StrictJson => not_strict(document),
        LayerSyntax::WithComments | LayerSyntax::Toml => None,
    };
    let Some(refused) = refused else {
        let hooks = hooks.unwrap_or_default();
        return Parsed { value: Some(ReadLayer { hooks, settings }), problems: found, verdict: Usability::Usable };
    };
    // The agent has none of these hooks. What is wrong with them otherwise does not matter.
    let why = refused.message.clone();
    let guards = hooks.take().unwrap_or_default().into_iter().filter(|hook| hook.on_failure != OnFailure::Allow);
    let hooks = guards
        .map(|mut hook| {
            hook.action = Action::Unusable(why.as_str().into());
            hook
        })
        .collect();
    Parsed {
        value: Some(ReadLayer { hooks, settings: S::default() }),
        problems: vec![refused],
        verdict: Usability::Broken,
    }
}

/// The hooks of the section of a file.
pub(crate) fn section_hooks<D: CommandDialect>(
    document: &Document,
    kind: SourceKind,
    section: &PlacedValue,
    found: &mut Vec<Diagnostic>,
) -> Vec<Hook> {
    let Some(events) = section.members() else {
        found.push(document.mismatch(Code::SettingType, section, "`hooks` must be an object"));
        return Vec::new();
    };
    let mut hooks = Vec::new();
    for (at, (key, value)) in events.iter().enumerate() {
        // Of repeated keys the last value is used.
        if events.iter().skip(at + 1).any(|(later, _)| later.name == key.name) {
            continue;
        }
        let (read, problems) = read_event::<D>(document, kind, key, value);
        hooks.extend(read);
        found.extend(problems);
    }
    hooks
}

/// What is wrong with a file that only a generous reader reads.
fn not_strict(document: &Document) -> Option<Diagnostic> {
    let text = document.text();
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    let line = text.lines().take(error.line().saturating_sub(1)).map(|line| line.len() + 1).sum::<usize>();
    let at = line + error.column().saturating_sub(1);
    let message = format!("the agent ignores this file, because it is no strict JSON: {error}");
    let finding = document.finding(Code::FileSyntax, &(at..at), message);
    Some(finding.hint("remove comments and trailing commas"))
}

/// What is wrong with a file of the system layer at its default place: it and its folders belong to root, and only root can write
/// them.
pub(crate) fn system_file_problem(file: &Path) -> Option<Diagnostic> {
    // A file that cannot be accessed is not absent; reading it gives the reason.
    if file.symlink_metadata().is_err_and(|error| is_absence(&error)) {
        return None;
    }
    let suspect = not_roots_alone(file)?;
    let message = format!("the system settings cannot be used, because `{}` is not root's alone", suspect.display());
    let finding = Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(file));
    Some(finding.hint("make the file and its folders root's, and writable by root only"))
}
