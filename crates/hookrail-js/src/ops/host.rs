//! What a module asks of the embedding program.

use std::sync::Arc;

use hookrail::{Host, HostError, Json, ModelQuery, NoticeLevel, SessionMove};
use hookrail_spawn::CancelToken;
use serde_json::{Value, json};

use super::{Args, OpError, op, session};
use crate::component::Remote;
use crate::shared::{Op, Shared};

impl From<HostError> for OpError {
    fn from(error: HostError) -> Self {
        Self::new(error.message)
    }
}

/// A message to the conversation: part of the outcome of a call, or for the host itself between calls.
pub(super) fn message(shared: &Shared, message: &Value) -> Result<(), OpError> {
    let message = Json::from(message);
    match shared
        .with_current(|call| call.take(&message, shared.most_result).map(|()| call.messages.push(message.clone())))
    {
        Some(taken) => taken,
        None => {
            shared.host_of(0).send_message(&message);
            Ok(())
        }
    }
}

/// An entry of the session, likewise.
pub(super) fn entry(shared: &Shared, entry: &Value) -> Result<(), OpError> {
    let entry = Json::from(entry);
    match shared.with_current(|call| call.take(&entry, shared.most_result).map(|()| call.entries.push(entry.clone()))) {
        Some(taken) => taken,
        None => {
            shared.host_of(0).append_entry(&entry);
            Ok(())
        }
    }
}

/// Questions that are answered at once. The first argument is the number of the call.
pub(super) fn at_once(shared: &Arc<Shared>, name: &str, args: &Args) -> Result<Value, OpError> {
    let host = shared.host_of(args.number(0));
    match name {
        "has_user" => return Ok(json!(host.has_user())),
        "notify" => host.notify(args.text(1)?, level(args.text(2)?)),
        "log" => host.log(level(args.text(1)?), args.text(2)?),
        "set_status" => host.set_status(args.text(1)?, args.optional_text(2)),
        "set_editor_text" => host.set_editor_text(args.text(1)?),
        "editor_text" => return Ok(json!(host.editor_text())),
        "styled" => return Ok(json!(host.styled(args.text(1)?, args.text(2)?))),
        "is_idle" => return Ok(json!(host.is_idle())),
        "has_queued_messages" => return Ok(json!(host.has_queued_messages())),
        "abort" => host.abort(),
        "session" => return session::read(&*host, args).map(|value| value.to_value()),
        "write_session" => return session::write(&*host, args).map(|value| value.to_value()),
        "models" => return models(&*host, args),
        _ => return Err(OpError::new(format!("the host knows no `{name}`"))),
    }
    Ok(Value::Null)
}

fn level(name: &str) -> NoticeLevel {
    match name {
        "error" => NoticeLevel::Error,
        "warning" | "warn" => NoticeLevel::Warning,
        "debug" => NoticeLevel::Debug,
        _ => NoticeLevel::Info,
    }
}

fn models(host: &dyn Host, args: &Args) -> Result<Value, OpError> {
    let query = match args.text(1)? {
        "current" => ModelQuery::Current,
        "find" => ModelQuery::Find { provider: args.text(2)?.to_owned(), id: args.text(3)?.to_owned() },
        "all" => ModelQuery::All,
        _ => ModelQuery::Available,
    };
    Ok(host.models(&query).to_value())
}

/// Questions that take time. Those to a person stop the call's clock.
pub(super) fn begin(shared: &Arc<Shared>, call: u32, number: u32, name: &str, args: &Args) -> Result<Op, OpError> {
    let host = shared.host_of(call);
    let is_dialog = matches!(name, "select" | "confirm" | "input" | "edit" | "show");
    let standstill = is_dialog.then(|| shared.clock_of(call)).flatten().map(|clock| clock.stand_still());
    let texts: Vec<String> = (0..2).filter_map(|at| args.optional_text(at)).map(str::to_owned).collect();
    let given = args.optional_text(1).map(str::to_owned);
    let first = texts.first().cloned().unwrap_or_default();
    let asked: Op = match name {
        "select" => {
            let options: Vec<String> = serde_json::from_value(args.value(1).clone()).unwrap_or_default();
            op(async move { Ok(json!(host.select(&first, &options).await)) })
        }
        "confirm" => op(async move { Ok(json!(host.confirm(&first, given.as_deref().unwrap_or_default()).await)) }),
        "input" => op(async move { Ok(json!(host.input(&first, given.as_deref()).await)) }),
        "edit" => op(async move { Ok(json!(host.edit(&first, given.as_deref()).await)) }),
        "show" => show(shared, &host, args.number(0))?,
        "wait_for_idle" => op(async move {
            host.wait_for_idle().await;
            Ok(Value::Null)
        }),
        "new_session" => {
            let parent = args.optional_text(0).map(str::to_owned);
            op(async move { moved(host.new_session(parent.as_deref()).await) })
        }
        "branch" => op(async move { moved(host.branch(&first).await) }),
        "navigate" => {
            let summarize = args.flag(1);
            op(async move { moved(host.navigate(&first, summarize).await) })
        }
        "api_key" => {
            let model = Json::from(args.value(0));
            op(async move { Ok(json!(host.api_key(&model).await)) })
        }
        "complete" => complete(shared, number, host, Json::from(args.value(0))),
        _ => return Err(OpError::new(format!("the host knows no `{name}`"))),
    };
    Ok(Box::pin(async move {
        let answer = asked.await;
        drop(standstill);
        answer
    }))
}

fn moved(result: Result<SessionMove, HostError>) -> Result<Value, OpError> {
    Ok(json!({ "cancelled": result? == SessionMove::Cancelled }))
}

fn complete(shared: &Shared, number: u32, host: Arc<dyn Host>, request: Json) -> Op {
    let cancel = CancelToken::new();
    shared.cancels.lock().insert(number, cancel.clone());
    op(async move {
        tokio::select! {
            answer = host.complete(&request) => Ok(answer?.to_value()),
            () = cancel.cancelled() => Ok(json!({ "role": "assistant", "content": [], "stopReason": "aborted" })),
        }
    })
}

fn show(shared: &Shared, host: &Arc<dyn Host>, component: u32) -> Result<Op, OpError> {
    let gone = || OpError::new("the component is gone");
    let state = shared.components.lock().get(&component).ok_or_else(gone)?.subscribe();
    let inbox = shared.inbox.upgrade().ok_or_else(gone)?;
    let remote = Arc::new(Remote::new(component, inbox, state));
    let host = Arc::clone(host);
    Ok(op(async move {
        host.show(remote).await?;
        Ok(Value::Null)
    }))
}
