//! A snapshot: the result of loading all configuration at one moment. It is immutable and shared by all events that are
//! fired while it is in force.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::source::{Origin, SourceKind};
use crate::config::{KeptSource, SourceReport, UnusableSource, with_links};
use crate::dialect_id::DialectId;
use crate::event::{EventKind, EventSet};
use crate::hook::condition::HookCondition;
use crate::hook::sandbox::SandboxFloors;
use crate::hook::{Action, Enablement, EventScope, Hook, HookDelivery, OnFailure, Trust};
use crate::matcher::{MatchResult, MatcherSet};
use crate::outcome::{ConfigurationId, Outcome, Refusal};
use crate::rules::{RuleBook, RuleProblem, RuleSettings};
use crate::run::RegisteredCommand;
use crate::tools::{ToolNames, ToolTable, Tools};
use crate::trust::protect::Protection;
use crate::trust::{Digest, FilePlaces, NamesakeCounter};

/// All hooks, in their order, with what loading noticed.
#[derive(Debug, Default)]
pub struct Snapshot {
    hooks: Vec<Arc<Hook>>,
    /// By the number of the event: the dialects that have hooks for it, in their order. A list and not a map, because every
    /// plan looks here.
    by_event: Vec<Vec<(DialectId, Subscribers)>>,
    diagnostics: Vec<Diagnostic>,
    pub(crate) policy: Policy,
    pub(crate) switch: Switch,
    /// The only dialects that take part, if not all do.
    pub(crate) dialects: Option<Vec<DialectId>>,
    pub(crate) tools: Tools,
    pub(crate) sources: SourceReport,
    /// Every path to watch; computed when it is first asked for.
    files: OnceLock<Vec<PathBuf>>,
    /// Modules that offer commands or renderers, in load order.
    pub(crate) modules: Vec<LoadedModule>,
    /// Diagnostics that are reported with every outcome.
    pub(crate) standing: Vec<Diagnostic>,
    /// What the enrolment in a fleet and the trust store decide about events that can be denied, by layer.
    pub(crate) refusals: Vec<(SourceKind, SourceRefusal)>,
    /// When the configuration has to be loaded again although no file changes.
    pub(crate) changes_at: Option<SystemTime>,
    /// The engine's own decision about events that can be denied.
    pub(crate) refusal: Option<SourceRefusal>,
    pub(crate) revision: Revision,
    digest: OnceLock<Digest>,
    /// The folders of its project and its user; none for a snapshot that was not loaded.
    places: Option<FilePlaces>,
    /// How what decides which hooks run is protected from the tools of the host.
    pub(crate) protection: Protection,
    /// By the number of the event: its rules.
    rules: Vec<Vec<Arc<Hook>>>,
    /// Where the rules are, and what they except.
    pub(crate) rule_settings: Option<RuleSettings>,
}

/// The number of a configuration and when it was put in force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Revision {
    pub(crate) number: u64,
    pub(crate) loaded_at: SystemTime,
}

impl Default for Revision {
    fn default() -> Self {
        Self { number: 0, loaded_at: SystemTime::UNIX_EPOCH }
    }
}

/// The engine's decision about every event that can be denied, because a source cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceRefusal {
    pub(crate) refusal: Refusal,
    pub(crate) reason: Arc<str>,
}

/// The configuration in force, for operators and monitoring.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Counts the configurations that were in force, from one. Loading an unchanged configuration does not count.
    pub revision: u64,
    /// The digest of all sources in force. Two processes with the same digest have read the same.
    pub digest: Digest,
    /// When this revision was put in force.
    pub loaded_at: SystemTime,
    /// The sources whose last good version is in force.
    pub kept: Vec<KeptSource>,
    /// The sources that exist, cannot be used and have no earlier version.
    pub unusable: Vec<UnusableSource>,
    /// Whether a load lacked resources, so that the next event loads again.
    pub is_incomplete: bool,
    /// The engine's own decision about every event that can be denied.
    pub refusal: Option<Refusal>,
}

/// Up to this many matchers are tried one by one; a larger number is compiled into a set, which takes time.
const FEW: usize = 8;

/// The hooks of one dialect for one event, in order.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    pub(crate) hooks: Vec<Arc<Hook>>,
    /// Whether one of them has a condition beside its matcher.
    has_conditions: bool,
    /// Their matchers as one set; compiled when it is first needed.
    matchers: OnceLock<MatcherSet>,
}

impl Subscribers {
    fn add(&mut self, hook: &Arc<Hook>) {
        self.has_conditions |= !hook.conditions.is_empty();
        self.hooks.push(Arc::clone(hook));
    }

