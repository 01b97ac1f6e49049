//! Recognises commands in settings files that call the bridge, whatever the program is named.
//!
//! The engine skips entries that call the bridge and is strict about the name of the program: to skip any other command could
//! skip a guard. An installation only changes, removes and reports such entries, and shows the change first, so it recognises
//! a copy of the program under another name too.

use hookrail::hook::bridge_words;

use crate::agents::Agent;

/// A command line that does nothing but call the bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BridgeCommand {
    pub(super) program: String,
    /// The name of the agent, which this version may not know.
    pub(super) agent: String,
    arguments: Vec<String>,
}

impl BridgeCommand {
    /// Reads a command line. It calls the bridge if its program has the name of hookrail, or if it has exactly the form that
    /// an installation writes.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = bridge_words(line)?.into_iter();
        let (program, command, agent) = (words.next()?, words.next()?, words.next()?);
        let call = Self { program, agent, arguments: words.collect() };
        let is_call = command == "bridge" && !call.agent.is_empty();
        (is_call && (is_own_name(&call.program) || call.is_installed_form())).then_some(call)
    }

    /// The words behind the program.
    pub(super) fn words(&self) -> Vec<String> {
        let words = ["bridge", &self.agent].into_iter().map(str::to_owned);
        words.chain(self.arguments.iter().cloned()).collect()
    }

    /// The event that the command names.
    pub(super) fn event(&self) -> Option<&str> {
        let at = self.arguments.iter().position(|argument| argument == "--event")?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    fn is_installed_form(&self) -> bool {
        let [event_option, _, deadline_option, deadline, ..] = self.arguments.as_slice() else { return false };
        let is_number = deadline.parse::<u64>().is_ok();
        let is_known = Agent::from_name(&self.agent).is_some();
        is_known && event_option == "--event" && deadline_option == "--deadline" && is_number
    }

    /// Whether the command is what an installation writes for an event, perhaps with another program, deadline or options.
    pub(super) fn is_installed_for(&self, agent: Agent, event: &str) -> bool {
        self.is_installed_form() && self.agent == agent.name() && self.event() == Some(event)
    }
}

/// Whether the name of a program is hookrail's, perhaps with a version or a suffix.
fn is_own_name(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let rest = name.strip_prefix("hookrail");
    rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_under_another_name_is_recognised() {
        for (line, program) in [
            ("hookrail bridge claude", Some("hookrail")),
            ("/opt/hookrail-0.2 bridge gemini --event BeforeTool", Some("/opt/hookrail-0.2")),
            ("'/a b/hookrail.exe' bridge pi", Some("/a b/hookrail.exe")),
            ("/opt/hr bridge qwen --event Stop --deadline 48000 --noisy", Some("/opt/hr")),
            ("/opt/hr bridge qwen --event Stop", None),
            ("/opt/hr bridge qwen --event Stop --deadline soon", None),
            ("/opt/hr bridge an-agent --event Stop --deadline 48000", None),
            ("hookrails bridge claude", None),
            ("hookrail-0.2 fire bridge", None),
            ("hookrail-0.2 bridge claude; ./guard.sh", None),
        ] {
            assert_eq!(BridgeCommand::read(line).map(|call| call.program).as_deref(), program, "{line}");
        }
        let call = BridgeCommand::read("/x/hr bridge qwen --event Stop --deadline 1").unwrap();
        assert!(call.is_installed_for(Agent::qwen(), "Stop"));
        assert!(!call.is_installed_for(Agent::qwen(), "PreToolUse") && !call.is_installed_for(Agent::claude(), "Stop"));
        let by_hand = BridgeCommand::read("hookrail bridge qwen --event Stop").unwrap();
        assert!(!by_hand.is_installed_for(Agent::qwen(), "Stop"));
    }
}
