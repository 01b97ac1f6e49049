//! `hookrail replay`: fires recorded events against a configuration and reports what would be decided otherwise.
//!
//! Nothing is recorded, and nothing is changed: hooks run in a sandbox that only reads, unless the user says otherwise.

mod compare;
mod report;

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use hookrail::hook::{Action, ProcessLifetime};
use hookrail::{CancelToken, Event, EventKind, FireOptions, Hook, HookSystem, Level};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;
use hookrail_bridge::Agent;
use hookrail_journal::{Filter, Record, RecordKind, Unreadable};

use super::journal::{failure, filter, open};
use crate::args::{ProjectArgs, ReplayArgs, SelectArgs};
use crate::exit::Exit;
use crate::interrupt::StopSignal;
use crate::output;
use compare::{Comparison, Isolation, RecordedOutcome, compare};
use report::{Summary, Verdict};

/// The variable by which a hook knows that its event is of the past.
const REPLAY_VARIABLE: &str = "HOOKRAIL_REPLAY";

/// The time between two updates of the progress line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &ReplayArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let mut target = Target::open(args)?;
    let ReplayArgs { since, session, event, .. } = args;
    let select =
        SelectArgs { since: since.clone(), session: session.clone(), event: event.clone(), ..SelectArgs::default() };
    let filter = Filter { kind: Some(RecordKind::Fired), ..filter(&select)? };
    let records = open()?.read(filter).map_err(|error| failure(&error))?;
    let stop = StopSignal::listen();
    let mut progress = Progress::new();
    let mut summary = Summary::new(target.configuration_errors);
    // The events of another project are about another configuration.
    let own = project.root().to_string_lossy().into_owned();
    let recalled = records.filter(move |found| found.as_ref().map_or(true, |record| record.project == own));
    let Reader { batches, done } = recall_ahead(recalled, target.project.root().to_owned())?;
    for batch in batches {
        for recalled in &batch {
            match recalled {
                Ok(recalled) => replay(&mut target, recalled, &stop.token, &mut summary),
                Err(unreadable) => super::log::report_unreadable(unreadable),
            }
            if stop.token.is_cancelled() {
                break;
            }
            progress.update(&summary);
        }
        // After the last batch nothing takes it.
        let _ = done.send(batch);
        if stop.token.is_cancelled() {
            break;
        }
    }
    progress.erase();
    target.shut_down();
    if let Some(number) = stop.number() {
        return Ok(Exit::Signalled(number));
    }
    if args.json {
        output::json(&summary.document())?;
    } else {
        output::text(&summary.text(&target.project))?;
    }
    Ok(match summary.verdict() {
        Verdict::Differs => Exit::Blocked,
        // "Nothing differs" would be a guess: a guard that was not asked may have stopped every one of them.
        Verdict::NotAllAsked | Verdict::NothingCompared => Exit::Failed,
        Verdict::Same => Exit::Fine,
    })
}

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
    fn of(mut record: Record, root: &Path) -> Self {
        let recorded = Path::new(&record.cwd);
        let directory = match recorded.strip_prefix(&record.project) {
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
    mut records: impl Iterator<Item = std::result::Result<Record, Unreadable>> + Send + 'static,
    root: PathBuf,
) -> Result<Reader> {
    let (send, batches) = sync_channel(BATCHES_AHEAD);
    let (done, freed) = channel::<Batch>();
    let body = move || {
        loop {
            let recalled = |found: std::result::Result<Record, Unreadable>| Ok(RecalledEvent::of(found?, &root));
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
    fn of(record: &Record) -> Self {
        let instance = record.fire.split('-').next().unwrap_or_default().to_owned();
        Self { instance, agent: agent_of(record) }
    }
}

/// The number of hook systems that are kept for events of processes that recorded side by side.
const MOST_SYSTEMS: usize = 8;

/// The configuration that events are fired against.
struct Target {
    project: Project,
    args: ProjectArgs,
    isolation: Isolation,
    /// Whether what a hook does can depend on earlier events of the same process, so that events of different processes
    /// need hook systems of their own.
    keeps_state: bool,
    configuration_errors: usize,
    /// The newest last.
    systems: VecDeque<(EventOrigin, HookSystem)>,
}

impl Target {
    fn open(args: &ReplayArgs) -> Result<Self> {
        let mut options = args.project.clone();
        if let Some(against) = &args.against {
            options.project = Some(against.clone());
        }
        let project = Project::open(&options)?;
        let isolation = if args.run_commands { Isolation::None } else { Isolation::Sandbox };
        let mut target = Self {
            project,
            args: options,
            isolation,
            keeps_state: false,
            configuration_errors: 0,
            systems: VecDeque::new(),
        };
        let system = target.build(None)?;
        Project::require_modules(&system)?;
        let snapshot = system.snapshot();
        target.keeps_state = snapshot.hooks().iter().any(|hook| keeps_state(hook));
        target.configuration_errors = snapshot.diagnostics().iter().filter(|found| found.level == Level::Error).count();
        Ok(target)
    }

    fn build(&self, agent: Option<Agent>) -> Result<HookSystem> {
        let builder = self.project.builder(&self.args)?;
        let builder = agent.map(Agent::tools).into_iter().fold(builder, hookrail::Builder::host_tools);
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

    fn shut_down(&self) {
        for (_, system) in &self.systems {
            system.shutdown_blocking();
        }
    }
}

/// Whether a hook can remember earlier events.
fn keeps_state(hook: &Hook) -> bool {
    matches!(hook.action, Action::Module(_)) || hook.exec.lifetime == ProcessLifetime::Worker
}

/// Returns the agent whose bridge fired the recorded event.
pub(super) fn agent_of(record: &Record) -> Option<Agent> {
    Agent::from_name(record.host.as_ref()?.name.strip_prefix("hookrail bridge ")?)
}

/// Returns a recorded event as it was fired, in this directory; none if its fields were not recorded.
pub(super) fn event_of(record: &Record, directory: PathBuf) -> Option<Event> {
    let kind = EventKind::all().find(|kind| kind.name() == record.event)?;
    let fields = record.input.as_ref()?.as_object()?;
    let event = Event::new(kind, directory).session(&record.session).transcript(&record.transcript).at_time(&record.at);
    Some(fields.iter().fold(event, |event, (name, value)| event.with(name, value.clone())))
}

/// Fires one recorded event and counts what came of it.
fn replay(target: &mut Target, recalled: &RecalledEvent, stop: &CancelToken, summary: &mut Summary) {
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

/// A line on the terminal that counts; nothing where standard error is not a terminal.
struct Progress {
    is_shown: bool,
    last: Instant,
}

impl Progress {
    fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            is_shown: std::io::stderr().is_terminal() && !is_dumb && !crate::verbosity::is_quiet(),
            last: Instant::now(),
        }
    }

    fn update(&mut self, summary: &Summary) {
        if self.is_shown && self.last.elapsed() >= UPDATE_INTERVAL {
            self.last = Instant::now();
            let (count, differ) = (summary.replayed(), summary.differing());
            // A terminal that cannot be written to shows no progress.
            let _ = write!(std::io::stderr(), "\r\x1b[2Kreplayed {count}, {differ} differ");
        }
    }

    fn erase(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
