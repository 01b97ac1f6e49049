//! A payload that each agent could send, for a dry run.

use std::path::Path;

use serde_json::json;

use crate::Agent;

/// The session of the sample.
pub const SAMPLE_SESSION: &str = "hookrail-doctor";

impl Agent {
    /// The name of the before-tool event and a payload for it: the agent wants to read a file that does not exist.
    #[must_use]
    pub fn sample_tool_event(self, project: &Path) -> (&'static str, String) {
        let file = project.join("a-file-that-does-not-exist").to_string_lossy().into_owned();
        let base =
            json!({ "session_id": SAMPLE_SESSION, "transcript_path": "", "cwd": project, "tool_use_id": "doctor" });
        let (event, own) = match self {
            Self::Claude => ("PreToolUse", json!({ "tool_name": "Read", "tool_input": { "file_path": file } })),
            Self::Codex => (
                "PreToolUse",
                json!({ "turn_id": "doctor", "model": "none", "tool_name": "Bash", "tool_input": { "command": "true" } }),
            ),
            Self::Gemini => ("BeforeTool", json!({ "tool_name": "read_file", "tool_input": { "file_path": file } })),
            Self::Qwen => ("PreToolUse", json!({ "tool_name": "read_file", "tool_input": { "file_path": file } })),
            Self::Copilot => ("preToolUse", json!({ "toolName": "view", "toolArgs": { "path": file } })),
            Self::OpenCode => ("tool.execute.before", json!({ "tool": "read", "args": { "filePath": file } })),
            Self::Pi => ("tool_call", json!({ "toolName": "read", "input": { "path": file } })),
        };
        let mut payload = base;
        if let (Some(members), Some(own)) = (payload.as_object_mut(), own.as_object()) {
            members.extend(own.clone());
            if self != Self::Copilot {
                members.insert("hook_event_name".to_owned(), json!(event));
            }
        }
        (event, payload.to_string())
    }

    /// The name of the agent's program.
    #[must_use]
    pub const fn program(self) -> &'static str {
        self.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Incoming, NoisyEvents, Reading, request};

    #[test]
    fn every_sample_is_an_event_that_is_fired() {
        for agent in Agent::ALL {
            let (event, payload) = agent.sample_tool_event(Path::new("/p"));
            let incoming = Incoming {
                agent,
                event: Some(event),
                payload: payload.as_bytes(),
                variable: &|_| None,
                noisy: NoisyEvents::Filtered,
            };
            assert!(matches!(request::read(&incoming), Ok(Reading::Fire(_))), "{agent}");
        }
    }
}
