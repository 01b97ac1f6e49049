//! Keeping and showing what hooks did and want: receipts, messages, entries, warnings.

use std::sync::{Arc, Mutex};

use hookrail::guard::{Notes, Notified, Receipt};
use hookrail::hook::Standing;
use hookrail::{Diagnostic, EventKind, Hook, Json, Level};
use hookrail_spawn::lock;

use super::host::Me;
use super::{Agent, Parts, TurnEnd};
use crate::error::AgentError;
use crate::message::{content_text, list, object};
use crate::session::{EntryKind, Session};
use crate::view::Shown;

impl Agent {
    /// Tells hooks something, and does what every answer can ask for.
    pub(super) async fn tell(&self, kind: EventKind, fields: &[(&str, Json)]) -> Notified {
        let told = self.guard().tell(kind, fields).await;
        self.keep_receipt(kind.name(), &told.receipt);
        self.take_notes(&told.notes);
        if let Some(context) = &told.additional_context {
            self.keep_system(context);
        }
        told
    }

    /// Keeps a receipt, and shows what is wrong. Where no hook took part there is nothing to keep.
    pub(super) fn keep_receipt(&self, operation: &str, receipt: &Receipt) {
        self::receipt(&self.parts, &self.session, operation, receipt);
    }

    /// Puts what hooks said into the conversation and the session.
    pub(super) fn take_notes(&self, notes: &Notes) {
        for text in &notes.system_messages {
            self.view().show(&Shown::SystemMessage { text });
            self.keep_system(text);
        }
        for message in &notes.messages {
            keep_message(&self.parts, &self.session, &self.me, message);
        }
        for entry in &notes.entries {
            keep_entry(&self.parts, &self.session, entry);
        }
    }

    /// Keeps a text for the model that is nobody's message.
    pub(super) fn keep_system(&self, text: &str) {
        let kept = self.session().append(EntryKind::System, &[("text", Json::string(text))]);
        self.complain(kept);
    }

    pub(super) fn keep_turn(&self, message: &Json) {
        let kept = self.session().append_message(message);
        self.complain(kept);
    }

    /// Why the work on a prompt must not go on: something that it would be built on is not in the session, or its result
    /// would reach nobody.
    pub(super) fn obstacle(&self) -> Option<TurnEnd> {
        if let Some(why) = self.session().unrecorded() {
            return Some(TurnEnd::Failed(not_recorded(why)));
        }
        self.view().failure().map(TurnEnd::OutputLost)
    }

    /// How the work on a prompt really ended: there is no answer unless it is recorded and can be read.
    pub(super) fn acknowledged(&self, end: TurnEnd) -> TurnEnd {
        let synced = self.session().sync();
        self.complain(synced);
        let unrecorded = self.session().take_unrecorded();
        match (end, unrecorded) {
            (TurnEnd::Answered(_), Some(why)) => TurnEnd::Failed(not_recorded(&why)),
            (TurnEnd::Answered(text), None) => {
                self.view().failure().map_or(TurnEnd::Answered(text), TurnEnd::OutputLost)
            }
            (end, _) => end,
        }
    }

    /// Fails if something is not in the session that should be.
    pub(super) fn recorded(&self) -> Result<(), AgentError> {
        match self.session().take_unrecorded() {
            Some(why) => Err(AgentError::System(format!("what hooks said cannot be recorded: {why}"))),
            None => Ok(()),
        }
    }

    /// Notes that the session was used. The conversation itself is recorded already.
    pub(super) fn note_use(&self) {
        if self.depth == 0 {
            let id = self.session().id().to_owned();
            self.complain(self.parts.store.note_use(&id));
        }
    }

    /// Says that something could not be kept. What was done cannot be undone; [`Self::obstacle`] ends what would follow.
    pub(super) fn complain<T>(&self, kept: Result<T, AgentError>) {
        complain(&self.parts, kept);
    }

    pub(super) fn warn(&self, diagnostic: &Diagnostic) {
        warn(&self.parts, diagnostic);
    }

    /// Says what loading the hooks noticed this time.
    pub(crate) fn report_loading_again(&self) {
        self.report_loading();
    }