    /// The hooks whose matchers match a subject or reach their step limit on it, or match one of the subject's other names,
    /// in order.
    pub(crate) fn matching(&self, subject: &str, other_names: &[&str]) -> Vec<(&Arc<Hook>, MatchResult)> {
        let mut found = self.find_matches(subject);
        for name in other_names {
            found.extend(self.find_matches(name).into_iter().filter(|(_, verdict)| *verdict == MatchResult::Matches));
            found.sort_by_key(|(at, verdict)| (*at, *verdict != MatchResult::Matches));
            found.dedup_by_key(|(at, _)| *at);
        }
        found.into_iter().filter_map(|(at, verdict)| Some((self.hooks.get(at)?, verdict))).collect()
    }

    fn find_matches(&self, subject: &str) -> Vec<(usize, MatchResult)> {
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
    pub(crate) dialect: DialectId,
    pub(crate) origin: Origin,
    pub(crate) trust: Trust,
    pub(crate) commands: Vec<RegisteredCommand>,
    pub(crate) renderers: Vec<String>,
}

/// Rules that configuration can change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// What a later allow does to an earlier deny of a model call.
    pub model_decisions: ModelDecisions,
    /// What processes of hooks with less authority may do at most.
    pub sandbox_floors: SandboxFloors,
}

/// What a later allow does to an earlier deny of a model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelDecisions {
    /// The later decision is used, with a warning.
    #[default]
    LastWins,
    /// A deny of the project's own hooks is never lifted: what a project sets acts on what it brings.
    StrictInProject,
    /// A deny is never lifted.
    Strict,
}

/// Whether hooks run at all, whatever configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// Hooks run.
    #[default]
    On,
    /// No hook runs, for this reason.
    Off(Arc<str>),
    /// Only hooks of the system layer run, for this reason.
    SystemOnly(Arc<str>),
}

impl Snapshot {
    /// A snapshot of these hooks. Their order is the order in which they are planned.
    #[must_use]
    pub fn new(hooks: Vec<Hook>, diagnostics: Vec<Diagnostic>) -> Self {
        let mut namesakes = NamesakeCounter::default();
        let recognised = |mut hook: Hook| {
            namesakes.count(&mut hook);
            if hook.action.calls_bridge() {
                hook.enablement = Enablement::OwnBridge;
            }
            Arc::new(hook)
        };
        let hooks: Vec<Arc<Hook>> = hooks.into_iter().map(recognised).collect();
        let mut by_event: Vec<Vec<(DialectId, Subscribers)>> = EventKind::all().map(|_| Vec::new()).collect();
        for hook in &hooks {
            for event in events_of(hook) {
                let Some(by_dialect) = by_event.get_mut(event as usize) else { continue };
                match by_dialect.iter_mut().find(|(dialect, _)| *dialect == hook.dialect) {
                    Some((_, subscribers)) => subscribers.add(hook),
                    None => {
                        let mut subscribers = Subscribers::default();
                        subscribers.add(hook);
                        by_dialect.push((hook.dialect, subscribers));
                    }
                }
            }
        }
        for by_dialect in &mut by_event {
            by_dialect.sort_by_key(|(dialect, _)| *dialect);
        }
        let is_rule = |hook: &&Arc<Hook>| matches!(hook.action, Action::Rule(_));
        let takes_part = |hook: &Hook, event: EventKind| events_of(hook).any(|other| other == event);
        let rules_of =
            |event: EventKind| hooks.iter().filter(is_rule).filter(|hook| takes_part(hook, event)).cloned().collect();
        let rules = match hooks.iter().any(|hook| is_rule(&hook)) {
            true => EventKind::all().map(rules_of).collect(),
            false => Vec::new(),
        };
        Self { hooks, by_event, diagnostics, rules, ..Self::default() }
    }

    /// Whether a rule or the condition of a hook asks what a session did before.
    pub(crate) fn rules_ask_about_sessions(&self) -> bool {
        let asks = |hook: &Arc<Hook>| matches!(&hook.action, Action::Rule(rule) if rule.asks_about_sessions());
        let has_condition = |hook: &Arc<Hook>| hook.conditions.iter().any(HookCondition::asks_about_sessions);
        self.rules.iter().flatten().any(asks) || self.hooks().iter().any(has_condition)
    }

