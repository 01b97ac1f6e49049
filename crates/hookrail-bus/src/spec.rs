//! The one table of messages: every type with its fields. The parser checks lines against it, and the JSON Schemas and
//! the reference page are made from it.

use hookrail::JsonKind;

use crate::watch::WatchMode;

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// One message.
#[derive(Debug)]
#[non_exhaustive]
pub struct MessageSpec {
    /// Its `type`.
    pub name: &'static str,
    /// Who sends it.
    pub from: Side,
    /// What it means, for people.
    pub about: &'static str,
    /// The fields of its `payload`.
    pub fields: &'static [FieldSpec],
}

/// A field of a payload.
#[derive(Debug)]
#[non_exhaustive]
pub struct FieldSpec {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldType,
    /// Whether it must be there. An optional field may also be null.
    pub required: bool,
    /// What it means, for people.
    pub about: &'static str,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// True or false.
    Flag,
    /// A whole number, zero or more.
    Count,
    /// A number of milliseconds.
    Milliseconds,
    /// An object.
    Object,
    /// An object with `code` and `message`.
    Error,
}

impl FieldType {
    /// What it should be, for messages.
    #[must_use]
    pub fn described(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Texts => "a list of strings".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Count => "a whole number".to_owned(),
            Self::Milliseconds => "a number".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::Error => "an object with `code` and `message`".to_owned(),
        }
    }

    /// The kind of JSON value it is.
    pub(crate) fn json(self) -> JsonKind {
        match self {
            Self::Text | Self::Word(_) => JsonKind::String,
            Self::Texts => JsonKind::Array,
            Self::Flag => JsonKind::Boolean,
            Self::Count | Self::Milliseconds => JsonKind::Number,
            Self::Object | Self::Error => JsonKind::Object,
        }
    }
}

const fn must(name: &'static str, kind: FieldType, about: &'static str) -> FieldSpec {
    FieldSpec { name, kind, required: true, about }
}

const fn may(name: &'static str, kind: FieldType, about: &'static str) -> FieldSpec {
    FieldSpec { name, kind, required: false, about }
}

const NAME: FieldSpec = may("correlationId", FieldType::Text, "Names the message; the answer has the same name.");
const PHASES: &[&str] = &["queued", "planned", "hook-started", "hook-ended"];

pub(crate) static REQUEST: MessageSpec = MessageSpec {
    name: "HOOK_EXECUTION_REQUEST",
    from: Side::Client,
    about: "Runs the hooks of an event. There is exactly one `HOOK_EXECUTION_RESPONSE` for it.",
    fields: &[
        may(
            "correlationId",
            FieldType::Text,
            "Names the request. Made up where it is missing or empty; must not be that of a request in flight on this connection.",
        ),
        must("eventName", FieldType::Text, "The event's name in any dialect, or the neutral one."),
        must(
            "input",
            FieldType::Object,
            "The event's own fields, and of the base fields `session_id`, `transcript_path`, `timestamp` and `cwd`. `hook_event_name` is the server's.",
        ),
        may("project", FieldType::Text, "The project's directory. By default the server's own project."),
        may("traceparent", FieldType::Text, "W3C Trace Context; hooks find it in the variable `TRACEPARENT`."),
        may("tracestate", FieldType::Text, "W3C Trace Context; hooks find it in the variable `TRACESTATE`."),
        may(
            "wait",
            FieldType::Word(&["answers", "all"]),
            "`answers` (the default): the hooks whose answers count. `all`: also those no host has to wait for, and the reason for every hook that did not run.",
        ),
    ],
};

pub(crate) static HELLO: MessageSpec = MessageSpec {
    name: "hello",
    from: Side::Client,
    about: "Agrees on a protocol. A client that never says hello gets protocol 1.",
    fields: &[
        NAME,
        must(
            "protocol",
            FieldType::Count,
            "The major version the client speaks. A higher one than the server's is refused.",
        ),
        may("client", FieldType::Text, "Who the client is, for logs."),
    ],
};

pub(crate) static CANCEL: MessageSpec = MessageSpec {
    name: "cancel",
    from: Side::Client,
    about: "Ends a request and its hooks. The request still gets its one response, with the code `cancelled`.",
    fields: &[must("correlationId", FieldType::Text, "The request's name.")],
};

pub(crate) static NOTIFY: MessageSpec = MessageSpec {
    name: "notify",
    from: Side::Client,
    about: "Asks to be told what happens to this client's requests, or not to be told any more.",
    fields: &[must("lifecycle", FieldType::Flag, "Whether to tell.")],
};

pub(crate) static PING: MessageSpec = MessageSpec {
    name: "ping",
    from: Side::Client,
    about: "Asks for a sign of life. It is answered while requests run.",
    fields: &[NAME],
};

pub(crate) static RELOAD: MessageSpec = MessageSpec {
    name: "reload",
    from: Side::Client,
    about: "Reads all configuration again, and accepts the removal of sources whose last good version was kept. The same as SIGHUP to a server on a socket.",
    fields: &[NAME],
};

