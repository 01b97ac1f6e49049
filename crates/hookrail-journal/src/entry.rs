//! The record of an entry.

use std::borrow::Cow;
use std::time::Duration;

use hookrail::document::{recorded_outcome_document, shadow_document};
use hookrail::event::timestamp;
use hookrail::outcome::Health;
use hookrail::recorder::{
    AnsweredEntry, CorrectedEntry, Entry, EntryKind, FiredEntry, HostIdentity, LateEntry, LateReason, LostEntry,
    PersonAnswer, RunEntry, TrustEntry,
};
use hookrail::{Decision, EventKind, Json, JsonObject};

use crate::record::{Record, RecordKind, RecordedHealth, RecordedHost, RecordedRun};

/// The version of the form.
const VERSION: u32 = 1;

impl<'r> Record<'r> {
    /// Returns the record of an entry with everything in it. What must not be written is removed by its writer, which also says
    /// where it is written.
    pub(crate) fn of(entry: &'r Entry<'_>) -> Self {
        let record = match &entry.kind {
            EntryKind::Fired(fired) => Self::fired(fired),
            EntryKind::Late(late) => Self::late(late),
            EntryKind::Answered(answered) => Self::answered(answered),
            EntryKind::Corrected(corrected) => Self::corrected(corrected),
            EntryKind::Lost(lost) => Self::lost(lost),
            EntryKind::Trust(trust) => Self::trust(trust),
        };
        Self {
            v: VERSION,
            at: timestamp(entry.at),
            host: entry.host.map(|HostIdentity { name, version }| RecordedHost {
                name: Cow::Borrowed(name),
                version: Cow::Borrowed(version),
            }),
            project: entry.project.to_string_lossy(),
            ..record
        }
    }

    fn fired(fired: &'r FiredEntry<'_>) -> Self {
        let FiredEntry { fire, event, trace, configuration, outcome, runs, shadow, duration } = fired;
        Self {
            kind: RecordKind::Fired,
            fire: Some(Cow::Borrowed(fire)),
            session: Some(Cow::Borrowed(event.session_id())),
            event: Some(Cow::Borrowed(event.kind().name())),
            tool: event.text("tool_name").map(Cow::Owned),
            cwd: Some(event.cwd().to_string_lossy()),
            transcript: Some(Cow::Borrowed(event.transcript_path())),
            trace: trace.as_deref().map(Cow::Borrowed),
            config: Some(configuration.hex()),
            decision: outcome.effects.decision.map(decided),
            stop: outcome.effects.stop.is_some(),
            input: Some(event.fields().to_json()),
            outcome: Some(recorded_outcome_document(outcome)),
            hooks: Some(runs.iter().map(RecordedRun::of).collect()),
            shadow: shadow.iter().map(RecordedRun::of).collect(),
            ms: Some(milliseconds(*duration)),
            ..Self::default()
        }
    }

    fn late(late: &'r LateEntry<'_>) -> Self {
        let LateEntry { fire, session, event, why, run, reason, verdict } = late;
        // In the place where a verdict stands that came in time.
        let outcome = verdict.map(|verdict| {
            let list = Json::of(&[shadow_document(verdict)]).unwrap_or_else(|_| Json::null());
            [("shadow", list)].into_iter().collect::<JsonObject>().to_json()
        });
        Self {
            kind: RecordKind::Late,
            fire: Some(Cow::Borrowed(fire)),
            session: Some(Cow::Borrowed(session)),
            event: Some(Cow::Borrowed(event.name())),
            why: Some(Cow::Borrowed(why.name())),
            // A shadow hook decided nothing about the event: its verdict is that of the run alone.
            decision: run.decision.filter(|_| *why != LateReason::Shadow).map(decided),
            reason: reason.map(Cow::Borrowed),
            outcome,
            hooks: Some(vec![RecordedRun::of(run)]),
            ..Self::default()
        }
    }

    fn answered(answered: &'r AnsweredEntry<'_>) -> Self {
        let AnsweredEntry { fire, session, event, operation, input, reason, answer } = *answered;
        let because = match answer {
            PersonAnswer::Refused(why) => Some(Cow::Borrowed(why)),
            PersonAnswer::Granted | PersonAnswer::Unavailable => None,
        };
        Self {
            kind: RecordKind::Answered,
            fire: named(fire),
            session: Some(Cow::Borrowed(session)),
            event: Some(Cow::Borrowed(event.name())),
            operation: Some(Cow::Borrowed(operation)),
            answer: Some(Cow::Borrowed(answer.name())),
            because,
            reason: reason.map(Cow::Borrowed),
            input: Some(input.clone()),
            ..Self::default()
        }
    }

    fn corrected(corrected: &'r CorrectedEntry<'_>) -> Self {
        let CorrectedEntry { fire, session, event, tool, decision, reason } = *corrected;
        Self {
            kind: RecordKind::Corrected,
            fire: named(fire),
            session: named(Some(session)),
            event: named(event.map(EventKind::name)),
            tool: named(tool),
            decision: decision.map(decided),
            reason: Some(Cow::Borrowed(reason)),
            ..Self::default()
        }
    }

    fn lost(lost: &'r LostEntry<'_>) -> Self {
        let LostEntry { fire, session, event, tool, loss, instead } = *lost;
        Self {
            kind: RecordKind::Lost,
            fire: named(fire),
            session: Some(Cow::Borrowed(session)),
            event: Some(Cow::Borrowed(event.name())),
            tool: named(tool),
            loss: Some(Cow::Borrowed(loss)),
            instead: Some(Cow::Borrowed(instead)),
            ..Self::default()
        }
    }

    fn trust(trust: &'r TrustEntry<'_>) -> Self {
        let TrustEntry { change, hook, event, content } = *trust;
        Self {
            kind: RecordKind::Trust,
            change: Some(Cow::Borrowed(change.name())),
            hook: named(hook),
            event: named(event),
            content: named(content),
            ..Self::default()
        }
    }
}

impl<'r> RecordedRun<'r> {
    fn of(run: &'r RunEntry<'_>) -> Self {
        Self {
            id: Cow::Borrowed(&run.id),
            hook: Cow::Borrowed(&run.hook.label),
            dialect: Cow::Borrowed(run.hook.dialect.name()),
            layer: Cow::Borrowed(run.layer.name()),
            fingerprint: Cow::Borrowed(&run.fingerprint),
            end: Cow::Borrowed(run.end.name()),
            exit: run.exit_code.map(i64::from),
            health: if run.health == Health::Failed { RecordedHealth::Failed } else { RecordedHealth::Well },
            decision: run.decision.map(decided),
            asked: run.asked.iter().map(|effect| Cow::Borrowed(effect.name())).collect(),
            start: run.start.map(milliseconds),
            ms: milliseconds(run.duration),
        }
    }
}

fn decided<'r>(decision: Decision) -> Cow<'r, str> {
    Cow::Borrowed(decision.name())
}

/// A name that may be missing, or empty because it is not known.
fn named(name: Option<&str>) -> Option<Cow<'_, str>> {
    name.filter(|name| !name.is_empty()).map(Cow::Borrowed)
}

/// A time in milliseconds. What is less than a microsecond is cut off.
fn milliseconds(time: Duration) -> f64 {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)).as_secs_f64() * 1000.0
}
