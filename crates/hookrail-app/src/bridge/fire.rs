//! The third step: the hooks are asked, those of a running server if there is one, else those of this process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::plan::SkipReason;
use hookrail::{
    Builder, Code, Decision, Effects, EndKind, Event, EventKind, FireOptions, HookSystem, JsonObject, Level, Outcome,
};
use hookrail_bridge::{Agent, AgentRequest, EventResult, Lateness};
use hookrail_journal::Journal;

#[cfg(unix)]
use super::BridgeRunner;
use super::deadline::Deadline;
#[cfg(unix)]
use super::open::OpenedProject;
use super::served::ServedRecording;
#[cfg(unix)]
use super::server;
use super::{BridgeCall, record, recorded_host, second_look, shadow_process, with_session_memory};
use crate::failure::{Failure, Result};
use crate::journal::{Recording, survive_file_size_limit};
use crate::project::{Project, of_agent};
use crate::signals::Interrupts;

/// How long hooks that no event waits for may go on before this process leaves them alone.
const DETACHED_PATIENCE: Duration = Duration::from_secs(1);

/// What came of asking the hooks.
#[derive(Default)]
pub(super) struct Fired {
    /// One for each event that has an outcome.
    pub(super) results: Vec<EventResult>,
    /// The hooks that did not run because they are not trusted.
    pub(super) untrusted: Vec<String>,
    /// What is wrong with each source that cannot be used.
    pub(super) load_failures: Vec<String>,
    /// The messages of errors.
    pub(super) errors: Vec<String>,
    /// Lines for standard error.
    pub(super) warnings: Vec<String>,
    /// Where the events were recorded, if the hooks were asked.
    pub(super) journal: Option<Journal>,
    /// Why not all of them answered.
    pub(super) late: Option<Lateness>,
}

/// What came of one event.
pub(super) struct FiredEvent {
    pub(super) result: EventResult,
    /// The hooks that did not run because they are not trusted.
    pub(super) untrusted: Vec<String>,
    /// The messages of its errors.
    pub(super) errors: Vec<String>,
}

impl FiredEvent {
    #[cfg(unix)]
    pub(super) fn denied(reason: &str) -> Self {
        let result = EventResult { effects: Effects::deny(reason), ..EventResult::default() };
        Self { result, untrusted: Vec::new(), errors: Vec::new() }
    }
}

impl From<Outcome> for FiredEvent {
    fn from(outcome: Outcome) -> Self {
        let untrusted = outcome.skipped.iter().filter(|skipped| skipped.why == SkipReason::Untrusted);
        let untrusted = untrusted.map(|skipped| skipped.hook.label.to_string()).collect();
        let errors = outcome.diagnostics.iter().filter(|found| found.level == Level::Error);
        let errors = errors.map(|found| found.message.clone()).collect();
        Self { result: event_result(&outcome), untrusted, errors }
    }
}

/// What the agent has to be told about an outcome.
pub fn event_result(outcome: &Outcome) -> EventResult {
    let denier = outcome.runs.iter().find(|run| run.decision == Some(Decision::Deny));
    let denied_by = denier.map(|run| run.hook.label.to_string());
    let aggregated = AggregatedHookResult::from_outcome(outcome);
    let specific = aggregated.final_output.and_then(|output| output.hook_specific_output);
    let effects = with_context_before_tool(outcome.effects.clone(), outcome.event, specific.as_ref());
    EventResult { effects, denied_by, asked_by: outcome.asked_by() }
}

/// The effects with the context that an LLxprt hook gave before a tool. LLxprt itself does not use it there, so the engine has
/// no such effect, but agents can be given it.
pub(super) fn with_context_before_tool(
    mut effects: Effects,
    event: EventKind,
    specific: Option<&JsonObject>,
) -> Effects {
    if event == EventKind::BeforeTool && effects.additional_context.is_none() {
        effects.additional_context = specific.and_then(|specific| specific.get("additionalContext")?.as_str());
    }
    effects
}

impl Fired {
    /// Adds what guards say about the calls that hooks have changed.
    fn take_second_look(&mut self, again: Self) {
        self.untrusted.extend(again.untrusted);
        self.errors.extend(again.errors);
        self.warnings.extend(again.warnings);
        second_look::restrict(&mut self.results, again.results);
    }

    fn add(&mut self, event: FiredEvent) {
        self.untrusted.extend(event.untrusted);
        self.errors.extend(event.errors);
        self.results.push(event.result);
    }
}

/// The hooks of this process that may go on when the agent has its answer.
pub(super) struct RunningHooks {
    runtime: tokio::runtime::Runtime,
    system: Option<HookSystem>,
    left: LeftHooks,
}

