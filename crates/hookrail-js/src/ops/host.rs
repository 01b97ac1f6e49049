//! What a module asks of the embedding program.

use std::sync::Arc;

use hookrail::{Host, HostError, Json, ModelQuery, NoticeLevel, SessionMove};
use hookrail_spawn::CancelToken;
use serde_json::json;

use super::{Answer, Args, OpError, op, session};
use crate::component::Remote;
use crate::shared::{Op, Shared};

impl From<HostError> for OpError {
    fn from(error: HostError) -> Self {
        Self::new(error.message)
    }
}

/// A message to the conversation: part of the outcome of a call, or for the host itself between calls.
pub(super) fn message(shared: &Shared, message: &Json) -> Result<(), OpError> {
    match shared
        .with_current(|call| call.take(message, shared.most_result).map(|()| call.messages.push(message.clone())))
    {
        Some(taken) => taken,
        None => shared.take_between(message).map(|()| shared.host_of(0).send_message(message)),
    }
}

/// An entry of the session, likewise.
pub(super) fn entry(shared: &Shared, entry: &Json) -> Result<(), OpError> {
    match shared.with_current(|call| call.take(entry, shared.most_result).map(|()| call.entries.push(entry.clone()))) {
        Some(taken) => taken,
        None => shared.take_between(entry).map(|()| shared.host_of(0).append_entry(entry)),
    }
}

/// Questions that are answered at once. The first argument is the number of the call.
pub(super) fn at_once(shared: &Arc<Shared>, name: &str, args: &Args<'_>) -> Result<Answer, OpError> {
    let host = shared.host_of(args.number(0));
    match name {
        "has_user" => return Answer::of(&host.has_user()),
        "notify" => host.notify(&args.text(1)?, level(&args.text(2)?)),
        "log" => host.log(level(&args.text(1)?), &args.text(2)?),
        "set_status" => host.set_status(&args.text(1)?, args.optional_text(2).as_deref()),
        "set_editor_text" => host.set_editor_text(&args.text(1)?),
        "editor_text" => return Answer::of(&host.editor_text()),
        "styled" => return Answer::of(&host.styled(&args.text(1)?, &args.text(2)?)),
        "is_idle" => return Answer::of(&host.is_idle()),
        "has_queued_messages" => return Answer::of(&host.has_queued_messages()),
        "abort" => host.abort(),
        "session" => return session::read(&*host, args).map(Answer::from),
        "write_session" => return session::write(&*host, args).map(Answer::from),
        "models" => return models(&*host, args),
        _ => return Err(OpError::new(format!("the host knows no `{name}`"))),
    }
    Ok(Answer::nothing())
}

fn level(name: &str) -> NoticeLevel {
    match name {
        "error" => NoticeLevel::Error,
        "warning" | "warn" => NoticeLevel::Warning,
        "debug" => NoticeLevel::Debug,
        _ => NoticeLevel::Info,
    }
}

fn models(host: &dyn Host, args: &Args<'_>) -> Result<Answer, OpError> {
    let query = match args.text(1)?.as_str() {
        "current" => ModelQuery::Current,
        "find" => ModelQuery::Find { provider: args.text(2)?, id: args.text(3)? },
        "all" => ModelQuery::All,
        _ => ModelQuery::Available,
    };
    Ok(host.models(&query).into())
}

/// Questions that take time. Those to a person stop the call's clock.
pub(super) fn begin(shared: &Arc<Shared>, call: u32, number: u32, name: &str, args: &Args<'_>) -> Result<Op, OpError> {
    let host = shared.host_of(call);
    let is_dialog = matches!(name, "select" | "confirm" | "input" | "edit" | "show");
    let standstill = is_dialog.then(|| shared.clock_of(call)).flatten().map(|clock| clock.stand_still());
    let texts: Vec<String> = (0..2).filter_map(|at| args.optional_text(at)).collect();
    let given = args.optional_text(1);
    let first = texts.first().cloned().unwrap_or_default();
    let asked: Op = match name {
        "select" => {
            let options: Vec<String> = args.decode(1)?;
            op(shared, async move { Answer::of(&host.select(&first, &options).await) })
        }
        "confirm" => {
            op(shared, async move { Answer::of(&host.confirm(&first, given.as_deref().unwrap_or_default()).await) })
        }
        "input" => op(shared, async move { Answer::of(&host.input(&first, given.as_deref()).await) }),
        "edit" => op(shared, async move { Answer::of(&host.edit(&first, given.as_deref()).await) }),
        "show" => show(shared, &host, args.number(0))?,
        "wait_for_idle" => op(shared, async move {
            host.wait_for_idle().await;
            Ok(Answer::nothing())
        }),
        "new_session" => {
            let parent = args.optional_text(0);
            op(shared, async move { moved(host.new_session(parent.as_deref()).await) })
        }
        "branch" => op(shared, async move { moved(host.branch(&first).await) }),
        "navigate" => {
            let summarize = args.flag(1);
            op(shared, async move { moved(host.navigate(&first, summarize).await) })
        }
        "api_key" => {
            let model = args.json(0);
            op(shared, async move { Answer::of(&host.api_key(&model).await) })
        }
        "complete" => complete(shared, number, host, args.json(0)),
        _ => return Err(OpError::new(format!("the host knows no `{name}`"))),
    };
    // A question that the host's call was about is not asked any longer than that.
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

fn moved(result: Result<SessionMove, HostError>) -> Result<Answer, OpError> {
    Ok(json!({ "cancelled": result? == SessionMove::Cancelled }).into())
}

fn complete(shared: &Arc<Shared>, number: u32, host: Arc<dyn Host>, request: Json) -> Op {
    let cancel = CancelToken::new();
    shared.cancels.lock().insert(number, cancel.clone());
    op(shared, async move {
        tokio::select! {
            answer = host.complete(&request) => Ok(answer?.into()),
            () = cancel.cancelled() => Ok(json!({ "role": "assistant", "content": [], "stopReason": "aborted" }).into()),
        }
    })
}

fn show(shared: &Arc<Shared>, host: &Arc<dyn Host>, component: u32) -> Result<Op, OpError> {
    let gone = || OpError::new("the component is gone");
    let state = shared.components.lock().get(&component).ok_or_else(gone)?.state.subscribe();
    let inbox = shared.inbox.upgrade().ok_or_else(gone)?;
    let remote = Arc::new(Remote::new(component, inbox, state));
    let host = Arc::clone(host);
    Ok(op(shared, async move {
        host.show(remote).await?;
        Ok(Answer::nothing())
    }))
}
