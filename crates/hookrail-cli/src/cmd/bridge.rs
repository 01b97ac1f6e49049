//! `hookrail bridge`: what an agent calls as its hook.
//!
//! Standard output and the exit status belong to the agent: nothing but the answer is written there. Every error in a
//! gating event denies it, because all agents let a tool run when its hook fails in an unknown way.

mod deadline;
mod firing;
mod payload;
#[cfg(unix)]
mod served;
#[cfg(unix)]
mod server;
pub(crate) mod session_file;
mod shadow_process;
mod told;
mod trust_notice;
mod user_notice;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use hookrail::recorder::HostIdentity;
use hookrail::{Code, Event, EventKind, Json};
use hookrail_bridge::{
    Agent, AgentEvent, AgentRequest, AllowPolicy, Answer, AnswerOptions, AnswerStatus, Attendance, BridgeSession,
    Incoming, Lateness, NoisyEvents, OnError, Pass, Reading, RequestError, ResponsePiece, UnfinishedResponse, request,
};

use hookrail_app::failure::{Failure, Result};
use hookrail_app::folders::home;
use hookrail_app::journal::RecordDefault;
use hookrail_app::project::Project;
use hookrail_app::text::visible;
use hookrail_journal::JournalWarning;

use crate::args::{BridgeArgs, OnErrorArg, ProjectArgs};
use crate::exit::Exit;

use deadline::Deadline;
pub(super) use firing::event_result;
use firing::{Asked, Fired};
use session_file::{SessionFile, agent_folder, remove_old_sessions};

/// The stack of the thread that waits for the deadline and writes one answer.
const DEADLINE_STACK: usize = 256 << 10;

pub(crate) fn run(args: &BridgeArgs) -> Result<Exit> {
    if args.shadow_hooks {
        return shadow_process::run(args.agent);
    }
    let deadline = Deadline::begin(args.deadline);
    let read = payload::read_payload(deadline);
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
    let named = args.event.as_deref().and_then(|name| args.agent.find_event(name));
    let answer = match reading {
        Err(refused) => {
            let answer = Answer::refusal(&refused, on_error(args));
            let exit = give(&answer, refused.event);
            // The agent has the status only when this process ends, and another process may hold the journal.
            let thread = std::thread::Builder::new().name("hookrail-deadline".to_owned()).stack_size(DEADLINE_STACK);
            if thread.spawn(move || end_after(deadline.left(), exit)).is_ok() {
                told::record_refusal(&refused, &answer);
            }
            return Ok(exit);
        }
        Ok(Reading::Pass(Pass::PieceOfResponse(piece))) => match keep_piece(&piece, deadline) {
            Ok(()) => Answer::silent(),
            Err(failure) => {
                let event = piece.agent.event_name(EventKind::AfterModel).and_then(|name| piece.agent.find_event(name));
                Answer::failure(piece.agent, event, failure.message(), on_error(args))
            }
        },
        Ok(Reading::Pass(pass)) => {
            tracing::debug!(target: "hookrail::bridge", ?pass, "nothing is fired");
            Answer::passed(args.agent, &pass)
        }
        Ok(Reading::Fire(request)) => return answer_request(args, deadline, *request),
    };
    Ok(give(&answer, named))
}

fn on_error(args: &BridgeArgs) -> OnError {
    match args.on_error {
        OnErrorArg::Block => OnError::Block,
        OnErrorArg::Allow => OnError::Allow,
    }
}

/// Keeps a piece of a response for the event of the last one.
fn keep_piece(piece: &ResponsePiece, deadline: Deadline) -> Result<()> {
    // Without a session the pieces of unrelated responses would be mixed, so the last one is judged alone.
    let Some(session) = &piece.session else { return Ok(()) };
    let folder = agent_folder(&named_state_folder()?, piece.agent);
    let mut file = SessionFile::open_named(&folder, session, deadline.lock_patience()).map_err(unusable_state)?;
    file.session.keep_piece(piece);
    file.save().map_err(unusable_state)
}

fn named_state_folder() -> Result<PathBuf> {
    state_folder().ok_or_else(|| {
        let problem = "the user's folders cannot be found, because neither `HOME` nor `XDG_STATE_HOME` names one";
        Failure::new(format!("{problem} ({}); set `HOME` to your home directory", Code::UserUnusable.name()))
    })
}

