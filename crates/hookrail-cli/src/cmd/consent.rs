//! Whether a person can have meant what a command line says.

use std::io::{self, BufRead as _, Write as _};

use hookrail_app::failure::{Failure, Result};
use hookrail_bridge::Agent;

/// The advice to who is not asked.
const OWN_TERMINAL: &str = "run this command in a terminal of your own and answer its question there";

/// Returns the agent whose tool started this process.
fn calling_agent() -> Option<&'static str> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let bridged = Agent::ALL.into_iter().find(|agent| agent.tool_variables().iter().any(|name| is_set(name)));
    bridged.map(Agent::title).or_else(|| is_set(hookrail_agent::TOOL_VARIABLE).then_some("hookrail agent"))
}

/// Accepts that a question is skipped, unless a tool of an agent started this process: a model does not loosen its own guard.
pub(crate) fn require_person() -> Result<()> {
    match calling_agent() {
        Some(agent) => {
            let problem = format!("a tool of {agent} started this command, and only a person can consent to it");
            Err(Failure::new(format!("nothing was changed: {problem}")).hint(OWN_TERMINAL))
        }
        None => Ok(()),
    }
}

/// The failure of a command that has no terminal to ask on. `otherwise` is the advice to a person.
pub(crate) fn no_terminal(problem: &str, otherwise: &str) -> Failure {
    let hint = if calling_agent().is_some() { OWN_TERMINAL } else { otherwise };
    Failure::new(problem.to_owned()).hint(hint)
}

/// Asks a question on the terminal. Whatever is not a yes is a no.
pub(crate) fn ask_on_terminal(question: &str) -> bool {
    discard_typed_ahead();
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Discards what was typed before a question was shown, because it cannot be the answer to it.
pub(crate) fn discard_typed_ahead() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}
