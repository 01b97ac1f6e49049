//! What a machine's enrolment in a fleet puts in force: the folder of a bundle, whether its hooks count, and what an old or
//! missing bundle does to events that can be denied.
//!
//! Another program fetches a bundle, verifies it, unpacks it and writes the file that is read here. This module knows neither
//! signatures nor archives nor networks, so that every build of the engine honours an enrolment.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hookrail_spawn::{UserFolders, is_ours_alone};

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Location, SourceKind};
use crate::config::{
    Document, KeptReason, LoadMode, PlacedValue, Source, SourceId, SourceReader, ValueShape, is_absence, lies_in,
    not_roots_alone, read_file,
};
use crate::dialect::SettingsReach;
use crate::dialect::machine_files::ROOT_VARIABLE;
use crate::dialect::snapshot::SourceRefusal;
use crate::hook::{Action, Enforcement, Hook, OnFailure};
use crate::outcome::Refusal;
use crate::run::Environment;

/// The file whose existence says that the machine or the user is enrolled.
const CONFIGURATION: &str = "hookrail/fleet.toml";

/// The file that names the bundle in force.
const POINTER: &str = "current.json";

/// The file with the time of the last successful look at the source of bundles.
const CHECKED: &str = "checked";

/// The version of the pointer's format.
const FORMAT: &str = "1";

/// A bundle that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bundle {
    /// The layer: system or user.
    pub(crate) kind: SourceKind,
    /// The folder with its `settings.json`, `plugins` and `modules`, and a folder for each agent whose hooks it brings.
    pub(crate) folder: PathBuf,
    pub(crate) enforcement: Enforcement,
    /// What its settings act on, beside bringing hooks.
    pub(crate) reach: SettingsReach,
}

/// The bundles in force, and what is to be said about them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Enrolment {
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) refusals: Vec<(SourceKind, SourceRefusal)>,
    /// When this has to be read again although no file changes.
    pub(crate) changes_at: Option<SystemTime>,
}

/// Where one enrolment is.
struct Place {
    kind: SourceKind,
    configuration: PathBuf,
    state: PathBuf,
    owner: StateOwner,
}

/// The owner that the state must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StateOwner {
    /// Root, and for the folders above it too.
    Root,
    /// Root or the user of this process.
    RootOrUser,
}

/// The content of a pointer.
#[derive(Clone, Debug)]
struct Pointer {
    bundles: Vec<PointedBundle>,
    stale_after: Duration,
    expired: OnFailure,
}

/// A bundle that a pointer names.
#[derive(Clone, Debug)]
struct PointedBundle {
    digest: String,
    /// Version and channel, for messages.
    label: String,
    enforcement: Enforcement,
    applied: SystemTime,
    expires: Option<SystemTime>,
}

impl Enrolment {
    /// Reads every enrolment: that of the machine, that of the named root, and that of the user.
    pub(crate) fn read(
        project: &Path,
        environment: &Environment,
        reading: &mut SourceReader<'_>,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut enrolment = Self::default();
        for place in places(environment) {
            enrolment.read_place(&place, project, reading, found);
        }
        enrolment
    }

