//! Moving between sessions, and inside the tree of one.

use hookrail::{EventKind, Json, Stop};
use hookrail_spawn::lock_mutex;

use super::{EndReason, ReferenceAgent, SessionScope, host};
use crate::error::AgentError;
use crate::message::{TokenUsage, is_prompt, object};
use crate::session::{Session, SessionEntry, SessionEntryKind};
use crate::shape;
use crate::view::ViewEvent;

/// How a move between sessions, or inside of one, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The move is done, with the stop that a hook asked for.
    Done(Option<Stop>),
    /// A hook cancelled the move, for this reason.
    Cancelled(String),
    /// The session was there already.
    Nothing,
}

impl ReferenceAgent {
    /// Starts a new session in place of this one.
    ///
    /// # Errors
    /// If the new session's file cannot be created.
    pub async fn clear(&self) -> Result<MoveOutcome, AgentError> {
        self.clear_from(None).await
    }

    /// Starts a new session that names this parent, in place of the present one.
    pub(super) async fn clear_from(&self, parent: Option<&str>) -> Result<MoveOutcome, AgentError> {
        if let Some(reason) = self.switch_cancelled("new", None).await {
            return Ok(MoveOutcome::Cancelled(reason));
        }
        let new = self.parts.store.create(parent)?;
        self.session_ended(EndReason::Clear, SessionScope::InsideRun).await;
        let before = self.replace_session(new);
        self.switched("new", &before).await;
        let stop = self.session_started("clear").await;
        self.require_recorded()?;
        Ok(MoveOutcome::Done(stop))
    }

    /// Resumes another session in place of this one.
    ///
    /// # Errors
    /// If there is no such session, or its file cannot be used.
    pub async fn resume(&self, id: Option<&str>) -> Result<MoveOutcome, AgentError> {
        let here = self.session().id().to_owned();
        let target = match id {
            Some(id) => self.parts.store.find(Some(id))?,
            None => {
                let mut others = self.parts.store.all().into_iter().filter(|stored| stored.id != here);
                others.next_back().ok_or_else(|| AgentError::NoSession("last".to_owned()))?
            }
        };
        if target.id == here {
            return Ok(MoveOutcome::Nothing);
        }
        let file = target.file.display().to_string();
        if let Some(reason) = self.switch_cancelled("resume", Some(&file)).await {
            return Ok(MoveOutcome::Cancelled(reason));
        }
        let (session, damage) = self.parts.store.open(Some(&target.id))?;
        self.session_ended(EndReason::Other, SessionScope::InsideRun).await;
        let before = self.replace_session(session);
        self.report_damage(&damage);
        self.switched("resume", &before).await;
        let stop = self.session_started("resume").await;
        self.require_recorded()?;
        Ok(MoveOutcome::Done(stop))
    }

    /// Continues in a copy of this session. The conversation is the same, so no session starts or ends.
    ///
    /// # Errors
    /// If the copy cannot be made.
    pub async fn fork(&self) -> Result<MoveOutcome, AgentError> {
        if let Some(reason) = self.switch_cancelled("fork", None).await {
            return Ok(MoveOutcome::Cancelled(reason));
        }
        let (parent, entries) = {
            let session = self.session();
            (session.file_text(), session.entries().to_vec())
        };
        let copy = self.parts.store.create_copy(&parent, &entries)?;
        let before = self.replace_session(copy);
        self.show_session("fork");
        self.switched("fork", &before).await;
        Ok(MoveOutcome::Done(None))
    }

    /// Continues in a new session that has everything before one of this session's prompts.
    ///
    /// # Errors
    /// If the entry is not a prompt of this session, or the new session cannot be created.
    pub async fn branch(&self, id: &str) -> Result<MoveOutcome, AgentError> {
        let before = {
            let session = self.session();
            let at = session.entry(id).filter(|entry| entry.field("message").is_some_and(is_prompt));
            at.ok_or_else(|| AgentError::NoEntry(id.to_owned()))?.parent.clone()
        };
        let told = self.fire_event(EventKind::SessionBeforeBranch, &[("entry_id", Json::string(id))]).await;
        if let Some(reason) = told.cancelled {
            return Ok(MoveOutcome::Cancelled(reason));
        }
        let skips = told.result.and_then(|result| result.as_object()?.get("skipConversationRestore")?.as_bool());
        let entries: Vec<SessionEntry> = {
            let session = self.session();
            // A hook that restores something else, such as files, can keep the conversation as it is.
            let path = if skips == Some(true) { session.branch() } else { session.path_to(before.as_deref()) };
            path.into_iter().cloned().collect()
        };
        let parent = self.session().file_text();
        let branch = self.parts.store.create_copy(&parent, &entries)?;
        let before = self.replace_session(branch);
        self.show_session("branch");
        self.fire_event(EventKind::SessionBranch, &[("previous_session_file", Json::string(&before))]).await;
        Ok(MoveOutcome::Done(None))
    }

