//! Whether a person can have meant what a command line says.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

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

/// Fails if a tool of an agent started this process: a model does not loosen its own guard.
pub(crate) fn require_person() -> Result<()> {
    match calling_agent() {
        Some(agent) => {
            let problem = format!("a tool of {agent} started this command, and only a person can consent to it");
            Err(Failure::new(format!("nothing was changed: {problem}")).hint(OWN_TERMINAL))
        }
        None => Ok(()),
    }
}

/// A question before something that only a person consents to.
pub(crate) struct ConsentQuestion<'q> {
    pub(crate) text: &'q str,
    /// What is so without consent, such as `nothing was granted`.
    pub(crate) otherwise: &'q str,
    /// What a yes does, such as `grant what is shown`.
    pub(crate) yes: &'q str,
}

/// Asks a question on the terminal, unless `--yes` was given. To a tool of an agent neither is open: a model can type into a terminal.
pub(crate) fn confirm(yes: bool, question: &ConsentQuestion<'_>) -> Result<()> {
    require_person()?;
    let ConsentQuestion { text, otherwise, yes: does } = question;
    if yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let problem = format!("{otherwise}: there is no terminal to ask on");
        return Err(Failure::new(problem).hint(format!("pass `--yes` to {does}")));
    }
    match ask_on_terminal(text) {
        true => Ok(()),
        false => Err(Failure::new(*otherwise).hint(format!("answer `y` to {does}"))),
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
