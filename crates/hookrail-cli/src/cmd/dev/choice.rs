//! Which event `dev` fires: the one that the options describe, else the last recorded one, else a sample.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use hookrail::plan::{Plan, SkipReason};
use hookrail::sources::nearest;
use hookrail::{Event, EventKind, Hook, HookSystem, JsonObject};
use hookrail_app::event_draft::{self, EventDraft, FieldReport};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;
use hookrail_app::text::one_line;
use hookrail_app::{replay, sample};
use hookrail_bridge::Agent;
use hookrail_journal::{Filter, Record, RecordKind};

use super::super::{event_options, journal};
use crate::args::DevArgs;

/// How many recorded events are looked at, from the last one back, for one that the hook takes part in.
const MOST_RECORDS: usize = 200;

/// The event to fire.
pub(super) struct ChosenEvent {
    pub(super) event: Event,
    /// What there is to report about the fields that were given.
    pub(super) fields: FieldReport,
    pub(super) source: EventSource,
    /// The hook that the user named.
    pub(super) hook: Option<Arc<str>>,
}

/// Where an event comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EventSource {
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
pub(super) fn choose(args: &DevArgs, project: &Project) -> Result<(HookSystem, ChosenEvent)> {
    let system = build(args, project, None)?;
    Project::require_modules(&system)?;
    let hook = args.name.as_deref().map(|name| find_hook(&system, name)).transpose()?;
    let label = hook.as_ref().map(|hook| Arc::clone(&hook.label));
    if args.event.is_some() || args.sample.is_given() {
        let (event, fields) = given(args, project, hook.as_deref())?;
        return Ok((system, ChosenEvent { event, fields, source: EventSource::Options, hook: label }));
    }
    if let Some((system, event, at)) = recorded(args, project, &system, hook.as_deref())? {
        let source = EventSource::Journal(at);
        return Ok((system, ChosenEvent { event, fields: FieldReport::default(), source, hook: label }));
    }
    let event = match hook.or_else(|| first_hook(&system)) {
        Some(hook) => sampled(&hook, project)?,
        None => {
            return Err(Failure::new("no hooks are configured").hint(
                "run `hookrail init` to create a first one, or `hookrail try SCRIPT` for a script without settings",
            ));
        }
    };
    Ok((system, ChosenEvent { event, fields: FieldReport::default(), source: EventSource::Sample, hook: label }))
}

fn build(args: &DevArgs, project: &Project, agent: Option<Agent>) -> Result<HookSystem> {
    let builder = project.builder(&args.project)?.lend_runtime();
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

/// The event that the options describe.
fn given(args: &DevArgs, project: &Project, hook: Option<&Hook>) -> Result<(Event, FieldReport)> {
    let kind = match (&args.event, hook) {
        (Some(name), _) => event_draft::find_kind(name)?,
        (None, Some(hook)) => event_of(hook),
        (None, None) if args.sample.prompt.is_some() => EventKind::Prompt,
        (None, None) => EventKind::BeforeTool,
    };
    let of_hook = hook.filter(|hook| event_of(hook) == kind && args.sample.tool.is_none());
    let fields = of_hook.map_or_else(|| sample::fields(kind, args.sample.tool.as_deref()), sample::fields_for);
    let event = args.sample.to_event(args.event.as_deref().unwrap_or(kind.name()), fields.to_json().text());
    let EventDraft { event, fields } = event_options::build_event(&event, project.root())?;
    Ok((event, fields))
}

/// The event of a hook; for a module that was not loaded, the usual one.
fn event_of(hook: &Hook) -> EventKind {
    hook.known_event().unwrap_or(EventKind::BeforeTool)
}

fn sampled(hook: &Hook, project: &Project) -> Result<Event> {
    let kind = event_of(hook);
    let fields: JsonObject = if kind == hook.event { sample::fields_for(hook) } else { sample::fields(kind, None) };
    let event = Event::new(kind, project.root()).with_payload(&fields.to_json());
    event.map_err(|error| Failure::new(error.to_string()).hint("describe the event with `--payload`"))
}

/// The last recorded event of the project in which the hook takes part, with the hook system that knows its tools.
fn recorded(
    args: &DevArgs,
    project: &Project,
    system: &HookSystem,
    hook: Option<&Hook>,
) -> Result<Option<(HookSystem, Event, String)>> {
    for record in last_records(project, hook).into_iter().rev() {
        let Some(event) = replay::event_of(&record, record.cwd.as_str().into()) else { continue };
        let system = match replay::agent_of(&record) {
            Some(agent) => build(args, project, Some(agent))?,
            None => system.clone(),
        };
        if hook.is_none_or(|hook| takes_part(&system, &event, hook)) {
            return Ok(Some((system, event, record.at)));
        }
    }
    Ok(None)
}

/// The last events of the project. A journal that cannot be read has none: a sample is fired instead.
fn last_records(project: &Project, hook: Option<&Hook>) -> VecDeque<Record> {
    let event = hook.and_then(|hook| hook.known_event()).map(|kind| kind.name().to_owned());
    let filter = Filter { kind: Some(RecordKind::Fired), event, ..Filter::default() };
    let own = project.root().to_string_lossy();
    let mut last = VecDeque::new();
    let Some(records) = journal::open().ok().and_then(|journal| journal.read(filter).ok()) else { return last };
    for record in records.flatten().filter(|record| record.project == own && record.is_replayable()) {
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
