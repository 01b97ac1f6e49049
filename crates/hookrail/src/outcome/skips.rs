//! Hooks that did not run, each with its typed reason.
//!
//! A project may have thousands of hooks of which an event concerns one. The reasons of the others are computed when
//! they are first read, so that an event whose skips are not read does not pay for them.

use std::fmt;
use std::sync::Arc;

use crate::hook::Hook;
use crate::text::names::named;

named! {
    /// Why a hook did not run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SkipReason {
        /// Its matcher does not match.
        Matcher = "matcher",
        /// Another hook with the same command is kept.
        Duplicate = "duplicate",
        /// It is on a list of disabled hooks.
        Disabled = "disabled",
        /// It belongs to a project that is not trusted, or has changed since it was.
        Untrusted = "untrusted",
        /// The chain ended before this hook.
        ChainEnded = "chain-ended",
        /// Hooks are off.
        HooksOff = "hooks-off",
        /// Its type cannot be executed here.
        NotExecutable = "not-executable",
        /// Its condition does not hold.
        Condition = "condition",
        /// It calls `hookrail bridge`, which would ask the same hooks again.
        OwnBridge = "own-bridge",
    }
}

/// One hook that did not run.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The reason.
    pub why: SkipReason,
    /// The reason in words.
    pub detail: String,
}

impl Skipped {
    pub(crate) fn new(hook: &Arc<Hook>, why: SkipReason, detail: impl Into<String>) -> Self {
        Self { hook: Arc::clone(hook), why, detail: detail.into() }
    }
}

/// The hooks of an event that a plan leaves out, each with its reason.
pub(crate) trait UnplannedHooks: Send + Sync {
    /// The reasons, which are computed at the first call.
    fn skipped(&self) -> &[Skipped];
}

/// The hooks that did not run, in order: first the planned ones that were not reached, then those that were not
/// planned.
#[derive(Clone, Default)]
pub struct Skips {
    /// Planned hooks that were not reached.
    known: Vec<Skipped>,
    /// Hooks that were not planned. Shared, because a plan is cached and used for many events.
    unplanned: Option<Arc<dyn UnplannedHooks>>,
}

impl Skips {
    /// The hooks that a plan leaves out.
    pub(crate) fn of_plan(unplanned: Arc<dyn UnplannedHooks>) -> Self {
        Self { known: Vec::new(), unplanned: Some(unplanned) }
    }

    /// Every hook that did not run. With very many hooks the first call takes a moment.
    pub fn iter(&self) -> impl Iterator<Item = &Skipped> {
        self.known.iter().chain(self.unplanned.iter().flat_map(|unplanned| unplanned.skipped()))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether every hook ran.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Adds planned hooks that were not reached.
    pub(crate) fn extend(&mut self, skipped: impl IntoIterator<Item = Skipped>) {
        self.known.extend(skipped);
    }

    /// Adds the hooks that a plan left out.
    pub(crate) fn append(&mut self, other: &Self) {
        self.known.extend(other.known.iter().cloned());
        match (&self.unplanned, &other.unplanned) {
            (None, unplanned) => self.unplanned.clone_from(unplanned),
            // An outcome has one plan. If there were two, both lists would have to be kept.
            (Some(_), Some(unplanned)) => self.known.extend(unplanned.skipped().iter().cloned()),
            (Some(_), None) => {}
        }
    }
}

impl<'s> IntoIterator for &'s Skips {
    type Item = &'s Skipped;
    type IntoIter = Box<dyn Iterator<Item = &'s Skipped> + 's>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl fmt::Debug for Skips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