    /// Continues at another entry of this session, optionally with a summary of the branch that is left.
    ///
    /// # Errors
    /// If there is no such entry, or the file cannot be written.
    pub async fn navigate(&self, id: &str, summarise: bool) -> Result<MoveOutcome, AgentError> {
        let (old, common, (count, left)) = {
            let session = self.session();
            let target = session.entry(id).ok_or_else(|| AgentError::NoEntry(id.to_owned()))?;
            let old = session.leaf().map(str::to_owned);
            if old.as_deref() == Some(&target.id) {
                return Ok(MoveOutcome::Nothing);
            }
            let there: Vec<String> = session.path_to(Some(id)).iter().map(|entry| entry.id.clone()).collect();
            let here = session.branch();
            let common = here.iter().rfind(|entry| there.contains(&entry.id)).map(|entry| entry.id.clone());
            let left: Vec<&SessionEntry> = here.into_iter().filter(|entry| !there.contains(&entry.id)).collect();
            (old, common, (left.len(), shape::all_entries(left)))
        };
        let text = |text: Option<&str>| text.map_or_else(Json::null, Json::string);
        let preparation = object([
            ("targetId", Json::string(id)),
            ("oldLeafId", text(old.as_deref())),
            ("commonAncestorId", text(common.as_deref())),
            ("entriesToSummarize", left),
            ("userWantsSummary", Json::boolean(summarise)),
        ]);
        let told = self.fire_event(EventKind::SessionBeforeTree, &[("preparation", preparation)]).await;
        if let Some(reason) = told.cancelled {
            return Ok(MoveOutcome::Cancelled(reason));
        }
        let given = told.result.and_then(|result| result.as_object()?.get("summary")?.as_object());
        let details = given.as_ref().and_then(|given| given.get("details").cloned());
        let given = given.and_then(|given| given.get("summary")?.as_str());
        self.session().move_to(Some(id))?;
        let summary = match (summarise, &given) {
            (true, Some(text)) => Some(text.clone()),
            (true, None) if count == 1 => Some("1 entry was left behind.".to_owned()),
            (true, None) => Some(format!("{count} entries were left behind.")),
            (false, _) => None,
        };
        let mut fields = vec![("old_leaf_id", text(old.as_deref()))];
        fields.extend(given.is_some().then(|| ("from_extension", Json::boolean(true))));
        let leaf = {
            let mut session = self.session();
            if let Some(summary) = summary {
                let mut members = vec![("summary", Json::string(&summary)), ("fromId", text(old.as_deref()))];
                members.extend(details.map(|details| ("details", details)));
                let entry = session.append(SessionEntryKind::BranchSummary, &members)?;
                fields.push(("summary_entry", session.entry(&entry).map_or_else(Json::null, SessionEntry::to_json)));
            }
            text(session.leaf())
        };
        fields.push(("new_leaf_id", leaf));
        self.show_session("tree");
        self.fire_event(EventKind::SessionTree, &fields).await;
        Ok(MoveOutcome::Done(None))
    }

    /// Fires the event before a switch. Returns the reason if a hook cancels the switch.
    async fn switch_cancelled(&self, reason: &str, target: Option<&str>) -> Option<String> {
        let mut fields = vec![("reason", Json::string(reason))];
        fields.extend(target.map(|file| ("target_session_file", Json::string(file))));
        self.fire_event(EventKind::SessionBeforeSwitch, &fields).await.cancelled
    }

    async fn switched(&self, reason: &str, before: &str) {
        let fields = [("reason", Json::string(reason)), ("previous_session_file", Json::string(before))];
        self.fire_event(EventKind::SessionSwitch, &fields).await;
    }

    /// Replaces the session. Returns the file of the one before.
    fn replace_session(&self, session: Session) -> String {
        let before = {
            let mut here = self.session();
            let before = here.file_text();
            *here = session;
            before
        };
        let identity = self.identity.as_ref();
        let guard = host::guard(&self.parts, &self.session, &self.busy, self.model.name(), identity, &self.host_state);
        *lock_mutex(&self.guard) = guard;
        *lock_mutex(&self.usage) = TokenUsage::default();
        *lock_mutex(&self.prompt_begin) = 0;
        lock_mutex(&self.used_rules).clear();
        before
    }

    fn show_session(&self, source: &str) {
        let session = self.session();
        self.view().show(&ViewEvent::Session { id: session.id(), file: &session.file_text(), source });
    }
}