    fn read_place(
        &mut self,
        place: &Place,
        project: &Path,
        reading: &mut SourceReader<'_>,
        found: &mut Vec<Diagnostic>,
    ) {
        let pointer_file = place.state.join(POINTER);
        let source = SourceId { path: &pointer_file, kind: place.kind, dialect: None };
        // A relative path means another place in every directory, so there is nothing to look for.
        let is_enrolled = place.state.is_relative() || reading.is_there(&place.configuration);
        if !is_enrolled && !reading.is_there(&pointer_file) {
            return;
        }
        let read = match place.problem(project) {
            None => reading.read_document(source, found, |document| parse(&document).into()),
            Some(problem) => {
                let message = problem.message.clone();
                found.push(problem);
                let known = reading.last_good(&pointer_file);
                let known = known.and_then(|text| Document::parse(&pointer_file, text.to_string()).ok());
                match known.and_then(|document| parse(&document).ok()) {
                    Some(known) => {
                        reading.keep(&pointer_file, KeptReason::Unusable, found);
                        Source::InForce(known)
                    }
                    None => {
                        reading.unusable(source, message);
                        Source::Unusable(None)
                    }
                }
            }
        };
        let pointer = match read {
            Source::InForce(pointer) => pointer,
            // What cannot be used was reported, and denies if it is the system's.
            Source::Unusable(_) => return,
            Source::Absent => {
                self.refuse_without_bundle(place);
                return;
            }
        };
        if pointer.bundles.is_empty() {
            self.refuse_without_bundle(place);
        }
        for bundle in &pointer.bundles {
            let folder = place.state.join("bundles").join(&bundle.digest);
            // A running process keeps what it knows of a folder that is gone, source by source.
            let problem = match folder.is_dir() {
                false if reading.mode == LoadMode::Refresh => None,
                false => Some(missing_folder(&folder)),
                true => place.foreign_hand([&place.state.join("bundles"), &folder]),
            };
            if let Some(problem) = problem {
                if bundle.enforcement == Enforcement::Enforced {
                    reading.unusable(SourceId { path: &folder, ..source }, problem.message.clone());
                }
                found.push(problem);
                continue;
            }
            // Hooks that count already are not tried out.
            if self.bundles.iter().any(|known| known.folder == folder) {
                continue;
            }
            reading.look_at(&folder);
            self.judge_expiry(place, bundle, pointer.expired, found);
            let reach = if place.is_named() { SettingsReach::OwnHooks } else { SettingsReach::Layers };
            self.bundles.push(Bundle { kind: place.kind, folder, enforcement: bundle.enforcement, reach });
        }
        self.judge_staleness(place, &pointer, is_enrolled, reading, found);
    }

    fn refuse_without_bundle(&mut self, place: &Place) {
        let reason = format!(
            "`{}` enrols this {} in a fleet, and no bundle is installed; run `hookrail bundle apply`",
            place.configuration.display(),
            if place.kind == SourceKind::System { "machine" } else { "user" },
        );
        self.refusals.push((place.kind, SourceRefusal { refusal: Refusal::BundleMissing, reason: reason.into() }));
    }

    /// Reports a bundle that has expired. One that is only tried out decides nothing then either.
    fn judge_expiry(&mut self, place: &Place, bundle: &PointedBundle, policy: OnFailure, found: &mut Vec<Diagnostic>) {
        let Some(at) = bundle.expires else { return };
        if at > SystemTime::now() {
            self.look_again(at);
            return;
        }
        let message = format!("{} has expired; its hooks stay in force", bundle.label);
        match (policy, bundle.enforcement) {
            (OnFailure::Allow, _) | (_, Enforcement::Shadow) => {
                let finding = Diagnostic::new(Code::BundleExpired, message);
                found.push(finding.at(Location::whole_file(&place.state.join(POINTER))).hint(APPLY_HINT));
            }
            (OnFailure::Ask | OnFailure::Block, Enforcement::Enforced) => {
                let reason = format!("{message}, and its channel says `{policy}`; {APPLY_HINT}");
                let refusal = Refusal::BundleExpired(policy);
                self.refusals.push((place.kind, SourceRefusal { refusal, reason: reason.into() }));
            }
        }
    }

    /// Reports bundles that get no updates.
    fn judge_staleness(
        &mut self,
        place: &Place,
        pointer: &Pointer,
        is_enrolled: bool,
        reading: &mut SourceReader<'_>,
        found: &mut Vec<Diagnostic>,
    ) {
        let Some(newest) = pointer.bundles.last() else { return };
        let label = &newest.label;
        let checked_file = place.state.join(CHECKED);
        let stale_at = last_check(&checked_file).unwrap_or(newest.applied).checked_add(pointer.stale_after);
        let message = match stale_at {
            _ if !is_enrolled => {
                format!("{label} gets no updates, because `{}` is gone", place.configuration.display())
            }
            Some(at) if at > SystemTime::now() => {
                self.look_again(at);
                return;
            }
            _ => format!("{label} gets no updates: its source was last reached longer ago than `stale_after`"),
        };
        // Until now the next look was due by the clock; a successful check has to be noticed at once.
        reading.look_at(&checked_file);
        let finding = Diagnostic::new(Code::BundleStale, message);
        found.push(finding.at(Location::whole_file(&place.state.join(POINTER))).hint(APPLY_HINT));
    }

