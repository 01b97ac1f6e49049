//! Records and shows what hooks did and asked for: receipts, messages, entries, warnings.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hookrail::guard::{Notes, NotificationResult, Receipt};
use hookrail::hook::Enablement;
use hookrail::plan::SkipReason;
use hookrail::{Diagnostic, EventKind, Hook, Json, JsonObject, Level};
use hookrail_spawn::lock_mutex;

use super::host::SharedHostState;
use super::{AgentParts, ReferenceAgent, TurnEnd};
use crate::error::AgentError;
use crate::message::{TokenUsage, content_text, list, object};
use crate::session::{Session, SessionEntryKind};
use crate::text::{finding_text, hook_name};
use crate::view::ViewEvent;

impl ReferenceAgent {
    /// Fires an event and applies the effects that every event can have.
    pub(super) async fn fire_event(&self, kind: EventKind, fields: &[(&str, Json)]) -> NotificationResult {
        let told = self.guard().tell(kind, fields).await;
        self.keep_receipt(kind.name(), &told.receipt);
        self.take_notes(&told.notes);
        if let Some(context) = &told.additional_context {
            self.keep_system(context);
        }
        told
    }

    /// Records a receipt and shows its diagnostics. A receipt without hooks is not recorded.
    pub(super) fn keep_receipt(&self, operation: &str, receipt: &Receipt) {
        self::receipt(&self.parts, &self.session, operation, receipt);
    }

    /// Adds the messages and entries of hooks to the conversation and the session.
    pub(super) fn take_notes(&self, notes: &Notes) {
        self.take_system_messages(notes);
        self.take_messages(notes);
    }

    /// Shows and records what hooks tell the model and the user.
    pub(super) fn take_system_messages(&self, notes: &Notes) {
        for text in &notes.system_messages {
            self.view().show(&ViewEvent::SystemMessage { text });
        }
        self.record_notes(notes);
        // Those of notifications were shown when they came.
        for notes in self.host_state.pending.take_notes() {
            self.record_notes(&notes);
        }
    }

    fn record_notes(&self, notes: &Notes) {
        for text in &notes.system_messages {
            self.keep_system(text);
        }
    }

    /// Adds the messages and entries of modules.
    pub(super) fn take_messages(&self, notes: &Notes) {
        for message in &notes.messages {
            keep_message(&self.parts, &self.session, &self.busy, &self.host_state, message);
        }
        for entry in &notes.entries {
            keep_entry(&self.parts, &self.session, entry);
        }
    }

    /// Records a text for the model that is neither the user's nor the model's message.
    pub(super) fn keep_system(&self, text: &str) {
        let kept = self.session().append(SessionEntryKind::System, &[("text", Json::string(text))]);
        self.warn_unrecorded(kept);
    }

    /// Records a message of the conversation. Returns the ID of its entry.
    pub(super) fn keep_turn(&self, message: &Json) -> Option<String> {
        self.keep_message_with(&[("message", message.clone())])
    }

    /// Records the results of tools, with the details that modules gave them. Returns the ID of the entry.
    pub(super) fn keep_results(&self, message: &Json, details: JsonObject) -> Option<String> {
        match details.is_empty() {
            true => self.keep_turn(message),
            false => self.keep_message_with(&[("message", message.clone()), ("details", details.to_json())]),
        }
    }

    /// Records an answer of the model, with the model's name and what the call used. Returns the ID of its entry.
    pub(super) fn keep_answer(&self, message: &Json, usage: TokenUsage) -> Option<String> {
        let model = Json::string(self.model.name());
        self.keep_message_with(&[("message", message.clone()), ("model", model), ("usage", usage.to_module_json())])
    }

    fn keep_message_with(&self, fields: &[(&str, Json)]) -> Option<String> {
        let kept = self.session().append(SessionEntryKind::Message, fields);
        match kept {
            Ok(id) => Some(id),
            Err(error) => {
                self.warn_unrecorded::<()>(Err(error));
                None
            }
        }
    }

    /// Adds the messages that modules sent for after this work. Returns whether there were any.
    pub(super) fn deliver_follow_ups(&self) -> bool {
        let waiting = self.host_state.pending.take_follow_ups();
        for message in &waiting {
            deliver(&self.parts, &self.session, &self.host_state, message);
        }
        !waiting.is_empty()
    }

    /// Returns the reason why the work on a prompt must end: a part of the conversation could not be recorded, or the
    /// output cannot be written.
    pub(super) fn obstacle(&self) -> Option<TurnEnd> {
        if let Some(why) = self.session().unrecorded() {
            return Some(TurnEnd::Failed(not_recorded(why)));
        }
        self.view().failure().map(TurnEnd::OutputLost)
    }

