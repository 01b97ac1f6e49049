//! The short way: guards fire the events around an operation and apply every effect.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;

use hookrail::guard::{Approval, Approver, Guard, ModelEnd, PromptEnd, ToolCall, ToolEnd, ToolFailure, ToolOutput};
use hookrail::hook::Action;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Effects, Environment, EventKind, Hook, HookSystem, Json, NativeHook};

// region: approver
/// Asks the user, with the final input in front of them. This one says yes to everything but `rm`.
struct User;

impl Approver for User {
    fn approve<'a>(
        &'a self,
        operation: &'a str,
        input: &'a Json,
        reason: Option<&'a str>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        println!("{operation} {}: {}", input.text(), reason.unwrap_or("?"));
        let answer =
            if input.text().contains("rm ") { Approval::Refused("not today".into()) } else { Approval::Granted };
        Box::pin(std::future::ready(answer))
    }
}
// endregion

fn hook(event: EventKind, answer: impl Fn(&str) -> Effects + Send + Sync + 'static) -> Hook {
    let hook = NativeHook::new(move |call| answer(call.event.fields().to_json().text()));
    Hook::new(event, DialectId::Native, "sample", Action::Native(hook), Origin::without_file(SourceKind::Native))
}

async fn session(hooks: HookSystem) -> Result<(), Box<dyn Error>> {
    // region: guard
    let guard = Guard::new(hooks, "session-1").approver(User).transcript("/tmp/session-1.jsonl");
    // endregion

    // region: prompt
    let prompt = match guard.prompt("tidy up").await {
        PromptEnd::Accepted { prompt, .. } => prompt,
        // The assistant says this in place of an answer. The prompt never reaches a model.
        PromptEnd::Denied { message, .. } => return Err(message.into()),
    };
    // endregion
    assert_eq!(prompt, "tidy up");

    // region: tool
    // The tool gets a permit that only a guard can make, and runs with the input in it.
    let call = ToolCall::new("call-1", "run_shell_command", Json::parse(r#"{"command":"ls"}"#)?);
    let result = guard
        .tool_call(call, |permit| async move { Ok(ToolOutput::text(&format!("ran {}", permit.input().text()))) })
        .await;
    // `content` is what the model reads, whether the tool ran, failed or was denied.
    println!("{:?}: {}", result.end, result.content.text());
    // endregion
    assert_eq!(result.end, ToolEnd::Ran);
    let call = ToolCall::new("call-2", "run_shell_command", Json::parse(r#"{"command":"rm -r src"}"#)?);
    let result = guard.tool_call(call, |_permit| async { Err(ToolFailure("never called".into())) }).await;
    assert_eq!(result.end, ToolEnd::Denied);
    assert_eq!(result.content.as_str().as_deref(), Some("the user refused: not today"));

    // region: model
    let request = Json::parse(r#"{"contents":[{"role":"user","parts":["tidy up"]}]}"#)?;
    let result = guard
        .model_call(request, |permit| async move {
            println!("sent: {}", permit.request().text());
            Json::parse(r#"{"candidates":[{"content":{"role":"model","parts":["done"]}}]}"#)
        })
        .await?;
    if let Some(stop) = &result.stop {
        println!("the agent stops: {}", stop.reason);
    }
    // endregion
    assert_eq!(result.end, ModelEnd::Answered);

    // region: tell
    let told = guard.tell(EventKind::SessionEnd, &[("reason", Json::string("exit"))]).await;
    // endregion
    assert!(told.cancelled.is_none());
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let environment: Environment = [("HOME", home.path())].into_iter().collect();
    let asking = hook(EventKind::BeforeTool, |_| Effects::ask("really?"));
    let hooks = HookSystem::builder(project.path()).environment(environment).hook(asking).build();
    tokio::runtime::Builder::new_current_thread().build()?.block_on(session(hooks))
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
