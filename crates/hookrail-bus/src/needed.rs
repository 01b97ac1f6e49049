//! The fields without which a request for an event means nothing.
//!
//! The engine's table says which fields a dialect hands to its hooks, and fills in what is missing. That is not enough
//! here: a guard that is asked about a tool without a name would match nothing and let it pass. When the engine's table
//! has these two columns, [`fields`] returns them and [`NEEDED`] goes.

use hookrail::EventKind;

/// A field that a request must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeededField {
    pub(crate) name: &'static str,
    pub(crate) may_be_empty: bool,
}

/// The fields that a request for this event must have, if the dialect whose name for the event is used knows them.
pub(crate) fn fields(kind: EventKind) -> impl Iterator<Item = NeededField> {
    NEEDED.iter().filter(move |(needing, _)| *needing == kind).flat_map(|(_, fields)| fields.iter().copied())
}

const fn any(name: &'static str) -> NeededField {
    NeededField { name, may_be_empty: true }
}

const fn filled(name: &'static str) -> NeededField {
    NeededField { name, may_be_empty: false }
}

const NEEDED: &[(EventKind, &[NeededField])] = &[
    (EventKind::BeforeTool, &[filled("tool_name"), any("tool_input")]),
    (EventKind::AfterTool, &[filled("tool_name"), any("tool_input"), any("tool_response")]),
    (EventKind::Prompt, &[any("prompt")]),
    (EventKind::AgentEnd, &[any("prompt"), any("prompt_response"), any("stop_hook_active")]),
    (EventKind::BeforeModel, &[any("llm_request")]),
    (EventKind::AfterModel, &[any("llm_request"), any("llm_response")]),
    (EventKind::ToolSelection, &[any("llm_request")]),
    (EventKind::Notification, &[any("notification_type"), filled("message"), any("details")]),
];

#[cfg(test)]
mod tests {
    use hookrail::DialectId;

    use super::*;

    #[test]
    fn every_needed_field_is_one_that_a_dialect_relies_on() {
        for (kind, fields) in NEEDED {
            let columns = DialectId::CONFIGURED.into_iter().filter_map(|dialect| kind.spec().column(dialect));
            let known: Vec<_> = columns.flat_map(|column| column.fields).collect();
            for field in *fields {
                assert!(known.iter().any(|known| known.name == field.name && known.required), "{kind}: {field:?}");
            }
        }
    }
}