fn unusable_state(error: std::io::Error) -> Failure {
    Failure::new(format!("the state of the session cannot be used: {error}"))
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

/// Answers a request at the deadline at the latest, and ends soon after it.
///
/// To ask the hooks may mean to wait for a lock, a slow disk or a module that is loaded, and the agent would let the operation
/// happen meanwhile. So another thread does nothing but wait for the deadline, and answers then.
fn answer_request(args: &BridgeArgs, deadline: Deadline, mut request: AgentRequest) -> Result<Exit> {
    let (agent, event) = (request.agent, request.event);
    let turn = Arc::new(AnswerTurn::of_event(event));
    let call = told::Call::name_events(&mut request);
    let asking = Asking { args, call, deadline, turn: Arc::clone(&turn) };
    let thread = std::thread::Builder::new().name("hookrail-deadline".to_owned()).stack_size(DEADLINE_STACK);
    let watching = Arc::clone(&turn);
    match thread.spawn(move || watch_deadline(&watching, deadline, agent, event)) {
        Ok(_) => asking.run(request),
        Err(error) => {
            let failure = format!("there is no thread for it: {error}");
            turn.give(&Answer::failure(agent, Some(event), &failure, on_error(args)));
        }
    }
    Ok(*turn.exit.wait())
}

/// Answers at the deadline if nothing else has, and ends this process when the agent has waited long enough for it.
fn watch_deadline(turn: &AnswerTurn, deadline: Deadline, agent: Agent, event: AgentEvent) {
    std::thread::sleep(deadline.left());
    if !turn.take() {
        // The other thread has the turn, so its answer is a moment away.
        std::thread::sleep(deadline.reserve() / 4);
    }
    turn.give(&Answer::late(agent, event, Lateness::Deadline(deadline.limit())));
    // Meanwhile hooks that still run are ended, and what can be recorded is recorded.
    end_after(deadline.left_for_all(), *turn.exit.wait());
}

/// Ends this process with the status of its answer when that time is over.
fn end_after(time: Duration, exit: Exit) {
    std::thread::sleep(time);
    std::process::exit(if exit == Exit::Fine { 0 } else { 2 });
}

/// Which thread answers: the first one that takes the turn. The other one then must not leave anything behind that belongs
/// to an answer.
#[derive(Debug)]
struct AnswerTurn {
    event: AgentEvent,
    is_taken: AtomicBool,
    is_given: AtomicBool,
    /// The status of the answer that was given.
    exit: OnceLock<Exit>,
}

impl AnswerTurn {
    fn of_event(event: AgentEvent) -> Self {
        Self { event, is_taken: AtomicBool::default(), is_given: AtomicBool::default(), exit: OnceLock::new() }
    }

    /// Takes the turn, and returns whether it was free.
    fn take(&self) -> bool {
        !self.is_taken.swap(true, Ordering::AcqRel)
    }

    /// Gives an answer to the agent, unless it has one.
    fn give(&self, answer: &Answer) {
        if !self.is_given.swap(true, Ordering::AcqRel) {
            // Only one thread comes here.
            let _ = self.exit.set(give(answer, Some(self.event)));
        }
    }
}

/// Asks the hooks and answers.
struct Asking<'a> {
    args: &'a BridgeArgs,
    call: told::Call,
    deadline: Deadline,
    turn: Arc<AnswerTurn>,
}

