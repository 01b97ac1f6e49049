//! A running server of the same user, which has modules loaded already.
//!
//! It is used only where the outcome is the same as without it: a server that runs this very program, and takes the environment
//! and the names of this process with the request. It is not used where the machine has a system layer: what root wants must not
//! depend on a process of the user. Until the first request is sent, everything that is wrong with the server means
//! that the bridge works alone. Afterwards it does so only if the server says that no hook was run.
//!
//! The bridge writes the record of what it answers itself: the server hands it over with its answer.

use std::path::PathBuf;
use std::time::Duration;

use hookrail::document::read_effects;
use hookrail::plan::SkipReason;
use hookrail::{Asker, Decision, Event, EventKind, Json, JsonObject, Level};
use hookrail_bridge::{Agent, EventResult};
use hookrail_bus::transport::{ConnectError, connect_to_own_program};
use hookrail_bus::{CallerContext, Client, ErrorCode, Hello, NotGuarded, PROTOCOL, Request};

use super::fire::{FiredEvent, with_context_before_tool};
use super::open::OpenedProject;
use super::{event_input, recorded_host};
use crate::folders::usual_socket;

/// How long a server may take to accept the connection and to say which version it has.
const GREETING: Duration = Duration::from_millis(200);

/// A server that gives the same outcomes as this process.
pub(super) struct Server {
    client: Client,
    project: PathBuf,
    caller: CallerContext,
}

/// Why a server has no outcome for an event, with its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServerFailure {
    /// The server says that it ran no hook, so the event may be fired without it.
    NotRun(String),
    /// Hooks may have run, and what they said is not known.
    Unknown(String),
}

/// What is at the usual place of a server.
pub(super) enum FoundServer {
    Usable(Server),
    /// None, or one that is of no use here.
    None,
    /// A process that is not known to be hookrail, with a sentence about it.
    Stranger(String),
}

impl Server {
    /// Connects to the server of this user, if there is one that can be used.
    pub(super) async fn find(opened: &OpenedProject, agent: Agent, deadline: Duration) -> FoundServer {
        let Some(path) = usual_socket().filter(|path| path.is_absolute() && path.exists()) else {
            return FoundServer::None;
        };
        let environment: hookrail::Environment = std::env::vars_os().collect();
        if hookrail::sources::has_system_layer(&environment) {
            tracing::debug!(target: "hookrail::bridge", "the running server is not used, because there is a system layer");
            return FoundServer::None;
        }
        let Some(caller) = surroundings(agent, &opened.read_by_agent) else { return FoundServer::None };
        let greeting = async {
            // This refuses a socket that another user could have made, and a server that runs as another user.
            let (connection, foreign) = match connect_to_own_program(&path).await {
                Ok(connected) => connected,
                Err(error @ (ConnectError::OtherProgram { .. } | ConnectError::Unsafe(_))) => {
                    return FoundServer::Stranger(error.to_string());
                }
                Err(_) => return FoundServer::None,
            };
            // The bridge's own deadline comes first, and says what happened.
            let client = Client::new(connection).deadline(deadline + GREETING);
            let welcome = match client.hello(Hello::new(PROTOCOL).from_client("hookrail bridge")).await {
                Ok(welcome) => welcome,
                Err(_) if foreign.was_seen() => {
                    let path = path.display();
                    return FoundServer::Stranger(format!(
                        "`{path}` is answered by another process than the one that listens"
                    ));
                }
                Err(_) => return FoundServer::None,
            };
            let takes_callers = welcome.capabilities.iter().any(|capability| capability == "caller");
            if !takes_callers || welcome.server != concat!("hookrail ", env!("CARGO_PKG_VERSION")) {
                return FoundServer::None;
            }
            FoundServer::Usable(Self { client, project: opened.project.root().to_owned(), caller })
        };
        tokio::time::timeout(GREETING, greeting).await.unwrap_or(FoundServer::None)
    }

