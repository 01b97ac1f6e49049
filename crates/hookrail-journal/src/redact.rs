//! Removing secrets and prompts before anything is written.
//!
//! JSON is copied as text, so that what stays keeps its bytes. A removed value leaves a keyed hash and its length, so that
//! equal values stay comparable and no value can be guessed without the key of the machine.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use hookrail::event::{Conversation, FieldSpec};
use hookrail::{EventKind, Json};
use hookrail_spawn::Replace;
use sha2::Sha256;

use crate::config::InputPolicy;
use crate::error::JournalError;
use crate::lock_file::{LONGEST_WAIT, LockFile};
use crate::record::{Record, RecordKind};
use crate::secret_names::{MemberValue, is_secret_member, is_secret_name};
use crate::secret_search::{find_secrets, may_tell};
use crate::segment::{hex, open_file};

/// Members whose values are conversations wherever they stand, also in an outcome or in the input of a tool. The fields of
/// events that are conversations are named by the table of events.
const CONVERSATION: [&str; 16] = [
    "prompt",
    "prompt_response",
    "llm_request",
    "llm_response",
    "llmRequest",
    "llmResponse",
    "nativeRequest",
    "nativeResponse",
    "messages",
    "contents",
    "systemInstruction",
    "system_prompt",
    "systemPrompt",
    "entries",
    "last_assistant_message",
    "custom_instructions",
];

/// Members in which an outcome repeats what hooks printed or gave as a reason.
const HOOK_TEXTS: [&str; 13] = [
    "stdout",
    "stderr",
    "reason",
    "stopReason",
    "systemMessage",
    "additionalContext",
    "message",
    "hint",
    "result",
    "finalOutput",
    "allOutputs",
    "errors",
    "hookSpecificOutput",
];

/// Removes what must not be written.
pub(crate) struct Redactor {
    key: [u8; 32],
}

/// What a JSON text that is copied is part of.
#[derive(Clone, Copy, Debug)]
enum CopiedPart {
    /// The input of an event of that kind: secrets and conversations are removed.
    Input(EventKind),
    /// The outcome of an event of that kind. If hooks were given a conversation, what they said about it is removed too:
    /// they may repeat it.
    Outcome(EventKind),
}

impl Redactor {
    /// The redactor of this machine. Its key is made when it is first needed, under the lock of the journal.
    pub(crate) fn open(directory: &Path) -> Result<Self, JournalError> {
        if let Some(redactor) = Self::read(directory)? {
            return Ok(redactor);
        }
        let lock = LockFile::open(directory)?;
        lock.wait(LONGEST_WAIT)?;
        let made = Self::read(directory).and_then(|found| found.map_or_else(|| Self::make(directory), Ok));
        lock.release()?;
        made
    }

    /// Reads the key, if one was made. One that was cut short is none: refusing it would end recording for good.
    fn read(directory: &Path) -> Result<Option<Self>, JournalError> {
        let path = directory.join("key");
        let mut options = OpenOptions::new();
        let mut file = match open_file(&path, options.read(true)) {
            Ok(file) => file,
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut key = [0; 32];
        match file.read_exact(&mut key) {
            Ok(()) => Ok(Some(Self { key })),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(JournalError::io(&path, error)),
        }
    }

    /// Makes a key and puts it in place as a whole, also over a loss of power.
    fn make(directory: &Path) -> Result<Self, JournalError> {
        let path = directory.join("key");
        let io = |error| JournalError::io(&path, error);
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| io(io::Error::other(error.to_string())))?;
        hookrail_spawn::replace_file(&path, &key, &Replace::PRIVATE).map_err(io)?;
        Ok(Self { key })
    }

