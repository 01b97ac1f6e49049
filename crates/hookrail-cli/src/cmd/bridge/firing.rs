//! Asks the hooks: those of a running server if there is one, else those of this process.

use std::path::Path;
use std::time::Duration;

use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::plan::SkipReason;
use hookrail::{
    Code, Decision, Effects, EndKind, Event, EventKind, FireOptions, HookSystem, JsonObject, Level, Outcome,
};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::journal::{RecordDefault, survive_file_size_limit};
use hookrail_app::project::Project;
use hookrail_bridge::{Agent, AgentRequest, EventResult, Lateness};
use hookrail_journal::Journal;

use super::deadline::Deadline;
#[cfg(unix)]
use super::served::ServedRecording;
#[cfg(unix)]
use super::server;
use super::{project_args, recorded_host, shadow_process, with_session_memory};
use crate::args::BridgeArgs;
use crate::interrupt::{Interrupts, Signal};

/// How long hooks that no event waits for may go on before this process leaves them alone.
const DETACHED_PATIENCE: Duration = Duration::from_secs(1);

/// What came of asking the hooks.
pub(super) struct Asked {
    pub(super) fired: Fired,
    /// Why not all of them answered.
    pub(super) late: Option<Lateness>,
    pub(super) running: RunningHooks,
}

#[derive(Default)]
pub(super) struct Fired {
    pub(super) said: Vec<EventResult>,
    pub(super) untrusted: Vec<String>,
    /// What is wrong with each source that cannot be used.
    pub(super) load_failures: Vec<String>,
    errors: Vec<String>,
    pub(super) warning: Option<String>,
    pub(super) journal: Option<Journal>,
}

/// What came of one event.
pub(super) struct FiredEvent {
    pub(super) said: EventResult,
    /// The hooks that did not run because they are not trusted.
    pub(super) untrusted: Vec<String>,
    /// The messages of its errors.
    pub(super) errors: Vec<String>,
}

impl FiredEvent {
    #[cfg(unix)]
    pub(super) fn denied(reason: &str) -> Self {
        let said = EventResult { effects: Effects::deny(reason), denied_by: None };
        Self { said, untrusted: Vec::new(), errors: Vec::new() }
    }
}

impl From<Outcome> for FiredEvent {
    fn from(outcome: Outcome) -> Self {
        let untrusted = outcome.skipped.iter().filter(|skipped| skipped.why == SkipReason::Untrusted);
        let untrusted = untrusted.map(|skipped| skipped.hook.label.to_string()).collect();
        let errors = outcome.diagnostics.iter().filter(|found| found.level == Level::Error);
        let errors = errors.map(|found| found.message.clone()).collect();
        Self { said: event_result(&outcome), untrusted, errors }
    }
}

/// What the agent has to be told about an outcome.
pub(in crate::cmd) fn event_result(outcome: &Outcome) -> EventResult {
    let denier = outcome.runs.iter().find(|run| run.decision == Some(Decision::Deny));
    let denied_by = denier.map(|run| run.hook.label.to_string());
    let aggregated = AggregatedHookResult::from_outcome(outcome);
    let specific = aggregated.final_output.and_then(|output| output.hook_specific_output);
    let effects = with_context_before_tool(outcome.effects.clone(), outcome.event, specific.as_ref());
    EventResult { effects, denied_by }
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
    /// Adds a line for standard error.
    pub(super) fn warn(&mut self, text: &str) {
        let line = format!("hookrail: {text}");
        self.warning = Some(self.warning.take().map_or_else(|| line.clone(), |old| format!("{old}\n{line}")));
    }

    fn take(&mut self, event: FiredEvent) {
        self.untrusted.extend(event.untrusted);
        self.errors.extend(event.errors);
        self.said.push(event.said);
    }
}

/// The hooks of this process that may go on when the agent has its answer.
pub(super) struct RunningHooks {
    runtime: tokio::runtime::Runtime,
    system: Option<HookSystem>,
    left: LeftHooks,
}

/// What is still there of hooks when their event is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

pub(super) fn fire_all(
    args: &BridgeArgs,
    deadline: Deadline,
    project: &Project,
    request: &AgentRequest,
) -> Result<Asked> {
    let runtime = hookrail_app::runtime::runtime()?;
    let mut fired = Fired::default();
    let (mut system, mut left) = (None, LeftHooks::Detached);
    let ended = runtime.block_on(async {
        survive_file_size_limit();
        // Without a handler a signal ends this process as the system does it.
        let mut interrupts = Interrupts::listen().ok();
        let all = async {
            let rest = fire_on_server(args, deadline, project, request, &mut fired).await?;
            if !rest.is_empty() {
                let (own, journal) = own_system(project, request.agent)?;
                fired.journal = journal;
                left = fire_each(system.insert(own), rest, &mut fired).await;
            }
            Ok(())
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
            signal = signal => Ok(Some(Lateness::Signal(signal_name(signal)))),
        }
    });
    let late = ended?;
    if !fired.errors.is_empty() {
        fired.load_failures = load_failures(&fired.errors, project, system.as_ref());
    }
    if late.is_some() {
        left = LeftHooks::Ending;
    }
    for denier in fired.said.iter_mut().filter_map(|said| said.denied_by.as_mut()) {
        // The name of a module is its path, and the model knows the project.
        if let Ok(below) = Path::new(denier.as_str()).strip_prefix(project.root()) {
            *denier = below.display().to_string();
        }
    }
    Ok(Asked { fired, late, running: RunningHooks { runtime, system, left } })
}

