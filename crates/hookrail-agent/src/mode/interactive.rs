//! A person at a terminal.

use std::pin::pin;
use std::sync::Arc;

use super::command::{self, After};
use super::signals::HANG_UP;
use super::terminal::{Terminal, Typed};
use super::{Begun, Driver, Exit, OnInterrupt, Setup};
use crate::agent::{Agent, EndReason, TurnEnd};
use crate::error::AgentError;
use crate::view::{Shown, TerminalView, View as _};

pub(super) async fn run(setup: Setup) -> Result<Exit, AgentError> {
    let begin = setup.begin.clone();
    let mut driver = Driver::new(OnInterrupt::EndStep)?;
    let terminal = Terminal::open(setup.history.clone());
    let view = Arc::new(TerminalView::on(terminal.screen()));
    let parts = setup.parts(Arc::clone(&view) as Arc<_>, Arc::new(terminal.clone()));
    let (agent, stop) = match driver.begin(parts, &begin).await? {
        Begun::Agent(agent, stop) => (agent, stop),
        Begun::Interrupted(exit) => return Ok(exit),
    };
    let mut end = TurnEnd::Answered(String::new());
    let mut reason = EndReason::Exit;
    match stop {
        Some(stop) => end = TurnEnd::Stopped(stop.reason),
        None => {
            view.show(&Shown::Note { text: "type a prompt, or /help" });
            reason = converse(&mut driver, &agent, &terminal, &mut end).await;
        }
    }
    terminal.restore();
    driver.end(&agent, &end, reason).await;
    // What a prompt came to was shown; only a stop at the very beginning means that nothing could be done.
    driver.exit_unless_cut_off(&agent, if matches!(end, TurnEnd::Stopped(_)) { Exit::Stopped } else { Exit::Fine })
}

/// Prompts and commands, until the person has enough.
async fn converse(driver: &mut Driver, agent: &Agent, terminal: &Terminal, end: &mut TurnEnd) -> EndReason {
    loop {
        agent.show_status();
        let typed = {
            let mut typing = pin!(terminal.prompt());
            loop {
                tokio::select! {
                    typed = &mut typing => break typed,
                    // A module may have something to say, or to ask the model, while nobody types.
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
            Typed::Line(line) => line.trim().to_owned(),
            Typed::Interrupted => {
                agent.view().show(&Shown::Note { text: "Ctrl-D or /exit ends the agent" });
                continue;
            }
            Typed::Closed => return EndReason::PromptInputExit,
            Typed::Gone => {
                driver.signalled(HANG_UP);
                return EndReason::Other;
            }
        };
        if line.is_empty() {
            continue;
        }
        if line.starts_with('/') {
            if let Some(After::End(why)) = driver.drive(agent, command::run(agent, &line)).await {
                return why;
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
