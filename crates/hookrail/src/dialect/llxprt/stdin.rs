//! The JSON object a hook receives on standard input.

use super::input::AnyHookInput;
use crate::dialect::Reply;
use crate::dialect::command_hooks::Answer;
use crate::event::Event;
use crate::json::ObjectWriter;
use crate::payload::list;
use crate::run::RunInput;

/// The bytes for one hook. The links of a chain also see the answers so far.
pub(super) fn input(event: &Event, before: &[Reply<Answer>]) -> RunInput {
    let mut payload = ObjectWriter::new();
    if let Some(input) = AnyHookInput::of_event(event) {
        input.write(&mut payload);
        if !before.is_empty() {
            let outputs = before.iter().filter_map(|reply| reply.answer.as_ref()).map(Answer::to_json);
            payload.value("previous_outputs", list(outputs));
        }
    }
    payload.finish().into()
}