    fn look_again(&mut self, at: SystemTime) {
        self.changes_at = Some(self.changes_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Takes every effect from the hooks of bundles that are tried out, and forgets what is unusable in them.
    pub(crate) fn apply_shadow(&self, hooks: &mut Vec<Hook>, reading: &mut SourceReader<'_>) {
        let shadows: Vec<&Path> = self
            .bundles
            .iter()
            .filter(|bundle| bundle.enforcement == Enforcement::Shadow)
            .map(|bundle| bundle.folder.as_path())
            .collect();
        if shadows.is_empty() {
            return;
        }
        let is_shadow = |path: &Path| shadows.iter().any(|folder| path.starts_with(folder));
        reading.report.unusable.retain(|source| !is_shadow(&source.path));
        hooks.retain(|hook| !(is_shadow(&hook.origin.location.file) && matches!(hook.action, Action::Unusable(_))));
        for hook in hooks.iter_mut().filter(|hook| is_shadow(&hook.origin.location.file)) {
            hook.enforcement = Enforcement::Shadow;
        }
    }

    /// Whether a file belongs to a bundle that is tried out.
    pub(crate) fn is_shadow(&self, file: &Path) -> bool {
        let shadows = self.bundles.iter().filter(|bundle| bundle.enforcement == Enforcement::Shadow);
        shadows.into_iter().any(|bundle| file.starts_with(&bundle.folder))
    }
}

const APPLY_HINT: &str = "run `hookrail bundle apply`";

/// Whether the machine, not only the user, is enrolled. What cannot be looked at counts.
pub(crate) fn is_machine_enrolled(environment: &Environment) -> bool {
    let is_there = |path: &Path| !path.symlink_metadata().is_err_and(|error| is_absence(&error));
    let of_machine = |place: &Place| place.kind == SourceKind::System;
    let mut places = places(environment).into_iter().filter(of_machine);
    places.any(|place| is_there(&place.configuration) || is_there(&place.state.join(POINTER)))
}

fn places(environment: &Environment) -> Vec<Place> {
    let path = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut places = vec![Place::under(Path::new("/"), StateOwner::Root)];
    if let Some(root) = path(ROOT_VARIABLE) {
        places.push(Place::under(&root, StateOwner::RootOrUser));
    }
    if let UserFolders { configuration: Some(configuration), state: Some(state), .. } = UserFolders::of(environment) {
        places.push(Place {
            kind: SourceKind::User,
            configuration: configuration.join(CONFIGURATION),
            state: state.join("hookrail/fleet"),
            owner: StateOwner::RootOrUser,
        });
    }
    places
}

impl Place {
    fn under(root: &Path, owner: StateOwner) -> Self {
        let configuration = root.join("etc").join(CONFIGURATION);
        Self { kind: SourceKind::System, configuration, state: root.join("var/lib/hookrail"), owner }
    }

    /// Whether the environment names the root.
    fn is_named(&self) -> bool {
        self.kind == SourceKind::System && self.owner == StateOwner::RootOrUser
    }

    /// Why nothing at this place can be used.
    fn problem(&self, project: &Path) -> Option<Diagnostic> {
        if self.state.is_relative() {
            return Some(unsafe_place(&self.state, "its path is relative"));
        }
        if self.is_named() && lies_in(&self.state, project) {
            return Some(unsafe_place(&self.state, "it lies in the project"));
        }
        self.foreign_hand([&self.state, &self.state.join(POINTER)])
    }

    /// The first path that others than its owner can change.
    fn foreign_hand<const COUNT: usize>(&self, paths: [&Path; COUNT]) -> Option<Diagnostic> {
        for path in paths {
            // What is missing or cannot be looked at is found out by the reader.
            let Ok(about) = path.symlink_metadata() else { continue };
            if about.is_symlink() {
                return Some(unsafe_place(path, "it is a link"));
            }
            if self.owner == StateOwner::Root && not_roots_alone(path).is_some() {
                return Some(unsafe_place(path, "it or a folder above it is not root's alone"));
            }
            if !is_ours_alone(&about) {
                return Some(unsafe_place(path, "other users can change it"));
            }
        }
        None
    }
}

fn unsafe_place(path: &Path, why: &str) -> Diagnostic {
    let message = format!("no bundle can be used, because of `{}`: {why}", path.display());
    let finding = Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(path));
    finding.hint("make it and its folders their owner's alone, and install the bundle again")
}

fn missing_folder(folder: &Path) -> Diagnostic {
    let message = format!("the folder of the bundle, `{}`, is missing", folder.display());
    Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(folder)).hint(APPLY_HINT)
}

