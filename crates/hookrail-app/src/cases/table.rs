//! The keys of a case file: one table for the reader, the JSON Schema and the page of the reference.

use hookrail::sources::one_of;

/// The values that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    /// One text or a list of texts.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A word for every hook that ran, or a list with one for each.
    Words(&'static [&'static str]),
    /// A whole number.
    Count,
    /// A time in milliseconds.
    Milliseconds,
    /// A number for every hook that ran, or a list with one for each.
    Counts,
    Flag,
    /// `true`, or a name.
    FlagOrText,
    /// A table with any members.
    Table,
    /// A table with any members, or the text of a JSON object.
    Payload,
    /// A table with any members, or `false`.
    TableOrFalse,
    /// A table of texts.
    TextTable,
    /// A table of whole numbers.
    CountTable,
    /// The table of expectations.
    Expectations,
}

impl ValueKind {
    /// Returns what the value must be, for messages and the reference.
    pub(super) fn expected(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Texts => "text, or a list of texts".to_owned(),
            Self::Word(words) => one_of(words),
            Self::Words(words) => format!("{}, or a list of these", one_of(words)),
            Self::Count | Self::Milliseconds => "a whole number".to_owned(),
            Self::Counts => "a whole number, or a list of them".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::FlagOrText => "true, or text".to_owned(),
            Self::Table | Self::Expectations => "a table".to_owned(),
            Self::Payload => "a table, or text with a JSON object".to_owned(),
            Self::TableOrFalse => "a table, or false".to_owned(),
            Self::TextTable => "a table of texts".to_owned(),
            Self::CountTable => "a table of whole numbers".to_owned(),
        }
    }

    /// Returns a value as it is written in a case file, for hints.
    pub(super) fn example(self) -> String {
        match self {
            Self::Text | Self::Texts => "\"…\"".to_owned(),
            Self::Word(words) | Self::Words(words) => {
                words.first().map(|word| format!("\"{word}\"")).unwrap_or_default()
            }
            Self::Count | Self::Counts => "1".to_owned(),
            Self::Milliseconds => "5000".to_owned(),
            Self::Flag | Self::FlagOrText => "true".to_owned(),
            Self::Table | Self::Payload | Self::TableOrFalse => "{ name = \"…\" }".to_owned(),
            Self::Expectations => "{ decision = \"deny\" }".to_owned(),
            Self::TextTable => "{ \"…\" = \"…\" }".to_owned(),
            Self::CountTable => "{ \"…\" = 1 }".to_owned(),
        }
    }
}

/// One key.
#[derive(Debug)]
pub(super) struct KeyRow {
    pub(super) name: &'static str,
    pub(super) kind: ValueKind,
    pub(super) meaning: &'static str,
}

const fn key(name: &'static str, kind: ValueKind, meaning: &'static str) -> KeyRow {
    KeyRow { name, kind, meaning }
}

/// What hooks can decide, and `none` for no decision.
pub(super) const DECISIONS: &[&str] = &["allow", "ask", "deny", "none"];

/// How a hook can end.
pub(super) const ENDS: &[&str] = &[
    "answered",
    "silent",
    "timed-out",
    "signalled",
    "exited",
    "spawn-failed",
    "bad-output",
    "output-limit",
    "cancelled",
    "threw",
    "limit",
    "unusable",
    "not-connected",
    "no-responders",
    "overloaded",
    "refused",
    "detached",
];

/// The dialects that a case can be limited to.
pub(super) const DIALECTS: &[&str] = &["llxprt", "xcode", "xcsh"];

/// The keys of a case file.
pub(super) const FILE_KEYS: &[KeyRow] = &[
    key("$schema", ValueKind::Text, "The schema of the file, for editors. It has no effect."),
    key(
        "defaults",
        ValueKind::Table,
        "Keys that hold for every case of the file. A case's own key wins; of `env`, `files`, `links`, `programs` and `copy` the entries are joined.",
    ),
    key("case", ValueKind::Table, "The cases, each a table. At least one."),
];

