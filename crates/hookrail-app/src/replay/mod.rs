//! Firing recorded events against a configuration, and what would be decided otherwise.
//!
//! Nothing is recorded, and nothing is changed: hooks run in a sandbox that only reads, unless the user says otherwise.

mod compare;
mod summary;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use hookrail::hook::{Action, ProcessLifetime};
use hookrail::{CancelToken, Event, FireOptions, Hook, HookSystem, Level};
use hookrail_bridge::Agent;
use hookrail_journal::{Record, Unreadable};

use crate::failure::{Failure, Result};
use crate::project::{Project, ProjectChoice, of_agent, read_by_agent_now};
use compare::{Comparison, RecordedOutcome, compare};

pub use compare::{Isolation, ReplayChange};
pub use summary::{Example, Group, ReplaySummary, ReplayVerdict};

/// The variable by which a hook knows that its event is of the past.
const REPLAY_VARIABLE: &str = "HOOKRAIL_REPLAY";

/// The number of records that are read at once, and of such batches that wait to be fired.
const READ_AT_ONCE: usize = 16;
const BATCHES_AHEAD: usize = 2;

/// A recorded event that can be fired again.
struct RecalledEvent {
    /// None if its fields were not recorded.
    event: Option<Event>,
    is_replayable: bool,
    origin: EventOrigin,
    outcome: RecordedOutcome,
    /// The record itself, for the example of a difference.
    line: String,
}

/// A number of recorded events.
type Batch = Vec<std::result::Result<RecalledEvent, Unreadable>>;

/// The thread that reads records.
struct Reader {
    batches: Receiver<Batch>,
    /// Takes batches whose events were fired, so that they are freed where they were made: to free them on another thread
    /// takes locks of the allocator that both need all the time.
    done: Sender<Batch>,
}

impl RecalledEvent {
    /// The event of a record, in the project with that root.
    fn of(mut record: Record<'_>, root: &Path) -> Self {
        let recorded = Path::new(record.cwd.as_deref().unwrap_or_default());
        let directory = match recorded.strip_prefix(&*record.project) {
            Ok(inside) => root.join(inside),
            Err(_) => recorded.to_owned(),
        };
        let event = event_of(&record, directory).map(|event| event.variable(REPLAY_VARIABLE, "1"));
        Self {
            event,
            is_replayable: record.is_replayable(),
            origin: EventOrigin::of(&record),
            outcome: RecordedOutcome::of(&record),
            line: std::mem::take(&mut record.line),
        }
    }
}

/// Reads records and takes them apart on a thread of its own, while the events before them are fired: that takes almost as
/// long as firing a module.
fn recall_ahead(
    mut records: impl Iterator<Item = std::result::Result<Record<'static>, Unreadable>> + Send + 'static,
    root: PathBuf,
) -> Result<Reader> {
    let (send, batches) = sync_channel(BATCHES_AHEAD);
    let (done, freed) = channel::<Batch>();
    let body = move || {
        loop {
            let recalled =
                |found: std::result::Result<Record<'static>, Unreadable>| Ok(RecalledEvent::of(found?, &root));
            let batch: Batch = records.by_ref().take(READ_AT_ONCE).map(recalled).collect();
            let is_last = batch.len() < READ_AT_ONCE;
            // If nothing receives it, the replay was stopped.
            if send.send(batch).is_err() || is_last {
                return;
            }
            freed.try_iter().for_each(drop);
        }
    };
    let started = std::thread::Builder::new().name("hookrail-reader".to_owned()).spawn(body);
    started.map_err(|error| {
        Failure::new(format!("no thread can be started to read the journal: {error}"))
            .hint("the system may be out of threads or memory")
    })?;
    Ok(Reader { batches, done })
}

/// The hook system that fired a recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EventOrigin {
    /// What the names of all its events begin with.
    instance: String,
    /// The agent whose bridge it is that of: its tools have the names of that agent.
    agent: Option<Agent>,
}

impl EventOrigin {
    fn of(record: &Record<'_>) -> Self {
        let instance = record.fire.as_deref().and_then(|fire| fire.split('-').next()).unwrap_or_default().to_owned();
        Self { instance, agent: agent_of(record) }
    }
}

/// The number of hook systems that are kept for events of processes that recorded side by side.
const MOST_SYSTEMS: usize = 8;

/// What a replay tells while it goes on.
#[derive(Debug)]
pub enum ReplayProgress<'p> {
    /// A record cannot be read.
    Unreadable(&'p Unreadable),
    /// One more event was fired, or counted as one that cannot be.
    Replayed(&'p ReplaySummary),
}

/// The configuration that events are fired against.
pub struct ReplayTarget<'c> {
    project: Project,
    choice: ProjectChoice<'c>,
    isolation: Isolation,
    /// Whether what a hook does can depend on earlier events of the same process, so that events of different processes
    /// need hook systems of their own.
    keeps_state: bool,
    configuration_errors: usize,
    /// The newest last.
    systems: VecDeque<(EventOrigin, HookSystem)>,
}