    /// Returns how the work on a prompt ended: an answer is an answer only if it is recorded and could be written.
    pub(super) fn confirmed_end(&self, end: TurnEnd) -> TurnEnd {
        let synced = self.session().sync();
        self.warn_unrecorded(synced);
        let unrecorded = self.session().take_unrecorded();
        match (end, unrecorded) {
            (TurnEnd::Answered(_), Some(why)) => TurnEnd::Failed(not_recorded(&why)),
            (TurnEnd::Answered(text), None) => {
                self.view().failure().map_or(TurnEnd::Answered(text), TurnEnd::OutputLost)
            }
            (end, _) => end,
        }
    }

    /// Fails if something could not be recorded in the session.
    pub(super) fn require_recorded(&self) -> Result<(), AgentError> {
        match self.session().take_unrecorded() {
            Some(why) => Err(AgentError::System(format!("the effects of hooks cannot be recorded: {why}"))),
            None => Ok(()),
        }
    }

    /// Records that the session was used, for `--resume` without an ID.
    pub(super) fn note_use(&self) {
        if self.depth == 0 {
            let id = self.session().id().to_owned();
            self.warn_unrecorded(self.parts.store.note_use(&id));
        }
    }

    /// Warns if something could not be recorded. It cannot be undone; [`Self::obstacle`] ends the work that would follow.
    pub(super) fn warn_unrecorded<T>(&self, kept: Result<T, AgentError>) {
        warn_unrecorded(&self.parts, kept);
    }

    pub(super) fn warn(&self, diagnostic: &Diagnostic) {
        warn(&self.parts, diagnostic);
    }

    /// Warns about a hook that the end of the agent cut off.
    pub(super) fn warn_cut_off(&self, diagnostic: &Diagnostic) {
        show_diagnostic(&self.parts, diagnostic);
    }

    /// Returns the names of hooks as they are shown, for their labels.
    pub(super) fn hook_names(&self, labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| hook_name(label, self.hooks().project())).collect()
    }

    /// Shows the diagnostics of loading, and which hooks do not run because they are not trusted.
    pub(super) fn report_loading(&self) {
        let snapshot = self.hooks().snapshot();
        *lock_mutex(&self.parts.shown_findings) = snapshot.diagnostics().to_vec();
        for diagnostic in snapshot.diagnostics() {
            self.warn(diagnostic);
        }
        let untrusted = snapshot.hooks().iter().filter(|hook| wants_trust(hook));
        let (edited, untrusted): (Vec<_>, Vec<_>) = untrusted.partition(|hook| hook.edit().is_some());
        for hook in edited {
            let (name, edit) = (hook_name(&hook.label, self.hooks().project()), hook.edit());
            let edit = edit.map(|edit| edit.to_string()).unwrap_or_default();
            let text = format!("{name} {edit}, so it does not run; `hookrail trust diff` shows the change");
            self.view().show(&ViewEvent::Warning { code: Some("trust-changed"), text: &text });
        }
        let untrusted: Vec<&str> = untrusted.iter().map(|hook| &*hook.label).collect();
        let untrusted = self.hook_names(&untrusted);
        if !untrusted.is_empty() {
            let text = format!(
                "these hooks of the project are not trusted and do not run: {}; see `hookrail trust`",
                untrusted.join(", ")
            );
            self.view().show(&ViewEvent::Warning { code: Some("untrusted"), text: &text });
        }
    }
}

/// Returns whether a hook would run if it were trusted. Settings of an untrusted project that enable hooks have no effect
/// yet, so a hook that is not enabled may still want trust.
fn wants_trust(hook: &Hook) -> bool {
    !hook.trust.allows() && matches!(hook.enablement, Enablement::Active | Enablement::NeverSwitchedOn)
}

/// Records a receipt and shows its diagnostics.
pub(super) fn receipt(parts: &AgentParts, session: &Arc<Mutex<Session>>, operation: &str, receipt: &Receipt) {
    for diagnostic in receipt.diagnostics.iter().filter(|diagnostic| !is_repeated(parts, diagnostic)) {
        warn(parts, diagnostic);
    }
    // An event that is fired only for the journal has no receipt if hooks are switched off, as without a journal.
    if receipt.ran.is_empty() && receipt.skipped.iter().all(|skipped| skipped.why == SkipReason::HooksOff) {
        return;
    }
    let json = receipt_json(operation, receipt);
    parts.view.show(&ViewEvent::Receipt { receipt: &json });
    let kept = lock_mutex(session).append(SessionEntryKind::Receipt, &[("receipt", json)]);
    warn_unrecorded(parts, kept);
}

/// Whether a finding is about the configuration and was shown already.
fn is_repeated(parts: &AgentParts, diagnostic: &Diagnostic) -> bool {
    if !parts.hooks.snapshot().standing_diagnostics().contains(diagnostic) {
        return false;
    }
    let mut shown = lock_mutex(&parts.shown_findings);
    if shown.contains(diagnostic) {
        return true;
    }
    shown.push(diagnostic.clone());
    false
}

