//! The last step: an answer that does not come from hooks is recorded. The bridge makes such answers after the deadline, when it
//! fails itself, for a payload that cannot be read, and where the agent has no words for what hooks decided.
//!
//! The engine records what hooks decide, here or in a server. The answer does not depend on these records: it denies whether they
//! can be written or not.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hookrail::recorder::{CorrectedEntry, Entry, EntryKind, HostIdentity, LostEntry};
use hookrail::{Decision, Event, EventKind};
use hookrail_bridge::{Agent, AgentRequest, Answer, EventResult, SAMPLE_SESSION};
use hookrail_journal::{Journal, JournalWarning};

use super::{BridgeIo, recorded_host};
use crate::config::{HookrailConfiguration, ProjectFileTrust};
use crate::journal::{self, RecordDefault};
use crate::project::Project;

/// Names the events of a request, so that records of this process and of a server belong together.
pub(super) fn with_names(events: impl Iterator<Item = Event>) -> impl Iterator<Item = Event> {
    let unique = RandomState::new().build_hasher().finish();
    events.enumerate().map(move |(place, event)| event.recorded_as(format!("{unique:016x}-{}", place + 1)))
}

/// What the agent was told.
pub(super) struct Given {
    pub(super) answer: Answer,
    /// What it is made of: the results of the hooks, then those of the bridge itself.
    pub(super) results: Vec<EventResult>,
}

/// Whether a session is recorded if the settings do not say: not the one in which `hookrail doctor` tries an entry.
pub(super) fn default_of(session: &str) -> RecordDefault {
    if session == SAMPLE_SESSION { RecordDefault::Off } else { RecordDefault::On }
}

/// A request, as records refer to it.
pub(super) struct RecordedRequest {
    host: HostIdentity,
    kind: EventKind,
    session: String,
    /// Where the search for the project begins.
    start: PathBuf,
    /// The name and the tool of each event.
    events: Vec<(String, Option<String>)>,
}

impl RecordedRequest {
    pub(super) fn of(request: &AgentRequest) -> Self {
        let events = request.events.iter().map(|event| {
            let name = event.record_name().unwrap_or_default().to_owned();
            (name, event.text("tool_name"))
        });
        Self {
            host: recorded_host(request.agent),
            kind: request.kind(),
            session: request.session_id.clone(),
            start: request.declared_project.as_ref().unwrap_or(&request.cwd).clone(),
            events: events.collect(),
        }
    }

    /// Records what the agent cannot be made to do, and what it was told in the place of what hooks decided. It has its answer:
    /// another process may hold the journal.
    pub(super) fn record_given(
        &self,
        given: &Given,
        decided: &[Option<Decision>],
        opened: Option<Journal>,
        project: &Project,
        io: &dyn BridgeIo,
    ) {
        // No journal is open if no hook was asked, and few answers then need one.
        // Sessions that are killed never end, so the journal is looked after when one begins too.
        let is_border = matches!(self.kind, EventKind::SessionStart | EventKind::SessionEnd);
        let correction = given.correction(decided);
        let is_needed = !given.answer.losses.is_empty() || correction.is_some() || is_border;
        let open = || is_needed.then(|| project.journal(default_of(&self.session))).flatten();
        let Some(journal) = opened.or_else(open) else { return };
        self.record_answer(&journal, project.root(), &given.answer, correction.as_deref());
        // What cannot be done now is tried again when the next session begins or ends.
        let maintained = if is_border { journal.maintain().err() } else { None };
        journal.finish_syncing();
        let failed = maintained.map(|error| JournalWarning::NotMaintained(error.to_string()));
        for warning in journal.take_warnings().into_iter().chain(failed) {
            tracing::warn!(target: "hookrail::journal", "{warning}");
            // What is there may be the reason of a denial, which the agent gives to its model.
            if given.answer.stderr.is_none() {
                // If no one reads it, the log has it.
                io.warn(&format!("hookrail: {warning}"));
            }
        }
    }