    /// Reads a file of rules whose examples know what was said about programs, as those of a layer's own file do.
    ///
    /// # Errors
    ///
    /// It is no TOML.
    pub fn rule_book(&self, text: &str, layer: SourceKind) -> Result<RuleBook, RuleProblem> {
        let programs = self.rule_settings.as_ref().map(|settings| settings.programs.of_examples(layer));
        RuleBook::read_with(text, programs.unwrap_or_default())
    }

    /// The rules for an event.
    pub(crate) fn rules(&self, event: EventKind) -> &[Arc<Hook>] {
        self.rules.get(event as usize).map_or(&[], Vec::as_slice)
    }

    /// The hooks for an event that have conditions of their own.
    pub(crate) fn conditional(&self, event: EventKind) -> impl Iterator<Item = &Arc<Hook>> {
        let by_dialect = self.by_event.get(event as usize).into_iter().flatten();
        let with_conditions = by_dialect.filter(|(_, subscribers)| subscribers.has_conditions);
        let hooks = with_conditions.flat_map(|(_, subscribers)| &subscribers.hooks);
        hooks.filter(|hook| !hook.conditions.is_empty())
    }

    /// The snapshot with other rules.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The snapshot with the state of its sources, and what unusable ones do to events that can be denied.
    #[must_use]
    pub(crate) fn with_sources(mut self, sources: SourceReport, on_load_failure: OnFailure) -> Self {
        self.refusal = self.refusal_for(&sources, on_load_failure);
        if let Some(SourceRefusal { refusal, reason }) = &self.refusal {
            self.diagnostics.push(Diagnostic::new(refusal.code(), &**reason));
        }
        self.standing.extend(self.diagnostics.iter().filter(|finding| is_standing(finding.code)).cloned());
        let errors = self.errors_of_unusable(&sources);
        let new = errors.into_iter().filter(|error| !self.standing.contains(error));
        self.standing.extend(new.collect::<Vec<_>>());
        self.sources = sources;
        self
    }

    /// The decision because of sources that cannot be used. A source whose hooks would not run in any case is ignored.
    fn refusal_for(&self, sources: &SourceReport, on_load_failure: OnFailure) -> Option<SourceRefusal> {
        let takes_part = |source: &&UnusableSource| source.dialect.is_none_or(|dialect| self.takes_part(dialect));
        let mut unusable = sources.unusable.iter().filter(takes_part);
        if matches!(self.switch, Switch::Off(_)) {
            return None;
        }
        if let Some(source) = unusable.clone().find(|source| source.kind == SourceKind::System) {
            let reason = format!("the system layer cannot be used: {}", source.problem);
            return Some(SourceRefusal { refusal: Refusal::SystemUnusable, reason: reason.into() });
        }
        let system_only = matches!(self.switch, Switch::SystemOnly(_));
        let found = self.refusals.iter().filter(|(kind, _)| !system_only || *kind == SourceKind::System);
        // Of several decisions the strictest stands.
        let strictest = found.map(|(_, refusal)| refusal).max_by_key(|refusal| refusal.refusal.decision()).cloned();
        if on_load_failure == OnFailure::Allow || system_only {
            return strictest;
        }
        let Some(source) = unusable.next() else { return strictest };
        let reason = format!(
            "configuration cannot be used, and `on_load_failure` is `{}`: {}",
            on_load_failure.name(),
            source.problem
        );
        let failure = SourceRefusal { refusal: Refusal::LoadFailure(on_load_failure), reason: reason.into() };
        match strictest {
            Some(strictest) if strictest.refusal.decision() >= failure.refusal.decision() => Some(strictest),
            _ => Some(failure),
        }
    }

    /// The errors that every outcome repeats because a source cannot be used and nothing is denied for it: a hook that was
    /// not asked could have been a guard.
    fn errors_of_unusable(&self, sources: &SourceReport) -> Vec<Diagnostic> {
        if self.refusal.is_some() || self.switch != Switch::On {
            return Vec::new();
        }
        let takes_part = |source: &&UnusableSource| source.dialect.is_none_or(|dialect| self.takes_part(dialect));
        let problems: Vec<&str> =
            sources.unusable.iter().filter(takes_part).map(|source| source.problem.as_str()).collect();
        let is_error = |finding: &&Diagnostic| finding.level == Level::Error && problems.contains(&&*finding.message);
        self.diagnostics.iter().filter(is_error).cloned().collect()
    }

