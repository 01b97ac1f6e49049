//! The differences between granted hooks and the current ones: changed, new and removed hooks, and changed files.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::grants::Grants;
use crate::hook::condition::HookCondition;
use crate::hook::fingerprint::{Fingerprint, NamedFile};
use crate::hook::grant::{Grant, GrantedFile};
use crate::hook::{Hook, OnFailure, Trust};
use crate::matcher::Matcher;
use crate::text::names::named;

/// A difference between what was granted and what is there.
#[derive(Clone, Debug)]
pub struct HookChange {
    /// What became of the hook.
    pub kind: ChangeKind,
    /// The hook as it is now; none when it is gone.
    pub hook: Option<Arc<Hook>>,
    /// What was granted; none when it is new.
    pub granted: Option<Grant>,
    /// The files that differ.
    pub files: Vec<FileChange>,
}

named! {
    /// What became of a hook.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ChangeKind {
        /// It is not what was granted.
        Changed = "changed",
        /// Nothing like it was ever granted.
        New = "new",
        /// It was granted, and is not there any more.
        Gone = "gone",
    }
}

/// How a hook differs from what its user trusted. As a text it is the rest of a sentence that begins with the hook's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEdit {
    /// The user trusted it, and it was edited since.
    Edited,
    /// The user trusted the hook of this name, which is gone, and never this one, which takes its place.
    TakesPlaceOf(String),
}

impl HookEdit {
    /// What to do about it, as a sentence for people. A model is told the first half only: a grant is not its decision.
    pub(crate) const HINT: &'static str =
        "look at the change with `hookrail trust diff`, then run `hookrail trust grant`";

    /// How a hook that is known to differ from what was trusted does so.
    pub(crate) fn of(hook: &Hook) -> Self {
        let taken = hook.trust.any_fingerprint();
        taken.and_then(|taken| Some(Self::since(taken.granted()?, hook, taken))).unwrap_or(Self::Edited)
    }

    fn since(grant: &Grant, hook: &Hook, taken: &Fingerprint) -> Self {
        let alike = [same_name, same_command, shares_a_file];
        match grant.is_of(taken) || alike.iter().any(|alike| alike(grant, hook, taken)) {
            true => Self::Edited,
            false => Self::TakesPlaceOf(grant.hook.clone()),
        }
    }
}

impl fmt::Display for HookEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited => f.write_str("was edited since you trusted it"),
            Self::TakesPlaceOf(before) => write!(f, "takes the place of `{before}`, which you trusted"),
        }
    }
}

impl Hook {
    /// How the hook differs from what its user trusted; none if it does not, or if nothing like it was ever trusted.
    #[must_use]
    pub fn edit(&self) -> Option<HookEdit> {
        matches!(self.trust, Trust::Changed(_)).then(|| HookEdit::of(self))
    }
}

impl HookChange {
    /// How the hook differs from what was granted; none if it is new or gone.
    #[must_use]
    pub fn edit(&self) -> Option<HookEdit> {
        let (hook, grant) = (self.hook.as_ref()?, self.granted.as_ref()?);
        Some(HookEdit::since(grant, hook, hook.trust.fingerprint()?))
    }
}

/// A file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// What was in it.
    pub before: FileState,
    /// What is in it.
    pub after: FileState,
}

/// What is known about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The hook did not name it, or it was not there.
    Absent,
    /// It cannot be read, or is too large to be covered.
    Unreadable,
    /// The digest of its bytes, in hexadecimal.
    Holds(String),
}

impl FileChange {
    /// The name of the change in JSON and in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match (&self.before, &self.after) {
            (FileState::Absent, _) => "added",
            (_, FileState::Absent) => "removed",
            _ => "changed",
        }
    }
}

impl Grants {
    /// The differences between these hooks and what was granted. A hook whose definition changed is recognised by its
    /// name, else by a file that it still names, else because exactly one hook of its event was removed and one was
    /// added.
    #[must_use]
    pub fn changes(&self, hooks: &[Arc<Hook>]) -> Vec<HookChange> {
        let mut changes = Vec::new();
        for hook in hooks {
            if let Trust::Changed(taken) = &hook.trust {
                changes.push(changed(hook, taken, taken.granted()));
            }
        }
        let plain: Vec<&Hook> = hooks.iter().map(|hook| &**hook).collect();
        let Pairing { pairs, found, lost } = self.pair_up(&plain);
        let at = |place: usize| hooks.get(place).and_then(|hook| Some((hook, hook.trust.fingerprint()?)));
        for (place, grant) in pairs {
            changes.extend(at(place).map(|(hook, taken)| changed(hook, taken, Some(grant))));
        }
        for (hook, taken) in found.into_iter().filter_map(at) {
            changes.push(HookChange { kind: ChangeKind::New, ..changed(hook, taken, None) });
        }
        changes.extend(lost.into_iter().map(|grant| HookChange {
            kind: ChangeKind::Gone,
            hook: None,
            granted: Some(grant.clone()),
            files: Vec::new(),
        }));
        changes
    }

    /// Recognises granted guards whose definition has changed. They count as changed and not as new, because otherwise
    /// an edit of its definition would make a guard disappear.
    pub(crate) fn recognise_guards(&self, hooks: &mut [Hook]) {
        if !self.may_hold_guards() {
            return;
        }
        let plain: Vec<&Hook> = hooks.iter().collect();
        let pairs: Vec<(usize, &Grant)> = self.pair_up(&plain).pairs;
        for (place, grant) in pairs {
            let Some(hook) = hooks.get_mut(place) else { continue };
            if grant.policy(hook) != OnFailure::Allow
                && let Trust::Never(taken) = &hook.trust
            {
                hook.trust = Trust::Changed(taken.clone().granted_by(grant));
                let described = grant.described.as_ref();
                let pattern = described.and_then(|described| described.matcher.as_deref());
                let matcher = |pattern: &str| hook.dialect.contract().matcher(hook.event, pattern);
                hook.granted_matcher = Some(pattern.map_or_else(Matcher::everything, matcher));
                hook.conditions = HookCondition::as_granted(std::mem::take(&mut hook.conditions), described);
            }
        }
    }