fn last_check(file: &Path) -> Option<SystemTime> {
    let text = read_file(file).ok().flatten()?;
    seconds(text.trim())
}

fn seconds(text: &str) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(text.parse().ok()?))
}

fn parse(document: &Document) -> Result<Pointer, Diagnostic> {
    let Some(root) = document.root().filter(|root| root.members().is_some()) else {
        let message = "the file that names the bundle in force must hold an object";
        return Err(Diagnostic::new(Code::FileShape, message).at(document.location(&(0..0))));
    };
    let fields = Fields { document, node: root };
    if fields.number("format") != Some(FORMAT) {
        return Err(fields.wrong("format"));
    }
    let bundles = root.get("bundles").and_then(PlacedValue::elements).ok_or_else(|| fields.wrong("bundles"))?;
    let bundles = bundles.iter().map(|node| parse_bundle(&Fields { document, node }));
    let stale_after = fields.number("stale_after").and_then(|number| number.parse().ok()).map(Duration::from_secs);
    let named = |name: &str| OnFailure::ALL.into_iter().find(|policy| policy.name() == name);
    Ok(Pointer {
        bundles: bundles.collect::<Result<_, _>>()?,
        stale_after: stale_after.ok_or_else(|| fields.wrong("stale_after"))?,
        expired: fields.text("expired").and_then(named).ok_or_else(|| fields.wrong("expired"))?,
    })
}

fn parse_bundle(fields: &Fields<'_>) -> Result<PointedBundle, Diagnostic> {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_digest = |text: &&str| text.len() == 64 && is_hex(text);
    let digest = fields.text("digest").filter(is_digest).ok_or_else(|| fields.wrong("digest"))?;
    let channel = fields.text("channel").ok_or_else(|| fields.wrong("channel"))?;
    let version = fields.number("version").ok_or_else(|| fields.wrong("version"))?;
    let enforcement = match fields.node.get("shadow").map(|node| &node.shape) {
        Some(ValueShape::Flag(false)) => Enforcement::Enforced,
        Some(ValueShape::Flag(true)) => Enforcement::Shadow,
        _ => return Err(fields.wrong("shadow")),
    };
    let expires = match fields.node.get("expires") {
        None => None,
        Some(_) => Some(fields.number("expires").and_then(seconds).ok_or_else(|| fields.wrong("expires"))?),
    };
    Ok(PointedBundle {
        digest: digest.to_owned(),
        label: format!("bundle {version} of channel `{channel}`"),
        enforcement,
        applied: fields.number("applied").and_then(seconds).ok_or_else(|| fields.wrong("applied"))?,
        expires,
    })
}

/// The members of an object.
struct Fields<'d> {
    document: &'d Document,
    node: &'d PlacedValue,
}

impl Fields<'_> {
    fn number(&self, key: &str) -> Option<&str> {
        match self.node.get(key).map(|node| &node.shape) {
            Some(ValueShape::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.node.get(key).and_then(PlacedValue::text)
    }

    fn wrong(&self, key: &str) -> Diagnostic {
        let span = self.node.get(key).map_or(&self.node.span, |node| &node.span);
        self.document.finding(Code::FileShape, span, format!("`{key}` is missing or has a value that is not known"))
    }
}
