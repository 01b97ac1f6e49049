//! Records, as a reader gets them back.

use hookrail::Json;
use serde::Deserialize;

macro_rules! kinds {
    ($($(#[$detail:meta])* $value:ident = $name:literal,)+) => {
        /// What a record is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum RecordKind { $($(#[$detail])* $value,)+
            /// A kind that a later version writes.
            #[serde(other)]
            Other,
        }

        impl RecordKind {
            /// The name used in records.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ Self::Other => "other" }
            }
        }
    };
}

kinds! {
    /// An event and its outcome.
    Fired = "fired",
    /// A hook that ended after the outcome of its event had been handed out.
    Late = "late",
    /// The user's answer to a question that hooks had raised.
    Answered = "answered",
    /// What the host was told about an event in the place of what was recorded, or without asking hooks.
    Corrected = "corrected",
    /// Something that an agent could not be made to do.
    Lost = "lost",
    /// Trust that was granted or revoked.
    Trust = "trust",
}

/// One record of a journal. Members that a kind of record does not have are empty.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// Its number in the chain.
    pub seq: u64,
    /// The hash of the record before it.
    pub prev: String,
    /// Its own hash.
    pub hash: String,
    /// When it happened, in UTC, such as `2026-11-16T03:00:00.123Z`. Texts of this form are ordered as times are, as far as
    /// the clock could be believed; the order of records is that of `seq`.
    #[serde(default)]
    pub at: String,
    /// What it is about.
    pub kind: RecordKind,
    /// The machine that wrote it.
    #[serde(default)]
    pub machine: String,
    /// The number of the user that wrote it.
    #[serde(default)]
    pub user: String,
    /// The program that fired the event.
    #[serde(default)]
    pub host: Option<RecordedHost>,
    /// The project's directory.
    #[serde(default)]
    pub project: String,
    /// The name under which the records of one event refer to it.
    #[serde(default)]
    pub fire: String,
    /// The session.
    #[serde(default)]
    pub session: String,
    /// The neutral name of the event.
    #[serde(default)]
    pub event: String,
    /// The tool, if the event is about one.
    #[serde(default)]
    pub tool: Option<String>,
    /// The working directory of the event.
    #[serde(default)]
    pub cwd: String,
    /// The path of the session's transcript.
    #[serde(default)]
    pub transcript: String,
    /// The W3C trace context.
    #[serde(default)]
    pub trace: Option<String>,
    /// The digest of the configuration in force.
    #[serde(default)]
    pub config: String,
    /// What was decided: `allow`, `ask` or `deny`.
    #[serde(default)]
    pub decision: Option<String>,
    /// Whether a hook stopped the agent.
    #[serde(default)]
    pub stop: bool,
    /// The event's own fields, as they were fired; what was removed is `{"redacted": HASH, "bytes": N}`.
    #[serde(default)]
    pub input: Option<Json>,
    /// The number of values that were removed from the input. An event with any cannot be fired again as it was.
    #[serde(default)]
    pub redacted: u64,
    /// The outcome, as `hookrail fire --json` prints it.
    #[serde(default)]
    pub outcome: Option<Json>,
    /// The number of values that were removed from the outcome.
    #[serde(default, rename = "outcomeRedacted")]
    pub outcome_redacted: u64,
    /// The hooks that ran, in plan order.
    #[serde(default)]
    pub hooks: Vec<RecordedRun>,
    /// The shadow hooks that had answered when the outcome was made.
    #[serde(default)]
    pub shadow: Vec<RecordedRun>,
    /// The time from firing to the outcome, in milliseconds.
    #[serde(default)]
    pub ms: f64,
    /// Why a hook was late: `detached` or `shadow`.
    #[serde(default)]
    pub why: Option<String>,
    /// The reason of a question, of a late hook or of a correction.
    #[serde(default)]
    pub reason: Option<String>,
    /// What the user was asked about.
    #[serde(default)]
    pub operation: Option<String>,
    /// What the user answered: `granted`, `refused` or `unavailable`.
    #[serde(default)]
    pub answer: Option<String>,
    /// Why the user refused.
    #[serde(default)]
    pub because: Option<String>,
    /// The name of a loss.
    #[serde(default)]
    pub loss: Option<String>,
    /// What took the place of what was lost.
    #[serde(default)]
    pub instead: Option<String>,
    /// How trust changed: `granted` or `revoked`.
    #[serde(default)]
    pub change: Option<String>,
    /// The hook whose trust changed; none if the whole project is meant.
    #[serde(default)]
    pub hook: Option<String>,
    /// The digest of what was trusted.
    #[serde(default)]
    pub content: Option<String>,
    /// The line itself, without its end.
    #[serde(skip)]
    pub line: String,
}

/// The program that fired an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct RecordedHost {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
}

/// A run of a hook, as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RecordedRun {
    /// Which hook it is, over edits of its file.
    pub id: String,
    /// What people call it.
    pub hook: String,
    /// Its dialect.
    pub dialect: String,
    /// Its layer: `system`, `user` or `project`.
    pub layer: String,
    /// Which version of the hook it is.
    pub fingerprint: String,
    /// How it ended.
    pub end: String,
    /// The exit status, when it exited.
    pub exit: Option<i64>,
    /// Whether it did its work.
    pub health: RecordedHealth,
    /// What it decided, or what its failure policy made of it.
    pub decision: Option<String>,
    /// What it asked for beside its decision, if it has no effect: `stop`, `rewrite`, `context`.
    pub asked: Vec<String>,
    /// When it was started, in milliseconds from the moment at which the event was fired.
    pub start: Option<f64>,
    /// How long it took, in milliseconds.
    pub ms: f64,
}

/// Whether a hook did its work, as it was recorded. A hook that answers with an exit status is well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecordedHealth {
    /// It answered, or had nothing to say. This is not written.
    #[default]
    Well,
    /// It failed; its decision is that of its failure policy.
    Failed,
    /// What a later version writes.
    #[serde(other)]
    Other,
}

impl Record {
    /// The record of a line, which is given without its end.
    ///
    /// # Errors
    /// If the line is no record.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let mut record: Self = serde_json::from_str(line)?;
        line.clone_into(&mut record.line);
        Ok(record)
    }

    /// Whether the event can be fired again as it was: its input is there, and nothing was removed from it.
    #[must_use]
    pub fn is_replayable(&self) -> bool {
        self.kind == RecordKind::Fired && self.input.is_some() && self.redacted == 0
    }

    /// Whether something was removed from a part of the outcome, given as the record has it. The mark alone says nothing: a
    /// hook may have written it.
    #[must_use]
    pub fn is_removed_from(&self, part: &Json) -> bool {
        let has = |mark: &str| part.text().contains(mark);
        self.outcome_redacted > 0 && (has("{\"redacted\":") || has("[redacted "))
    }
}
