//! Recording every fired event exactly once, before its outcome is handed out.
//!
//! A pending is taken when an event is admitted and given back with its outcome. One that is dropped before, because the
//! engine was torn down or a thread could not be had, records that the event was abandoned.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::HookSystem;
use super::notify::FireId;
use super::parker;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::DialectId;
use crate::dialect::snapshot::Snapshot;
use crate::event::Event;
use crate::firing::Firing;
use crate::hook::host::HostFuture;
use crate::outcome::{Effects, EndKind, Health, HookRun, Outcome, ShadowRun};
use crate::record::{
    AnsweredEntry, CorrectedEntry, Entry, EntryKind, FiredEntry, HostIdentity, Interest, LateEntry, LateReason,
    OnRecordFailure, RecordError, RecordErrorKind, Recorded, Recorder, RunEntry,
};
use crate::run::{PlannedRun, RunEnd};
use crate::text::log::log;
use crate::trust::FilePlaces;

/// The recorder of a hook system, with what every entry has in common.
pub(super) struct Recording {
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) interest: Interest,
    pub(super) on_failure: OnRecordFailure,
    pub(super) host: Option<HostIdentity>,
    pub(super) places: FilePlaces,
    /// The trace context that this process was started with.
    pub(super) trace: Option<String>,
    /// Tells the events of this hook system from those of others.
    pub(super) instance: u64,
}

impl Recording {
    /// The name of an event among the records.
    pub(super) fn fire_name(&self, event: &Event, id: FireId) -> String {
        event.record_name().map_or_else(|| format!("{:016x}-{id}", self.instance), str::to_owned)
    }

    /// Records what happened at that time. A recorder that panics has failed.
    pub(super) fn record(&self, at: SystemTime, kind: EntryKind<'_>) -> Result<Recorded, RecordError> {
        let entry = Entry { at, host: self.host.as_ref(), project: &self.places.project, kind };
        let recorded = catch_unwind(AssertUnwindSafe(|| self.recorder.record(&entry)));
        recorded.unwrap_or_else(|_| Err(RecordError::new(RecordErrorKind::Panicked, "the recorder panicked")))
    }

    /// Whether an event in which no hook takes part is recorded.
    fn is_interested_in(&self, outcome: &Outcome) -> bool {
        let eventful = outcome.effects.decision.is_some() || outcome.refusal.is_some() || !outcome.runs.is_empty();
        self.interest.covers(outcome.event) || eventful || !outcome.diagnostics.is_empty()
    }

    /// Records the end of a hook that no event waited for.
    pub(super) fn record_detached(&self, fire: FireId, request: &PlannedRun, end: &RunEnd) {
        let answered = if end.stdout().bytes.is_empty() { EndKind::Silent } else { EndKind::Answered };
        let kind = end.failure().unwrap_or(answered);
        let run = HookRun {
            exit_code: end.how().exit_code(),
            signal: end.how().signal(),
            duration: end.duration(),
            ..HookRun::not_asked(request.id.index(), &request.hook, kind, Health::from_end(kind))
        };
        self.record_late(LateEntry {
            fire: &self.fire_name(&request.event, fire),
            session: request.event.session_id(),
            event: request.event.kind(),
            why: LateReason::Detached,
            run: RunEntry::new(&self.places, &run),
            reason: None,
            verdict: None,
        });
    }

    /// Records the verdict of a shadow hook that came after the outcome of the event with that name.
    pub(super) fn record_shadow(&self, fire: &str, event: &Event, start: Duration, verdict: &ShadowRun) {
        self.record_late(LateEntry {
            fire,
            session: event.session_id(),
            event: event.kind(),
            why: LateReason::Shadow,
            run: RunEntry { start: Some(start), ..RunEntry::of_shadow(&self.places, verdict) },
            reason: verdict.effects.reason.as_deref(),
            verdict: Some(verdict),
        });
    }

    fn record_late(&self, entry: LateEntry<'_>) {
        // No outcome is left that could say so.
        if let Err(error) = self.record(SystemTime::now(), EntryKind::Late(entry)) {
            log!(warn, target: "hookrail::recorder", %error, "the end of a hook was not recorded");
        }
    }
}

