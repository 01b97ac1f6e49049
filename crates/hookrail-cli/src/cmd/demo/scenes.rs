//! The events of the demonstration, and the outcome that each must have.

use std::path::Path;

use hookrail::{Event, EventKind, Json, Outcome};

/// One event, and the outcome that its hooks must give it.
pub(super) struct Scene {
    /// What a hook does here.
    pub(super) title: &'static str,
    /// What the agent does when the event is fired.
    pub(super) situation: &'static str,
    pub(super) kind: EventKind,
    /// The event's fields as JSON.
    pub(super) payload: &'static str,
    pub(super) expected: Expected,
}

/// The outcome that an event must have.
#[derive(Debug)]
pub(super) enum Expected {
    Untouched,
    Blocked,
    ToolInput(&'static str),
    Context(&'static str),
    Tools(&'static str),
    Stop(&'static str),
}

pub(super) const SCENES: [Scene; 6] = [
    Scene {
        title: "A hook blocks a tool call",
        situation: "The agent wants to write `.env`.",
        kind: EventKind::BeforeTool,
        payload: r#"{"tool_name":"write_file","tool_input":{"path":".env","content":"TOKEN=1234"}}"#,
        expected: Expected::Blocked,
    },
    Scene {
        title: "The same hook allows another tool call",
        situation: "The agent wants to write `notes.md`.",
        kind: EventKind::BeforeTool,
        payload: r#"{"tool_name":"write_file","tool_input":{"path":"notes.md","content":"hello"}}"#,
        expected: Expected::Untouched,
    },
    Scene {
        title: "A hook rewrites a tool call",
        situation: "The agent wants to push by force.",
        kind: EventKind::BeforeTool,
        payload: r#"{"tool_name":"run_shell_command","tool_input":{"command":"git push --force"}}"#,
        expected: Expected::ToolInput(r#"{"command":"git push --force-with-lease"}"#),
    },
    Scene {
        title: "A hook tells the model something",
        situation: "The agent ran the tests, and one failed.",
        kind: EventKind::AfterTool,
        payload: r#"{"tool_name":"run_shell_command","tool_input":{"command":"make test"},
            "tool_response":{"llmContent":"test_login FAILED","returnDisplay":"1 failed"}}"#,
        expected: Expected::Context("test_login is known to be flaky: run it again before you change code"),
    },
    Scene {
        title: "A hook restricts the tools",
        situation: "The agent is about to ask the model for a review.",
        kind: EventKind::ToolSelection,
        payload: r#"{"llm_request":{"model":"sample","messages":[{"role":"user","content":"please review this"}]}}"#,
        expected: Expected::Tools(r#"{"mode":"ANY","allowedFunctionNames":["list_directory","read_file"]}"#),
    },
    Scene {
        title: "A hook stops the agent",
        situation: "The model has answered, and the budget is used up.",
        kind: EventKind::AfterModel,
        payload: r#"{"llm_request":{"model":"sample","messages":[{"role":"user","content":"continue"}]},
            "llm_response":{"text":"next, I will …"}}"#,
        expected: Expected::Stop("the budget of this session is used up"),
    },
];

impl Scene {
    /// Returns the event to fire. A test checks that every payload above is valid.
    pub(super) fn event(&self, project: &Path) -> Option<Event> {
        let payload = Json::parse(self.payload).ok()?;
        Event::new(self.kind, project).with_payload(&payload).ok()
    }
}

impl Expected {
    /// Returns what differs from the expected outcome, if anything does.
    pub(super) fn difference(&self, outcome: &Outcome) -> Option<String> {
        let effects = &outcome.effects;
        let same = |found: &Option<Json>, expected: &str| {
            Json::parse(expected).is_ok_and(|expected| found.as_ref().is_some_and(|found| found.same_as(&expected)))
        };
        let stopped = effects.stop.as_ref().map(|stop| stop.reason.as_str());
        let touched = stopped.is_some() || effects.tool_input.is_some() || effects.additional_context.is_some();
        let holds = match self {
            Self::Untouched => !outcome.is_denied() && !touched,
            Self::Blocked => outcome.is_denied(),
            Self::ToolInput(input) => !outcome.is_denied() && same(&effects.tool_input, input),
            Self::Context(text) => effects.additional_context.as_deref() == Some(*text),
            Self::Tools(config) => same(&effects.tool_config, config),
            Self::Stop(reason) => stopped == Some(*reason),
        };
        (!holds).then(|| format!("expected {self:?}, found {effects:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_is_an_event_and_expects_something_readable() {
        for scene in SCENES {
            assert!(scene.event(Path::new("/p")).is_some(), "{}", scene.title);
            if let Expected::ToolInput(text) | Expected::Tools(text) = scene.expected {
                assert!(Json::parse(text).is_ok(), "{text}");
            }
        }
    }
}