    fn record_answer(&self, journal: &Journal, project: &Path, answer: &Answer, correction: Option<&str>) {
        let first = self.events.first();
        for loss in &answer.losses {
            let (name, instead) = (loss.name(), loss.handling.described());
            let lost = LostEntry {
                fire: first.map(|(name, _)| name.as_str()),
                session: &self.session,
                event: loss.event,
                tool: first.and_then(|(_, tool)| tool.as_deref()),
                loss: &name,
                instead,
            };
            record(journal, &self.host, project, EntryKind::Lost(lost));
        }
        if let Some(reason) = correction {
            self.record_told(journal, project, answer.decision, reason);
        }
    }

    /// Records an answer that hooks have no part in, because they were not asked or what they said is not known.
    pub(super) fn record_unasked(&self, answer: &Answer, reason: &str) {
        let project = Project::of_agent(&self.start).root;
        let Some(journal) = user_journal(&project, default_of(&self.session)) else { return };
        self.record_told(&journal, &project, answer.decision, reason);
    }

    fn record_told(&self, journal: &Journal, project: &Path, decision: Option<Decision>, reason: &str) {
        for (name, tool) in &self.events {
            let told = CorrectedEntry {
                fire: Some(name),
                session: &self.session,
                event: Some(self.kind),
                tool: tool.as_deref(),
                decision,
                reason,
            };
            record(journal, &self.host, project, EntryKind::Corrected(told));
        }
    }
}

impl Given {
    /// Why the agent is told something that no hook decided about the request; none if one did. `decided` has an item for each event
    /// of which hooks gave a result.
    fn correction(&self, decided: &[Option<Decision>]) -> Option<String> {
        let Self { answer, results } = self;
        // An agent asks its own question unless it is told otherwise, so a hook without an objection changes nothing.
        let meant = |decision: Option<Decision>| decision.filter(|decision| *decision != Decision::Allow);
        let told = meant(answer.decision);
        let strictest = decided.iter().copied().filter_map(meant).max();
        if told == strictest {
            return None;
        }
        let own = results.get(decided.len()..).unwrap_or_default();
        let losses = answer.losses.iter().map(|loss| format!("{}: {}", loss.name(), loss.handling.described()));
        let mut reasons: Vec<String> = losses.chain(own.iter().filter_map(|one| one.effects.reason.clone())).collect();
        if results.iter().any(|one| one.effects.stop.is_some()) {
            reasons.push("a hook stopped the agent".to_owned());
        }
        Some(reasons.join("; "))
    }
}

/// Records an answer without a request. The project is the one that the agent declares, or that of the working directory.
pub(super) fn record_unread(agent: Option<Agent>, told: CorrectedEntry<'_>) {
    let declared = agent.and_then(|agent| agent.project_variables().iter().find_map(std::env::var_os));
    let start = declared.filter(|folder| !folder.is_empty()).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let host = agent.map_or_else(
        || HostIdentity { name: "hookrail bridge".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        recorded_host,
    );
    let project = Project::of_agent(&start).root;
    let Some(journal) = user_journal(&project, RecordDefault::On) else { return };
    record(&journal, &host, &project, EntryKind::Corrected(told));
}

/// The journal of the user. The project only says which folders cannot be the user's.
fn user_journal(project: &Path, default: RecordDefault) -> Option<Journal> {
    let settings = HookrailConfiguration::load(project, ProjectFileTrust::Untrusted).journal;
    journal::open(&settings, default).ok()?.journal().cloned()
}

fn record(journal: &Journal, host: &HostIdentity, project: &Path, kind: EntryKind<'_>) {
    let entry = Entry { at: SystemTime::now(), host: Some(host), project, kind };
    if let Err(error) = journal.record_blocking(&entry) {
        tracing::warn!(target: "hookrail::journal", %error, "what the agent was told was not recorded");
    }
}
