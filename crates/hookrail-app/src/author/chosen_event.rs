//! Which event is fired while a hook is written: the one that the user describes, else the last recorded one, else a sample.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use hookrail::plan::{Plan, SkipReason};
use hookrail::sources::nearest;
use hookrail::{Event, EventKind, Hook, HookSystem, JsonObject};
use hookrail_bridge::Agent;
use hookrail_journal::{Filter, Record, RecordKind};

use crate::event_draft::{EventDraft, EventFields, FieldReport, find_kind, make_event};
use crate::failure::{Failure, Result};
use crate::project::{Project, ProjectChoice, host_of};
use crate::text::one_line;
use crate::{records, replay, sample};

/// How many recorded events are looked at, from the last one back, for one that the hook takes part in.
const MOST_RECORDS: usize = 200;

/// What the user says about the event. What is not said is chosen.
#[derive(Debug)]
pub struct EventWish<'w> {
    /// The hook, by its name or a unique part of it.
    pub hook: Option<&'w str>,
    /// The event's name.
    pub event: Option<&'w str>,
    /// The event's fields; the name in them does not count.
    pub fields: EventFields,
    /// The agent whose bridge fires it.
    pub agent: Option<Agent>,
}

/// The event to fire.
pub struct ChosenEvent {
    pub event: Event,
    /// What there is to report about the fields that were given.
    pub fields: FieldReport,
    pub source: EventSource,
    /// The hook that the user named.
    pub hook: Option<Arc<str>>,
}

/// Where an event comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSource {
    Options,
    /// It was recorded at this time.
    Journal(String),
    Sample,
}

impl fmt::Display for EventSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options => f.write_str("as given"),
            Self::Journal(at) => {
                let at = at.get(..19).unwrap_or(at).replace('T', " ");
                write!(f, "as recorded at {} UTC", one_line(&at))
            }
            Self::Sample => f.write_str("a sample"),
        }
    }
}

/// Loads the hooks and chooses the event.
pub fn choose_event<'c>(
    wish: EventWish<'_>,
    project: &Project,
    choice: impl Into<ProjectChoice<'c>>,
) -> Result<(HookSystem, ChosenEvent)> {
    let choice = choice.into();
    let agent = wish.agent;
    let system = match agent {
        Some(_) => host_of(project.builder(choice)?.lend_runtime(), project.root(), agent).build(),
        None => build(choice, project, None)?,
    };
    Project::require_modules(&system)?;
    let hook = wish.hook.map(|name| find_hook(&system, name)).transpose()?;
    let label = hook.as_ref().map(|hook| Arc::clone(&hook.label));
    let chosen = |event: Event, fields, source| ChosenEvent { event, fields, source, hook: label.clone() };
    if wish.event.is_some() || !wish.fields.is_empty() {
        let EventDraft { event, agent: sender, fields } = described(wish, project, hook.as_deref())?;
        let system = match sender.filter(|_| agent.is_none()) {
            Some(sender) => build(choice, project, Some(sender))?,
            None => system,
        };
        return Ok((system, chosen(event, fields, EventSource::Options)));
    }
    if let Some((system, event, at)) = recorded(choice, project, &system, hook.as_deref(), agent)? {
        return Ok((system, chosen(event, FieldReport::default(), EventSource::Journal(at))));
    }
    let event = match hook.or_else(|| first_hook(&system)) {
        Some(hook) => sampled(&hook, project, agent)?,
        None => {
            return Err(Failure::new("no hooks are configured").hint(
                "run `hookrail init` to create a first one, or `hookrail try SCRIPT` for a script without settings",
            ));
        }
    };
    Ok((system, chosen(event, FieldReport::default(), EventSource::Sample)))
}

fn build(choice: ProjectChoice<'_>, project: &Project, agent: Option<Agent>) -> Result<HookSystem> {
    let builder = project.builder(choice)?.lend_runtime();
    Ok(agent.map(Agent::tools).into_iter().fold(builder, hookrail::Builder::host_tools).build())
}

/// Finds a hook by its name, or by a part of it that no other hook has.
fn find_hook(system: &HookSystem, name: &str) -> Result<Arc<Hook>> {
    let snapshot = system.snapshot();
    let hooks = snapshot.hooks();
    if let Some(hook) = hooks.iter().find(|hook| *hook.label == *name) {
        return Ok(Arc::clone(hook));
    }
    let mut meant: Vec<&Arc<Hook>> = hooks.iter().filter(|hook| hook.label.contains(name)).collect();
    // A hook of several events has one name.
    meant.dedup_by(|one, other| one.label == other.label);
    let failure = |message: String| Failure::new(message);
    match *meant.as_slice() {
        [hook] => Ok(Arc::clone(hook)),
        [] => {
            let failure = failure(format!("there is no hook `{name}`"));
            Err(match nearest(name, hooks.iter().map(|hook| &*hook.label)) {
                Some(known) => failure.hint(format!("did you mean `{known}`?")),
                None => failure.hint("`hookrail list` shows the hooks and their names"),
            })
        }
        [_, _, ..] => {
            let names: Vec<String> = meant.iter().map(|hook| format!("`{}`", hook.label)).collect();
            Err(failure(format!("`{name}` is a part of several names"))
                .hint(format!("name one of {}", names.join(", "))))
        }
    }
}

