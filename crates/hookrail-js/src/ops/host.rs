//! Requests of a module to the embedding program.

use std::sync::Arc;

use hookrail::host::{ModelQuery, NoticeLevel, SessionMove};
use hookrail::{Host, HostError, Json};
use hookrail_spawn::CancelToken;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{OpAnswer, OpError, PendingOp, decode};
use crate::component::RemoteComponent;
use crate::shared::{SessionAddition, Shared};

impl From<HostError> for OpError {
    fn from(error: HostError) -> Self {
        Self::new(error.message)
    }
}

/// Requests that are answered at once. `call` is the number of the call that makes them; zero means the host of the
/// last call. A message or an entry is part of the outcome of its call; between calls it goes to the host directly.
/// `Late` reports a handler that was registered after the factory had ended.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum HostOp {
    Message { message: Json },
    Entry { entry: Json },
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
    Models { call: u32, query: ModelQuery },
}

impl HostOp {
    pub(super) fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        let host = |call| shared.host_of(call);
        match self {
            Self::Message { message } => shared.send_to_session(SessionAddition::Message, message)?,
            Self::Entry { entry } => shared.send_to_session(SessionAddition::Entry, entry)?,
            Self::Late { event } => shared.config.late.add(&event, shared.generation),
            Self::HasUser { call } => return OpAnswer::serialize(&host(call).has_user()),
            Self::Notify { call, message, level } => host(call).notify(&message, level_of(&level)),
            Self::Log { level, message } => shared.log(level_of(&level), &message),
            Self::SetStatus { call, key, text } => host(call).set_status(&key, text.as_deref()),
            Self::SetEditorText { call, text } => host(call).set_editor_text(&text),
            Self::EditorText { call } => return OpAnswer::serialize(&host(call).editor_text()),
            Self::Styled { style, text } => return OpAnswer::serialize(&host(0).styled(&style, &text)),
            Self::IsIdle { call } => return OpAnswer::serialize(&host(call).is_idle()),
            Self::HasQueuedMessages { call } => return OpAnswer::serialize(&host(call).has_queued_messages()),
            Self::Abort { call } => host(call).abort(),
            Self::Models { call, query } => return Ok(host(call).models(&query).into()),
        }
        Ok(OpAnswer::nothing())
    }
}

/// The level of a log line, by the many names that modules use.
fn level_of(name: &str) -> NoticeLevel {
    match name {
        "error" => NoticeLevel::Error,
        "warning" | "warn" => NoticeLevel::Warning,
        "debug" => NoticeLevel::Debug,
        _ => NoticeLevel::Info,
    }
}

/// Requests that take time.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum HostTask {
    Select { title: String, options: Box<RawValue> },
    Confirm { title: String, message: String },
    Input { title: String, placeholder: Option<String> },
    Edit { title: String, text: Option<String> },
    Show { component: u32 },
    WaitForIdle {},
    NewSession { parent: Option<String> },
    Branch { entry: String },
    Navigate { target: String, summarize: bool },
    ApiKey { model: Option<Json> },
    Complete { request: Json },
}

impl HostTask {
    /// Whether the request waits for the user, which pauses the call's clock.
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

    pub(super) fn begin(self, shared: &Shared, call: u32, number: u32) -> Result<PendingOp, OpError> {
        let host = shared.host_of(call);
        let mut state = shared.state();
        let asking = state.calls.get(&call);
        let clock = asking.and_then(|call| call.clock.clone()).filter(|_| self.is_dialog());
        let over = asking.map_or_else(CancelToken::new, |call| call.over.clone());
        let cancel = CancelToken::new();
        state.cancels.insert(number, cancel.clone());
        let mut remote = None;
        if let Self::Show { component } = &self {
            let gone = || OpError::new("the component is gone");
            let shown = state.components.get(component).ok_or_else(gone)?.state.subscribe();
            let inbox = shared.config.inbox.upgrade().ok_or_else(gone)?;
            remote = Some(Arc::new(RemoteComponent::new(*component, inbox, shown)));
        }
        let pause = clock.map(|clock| clock.pause());
        Ok(Box::pin(async move {
            let answer = tokio::select! {
                answer = self.ask(host, remote, cancel) => answer,
                // The call was abandoned, so the user is not asked.
                () = over.cancelled() => Ok(OpAnswer::nothing()),
            };
            drop(pause);
            answer
        }))
    }

    async fn ask(
        self,
        host: Arc<dyn Host>,
        remote: Option<Arc<RemoteComponent>>,
        cancel: CancelToken,
    ) -> Result<OpAnswer, OpError> {
        let moved = |result: Result<SessionMove, HostError>| {
            Ok(json!({ "cancelled": result? == SessionMove::Cancelled }).into())
        };
        match self {
            Self::Select { title, options } => {
                let options: Vec<String> = decode(options.get(), "the list of options")?;
                OpAnswer::serialize(&host.select(&title, &options).await)
            }
            Self::Confirm { title, message } => OpAnswer::serialize(&host.confirm(&title, &message).await),
            Self::Input { title, placeholder } => {
                OpAnswer::serialize(&host.input(&title, placeholder.as_deref()).await)
            }
            Self::Edit { title, text } => OpAnswer::serialize(&host.edit(&title, text.as_deref()).await),
            Self::Show { .. } => {
                if let Some(remote) = remote {
                    host.show(remote).await?;
                }
                Ok(OpAnswer::nothing())
            }
            Self::WaitForIdle {} => {
                host.wait_for_idle().await;
                Ok(OpAnswer::nothing())
            }
            Self::NewSession { parent } => moved(host.new_session(parent.as_deref()).await),
            Self::Branch { entry } => moved(host.branch(&entry).await),
            Self::Navigate { target, summarize } => moved(host.navigate(&target, summarize).await),
            Self::ApiKey { model } => OpAnswer::serialize(&host.api_key(&model.unwrap_or_else(Json::null)).await),
            Self::Complete { request } => tokio::select! {
                answer = host.complete(&request) => Ok(answer?.into()),
                () = cancel.cancelled() => {
                    Ok(json!({ "role": "assistant", "content": [], "stopReason": "aborted" }).into())
                }
            },
        }
    }
}