fn receipt_json(operation: &str, receipt: &Receipt) -> Json {
    let text = |text: Option<&str>| text.map_or_else(Json::null, Json::string);
    let ran: Vec<Json> = receipt
        .ran
        .iter()
        .map(|run| {
            object([
                ("hook", Json::string(&run.hook)),
                ("dialect", Json::string(run.dialect.name())),
                ("end", Json::string(run.end.name())),
                ("decision", text(run.decision.map(hookrail::Decision::name))),
                ("judged", text(run.judged.as_ref().map(hookrail::trust::Digest::hex).as_deref())),
            ])
        })
        .collect();
    let skipped = receipt.skipped.iter().map(|skipped| {
        object([("hook", Json::string(&skipped.hook.label)), ("why", Json::string(skipped.why.name()))])
    });
    object([
        ("operation", Json::string(operation)),
        ("decision", text(receipt.decision.map(hookrail::Decision::name))),
        ("ran", list(&ran)),
        ("skipped", list(&skipped.collect::<Vec<_>>())),
        ("input", text(receipt.input.as_ref().map(hookrail::trust::Digest::hex).as_deref())),
    ])
}

/// Takes a message that a hook adds to the conversation. One that is sent as a follow-up waits until the agent has finished
/// its work; every other one, and every one that is sent to an idle agent, is delivered at once.
pub(super) fn keep_message(
    parts: &AgentParts,
    session: &Arc<Mutex<Session>>,
    busy: &AtomicUsize,
    host_state: &SharedHostState,
    message: &Json,
) {
    let wish = message.as_object().and_then(|message| message.get("deliverAs")?.as_str());
    if wish.as_deref() == Some("followUp") && busy.load(Ordering::Relaxed) > 0 {
        host_state.pending.follow_up(message.clone());
    } else {
        deliver(parts, session, host_state, message);
    }
}

/// Records a message that a hook added to the conversation, and shows it unless the message says otherwise. A message that
/// its module draws is queued for drawing.
fn deliver(parts: &AgentParts, session: &Arc<Mutex<Session>>, host_state: &SharedHostState, message: &Json) {
    let members = members(message);
    let field = |name: &str| members.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let kept = lock_mutex(session).append(SessionEntryKind::CustomMessage, &members);
    warn_unrecorded(parts, kept);
    if field("display").and_then(Json::as_bool).unwrap_or(true) {
        let kind = field("customType").and_then(Json::as_str).unwrap_or_default();
        if parts.view.columns().is_some() && parts.hooks.draws_message(&kind) {
            host_state.pending.draw(message.clone());
        } else {
            show_message(parts, message);
        }
    }
    host_state.pending.wake();
}

/// Shows a message as text.
pub(super) fn show_message(parts: &AgentParts, message: &Json) {
    let content = message.as_object().and_then(|message| message.get("content").cloned()).unwrap_or_else(Json::null);
    let text = content_text(&content);
    if !text.is_empty() {
        parts.view.show(&ViewEvent::SystemMessage { text: &text });
    }
}

/// Records an entry of a hook.
pub(super) fn keep_entry(parts: &AgentParts, session: &Arc<Mutex<Session>>, entry: &Json) {
    let kept = lock_mutex(session).append(SessionEntryKind::Custom, &members(entry));
    warn_unrecorded(parts, kept);
}

/// Returns the known members of a hook's entry. Other members could replace the entry's own, such as its ID.
pub(super) fn members(value: &Json) -> Vec<(&'static str, Json)> {
    let object = value.as_object().unwrap_or_default();
    let known = ["customType", "content", "data", "display", "details", "triggerTurn"];
    known.into_iter().filter_map(|name| Some((name, object.get(name)?.clone()))).collect()
}

fn not_recorded(why: &str) -> String {
    format!("the conversation cannot be recorded, so the model is not asked: {why}; fix this and send the prompt again")
}

fn warn(parts: &AgentParts, diagnostic: &Diagnostic) {
    match diagnostic.level {
        Level::Note => {}
        _ => show_diagnostic(parts, diagnostic),
    }
}

fn show_diagnostic(parts: &AgentParts, diagnostic: &Diagnostic) {
    let text = finding_text(diagnostic, parts.hooks.project());
    parts.view.show(&ViewEvent::Warning { code: Some(diagnostic.code.name()), text: &text });
}

fn warn_unrecorded<T>(parts: &AgentParts, kept: Result<T, AgentError>) {
    if let Err(error) = kept {
        parts.view.show(&ViewEvent::Warning { code: Some("session-not-written"), text: &error.to_string() });
    }
}