    /// Returns what may be written of a record.
    pub(crate) fn redact<'r>(&self, mut record: Record<'r>, policy: InputPolicy) -> Record<'r> {
        if policy == InputPolicy::Full {
            return record;
        }
        // A hook without a name has its command as its label. The other two are words of programs, which may name paths and what
        // the operating system said.
        let labels = record.hooks.iter_mut().flatten().chain(&mut record.shadow).map(|run| &mut run.hook);
        labels.chain(&mut record.hook).chain(&mut record.instead).for_each(|label| self.redact_label(label));
        let event = record.event_kind();
        if record.kind == RecordKind::Corrected {
            record.reason.iter_mut().for_each(|reason| self.redact_label(reason));
        } else {
            let event = event.filter(|_| policy == InputPolicy::Redacted);
            let kept = |text: Cow<'r, str>| Some(Cow::Owned(self.text(&text, event?).into_owned()));
            record.because = record.because.and_then(kept);
            record.reason = record.reason.and_then(kept);
        }
        (record.input, record.redacted) = match (record.input, event) {
            (Some(input), Some(event)) if policy == InputPolicy::Redacted => {
                match record.kind == RecordKind::Answered && event.spec().has_conversation() {
                    true => (self.replaced(&input), 1),
                    false => self.copied(input, CopiedPart::Input(event)),
                }
            }
            (Some(_) | None, _) => (None, 0),
        };
        (record.outcome, record.outcome_redacted) = match (record.outcome, event) {
            (Some(outcome), Some(event)) if policy == InputPolicy::Redacted => {
                self.copied(outcome, CopiedPart::Outcome(event))
            }
            (Some(_) | None, _) => (None, 0),
        };
        record
    }

    fn redact_label(&self, label: &mut Cow<'_, str>) {
        if let Some((clean, _)) = self.without_secrets(label) {
            *label = Cow::Owned(clean);
        }
    }

    /// What stays of a value, and how much was removed from it. What could not be read again is not written.
    fn copied(&self, value: Json, part: CopiedPart) -> (Option<Json>, u64) {
        let mut text = Vec::with_capacity(value.text().len());
        match self.copy(value.text(), part, &mut text) {
            0 => (Some(value), 0),
            removed => (read_again(&text), removed as u64),
        }
    }

    /// What stays of a value that is removed whole.
    fn replaced(&self, value: &Json) -> Option<Json> {
        let mut text = Vec::new();
        self.replace(value.text(), &mut text);
        read_again(&text)
    }

    /// Copies a JSON text, which is valid, and returns how many values were removed.
    fn copy(&self, json: &str, part: CopiedPart, into: &mut Vec<u8>) -> usize {
        let (CopiedPart::Input(event) | CopiedPart::Outcome(event)) = part;
        let spec = event.spec();
        let removes_texts = matches!(part, CopiedPart::Outcome(_)) && spec.has_conversation();
        let copying = Copying {
            redactor: self,
            text: json,
            fields: spec.fields,
            removes_texts,
            into,
            at: 0,
            value_until: 0,
            removed: 0,
        };
        copying.run()
    }

    /// What stays of a text that a hook or the user gave about an event of that kind.
    fn text<'t>(&self, text: &'t str, event: EventKind) -> Cow<'t, str> {
        if event.spec().has_conversation() && !text.is_empty() {
            return Cow::Owned(self.instead_of(text));
        }
        self.without_secrets(text).map_or(Cow::Borrowed(text), |(text, _)| Cow::Owned(text))
    }

    /// Writes what stays of a value, which is JSON, that is removed whole. The hash and the length of a string are those of
    /// its text, so that they are equal to those of the same text inside another one.
    fn replace(&self, value: &str, into: &mut Vec<u8>) {
        let value = unescaped(value);
        let member = format!(r#"{{"redacted":"{}","bytes":{}}}"#, self.keyed(&value), value.len());
        into.extend_from_slice(member.as_bytes());
    }

    /// What stays of a value inside a text.
    fn instead_of(&self, value: &str) -> String {
        format!("[redacted {} {} bytes]", self.keyed(value), value.len())
    }

    fn keyed(&self, value: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(value.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let mut text = String::from_utf8_lossy(&hex(&digest)).into_owned();
        text.truncate(32);
        text
    }

    /// The text without secrets, and how many there were; none if there are none.
    fn without_secrets(&self, text: &str) -> Option<(String, usize)> {
        let secrets = find_secrets(text);
        if secrets.is_empty() {
            return None;
        }
        let mut kept = String::new();
        let mut done = 0;
        for secret in &secrets {
            let parts = (text.get(done..secret.range.start), text.get(secret.range.clone()));
            // A secret ends between characters; if one did not, nothing of the text would stay.
            let (Some(before), Some(value)) = parts else { return Some((self.instead_of(text), 1)) };
            kept.push_str(before);
            kept.push_str(&self.instead_of(&unescaped_often(value, secret.escaped)));
            done = secret.range.end;
        }
        kept.push_str(text.get(done..).unwrap_or_default());
        Some((kept, secrets.len()))
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// A copy in progress. It goes through the text once and keeps no stack: the only thing that counts is which member a
/// value belongs to, and a string that a colon follows is a member's name.
struct Copying<'c> {
    redactor: &'c Redactor,
    text: &'c str,
    /// The fields of the event, some of which are conversations.
    fields: &'static [FieldSpec],
    /// Whether what hooks said is removed.
    removes_texts: bool,
    into: &'c mut Vec<u8>,
    at: usize,
    /// The end of the object in which `value` is a secret, because its `name` tells.
    value_until: usize,
    removed: usize,
}

impl Copying<'_> {
    fn run(mut self) -> usize {
        let bytes = self.text.as_bytes();
        while let Some(rest) = bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            let Some(offset) = memchr::memchr(b'"', rest) else {
                self.into.extend_from_slice(rest);
                break;
            };
            let begin = self.at + offset;
            let end = end_of_string(bytes, begin);
            self.into.extend_from_slice(bytes.get(self.at..begin).unwrap_or_default());
            self.at = end;
            if bytes.get(end) == Some(&b':') {
                self.member(begin, end);
            } else {
                self.string(begin, end);
            }
        }
        self.removed
    }

    /// Copies the name of a member, and its value if that is to be removed.
    fn member(&mut self, begin: usize, end: usize) {
        let bytes = self.text.as_bytes();
        self.into.extend_from_slice(bytes.get(begin..=end).unwrap_or_default());
        self.at = end + 1;
        let Some(name) = self.text.get(begin + 1..end - 1) else { return };
        let name = meant(name);
        let is_said = self.removes_texts && HOOK_TEXTS.contains(&&*name);
        let is_conversation = self.is_conversation(&name);
        let is_value = matches!(&*name, "value" | "Value");
        let is_name = matches!(&*name, "name" | "Name" | "key" | "Key");
        if !(is_said || is_conversation || is_value || is_name || may_tell(&name)) {
            return;
        }
        let value_end = end_of_value(bytes, self.at);
        let Some(value) = self.text.get(self.at..value_end) else { return };
        // There is nothing in these, and nothing more to remove.
        if matches!(value, "null" | "true" | "false" | "[]" | "{}" | "\"\"") || is_left_by_redaction(value) {
            return;
        }
        if is_name && is_secret_name(&unescaped(value)) {
            self.value_until = end_of_object(bytes, value_end);
        }
        if is_said {
            self.replace_said(&name, value);
        } else if is_conversation || is_secret(&name, value) || is_value && self.is_value_of_secret(value, value_end) {
            self.redactor.replace(value, self.into);
        } else {
            return;
        }
        self.removed += 1;
        self.at = value_end;
    }

    /// Whether `value` belongs to a `name` in the same object that tells: `{"name": "DB_PASSWORD", "value": …}`.
    fn is_value_of_secret(&self, value: &str, value_end: usize) -> bool {
        let name_behind = || {
            let rest = self.text.get(value_end..)?.strip_prefix(',')?;
            let name =
                ["\"name\":", "\"Name\":", "\"key\":", "\"Key\":"].iter().find_map(|name| rest.strip_prefix(name))?;
            name.get(..end_of_value(name.as_bytes(), 0))
        };
        let is_named =
            value_end <= self.value_until || name_behind().is_some_and(|name| is_secret_name(&unescaped(name)));
        is_named && is_secret("password", value)
    }

    fn is_conversation(&self, name: &str) -> bool {
        let is_one = |field: &FieldSpec| field.conversation == Conversation::Whole && field.name == name;
        CONVERSATION.contains(&name) || self.fields.iter().any(is_one)
    }

    /// Writes what stays of something that a hook said. What programs read as a text stays a text.
    fn replace_said(&mut self, name: &str, value: &str) {
        match serde_json::from_str::<String>(value) {
            Ok(text) if !matches!(name, "stdout" | "stderr") => {
                let _ = serde_json::to_writer(&mut *self.into, &self.redactor.instead_of(&text));
            }
            Ok(_) | Err(_) => self.redactor.replace(value, self.into),
        }
    }

    /// Copies a text without the secrets in it.
    fn string(&mut self, begin: usize, end: usize) {
        let Some(raw) = self.text.get(begin..end) else { return };
        // A secret may stand behind an escaped character, so a text with any is looked at as it is meant.
        let meant: Option<String> = raw.contains('\\').then(|| serde_json::from_str(raw).ok()).flatten();
        let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        let clean = self.redactor.without_secrets(meant.as_deref().unwrap_or(inside));
        match clean.and_then(|(text, removed)| Some((serde_json::to_string(&text).ok()?, removed))) {
            Some((text, removed)) => {
                self.into.extend_from_slice(text.as_bytes());
                self.removed += removed;
            }
            None => self.into.extend_from_slice(raw.as_bytes()),
        }
    }
}

