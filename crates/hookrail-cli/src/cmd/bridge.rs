//! `hookrail bridge`: what an agent calls as its hook.
//!
//! Standard output and the exit status belong to the agent: nothing but the answer is written there. Every error in a
//! gating event denies it, because all agents let a tool run when its hook fails in an unknown way.

mod payload;
#[cfg(unix)]
mod server;
pub(crate) mod session_file;
mod shadow_process;
mod told;
mod trust_notice;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::plan::SkipReason;
use hookrail::recorder::HostIdentity;
use hookrail::trust::TrustStore as _;
use hookrail::{Code, Decision, Effects, Event, EventKind, FireOptions, HookSystem, Json, JsonObject, Outcome};
use hookrail_bridge::{
    Agent, AgentRequest, AllowPolicy, Answer, AnswerOptions, Attendance, BridgeSession, EventResult, Incoming,
    NoisyEvents, OnError, Reading, RequestError, request, tools,
};

use hookrail_journal::Journal;

use crate::args::{BridgeArgs, OnErrorArg, ProjectArgs};
use crate::errors::{Exit, Failure, Result};
use crate::journal::{RecordDefault, survive_file_size_limit};
use crate::project::{Project, home};
use crate::project_search::{GuardedProject, find_guarded_project};

use session_file::{SessionFile, agent_folder, remove_old_sessions};

/// Below the shortest limit of any agent, which is Copilot's 30 s.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(24);

/// A payload that takes longer to arrive shortens the time that is left for hooks.
const LONG_READING: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &BridgeArgs) -> Result<Exit> {
    if args.shadow_hooks {
        return shadow_process::run(args.agent);
    }
    let (begin, limit) = (Instant::now(), deadline(args));
    let read = payload::read_payload(begin, limit);
    let incoming = Incoming {
        agent: args.agent,
        event: args.event.as_deref(),
        payload: read.as_deref().unwrap_or_default(),
        variable: &|name| std::env::var(name).ok(),
        noisy: if args.noisy { NoisyEvents::Fired } else { NoisyEvents::Filtered },
    };
    let reading = match &read {
        Ok(_) => request::read(&incoming),
        Err(error) => Err(incoming.refused(RequestError::Unreadable { message: error.to_string() })),
    };
    let answer = match reading {
        Err(refused) => {
            let answer = Answer::refusal(&refused, on_error(args));
            told::record_refusal(&refused, &answer);
            answer
        }
        Ok(Reading::Pass(pass)) => {
            tracing::debug!(target: "hookrail::bridge", ?pass, "nothing is fired");
            Answer::passed(args.agent, &pass)
        }
        Ok(Reading::Fire(request)) if begin.elapsed() > LONG_READING => {
            let left = limit.saturating_sub(begin.elapsed()).as_millis();
            let args = BridgeArgs { deadline: u64::try_from(left).ok(), ..args.clone() };
            answer_request(&args, *request)
        }
        Ok(Reading::Fire(request)) => answer_request(args, *request),
    };
    give(&answer)
}

fn on_error(args: &BridgeArgs) -> OnError {
    match args.on_error {
        OnErrorArg::Block => OnError::Block,
        OnErrorArg::Allow => OnError::Allow,
    }
}

/// Whether a command line that cannot be read is a call of the bridge for an event that has to be denied then, which is recorded.
/// The end of an answer is not: to deny it would keep the agent going.
pub(crate) fn deny_misuse(given: &[String]) -> bool {
    if given.get(1).is_none_or(|command| command != "bridge") {
        return false;
    }
    let agent = given.get(2).and_then(|name| Agent::from_name(name));
    let value = |option: &str| given.iter().position(|word| word == option).and_then(|at| given.get(at + 1));
    if value("--on-error").is_some_and(|effect| effect == "allow") {
        return false;
    }
    let event = value("--event");
    let known = agent.zip(event).and_then(|(agent, event)| agent.find_event(event));
    let denies = known.is_none_or(|event| event.kind.spec().is_gating() && event.kind != EventKind::AgentEnd);
    if denies {
        told::record_misuse(agent, known.map(|event| event.kind));
    }
    denies
}

