//! Records what the agent was told where no hook said it: after the deadline, when the bridge itself fails, for a payload that
//! cannot be read, and where the agent has no words for what hooks decided.
//!
//! The engine records what hooks decide, here or in a server. The answer does not depend on these records: it denies whether they
//! can be written or not.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hookrail::recorder::{CorrectedEntry, Entry, EntryKind, HostIdentity, LostEntry};
use hookrail::{Decision, EventKind};
use hookrail_app::config::{HookrailConfiguration, ProjectFileTrust};
use hookrail_app::journal::{self, RecordDefault};
use hookrail_app::project::Project;
use hookrail_bridge::{Agent, AgentRequest, Answer, EventResult, RefusedRequest};
use hookrail_journal::Journal;

use super::recorded_host;

/// A request, as records refer to it.
pub(super) struct Call {
    host: HostIdentity,
    kind: EventKind,
    session: String,
    /// Where the search for the project begins.
    start: PathBuf,
    /// The name and the tool of each event.
    events: Vec<(String, Option<String>)>,
}

impl Call {
    /// Names the events of a request, so that records of this process and of a server belong together.
    pub(super) fn name_events(request: &mut AgentRequest) -> Self {
        let unique = RandomState::new().build_hasher().finish();
        let named = std::mem::take(&mut request.events).into_iter().enumerate();
        let named = named.map(|(place, event)| event.recorded_as(format!("{unique:016x}-{}", place + 1)));
        request.events = named.collect();
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

    /// What happened.
    pub(super) fn kind(&self) -> EventKind {
        self.kind
    }

    /// Records what the agent cannot be made to do, and what it is told in the place of what hooks decided.
    pub(super) fn record_answer(&self, journal: &Journal, project: &Path, answer: &Answer, correction: Option<&str>) {
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
        let Some(journal) = user_journal(&project) else { return };
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

/// What hooks decided about the events of a request, as the engine recorded it.
pub(super) struct Decided {
    /// One for each event that has an outcome.
    decisions: Vec<Option<Decision>>,
}

impl Decided {
    pub(super) fn by_hooks(said: &[EventResult]) -> Self {
        Self { decisions: said.iter().map(|one| one.effects.decision).collect() }
    }

    /// Why the agent is told something that no hook decided about the request; none if one did. `said` may have more results
    /// than hooks gave: those of the bridge itself.
    pub(super) fn correction(&self, answer: &Answer, said: &[EventResult]) -> Option<String> {
        // An agent asks its own question unless it is told otherwise, so a hook without an objection changes nothing.
        let meant = |decision: Option<Decision>| decision.filter(|decision| *decision != Decision::Allow);
        let told = meant(answer.decision);
        let strictest = self.decisions.iter().copied().filter_map(meant).max();
        if told == strictest {
            return None;
        }
        let own = said.get(self.decisions.len()..).unwrap_or_default();
        let losses = answer.losses.iter().map(|loss| format!("{}: {}", loss.name(), loss.handling.described()));
        let mut reasons: Vec<String> = losses.chain(own.iter().filter_map(|one| one.effects.reason.clone())).collect();
        if said.iter().any(|one| one.effects.stop.is_some()) {
            reasons.push("a hook stopped the agent".to_owned());
        }
        Some(reasons.join("; "))
    }
}

/// Records the answer to what could not be read. No project is opened for it: nothing is known that could be fired.
pub(super) fn record_refusal(refused: &RefusedRequest, answer: &Answer) {
    let told = CorrectedEntry {
        fire: None,
        session: &refused.session_id,
        event: refused.event.map(|event| event.kind),
        tool: None,
        decision: answer.decision,
        reason: &refused.error.to_string(),
    };
    record_unread(Some(refused.agent), told);
}

/// Records the denial of a call whose command line cannot be used.
pub(super) fn record_misuse(agent: Option<Agent>, event: Option<EventKind>) {
    let reason = "the command line of the bridge cannot be used";
    let decision = Some(Decision::Deny);
    record_unread(agent, CorrectedEntry { fire: None, session: "", event, tool: None, decision, reason });
}

/// Records an answer without a request. The project is the one that the agent declares, or that of the working directory.
fn record_unread(agent: Option<Agent>, told: CorrectedEntry<'_>) {
    let declared = agent.and_then(|agent| agent.project_variables().iter().find_map(std::env::var_os));
    let start = declared.filter(|folder| !folder.is_empty()).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let host = agent.map_or_else(
        || HostIdentity { name: "hookrail bridge".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        recorded_host,
    );
    let project = Project::of_agent(&start).root;
    let Some(journal) = user_journal(&project) else { return };
    record(&journal, &host, &project, EntryKind::Corrected(told));
}

/// The journal of the user. The project only says which folders cannot be the user's.
fn user_journal(project: &Path) -> Option<Journal> {
    let settings = HookrailConfiguration::load(project, ProjectFileTrust::Untrusted).journal;
    journal::open(&settings, RecordDefault::On).ok()?.journal().cloned()
}

fn record(journal: &Journal, host: &HostIdentity, project: &Path, kind: EntryKind<'_>) {
    let entry = Entry { at: SystemTime::now(), host: Some(host), project, kind };
    if let Err(error) = journal.record_blocking(&entry) {
        tracing::warn!(target: "hookrail::journal", %error, "what the agent was told was not recorded");
    }
}
