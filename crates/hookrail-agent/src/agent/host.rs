//! The host interface of the agent: what hooks may request while they run, and how the user is asked.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use hookrail::guard::{Approval, Approver, Guard};
use hookrail::host::{
    Component, HookFailure, HostFuture, ModelQuery, NoticeLevel, SessionChange, SessionMove, SessionQuery, StatusLine,
};
use hookrail::{DialectId, EventKind, Host, HostError, Json, Stop};
use hookrail_spawn::lock_mutex;

use super::pending::PendingMessages;
use super::{AgentParts, MoveOutcome, ReferenceAgent, record};
use crate::error::AgentError;
use crate::message::{list, number, object, text_of};
use crate::session::{Session, SessionEntryKind};
use crate::shape;
use crate::text::short;
use crate::view::ViewEvent;

/// Makes the guard of a session.
pub(super) fn guard(
    parts: &Arc<AgentParts>,
    session: &Arc<Mutex<Session>>,
    busy: &Arc<AtomicUsize>,
    model: &str,
    identity: Option<&SubAgentIdentity>,
    host_state: &SharedHostState,
) -> Guard {
    let (id, file) = {
        let session = lock_mutex(session);
        (session.id().to_owned(), session.file_text())
    };
    let hooks = if identity.is_none() { parts.hooks.clone() } else { parts.hooks.for_sub_agent() };
    let plain = Guard::new(hooks, &id).transcript(&file).model_id(model).host(host(parts, session, busy, host_state));
    let plain = match identity {
        Some(SubAgentIdentity { id, kind }) => plain.sub_agent(id, kind),
        None => plain,
    };
    let asking = NotifyingApprover {
        parts: Arc::clone(parts),
        session: Arc::clone(session),
        host_state: Arc::clone(host_state),
        guard: plain.clone(),
    };
    plain.approver(asking)
}

/// The identity of a sub-agent, which hooks of its tools receive.
#[derive(Clone, Debug)]
pub(super) struct SubAgentIdentity {
    pub(super) id: String,
    /// The name under which the sub-agent is known.
    pub(super) kind: String,
}

/// The state that all host interfaces of one agent share.
#[derive(Default)]
pub(super) struct HostState {
    /// The agent itself, for hooks that move its session. Not set for a sub-agent, which has no session to move.
    pub(super) agent: OnceLock<Weak<ReferenceAgent>>,
    status: Mutex<StatusLine>,
    pub(super) pending: PendingMessages,
    pub(super) stop: RequestedStop,
    /// The entry of the answer whose call is about to be judged. Modules see it in the session from the run of the tool on.
    pub(super) judged_answer: Mutex<Option<String>>,
}

/// A stop that comes from beside the turn: from a sub-agent, from a notification, from the model call of a module.
#[derive(Default)]
pub(super) struct RequestedStop(Mutex<Option<Stop>>);

impl RequestedStop {
    /// Asks for a stop. The first reason is kept.
    pub(super) fn request(&self, stop: Stop) {
        lock_mutex(&self.0).get_or_insert(stop);
    }

    pub(super) fn take(&self) -> Option<Stop> {
        lock_mutex(&self.0).take()
    }
}

pub(super) type SharedHostState = Arc<HostState>;

pub(super) fn host(
    parts: &Arc<AgentParts>,
    session: &Arc<Mutex<Session>>,
    busy: &Arc<AtomicUsize>,
    host_state: &SharedHostState,
) -> Arc<dyn Host> {
    Arc::new(AgentHost {
        parts: Arc::clone(parts),
        session: Arc::clone(session),
        busy: Arc::clone(busy),
        host_state: Arc::clone(host_state),
    })
}

/// Fires the notification event, then asks the user.
struct NotifyingApprover {
    parts: Arc<AgentParts>,
    session: Arc<Mutex<Session>>,
    host_state: SharedHostState,
    /// The guard without an approver: a notification cannot lead to another question.
    guard: Guard,
}

impl Approver for NotifyingApprover {
    fn approve<'a>(
        &'a self,
        operation: &'a str,
        input: &'a Json,
        reason: Option<&'a str>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        Box::pin(async move {
            let message = format!("permission is needed for {operation}");
            let details = object([
                ("tool_name", Json::string(operation)),
                ("tool_input", input.clone()),
                ("reason", reason.map_or_else(Json::null, Json::string)),
            ]);
            let fields = [
                ("notification_type", Json::string("ToolPermission")),
                ("message", Json::string(&message)),
                ("details", details),
            ];
            let told = self.guard.tell(EventKind::Notification, &fields).await;
            record::receipt(&self.parts, &self.session, "notification", &told.receipt);
            for text in &told.notes.system_messages {
                self.parts.view.show(&ViewEvent::SystemMessage { text });
            }
            self.host_state.pending.keep_notes(told.notes);
            if let Some(stop) = told.stop {
                let why = format!("a hook stopped the agent: {}", stop.reason);
                self.host_state.stop.request(stop);
                return Approval::Refused(why);
            }
            self.parts.user.approve(operation, &shown_input(input), reason).await
        })
    }
}

