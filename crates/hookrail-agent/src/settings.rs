//! What the agent may do and when it does it by itself, as data.

use std::time::Duration;

use crate::rules::Rule;

/// The agent's limits and habits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many turns a prompt may take before the agent gives up.
    pub most_turns: u32,
    /// How often a failed model call is tried again.
    pub most_retries: u32,
    /// How long the first wait before that is; each further one is twice as long.
    pub retry_delay: Duration,
    /// Above this part of the model's window the conversation is compressed before the next call.
    pub compact_above: f64,
    /// Above this part of it the conversation is compressed while the agent waits for its user.
    pub compact_idle_above: f64,
    /// How often the agent is reminded of open tasks before it ends all the same.
    pub most_reminders: u32,
    /// Whether plugins are left alone, so that nothing is said about them.
    pub plugins_off: bool,
    /// What a model's answer must not match.
    pub rules: Vec<Rule>,
    /// What the model is told about its work.
    pub instruction: String,
}

impl Default for Settings {
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
