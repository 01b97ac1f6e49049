//! The system layer as a floor: what it said stands, its rewrites come last, and it is asked once more when the
//! input changed after it had answered. Other guards are asked once more when less authoritative hooks changed it.

use crate::event::EventKind;

/// The arguments of a tool call.
pub(super) const TOOL_INPUT: &str = "tool_input";

/// The field that hooks are asked about, where there is one.
pub(super) fn judged_field(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::BeforeTool => Some(TOOL_INPUT),
        EventKind::BeforeModel => Some("llm_request"),
        EventKind::AfterModel => Some("llm_response"),
        EventKind::Prompt => Some("prompt"),
        _ => None,
    }
}

/// The field whose rewrites by the system layer come last. A prompt is not rewritten: hooks add context to it, and what
/// one adds takes nothing away from another.
pub(super) fn rewritten_field(kind: EventKind) -> Option<&'static str> {
    judged_field(kind).filter(|_| kind != EventKind::Prompt)
}

/// The field about which a guard is asked once more when others changed it: only where it can still say no.
pub(super) fn guarded_field(kind: EventKind) -> Option<&'static str> {
    judged_field(kind).filter(|_| kind.spec().is_gating())
}
