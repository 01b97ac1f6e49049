//! The events of this dialect: two are enough to have one that can be denied and one that cannot.

use std::time::Duration;

use crate::dialect::columns::columns;
use crate::event::{Abilities, DialectEvent};

const BASE: DialectEvent = DialectEvent {
    matched_on: Some("tool_name"),
    can: Abilities::ADD_CONTEXT,
    timeout: Duration::from_secs(10),
    ..DialectEvent::PARALLEL
};

columns! {
    BeforeTool => BASE {
        name: "tool/ask",
        fields: [tool_name, tool_input],
        can: Abilities::DENY.union(Abilities::ADD_CONTEXT),
        gates: true,
    }
    AfterTool => BASE { name: "tool/told", fields: [tool_name, tool_response] }
}