/// What the user is shown of an input. A model request is the whole conversation, of which the user has seen all but the
/// last message.
fn shown_input(input: &Json) -> Json {
    let Some(request) = input.as_object() else { return input.clone() };
    let Some(contents) = request.get("contents").and_then(Json::as_array) else { return input.clone() };
    let last = contents.last().map(text_of).unwrap_or_default();
    object([
        ("model", request.get("model").cloned().unwrap_or_else(Json::null)),
        ("messages", number(contents.len() as u64)),
        ("last", Json::string(&short(&last, LONGEST_SHOWN))),
    ])
}

/// The longest text of a message that is shown in a question.
const LONGEST_SHOWN: usize = 400;

struct AgentHost {
    parts: Arc<AgentParts>,
    session: Arc<Mutex<Session>>,
    busy: Arc<AtomicUsize>,
    host_state: SharedHostState,
}

impl AgentHost {
    fn agent(&self) -> Result<Arc<ReferenceAgent>, HostError> {
        let agent = self.host_state.agent.get().and_then(Weak::upgrade);
        agent.ok_or_else(|| HostError::new("a sub-agent has no session that could be moved"))
    }

    fn session_now(&self) -> MutexGuard<'_, Session> {
        lock_mutex(&self.session)
    }
}

impl Host for AgentHost {
    fn has_user(&self) -> bool {
        self.parts.user.is_there()
    }

    fn select<'a>(&'a self, title: &'a str, options: &'a [String]) -> HostFuture<'a, Option<String>> {
        Box::pin(async move {
            let numbered: Vec<String> = (1..).zip(options).map(|(at, text)| format!("  {at}. {text}")).collect();
            let question = format!("{title}\n{}\nnumber: ", numbered.join("\n"));
            let answer = self.parts.user.line(&question).await?;
            let at: usize = answer.trim().parse().ok()?;
            options.get(at.checked_sub(1)?).cloned()
        })
    }

    fn confirm<'a>(&'a self, title: &'a str, message: &'a str) -> HostFuture<'a, bool> {
        Box::pin(async move {
            let answer = self.parts.user.line(&format!("{title}\n{message}\n[y/N] ")).await;
            answer.is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
        })
    }

    fn input<'a>(&'a self, title: &'a str, placeholder: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        Box::pin(async move {
            let hint = placeholder.map(|text| format!(" ({text})")).unwrap_or_default();
            self.parts.user.line(&format!("{title}{hint}: ")).await
        })
    }

    fn edit<'a>(&'a self, title: &'a str, text: Option<&'a str>) -> HostFuture<'a, Option<String>> {
        self.parts.user.edit(title, text.unwrap_or_default())
    }

    fn show(&self, component: Arc<dyn Component>) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move { self.parts.user.show(&*component).await })
    }

    fn editor_text(&self) -> String {
        self.parts.user.prefilled()
    }

    fn set_editor_text(&self, text: &str) {
        self.parts.user.prefill(text);
    }

    fn styled(&self, style: &str, text: &str) -> String {
        self.parts.user.styled(style, text)
    }

    fn notify(&self, text: &str, level: NoticeLevel) {
        let shown = match level {
            NoticeLevel::Warning | NoticeLevel::Error => ViewEvent::Warning { code: None, text },
            NoticeLevel::Info | NoticeLevel::Debug => ViewEvent::Note { text },
        };
        self.parts.view.show(&shown);
    }

    fn set_status(&self, key: &str, text: Option<&str>) {
        let line = {
            let mut status = lock_mutex(&self.host_state.status);
            status.set(key, text);
            status.line(self.parts.view.columns().unwrap_or(STATUS_WIDTH))
        };
        self.parts.view.show(&ViewEvent::Status { text: &line });
    }

    fn new_session<'a>(&'a self, parent: Option<&'a str>) -> HostFuture<'a, Result<SessionMove, HostError>> {
        Box::pin(async move { moved(self.agent()?.clear_from(parent).await) })
    }

    fn branch<'a>(&'a self, entry: &'a str) -> HostFuture<'a, Result<SessionMove, HostError>> {
        Box::pin(async move { moved(self.agent()?.branch(entry).await) })
    }

    fn navigate<'a>(&'a self, target: &'a str, summarize: bool) -> HostFuture<'a, Result<SessionMove, HostError>> {
        Box::pin(async move { moved(self.agent()?.navigate(target, summarize).await) })
    }

    fn abort(&self) {
        if let Ok(agent) = self.agent() {
            agent.interrupt_all();
        }
    }

    fn session(&self, query: &SessionQuery) -> Json {
        let session = self.session_now();
        let hidden = lock_mutex(&self.host_state.judged_answer).clone();
        let is_hidden = |id: &str| hidden.as_deref() == Some(id);
        let leaf = match session.leaf() {
            Some(id) if is_hidden(id) => session.entry(id).and_then(|entry| entry.parent.as_deref()),
            leaf => leaf,
        };
        let text = |text: Option<&str>| text.map_or_else(Json::null, Json::string);
        let entry = |id: Option<&str>| id.and_then(|id| session.entry(id)).map_or_else(Json::null, shape::entry);
        match query {
            SessionQuery::Cwd => Json::string(&self.parts.hooks.project().display().to_string()),
            SessionQuery::Dir => Json::string(&self.parts.store.folder().display().to_string()),
            SessionQuery::Id => Json::string(session.id()),
            SessionQuery::File => {
                session.file().map_or_else(Json::null, |file| Json::string(&file.display().to_string()))
            }
            SessionQuery::LeafId => text(leaf),
            SessionQuery::LeafEntry => entry(leaf),
            SessionQuery::Entry(id) => entry(Some(id)),
            SessionQuery::Branch(id) => {
                let path = session.path_to(id.as_deref().or(leaf)).into_iter();
                shape::all_entries(path.filter(|entry| !is_hidden(&entry.id)))
            }
            SessionQuery::Header => session.header().clone(),
            SessionQuery::Entries => shape::all_entries(session.entries().iter().filter(|entry| !is_hidden(&entry.id))),
            SessionQuery::Tree => session.tree(),
            _ => Json::null(),
        }
    }

    fn write_session(&self, change: &SessionChange) -> Result<Json, HostError> {
        let mut session = self.session_now();
        let id = match change {
            SessionChange::Message(message) => session.append_message(&shape::own(message)),
            SessionChange::Entry(entry) => session.append(SessionEntryKind::Custom, &record::members(entry)),
            SessionChange::CustomMessage(message) => {
                session.append(SessionEntryKind::CustomMessage, &record::members(message))
            }
            SessionChange::Artifact(_) => return Err(HostError::new("this agent does not keep artifacts")),
        };
        id.map(|id| Json::string(&id)).map_err(|error| HostError::new(error.to_string()))
    }

    fn send_message(&self, message: &Json) {
        record::keep_message(&self.parts, &self.session, &self.busy, &self.host_state, message);
    }

    fn append_entry(&self, entry: &Json) {
        record::keep_entry(&self.parts, &self.session, entry);
    }

    fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0
    }

    fn models(&self, query: &ModelQuery) -> Json {
        let model =
            object([("id", Json::string(self.parts.model.name())), ("provider", Json::string(shape::PROVIDER))]);
        match query {
            ModelQuery::All | ModelQuery::Available => list(&[model]),
            ModelQuery::Find { id, .. } if id != self.parts.model.name() => Json::null(),
            ModelQuery::Find { .. } | ModelQuery::Current => model,
        }
    }

    /// Returns a placeholder: a scripted model needs no key, but modules do not call a model without one.
    fn api_key<'a>(&'a self, _model: &'a Json) -> HostFuture<'a, Option<String>> {
        Box::pin(std::future::ready(Some("not-needed".to_owned())))
    }

    fn complete<'a>(&'a self, request: &'a Json) -> HostFuture<'a, Result<Json, HostError>> {
        Box::pin(async move { self.agent()?.complete(request).await })
    }

    fn hook_failed(&self, failure: &HookFailure) {
        // The receipt of an event reports the failures of its handlers.
        let of_event =
            |kind: EventKind| kind.spec().column(DialectId::Xcsh).is_some_and(|own| own.name == failure.event);
        if EventKind::all().any(of_event) {
            return;
        }
        let text = format!("hook `{}` failed in {}: {}", failure.hook, failure.event, failure.message);
        self.parts.view.show(&ViewEvent::Warning { code: Some("hook-failed"), text: &text });
    }
}