fn read_again(text: &[u8]) -> Option<Json> {
    std::str::from_utf8(text).ok().and_then(|text| Json::parse(text).ok())
}

/// Whether a member of that name holds a secret in that value, which is JSON.
fn is_secret(name: &str, value: &str) -> bool {
    may_tell(name)
        && match value.strip_prefix('"') {
            Some(_) => is_secret_member(name, MemberValue::Text(&unescaped(value))),
            None => is_secret_member(name, MemberValue::Other),
        }
}

/// Whether a value is what `Redactor::replace` writes, in any order of its members.
fn is_left_by_redaction(value: &str) -> bool {
    let members = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|rest| rest.split_once(','));
    let is_hash = |member: &str| {
        let hash = member.strip_prefix("\"redacted\":\"").and_then(|rest| rest.strip_suffix('"'));
        hash.is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let is_length = |member: &str| {
        let digits = member.strip_prefix("\"bytes\":");
        digits.is_some_and(|digits| digits.len() < 20 && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    members.is_some_and(|(one, two)| is_hash(one) && is_length(two) || is_hash(two) && is_length(one))
}

/// A text that was escaped so often; as it is, if that is not so.
fn unescaped_often(text: &str, times: u32) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..times {
        text = match meant(&text) {
            Cow::Borrowed(_) => break,
            Cow::Owned(meant) => Cow::Owned(meant),
        };
    }
    text
}

/// The text of a JSON string; another JSON value as it is.
fn unescaped(value: &str) -> Cow<'_, str> {
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) => meant(inside),
        None => Cow::Borrowed(value),
    }
}

/// The name of a member as it is meant: any character of it may be escaped.
fn meant(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    serde_json::from_str(&format!("\"{name}\"")).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// The place behind the string that begins there.
fn end_of_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(offset) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += offset;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// The place behind the value that begins there.
fn end_of_value(bytes: &[u8], begin: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = begin;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The end of the object that has a value which ends there.
fn end_of_object(bytes: &[u8], value_end: usize) -> usize {
    let mut at = value_end;
    while let Some(b',' | b':') = bytes.get(at) {
        at = end_of_value(bytes, at + 1);
    }
    at
}
