//! The first part of the demonstration: payloads of coding agents go through `hookrail bridge`, a process of its own as in
//! the agent, to a hook that was granted.

use std::io;
use std::process::Output;

use hookrail_bridge::Agent;
use serde_json::{Value, json};

use super::project::{GUARD, SampleProject};

/// One step: what an agent wants, what it sends, and what it must be told.
pub struct DemoStep {
    pub title: &'static str,
    pub calls: &'static [Call],
    /// Whether the guard is edited while the agent asks.
    guard: GuardText,
}

#[derive(Clone, Copy)]
enum GuardText {
    Granted,
    Edited,
}

pub struct Call {
    pub agent: Agent,
    event: &'static str,
    tool: &'static str,
    /// The tool's arguments as JSON.
    input: &'static str,
    expected: Expected,
}

/// The answer that a call must get.
#[derive(Debug)]
enum Expected {
    Denied,
    NoObjection,
}

/// What the agent was told.
#[derive(Debug)]
pub enum Told {
    /// The model reads this reason.
    Denied(String),
    NoObjection,
    /// An answer that neither denies nor lets the call pass without a word.
    Other(String),
}

const WRITE_SECRET: Call = Call {
    agent: Agent::claude(),
    event: "PreToolUse",
    tool: "Write",
    input: r#"{"file_path":".env","content":"TOKEN=1"}"#,
    expected: Expected::Denied,
};

/// The guard, no longer enforced.
const EDITED_GUARD: &str = concat!(include_str!("../../assets/tour/rules.toml"), "enforce = false\n");

pub const STEPS: [DemoStep; 4] = [
    DemoStep { title: "Claude Code wants to write `.env`", calls: &[WRITE_SECRET], guard: GuardText::Granted },
    DemoStep {
        title: "Codex CLI sends a patch and Gemini CLI a shell line, and the same rule answers",
        calls: &[
            Call {
                agent: Agent::codex(),
                event: "PreToolUse",
                tool: "apply_patch",
                input: r#"{"command":"*** Begin Patch\n*** Add File: .env\n+TOKEN=1\n*** End Patch\n"}"#,
                expected: Expected::Denied,
            },
            Call {
                agent: Agent::gemini(),
                event: "BeforeTool",
                tool: "run_shell_command",
                input: r#"{"command":"echo TOKEN=1 | tee .env"}"#,
                expected: Expected::Denied,
            },
        ],
        guard: GuardText::Granted,
    },
    DemoStep {
        title: "Claude Code wants to write `notes.md`",
        calls: &[Call {
            input: r#"{"file_path":"notes.md","content":"hello"}"#,
            expected: Expected::NoObjection,
            ..WRITE_SECRET
        }],
        guard: GuardText::Granted,
    },
    DemoStep {
        title: "The rule was switched off in its file, and its user has not reviewed that",
        calls: &[WRITE_SECRET],
        guard: GuardText::Edited,
    },
];

impl DemoStep {
    /// Sends the payloads. Returns what each agent was told, and what was not as expected.
    pub fn play(&self, sample: &SampleProject) -> io::Result<(Vec<Told>, Option<String>)> {
        let send_all = || self.calls.iter().map(|call| call.send(sample)).collect::<io::Result<Vec<Told>>>();
        let told = match self.guard {
            GuardText::Granted => send_all()?,
            GuardText::Edited => sample.with_edited(GUARD, EDITED_GUARD, send_all)??,
        };
        let wrong = self.calls.iter().zip(&told).find(|(call, told)| !call.expected.is(told));
        let wrong = wrong.map(|(call, told)| format!("{}: expected {:?}, found {told:?}", self.title, call.expected));
        Ok((told, wrong))
    }
}

impl Call {
    /// What the agent says about the call. The rest of its payload is about the session.
    pub fn shown(&self) -> String {
        format!("{} {} {}", self.event, self.tool, self.input)
    }

    /// The payload in the form that all three agents share.
    fn payload(&self, sample: &SampleProject) -> Result<Value, serde_json::Error> {
        Ok(json!({
            "session_id": "demo",
            "transcript_path": sample.base().join("transcript.jsonl"),
            "cwd": sample.root(),
            "hook_event_name": self.event,
            "tool_name": self.tool,
            "tool_input": serde_json::from_str::<Value>(self.input)?,
        }))
    }

    fn send(&self, sample: &SampleProject) -> io::Result<Told> {
        let arguments = ["bridge", self.agent.name(), "--event", self.event];
        let ended = sample.run_hookrail(&arguments, &self.payload(sample)?.to_string())?;
        Ok(Told::by(&ended))
    }
}

impl Expected {
    fn is(&self, told: &Told) -> bool {
        match (self, told) {
            (Self::Denied, Told::Denied(reason)) => reason.contains("no-env"),
            (Self::NoObjection, Told::NoObjection) => true,
            (Self::Denied | Self::NoObjection, _) => false,
        }
    }
}

impl Told {
    /// Reads the answer of the bridge as the agents do: a status with the reason on standard error, or a document.
    fn by(ended: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let (out, error) = (text(&ended.stdout), text(&ended.stderr));
        match ended.status.code() {
            Some(2) => return Self::Denied(error),
            Some(0) if out.is_empty() => return Self::NoObjection,
            _ => {}
        }
        let document: Value = serde_json::from_str(&out).unwrap_or_default();
        let is_text = |pointer: &str, text: &str| document.pointer(pointer).is_some_and(|found| found == text);
        let reason = if is_text("/hookSpecificOutput/permissionDecision", "deny") {
            document.pointer("/hookSpecificOutput/permissionDecisionReason")
        } else if is_text("/decision", "deny") {
            document.pointer("/reason")
        } else {
            None
        };
        match reason.and_then(Value::as_str) {
            Some(reason) => Self::Denied(reason.to_owned()),
            None => Self::Other(format!("{} {out} {error}", ended.status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_payload_is_valid() {
        for call in STEPS.iter().flat_map(|step| step.calls) {
            let input: Value = serde_json::from_str(call.input).unwrap();
            assert!(input.is_object(), "{input}");
        }
    }
}
