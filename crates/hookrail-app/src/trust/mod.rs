//! Trust in a project's hooks: what is granted, what a grant would cover, and its changes.

mod documents;
mod needs;
mod review;

use std::sync::Arc;

use hookrail::Hook;
use hookrail::hook::{Action, Trust};
use hookrail::module::Capabilities;
use hookrail::recorder::{RecordError, TrustChange, TrustEntry};
use hookrail::sources::nearest;
use hookrail::trust::{Fingerprint, Grant, Grants, MissingGuard, TrustError, TrustStore as _};
use hookrail_journal::JournalWarning;

use crate::failure::{Failure, Result};
use crate::journal::{record_trust, trust_in_project};
use crate::project::{Project, ProjectChoice};

pub use documents::{changes_document, status_document};
pub use review::{changes_to_review, grant_reviewed, is_grantable, untrusted};

/// What the journal says about a change of trust. The change stands, even if it could not be recorded.
pub type TrustRecording = std::result::Result<Vec<JournalWarning>, RecordError>;

/// Returns the trust in a hook in a word or two.
pub fn state(hook: &Hook) -> &'static str {
    match hook.trust {
        _ if matches!(hook.action, Action::Missing(_)) => "missing",
        Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Granted(_) => "granted",
        Trust::Changed(_) => "changed",
        Trust::Never(_) => "not granted",
    }
}

/// Returns what a grant of the hook would cover; none for hooks that need no grant.
pub fn fingerprint(hook: &Hook) -> Option<&Fingerprint> {
    hook.trust.fingerprint()
}

/// Returns why a granted guard is missing, if the hook stands for one.
pub fn missing_guard(hook: &Hook) -> Option<&MissingGuard> {
    match &hook.action {
        Action::Missing(guard) => Some(guard),
        Action::Shell(_)
        | Action::Program(_)
        | Action::Module(_)
        | Action::Native(_)
        | Action::Remote(_)
        | Action::Http(_)
        | Action::Rule(_)
        | Action::NotExecutable(_)
        | Action::Unusable(_) => None,
    }
}

/// Grants hooks, and accepts that guards are missing. Grants of earlier versions of these hooks are removed: only what was shown
/// stays granted.
///
/// # Errors
///
/// A file of a hook cannot be covered, or the store cannot be changed.
pub fn grant(
    project: &Project,
    all: &[Arc<Hook>],
    chosen: &[Arc<Hook>],
    missing: &[Arc<Hook>],
    allowed: Option<&[String]>,
) -> Result<TrustRecording> {
    let before = grants(project)?;
    let superseded: Vec<Grant> = before
        .changes(all)
        .into_iter()
        .filter_map(|change| {
            let hook = change.hook?;
            change.granted.filter(|_| chosen.iter().any(|chosen| Arc::ptr_eq(chosen, &hook)))
        })
        .collect();
    let is_replaced = |guard: &Arc<Hook>| chosen.iter().any(|hook| hook.label == guard.label);
    let change = |grants: &mut Grants| {
        grants.project = true;
        superseded.iter().for_each(|old| grants.forget(old));
        for guard in missing {
            match missing_guard(guard) {
                Some(missing) if is_replaced(guard) => grants.forget_missing(missing),
                Some(missing) => grants.accept_missing(missing),
                None => {}
            }
        }
        for hook in chosen {
            if let Some(fingerprint) = fingerprint(hook) {
                grants.grant(hook, fingerprint);
                if let Some(left) = needs::left_by_grant(hook, allowed) {
                    grants.narrow(fingerprint, &left);
                }
            }
        }
    };
    Project::trust_store()?.change(project.root(), change).map_err(store_failure)?;
    Ok(record_grants(project, chosen, missing))
}

/// What was revoked.
pub struct Revoked {
    /// Whether the project as a whole was trusted before.
    pub was_trusted: bool,
    /// The number of hooks.
    pub hooks: usize,
    pub recorded: TrustRecording,
}

/// Revokes the grants of the hooks with these names, or of everything if no name is given.
pub fn revoke(project: &Project, names: &[String]) -> Result<Revoked> {
    let before = grants(project)?;
    if let Some(name) = names.iter().find(|name| !before.hooks.iter().any(|grant| grant.hook == **name)) {
        let known: Vec<&str> = before.hooks.iter().map(|grant| grant.hook.as_str()).collect();
        return Err(unknown_name(name, "is not granted in this project", &known));
    }
    let is_revoked = |name: &String| names.is_empty() || names.contains(name);
    let hooks = before.hooks.iter().filter(|grant| is_revoked(&grant.hook)).count();
    let change = |grants: &mut Grants| {
        grants.project &= !names.is_empty();
        grants.hooks.retain(|grant| !is_revoked(&grant.hook));
    };
    Project::trust_store()?.change(project.root(), change).map_err(store_failure)?;
    let recorded = record_revocations(project, &before, names.is_empty(), is_revoked);
    Ok(Revoked { was_trusted: before.project, hooks, recorded })
}

