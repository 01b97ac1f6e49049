//! The fields of an answer on standard output, and the questions that callers ask about it.
//!
//! Each field is parsed separately: an invalid one is reported and left out, and the decision is not lost with it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::answer_words::{AnswerFields, UnknownFields, meant_decision};
use crate::event::EventKind;
use crate::json::{Json, JsonObject};
use crate::outcome::Decision;

/// Exit status of a hook that ended well.
pub const EXIT_CODE_SUCCESS: i32 = 0;
/// Exit status of a hook that failed without blocking.
pub const EXIT_CODE_NON_BLOCKING_ERROR: i32 = 1;
/// Exit status of a hook that blocks.
pub const EXIT_CODE_BLOCKING_ERROR: i32 = 2;

/// The reason of a denial that gives none.
pub(crate) const NO_REASON: &str = "no reason was given";

/// The five decision words of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words are the documentation's own")]
pub enum HookDecision {
    Ask,
    Block,
    Deny,
    Approve,
    Allow,
}

impl HookDecision {
    /// Every word.
    pub const ALL: [Self; 5] = [Self::Ask, Self::Block, Self::Deny, Self::Approve, Self::Allow];

    /// The word as it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Block => "block",
            Self::Deny => "deny",
            Self::Approve => "approve",
            Self::Allow => "allow",
        }
    }

    /// The decision behind the word.
    #[must_use]
    pub fn decision(self) -> Decision {
        match self {
            Self::Ask => Decision::Ask,
            Self::Block | Self::Deny => Decision::Deny,
            Self::Approve | Self::Allow => Decision::Allow,
        }
    }

    /// The word with that spelling. Case matters, as in LLxprt Code.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.word() == word)
    }
}

/// The output of one hook, or the merged output of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookOutput {
    /// `false` stops the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#continue: Option<bool>,
    /// Why the agent stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Whether output is hidden from the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// A message for the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<HookDecision>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The members that only this event has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<JsonObject>,
}

/// Whether an operation is blocked, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockingError {
    /// Whether it is.
    pub blocked: bool,
    /// Why.
    pub reason: String,
}