impl<'c> ReplayTarget<'c> {
    /// Opens the configuration that the options describe.
    pub fn open(choice: ProjectChoice<'c>, isolation: Isolation) -> Result<Self> {
        let project = Project::open(choice)?;
        let mut target =
            Self { project, choice, isolation, keeps_state: false, configuration_errors: 0, systems: VecDeque::new() };
        let system = target.build(None)?;
        Project::require_modules(&system)?;
        let snapshot = system.snapshot();
        target.keeps_state = snapshot.hooks().iter().any(|hook| keeps_state(hook));
        target.configuration_errors = snapshot.diagnostics().iter().filter(|found| found.level == Level::Error).count();
        Ok(target)
    }

    /// Returns the folder of the configuration.
    pub fn root(&self) -> &Path {
        self.project.root()
    }

    /// Fires recorded events until all were fired or `stop` is cancelled, and shuts the hooks down.
    pub fn replay(
        mut self,
        records: impl Iterator<Item = std::result::Result<Record<'static>, Unreadable>> + Send + 'static,
        stop: &CancelToken,
        mut tell: impl FnMut(ReplayProgress<'_>),
    ) -> Result<ReplaySummary> {
        let mut summary = ReplaySummary::new(self.configuration_errors);
        let Reader { batches, done } = recall_ahead(records, self.project.root().to_owned())?;
        for batch in batches {
            for recalled in &batch {
                match recalled {
                    Ok(recalled) => fire_again(&mut self, recalled, stop, &mut summary),
                    Err(unreadable) => tell(ReplayProgress::Unreadable(unreadable)),
                }
                if stop.is_cancelled() {
                    break;
                }
                tell(ReplayProgress::Replayed(&summary));
            }
            // After the last batch nothing takes it.
            let _ = done.send(batch);
            if stop.is_cancelled() {
                break;
            }
        }
        for (_, system) in &self.systems {
            system.shutdown_blocking();
        }
        Ok(summary)
    }

    fn build(&self, agent: Option<Agent>) -> Result<HookSystem> {
        let builder = self.project.builder(self.choice)?;
        let builder = match agent {
            Some(agent) => {
                let root = self.project.root();
                of_agent(builder, agent, read_by_agent_now(agent, root))
            }
            None => builder,
        };
        let builder = match self.isolation {
            Isolation::Sandbox => builder.rehearse(),
            Isolation::None => builder,
        };
        Ok(builder.build())
    }

    /// Returns the hook system for events of an origin.
    fn system_for(&mut self, origin: &EventOrigin) -> Option<&HookSystem> {
        let (keeps_state, agent) = (self.keeps_state, origin.agent);
        let serves = |made: &EventOrigin| made.agent == agent && (!keeps_state || made.instance == origin.instance);
        let at = match self.systems.iter().rposition(|(made, _)| serves(made)) {
            Some(at) => at,
            None => {
                let system = self.build(agent).ok()?;
                if self.systems.len() >= MOST_SYSTEMS
                    && let Some((_, oldest)) = self.systems.pop_front()
                {
                    oldest.shutdown_blocking();
                }
                self.systems.push_back((origin.clone(), system));
                self.systems.len() - 1
            }
        };
        self.systems.get(at).map(|(_, system)| system)
    }
}

/// Whether a hook can remember earlier events.
fn keeps_state(hook: &Hook) -> bool {
    matches!(hook.action, Action::Module(_)) || hook.lifetime == ProcessLifetime::Worker
}

/// Returns the agent whose bridge fired the recorded event.
pub fn agent_of(record: &Record<'_>) -> Option<Agent> {
    Agent::from_name(record.host.as_ref()?.name.strip_prefix("hookrail bridge ")?)
}

/// Returns a recorded event as it was fired, in this directory; none if its fields were not recorded.
pub fn event_of(record: &Record<'_>, directory: PathBuf) -> Option<Event> {
    let kind = record.event_kind()?;
    let fields = record.input.as_ref()?.as_object()?;
    let event = Event::new(kind, directory)
        .session(record.session.as_deref().unwrap_or_default())
        .transcript(record.transcript.as_deref().unwrap_or_default())
        .at_time(&record.at);
    Some(fields.iter().fold(event, |event, (name, value)| event.with(name, value.clone())))
}

/// Fires one recorded event and counts what came of it.
fn fire_again(
    target: &mut ReplayTarget<'_>,
    recalled: &RecalledEvent,
    stop: &CancelToken,
    summary: &mut ReplaySummary,
) {
    let Some(event) = recalled.event.clone() else { return summary.not_recorded += 1 };
    if !recalled.is_replayable {
        return summary.redacted += 1;
    }
    let isolation = target.isolation;
    let Some(system) = target.system_for(&recalled.origin) else { return summary.not_recorded += 1 };
    let options = FireOptions::new().decisive_only().cancelled_by(stop);
    let outcome = system.fire_blocking_with(event, options);
    if stop.is_cancelled() {
        return;
    }
    summary.count_failures(&outcome);
    match compare(&recalled.outcome, &recalled.line, &outcome, isolation) {
        Comparison::Same => summary.same += 1,
        Comparison::RewriteRemoved => summary.redacted += 1,
        Comparison::NotAsked(why) => summary.add_not_asked(why),
        Comparison::Differs(change) => match Record::parse(&recalled.line) {
            Ok(record) => summary.add(&record, change, &outcome),
            // It was parsed before.
            Err(_) => summary.not_recorded += 1,
        },
    }
}
