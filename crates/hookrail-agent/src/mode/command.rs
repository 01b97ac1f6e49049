//! Commands: lines that begin with a slash.

use hookrail::process::RawEnd;

use super::hook_commands::{self, HooksOutput};
use super::plugins;
use crate::agent::{CompactionCause, CompactionOutcome, EndReason, MoveOutcome, ReferenceAgent};
use crate::error::AgentError;
use crate::session::SessionEntryKind;
use crate::view::ViewEvent;

/// What the agent does after a command.
pub(super) enum AfterCommand {
    Continue,
    End(EndReason),
    /// A hook stopped the agent, for this reason.
    Stopped(String),
}

const HELP: &[(&str, &str)] = &[
    ("/hooks [list]", "list the hooks, and whether they run"),
    ("/hooks enable|disable NAME", "enable or disable a hook"),
    ("/hooks enable-all|disable-all", "enable or disable all hooks"),
    ("/hooks reload", "read the configuration again"),
    ("/plugin list|refresh", "list the plugins; reload all configuration"),
    ("/plugin enable|disable ID", "enable or disable a plugin, from the next refresh on"),
    ("/compact [INSTRUCTIONS]", "replace the conversation so far with a summary"),
    ("/clear", "start a new session"),
    ("/resume [ID]", "resume another session"),
    ("/sessions", "list the sessions of this project"),
    ("/fork", "continue in a copy of this session"),
    ("/branch ENTRY", "continue in a new session, from before that prompt"),
    ("/tree [ENTRY [summary]]", "list the entries of this session; continue at one of them"),
    ("/todo", "show the list of tasks"),
    ("/logout", "sign out and end the agent"),
    ("/exit", "end the agent"),
];

