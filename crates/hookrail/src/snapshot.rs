//! A snapshot: everything configuration came to at one moment, immutable, shared by every event fired meanwhile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::diagnostic::Diagnostic;
use crate::dialect::DialectId;
use crate::event::{EventKind, EventSet};
use crate::hook::{EventScope, Hook, Standing, Trust};
use crate::matcher::{MatcherSet, Verdict};
use crate::run::RegisteredCommand;
use crate::tools::{ToolNames, Tools};

/// All hooks, in their order, with what loading noticed.
#[derive(Debug, Default)]
pub struct Snapshot {
    hooks: Vec<Arc<Hook>>,
    by_event: HashMap<(EventKind, DialectId), Audience>,
    diagnostics: Vec<Diagnostic>,
    policy: Policy,
    switch: Switch,
    dialects: Option<Vec<DialectId>>,
    tools: Tools,
    files: Vec<PathBuf>,
    modules: Vec<LoadedModule>,
}

/// Up to so many matchers are tried one by one; only more are worth a set, which takes time to make.
const FEW: usize = 8;

/// The hooks of one dialect for one event, in order.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    hooks: Vec<Arc<Hook>>,
    /// Their matchers, once somebody has asked for them.
    matchers: OnceLock<MatcherSet>,
}

impl Audience {
    /// Every hook, in order.
    pub(crate) fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// The hooks whose matchers count as matching a subject, or surely match the other name it has, in order.
    pub(crate) fn matching(&self, subject: &str, other_name: Option<&str>) -> Vec<(&Arc<Hook>, Verdict)> {
        let mut found = self.found(subject);
        if let Some(name) = other_name {
            found.extend(self.found(name).into_iter().filter(|(_, verdict)| *verdict == Verdict::Matches));
            found.sort_by_key(|(at, verdict)| (*at, *verdict != Verdict::Matches));
            found.dedup_by_key(|(at, _)| *at);
        }
        found.into_iter().filter_map(|(at, verdict)| Some((self.hooks.get(at)?, verdict))).collect()
    }

    fn found(&self, subject: &str) -> Vec<(usize, Verdict)> {
        if self.hooks.len() <= FEW {
            let verdicts = self.hooks.iter().map(|hook| hook.matcher_in_force().test(subject)).enumerate();
            return verdicts.filter(|(_, verdict)| verdict.is_match()).collect();
        }
        let matchers =
            self.matchers.get_or_init(|| MatcherSet::new(self.hooks.iter().map(|hook| hook.matcher_in_force())));
        matchers.test(subject)
    }
}

/// A module and what it registered beside handlers.
#[derive(Clone, Debug)]
pub(crate) struct LoadedModule {
    pub(crate) path: Arc<Path>,
    pub(crate) trust: Trust,
    pub(crate) commands: Vec<RegisteredCommand>,
    pub(crate) renderers: Vec<String>,
}

/// Rules that configuration can change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// What a later allow does to an earlier deny of a model call.
    pub model_decisions: ModelDecisions,
}

/// What a later allow does to an earlier deny of a model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelDecisions {
    /// The later one counts, with a warning.
    #[default]
    LastWins,
    /// Deny counts.
    Strict,
}

/// Whether hooks run at all, whatever configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Switch {
    /// They do.
    #[default]
    On,
    /// None runs, for this reason.
    Off(Arc<str>),
    /// Only the system layer's run, for this reason.
    SystemOnly(Arc<str>),
}

impl Snapshot {
    /// A snapshot of these hooks. Their order is the order in which they are planned.
    #[must_use]
    pub fn new(hooks: Vec<Hook>, diagnostics: Vec<Diagnostic>) -> Self {
        let hooks: Vec<Arc<Hook>> = hooks.into_iter().map(Arc::new).collect();
        let mut by_event: HashMap<_, Audience> = HashMap::new();
        for hook in &hooks {
            for event in events_of(hook) {
                by_event.entry((event, hook.dialect)).or_default().hooks.push(Arc::clone(hook));
            }
        }
        Self { hooks, by_event, diagnostics, ..Self::default() }
    }

    /// The snapshot with other rules.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The snapshot with hooks switched on or off.
    #[must_use]
    pub fn with_switch(mut self, switch: Switch) -> Self {
        self.switch = switch;
        self
    }

    /// The snapshot in which only these dialects take part.
    #[must_use]
    pub fn with_dialects(mut self, dialects: Option<Vec<DialectId>>) -> Self {
        self.dialects = dialects;
        self
    }

    /// The snapshot with the places its hooks came from.
    #[must_use]
    pub(crate) fn with_files(mut self, files: Vec<PathBuf>) -> Self {
        self.files = files;
        self
    }

    /// Every place that could hold hooks, whether it exists or not.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The snapshot with modules that have more than handlers to offer.
    pub(crate) fn with_modules(mut self, modules: Vec<LoadedModule>) -> Self {
        self.modules = modules;
        self
    }

    /// Modules that have more than handlers to offer, in load order.
    pub(crate) fn modules(&self) -> &[LoadedModule] {
        &self.modules
    }

    /// The snapshot with the names that the host's tools have in the dialects.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolNames>) -> Self {
        tools.into_iter().for_each(|tool| self.tools.declare(tool));
        self
    }

    /// Every hook, in order.
    #[must_use]
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// What loading noticed.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The events in which at least one hook could take part, or would have to be reported as untrusted.
    #[must_use]
    pub fn wanted(&self) -> EventSet {
        let mut wanted = EventSet::EMPTY;
        // With the emergency switch every outcome says so, also one that nobody takes part in.
        if matches!(self.switch, Switch::SystemOnly(_)) {
            EventKind::all().for_each(|kind| wanted.insert(kind));
        }
        if !matches!(self.switch, Switch::Off(_)) {
            for hook in self.hooks.iter().filter(|hook| self.takes_part(hook.dialect)) {
                let untrusted = hook.standing == Standing::NeverSwitchedOn && !hook.trust.allows();
                if hook.is_enabled() || untrusted {
                    events_of(hook).for_each(|event| wanted.insert(event));
                }
            }
        }
        wanted
    }

    /// The hooks of a dialect for an event, if there are any and the dialect takes part.
    pub(crate) fn audience(&self, event: EventKind, dialect: DialectId) -> Option<&Audience> {
        self.by_event.get(&(event, dialect)).filter(|_| self.takes_part(dialect))
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    pub(crate) fn switch(&self) -> &Switch {
        &self.switch
    }

    fn takes_part(&self, dialect: DialectId) -> bool {
        self.dialects.as_ref().is_none_or(|only| only.contains(&dialect))
    }
}

/// The events a hook takes part in.
fn events_of(hook: &Hook) -> impl Iterator<Item = EventKind> {
    let all = match hook.scope {
        EventScope::One => None,
        EventScope::Unknown => Some(EventKind::all().filter(|kind| kind.spec().column(hook.dialect).is_some())),
    };
    let one = (hook.scope == EventScope::One).then_some(hook.event);
    one.into_iter().chain(all.into_iter().flatten())
}
