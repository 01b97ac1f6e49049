//! What the store remembers of a granted guard, and what is known of one that is missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail_spawn::real_path;
use serde::{Deserialize, Serialize};

use super::git_branch::GitPosition;
use super::{Action, Hook, OnFailure, ProjectSwitch};
use crate::dialect_id::DialectId;
use crate::event::EventKind;

/// What the store remembers of a granted guard, so that it is missed when it is gone. It does not matter in which kind of
/// source a guard is: a settings file, a plugin or a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardFacts {
    /// The dialect it is written in.
    pub dialect: String,
    /// The neutral name of the event that it guards.
    pub event: String,
    /// Its matcher; none matches everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Its failure policy.
    pub on_failure: String,
    /// The plugin that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The file in the project in which it is configured, or the module; empty if that is not known.
    pub source: PathBuf,
    /// Whether the settings of the project alone switch it on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub switched_on_by_project: bool,
    /// The states of the project's sources in which its user accepted that it is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_states: Vec<String>,
}

impl GuardFacts {
    /// What is to be remembered of a hook of a project with this policy; nothing for a hook that is no guard.
    pub(crate) fn of(hook: &Hook, project: &Path, policy: OnFailure) -> Option<Self> {
        if policy == OnFailure::Allow {
            return None;
        }
        // A module that is a guard is one of tool calls, whatever else it handles.
        let event = if matches!(hook.action, Action::Module(_)) { EventKind::BeforeTool } else { hook.event };
        Some(Self {
            dialect: hook.dialect.name().to_owned(),
            event: event.name().to_owned(),
            matcher: hook.matcher.pattern().map(str::to_owned),
            on_failure: policy.name().to_owned(),
            package: hook.owner.as_ref().map(|owner| owner.id.clone()),
            source: in_project(&hook.origin.location.file, project),
            switched_on_by_project: hook.project_switch == ProjectSwitch::SwitchesOn,
            accepted_states: Vec::new(),
        })
    }

    /// The dialect; one of a later version is not known.
    pub(crate) fn dialect(&self) -> Option<DialectId> {
        DialectId::from_name(&self.dialect)
    }

    /// The policy. An unknown word is read as the strictest one.
    pub(crate) fn policy(&self) -> OnFailure {
        OnFailure::ALL.into_iter().find(|policy| policy.name() == self.on_failure).unwrap_or(OnFailure::Block)
    }
}

/// A granted guard that a load did not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingGuard {
    /// Why it is missing.
    pub absence: GuardAbsence,
    /// The file in which it was configured, or the module.
    pub source: PathBuf,
    /// What is checked out, if the project is in a git repository.
    pub position: Option<GitPosition>,
    /// The digest of its definition, by which its grant is found.
    pub(crate) definition: String,
    /// The state of the project's sources, by which its absence can be accepted.
    pub(crate) state: String,
}

/// Why a granted guard is missing. As a text it is the rest of a sentence that begins with the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardAbsence {
    /// Its source does not have it, or has it for another event or tool.
    Removed,
    /// The project keeps it from taking part, in this way.
    SwitchedOff(Arc<str>),
    /// Its source is gone.
    SourceGone,
    /// Its source cannot be used, for this reason.
    SourceUnusable(Arc<str>),
}

impl MissingGuard {
    /// What its user can do, as a sentence without its end.
    #[must_use]
    pub fn repair(name: &str) -> String {
        let revoke = format!("hookrail trust revoke '{}'", name.replace('\'', "'\\''"));
        format!("bring it back, or accept that it is missing with `hookrail trust grant` or `{revoke}`")
    }

    /// Why it is missing, as the rest of a sentence that begins with the guard.
    #[must_use]
    pub fn reason(&self) -> String {
        let source = self.source.display();
        let mut text = match &self.absence {
            GuardAbsence::Removed => format!("is not in `{source}` any more as you trusted it"),
            GuardAbsence::SwitchedOff(by) => format!("is switched off by {by}"),
            GuardAbsence::SourceGone => format!("is missing, because `{source}` is gone"),
            GuardAbsence::SourceUnusable(why) => format!("is missing, because its source cannot be used: {why}"),
        };
        if let Some(position) = &self.position {
            text.push_str(&format!(" ({position})"));
        }
        text
    }
}

/// A path as it is named in the project.
pub(crate) fn in_project(path: &Path, project: &Path) -> PathBuf {
    let real = real_path(project);
    let known = [Ok(project.to_owned()), real].into_iter().flatten();
    let inside = known.into_iter().find_map(|root| path.strip_prefix(root).ok().map(Path::to_owned));
    inside.unwrap_or_else(|| path.to_owned())
}