/// The first hook that takes part, else the first of all.
fn first_hook(system: &HookSystem) -> Option<Arc<Hook>> {
    let snapshot = system.snapshot();
    let hooks = snapshot.hooks();
    hooks.iter().find(|hook| hook.is_enabled()).or_else(|| hooks.first()).cloned()
}

/// The event that the user describes, with a sample in place of a payload that is not given.
fn described(wish: EventWish<'_>, project: &Project, hook: Option<&Hook>) -> Result<EventDraft> {
    let EventWish { event, mut fields, agent, .. } = wish;
    let in_agent = |name: &str| agent.and_then(|agent| agent.find_event(name)).map(|event| event.kind);
    let kind = match (event, hook) {
        (Some(name), _) => in_agent(name).map_or_else(|| find_kind(name), Ok)?,
        (None, Some(hook)) => event_of(hook),
        (None, None) if fields.prompt.is_some() => EventKind::Prompt,
        (None, None) => EventKind::BeforeTool,
    };
    let of_hook = hook.filter(|hook| event_of(hook) == kind && fields.tool.is_none());
    let sample = of_hook.map_or_else(|| sample::fields(kind, fields.tool.as_deref()), sample::fields_for);
    fields.name = event.filter(|name| in_agent(name).is_none()).unwrap_or(kind.name()).to_owned();
    fields.payload = fields.payload.or_else(|| Some(sample::in_words_of(agent, sample)));
    make_event(&fields, project.root())
}

/// The event of a hook; for a module that was not loaded, the usual one.
fn event_of(hook: &Hook) -> EventKind {
    hook.known_event().unwrap_or(EventKind::BeforeTool)
}

fn sampled(hook: &Hook, project: &Project, agent: Option<Agent>) -> Result<Event> {
    let kind = event_of(hook);
    let fields: JsonObject = if kind == hook.event { sample::fields_for(hook) } else { sample::fields(kind, None) };
    let fields = sample::in_words_of(agent, fields);
    let event = Event::new(kind, project.root()).with_payload(&fields.to_json());
    event.map_err(|error| Failure::new(error.to_string()).hint("describe the event with `--payload`"))
}

/// The last recorded event of the project in which the hook takes part, with the hook system that knows its tools. Of an agent's
/// bridge it is one that this bridge has fired.
fn recorded(
    choice: ProjectChoice<'_>,
    project: &Project,
    system: &HookSystem,
    hook: Option<&Hook>,
    agent: Option<Agent>,
) -> Result<Option<(HookSystem, Event, String)>> {
    for record in last_records(project, hook).into_iter().rev() {
        let cwd = record.cwd.as_deref().unwrap_or_default();
        let Some(event) = replay::event_of(&record, cwd.into()) else { continue };
        let system = match (replay::agent_of(&record), agent) {
            (recorder, Some(_)) if recorder != agent => continue,
            (None, _) | (_, Some(_)) => system.clone(),
            (Some(recorder), None) => build(choice, project, Some(recorder))?,
        };
        if hook.is_none_or(|hook| takes_part(&system, &event, hook)) {
            return Ok(Some((system, event, record.at)));
        }
    }
    Ok(None)
}

/// The last events of the project. A journal that cannot be read has none: a sample is fired instead.
fn last_records(project: &Project, hook: Option<&Hook>) -> VecDeque<Record<'static>> {
    let event = hook.and_then(|hook| hook.known_event()).map(|kind| kind.name().to_owned());
    let filter = Filter { kind: Some(RecordKind::Fired), event, ..Filter::default() };
    let own = project.root().to_string_lossy();
    let mut last = VecDeque::new();
    let Some(found) = records::open().ok().and_then(|journal| journal.read(filter).ok()) else { return last };
    for record in found.flatten().filter(|record| record.project == own && record.is_replayable()) {
        last.push_back(record);
        if last.len() > MOST_RECORDS {
            last.pop_front();
        }
    }
    last
}

/// Whether a hook is asked about an event, or would be if it were trusted.
fn takes_part(system: &HookSystem, event: &Event, hook: &Hook) -> bool {
    let plan = system.explain(event);
    let is_meant = |other: &Hook| other.label == hook.label && other.known_event() == hook.known_event();
    if event.kind() != hook.event && hook.known_event().is_some() {
        return false;
    }
    let is_left_out =
        |plan: &Plan| plan.skipped.iter().any(|skipped| is_meant(&skipped.hook) && skipped.why == SkipReason::Matcher);
    !is_left_out(&plan) || plan.calls.iter().any(|call| !is_left_out(&call.plan))
}
