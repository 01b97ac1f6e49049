//! What is written of an entry.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use hookrail::document::{recorded_outcome_document, shadow_document};
use hookrail::event::timestamp;
use hookrail::outcome::Health;
use hookrail::recorder::{
    AnsweredEntry, CorrectedEntry, Entry, EntryKind, FiredEntry, LateEntry, LateReason, LostEntry, PersonAnswer,
    RunEntry, TrustEntry,
};
use hookrail::{Decision, EventKind, Json, JsonObject};

use crate::config::InputPolicy;
use crate::record::RecordKind;
use crate::redact::{CopiedPart, Redactor};

/// The version of the record's form.
const VERSION: u32 = 1;

/// Writes the members of a record, in their order, without `seq`, `prev` and `hash`.
pub(crate) struct MemberWriter<'w> {
    pub(crate) redactor: &'w Redactor,
    pub(crate) input: InputPolicy,
    pub(crate) machine: &'w str,
    pub(crate) user: &'w str,
}

/// Members that are appended one after the other.
#[derive(Default)]
struct Members {
    text: Vec<u8>,
    removed: usize,
}

impl Members {
    fn key(&mut self, key: &str) {
        if !self.text.is_empty() {
            self.text.push(b',');
        }
        self.text.push(b'"');
        self.text.extend_from_slice(key.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        push_string(&mut self.text, value);
    }

    fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.string(key, value);
        }
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.key(key);
        self.text.extend_from_slice(value.to_string().as_bytes());
    }

    /// Milliseconds with the microseconds behind the point.
    fn milliseconds(&mut self, key: &str, time: Duration) {
        let micros = time.as_micros();
        self.number(key, format_args!("{}.{:03}", micros / 1000, micros % 1000));
    }
}

fn push_string(text: &mut Vec<u8>, value: &str) {
    // A string has a JSON form.
    let _ = serde_json::to_writer(text, value);
}

fn path_text(path: &Path) -> std::borrow::Cow<'_, str> {
    path.to_string_lossy()
}

