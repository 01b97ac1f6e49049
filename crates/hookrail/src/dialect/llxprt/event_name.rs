//! The names of this dialect's events.

use std::fmt;

use crate::event::EventKind;

/// Declares the names once, each with the neutral event behind it.
macro_rules! event_names {
    ($($(#[doc = $doc:literal])+ $name:ident => $kind:ident,)+) => {
        /// The events of this dialect, by the names its settings and hooks use.
        ///
        /// ```
        /// use hookrail::dialect::llxprt::HookEventName;
        /// use hookrail::EventKind;
        ///
        /// assert_eq!(HookEventName::from_name("BeforeTool"), Some(HookEventName::BeforeTool));
        /// assert_eq!(HookEventName::BeforeAgent.kind(), EventKind::Prompt);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum HookEventName {
            $($(#[doc = $doc])+ $name,)+
        }

        impl HookEventName {
            /// Every event of this dialect.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name as it is written.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// The neutral event.
            #[must_use]
            pub fn kind(self) -> EventKind {
                match self {
                    $(Self::$name => EventKind::$kind,)+
                }
            }
        }
    };
}

event_names! {
    /// Immediately before a tool runs.
    BeforeTool => BeforeTool,
    /// Immediately after a tool has run.
    AfterTool => AfterTool,
    /// Before the user's prompt is processed.
    BeforeAgent => Prompt,
    /// When the agent has finished its answer.
    AfterAgent => AgentEnd,
    /// Before a model is called.
    BeforeModel => BeforeModel,
    /// After a model has answered.
    AfterModel => AfterModel,
    /// Before a request with tool definitions is sent.
    BeforeToolSelection => ToolSelection,
    /// When a session begins.
    SessionStart => SessionStart,
    /// When a session ends.
    SessionEnd => SessionEnd,
    /// Before the conversation is compressed.
    PreCompress => BeforeCompact,
    /// When the user is about to be notified.
    Notification => Notification,
}

impl HookEventName {
    /// The event of that name. Case matters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }

    /// The name of a neutral event in this dialect, if the dialect has it.
    #[must_use]
    pub fn of_kind(kind: EventKind) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.kind() == kind)
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DialectId;

    #[test]
    fn the_names_are_those_of_the_event_table() {
        for kind in EventKind::all() {
            let column = kind.spec().column(DialectId::Llxprt).map(|column| column.name);
            assert_eq!(HookEventName::of_kind(kind).map(HookEventName::name), column, "{kind}");
        }
    }
}