impl HookOutput {
    /// The fields of an output, as they are written.
    pub(super) const FIELDS: [&'static str; 7] =
        ["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"];

    /// Parses an output from JSON. Returns it with the problems found.
    #[must_use]
    pub fn read(object: &JsonObject) -> (Self, Vec<Diagnostic>) {
        let mut output = Self::default();
        let mut problems = Problems::default();
        for (key, value) in object.iter() {
            match key {
                "continue" => output.r#continue = problems.read(key, "true or false", value),
                "stopReason" => output.stop_reason = problems.read(key, "a string", value),
                "suppressOutput" => output.suppress_output = problems.read(key, "true or false", value),
                "systemMessage" => output.system_message = problems.read(key, "a string", value),
                "decision" => output.decision = problems.decision(key, value),
                "reason" => output.reason = problems.read(key, "a string", value),
                "hookSpecificOutput" => output.hook_specific_output = problems.read(key, "an object", value),
                _ => problems.found.extend(problems.unknown.report(&FIELDS, key)),
            }
        }
        // The older spelling is read here, so that merging cannot miss a block in it.
        if let Some(specific) = &mut output.hook_specific_output
            && let Some(word) = specific.get("permissionDecision").cloned()
            && problems.decision("hookSpecificOutput.permissionDecision", &word).is_none()
        {
            specific.remove("permissionDecision");
        }
        (output, problems.found)
    }

    /// The decision, in either spelling. A block in one of them blocks.
    #[must_use]
    pub fn effective_decision(&self) -> Option<HookDecision> {
        let words = [self.decision, self.permission_decision()];
        words.into_iter().flatten().max_by_key(|word| word.decision())
    }

    /// The reason that belongs to the decision.
    #[must_use]
    pub fn effective_reason(&self) -> Option<String> {
        let permission = self.permission_decision().is_some().then(|| self.specific_text("permissionDecisionReason"));
        [permission.flatten(), self.reason.clone()].into_iter().flatten().find(|text| !text.trim().is_empty())
    }

    fn permission_decision(&self) -> Option<HookDecision> {
        self.specific_text("permissionDecision").as_deref().and_then(HookDecision::from_word)
    }

    fn specific_text(&self, key: &str) -> Option<String> {
        self.specific(key).and_then(Json::as_str)
    }

    /// A member of `hookSpecificOutput`.
    #[must_use]
    pub fn specific(&self, key: &str) -> Option<&Json> {
        self.hook_specific_output.as_ref().and_then(|specific| specific.get(key))
    }

    /// Whether this output blocks the operation.
    #[must_use]
    pub fn is_blocking_decision(&self) -> bool {
        self.effective_decision().is_some_and(|word| word.decision() == Decision::Deny)
    }

    /// Whether the agent must stop.
    #[must_use]
    pub fn should_stop_execution(&self) -> bool {
        self.r#continue == Some(false)
    }

    /// Why the operation is blocked or the agent stops; never empty.
    #[must_use]
    pub fn get_effective_reason(&self) -> String {
        let reasons = [self.stop_reason.clone(), self.effective_reason()];
        let found = reasons.into_iter().flatten().find(|text| !text.is_empty());
        found.unwrap_or_else(|| NO_REASON.to_owned())
    }

    /// Text to add for the model, if a hook gave some.
    #[must_use]
    pub fn get_additional_context(&self) -> Option<String> {
        self.specific_text("additionalContext")
    }

    /// Whether the operation is blocked, and why.
    #[must_use]
    pub fn get_blocking_error(&self) -> BlockingError {
        let blocked = self.is_blocking_decision();
        BlockingError { blocked, reason: if blocked { self.get_effective_reason() } else { String::new() } }
    }

    /// Whether the model's context must be cleared. Only the end of the agent's work can ask for that.
    #[must_use]
    pub fn should_clear_context(&self, event: EventKind) -> bool {
        event == EventKind::AgentEnd && self.specific("clearContext").and_then(Json::as_bool) == Some(true)
    }

    /// The output as JSON, in the order the documentation lists its fields.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::of(self).unwrap_or_else(|_| Json::null())
    }
}

/// The fields of an output, and what answers of other agents call them.
pub(super) const FIELDS: AnswerFields<'_> = AnswerFields { known: &HookOutput::FIELDS, foreign: &FOREIGN_FIELDS };

/// What answers of other agents call a field, and where it stands here.
pub(crate) const FOREIGN_FIELDS: [(&str, &str); 9] = [
    ("updatedInput", "hookSpecificOutput.tool_input"),
    ("toolInput", "hookSpecificOutput.tool_input"),
    ("tool_input", "hookSpecificOutput.tool_input"),
    ("modifiedArgs", "hookSpecificOutput.tool_input"),
    ("additionalContext", "hookSpecificOutput.additionalContext"),
    ("permissionDecision", "decision"),
    ("permission", "decision"),
    ("message", "systemMessage"),
    ("block", "decision"),
];

/// Collects the problems of an output.
#[derive(Default)]
struct Problems {
    found: Vec<Diagnostic>,
    unknown: UnknownFields,
}

impl Problems {
    /// A value of the type that its key must have; null is treated as absent.
    fn read<T: DeserializeOwned>(&mut self, key: &str, expected: &str, value: &Json) -> Option<T> {
        let read = value.decode::<Option<T>>();
        if read.is_none() {
            let message = format!("`{key}` must be {expected}, not {}; it was left out", value.kind().described());
            self.found.push(Diagnostic::new(Code::AnswerField, message));
        }
        read.flatten()
    }

    fn decision(&mut self, key: &str, value: &Json) -> Option<HookDecision> {
        let word: String = self.read(key, "a string", value)?;
        let decision = HookDecision::from_word(&word);
        if decision.is_none() {
            let message = format!(
                "`{key}` must be one of `block`, `deny`, `allow`, `approve`, `ask`, not `{word}`; it has no effect"
            );
            let finding = Diagnostic::new(Code::AnswerField, message);
            let meant = meant_decision(&word, &HookDecision::ALL.map(HookDecision::word));
            self.found.push(match meant {
                Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
                None => finding,
            });
        }
        decision
    }
}
