//! The form of a record: the one definition of its members. A record is made from an entry and written, and read from a line.
//!
//! How records are chained and what is removed from them is not known here.

use std::borrow::Cow;

use hookrail::{EventKind, Json};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

macro_rules! kinds {
    ($($(#[$detail:meta])* $value:ident = $name:literal,)+) => {
        /// What a record is about.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum RecordKind { $($(#[$detail])* $value,)+
            /// A kind that a later version writes.
            #[default]
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

/// One record. Its members are written in this order; those that a kind of record does not have are missing or empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Record<'r> {
    /// Its number in the chain. This member and the next two are given to it when it is appended.
    #[serde(skip_serializing)]
    pub seq: u64,
    /// The hash of the record before it.
    #[serde(skip_serializing)]
    pub prev: String,
    /// Its own hash.
    #[serde(skip_serializing)]
    pub hash: String,
    /// The version of the form.
    #[serde(default)]
    pub v: u32,
    /// When it happened, in UTC, such as `2026-11-16T03:00:00.123Z`. Texts of this form are ordered as times are, as far as
    /// the clock could be believed; the order of records is that of `seq`.
    #[serde(default)]
    pub at: String,
    /// What it is about.
    pub kind: RecordKind,
    /// The machine that wrote it.
    #[serde(default)]
    pub machine: Cow<'r, str>,
    /// The number of the user that wrote it.
    #[serde(default)]
    pub user: Cow<'r, str>,
    /// The program that fired the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<RecordedHost<'r>>,
    /// The project's directory.
    #[serde(default)]
    pub project: Cow<'r, str>,
    /// How trust changed: `granted` or `revoked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Cow<'r, str>>,
    /// The hook whose trust changed; none if the whole project is meant.
    #[serde(default, skip_serializing_if = "is_missing")]
    pub hook: Option<Cow<'r, str>>,
    /// The name under which the records of one event refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire: Option<Cow<'r, str>>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Cow<'r, str>>,
    /// The neutral name of the event.
    #[serde(default, skip_serializing_if = "is_missing")]
    pub event: Option<Cow<'r, str>>,
    /// The digest of what was trusted.
    #[serde(default, skip_serializing_if = "is_missing")]
    pub content: Option<Cow<'r, str>>,
    /// The tool, if the event is about one.
    #[serde(default, skip_serializing_if = "is_missing")]
    pub tool: Option<Cow<'r, str>>,
    /// The working directory of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Cow<'r, str>>,
    /// The path of the session's transcript.
    #[serde(default, skip_serializing_if = "is_missing")]
    pub transcript: Option<Cow<'r, str>>,
    /// The W3C trace context.
    #[serde(default, skip_serializing_if = "is_missing")]
    pub trace: Option<Cow<'r, str>>,
    /// The digest of the configuration in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Why a hook was late: `detached` or `shadow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Cow<'r, str>>,
    /// What the user was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Cow<'r, str>>,
    /// What the user answered: `granted`, `refused` or `unavailable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Cow<'r, str>>,
    /// Why the user refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Cow<'r, str>>,
    /// What was decided: `allow`, `ask` or `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Cow<'r, str>>,
    /// Whether a hook stopped the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// The name of a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Cow<'r, str>>,
    /// What took the place of what was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Cow<'r, str>>,
    /// The reason of a question, of a late hook or of a correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'r, str>>,
    /// The event's own fields, as they were fired; what was removed is `{"redacted": HASH, "bytes": N}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The number of values that were removed from the input. An event with any cannot be fired again as it was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// The outcome, as `hookrail fire --json` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Json>,
    /// The number of values that were removed from the outcome.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outcome_redacted: u64,
    /// The hooks that ran, in plan order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Vec<RecordedRun<'r>>>,
    /// The shadow hooks that had answered when the outcome was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadow: Vec<RecordedRun<'r>>,
    /// The time from firing to the outcome, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "write_milliseconds")]
    pub ms: Option<f64>,
    /// The line that it was read from, without its end.
    #[serde(skip)]
    pub line: String,
}

/// The program that fired an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedHost<'r> {
    /// Its name.
    pub name: Cow<'r, str>,
    /// Its version.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub version: Cow<'r, str>,
}

/// A run of a hook, as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RecordedRun<'r> {
    /// Which hook it is, over edits of its file.
    pub id: Cow<'r, str>,
    /// What people call it.
    pub hook: Cow<'r, str>,
    /// Its dialect.
    pub dialect: Cow<'r, str>,
    /// Its layer: `system`, `user` or `project`.
    pub layer: Cow<'r, str>,
    /// Which version of the hook it is.
    pub fingerprint: Cow<'r, str>,
    /// How it ended.
    pub end: Cow<'r, str>,
    /// The exit status, when it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    /// Whether it did its work.
    #[serde(skip_serializing_if = "RecordedHealth::is_well")]
    pub health: RecordedHealth,
    /// What it decided, or what its failure policy made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Cow<'r, str>>,
    /// What it asked for beside its decision, if it is a shadow hook: `stop`, `rewrite`, `context`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Cow<'r, str>>,
    /// When it was started, in milliseconds from the moment at which the event was fired.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_milliseconds")]
    pub start: Option<f64>,
    /// How long it took, in milliseconds.
    #[serde(serialize_with = "write_time")]
    pub ms: f64,
}

/// Whether a hook did its work, as it is recorded. A hook that answers with an exit status is well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecordedHealth {
    /// It answered, or had nothing to say. This is not written, because nearly all runs are well.
    #[default]
    Well,
    /// It failed; its decision is that of its failure policy.
    Failed,
    /// What a later version writes.
    #[serde(other)]
    Other,
}

impl RecordedHealth {
    fn is_well(&self) -> bool {
        *self == Self::Well
    }
}

fn is_missing(text: &Option<Cow<'_, str>>) -> bool {
    text.as_deref().is_none_or(str::is_empty)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Writes milliseconds with the microseconds behind the point.
fn write_time<S: Serializer>(time: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(format!("{time:.3}")).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

fn write_milliseconds<S: Serializer>(time: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    write_time(&time.unwrap_or_default(), serializer)
}

impl Record<'static> {
    /// Reads the record of a line, which is given without its end.
    ///
    /// # Errors
    /// If the line is no record.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let mut record: Self = serde_json::from_str(line)?;
        line.clone_into(&mut record.line);
        Ok(record)
    }
}

impl<'r> Record<'r> {
    /// Returns the kind of its event, if it has one that is known here.
    #[must_use]
    pub fn event_kind(&self) -> Option<EventKind> {
        let name = self.event.as_deref()?;
        EventKind::all().find(|kind| kind.name() == name)
    }

    /// Returns the runs of its hooks.
    pub fn runs(&self) -> impl Iterator<Item = &RecordedRun<'r>> {
        self.hooks.iter().flatten()
    }

    /// Returns whether the event can be fired again as it was: its input is there, and nothing was removed from it.
    #[must_use]
    pub fn is_replayable(&self) -> bool {
        self.kind == RecordKind::Fired && self.input.is_some() && self.redacted == 0
    }

    /// Returns whether something was removed from a part of the outcome, given as the record has it. The mark alone says
    /// nothing: a hook may have written it.
    #[must_use]
    pub fn is_removed_from(&self, part: &Json) -> bool {
        let has = |mark: &str| part.text().contains(mark);
        self.outcome_redacted > 0 && (has("{\"redacted\":") || has("[redacted "))
    }
}
