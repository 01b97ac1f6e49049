//! What a module asks of the embedding program.

use std::sync::Arc;

use hookrail::host::{ModelQuery, NoticeLevel, SessionMove};
use hookrail::{Host, HostError, Json};
use hookrail_spawn::CancelToken;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Answer, OpError, decode, pending};
use crate::component::Remote;
use crate::shared::{PendingOp, Shared};

impl From<HostError> for OpError {
    fn from(error: HostError) -> Self {
        Self::new(error.message)
    }
}

/// Questions that are answered at once. `call` is the number of the call in which they are asked; zero means the host of
/// the last call. A message or an entry is part of the outcome of a call, or for the host itself between calls; `Late` tells
/// of a handler that was registered too late to be called.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub(super) enum HostOp<'a> {
    Message { message: &'a RawValue },
    Entry { entry: &'a RawValue },
    Late { event: String },
    HasUser { call: u32 },
    Notify { call: u32, message: String, level: String },
    Log { level: String, message: String },
    SetStatus { call: u32, key: String, text: Option<String> },
    SetEditorText { call: u32, text: String },
    EditorText { call: u32 },
    Styled { style: String, text: String },
    IsIdle { call: u32 },
    HasQueuedMessages { call: u32 },
    Abort { call: u32 },
    CurrentModel { call: u32 },
    FindModel { call: u32, provider: String, id: String },
    AllModels { call: u32 },
    AvailableModels { call: u32 },
}

impl HostOp<'_> {
    pub(super) fn run(self, shared: &Arc<Shared>) -> Result<Answer, OpError> {
        let host = |call| shared.host_of(call);
        match self {
            Self::Message { message } => send(shared, &json(message))?,
            Self::Entry { entry } => append(shared, &json(entry))?,
            Self::Late { event } => {
                let message =
                    format!("`pi.on(\"{event}\")` came after the factory had ended, so this handler is never called");
                shared.report(&event, &message);
            }
            Self::HasUser { call } => return Answer::of(&host(call).has_user()),
            Self::Notify { call, message, level } => host(call).notify(&message, level_of(&level)),
            Self::Log { level, message } => host(0).log(level_of(&level), &message),
            Self::SetStatus { call, key, text } => host(call).set_status(&key, text.as_deref()),
            Self::SetEditorText { call, text } => host(call).set_editor_text(&text),
            Self::EditorText { call } => return Answer::of(&host(call).editor_text()),
            Self::Styled { style, text } => return Answer::of(&host(0).styled(&style, &text)),
            Self::IsIdle { call } => return Answer::of(&host(call).is_idle()),
            Self::HasQueuedMessages { call } => return Answer::of(&host(call).has_queued_messages()),
            Self::Abort { call } => host(call).abort(),
            Self::CurrentModel { call } => return Ok(host(call).models(&ModelQuery::Current).into()),
            Self::FindModel { call, provider, id } => {
                return Ok(host(call).models(&ModelQuery::Find { provider, id }).into());
            }
            Self::AllModels { call } => return Ok(host(call).models(&ModelQuery::All).into()),
            Self::AvailableModels { call } => return Ok(host(call).models(&ModelQuery::Available).into()),
        }
        Ok(Answer::nothing())
    }
}

fn json(raw: &RawValue) -> Json {
    Json::parse(raw.get()).unwrap_or_else(|_| Json::null())
}

fn send(shared: &Shared, message: &Json) -> Result<(), OpError> {
    match shared
        .with_current(|call| call.take(message, shared.most_result).map(|()| call.messages.push(message.clone())))
    {
        Some(taken) => taken,
        None => shared.take_between(message).map(|()| shared.host_of(0).send_message(message)),
    }
}

fn append(shared: &Shared, entry: &Json) -> Result<(), OpError> {
    match shared.with_current(|call| call.take(entry, shared.most_result).map(|()| call.entries.push(entry.clone()))) {
        Some(taken) => taken,
        None => shared.take_between(entry).map(|()| shared.host_of(0).append_entry(entry)),
    }
}

/// The level that a module names, in words of its own choice.
fn level_of(name: &str) -> NoticeLevel {
    match name {
        "error" => NoticeLevel::Error,
        "warning" | "warn" => NoticeLevel::Warning,
        "debug" => NoticeLevel::Debug,
        _ => NoticeLevel::Info,
    }
}