    /// Says what loading the hooks noticed, and which hooks do not run for want of trust.
    pub(super) fn report_loading(&self) {
        let snapshot = self.hooks().snapshot();
        for diagnostic in snapshot.diagnostics() {
            self.warn(diagnostic);
        }
        let untrusted: Vec<&str> =
            snapshot.hooks().iter().filter(|hook| wants_trust(hook)).map(|hook| &*hook.label).collect();
        if !untrusted.is_empty() {
            let text = format!(
                "these hooks of the project are not trusted and do not run: {}; see `hookrail trust`",
                untrusted.join(", ")
            );
            self.view().show(&Shown::Warning { code: Some("untrusted"), text: &text });
        }
    }
}

/// Whether a hook would run if it were trusted. The switches of a project that is not trusted do not count yet.
fn wants_trust(hook: &Hook) -> bool {
    !hook.trust.allows() && matches!(hook.standing, Standing::Active | Standing::NeverSwitchedOn)
}

/// Keeps a receipt, and shows what is wrong.
pub(super) fn receipt(parts: &Parts, session: &Arc<Mutex<Session>>, operation: &str, receipt: &Receipt) {
    for diagnostic in &receipt.diagnostics {
        warn(parts, diagnostic);
    }
    if receipt.ran.is_empty() && receipt.skipped.is_empty() {
        return;
    }
    let json = receipt_json(operation, receipt);
    parts.view.show(&Shown::Receipt { receipt: &json });
    let kept = lock(session).append(EntryKind::Receipt, &[("receipt", json)]);
    complain(parts, kept);
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

/// Keeps a message that a hook put into the conversation, and shows it unless it asks for the opposite. What a module
/// wants to draw itself is drawn when the module has time for it.
pub(super) fn keep_message(parts: &Parts, session: &Arc<Mutex<Session>>, me: &Me, message: &Json) {
    let members = members(message);
    let field = |name: &str| members.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let kept = lock(session).append(EntryKind::CustomMessage, &members);
    complain(parts, kept);
    if field("display").and_then(Json::as_bool).unwrap_or(true) {
        let kind = field("customType").and_then(Json::as_str).unwrap_or_default();
        if parts.view.columns().is_some() && parts.hooks.draws_message(&kind) {
            me.news.draw(message.clone());
        } else {
            show_message(parts, message);
        }
    }
    me.news.wake();
}

/// Shows a message as text.
pub(super) fn show_message(parts: &Parts, message: &Json) {
    let content = message.as_object().and_then(|message| message.get("content").cloned()).unwrap_or_else(Json::null);
    let text = content_text(&content);
    if !text.is_empty() {
        parts.view.show(&Shown::SystemMessage { text: &text });
    }
}

/// Keeps what a hook wants to find again.
pub(super) fn keep_entry(parts: &Parts, session: &Arc<Mutex<Session>>, entry: &Json) {
    let kept = lock(session).append(EntryKind::Custom, &members(entry));
    complain(parts, kept);
}

/// The known members of what a hook wants kept. Others could pass for the entry's own.
pub(super) fn members(value: &Json) -> Vec<(&'static str, Json)> {
    let object = value.as_object().unwrap_or_default();
    let known = ["customType", "content", "data", "display", "details", "triggerTurn"];
    known.into_iter().filter_map(|name| Some((name, object.get(name)?.clone()))).collect()
}

fn not_recorded(why: &str) -> String {
    format!(
        "the conversation cannot be recorded, so the model is not asked: {why}; mend that and send the prompt again"
    )
}

fn warn(parts: &Parts, diagnostic: &Diagnostic) {
    let place = diagnostic.location.as_ref().map(|place| format!(" ({}:{})", place.file.display(), place.line));
    let text = format!("{}{}", diagnostic.message, place.unwrap_or_default());
    let shown = match diagnostic.level {
        Level::Note => return,
        _ => Shown::Warning { code: Some(diagnostic.code.name()), text: &text },
    };
    parts.view.show(&shown);
}

fn complain<T>(parts: &Parts, kept: Result<T, AgentError>) {
    if let Err(error) = kept {
        parts.view.show(&Shown::Warning { code: Some("session-not-written"), text: &error.to_string() });
    }
}