pub(crate) static RESPONSE: MessageSpec = MessageSpec {
    name: "HOOK_EXECUTION_RESPONSE",
    from: Side::Server,
    about: "What came of a request, or of a line that could not be served.",
    fields: &[
        must("correlationId", FieldType::Text, "The request's name."),
        must(
            "success",
            FieldType::Flag,
            "Whether the request was executed. It says nothing about what the hooks decided.",
        ),
        may("output", FieldType::Object, "`AggregatedHookResult` of seeds/000, when the request was executed."),
        may("error", FieldType::Error, "Why the request was not executed."),
        may(
            "outcome",
            FieldType::Object,
            "The whole outcome, as `hookrail fire --json` prints it, when the request was executed. Of a run's `stdout` and `stderr` the first 64 KiB are kept; where that was cut, the run has `stdoutTruncated` or `stderrTruncated`, which are true.",
        ),
        may(
            "truncated",
            FieldType::Flag,
            "Whether texts in `output` and `outcome` were cut. In an answer that would otherwise not fit on a line these are reasons, messages, diagnostics and the outputs of single hooks; in a denial, everything but the decision and its reason. What changes an operation that may go on is never cut: such an answer has the error `answer_too_long` instead.",
        ),
        may(
            "queueMs",
            FieldType::Milliseconds,
            "How long the request waited for its turn. This never counts against a hook's timeout.",
        ),
        may("durationMs", FieldType::Milliseconds, "How long its hooks took, all together."),
    ],
};

pub(crate) static WELCOME: MessageSpec = MessageSpec {
    name: "hello",
    from: Side::Server,
    about: "The answer to `hello`.",
    fields: &[
        NAME,
        must("protocol", FieldType::Count, "The major version both speak."),
        must("server", FieldType::Text, "The server and its version."),
        must("capabilities", FieldType::Texts, "What the server can do beyond requests and responses."),
        must("lineLimit", FieldType::Count, "How many bytes a line may have, in both directions."),
        must(
            "inFlightLimit",
            FieldType::Count,
            "How many messages of a connection may wait for their answer. A server that has them stops reading.",
        ),
        may(
            "watch",
            FieldType::Word(WatchMode::NAMES),
            "How changes of configuration are noticed: `events` of the operating system, `polling` once a second because it offers none, or `off`.",
        ),
        may(
            "revision",
            FieldType::Count,
            "How often the configuration of the server's own project was put in force; missing before it is loaded.",
        ),
        may("configurationAgeMs", FieldType::Milliseconds, "How long ago that was."),
        may(
            "kept",
            FieldType::Texts,
            "Its sources that are broken, empty or gone, of which the last good version is in force.",
        ),
        may(
            "systemUnusable",
            FieldType::Flag,
            "Whether every gating event is denied because a source of the system layer cannot be used.",
        ),
    ],
};

pub(crate) static RELOADED: MessageSpec = MessageSpec {
    name: "reload",
    from: Side::Server,
    about: "The answer to `reload`.",
    fields: &[
        NAME,
        must("success", FieldType::Flag, "Whether everything is now in force as it is written."),
        must("projects", FieldType::Count, "How many projects are open; the configuration of each was read."),
        may("revision", FieldType::Count, "The revision of the configuration of the server's own project."),
        must("kept", FieldType::Texts, "Sources that cannot be used and whose last good version is in force."),
        must("problems", FieldType::Texts, "What cannot be used, in words."),
    ],
};

pub(crate) static CANCELLED: MessageSpec = MessageSpec {
    name: "cancel",
    from: Side::Server,
    about: "The answer to `cancel`.",
    fields: &[
        must("correlationId", FieldType::Text, "The request's name."),
        must("found", FieldType::Flag, "Whether a request of that name was in flight."),
    ],
};

pub(crate) static LIFECYCLE: MessageSpec = MessageSpec {
    name: "notify",
    from: Side::Server,
    about: "Something happened to a request. It is told as far as there is room, and never holds up an answer.",
    fields: &[
        must("correlationId", FieldType::Text, "The request's name."),
        must("phase", FieldType::Word(PHASES), "What happened."),
        may("hook", FieldType::Text, "The hook, for what happens to one."),
        may("hooks", FieldType::Count, "How many hooks will run."),
        may("durationMs", FieldType::Milliseconds, "How long the hook took."),
    ],
};

pub(crate) static PONG: MessageSpec =
    MessageSpec { name: "pong", from: Side::Server, about: "The answer to `ping`.", fields: &[NAME] };

/// Every message.
pub static MESSAGES: &[&MessageSpec] = &[
    &REQUEST, &HELLO, &CANCEL, &NOTIFY, &PING, &RELOAD, &RESPONSE, &WELCOME, &CANCELLED, &LIFECYCLE, &PONG, &RELOADED,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Phase;

    #[test]
    fn the_words_of_a_phase_are_its_names() {
        assert_eq!(Phase::ALL.map(Phase::name), PHASES);
    }
}
