//! The state of a session that the bridge keeps between two events, because each event runs in its own process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hookrail::{Event, Json};
use serde::{Deserialize, Serialize};

use crate::effect::{EffectKind, Handling};
use crate::loss::Loss;
use crate::pieces::{self, ResponsePiece, UnfinishedResponse};
use crate::request::AgentRequest;
use crate::settings::FolderStanding;

/// The agent goes on at most this often because hooks denied the end of its answer. Some agents have no limit of their own: 339
/// rounds were counted in a minute.
pub const MAX_AGENT_END_DENIALS: u32 = 8;

/// The highest number of waiting texts of each kind. A session may last for days. Of the texts for the next event the oldest
/// is dropped; of those for calls the one with the lowest key, because their order is not stored.
const MAX_WAITING: usize = 64;

/// The highest length of a waiting text, in bytes.
const LONGEST_TEXT: usize = 16 * 1024;

/// The highest number of unknown names that are reported in a session.
const MAX_REPORTED: usize = 64;

/// A longer name is not reported, in bytes.
const LONGEST_NAME: usize = 128;

/// The highest length of the stored prompt, in bytes.
const LONGEST_PROMPT: usize = 256 * 1024;

/// How far a stop reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReach {
    /// Until the user sends the next prompt.
    UntilPrompt,
    /// The next prompt is denied too: the agent was told to stop before there was one.
    NextPrompt,
}

/// A stop that the agent's protocol cannot express. Gating events are denied while it is pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingStop {
    /// Why the agent must stop.
    pub reason: String,
    /// How far it reaches.
    pub reach: StopReach,
}

/// What is remembered of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BridgeSession {
    /// The last prompt of the user. LLxprt's hooks need it at the end of an answer, and most agents do not repeat it.
    pub prompt: String,
    /// How often in a row the end of an answer was denied.
    pub agent_end_denials: u32,
    /// Texts that wait for the end of a tool call, by the key of the call.
    pub call_context: BTreeMap<String, String>,
    /// The calls that were rewritten while a text waits for them: the key that the call has now, and the key of its text.
    pub rewritten_calls: BTreeSet<(String, String)>,
    /// The calls about which a guard asks the user, by their keys. While there is one, no hook answers a question of the agent:
    /// it does not say which call it asks about.
    pub asked_calls: BTreeSet<String>,
    /// Texts that wait for the next event that can carry context.
    pub next_context: Vec<String>,
    /// A stop that the agent's protocol cannot express.
    pub stop: Option<PendingStop>,
    /// How often each loss occurred.
    pub losses: BTreeMap<String, u64>,
    /// The unknown names that were reported already, so that an agent with a new tool does not report it at every call.
    pub reported: BTreeSet<String>,
    /// The root of the repository in which the agent was started, as it was at the first event; empty if there was none. The agent
    /// reads files of it, and the model can make another repository later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<PathBuf>,
    /// Whether the agent trusted its folder at the first event. It reads that once, and the model can write the file later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<FolderStanding>,
    /// The responses of which pieces have come, the most recently continued last.
    pub responses: Vec<UnfinishedResponse>,
}

impl BridgeSession {
    /// The state of an event that names no session. What such an event leaves behind would reach an unrelated session, so
    /// nothing is remembered; only the payload itself tells that the end of this answer was denied before.
    #[must_use]
    pub fn without_memory(request: &AgentRequest) -> Self {
        let is_continued = |event: &Event| event.field("stop_hook_active").and_then(Json::as_bool) == Some(true);
        let denials = if request.events.iter().any(is_continued) { MAX_AGENT_END_DENIALS } else { 0 };
        Self { agent_end_denials: denials, ..Self::default() }
    }

    /// Keeps a text for the end of a call, or for the next event if there is no call.
    pub(crate) fn keep_context(&mut self, call: Option<String>, text: String) {
        match call {
            Some(key) => {
                while self.call_context.len() >= MAX_WAITING {
                    self.call_context.pop_first();
                }
                self.rewritten_calls.retain(|(_, call)| self.call_context.contains_key(call));
                let waiting = self.call_context.entry(key).or_default();
                if !waiting.is_empty() {
                    waiting.push('\n');
                }
                waiting.push_str(&text);
                cut(waiting, LONGEST_TEXT);
            }
            None => {
                if self.next_context.len() >= MAX_WAITING {
                    self.next_context.remove(0);
                }
                self.next_context.push(text);
                self.next_context.iter_mut().for_each(|text| cut(text, LONGEST_TEXT));
            }
        }
    }