/// Answers a request. A failure of the bridge itself denies a gating event and is reported for any other.
fn answer_request(args: &BridgeArgs, mut request: AgentRequest) -> Answer {
    let (agent, event) = (request.agent, request.event);
    let call = told::Call::name_events(&mut request);
    // A panic would end this process with a status that most agents take for a permission.
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fire_request(args, request, &call)));
    let failure = match answered {
        Ok(Ok(answer)) => return answer,
        Ok(Err(failure)) => failure.message().to_owned(),
        Err(_) => "an internal error occurred".to_owned(),
    };
    let answer = Answer::failure(agent, Some(event), &failure, on_error(args));
    call.record_unasked(&answer, &failure);
    answer
}

fn fire_request(args: &BridgeArgs, mut request: AgentRequest, call: &told::Call) -> Result<Answer> {
    let state = state_folder().ok_or_else(|| Failure::new("neither `HOME` nor `XDG_STATE_HOME` is set"))?;
    let folder = agent_folder(&state, request.agent);
    let unusable = |error| Failure::new(format!("the state of the session cannot be used: {error}"));
    {
        // The lock is not held while hooks run: two calls of one session may be asked about at the same time.
        let mut file = SessionFile::open(&folder, &request).map_err(unusable)?;
        if request.kind() == EventKind::SessionStart {
            remove_old_sessions(&folder, SystemTime::now());
        }
        let stopped = Answer::while_stopped(&request, &mut file.session);
        remember_prompt(&mut request, &mut file.session);
        file.save().map_err(unusable)?;
        if let Some(answer) = stopped {
            call.record_unasked(&answer, "a hook stopped the agent before");
            return Ok(answer);
        }
    }
    let (project, passed_over) = open_project(&request)?;
    // Against the working directory of this process, which a server does not have.
    request.events = std::mem::take(&mut request.events).into_iter().map(in_absolute_directory).collect();
    let mut fired = fire_all(args, &project, &request)?;
    let decided = told::Decided::by_hooks(&fired.said);
    trust_notice::report(&mut fired, args, &project, passed_over.as_deref(), &request);
    let options = AnswerOptions {
        allow: if args.allow_skips_prompt { AllowPolicy::SkipsPrompt } else { AllowPolicy::KeepsPrompt },
        attendance: if args.attended { Attendance::Attended } else { Attendance::Unknown },
    };
    let mut file = SessionFile::open(&folder, &request).map_err(unusable)?;
    let mut answer = match fired.late {
        Lateness::InTime => Answer::compose(&request, &fired.said, options, &mut file.session),
        Lateness::DeadlineReached => Answer::late(&request, deadline(args), &mut file.session),
    };
    answer.stderr = answer.stderr.or(fired.warning);
    // A server records the event itself, so this process opens the journal only for what the server cannot know.
    // Sessions that are killed never end, so the journal is looked after when one begins too.
    let is_border = matches!(request.kind(), EventKind::SessionStart | EventKind::SessionEnd);
    let correction = decided.correction(&answer, &fired.said);
    let is_needed = !answer.losses.is_empty() || correction.is_some() || is_border;
    if is_needed && let Some(journal) = fired.journal.or_else(|| project.journal(RecordDefault::On)) {
        call.record_answer(&journal, project.root(), &answer, correction.as_deref());
        if is_border {
            // What cannot be done now is tried again when the next session begins or ends.
            let _ = journal.maintain();
        }
    }
    if request.kind() == EventKind::SessionEnd {
        // If the file cannot be removed, it is forgotten after a week.
        let _ = file.remove();
    } else {
        file.save().map_err(unusable)?;
    }
    Ok(answer)
}