impl MemberWriter<'_> {
    /// The members of the record of an entry.
    pub(crate) fn members(&self, entry: &Entry<'_>) -> Vec<u8> {
        let mut members = Members::default();
        members.text.reserve(4096);
        members.number("v", VERSION);
        members.string("at", &timestamp(entry.at));
        members.string("kind", kind_of(&entry.kind).name());
        members.string("machine", self.machine);
        members.string("user", self.user);
        if let Some(host) = entry.host {
            members.key("host");
            let mut inner = Members::default();
            inner.string("name", &host.name);
            inner.optional("version", Some(&host.version));
            push_object(&mut members.text, &inner.text);
        }
        members.string("project", &path_text(entry.project));
        match &entry.kind {
            EntryKind::Fired(fired) => self.fired(&mut members, fired),
            EntryKind::Late(late) => self.late(&mut members, late),
            EntryKind::Answered(answered) => self.answered(&mut members, answered),
            EntryKind::Corrected(corrected) => self.corrected(&mut members, corrected),
            EntryKind::Lost(lost) => self.lost(&mut members, lost),
            EntryKind::Trust(trust) => self.trust(&mut members, trust),
            _ => {}
        }
        members.text
    }

    fn fired(&self, members: &mut Members, fired: &FiredEntry<'_>) {
        let event = fired.event;
        members.string("fire", fired.fire);
        members.string("session", event.session_id());
        members.string("event", event.kind().name());
        members.optional("tool", event.text("tool_name").as_deref());
        members.string("cwd", &path_text(event.cwd()));
        members.optional("transcript", Some(event.transcript_path()));
        members.optional("trace", fired.trace.as_deref());
        members.string("config", &fired.configuration.hex());
        members.optional("decision", fired.outcome.effects.decision.map(Decision::name));
        if fired.outcome.effects.stop.is_some() {
            members.number("stop", true);
        }
        match self.input {
            InputPolicy::None => {}
            InputPolicy::Full | InputPolicy::Redacted => {
                self.value(members, "input", &event.fields().to_json(), CopiedPart::Input(event.kind()));
                if members.removed > 0 {
                    members.number("redacted", members.removed);
                }
                self.outcome(members, &recorded_outcome_document(fired.outcome), event.kind());
            }
        }
        members.key("hooks");
        members.text.push(b'[');
        for (place, run) in fired.runs.iter().enumerate() {
            if place > 0 {
                members.text.push(b',');
            }
            push_object(&mut members.text, &self.run(run).text);
        }
        members.text.push(b']');
        if !fired.shadow.is_empty() {
            members.key("shadow");
            members.text.push(b'[');
            for (place, run) in fired.shadow.iter().enumerate() {
                if place > 0 {
                    members.text.push(b',');
                }
                push_object(&mut members.text, &self.run(run).text);
            }
            members.text.push(b']');
        }
        members.milliseconds("ms", fired.duration);
    }

    fn outcome(&self, members: &mut Members, outcome: &Json, event: EventKind) {
        let before = members.removed;
        self.value(members, "outcome", outcome, CopiedPart::Outcome(event));
        let removed = members.removed - before;
        if removed > 0 {
            members.number("outcomeRedacted", removed);
        }
    }

    fn late(&self, members: &mut Members, late: &LateEntry<'_>) {
        members.string("fire", late.fire);
        members.string("session", late.session);
        members.string("event", late.event.name());
        members.string("why", late.why.name());
        // A shadow hook decided nothing about the event: its verdict is that of the run alone.
        if late.why != LateReason::Shadow {
            members.optional("decision", late.run.decision.map(Decision::name));
        }
        if let Some(reason) = late.reason {
            self.text(members, "reason", reason, late.event);
        }
        if let Some(verdict) = late.verdict
            && self.input != InputPolicy::None
        {
            // In the place where a verdict stands that came in time.
            let list = Json::of(&[shadow_document(verdict)]).unwrap_or_else(|_| Json::null());
            let outcome: JsonObject = [("shadow", list)].into_iter().collect();
            self.outcome(members, &outcome.to_json(), late.event);
        }
        members.key("hooks");
        members.text.push(b'[');
        push_object(&mut members.text, &self.run(&late.run).text);
        members.text.push(b']');
    }

    fn answered(&self, members: &mut Members, answered: &AnsweredEntry<'_>) {
        members.optional("fire", answered.fire);
        members.string("session", answered.session);
        members.string("event", answered.event.name());
        members.string("operation", answered.operation);
        members.string("answer", answered.answer.name());
        if self.input == InputPolicy::None {
            return;
        }
        if let PersonAnswer::Refused(why) = answered.answer {
            self.text(members, "because", why, answered.event);
        }
        if let Some(reason) = answered.reason {
            self.text(members, "reason", reason, answered.event);
        }
        if answered.event.spec().has_conversation() && self.input == InputPolicy::Redacted {
            members.key("input");
            self.redactor.replace(answered.input.text(), &mut members.text);
            members.number("redacted", 1);
        } else {
            self.value(members, "input", answered.input, CopiedPart::Input(answered.event));
            if members.removed > 0 {
                members.number("redacted", members.removed);
            }
        }
    }

    /// The reason is in words of the program itself, which may name paths and what the operating system said.
    fn corrected(&self, members: &mut Members, corrected: &CorrectedEntry<'_>) {
        members.optional("fire", corrected.fire);
        members.optional("session", Some(corrected.session));
        members.optional("event", corrected.event.map(EventKind::name));
        members.optional("tool", corrected.tool);
        members.optional("decision", corrected.decision.map(Decision::name));
        members.string("reason", &self.label(corrected.reason));
    }

    fn lost(&self, members: &mut Members, lost: &LostEntry<'_>) {
        members.optional("fire", lost.fire);
        members.string("session", lost.session);
        members.string("event", lost.event.name());
        members.optional("tool", lost.tool);
        members.string("loss", lost.loss);
        members.string("instead", &self.label(lost.instead));
    }

    fn trust(&self, members: &mut Members, trust: &TrustEntry<'_>) {
        members.string("change", trust.change.name());
        members.optional("hook", trust.hook.map(|hook| self.label(hook)).as_deref());
        members.optional("event", trust.event);
        members.optional("content", trust.content);
    }

    fn run(&self, run: &RunEntry<'_>) -> Members {
        let mut members = Members::default();
        members.string("id", &run.id);
        members.string("hook", &self.label(&run.hook.label));
        members.string("dialect", run.hook.dialect.name());
        members.string("layer", run.layer.name());
        members.string("fingerprint", &run.fingerprint);
        members.string("end", run.end.name());
        if let Some(code) = run.exit_code {
            members.number("exit", code);
        }
        // Nearly all runs are well.
        if run.health == Health::Failed {
            members.string("health", run.health.name());
        }
        members.optional("decision", run.decision.map(Decision::name));
        if !run.asked.is_empty() {
            let asked: Vec<String> = run.asked.iter().map(|effect| format!("\"{}\"", effect.name())).collect();
            members.number("asked", format_args!("[{}]", asked.join(",")));
        }
        if let Some(start) = run.start {
            members.milliseconds("start", start);
        }
        members.milliseconds("ms", run.duration);
        members
    }

    /// The label of a hook. That of a hook without a name is its command, which may hold secrets.
    fn label<'t>(&self, label: &'t str) -> Cow<'t, str> {
        match self.input {
            InputPolicy::Full => Cow::Borrowed(label),
            InputPolicy::Redacted | InputPolicy::None => self.redactor.label(label),
        }
    }

    /// A text that a hook or the user gave about an event.
    fn text(&self, members: &mut Members, key: &str, text: &str, event: EventKind) {
        match self.input {
            InputPolicy::Full => members.string(key, text),
            InputPolicy::Redacted => members.string(key, &self.redactor.text(text, event)),
            InputPolicy::None => {}
        }
    }

    fn value(&self, members: &mut Members, key: &str, value: &Json, part: CopiedPart) {
        members.key(key);
        if self.input == InputPolicy::Full {
            members.text.extend_from_slice(value.text().as_bytes());
        } else {
            members.removed += self.redactor.copy(value.text(), part, &mut members.text);
        }
    }
}

fn push_object(text: &mut Vec<u8>, members: &[u8]) {
    text.push(b'{');
    text.extend_from_slice(members);
    text.push(b'}');
}

fn kind_of(kind: &EntryKind<'_>) -> RecordKind {
    match kind {
        EntryKind::Fired(_) => RecordKind::Fired,
        EntryKind::Late(_) => RecordKind::Late,
        EntryKind::Answered(_) => RecordKind::Answered,
        EntryKind::Corrected(_) => RecordKind::Corrected,
        EntryKind::Lost(_) => RecordKind::Lost,
        EntryKind::Trust(_) => RecordKind::Trust,
        _ => RecordKind::Other,
    }
}
