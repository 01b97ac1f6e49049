//! Prompts and commands from standard input, one per line, for a program that reads JSON.

use std::io::{BufRead as _, Read as _};
use std::sync::Arc;

use hookrail::Json;
use tokio::sync::mpsc;

use super::command::{self, AfterCommand};
use super::{AgentExit, AgentSetup, AgentStart, Driver, OnInterrupt, show_hooks};
use crate::agent::{EndReason, TurnEnd};
use crate::error::AgentError;
use crate::user::NoUser;
use crate::view::{HeadlessView, ViewEvent};

/// Reads all of standard input as one prompt.
pub(super) fn read_all_input() -> Result<String, AgentError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| AgentError::System(format!("standard input cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| AgentError::System("standard input is not UTF-8".to_owned()))?;
    // The line break at the end belongs to the command that wrote the prompt, such as `echo`.
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Works on each line as it comes, until the end of input.
pub(super) async fn run(setup: AgentSetup) -> Result<AgentExit, AgentError> {
    let begin = setup.begin.clone();
    let mut driver = Driver::new(OnInterrupt::EndAll)?;
    let parts = setup.parts(Arc::new(HeadlessView::new()), Arc::new(NoUser));
    let (agent, stop) = match driver.begin(parts, &begin).await? {
        AgentStart::Started(agent, stop) => (agent, stop),
        AgentStart::Interrupted(exit) => return Ok(exit),
    };
    let mut end = stop.map_or(TurnEnd::Answered(String::new()), |stop| TurnEnd::Stopped(stop.reason));
    let mut reason = EndReason::Exit;
    let mut lines = if matches!(end, TurnEnd::Stopped(_)) { None } else { Some(read_lines()) };
    while let Some(source) = &mut lines {
        let line = tokio::select! {
            line = source.recv() => line,
            () = show_hooks(Arc::clone(&driver.hook_watch), agent.view()) => continue,
            () = agent.woken() => {
                if let Some(Some(ended)) = driver.drive(&agent, agent.follow_up()).await {
                    end = ended;
                }
                if driver.is_over(&agent) {
                    break;
                }
                continue;
            }
            number = driver.signals.next() => {
                driver.signalled(number);
                None
            }
        };
        let line = match line {
            None => break,
            Some(Ok(line)) => line,
            Some(Err(error)) => {
                let text = format!("standard input cannot be read: {error}");
                agent.view().show(&ViewEvent::Error { text: &text });
                end = TurnEnd::Failed(text);
                break;
            }
        };
        let line = match std::str::from_utf8(&line).map_err(|_| "the line is not UTF-8".to_owned()).and_then(parse_line)
        {
            Ok(None) => continue,
            Ok(Some(line)) => line,
            Err(problem) => {
                agent.view().show(&ViewEvent::Error { text: &problem });
                continue;
            }
        };
        if line.starts_with('/') {
            match driver.drive(&agent, command::run(&agent, &line)).await {
                Some(AfterCommand::End(why)) => {
                    reason = why;
                    break;
                }
                Some(AfterCommand::Stopped(why)) => {
                    (end, reason) = (TurnEnd::Stopped(why), EndReason::Other);
                    break;
                }
                Some(AfterCommand::Continue) | None => {}
            }
            if !driver.is_over(&agent)
                && let Some(Some(ended)) = driver.drive(&agent, agent.follow_up()).await
            {
                end = ended;
            }
        } else {
            end = driver.drive(&agent, agent.prompt(&line)).await.unwrap_or(TurnEnd::Cancelled);
        }
        if driver.is_over(&agent) || matches!(end, TurnEnd::SignedOut(_)) {
            break;
        }
    }
    driver.end(&agent, &end, reason).await;
    driver.exit(&agent, &end)
}

/// Returns the prompt or command of a line: the line itself, or the `prompt` or `command` of an object.
fn parse_line(line: &str) -> Result<Option<String>, String> {
    let line = line.trim();
    if !line.starts_with('{') {
        return Ok(Some(line.to_owned()).filter(|line| !line.is_empty()));
    }
    let object = Json::parse(line).map_err(|error| format!("the line is not valid JSON: {error}"))?;
    let object = object.as_object().unwrap_or_default();
    let text = |name: &str| object.get(name).and_then(Json::as_str);
    match (text("prompt"), text("command")) {
        (Some(prompt), None) => Ok(Some(prompt)),
        (None, Some(command)) => Ok(Some(format!("/{}", command.trim_start_matches('/')))),
        _ => Err("the object needs either a `prompt` or a `command`".to_owned()),
    }
}

/// Reads lines on a thread of its own, because reading cannot be interrupted. The thread ends with the process.
fn read_lines() -> mpsc::UnboundedReceiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n') {
            let failed = line.is_err();
            if sender.send(line).is_err() || failed {
                return;
            }
        }
    });
    receiver
}