/// Questions that take time. Those to a person stop the call's clock.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub(super) enum HostTask<'a> {
    Select { title: String, options: &'a RawValue },
    Confirm { title: String, message: String },
    Input { title: String, placeholder: Option<String> },
    Edit { title: String, text: Option<String> },
    Show { component: u32 },
    WaitForIdle {},
    NewSession { parent: Option<String> },
    Branch { entry: String },
    Navigate { target: String, summarize: bool },
    ApiKey { model: Option<&'a RawValue> },
    Complete { request: &'a RawValue },
}

impl HostTask<'_> {
    fn is_dialog(&self) -> bool {
        match self {
            Self::Select { .. } | Self::Confirm { .. } | Self::Input { .. } | Self::Edit { .. } | Self::Show { .. } => {
                true
            }
            Self::WaitForIdle {}
            | Self::NewSession { .. }
            | Self::Branch { .. }
            | Self::Navigate { .. }
            | Self::ApiKey { .. }
            | Self::Complete { .. } => false,
        }
    }

    pub(super) fn begin(self, shared: &Arc<Shared>, call: u32, number: u32) -> Result<PendingOp, OpError> {
        let clock = if self.is_dialog() { shared.clock_of(call) } else { None };
        let standstill = clock.map(|clock| clock.stand_still());
        let asked = self.ask(shared, shared.host_of(call), number)?;
        // A question of a call that was given up is not asked any longer.
        let over = shared.over_of(call);
        Ok(Box::pin(async move {
            let answer = tokio::select! {
                answer = asked => answer,
                () = over.cancelled() => "[0,null]".to_owned(),
            };
            drop(standstill);
            answer
        }))
    }

    fn ask(self, shared: &Arc<Shared>, host: Arc<dyn Host>, number: u32) -> Result<PendingOp, OpError> {
        Ok(match self {
            Self::Select { title, options } => {
                let options: Vec<String> = decode(options.get(), "the list of options")?;
                pending(shared, async move { Answer::of(&host.select(&title, &options).await) })
            }
            Self::Confirm { title, message } => {
                pending(shared, async move { Answer::of(&host.confirm(&title, &message).await) })
            }
            Self::Input { title, placeholder } => {
                pending(shared, async move { Answer::of(&host.input(&title, placeholder.as_deref()).await) })
            }
            Self::Edit { title, text } => {
                pending(shared, async move { Answer::of(&host.edit(&title, text.as_deref()).await) })
            }
            Self::Show { component } => show(shared, host, component)?,
            Self::WaitForIdle {} => pending(shared, async move {
                host.wait_for_idle().await;
                Ok(Answer::nothing())
            }),
            Self::NewSession { parent } => {
                pending(shared, async move { moved(host.new_session(parent.as_deref()).await) })
            }
            Self::Branch { entry } => pending(shared, async move { moved(host.branch(&entry).await) }),
            Self::Navigate { target, summarize } => {
                pending(shared, async move { moved(host.navigate(&target, summarize).await) })
            }
            Self::ApiKey { model } => {
                let model = model.map_or_else(Json::null, json);
                pending(shared, async move { Answer::of(&host.api_key(&model).await) })
            }
            Self::Complete { request } => complete(shared, number, host, json(request)),
        })
    }
}

fn moved(result: Result<SessionMove, HostError>) -> Result<Answer, OpError> {
    Ok(json!({ "cancelled": result? == SessionMove::Cancelled }).into())
}

fn complete(shared: &Arc<Shared>, number: u32, host: Arc<dyn Host>, request: Json) -> PendingOp {
    let cancel = CancelToken::new();
    shared.lock().cancels.insert(number, cancel.clone());
    pending(shared, async move {
        tokio::select! {
            answer = host.complete(&request) => Ok(answer?.into()),
            () = cancel.cancelled() => Ok(json!({ "role": "assistant", "content": [], "stopReason": "aborted" }).into()),
        }
    })
}

fn show(shared: &Arc<Shared>, host: Arc<dyn Host>, component: u32) -> Result<PendingOp, OpError> {
    let gone = || OpError::new("the component is gone");
    let state = shared.lock().components.get(&component).ok_or_else(gone)?.state.subscribe();
    let inbox = shared.inbox.upgrade().ok_or_else(gone)?;
    let remote = Arc::new(Remote::new(component, inbox, state));
    Ok(pending(shared, async move {
        host.show(remote).await?;
        Ok(Answer::nothing())
    }))
}