/// The name under which events of an agent are recorded, here and by a server.
fn recorded_host(agent: Agent) -> HostIdentity {
    HostIdentity { name: format!("hookrail bridge {agent}"), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// Keeps a prompt, and gives it to the end of the answer, which most agents send without it.
fn remember_prompt(request: &mut AgentRequest, session: &mut BridgeSession) {
    match request.kind() {
        EventKind::Prompt => {
            session.prompt = request.prompt.clone().unwrap_or_default();
            session.agent_end_denials = 0;
        }
        EventKind::AgentEnd => {
            let prompt = &session.prompt;
            let events = std::mem::take(&mut request.events);
            let is_missing = |event: &Event| event.text("prompt").is_none_or(|text| text.is_empty());
            let filled = events.into_iter().map(|event| match is_missing(&event) {
                true => event.with_text("prompt", prompt),
                false => event,
            });
            request.events = filled.collect();
        }
        _ => {}
    }
}

fn in_absolute_directory(event: Event) -> Event {
    match std::path::absolute(event.cwd()) {
        Ok(directory) if directory != event.cwd() => event.in_directory(directory),
        Ok(_) | Err(_) => event,
    }
}

/// The project that the agent declares, never one that the model chose with `cd` or made with `mkdir`. Returns a nearer folder
/// with hooks that was passed over too.
fn open_project(request: &AgentRequest) -> Result<(Project, Option<PathBuf>)> {
    let found = guarded_project(request.declared_project.as_deref().unwrap_or(&request.cwd));
    Ok((Project::open(&project_args(found.root))?, found.passed_over))
}

fn guarded_project(start: &Path) -> GuardedProject {
    find_guarded_project(start, home().as_deref(), |root| {
        let grants = Project::trust_store().ok().and_then(|store| store.grants(root).ok());
        grants.is_some_and(|grants| grants.project || !grants.hooks.is_empty())
    })
}

fn project_args(root: PathBuf) -> ProjectArgs {
    ProjectArgs { project: Some(root), trust_project: false, modules: Vec::new(), no_plugins: false }
}

/// Whether the hooks answered before the agent stops waiting.
enum Lateness {
    InTime,
    DeadlineReached,
}

struct Fired {
    said: Vec<EventResult>,
    late: Lateness,
    untrusted: Vec<String>,
    warning: Option<String>,
    journal: Option<Journal>,
}

/// What came of one event.
struct FiredEvent {
    said: EventResult,
    /// The hooks that did not run because they are not trusted.
    untrusted: Vec<String>,
}

impl FiredEvent {
    #[cfg(unix)]
    fn denied(reason: &str) -> Self {
        Self { said: EventResult { effects: Effects::deny(reason), denied_by: None }, untrusted: Vec::new() }
    }
}

impl From<Outcome> for FiredEvent {
    fn from(outcome: Outcome) -> Self {
        let untrusted = outcome.skipped.iter().filter(|skipped| skipped.why == SkipReason::Untrusted);
        let untrusted = untrusted.map(|skipped| skipped.hook.label.to_string()).collect();
        let denier = outcome.runs.iter().find(|run| run.decision == Some(Decision::Deny));
        let denied_by = denier.map(|run| run.hook.label.to_string());
        let aggregated = AggregatedHookResult::from_outcome(&outcome);
        let specific = aggregated.final_output.and_then(|output| output.hook_specific_output);
        let effects = with_context_before_tool(outcome.effects, outcome.event, specific.as_ref());
        Self { said: EventResult { effects, denied_by }, untrusted }
    }
}

/// The effects with the context that an LLxprt hook gave before a tool. LLxprt itself does not use it there, so the engine has
/// no such effect, but agents can be given it.
fn with_context_before_tool(mut effects: Effects, event: EventKind, specific: Option<&JsonObject>) -> Effects {
    if event == EventKind::BeforeTool && effects.additional_context.is_none() {
        effects.additional_context = specific.and_then(|specific| specific.get("additionalContext")?.as_str());
    }
    effects
}

impl Fired {
    fn take(&mut self, event: FiredEvent) {
        self.untrusted.extend(event.untrusted);
        self.said.push(event.said);
    }
}

fn deadline(args: &BridgeArgs) -> Duration {
    args.deadline.map_or(DEFAULT_DEADLINE, Duration::from_millis)
}

fn fire_all(args: &BridgeArgs, project: &Project, request: &AgentRequest) -> Result<Fired> {
    let runtime = super::runtime()?;
    let mut fired =
        Fired { said: Vec::new(), late: Lateness::InTime, untrusted: Vec::new(), warning: None, journal: None };
    let mut alone = None;
    let ended = runtime.block_on(async {
        survive_file_size_limit();
        let all = async {
            let left = fire_on_server(args, project, request, &mut fired).await?;
            if !left.is_empty() {
                let (system, journal) = own_system(project, request.agent)?;
                fired.journal = journal;
                fire_each(alone.insert(system), left, &mut fired).await;
            }
            Ok(())
        };
        let ended = tokio::time::timeout(deadline(args), all).await;
        // Hooks that are still running are ended: the agent has its answer, and would wait for the pipes they hold.
        if let Some(system) = &alone {
            let _ = tokio::time::timeout(Duration::from_secs(1), system.shutdown()).await;
        }
        ended
    });
    // The process ends now, and the operating system takes everything back at once.
    std::mem::forget((alone, runtime));
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => return Err(failure),
        Err(_) => fired.late = Lateness::DeadlineReached,
    }
    Ok(fired)
}

/// Fires the events on the running server of this user, and returns those that are left because there is none or because
/// it ran no hook for them.
#[cfg(unix)]
async fn fire_on_server<'r>(
    args: &BridgeArgs,
    project: &Project,
    request: &'r AgentRequest,
    fired: &mut Fired,
) -> Result<&'r [Event]> {
    let mut left = request.events.as_slice();
    if args.alone {
        return Ok(left);
    }
    let Some(server) = server::Server::find(project.root(), request.agent, deadline(args)).await else {
        return Ok(left);
    };
    while let Some((event, later)) = left.split_first() {
        match server.fire(event).await {
            Ok(event) => fired.take(event),
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

fn own_builder(project: &Project, agent: Agent) -> Result<(hookrail::Builder, Option<Journal>)> {
    let options = project_args(project.root().to_owned());
    let host = recorded_host(agent).name;
    let (builder, journal) = project.recorded_builder(&options, RecordDefault::On, &host)?;
    let names = tools::all_dialect_names().into_iter();
    Ok((names.fold(builder.lend_runtime(), hookrail::Builder::tool), journal))
}

async fn fire_each(system: &HookSystem, events: &[Event], fired: &mut Fired) {
    for event in events {
        let outcome = system.fire_with(event.clone(), FireOptions::new()).await;
        if let Some(failed) = outcome.diagnostics.iter().find(|found| found.code == Code::RecordFailed) {
            fired.warning = Some(format!("hookrail: {}", failed.message));
        }
        fired.take(outcome.into());
    }
}

/// The fields of an event, as another process is given them.
fn event_input(event: &Event) -> Json {
    let mut members = event.fields().clone();
    let base = [
        ("session_id", event.session_id().to_owned()),
        ("transcript_path", event.transcript_path().to_owned()),
        ("timestamp", event.timestamp().to_owned()),
        ("cwd", event.cwd().to_string_lossy().into_owned()),
    ];
    for (name, text) in base {
        members.set(name, Json::string(&text));
    }
    members.to_json()
}

/// Where the state of this user is kept.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.filter(|folder| folder.is_absolute()).or_else(|| Some(home()?.join(".local/state")))
}

/// Gives the answer to the agent.
fn give(answer: &Answer) -> Result<Exit> {
    if let Some(text) = &answer.stderr {
        // Without standard error a denial has no reason, and some agents then let the tool run; the status is all there is.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
    if let Some(document) = &answer.stdout {
        let mut stdout = std::io::stdout().lock();
        let written = writeln!(stdout, "{}", document.text()).and_then(|()| stdout.flush());
        if written.is_err() {
            return Ok(Exit::Blocked);
        }
    }
    Ok(if answer.status.code() == 0 { Exit::Fine } else { Exit::Blocked })
}
