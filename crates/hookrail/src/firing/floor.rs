//! The system layer as a floor: what it said stands, its rewrites come last, and it is asked once more when the
//! input changed after it had answered.

use crate::event::EventKind;

/// The field a guard judges, in events where one can be rewritten after the guard has answered.
pub(super) fn guarded_field(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::BeforeTool => Some("tool_input"),
        EventKind::BeforeModel => Some("llm_request"),
        EventKind::Prompt => Some("prompt"),
        _ => None,
    }
}
