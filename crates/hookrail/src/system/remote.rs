//! Asking remote hooks: attempts, their time, and the end that the hook comes to.
//!
//! How a question travels is the business of the client that the embedding program registered.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookrail_spawn::CancelToken;

use super::drive::guarded;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::event::effects::Effects;
use crate::hook::remote::{RemoteClient, RemoteFailure, RemoteQuestion, RemoteTarget};
use crate::hook::{Action, Enablement, Hook};
use crate::json::Json;
use crate::run::{Output, PlannedRun, RawEnd, RemoteEnd, SpawnFailure};
use crate::system::document::read_effects;
use crate::text::log::log;

/// Who asks remote hooks.
pub(super) enum RemoteAccess {
    /// The client of the embedding program.
    Client(Arc<dyn RemoteClient>),
    /// The embedding program has no client.
    Missing,
    /// No remote hook is asked, because an event is fired only to find out what would be decided.
    HeldBack,
}

impl RemoteAccess {
    pub(super) fn new(client: Option<Arc<dyn RemoteClient>>, is_rehearsal: bool) -> Self {
        match client {
            _ if is_rehearsal => Self::HeldBack,
            Some(client) => Self::Client(client),
            None => Self::Missing,
        }
    }

    /// Reports the hooks that would be asked if there were a client. Each of them fails whenever its event is fired, which is
    /// better known before.
    pub(super) fn report_missing_client<'h>(&self, hooks: &'h [Hook]) -> impl Iterator<Item = Diagnostic> + use<'h> {
        let is_missing = matches!(self, Self::Missing);
        let is_asked = |hook: &&Hook| {
            matches!(hook.action, Action::Remote(_)) && hook.enablement == Enablement::Active && hook.trust.allows()
        };
        hooks.iter().filter(move |hook| is_missing && is_asked(hook)).map(|hook| {
            let message = format!("remote hook `{hook}` cannot be asked: {}", SpawnFailure::NoRemoteClient);
            Diagnostic::new(Code::RemoteNoClient, message)
                .at(hook.origin.location.clone())
                .hint("name the servers in the configuration of the user or the machine; until then its failure policy applies")
        })
    }
}

/// The longest pause before a question is sent again, if the attempt before it ended early. A server that was started again needs
/// about this long to know the workers of the other servers.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// Asks a remote hook, again if need be, within the time of the hook.
pub(super) async fn ask_remote(
    access: &RemoteAccess,
    target: &RemoteTarget,
    request: &PlannedRun,
    cancel: &CancelToken,
) -> RemoteEnd {
    let began = Instant::now();
    let asked = match access {
        RemoteAccess::Client(client) => ask_in_time(client.as_ref(), target, request, cancel, began).await,
        RemoteAccess::Missing => Err(RawEnd::SpawnFailed(SpawnFailure::NoRemoteClient)),
        RemoteAccess::HeldBack => Err(RawEnd::SpawnFailed(SpawnFailure::RemoteHeldBack)),
    };
    let (how, answer) = match asked {
        Ok((effects, document)) => (RawEnd::Decided(Box::new(effects)), Output::whole(document.text())),
        Err(how) => (how, Output::default()),
    };
    RemoteEnd { how, duration: began.elapsed(), answer }
}

async fn ask_in_time(
    client: &dyn RemoteClient,
    target: &RemoteTarget,
    request: &PlannedRun,
    cancel: &CancelToken,
    began: Instant,
) -> Result<(Effects, Json), RawEnd> {
    if !request.hook.trust.still_holds(&request.cwd) {
        return Err(RawEnd::ContentChanged);
    }
    let text = String::from_utf8_lossy(&request.input);
    let input = Json::parse(&text).map_err(|error| {
        RawEnd::Unanswered(RemoteFailure::Refused(format!("the event is not JSON and cannot be sent: {error}")))
    })?;
    let column = request.event.kind().spec().column(request.hook.dialect);
    let mut question = RemoteQuestion {
        correlation_id: new_correlation_id(),
        group: target.group.clone(),
        event_name: column.map_or(request.event.kind().name(), |column| column.name),
        input,
        timeout: request.timeout,
    };
    let attempts = u32::from(target.retries) + 1;
    let mut last = RemoteFailure::TimedOut(request.timeout);
    for attempt in 0..attempts {
        let left = request.timeout.saturating_sub(began.elapsed());
        if left.is_zero() {
            break;
        }
        // What an attempt does not use is left to those after it.
        question.timeout = left / (attempts - attempt);
        last = match guarded(client.ask(&question), Some(question.timeout), cancel).await {
            Ok(Ok(document)) => return read_document(document),
            Ok(Err(failure)) => failure,
            Err(RawEnd::TimedOut(_)) => RemoteFailure::TimedOut(request.timeout),
            Err(other) => return Err(other),
        };
        log!(debug, target: "hookrail::runner", hook = %request.hook, attempt, failure = %last, "a remote hook was not answered");
        if !last.is_temporary() {
            break;
        }
        if attempt + 1 < attempts {
            let left = request.timeout.saturating_sub(began.elapsed());
            let pause = RETRY_PAUSE.min(left / 4);
            // An attempt that used its time needs no pause.
            if !matches!(last, RemoteFailure::TimedOut(_)) {
                guarded(tokio::time::sleep(pause), None, cancel).await?;
            }
        }
    }
    Err(RawEnd::Unanswered(last))
}

/// The effects in an answer. A document that is only similar to an outcome must not be taken for one that allows.
fn read_document(document: Json) -> Result<(Effects, Json), RawEnd> {
    match document.as_object().as_ref().and_then(read_effects) {
        Some(effects) => Ok((effects, document)),
        None => {
            let why = "it is not the outcome of an event, or has a decision that is not known here";
            Err(RawEnd::Unanswered(RemoteFailure::NotUnderstood(why.to_owned())))
        }
    }
}

/// A name for a question that no other question has.
fn new_correlation_id() -> String {
    format!("ask-{:016x}", RandomState::new().build_hasher().finish())
}