    /// Remembers that a guard asks the user about a call. Of too many one is kept: each has the same effect.
    pub(crate) fn keep_asked(&mut self, call: String) {
        if self.asked_calls.len() < MAX_WAITING {
            self.asked_calls.insert(call);
        }
    }

    /// Lets the text of a call be found under a second key too. A rewrite changes the key of a call without an id, and the
    /// agent may report the end of the call with either input.
    pub(crate) fn keep_also_under(&mut self, call: String, other: String) {
        if call != other && self.call_context.contains_key(&call) {
            self.rewritten_calls.insert((other, call));
        }
    }

    /// Remembers that a name is reported. Returns whether that is news. When too many were reported, nothing is news.
    pub(crate) fn report(&mut self, name: &str) -> bool {
        self.reported.len() < MAX_REPORTED && name.len() <= LONGEST_NAME && self.reported.insert(name.to_owned())
    }

    /// Removes and returns the text that waits for a call. Of several calls with one key each gets one of their texts.
    pub(crate) fn take_call_context(&mut self, call: &str) -> Option<String> {
        let rewritten = self.rewritten_calls.iter().find(|(key, _)| key == call).map(|(_, call)| call.clone());
        let key = if self.call_context.contains_key(call) { call.to_owned() } else { rewritten? };
        let text = self.call_context.remove(&key)?;
        self.rewritten_calls.retain(|(_, call)| *call != key);
        Some(text)
    }

    /// Denies the calls that follow from a denied prompt, if the agent shows the prompt to the model all the same.
    pub(crate) fn stop_after_denied_prompt(&mut self, request: &AgentRequest, reason: &str) {
        let is_shown = request.agent.handling(request.kind(), EffectKind::Deny) == Handling::DeniedUntilPrompt;
        if is_shown && self.stop.is_none() {
            self.stop = Some(PendingStop { reason: reason.to_owned(), reach: StopReach::UntilPrompt });
        }
    }

    /// Keeps what follows from an answer with these losses that was given without the hooks, because the bridge could wait
    /// no longer.
    pub fn answered_late(&mut self, request: &AgentRequest, losses: &[Loss]) {
        for loss in losses {
            *self.losses.entry(loss.name()).or_default() += 1;
        }
        if losses.iter().any(|loss| loss.handling == Handling::DeniedUntilPrompt) {
            self.stop_after_denied_prompt(request, "hookrail: the hooks did not answer in time about the prompt");
        }
    }

    /// Keeps a piece of a response until the last one comes.
    pub fn keep_piece(&mut self, piece: &ResponsePiece) {
        pieces::keep(&mut self.responses, piece);
    }

    /// Removes and returns the pieces before the last one, if there are any.
    pub fn take_pieces(&mut self, last: &ResponsePiece) -> Option<UnfinishedResponse> {
        pieces::take(&mut self.responses, last)
    }

    /// Cuts the prompt and the reason of a stop, so that the state of a session stays small. Waiting texts are cut when they
    /// are added.
    pub fn cut_to_size(&mut self) {
        cut(&mut self.prompt, LONGEST_PROMPT);
        if let Some(stop) = &mut self.stop {
            cut(&mut stop.reason, LONGEST_TEXT);
        }
    }

    /// Removes and returns the texts that the current event can carry.
    pub(crate) fn take_context(&mut self, call: Option<&str>) -> Vec<String> {
        let mut texts = std::mem::take(&mut self.next_context);
        texts.extend(call.and_then(|key| self.take_call_context(key)));
        texts
    }
}

/// Cuts a text to at most `limit` bytes, at the boundary of a character.
fn cut(text: &mut String, limit: usize) {
    text.truncate(text.floor_char_boundary(limit));
}