    /// Fires an event on the server, which hands over its record.
    pub(super) async fn fire(&self, event: &Event) -> Result<(FiredEvent, ServedRecord), ServerFailure> {
        let request = Request::new(event.kind().name(), event_input(event))
            .in_project(&self.project)
            .for_caller(self.caller.clone());
        // The server records the event of a caller under this name.
        let request = match event.record_name() {
            Some(name) => request.named(name),
            None => request,
        };
        let executed = match self.client.execute(request).await {
            Ok(executed) => executed,
            Err(NotGuarded::Refused(error)) => {
                return match error.known() {
                    // Alone the outcome would be this denial.
                    Some(ErrorCode::SystemUnusable) => {
                        Ok((FiredEvent::denied(&error.message), ServedRecord::WrittenByServer))
                    }
                    Some(code) if ran_no_hook(code) => Err(ServerFailure::NotRun(error.to_string())),
                    Some(_) | None => Err(ServerFailure::Unknown(error.to_string())),
                };
            }
            Err(other) => return Err(ServerFailure::Unknown(other.to_string())),
        };
        let document = executed.report.document().as_object();
        let fired = document.as_ref().and_then(|document| read_outcome(event.kind(), document));
        let fired = fired.ok_or_else(|| ServerFailure::Unknown("its answer is not an outcome".to_owned()))?;
        let has_runs = document
            .as_ref()
            .and_then(|document| document.get("runs")?.as_array())
            .is_some_and(|runs| !runs.is_empty());
        let record = match executed.record.as_ref().and_then(Json::as_object) {
            Some(record) if belongs_to(&record, event, fired.result.effects.decision) => ServedRecord::Handed(record),
            Some(_) => return Err(ServerFailure::Unknown("it handed over the record of another answer".to_owned())),
            None if executed.truncated => ServedRecord::WrittenByServer,
            None => ServedRecord::None { has_runs },
        };
        Ok((fired, record))
    }
}

/// What became of the record of an event that a server was asked about.
pub(super) enum ServedRecord {
    /// This process has to write it.
    Handed(JsonObject),
    /// It did not fit into the answer, or there was none.
    WrittenByServer,
    /// There is none: no hook took part, or the server records nothing.
    None { has_runs: bool },
}

/// Whether a record is that of an event with this decision.
fn belongs_to(record: &JsonObject, event: &Event, decision: Option<Decision>) -> bool {
    let text = |name: &str| record.get(name).and_then(Json::as_str);
    text("kind").as_deref() == Some("fired")
        && text("fire").as_deref() == event.record_name()
        && text("event").as_deref() == Some(event.kind().name())
        && text("session").as_deref() == Some(event.session_id())
        && text("decision").as_deref() == decision.map(Decision::name)
}

/// Whether a refusal for this reason comes before any hook is run.
fn ran_no_hook(code: ErrorCode) -> bool {
    use ErrorCode::{
        InvalidProject, InvalidRequest, LineTooLong, Overloaded, ShuttingDown, UnsupportedCaller, UnsupportedEvent,
        UnsupportedProtocol, UnsupportedType,
    };
    matches!(
        code,
        InvalidProject
            | InvalidRequest
            | LineTooLong
            | Overloaded
            | ShuttingDown
            | UnsupportedCaller
            | UnsupportedEvent
            | UnsupportedProtocol
            | UnsupportedType
    )
}

/// What hooks find around them when this process runs them. Nothing if a message cannot carry it.
fn surroundings(agent: Agent, read_by_agent: &[PathBuf]) -> Option<CallerContext> {
    let variables: Option<Vec<(String, String)>> =
        std::env::vars_os().map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect();
    Some(
        CallerContext::new(variables?)
            .for_agent(agent.name())
            .with_read_by_agent(read_by_agent.iter().map(|place| place.to_string_lossy().into_owned()))
            .with_program(recorded_host(agent).name)
            .recording_itself(),
    )
}

fn read_outcome(event: EventKind, document: &JsonObject) -> Option<FiredEvent> {
    let listed = |name: &str| document.get(name).and_then(Json::as_array).unwrap_or_default().into_iter();
    let text = |entry: &JsonObject, name: &str| entry.get(name).and_then(Json::as_str);
    let is = |entry: &JsonObject, name: &str, word: &str| text(entry, name).as_deref() == Some(word);
    let denier =
        listed("runs").filter_map(|run| run.as_object()).find(|run| is(run, "decision", Decision::Deny.name()));
    let untrusted = listed("skipped").filter_map(|skipped| skipped.as_object());
    let untrusted = untrusted.filter(|skipped| is(skipped, "why", SkipReason::Untrusted.name()));
    let errors = listed("diagnostics").filter_map(|found| found.as_object());
    let errors = errors.filter(|found| is(found, "level", Level::Error.name()));
    let denied_by = denier.and_then(|run| text(&run, "hook"));
    let asked_by = Asker::ALL.iter().copied().find(|asker| is(document, "askedBy", asker.name()));
    let member = |object: &JsonObject, name: &str| object.get(name).and_then(Json::as_object);
    let output = member(document, "aggregated").and_then(|aggregated| member(&aggregated, "finalOutput"));
    let specific = output.and_then(|output| member(&output, "hookSpecificOutput"));
    let effects = with_context_before_tool(read_effects(document)?, event, specific.as_ref());
    Some(FiredEvent {
        result: EventResult { effects, denied_by, asked_by },
        untrusted: untrusted.filter_map(|skipped| text(&skipped, "hook")).collect(),
        errors: errors.filter_map(|found| text(&found, "message")).collect(),
    })
}
