//! The merged output of an event, with the questions that the documentation of this dialect lists for it.

use std::ops::Deref;

use crate::dialect::command_hooks::HookOutput;
use crate::json::{Json, JsonObject};
use crate::payload::answered_response;

/// The merged output of any event.
pub type DefaultHookOutput = HookOutput;

/// The merged output of BeforeTool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeToolHookOutput(pub HookOutput);

impl BeforeToolHookOutput {
    /// The tool input a hook gave, when it is an object.
    #[must_use]
    pub fn get_modified_tool_input(&self) -> Option<JsonObject> {
        self.0.specific("tool_input").and_then(Json::as_object)
    }
}

/// The merged output of BeforeModel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeModelHookOutput(pub HookOutput);

impl BeforeModelHookOutput {
    /// The response that is used in place of the model's, with `text` and `candidates` that agree.
    #[must_use]
    pub fn get_synthetic_response(&self) -> Option<Json> {
        answered_response(self.0.specific("llm_response")?)
    }

    /// The request with the changes a hook asked for.
    #[must_use]
    pub fn apply_llm_request_modifications(&self, target: &Json) -> Json {
        match self.0.specific("llm_request") {
            Some(answer) => {
                super::model::request_change(target, answer).apply(target).unwrap_or_else(|| target.clone())
            }
            None => target.clone(),
        }
    }
}

/// The merged output of BeforeToolSelection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeToolSelectionHookOutput(pub HookOutput);

impl BeforeToolSelectionHookOutput {
    /// The request with the tool configuration a hook asked for; its list of tools stays as it is.
    #[must_use]
    pub fn apply_tool_config_modifications(&self, target: &Json) -> Json {
        match (target.as_object(), self.0.specific("toolConfig")) {
            (Some(mut request), Some(config)) => {
                request.set("toolConfig", config.clone());
                request.to_json()
            }
            _ => target.clone(),
        }
    }
}

/// The merged output of AfterModel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterModelHookOutput(pub HookOutput);

impl AfterModelHookOutput {
    /// The response that replaces the model's, with `text` and `candidates` that agree.
    #[must_use]
    pub fn get_modified_response(&self) -> Option<Json> {
        answered_response(self.0.specific("llm_response")?)
    }
}

/// Gives the specific outputs everything that the output of any event has.
macro_rules! extends_hook_output {
    ($($output:ident)+) => {
        $(impl Deref for $output {
            type Target = HookOutput;

            fn deref(&self) -> &HookOutput {
                &self.0
            }
        })+
    };
}

extends_hook_output!(BeforeToolHookOutput BeforeModelHookOutput BeforeToolSelectionHookOutput AfterModelHookOutput);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::command_hooks::HookDecision;

    #[test]
    fn every_specific_output_answers_what_any_output_does() {
        let denied = HookOutput {
            decision: Some(HookDecision::Deny),
            reason: Some("no".to_owned()),
            r#continue: Some(false),
            ..HookOutput::default()
        };
        let outputs: [&HookOutput; 4] = [
            &BeforeToolHookOutput(denied.clone()),
            &BeforeModelHookOutput(denied.clone()),
            &BeforeToolSelectionHookOutput(denied.clone()),
            &AfterModelHookOutput(denied),
        ];
        for output in outputs {
            assert!(output.is_blocking_decision() && output.should_stop_execution());
            assert_eq!(output.get_effective_reason(), "no");
            assert_eq!(output.get_additional_context(), None);
            assert!(output.get_blocking_error().blocked);
        }
        assert!(!BeforeToolHookOutput(HookOutput::default()).is_blocking_decision());
    }
}
