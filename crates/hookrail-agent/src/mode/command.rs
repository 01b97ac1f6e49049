//! Commands: lines that begin with a slash.

use hookrail::Hook;
use hookrail::hook::Standing;
use hookrail::process::How;

use super::plugins;
use crate::agent::{Agent, Compacted, CompactionCause, EndReason, Moved};
use crate::error::AgentError;
use crate::session::EntryKind;
use crate::view::Shown;

/// What follows a command.
pub(super) enum After {
    GoOn,
    End(EndReason),
}

const HELP: &[(&str, &str)] = &[
    ("/hooks [list]", "the hooks, and whether they run"),
    ("/hooks enable|disable NAME", "turn a hook on or off for this run"),
    ("/plugin list|refresh", "the plugins; read all configuration anew"),
    ("/plugin enable|disable ID", "turn a plugin on or off, from the next refresh on"),
    ("/compact [WISH]", "put a summary in place of what was said"),
    ("/clear", "begin a new session"),
    ("/resume [ID]", "take up another session"),
    ("/sessions", "the sessions of this project"),
    ("/fork", "go on in a copy of this session"),
    ("/branch ENTRY", "go on in a new session, from before that prompt"),
    ("/tree [ENTRY [summary]]", "the entries of this session; go on at one of them"),
    ("/todo", "the list of tasks"),
    ("/logout", "end the agent and the sign-in"),
    ("/exit", "end the agent"),
];

/// Runs a command.
pub(super) async fn run(agent: &Agent, line: &str) -> After {
    let (name, rest) = line.trim_start_matches('/').split_once(' ').unwrap_or((line.trim_start_matches('/'), ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    let moved = match name {
        "exit" | "quit" => return After::End(EndReason::Exit),
        "logout" => return After::End(EndReason::Logout),
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
            let mut lines: Vec<String> = HELP.iter().map(|(usage, what)| format!("{usage:28}  {what}")).collect();
            lines.extend(agent.hooks().commands().into_iter().map(|offer| {
                let usage = format!("/{}", offer.name);
                format!("{usage:28}  {}", offer.description.unwrap_or_default())
            }));
            return list(agent, "commands", &lines);
        }
        "hooks" => return hooks(agent, &words),
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

fn after_move(agent: &Agent, moved: Result<Moved, AgentError>) -> After {
    match moved {
        Ok(Moved::Done(None)) => After::GoOn,
        Ok(Moved::Done(Some(_))) => After::End(EndReason::Other),
        Ok(Moved::Nothing) => note(agent, "that is where you are already"),
        Ok(Moved::Cancelled(reason)) => {
            agent
                .view()
                .show(&Shown::Warning { code: Some("cancelled"), text: &format!("a hook did not want it: {reason}") });
            After::GoOn
        }
        Err(error) => wrong(agent, &error.to_string()),
    }
}

async fn compact(agent: &Agent, wish: &str) -> After {
    let wish = Some(wish.trim()).filter(|wish| !wish.is_empty());
    match agent.compact(CompactionCause::Manual, wish).await {
        Compacted::Nothing => note(agent, "there is nothing to compact yet"),
        Compacted::Done { stop: Some(_) } => After::End(EndReason::Other),
        Compacted::Done { stop: None } | Compacted::Cancelled(..) | Compacted::Failed(_) => After::GoOn,
    }
}

fn hooks(agent: &Agent, words: &[&str]) -> After {
    let system = agent.hooks();
    match words {
        [] | ["list"] => {
            let snapshot = system.snapshot();
            let lines: Vec<String> = snapshot.hooks().iter().map(|hook| hook_line(hook)).collect();
            list(agent, "hooks", &lines)
        }
        ["disable", name @ ..] => match system.disable_hook(&name.join(" ")) {
            0 => wrong(agent, &format!("there is no hook `{}` that can be turned off here", name.join(" "))),
            _ => note(agent, &format!("{} is off for this run", name.join(" "))),
        },
        ["enable", name @ ..] => {
            if system.enable_hook(&name.join(" ")) {
                note(agent, &format!("{} is on again", name.join(" ")))
            } else {
                wrong(agent, &format!("`{}` was not turned off here", name.join(" ")))
            }
        }
        _ => wrong(agent, "`/hooks`, `/hooks enable NAME` or `/hooks disable NAME`"),
    }
}

fn hook_line(hook: &Hook) -> String {
    let state = match &hook.standing {
        _ if !hook.trust.allows() => "untrusted".to_owned(),
        Standing::Active => "on".to_owned(),
        Standing::Disabled(by) => format!("off (disabled by {by})"),
        Standing::SwitchedOff(by) => format!("off (switched off by {by})"),
        Standing::NeverSwitchedOn => "off (hooks are not switched on)".to_owned(),
    };
    format!("{}  {}  {}  {}  {state}", hook.label, hook.event, hook.dialect.name(), hook.origin.kind.name())
}

/// The entries of the session, indented by their place in the tree.
fn tree(agent: &Agent) -> Vec<String> {
    let session = agent.session();
    let here = session.leaf().map(str::to_owned);
    let shown = session.entries().iter().filter(|entry| !matches!(entry.kind, EntryKind::Receipt | EntryKind::Leaf));
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

/// A command that a module offers. What it sends and keeps counts, however it ended.
async fn module_command(agent: &Agent, name: &str, arguments: &str) -> After {
    let host = agent.host();
    let Some(ended) = agent.hooks().run_command(name, arguments, std::sync::Arc::clone(&host)).await else {
        return wrong(agent, &format!("there is no command `/{name}`; `/help` lists them"));
    };
    ended.messages.iter().for_each(|message| host.send_message(message));
    ended.entries.iter().for_each(|entry| host.append_entry(entry));
    let why = match ended.how {
        How::Returned(_) => return After::GoOn,
        How::Threw(message) | How::OverLimit(message) => message,
        How::TimedOut(_) => "its time was up".to_owned(),
        How::ContentChanged => "its module is not what was trusted any more".to_owned(),
        _ => "it did not come to an end".to_owned(),
    };
    wrong(agent, &format!("the command `/{name}` failed: {why}"))
}

fn list(agent: &Agent, of: &str, lines: &[String]) -> After {
    let nothing = ["(none)".to_owned()];
    agent.view().show(&Shown::Listing { of, lines: if lines.is_empty() { &nothing } else { lines } });
    After::GoOn
}

fn note(agent: &Agent, text: &str) -> After {
    agent.view().show(&Shown::Note { text });
    After::GoOn
}

fn wrong(agent: &Agent, text: &str) -> After {
    agent.view().show(&Shown::Error { text });
    After::GoOn
}