    /// Everything that was read or looked for, whether it exists or not, with every link on the way to it and what it
    /// leads to: a change of any of these may change the configuration. Files behind the store of grants are not among
    /// them.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        self.files.get_or_init(|| with_links(&self.sources.looked_at, &self.sources.roots))
    }

    /// Whether another snapshot was made from the same sources and trust, and has the same hooks.
    pub(crate) fn is_same_configuration(&self, other: &Self) -> bool {
        let same_hook = |(one, other): (&Arc<Hook>, &Arc<Hook>)| {
            one.label == other.label && one.enablement == other.enablement && one.trust == other.trust
        };
        self.revision.number > 0
            && self.sources.in_force == other.sources.in_force
            && self.sources.kept == other.sources.kept
            && self.sources.unusable == other.sources.unusable
            && self.refusal == other.refusal
            && self.hooks.len() == other.hooks.len()
            && self.hooks.iter().zip(&other.hooks).all(same_hook)
    }

    /// The digest of all sources in force.
    pub(crate) fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| {
            let mut text = String::new();
            for (path, content) in &self.sources.in_force {
                text.push_str(&format!("{}\0{}\0", path.display(), Digest::of(content.as_bytes()).hex()));
            }
            Digest::of(text.as_bytes())
        })
    }

    /// The snapshot of a project.
    pub(crate) fn with_places(mut self, places: FilePlaces) -> Self {
        self.places = Some(places);
        self
    }

    /// The snapshot with this protection. It counts where there is a guard.
    pub(crate) fn with_protection(mut self, mut protection: Protection) -> Self {
        protection.is_guarded = self.hooks.iter().any(|hook| self.is_guard_in_force(hook));
        self.protection = protection;
        self
    }

    fn is_guard_in_force(&self, hook: &Hook) -> bool {
        let is_on = match self.switch {
            Switch::On => true,
            Switch::Off(_) => false,
            Switch::SystemOnly(_) => hook.origin.kind == SourceKind::System,
        };
        let event = if hook.scope == EventScope::Unknown { EventKind::BeforeTool } else { hook.event };
        let counts = hook.trust.allows() || matches!(hook.trust, Trust::Changed(_));
        is_on && counts && hook.is_enabled() && self.takes_part(hook.dialect) && hook.guards(event)
    }

    /// What an outcome says about this configuration.
    pub(crate) fn in_force(&self) -> ConfigurationId {
        let places = self.places.clone().unwrap_or_else(|| FilePlaces { project: Path::new("").into(), home: None });
        ConfigurationId { digest: self.digest(), revision: self.revision.number, places }
    }

    /// Which configuration this is.
    #[must_use]
    pub fn configuration(&self) -> Configuration {
        Configuration {
            revision: self.revision.number,
            digest: self.digest(),
            loaded_at: self.revision.loaded_at,
            kept: self.sources.kept.clone(),
            unusable: self.sources.unusable.clone(),
            is_incomplete: self.sources.try_again,
            refusal: self.refusal.as_ref().map(|refused| refused.refusal),
        }
    }

    /// The snapshot with the names that the host's tools have in the dialects.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolNames>) -> Self {
        tools.into_iter().for_each(|tool| self.tools.declare(tool));
        self
    }

    /// The snapshot with the table that says what tools are called which the host did not declare.
    #[must_use]
    pub fn with_tool_table(mut self, table: Option<Arc<ToolTable>>) -> Self {
        self.tools.set_table(table);
        self
    }

    /// The table that says what tools are called, if the program has one.
    #[must_use]
    pub fn tool_table(&self) -> Option<&ToolTable> {
        self.tools.table()
    }

    /// The sources that exist, cannot be used and have no earlier version.
    #[must_use]
    pub fn unusable_sources(&self) -> &[UnusableSource] {
        &self.sources.unusable
    }

    /// Every hook, in order.
    #[must_use]
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// The findings of loading that every outcome repeats, because they concern every event.
    #[must_use]
    pub fn standing_diagnostics(&self) -> &[Diagnostic] {
        &self.standing
    }

    /// What loading noticed.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The hooks of the user and the system whose commands run code that any project can supply: they run in the
    /// directories of projects that were never trusted. Loading does not report these; a program that checks a
    /// configuration does.
    #[must_use]
    pub fn project_code_findings(&self) -> Vec<Diagnostic> {
        crate::trust::project_code_findings(self.hooks.iter().map(|hook| &**hook))
    }

    /// The events in which at least one hook could take part, or would have to be reported as untrusted.
    #[must_use]
    pub fn wanted(&self) -> EventSet {
        let mut wanted = EventSet::EMPTY;
        // Standing diagnostics have to be reported with every outcome, also for an event in which no hook takes part.
        if matches!(self.switch, Switch::SystemOnly(_)) || !self.standing.is_empty() {
            EventKind::all().for_each(|kind| wanted.insert(kind));
        }
        // An event that no hook wants must notice that a bundle has expired.
        if self.changes_at.is_some() {
            EventKind::all().filter(|kind| kind.spec().is_gating()).for_each(|kind| wanted.insert(kind));
        }
        if self.protection.is_active() {
            wanted.insert(EventKind::BeforeTool);
        }
        if self.has_later_words() {
            wanted.insert(EventKind::Prompt);
            wanted.insert(EventKind::AgentEnd);
        }
        self.insert_events_of_hooks(&mut wanted);
        wanted
    }

    /// Whether a hook may say something for a later prompt or end of an answer.
    pub(crate) fn has_later_words(&self) -> bool {
        let is_heard = |hook: &&Arc<Hook>| hook.delivery == HookDelivery::HeardLater && hook.is_enabled();
        self.hooks.iter().filter(is_heard).any(|hook| self.takes_part(hook.dialect))
    }

    /// Whether the project brings hooks of a dialect that takes part.
    pub(crate) fn has_project_hooks(&self) -> bool {
        let needs_trust = |hook: &&Arc<Hook>| hook.trust.any_fingerprint().is_some();
        self.hooks.iter().filter(needs_trust).any(|hook| self.takes_part(hook.dialect))
    }

    /// Whether at least one hook could take part in an event, or would have to be reported as untrusted.
    pub(crate) fn has_hooks(&self, event: EventKind) -> bool {
        let mut events = EventSet::EMPTY;
        self.insert_events_of_hooks(&mut events);
        events.contains(event)
    }

    fn insert_events_of_hooks(&self, events: &mut EventSet) {
        if matches!(self.switch, Switch::Off(_)) {
            return;
        }
        for hook in self.hooks.iter().filter(|hook| self.takes_part(hook.dialect)) {
            let untrusted = hook.enablement == Enablement::NeverSwitchedOn && !hook.trust.allows();
            if hook.is_enabled() || untrusted {
                events_of(hook).for_each(|event| events.insert(event));
            }
        }
    }

    /// The hooks of a dialect for an event, if there are any and the dialect takes part.
    pub(crate) fn subscribers(&self, event: EventKind, dialect: DialectId) -> Option<&Subscribers> {
        let by_dialect = self.by_event.get(event as usize)?;
        let (_, subscribers) = by_dialect.iter().find(|(of, _)| *of == dialect)?;
        self.takes_part(dialect).then_some(subscribers)
    }

    /// The dialects that take part and have hooks for an event, in their order.
    pub(crate) fn subscribed(&self, event: EventKind) -> impl Iterator<Item = DialectId> {
        let by_dialect = self.by_event.get(event as usize).into_iter().flatten();
        by_dialect.map(|(dialect, _)| *dialect).filter(|dialect| self.takes_part(*dialect))
    }

    fn takes_part(&self, dialect: DialectId) -> bool {
        self.dialects.as_ref().is_none_or(|only| only.contains(&dialect))
    }
}

