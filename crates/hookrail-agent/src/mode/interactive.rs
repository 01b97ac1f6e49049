//! The interactive mode, for a user at a terminal.

use std::pin::pin;
use std::sync::Arc;

use super::command::{self, AfterCommand};
use super::signals::HANG_UP;
use super::terminal::{Terminal, TypedInput};
use super::{AgentExit, AgentSetup, AgentStart, Driver, OnInterrupt, show_hooks};
use crate::agent::{EndReason, ReferenceAgent, TurnEnd};
use crate::error::AgentError;
use crate::view::{TerminalView, View as _, ViewEvent};

pub(super) async fn run(setup: AgentSetup) -> Result<AgentExit, AgentError> {
    let begin = setup.begin.clone();
    let mut driver = Driver::new(OnInterrupt::EndStep)?;
    let terminal = Terminal::open(setup.history.clone());
    driver.terminal = Some(terminal.clone());
    let view = Arc::new(TerminalView::on_screen(terminal.screen()));
    let parts = setup.parts(Arc::clone(&view) as Arc<_>, Arc::new(terminal.clone()));
    let (agent, stop) = match driver.begin(parts, &begin).await? {
        AgentStart::Started(agent, stop) => (agent, stop),
        AgentStart::Interrupted(exit) => return Ok(exit),
    };
    let mut end = TurnEnd::Answered(String::new());
    let mut reason = EndReason::Exit;
    match stop {
        Some(stop) => end = TurnEnd::Stopped(stop.reason),
        None => {
            view.show(&ViewEvent::Note { text: "type a prompt, or /help" });
            reason = converse(&mut driver, &agent, &terminal, &mut end).await;
        }
    }
    terminal.restore();
    driver.end(&agent, &end, reason).await;
    // The end of each prompt was shown. Only a stop that ends the agent sets the exit status.
    driver.exit_unless_cut_off(
        &agent,
        if matches!(end, TurnEnd::Stopped(_)) { AgentExit::Stopped } else { AgentExit::Fine },
    )
}

/// Reads prompts and commands until the user ends the agent.
async fn converse(driver: &mut Driver, agent: &ReferenceAgent, terminal: &Terminal, end: &mut TurnEnd) -> EndReason {
    loop {
        agent.show_status();
        let typed = {
            let mut typing = pin!(terminal.prompt());
            loop {
                tokio::select! {
                    typed = &mut typing => break typed,
                    () = show_hooks(Arc::clone(&driver.hook_watch), agent.view()) => {}
                    // A module can add a message, or ask for a turn, while the user types nothing.
                    () = agent.woken() => {
                        driver.drive(agent, agent.follow_up()).await;
                        if driver.is_over(agent) {
                            return EndReason::Other;
                        }
                    }
                    number = driver.signals.next() => {
                        driver.signalled(number);
                        return EndReason::Other;
                    }
                }
            }
        };
        let line = match typed {
            TypedInput::Line(line) => line.trim().to_owned(),
            TypedInput::Interrupted => {
                agent.view().show(&ViewEvent::Note { text: "Ctrl-D or /exit ends the agent" });
                continue;
            }
            TypedInput::Closed => return EndReason::PromptInputExit,
            TypedInput::Gone => {
                driver.signalled(HANG_UP);
                return EndReason::Other;
            }
        };
        if line.is_empty() {
            continue;
        }
        if line.starts_with('/') {
            match driver.drive(agent, command::run(agent, &line)).await {
                Some(AfterCommand::End(why)) => return why,
                Some(AfterCommand::Stopped(why)) => {
                    *end = TurnEnd::Stopped(why);
                    return EndReason::Other;
                }
                Some(AfterCommand::Continue) | None => {}
            }
            if !driver.is_over(agent) {
                driver.drive(agent, agent.follow_up()).await;
            }
        } else {
            let ended = driver.drive(agent, agent.prompt(&line)).await;
            if let Some(signed_out @ TurnEnd::SignedOut(_)) = ended {
                *end = signed_out;
                return EndReason::Logout;
            }
        }
        if driver.is_over(agent) {
            return EndReason::Other;
        }
    }
}
