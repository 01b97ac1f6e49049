//! Writes the records of events that a server was asked about.
//!
//! The server prepares the record of an event and does not write it, so that what the agent is told does not depend on another
//! process for its evidence. What cannot be recorded is treated as in a bridge that works alone.

use std::time::SystemTime;

use hookrail::recorder::{CorrectedEntry, Entry, EntryKind, OnRecordFailure, RecordError, Recorded, Recorder as _};
use hookrail::{Decision, Effects, Event};
use hookrail_bridge::Agent;
use hookrail_journal::Journal;

use super::fire::FiredEvent;
use super::server::ServedRecord;
use super::{record, recorded_host};
use crate::failure::Result;
use crate::project::Project;

/// The journal of a bridge whose hooks a server runs.
pub(super) struct ServedRecording<'p> {
    project: &'p Project,
    agent: Agent,
    pub(super) journal: Option<Journal>,
    on_failure: OnRecordFailure,
}

impl<'p> ServedRecording<'p> {
    pub(super) fn open(project: &'p Project, agent: Agent, session: &str) -> Result<Self> {
        let (journal, on_failure) = project.recording(record::default_of(session))?;
        Ok(Self { project, agent, journal, on_failure })
    }

    /// Writes the record of an event before its answer is given. Returns what there is to say if that failed; the answer is then
    /// a denial if nothing may happen that is not recorded.
    pub(super) async fn write(&self, event: &Event, answered: &mut FiredEvent, record: ServedRecord) -> Option<String> {
        let journal = self.journal.as_ref()?;
        let error = match record {
            ServedRecord::WrittenByServer => return None,
            ServedRecord::Handed(record) => match journal.record_prepared(&record) {
                Ok(Recorded::Syncing(safe)) => {
                    let message = self.failed(event, answered, safe.await.err()?);
                    // The record is there and has another decision.
                    let _ = self.tell(journal, event, answered, &message);
                    return Some(message);
                }
                written => written.err()?,
            },
            ServedRecord::None { has_runs } => {
                let is_eventful = has_runs || answered.result.effects.decision.is_some();
                if !is_eventful && !journal.interest().covers(event.kind()) {
                    return None;
                }
                self.tell(journal, event, answered, "the running server handed over no record of this event").err()?
            }
        };
        Some(self.failed(event, answered, error))
    }

    /// Records the decision that the agent is told.
    fn tell(
        &self,
        journal: &Journal,
        event: &Event,
        told: &FiredEvent,
        reason: &str,
    ) -> std::result::Result<(), RecordError> {
        let tool = event.text("tool_name");
        let told = CorrectedEntry {
            fire: event.record_name(),
            session: event.session_id(),
            event: Some(event.kind()),
            tool: tool.as_deref(),
            decision: told.result.effects.decision,
            reason,
        };
        let (host, project) = (recorded_host(self.agent), self.project.root());
        let kind = EntryKind::Corrected(told);
        journal.record_blocking(&Entry { at: SystemTime::now(), host: Some(&host), project, kind })
    }

    fn failed(&self, event: &Event, answered: &mut FiredEvent, error: RecordError) -> String {
        let message = format!("the event was not recorded: {error}");
        let is_denied = answered.result.effects.decision == Some(Decision::Deny);
        match self.on_failure {
            OnRecordFailure::Block if event.kind().spec().is_gating() && !is_denied => {
                answered.result.effects = Effects::deny(&message);
                answered.result.denied_by = None;
            }
            OnRecordFailure::Block | OnRecordFailure::Warn => {}
        }
        message
    }
}