/// An outcome that is recorded.
#[expect(clippy::large_enum_variant, reason = "an event that no hook wants must not need an allocation")]
pub(super) enum RecordedOutcome {
    /// It can be handed out.
    Safe(Outcome),
    /// It can be handed out when its record is safe.
    Syncing(HostFuture<'static, Outcome>),
}

impl From<Outcome> for RecordedOutcome {
    fn from(outcome: Outcome) -> Self {
        Self::Safe(outcome)
    }
}

impl RecordedOutcome {
    /// Waits until it can be handed out.
    pub(super) fn wait(self) -> Outcome {
        match self {
            Self::Safe(outcome) => outcome,
            Self::Syncing(outcome) => parker::block_on(outcome),
        }
    }
}

/// The right and the duty to record one event.
pub(super) struct PendingRecord {
    recording: Arc<Recording>,
    snapshot: Arc<Snapshot>,
    event: Event,
    id: FireId,
    at: SystemTime,
    began: Instant,
    is_recorded: bool,
}

impl PendingRecord {
    /// A pending for an event that is fired now.
    pub(super) fn new(recording: &Arc<Recording>, snapshot: Arc<Snapshot>, event: Event, id: FireId) -> Self {
        Self {
            recording: Arc::clone(recording),
            snapshot,
            event,
            id,
            at: SystemTime::now(),
            began: Instant::now(),
            is_recorded: false,
        }
    }

    /// A pending for an event that was planned.
    pub(super) fn of_firing(recording: &Arc<Recording>, firing: &Firing, id: FireId) -> Self {
        Self::new(recording, firing.snapshot(), firing.original().clone(), id)
    }

    /// When the event was fired.
    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// Records the outcome, and waits until the record is safe.
    pub(super) async fn record_outcome_and_sync(self, outcome: Outcome) -> Outcome {
        match self.record_outcome(outcome) {
            RecordedOutcome::Safe(outcome) => outcome,
            RecordedOutcome::Syncing(outcome) => outcome.await,
        }
    }

    /// Records the outcome. What waits until the record is safe can be left to the caller, so that events share the wait.
    pub(super) fn record_outcome(mut self, mut outcome: Outcome) -> RecordedOutcome {
        match self.write(&mut outcome) {
            Ok(Recorded::Done) => {}
            Ok(Recorded::Handed(record)) => outcome.handed_record = Some(record),
            Ok(Recorded::Syncing(safe)) => {
                return RecordedOutcome::Syncing(Box::pin(async move {
                    self.correct(safe.await, &mut outcome);
                    outcome
                }));
            }
            Err(error) => apply_failure(self.recording.on_failure, &error, &mut outcome),
        }
        outcome.into()
    }

    /// Records the outcome of an event in which no hook takes part, if that is wanted.
    pub(super) fn record_untouched(mut self, outcome: Outcome) -> RecordedOutcome {
        if self.recording.is_interested_in(&outcome) {
            return self.record_outcome(outcome);
        }
        self.is_recorded = true;
        outcome.into()
    }

    /// Leaves the event to another pending.
    pub(super) fn give_up(mut self) {
        self.is_recorded = true;
    }

    /// Writes the outcome. If too much waits for being copied, the outcome that says so is the one that is recorded.
    fn write(&mut self, outcome: &mut Outcome) -> Result<Recorded, RecordError> {
        self.is_recorded = true;
        match self.write_once(outcome) {
            Err(error) if error.kind == RecordErrorKind::Backlog => {
                apply_failure(self.recording.on_failure, &error, outcome);
                self.write_once(outcome)
            }
            written => written,
        }
    }

    fn write_once(&self, outcome: &mut Outcome) -> Result<Recorded, RecordError> {
        let fire = self.recording.fire_name(&self.event, self.id);
        outcome.recorded_as = Some(fire.as_str().into());
        let places = &self.recording.places;
        let runs = outcome.runs.iter().map(|run| RunEntry::new(places, run)).collect();
        let shadow = outcome.shadow.iter().map(|one| RunEntry::of_shadow(places, one)).collect();
        let of_event = self.event.variables().iter().find(|(name, _)| name == TRACE).map(|(_, value)| value.clone());
        let entry = FiredEntry {
            fire: &fire,
            event: &self.event,
            trace: of_event.or_else(|| self.recording.trace.clone()),
            configuration: self.snapshot.digest(),
            outcome,
            runs,
            shadow,
            duration: self.began.elapsed(),
        };
        self.recording.record(self.at, EntryKind::Fired(Box::new(entry)))
    }