impl Outcome {
    /// Adds the diagnostics of the load in front, for callers that cannot see the configuration. One that the outcome
    /// has already is not repeated.
    pub fn report_loading(&mut self, snapshot: &Snapshot) {
        let new: Vec<Diagnostic> =
            snapshot.diagnostics().iter().filter(|finding| !self.diagnostics.contains(finding)).cloned().collect();
        self.diagnostics.splice(0..0, new);
    }
}

/// Whether a finding is reported with every outcome, because the configuration in force differs from the current
/// sources or from what a fleet distributes.
fn is_standing(code: Code) -> bool {
    matches!(
        code,
        Code::KeptLastGood
            | Code::SourceRemoved
            | Code::SystemUnusable
            | Code::LoadFailure
            | Code::StoreUnusable
            | Code::SystemMissing
            | Code::UserUnusable
            | Code::BundleMissing
            | Code::BundleExpired
            | Code::BundleStale
    )
}

/// The events a hook takes part in.
fn events_of(hook: &Hook) -> impl Iterator<Item = EventKind> {
    // No hook answers the host's question about a call in the place of a person if a rule denies the call or asks about it.
    let is_strict_rule = matches!(hook.action, Action::Rule(_)) && hook.on_failure != OnFailure::Allow;
    let judges_questions = is_strict_rule && hook.event == EventKind::BeforeTool;
    EventKind::all().filter(move |kind| match hook.scope {
        EventScope::One => *kind == hook.event || (judges_questions && *kind == EventKind::PermissionRequest),
        EventScope::Unknown => kind.spec().column(hook.dialect).is_some(),
    })
}
