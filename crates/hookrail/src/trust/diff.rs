//! What has changed since hooks were granted: which are other ones now, which are new, which are gone, and which of their
//! files hold something else.

use std::path::PathBuf;
use std::sync::Arc;

use super::fingerprint::{Fingerprint, NamedFile};
use super::grants::{Grant, GrantedFile, Grants};
use crate::hook::{Hook, Trust};

/// A difference between what was granted and what is there.
#[derive(Clone, Debug)]
#[non_exhaustive]
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

/// What became of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is not what was granted.
    Changed,
    /// Nothing like it was ever granted.
    New,
    /// It was granted, and is not there any more.
    Gone,
}

impl ChangeKind {
    /// The name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// A file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// How these hooks differ from what was granted. A hook whose definition changed is found again by its name, else by a
    /// file it still names, else because only one hook of its event went and only one came.
    #[must_use]
    pub fn changes(&self, hooks: &[Arc<Hook>]) -> Vec<HookChange> {
        let mut changes = Vec::new();
        let known = |grant: &&Grant| {
            let same = |taken: &Fingerprint| taken.definition().hex() == grant.definition;
            hooks.iter().any(|hook| hook.trust.fingerprint().is_some_and(same))
        };
        let mut lost: Vec<&Grant> = self.hooks.iter().filter(|grant| !known(grant)).collect();
        let mut found: Vec<(&Arc<Hook>, &Fingerprint)> = Vec::new();
        for hook in hooks {
            match &hook.trust {
                Trust::Changed(taken) => {
                    let granted = self.hooks.iter().find(|grant| grant.definition == taken.definition().hex());
                    changes.push(changed(hook, taken, granted));
                }
                Trust::Never(taken) => found.push((hook, taken)),
                _ => {}
            }
        }
        let pairs = [same_name, shares_a_file].map(|alike| pair(&mut lost, &mut found, alike));
        changes.extend(pairs.into_iter().flatten());
        changes.extend(lone_pairs(&mut lost, &mut found));
        changes.extend(
            found.into_iter().map(|(hook, taken)| HookChange { kind: ChangeKind::New, ..changed(hook, taken, None) }),
        );
        changes.extend(lost.into_iter().map(|grant| HookChange {
            kind: ChangeKind::Gone,
            hook: None,
            granted: Some(grant.clone()),
            files: Vec::new(),
        }));
        changes
    }
}

fn changed(hook: &Arc<Hook>, taken: &Fingerprint, granted: Option<&Grant>) -> HookChange {
    let before = granted.map_or(&[][..], |grant| &grant.files);
    HookChange {
        kind: ChangeKind::Changed,
        hook: Some(Arc::clone(hook)),
        granted: granted.cloned(),
        files: if granted.is_some() { differences(before, taken.files()) } else { Vec::new() },
    }
}

/// Takes out those that belong together.
fn pair(
    lost: &mut Vec<&Grant>,
    found: &mut Vec<(&Arc<Hook>, &Fingerprint)>,
    alike: fn(&Grant, &Hook, &Fingerprint) -> bool,
) -> Vec<HookChange> {
    let mut pairs = Vec::new();
    found.retain(|(hook, taken)| {
        let Some(at) = lost.iter().position(|grant| alike(grant, hook, taken)) else { return true };
        pairs.push(changed(hook, taken, Some(lost.remove(at))));
        false
    });
    pairs
}

fn same_name(grant: &Grant, hook: &Hook, _taken: &Fingerprint) -> bool {
    grant.event == hook.event.name() && grant.hook == *hook.label
}

fn shares_a_file(grant: &Grant, hook: &Hook, taken: &Fingerprint) -> bool {
    let paths = taken.paths();
    grant.event == hook.event.name() && grant.files.iter().any(|file| paths.contains(&file.path))
}

/// Where one hook of an event went and one came, it is the same place that changed.
fn lone_pairs(lost: &mut Vec<&Grant>, found: &mut Vec<(&Arc<Hook>, &Fingerprint)>) -> Vec<HookChange> {
    let only_one_came: Vec<bool> = found
        .iter()
        .map(|(hook, _)| found.iter().filter(|(other, _)| other.event == hook.event).count() == 1)
        .collect();
    let mut only_one_came = only_one_came.into_iter();
    let mut pairs = Vec::new();
    found.retain(|(hook, taken)| {
        let of_event = |grant: &&&Grant| grant.event == hook.event.name();
        let alone = only_one_came.next() == Some(true) && lost.iter().filter(of_event).count() == 1;
        let Some(at) = lost.iter().position(|grant| of_event(&grant)).filter(|_| alone) else { return true };
        pairs.push(changed(hook, taken, Some(lost.remove(at))));
        false
    });
    pairs
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