/// What is wrong with the sources that cannot be used, if the outcome names it among its errors. A server names the errors of
/// sources that do not count too, so what counts is found here.
fn load_failures(errors: &[String], project: &Project, system: Option<&HookSystem>) -> Vec<String> {
    let unusable = match system {
        Some(system) => system.configuration().unusable,
        None => {
            let builder = project.builder(&project_args(project.root().to_owned()));
            builder.map_or_else(|_| Vec::new(), |builder| builder.build().configuration().unusable)
        }
    };
    // A refusal quotes the problem.
    let is_named =
        |source: &&hookrail::sources::UnusableSource| errors.iter().any(|error| error.contains(&source.problem));
    let named = unusable.iter().filter(is_named);
    let failure = |source: &hookrail::sources::UnusableSource| {
        format!("`{}` cannot be used, and nothing in it is in force: {}", source.path.display(), source.problem)
    };
    named.map(failure).collect()
}

fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::Interrupt => "SIGINT",
        #[cfg(unix)]
        Signal::Terminate => "SIGTERM",
        #[cfg(unix)]
        Signal::HangUp => "SIGHUP",
        #[cfg(unix)]
        Signal::Quit => "SIGQUIT",
    }
}

/// Fires the events on the running server of this user, and returns those that are left because no server runs or because
/// it ran no hook for them.
#[cfg(unix)]
async fn fire_on_server<'r>(
    args: &BridgeArgs,
    deadline: Deadline,
    project: &Project,
    request: &'r AgentRequest,
    fired: &mut Fired,
) -> Result<&'r [Event]> {
    let mut left = request.events.as_slice();
    if args.alone {
        return Ok(left);
    }
    let server = match server::Server::find(project.root(), request.agent, deadline.left()).await {
        server::FoundServer::Usable(server) => server,
        server::FoundServer::None => return Ok(left),
        server::FoundServer::Stranger(why) => {
            fired.warn(&format!("{why}; it is not asked, and the bridge runs the hooks itself"));
            return Ok(left);
        }
    };
    let recording = ServedRecording::open(project, request.agent)?;
    fired.journal.clone_from(&recording.journal);
    while let Some((event, later)) = left.split_first() {
        match server.fire(event).await {
            Ok((mut answered, record)) => {
                if let Some(failed) = recording.write(event, &mut answered, record).await {
                    fired.warn(&failed);
                }
                fired.take(answered);
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
    _args: &BridgeArgs,
    _deadline: Deadline,
    _project: &Project,
    request: &'r AgentRequest,
    _fired: &mut Fired,
) -> Result<&'r [Event]> {
    Ok(&request.events)
}

/// The hook system of this process, with its journal. It ends with its answer, and hooks that are not enforced go on.
fn own_system(project: &Project, agent: Agent) -> Result<(HookSystem, Option<Journal>)> {
    let (builder, journal) = own_builder(project, agent)?;
    let root = project.root().to_owned();
    let builder = builder.shadow_hooks_elsewhere(move |fire, event| shadow_process::start(agent, &root, fire, event));
    Ok((builder.build(), journal))
}

pub(super) fn own_builder(project: &Project, agent: Agent) -> Result<(hookrail::Builder, Option<Journal>)> {
    let options = project_args(project.root().to_owned());
    let host = recorded_host(agent).name;
    let (builder, recording) = project.recorded_builder(&options, RecordDefault::On, &host)?;
    let builder = builder.lend_runtime().host_tools(agent.tools()).require_user_folders();
    Ok((with_session_memory(builder), crate::journal_warnings::started(recording)))
}

async fn fire_each(system: &HookSystem, events: &[Event], fired: &mut Fired) -> LeftHooks {
    let mut left = LeftHooks::Detached;
    for event in events {
        let outcome = system.fire_with(event.clone(), FireOptions::new()).await;
        if let Some(failed) = outcome.diagnostics.iter().find(|found| found.code == Code::RecordFailed) {
            fired.warn(&failed.message);
        }
        let is_ended = |end| matches!(end, EndKind::TimedOut | EndKind::OutputLimit | EndKind::Cancelled);
        if outcome.runs.iter().any(|run| is_ended(run.end)) {
            left = LeftHooks::Ending;
        }
        fired.take(outcome.into());
    }
    left
}