/// Fails if a file of a hook cannot be read or is too large: a grant would not cover it.
pub fn require_coverable(hooks: &[Arc<Hook>]) -> Result<()> {
    let uncovered = |hook: &&Arc<Hook>| fingerprint(hook).is_none_or(|taken| taken.content().is_none());
    match hooks.iter().find(uncovered) {
        Some(hook) => Err(Failure::new(format!(
            "`{}` names a file that cannot be read or is too large to be trusted",
            hook.label
        ))
        .hint("grant the other hooks by name, as in `hookrail trust grant HOOK`")),
        None => Ok(()),
    }
}

/// Records what was granted.
fn record_grants(project: &Project, hooks: &[Arc<Hook>], missing: &[Arc<Hook>]) -> TrustRecording {
    let content = |hook: &Arc<Hook>| Some(fingerprint(hook)?.content()?.hex());
    let named: Vec<(&Arc<Hook>, Option<String>)> = hooks.iter().map(|hook| (hook, content(hook))).collect();
    let of_hooks = named.iter().map(|(hook, content)| TrustEntry {
        change: TrustChange::Granted,
        hook: Some(&hook.label),
        event: hook.known_event().map(hookrail::EventKind::name),
        content: content.as_deref(),
    });
    let accepted = missing.iter().map(|hook| TrustEntry {
        change: TrustChange::AcceptedMissing,
        hook: Some(&hook.label),
        event: hook.known_event().map(hookrail::EventKind::name),
        content: None,
    });
    let whole = std::iter::once(trust_in_project(TrustChange::Granted));
    let all: Vec<TrustEntry<'_>> = whole.chain(of_hooks).chain(accepted).collect();
    record_trust(project.root(), &all)
}

/// Records what was revoked.
fn record_revocations(
    project: &Project,
    before: &Grants,
    is_whole: bool,
    is_revoked: impl Fn(&String) -> bool,
) -> TrustRecording {
    let revoked = before.hooks.iter().filter(|grant| is_revoked(&grant.hook)).map(|grant| TrustEntry {
        change: TrustChange::Revoked,
        hook: Some(&grant.hook),
        event: Some(&grant.event),
        content: Some(&grant.content),
    });
    let whole = (before.project && is_whole).then(|| trust_in_project(TrustChange::Revoked));
    record_trust(project.root(), &whole.into_iter().chain(revoked).collect::<Vec<_>>())
}

/// Returns the hook with the capabilities that a grant would leave it: those of `--allow`, or what it can need.
pub fn narrowed(hook: &Arc<Hook>, allowed: Option<&[String]>) -> Arc<Hook> {
    let Some(left) = needs::left_by_grant(hook, allowed) else { return Arc::clone(hook) };
    let left = Capabilities::parse(left.iter().map(String::as_str)).unwrap_or(Capabilities::NONE);
    let mut hook = Hook::clone(hook);
    hook.capabilities = hook.capabilities.map(|capabilities| capabilities.intersection(&left));
    Arc::new(hook)
}

/// Loads the project and those of its hooks that need a grant, with the trust that the store gives them.
pub fn load<'c>(choice: impl Into<ProjectChoice<'c>>) -> Result<(Project, Vec<Arc<Hook>>)> {
    let (project, mut hooks) = load_with_missing(choice)?;
    hooks.retain(|hook| fingerprint(hook).is_some());
    Ok((project, hooks))
}

/// Like [`load`], with the granted guards that are missing.
pub fn load_with_missing<'c>(choice: impl Into<ProjectChoice<'c>>) -> Result<(Project, Vec<Arc<Hook>>)> {
    let choice = choice.into();
    let project = Project::open(choice)?;
    let snapshot = project.builder_as_granted(choice)?.build().snapshot();
    let concerns_trust = |hook: &&Arc<Hook>| fingerprint(hook).is_some() || missing_guard(hook).is_some();
    let hooks = snapshot.hooks().iter().filter(concerns_trust).cloned().collect();
    Ok((project, hooks))
}

/// Returns what the user has granted of a project.
pub fn grants(project: &Project) -> Result<Grants> {
    Project::trust_store()?.grants(project.root()).map_err(store_failure)
}

/// Returns the hooks with these names, or all hooks if no name is given.
pub fn find_by_name(hooks: &[Arc<Hook>], names: &[String]) -> Result<Vec<Arc<Hook>>> {
    if let Some(name) = names.iter().find(|name| !hooks.iter().any(|hook| *hook.label == ***name)) {
        let known: Vec<&str> = hooks.iter().map(|hook| &*hook.label).collect();
        return Err(unknown_name(name, "is not a hook of this project", &known));
    }
    let chosen = |hook: &&Arc<Hook>| names.is_empty() || names.iter().any(|name| **name == *hook.label);
    Ok(hooks.iter().filter(chosen).cloned().collect())
}

fn unknown_name(name: &str, problem: &str, known: &[&str]) -> Failure {
    let failure = Failure::new(format!("`{name}` {problem}"));
    match nearest(name, known.iter().copied()) {
        Some(known) => failure.hint(format!("did you mean `{known}`?")),
        None => failure.hint("run `hookrail trust status` to see the hooks and their names"),
    }
}

fn store_failure(error: TrustError) -> Failure {
    Failure::new(error.to_string()).hint(error.repair())
}