    /// Says what it means for the event that its record is not safe. The record is there and has another outcome, so a
    /// second one corrects it.
    fn correct(&self, safe: Result<(), RecordError>, outcome: &mut Outcome) {
        let Err(error) = safe else { return };
        apply_failure(self.recording.on_failure, &error, outcome);
        let fire = self.recording.fire_name(&self.event, self.id);
        let tool = self.event.text("tool_name");
        let corrected = CorrectedEntry {
            fire: Some(&fire),
            session: self.event.session_id(),
            event: Some(self.event.kind()),
            tool: tool.as_deref(),
            decision: outcome.effects.decision,
            reason: &failure_message(&error),
        };
        if let Err(error) = self.recording.record(SystemTime::now(), EntryKind::Corrected(corrected)) {
            log!(warn, target: "hookrail::recorder", %error, "a record that is not safe was not corrected");
        }
    }
}

/// The variable that carries a W3C trace context.
pub(super) const TRACE: &str = "TRACEPARENT";

impl Drop for PendingRecord {
    fn drop(&mut self) {
        if self.is_recorded {
            return;
        }
        let mut outcome = Outcome::abandoned(self.event.kind());
        // The outcome that the host gets was made elsewhere, and denies what can be denied.
        if let Err(error) = self.write(&mut outcome) {
            log!(warn, target: "hookrail::recorder", %error, "an abandoned event was not recorded");
        }
    }
}

fn failure_message(error: &RecordError) -> String {
    match error.kind {
        RecordErrorKind::Backlog => error.to_string(),
        _ => format!("the event was not recorded: {error}"),
    }
}

fn apply_failure(policy: OnRecordFailure, error: &RecordError, outcome: &mut Outcome) {
    let message = failure_message(error);
    outcome.recorded_as = None;
    outcome.diagnostics.push(Diagnostic::new(Code::RecordFailed, message.clone()));
    match policy {
        OnRecordFailure::Warn => {}
        OnRecordFailure::Block if !outcome.event.spec().is_gating() || outcome.is_denied() => {}
        OnRecordFailure::Block => {
            let effects = Effects::deny(message);
            for dialect in DialectId::ORDER {
                dialect.contract().record_refusal(outcome, &effects);
            }
            outcome.withdraw_rewrites();
            outcome.effects.absorb(effects);
            outcome.finalize_details(None);
        }
    }
}

impl HookSystem {
    /// Records what only the host knows: what the user answered, what an agent could not be made to do. Does nothing if
    /// the system has no recorder.
    ///
    /// # Errors
    /// If it could not be recorded.
    pub async fn record(&self, kind: EntryKind<'_>) -> Result<(), RecordError> {
        let Some(recording) = &self.parts().recording else { return Ok(()) };
        match recording.record(SystemTime::now(), kind)? {
            // One that is handed to no caller is written when it is dropped here.
            Recorded::Done | Recorded::Handed(_) => Ok(()),
            Recorded::Syncing(safe) => safe.await,
        }
    }

    /// Records the user's answer to a question about an event. Returns why the operation must not happen if that failed
    /// and what is not recorded must not happen.
    pub(crate) async fn record_answer(&self, answer: AnsweredEntry<'_>) -> Option<String> {
        let (event, policy) = (answer.event, self.parts().recording.as_ref()?.on_failure);
        let error = self.record(EntryKind::Answered(answer)).await.err()?;
        match policy {
            OnRecordFailure::Block if event.spec().is_gating() => Some(format!("the answer was not recorded: {error}")),
            OnRecordFailure::Block | OnRecordFailure::Warn => {
                log!(warn, target: "hookrail::recorder", %error, "the answer to a question was not recorded");
                None
            }
        }
    }
}