impl Asking<'_> {
    /// A failure of the bridge itself denies a gating event and is reported for any other.
    fn run(&self, request: AgentRequest) {
        let (agent, event) = (request.agent, request.event);
        // A panic would leave the agent without an answer until the deadline.
        let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.fire_request(request)));
        let failure = match answered {
            Ok(Ok(())) => return,
            Ok(Err(failure)) => failure.message().to_owned(),
            Err(_) => "an internal error occurred".to_owned(),
        };
        let answer = Answer::failure(agent, Some(event), &failure, on_error(self.args));
        self.turn.give(&answer);
        self.call.record_unasked(&answer, &failure);
    }

    fn fire_request(&self, mut request: AgentRequest) -> Result<()> {
        let folder = agent_folder(&named_state_folder()?, request.agent);
        let (mut ending, mut pieces) = (None, None);
        {
            // The lock is not held while hooks run: two calls of one session may be asked about at the same time.
            let mut file =
                SessionFile::open(&folder, &request, self.deadline.lock_patience()).map_err(unusable_state)?;
            if request.kind() == EventKind::SessionStart {
                remove_old_sessions(&folder, SystemTime::now());
            }
            let stopped = Answer::while_stopped(&request, &mut file.session);
            remember_prompt(&mut request, &mut file.session);
            if let Some(last) = &request.last_piece {
                pieces = file.session.take_pieces(last);
            }
            if request.kind() == EventKind::SessionEnd {
                // Some agents kill this process before slow hooks have ended.
                file.end_session();
                ending = Some(file);
            } else {
                file.save().map_err(unusable_state)?;
            }
            if let Some(answer) = stopped {
                self.turn.give(&answer);
                self.call.record_unasked(&answer, "a hook stopped the agent before");
                return Ok(());
            }
        }
        if let Some(pieces) = &pieces {
            pieces.complete(&mut request);
        }
        let (project, passed_over) = open_project(&request)?;
        // Against the working directory of this process, which a server does not have.
        request.events = std::mem::take(&mut request.events).into_iter().map(in_absolute_directory).collect();
        let Asked { mut fired, late, running } = firing::fire_all(self.args, self.deadline, &project, &request)?;
        let decided = told::Decided::by_hooks(&fired.said);
        let open = |patience| SessionFile::open(&folder, &request, patience).map_err(unusable_state);
        if late.is_none() {
            trust_notice::report(&mut fired, self.args, &project, passed_over.as_deref(), &request);
            let mut file = ending.map_or_else(|| open(self.deadline.lock_patience()), Ok)?;
            user_notice::report_load_failures(&mut fired, &request, &mut file.session);
            user_notice::report_disabled(&mut fired, &request);
            let lost = pieces.as_ref().and_then(|pieces| pieces.fit(&mut fired.said));
            if let Some(text) = pieces.as_ref().and_then(UnfinishedResponse::warning) {
                fired.warn(&text);
            }
            let mut answer = self.composed(&request, &fired, &mut file.session);
            if let Some(lost) = lost {
                *file.session.losses.entry(lost.name()).or_default() += 1;
                answer.losses.push(lost);
            }
            if self.turn.take() {
                file.save().map_err(unusable_state)?;
                drop(file);
                self.turn.give(&answer);
                running.end(&request, self.deadline);
                self.record(&project, &answer, &decided, fired);
                return Ok(());
            }
            ending = (request.kind() == EventKind::SessionEnd).then_some(file);
        }
        let late = late.unwrap_or(Lateness::Deadline(self.deadline.limit()));
        let answer = Answer::late(request.agent, request.event, late);
        // After a signal the deadline is not reached yet.
        self.turn.give(&answer);
        // The agent has its answer, so a count that cannot be kept does not matter any more.
        if let Ok(mut file) = ending.map_or_else(|| open(self.deadline.reserve() / 4), Ok) {
            file.session.answered_late(&request, &answer.losses);
            let _ = file.save();
        }
        running.end(&request, self.deadline);
        self.record(&project, &answer, &decided, fired);
        Ok(())
    }

    fn composed(&self, request: &AgentRequest, fired: &Fired, session: &mut BridgeSession) -> Answer {
        let args = self.args;
        let options = AnswerOptions {
            allow: if args.allow_skips_prompt { AllowPolicy::SkipsPrompt } else { AllowPolicy::KeepsPrompt },
            attendance: if args.attended { Attendance::Attended } else { Attendance::Unknown },
        };
        let mut answer = Answer::compose(request, &fired.said, options, session);
        // With this status standard error is the reason that the model gets, and nothing else.
        if answer.status == AnswerStatus::Answered {
            let lines: Vec<String> = answer.stderr.take().into_iter().chain(fired.warning.clone()).collect();
            answer.stderr = (!lines.is_empty()).then(|| lines.join("\n"));
        }
        answer
    }

    /// Records what the agent cannot be made to do, and what it was told in the place of what hooks decided. It has its answer:
    /// another process may hold the journal.
    fn record(&self, project: &Project, answer: &Answer, decided: &told::Decided, fired: Fired) {
        // No journal is open if no hook was asked, and few answers then need one.
        // Sessions that are killed never end, so the journal is looked after when one begins too.
        let is_border = matches!(self.call.kind(), EventKind::SessionStart | EventKind::SessionEnd);
        let correction = decided.correction(answer, &fired.said);
        let is_needed = !answer.losses.is_empty() || correction.is_some() || is_border;
        let opened = || is_needed.then(|| project.journal(RecordDefault::On)).flatten();
        let Some(journal) = fired.journal.or_else(opened) else { return };
        self.call.record_answer(&journal, project.root(), answer, correction.as_deref());
        // What cannot be done now is tried again when the next session begins or ends.
        let maintained = if is_border { journal.maintain().err() } else { None };
        journal.finish_syncing();
        let failed = maintained.map(|error| JournalWarning::NotMaintained(error.to_string()));
        for warning in journal.take_warnings().into_iter().chain(failed) {
            tracing::warn!(target: "hookrail::journal", "{warning}");
            // What is there may be the reason of a denial, which the agent gives to its model.
            if answer.stderr.is_none() {
                // If no one reads it, the log has it.
                let _ = writeln!(std::io::stderr(), "hookrail: {warning}");
            }
        }
    }
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
    let start = request.declared_project.as_deref().unwrap_or(&request.cwd);
    if let Some((folder, real)) = Project::replaced_by_link(start) {
        let (folder, real, code) = (folder.display(), real.display(), Code::GuardMissing.name());
        let missing =
            format!("`{folder}`, where you trusted guards, is a link to `{real}` now, where you trusted none ({code})");
        return Err(Failure::new(format!(
            "{missing}; review `{real}` with `hookrail trust grant` in a terminal, or remove the link"
        )));
    }
    let found = Project::of_agent(start);
    match found.unknown {
        None => Ok((Project::open(&project_args(found.root))?, found.passed_over)),
        Some(problem) => {
            let unknown = format!("{problem}, so it is not known which of several folders with hooks guards this one");
            Err(Failure::new(format!("{unknown} ({}); {}", Code::StoreUnusable.name(), problem.repair())))
        }
    }
}

