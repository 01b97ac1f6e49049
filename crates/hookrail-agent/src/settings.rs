//! The limits and defaults of the agent, as data.

use std::time::Duration;

use crate::rules::StreamRule;

/// The agent's limits and defaults.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The highest number of turns for one prompt.
    pub most_turns: u32,
    /// The highest number of retries of a failed model call.
    pub most_retries: u32,
    /// The delay before the first retry. It doubles with each further one.
    pub retry_delay: Duration,
    /// Above this part of the model's window the conversation is compressed before the next call.
    pub compact_above: f64,
    /// Above this part of the model's window the conversation is compressed while the agent waits for the user.
    pub compact_idle_above: f64,
    /// The highest number of reminders of open tasks. After that the agent ends with tasks open.
    pub most_reminders: u32,
    /// Whether plugins are not loaded, so that `/plugin` reports nothing about them.
    pub plugins_off: bool,
    /// The stream rules.
    pub rules: Vec<StreamRule>,
    /// The system instruction for the model.
    pub instruction: String,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            most_turns: 50,
            most_retries: 3,
            retry_delay: Duration::from_millis(500),
            compact_above: 0.8,
            compact_idle_above: 0.6,
            most_reminders: 2,
            plugins_off: false,
            rules: Vec::new(),
            instruction: "You are a coding agent. Work in the project's folder with the tools you are given."
                .to_owned(),
        }
    }
}