    /// Pairs hooks that were never granted with granted hooks that are gone.
    fn pair_up<'g>(&'g self, hooks: &[&Hook]) -> Pairing<'g> {
        let is_known = |grant: &&Grant| {
            let of = |taken: &Fingerprint| {
                grant.is_of(taken) || taken.granted().is_some_and(|granted| granted.definition == grant.definition)
            };
            hooks.iter().any(|hook| hook.trust.any_fingerprint().is_some_and(of))
        };
        let lost = self.hooks.iter().filter(|grant| !is_known(grant)).collect();
        let is_new = |place: &usize| hooks.get(*place).is_some_and(|hook| matches!(hook.trust, Trust::Never(_)));
        let found = (0..hooks.len()).filter(is_new).collect();
        let mut pairing = Pairing { pairs: Vec::new(), found, lost };
        for alike in [same_name, same_command, shares_a_file] {
            pairing.take_out(hooks, alike);
        }
        pairing.take_out_lone_ones(hooks);
        pairing
    }
}

/// Hooks and the grants that seem to belong to them.
struct Pairing<'g> {
    pairs: Vec<(usize, &'g Grant)>,
    /// Hooks that no grant seems to belong to.
    found: Vec<usize>,
    /// Grants that seem to belong to no hook.
    lost: Vec<&'g Grant>,
}

impl Pairing<'_> {
    /// Removes those that belong together.
    fn take_out(&mut self, hooks: &[&Hook], alike: fn(&Grant, &Hook, &Fingerprint) -> bool) {
        let Self { pairs, found, lost } = self;
        found.retain(|place| {
            let hook = hooks.get(*place).and_then(|hook| Some((hook, hook.trust.fingerprint()?)));
            let at = hook.and_then(|(hook, taken)| lost.iter().position(|grant| alike(grant, hook, taken)));
            let Some(at) = at else { return true };
            pairs.push((*place, lost.remove(at)));
            false
        });
    }

    /// Pairs the only removed hook of an event with the only added one.
    fn take_out_lone_ones(&mut self, hooks: &[&Hook]) {
        let Self { pairs, found, lost } = self;
        let event = |place: usize| hooks.get(place).map(|hook| hook.event);
        let came = |place: usize, all: &[usize]| all.iter().filter(|other| event(**other) == event(place)).count();
        let all = found.clone();
        found.retain(|place| {
            let of_event = |grant: &&Grant| event(*place).is_some_and(|event| grant.event == event.name());
            let alone = came(*place, &all) == 1 && lost.iter().filter(|grant| of_event(grant)).count() == 1;
            let Some(at) = lost.iter().position(of_event).filter(|_| alone) else { return true };
            pairs.push((*place, lost.remove(at)));
            false
        });
    }
}

fn changed(hook: &Arc<Hook>, taken: &Fingerprint, granted: Option<&Grant>) -> HookChange {
    let before = granted.map_or(&[][..], |grant| &grant.files);
    HookChange {
        kind: ChangeKind::Changed,
        hook: Some(Arc::clone(hook)),
        granted: granted.cloned(),
        files: granted.map_or_else(Vec::new, |grant| {
            differences(before, taken.files()).into_iter().chain(elsewhere(&grant.outside, taken.outside())).collect()
        }),
    }
}

fn same_name(grant: &Grant, hook: &Hook, _taken: &Fingerprint) -> bool {
    grant.event == hook.event.name() && grant.hook == *hook.label
}

fn same_command(grant: &Grant, hook: &Hook, taken: &Fingerprint) -> bool {
    let before = grant.described.as_ref().map(|described| (&described.dialect, &described.kind, &described.command));
    let now = taken.described();
    grant.event == hook.event.name() && before == Some((&now.dialect, &now.kind, &now.command))
}

fn shares_a_file(grant: &Grant, hook: &Hook, taken: &Fingerprint) -> bool {
    let paths = taken.paths();
    grant.event == hook.event.name() && grant.files.iter().any(|file| paths.contains(&file.path))
}

/// The files outside of the project that lead elsewhere.
fn elsewhere<'f>(before: &'f [GrantedFile], after: &'f [GrantedFile]) -> impl Iterator<Item = FileChange> + 'f {
    before.iter().filter_map(|file| {
        let now = after.iter().find(|now| now.path == file.path && now.sha256 != file.sha256)?;
        let holds = |file: &GrantedFile| FileState::Holds(file.sha256.clone());
        Some(FileChange { path: file.path.clone(), before: holds(file), after: holds(now) })
    })
}

fn differences(before: &[GrantedFile], after: &[NamedFile]) -> Vec<FileChange> {
    let state = |file: &NamedFile| file.digest.map_or(FileState::Unreadable, |digest| FileState::Holds(digest.hex()));
    let mut changes: Vec<FileChange> = Vec::new();
    for file in before {
        let now = after.iter().find(|now| now.path == file.path).map_or(FileState::Absent, state);
        changes.push(FileChange { path: file.path.clone(), before: FileState::Holds(file.sha256.clone()), after: now });
    }
    for file in after.iter().filter(|file| !before.iter().any(|old| old.path == file.path)) {
        changes.push(FileChange { path: file.path.clone(), before: FileState::Absent, after: state(file) });
    }
    changes.retain(|change| change.before != change.after);
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}