fn project_args(root: PathBuf) -> ProjectArgs {
    ProjectArgs { project: Some(root), trust_project: false, modules: Vec::new(), no_plugins: false }
}

/// The fields of an event, as another process is given them.
pub(super) fn event_input(event: &Event) -> Json {
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
    let absolute = |folder: &PathBuf| folder.is_absolute();
    named.filter(absolute).or_else(|| Some(home().filter(absolute)?.join(".local/state")))
}

/// Lets a hook system that answers an agent remember what a person approved in a session.
pub(crate) fn with_session_memory(builder: hookrail::Builder) -> hookrail::Builder {
    match state_folder() {
        Some(state) => builder.remember_sessions(state.join("hookrail")),
        None => builder,
    }
}

/// Gives the answer to the agent. If its document is lost, status 2 takes its place where that denies. At the end of an answer it
/// would keep the agent going.
fn give(answer: &Answer, event: Option<AgentEvent>) -> Exit {
    if let Some(text) = &answer.stderr {
        // Without standard error a denial has no reason, and some agents then let the tool run; the status is all there is.
        // What a patch or a hook says must not be acted on by the terminal that the agent may share.
        let _ = writeln!(std::io::stderr().lock(), "{}", visible(text));
    }
    if let Some(document) = &answer.stdout {
        let mut stdout = std::io::stdout().lock();
        let written = writeln!(stdout, "{}", document.text()).and_then(|()| stdout.flush());
        if written.is_err() || !has_reader() {
            let denies = event.is_none_or(|event| event.guards_an_operation());
            return if denies { Exit::Blocked } else { Exit::Fine };
        }
    }
    if answer.status.code() == 0 { Exit::Fine } else { Exit::Blocked }
}

/// Whether a program can read standard output. In the place of a descriptor that is closed when this program starts, the standard
/// library opens `/dev/null`, where every write succeeds.
#[cfg(unix)]
fn has_reader() -> bool {
    use rustix::fs::{FileType, fstat, stat};
    let Ok(output) = fstat(rustix::stdio::stdout()) else { return false };
    let is_device = FileType::from_raw_mode(output.st_mode) == FileType::CharacterDevice;
    !(is_device && stat("/dev/null").is_ok_and(|null| null.st_rdev == output.st_rdev))
}

#[cfg(not(unix))]
fn has_reader() -> bool {
    true
}