/// What is still there of hooks when their event is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LeftHooks {
    /// Nothing, or hooks that no event waits for.
    Detached,
    /// Hooks that have to end: they were cut off, or their time was up.
    Ending,
}

impl RunningHooks {
    /// Ends the hooks that have to end, and gives those that no event waits for a moment. The agent waits until this process
    /// has ended.
    pub(super) fn end(self, request: &AgentRequest, deadline: Deadline) {
        let Self { runtime, system, left } = self;
        // Nothing of a session goes on after its end.
        let is_killed = left == LeftHooks::Ending || request.kind() == EventKind::SessionEnd;
        let longest = if request.kind() == EventKind::SessionEnd { deadline.left() } else { DETACHED_PATIENCE };
        let patience = deadline.left().min(longest).max(deadline.reserve());
        if let Some(system) = &system {
            let _ = runtime.block_on(async { tokio::time::timeout(patience, system.shutdown()).await });
        }
        if is_killed {
            // Whatever still runs is dropped with its task, and a process that is dropped is killed.
            runtime.shutdown_background();
        } else {
            // The process ends now, and the operating system takes everything back at once.
            std::mem::forget(runtime);
        }
        std::mem::forget(system);
    }
}

/// Fires the events of a request. The hooks that may still run are returned apart.
pub(super) fn fire(
    call: &BridgeCall,
    opened: &OpenedProject,
    request: &AgentRequest,
    deadline: Deadline,
) -> Result<(Fired, RunningHooks)> {
    let runtime = crate::runtime::runtime()?;
    let mut fired = Fired::default();
    let (mut system, mut left) = (None, LeftHooks::Detached);
    let ended = runtime.block_on(async {
        survive_file_size_limit();
        // Without a handler a signal ends this process as the system does it.
        let mut interrupts = Interrupts::listen().ok();
        let all = async {
            left = ask_hooks(call, deadline, opened, request, &mut system, &mut fired).await?;
            let changed = second_look::changed_calls(request, &fired.results);
            if !changed.events.is_empty() {
                let mut again = Fired::default();
                let also_left = ask_hooks(call, deadline, opened, &changed, &mut system, &mut again).await?;
                left = left.max(also_left);
                fired.take_second_look(again);
            }
            Ok::<(), Failure>(())
        };
        let signal = async {
            match &mut interrupts {
                Some(interrupts) => interrupts.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            ended = all => ended.map(|()| None),
            () = tokio::time::sleep(deadline.left()) => Ok(Some(Lateness::Deadline(deadline.limit()))),
            signal = signal => Ok(Some(Lateness::Signal(signal.name()))),
        }
    });
    fired.late = ended?;
    // A server does not say what is wrong with sources; at the start of a session this process looks itself.
    if system.is_some() || !fired.errors.is_empty() || request.kind() == EventKind::SessionStart {
        fired.load_failures = load_failures(&fired.errors, &opened.project, system.as_ref());
    }
    if fired.late.is_some() {
        left = LeftHooks::Ending;
    }
    for denier in fired.results.iter_mut().filter_map(|result| result.denied_by.as_mut()) {
        // The name of a module is its path, and the model knows the project.
        if let Ok(below) = Path::new(denier.as_str()).strip_prefix(opened.project.root()) {
            *denier = below.display().to_string();
        }
    }
    Ok((fired, RunningHooks { runtime, system, left }))
}

/// Asks the hooks about the events of a request, those of a running server if there is one.
async fn ask_hooks(
    call: &BridgeCall,
    deadline: Deadline,
    opened: &OpenedProject,
    request: &AgentRequest,
    system: &mut Option<HookSystem>,
    fired: &mut Fired,
) -> Result<LeftHooks> {
    let rest = fire_on_server(call, deadline, opened, request, fired).await?;
    if rest.is_empty() {
        return Ok(LeftHooks::Detached);
    }
    let own = match system {
        Some(own) => own,
        None => {
            let (own, recording) = own_system(opened, request.agent, &request.session_id)?;
            fired.warnings.extend(recording.warning());
            fired.journal = recording.journal().cloned();
            system.insert(own)
        }
    };
    Ok(fire_each(own, rest, fired).await)
}

/// What is wrong with sources: those that cannot be used, if the outcome names them among its errors, and what was lost of others
/// that are not the project's. A server names the errors of sources that do not count too, so what counts is found here.
fn load_failures(errors: &[String], project: &Project, system: Option<&HookSystem>) -> Vec<String> {
    let own = match system {
        Some(_) => None,
        None => project.builder(project.root()).ok().map(Builder::build),
    };
    let Some(system) = system.or(own.as_ref()) else { return Vec::new() };
    let (unusable, snapshot) = (system.configuration().unusable, system.snapshot());
    // A refusal quotes the problem.
    let is_named = |problem: &str| errors.iter().any(|error| error.contains(problem));
    let failures = unusable.iter().filter(|source| is_named(&source.problem)).map(|source| {
        format!("`{}` cannot be used, and nothing in it is in force: {}", source.path.display(), source.problem)
    });
    let in_part = snapshot.diagnostics().iter().filter(|found| found.level == Level::Error).filter_map(|found| {
        let place = found.location.as_ref()?;
        let is_whole = unusable.iter().any(|source| source.path == *place.file);
        let counts = !is_whole && !place.file.starts_with(project.root());
        counts.then(|| {
            format!("a part of `{}` is not in force (line {}): {}", place.file.display(), place.line, found.message)
        })
    });
    failures.chain(in_part).collect()
}

/// Fires the events on the running server of this user, and returns those that are left because no server runs or because
/// it ran no hook for them.
#[cfg(unix)]
async fn fire_on_server<'r>(
    call: &BridgeCall,
    deadline: Deadline,
    opened: &OpenedProject,
    request: &'r AgentRequest,
    fired: &mut Fired,
) -> Result<&'r [Event]> {
    let mut left = request.events.as_slice();
    if call.runner == BridgeRunner::Own {
        return Ok(left);
    }
    let server = match server::Server::find(opened, request.agent, deadline.left()).await {
        server::FoundServer::Usable(server) => server,
        server::FoundServer::None => return Ok(left),
        server::FoundServer::Stranger(why) => {
            fired.warnings.push(format!("{why}; it is not asked, and the bridge runs the hooks itself"));
            return Ok(left);
        }
    };
    let recording = ServedRecording::open(&opened.project, request.agent, &request.session_id)?;
    fired.journal.clone_from(&recording.journal);
    while let Some((event, later)) = left.split_first() {
        match server.fire(event).await {
            Ok((mut answered, record)) => {
                fired.warnings.extend(recording.write(event, &mut answered, record).await);
                fired.add(answered);
            }
            Err(server::ServerFailure::NotRun(why)) => {
                tracing::debug!(target: "hookrail::bridge", why, "the running server is not used");
                break;
            }
            // Alone the same hooks could run a second time.
            Err(server::ServerFailure::Unknown(why)) => {
                return Err(Failure::new(format!("the running server gave no answer: {why}")));
            }
        }
        left = later;
    }
    Ok(left)
}