/// Runs a command.
pub(super) async fn run(agent: &ReferenceAgent, line: &str) -> AfterCommand {
    agent.refresh_hooks();
    let (name, rest) = line.trim_start_matches('/').split_once(' ').unwrap_or((line.trim_start_matches('/'), ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    let moved = match name {
        "exit" | "quit" => return AfterCommand::End(EndReason::Exit),
        "logout" => return AfterCommand::End(EndReason::Logout),
        "clear" | "new" => agent.clear().await,
        "resume" => agent.resume(words.first().copied()).await,
        "fork" => agent.fork().await,
        "branch" => match words.first() {
            Some(id) => agent.branch(id).await,
            None => return wrong(agent, "name the entry of a prompt; `/tree` lists them"),
        },
        "tree" => match words.as_slice() {
            [] => return list(agent, "tree", &tree(agent)),
            [id] => agent.navigate(id, false).await,
            [id, "summary"] => agent.navigate(id, true).await,
            _ => return wrong(agent, "`/tree`, `/tree ENTRY` or `/tree ENTRY summary`"),
        },
        "compact" => return compact(agent, rest).await,
        "help" => {
            let mut lines: Vec<String> = HELP.iter().map(|(usage, what)| format!("{usage:30}  {what}")).collect();
            lines.extend(agent.hooks().commands().into_iter().map(|offer| {
                let usage = format!("/{}", offer.name);
                format!("{usage:30}  {}", offer.description.unwrap_or_default())
            }));
            return list(agent, "commands", &lines);
        }
        "hooks" => {
            return match hook_commands::run(agent, &words) {
                HooksOutput::Lines(lines) => list(agent, "hooks", &lines),
                HooksOutput::Note(text) => note(agent, &text),
                HooksOutput::Error(text) => wrong(agent, &text),
            };
        }
        "plugin" => {
            return match plugins::run(agent, &words) {
                Ok(lines) => list(agent, "plugins", &lines),
                Err(problem) => wrong(agent, &problem),
            };
        }
        "sessions" => {
            let here = agent.session().id().to_owned();
            let mark = |id: &str| if id == here { "*" } else { " " };
            let all: Vec<String> =
                agent.store().all().iter().map(|stored| format!("{} {}", mark(&stored.id), stored.id)).collect();
            return list(agent, "sessions", &all);
        }
        "todo" => {
            let todos: Vec<String> = agent.session().todos().iter().map(|todo| todo.text().to_owned()).collect();
            return list(agent, "todos", &todos);
        }
        _ => return module_command(agent, name, rest).await,
    };
    after_move(agent, moved)
}

fn after_move(agent: &ReferenceAgent, moved: Result<MoveOutcome, AgentError>) -> AfterCommand {
    match moved {
        Ok(MoveOutcome::Done(None)) => AfterCommand::Continue,
        Ok(MoveOutcome::Done(Some(stop))) => AfterCommand::Stopped(stop.reason),
        Ok(MoveOutcome::Nothing) => note(agent, "the agent is already there"),
        Ok(MoveOutcome::Cancelled(reason)) => {
            agent.view().show(&ViewEvent::Warning {
                code: Some("cancelled"),
                text: &format!("a hook cancelled this: {reason}"),
            });
            AfterCommand::Continue
        }
        Err(error) => wrong(agent, &error.to_string()),
    }
}

async fn compact(agent: &ReferenceAgent, instructions: &str) -> AfterCommand {
    let instructions = Some(instructions.trim()).filter(|text| !text.is_empty());
    match agent.compact(CompactionCause::Manual, instructions).await {
        CompactionOutcome::Nothing => note(agent, "there is nothing to compact yet"),
        CompactionOutcome::Done { stop: Some(stop), .. } => AfterCommand::Stopped(stop.reason),
        CompactionOutcome::Cancelled(_, Some(stop)) => {
            agent.view().show(&ViewEvent::Stopped { reason: &stop.reason });
            AfterCommand::Stopped(stop.reason)
        }
        CompactionOutcome::Done { stop: None, .. }
        | CompactionOutcome::Cancelled(_, None)
        | CompactionOutcome::Failed(_) => AfterCommand::Continue,
    }
}

/// Lists the entries of the session, indented by their depth in the tree.
fn tree(agent: &ReferenceAgent) -> Vec<String> {
    let session = agent.session();
    let here = session.leaf().map(str::to_owned);
    let shown = session
        .entries()
        .iter()
        .filter(|entry| !matches!(entry.kind, SessionEntryKind::Receipt | SessionEntryKind::Leaf));
    shown
        .map(|entry| {
            let depth = session.path_to(entry.parent.as_deref()).len();
            let text = entry.field("message").map(crate::message::text_of).or_else(|| entry.text("summary"));
            let text = text.or_else(|| entry.text("text")).unwrap_or_default();
            let mark = if Some(&entry.id) == here.as_ref() { "*" } else { " " };
            let text: String = text.chars().take(60).collect();
            format!("{mark} {:depth$}{}  {}  {}", "", entry.id, entry.kind.name(), text.replace('\n', " "))
        })
        .collect()
}

/// Runs a command that a module offers. Its messages and entries are recorded even if it failed.
async fn module_command(agent: &ReferenceAgent, name: &str, arguments: &str) -> AfterCommand {
    let host = agent.host();
    let Some(ended) = agent.hooks().run_command(name, arguments, std::sync::Arc::clone(&host)).await else {
        return wrong(agent, &format!("there is no command `/{name}`; `/help` lists them"));
    };
    ended.messages.iter().for_each(|message| host.send_message(message));
    ended.entries.iter().for_each(|entry| host.append_entry(entry));
    let why = match ended.how {
        RawEnd::Returned(_) => return AfterCommand::Continue,
        RawEnd::Threw(message) | RawEnd::OverLimit(message) => message,
        RawEnd::TimedOut(_) => "it timed out".to_owned(),
        RawEnd::ContentChanged => {
            "its module was edited since you trusted it; `hookrail trust diff` shows the change".to_owned()
        }
        _ => "it did not complete".to_owned(),
    };
    wrong(agent, &format!("the command `/{name}` failed: {why}"))
}

fn list(agent: &ReferenceAgent, of: &str, lines: &[String]) -> AfterCommand {
    let nothing = ["(none)".to_owned()];
    agent.view().show(&ViewEvent::Listing { of, lines: if lines.is_empty() { &nothing } else { lines } });
    AfterCommand::Continue
}

fn note(agent: &ReferenceAgent, text: &str) -> AfterCommand {
    agent.view().show(&ViewEvent::Note { text });
    AfterCommand::Continue
}

fn wrong(agent: &ReferenceAgent, text: &str) -> AfterCommand {
    agent.view().show(&ViewEvent::Error { text });
    AfterCommand::Continue
}
