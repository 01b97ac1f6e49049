//! Hooks that did not run, each with its typed reason.
//!
//! A project may have thousands of hooks of which an event concerns one. Nobody should pay for the reasons of all the
//! others before somebody asks for them, so they are worked out at the first look and kept.

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::hook::Hook;

/// Why a hook did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its matcher does not match.
    Matcher,
    /// Another hook with the same command is kept.
    Duplicate,
    /// It is on a list of disabled hooks.
    Disabled,
    /// It belongs to a project that is not trusted, or has changed since it was.
    Untrusted,
    /// The chain ended before its turn.
    ChainEnded,
    /// Hooks are off.
    HooksOff,
    /// Its type cannot be executed here.
    NotExecutable,
}

impl SkipReason {
    /// The name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Matcher => "matcher",
            Self::Duplicate => "duplicate",
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
            Self::ChainEnded => "chain-ended",
            Self::HooksOff => "hooks-off",
            Self::NotExecutable => "not-executable",
        }
    }
}

/// One hook that did not run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Skipped {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Why.
    pub why: SkipReason,
    /// Why, in words.
    pub detail: String,
}

impl Skipped {
    pub(crate) fn new(hook: &Arc<Hook>, why: SkipReason, detail: impl Into<String>) -> Self {
        Self { hook: Arc::clone(hook), why, detail: detail.into() }
    }
}

/// Works out the reasons when they are first asked for.
type Later = LazyLock<Vec<Skipped>, Box<dyn FnOnce() -> Vec<Skipped> + Send>>;

/// The hooks that did not run, in order: first those that were planned and whose turn never came, then those that were
/// not planned.
#[derive(Clone, Default)]
pub struct Skips {
    told: Vec<Skipped>,
    later: Vec<Arc<Later>>,
}

impl Skips {
    /// Reasons that nobody has asked for yet.
    pub(crate) fn later(work: impl FnOnce() -> Vec<Skipped> + Send + 'static) -> Self {
        Self { told: Vec::new(), later: vec![Arc::new(LazyLock::new(Box::new(work)))] }
    }

    /// Every hook that did not run. Where there are very many hooks the first look takes a moment.
    pub fn iter(&self) -> impl Iterator<Item = &Skipped> {
        self.told.iter().chain(self.later.iter().flat_map(|later| later.iter()))
    }

    /// The first one.
    #[must_use]
    pub fn first(&self) -> Option<&Skipped> {
        self.iter().next()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether every hook ran.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// Adds hooks whose turn never came.
    pub(crate) fn extend(&mut self, skipped: impl IntoIterator<Item = Skipped>) {
        self.told.extend(skipped);
    }

    /// Adds all of another list.
    pub(crate) fn append(&mut self, other: &Self) {
        self.told.extend(other.told.iter().cloned());
        self.later.extend(other.later.iter().cloned());
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