/// The keys of a case.
pub(super) const CASE_KEYS: &[KeyRow] = &[
    key("name", ValueKind::Text, "What the case is called. Unique in its file, and required."),
    key(
        "hook",
        ValueKind::Text,
        "The hook to test: its name, or the path of its script, module or plugin folder, from the case file or from the project. A file that no configuration names is run alone. Without this key all hooks of the project's configuration take part.",
    ),
    key(
        "settings",
        ValueKind::Text,
        "A settings file that takes the place of all configuration of the project, from the case file or from the project.",
    ),
    key("event", ValueKind::Text, "The event to fire, by its name in any dialect. Required, unless `stdin` names it."),
    key("payload", ValueKind::Payload, "The event's own fields."),
    key(
        "stdin",
        ValueKind::Payload,
        "The event exactly as a hook of any dialect receives it on standard input. Takes the place of `payload`.",
    ),
    key("tool", ValueKind::Text, "The tool's name, which is `tool_name` of the payload."),
    key("tool_input", ValueKind::Table, "The tool's arguments."),
    key("tool_response", ValueKind::Table, "The tool's result: `llmContent`, `returnDisplay`, `error`."),
    key("prompt", ValueKind::Text, "The user's prompt."),
    key("session_id", ValueKind::Text, "The session's ID."),
    key("dialect", ValueKind::Word(DIALECTS), "Let only hooks of this dialect take part."),
    key(
        "agent",
        ValueKind::Text,
        "The agent whose names tools have in this event, as `hookrail bridge` declares them.",
    ),
    key("env", ValueKind::TextTable, "Variables of the hooks' environment."),
    key(
        "inherit_env",
        ValueKind::Texts,
        "Variables that hooks inherit from the environment of `hookrail test`. All but `PATH` are left out otherwise.",
    ),
    key("files", ValueKind::TextTable, "Files of the case's own project, by their path, with their content."),
    key("links", ValueKind::TextTable, "Symbolic links of the case's own project, by their path, with their target."),
    key(
        "programs",
        ValueKind::TextTable,
        "Programs that stand first in the search path, by their name, with their text.",
    ),
    key(
        "copy",
        ValueKind::TextTable,
        "Files and folders to copy, by their path in the case's own project, from the case file or from the project.",
    ),
    key("needs", ValueKind::Texts, "Programs without which the case is skipped."),
    key("repeat", ValueKind::Count, "How often the event is fired before it counts."),
    key("skip", ValueKind::Text, "Why the case is not run at the moment."),
    key("expect", ValueKind::Expectations, "What must happen. Required, with at least one key."),
];

/// The keys of a case's expectations.
pub(super) const EXPECT_KEYS: &[KeyRow] = &[
    key("decision", ValueKind::Word(DECISIONS), "What the hooks decide; `none` if no hook has an opinion."),
    key("reason", ValueKind::Text, "The reason of the decision, as a whole."),
    key("reason_contains", ValueKind::Texts, "What the reason contains."),
    key("silent", ValueKind::Flag, "Whether the outcome decides, changes and says nothing."),
    key("stop", ValueKind::Flag, "Whether the agent must stop."),
    key("stop_reason_contains", ValueKind::Texts, "What the reason of the stop contains."),
    key(
        "rewrite",
        ValueKind::TableOrFalse,
        "The whole tool input after the hooks rewrote it; `false` if they must not.",
    ),
    key("context", ValueKind::Text, "The text that is added for the model, as a whole."),
    key("context_contains", ValueKind::Texts, "What the text for the model contains."),
    key("message_contains", ValueKind::Texts, "What the message for the user contains."),
    key(
        "outcome",
        ValueKind::Table,
        "Members of the outcome that `hookrail fire --json` prints. Tables may have more members than are written here.",
    ),
    key("runs", ValueKind::Count, "How many hooks ran."),
    key("ends", ValueKind::Words(ENDS), "How each hook ended, in the order of the plan."),
    key("exit", ValueKind::Counts, "The exit status of each hook, in the order of the plan."),
    key("stdout_contains", ValueKind::Texts, "What the hooks write to standard output."),
    key("stderr_contains", ValueKind::Texts, "What the hooks write to standard error."),
    key("max_ms", ValueKind::Milliseconds, "The longest time that the event may take, in milliseconds."),
    key(
        "diagnostics",
        ValueKind::Texts,
        "The codes of all warnings and errors about the hooks; `any` if they do not matter, except `unreadable-answer`, which must be named. By default there must be none.",
    ),
    key("commands", ValueKind::Texts, "Slash commands that modules offer."),
    key("files_contain", ValueKind::TextTable, "What files contain afterwards, by their path."),
    key("files_absent", ValueKind::Texts, "Files that are not there afterwards."),
    key("file_count", ValueKind::CountTable, "How many files are below a folder afterwards, by its path."),
    key(
        "snapshot",
        ValueKind::FlagOrText,
        "Compare the whole outcome with the one that `hookrail test --accept` stored, under the case's name or the given one.",
    ),
];

/// The keys whose entries are joined with those of `defaults`.
pub(super) const JOINED_KEYS: &[&str] = &["env", "files", "links", "programs", "copy"];

/// The keys that `defaults` cannot have.
pub(super) const OWN_KEYS: &[&str] = &["name", "expect"];

#[cfg(test)]
mod tests {
    use super::*;
    use hookrail::{DialectId, EndKind};

    #[test]
    fn the_words_are_those_of_the_engine() {
        for dialect in DIALECTS {
            assert!(DialectId::from_name(dialect).is_some(), "{dialect}");
        }
        for end in [EndKind::Answered, EndKind::TimedOut, EndKind::BadOutput, EndKind::Unusable, EndKind::Detached] {
            assert!(ENDS.contains(&end.name()), "{}", end.name());
        }
    }
}