impl ReferenceAgent {
    /// Shows the status line again, so that it is directly above the prompt.
    pub(crate) fn show_status(&self) {
        let columns = self.view().columns().unwrap_or(STATUS_WIDTH);
        let line = lock_mutex(&self.host_state.status).line(columns);
        if !line.is_empty() {
            self.view().show(&ViewEvent::Status { text: &line });
        }
    }
}

/// The width of the status line if the width of the screen is not known.
const STATUS_WIDTH: usize = 100;

fn moved(moved: Result<MoveOutcome, AgentError>) -> Result<SessionMove, HostError> {
    match moved {
        Ok(MoveOutcome::Cancelled(_)) => Ok(SessionMove::Cancelled),
        Ok(_) => Ok(SessionMove::Done),
        Err(error) => Err(HostError::new(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use hookrail::Json;

    use super::shown_input;

    #[test]
    fn a_question_about_a_model_call_shows_its_last_message_and_not_the_conversation() {
        let request = r#"{"model":"m","contents":[{"role":"user","parts":[{"text":"secret of long ago"}]},{"role":"user","parts":[{"text":"now"}]}],"tools":[]}"#;
        let shown = shown_input(&Json::parse(request).unwrap());
        assert_eq!(shown.text(), r#"{"model":"m","messages":2,"last":"now"}"#);
        let input = Json::parse(r#"{"path":"a.txt","content":"whole"}"#).unwrap();
        assert_eq!(shown_input(&input).text(), input.text(), "the input of a tool is shown whole");
    }
}