#[cfg(not(unix))]
async fn fire_on_server<'r>(
    _call: &BridgeCall,
    _deadline: Deadline,
    _opened: &OpenedProject,
    request: &'r AgentRequest,
    _fired: &mut Fired,
) -> Result<&'r [Event]> {
    Ok(&request.events)
}

/// The hook system of this process, with its journal. It ends with its answer, and hooks that are not enforced go on.
fn own_system(opened: &OpenedProject, agent: Agent, session: &str) -> Result<(HookSystem, Recording)> {
    let OpenedProject { project, read_by_agent, .. } = opened;
    let (builder, recording) = own_builder(project, agent, session, read_by_agent.clone())?;
    let root = project.root().to_owned();
    let builder = builder.shadow_hooks_elsewhere(move |fire, event| shadow_process::start(agent, &root, fire, event));
    Ok((builder.build(), recording))
}

pub(super) fn own_builder(
    project: &Project,
    agent: Agent,
    session: &str,
    read_by_agent: Vec<PathBuf>,
) -> Result<(Builder, Recording)> {
    let host = recorded_host(agent).name;
    let (builder, recording) = project.recorded_builder(project.root(), record::default_of(session), &host)?;
    let builder = of_agent(builder.lend_runtime(), agent, read_by_agent).require_user_folders();
    Ok((with_session_memory(builder), recording))
}

async fn fire_each(system: &HookSystem, events: &[Event], fired: &mut Fired) -> LeftHooks {
    let mut left = LeftHooks::Detached;
    for event in events {
        let outcome = system.fire_with(event.clone(), FireOptions::new()).await;
        let failed = outcome.diagnostics.iter().find(|found| found.code == Code::RecordFailed);
        fired.warnings.extend(failed.map(|failed| failed.message.clone()));
        let is_ended = |end| matches!(end, EndKind::TimedOut | EndKind::OutputLimit | EndKind::Cancelled);
        if outcome.runs.iter().any(|run| is_ended(run.end)) {
            left = LeftHooks::Ending;
        }
        fired.add(outcome.into());
    }
    left
}
