//! The question to the user whether a tool may run. Hooks are told of it first, and can answer it.

use super::Guard;
use super::approval::Operation;
use super::tool::{ToolCall, ToolResult};
use crate::event::EventKind;
use crate::outcome::{Asker, Decision, Outcome, join};

impl Guard {
    /// Returns why a call must not happen whose `before-tool` has this outcome. If that requires approval, hooks of
    /// `permission-request` are asked first: they can deny the call, change it, or answer in the place of the user, unless a
    /// guard or a rule asks. A change is judged as every call is.
    pub(super) async fn refusal_of_call(
        &self,
        call: &ToolCall,
        mut before: Outcome,
        result: &mut ToolResult,
    ) -> Option<String> {
        let what = Operation::named(&call.tool);
        if before.effects.decision != Some(Decision::Ask) {
            return self.refusal_reason(what, &result.input, &before).await;
        }
        let asked = self.fire(self.tool_event(EventKind::PermissionRequest, call, &result.input)).await;
        result.add(&asked);
        if asked.is_denied() {
            return self.refusal_reason(what, &result.input, &asked).await;
        }
        if let Some(stop) = &asked.effects.stop {
            return Some(stop.reason.clone());
        }
        let mut asker = before.asked_by().max(asked.asked_by());
        if asked.effects.decision == Some(Decision::Ask) {
            join(&mut before.effects.reason, asked.effects.reason.clone(), "\n");
        }
        if let Some(input) = asked.effects.tool_input.clone() {
            let again = self.fire(self.tool_event(EventKind::BeforeTool, call, &input)).await;
            result.add(&again);
            result.input = input;
            if again.effects.tool_input.is_some() {
                return Some("a hook wants to change an input that was changed after it had answered".to_owned());
            }
            asker = asker.max(again.asked_by());
            if again.effects.decision > Some(Decision::Allow) {
                before = again;
            }
        }
        let is_answered = asked.effects.decision == Some(Decision::Allow) && asker != Some(Asker::Guard);
        if is_answered && !before.is_denied() {
            return None;
        }
        self.refusal_reason(what, &result.input, &before).await
    }
}
