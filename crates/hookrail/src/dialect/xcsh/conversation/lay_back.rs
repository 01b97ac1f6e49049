//! What a module returned is laid over the host's request: which entry each message was, and what becomes of it.

use super::members::{blocks_of, member, role, text_member};
use super::shown::ShownMessage;
use super::written::{as_own_message, as_text_message, part_of, renamed_call, result_part};
use super::{HostRequest, MessagePlace, RequestEntry, RequestForm};
use crate::json::Json;
use crate::payload::{common_subsequence, list, object};

impl HostRequest {
    /// The entries with the returned messages. Entries that no module saw keep their place.
    pub(super) fn lay_back(&self, shown: &[Json], returned: &[Json]) -> Vec<Json> {
        let places = self.find_origins(shown);
        let origin = match_returned(shown, returned);
        let seen: Vec<MessagePlace> = places.iter().flatten().copied().collect();
        let mut out = Vec::new();
        let mut next = 0;
        let mut at = 0;
        let mut last_entry = None;
        while let Some(message) = returned.get(at) {
            let from = origin.get(at).copied().flatten();
            let place = from.and_then(|from| places.get(from).copied().flatten());
            let is_same = from.and_then(|from| shown.get(from)).is_some_and(|old| old.same_as(message));
            if let Some((entry, _)) = place {
                self.push_unseen(next..entry, &seen, &mut out);
                next = next.max(entry + 1);
            }
            match place.and_then(|place| Some((place, self.entries.get(place.0)?))) {
                Some(((number, 0), entry))
                    if is_same && self.is_whole(number, at, &places, &origin, shown, returned) =>
                {
                    out.push(entry.own.clone());
                    last_entry = None;
                    at += entry.shown.len();
                    continue;
                }
                Some((place, entry)) => {
                    let listed = from.and_then(|from| shown.get(from));
                    let rewritten = self.rewrite_message(entry, self.shown_at(place), listed, message);
                    // Results of one entry stay together: a provider wants all of a turn at once.
                    match out.last_mut().filter(|_| last_entry == Some(place.0)) {
                        Some(last) => append_parts(last, &rewritten),
                        None => out.push(rewritten),
                    }
                    last_entry = Some(place.0).filter(|_| self.form == RequestForm::Contents);
                }
                // The host's request does not have it, and no module changed that.
                None if is_same => {}
                None => {
                    out.push(self.write_message(message));
                    last_entry = None;
                }
            }
            at += 1;
        }
        self.push_unseen(next..self.entries.len(), &seen, &mut out);
        out
    }

    /// Adds the entries in a range that show nothing, or only messages that the host did not list.
    fn push_unseen(&self, range: std::ops::Range<usize>, seen: &[MessagePlace], out: &mut Vec<Json>) {
        for number in range {
            if let Some(entry) = self.entries.get(number)
                && !seen.iter().any(|(entry, _)| *entry == number)
            {
                out.push(entry.own.clone());
            }
        }
    }

    /// Whether all messages of an entry came back unchanged, one after the other, from this place on.
    fn is_whole(
        &self,
        entry: usize,
        at: usize,
        places: &[Option<MessagePlace>],
        origin: &[Option<usize>],
        shown: &[Json],
        returned: &[Json],
    ) -> bool {
        let count = self.entries.get(entry).map_or(0, |entry| entry.shown.len());
        (0..count).all(|message| {
            let Some(from) = origin.get(at + message).copied().flatten() else { return false };
            let is_same = shown.get(from).zip(returned.get(at + message)).is_some_and(|(old, new)| old.same_as(new));
            is_same && places.get(from).copied().flatten() == Some((entry, message))
        })
    }

    /// Which message of the request each shown message is. A host may list its messages itself, so they are compared by
    /// role, text and tool calls.
    fn find_origins(&self, shown: &[Json]) -> Vec<Option<MessagePlace>> {
        let places = self.places();
        let own: Vec<String> =
            places.iter().filter_map(|place| Some(comparison_key(&self.shown_at(*place)?.message))).collect();
        let listed: Vec<String> = shown.iter().map(comparison_key).collect();
        let mut origins = vec![None; shown.len()];
        for (a, b) in common_subsequence(listed.len(), own.len(), |a, b| listed.get(a) == own.get(b)) {
            if let Some(origin) = origins.get_mut(a) {
                *origin = places.get(b).copied();
            }
        }
        origins
    }

    /// A message that a module changed, in the form of the entry that it was. `listed` is the message as the module saw it,
    /// in which tools have the module's names.
    fn rewrite_message(
        &self,
        entry: &RequestEntry,
        shown: Option<&ShownMessage>,
        listed: Option<&Json>,
        message: &Json,
    ) -> Json {
        let Some(shown) = shown else { return self.write_message(message) };
        if self.form != RequestForm::Contents {
            let is_text =
                entry.own.as_object().is_none_or(|own| own.get("content").is_none_or(|it| it.as_str().is_some()));
            return if is_text { as_text_message(message) } else { as_own_message(&entry.own, message) };
        }
        let Some(mut own) = entry.own.as_object() else { return self.write_message(message) };
        let hidden = own.get("parts").and_then(Json::as_array).unwrap_or_default().into_iter().filter(|part| {
            let is_shown = |shown: &ShownMessage| shown.blocks.iter().any(|(own, _)| own.same_as(part));
            !entry.shown.iter().any(is_shown)
        });
        // Parts that modules are not shown, such as the signature of a thought, belong to an entry with one message.
        let mut parts: Vec<Json> = if entry.shown.len() == 1 { hidden.collect() } else { Vec::new() };
        if role(message) == "toolResult" {
            let own = shown.blocks.first().and_then(|(part, _)| member(part, "functionResponse"));
            parts.push(result_part(message, listed, own.as_ref()));
        } else {
            parts.extend(blocks_of(message).iter().map(|block| {
                let known = shown.blocks.iter().find(|(_, shown)| shown.same_as(block)).map(|(part, _)| part.clone());
                known.or_else(|| renamed_call(shown, listed, block)).unwrap_or_else(|| part_of(block))
            }));
        }
        own.set("parts", list(parts));
        own.to_json()
    }

    /// A message that a module added.
    fn write_message(&self, message: &Json) -> Json {
        if self.form != RequestForm::Contents {
            return as_text_message(message);
        }
        let parts = match role(message).as_str() {
            "toolResult" => list([result_part(message, None, None)]),
            _ => list(blocks_of(message).iter().map(part_of)),
        };
        let role = if role(message) == "assistant" { "model" } else { "user" };
        object([("role", Json::string(role)), ("parts", parts)])
    }
}

/// Adds the parts of one entry of `contents` to another one.
fn append_parts(entry: &mut Json, more: &Json) {
    let parts = |entry: &Json| member(entry, "parts").and_then(|parts| parts.as_array()).unwrap_or_default();
    let all = parts(entry).into_iter().chain(parts(more));
    if let Some(mut members) = entry.as_object() {
        members.set("parts", list(all));
        *entry = members.to_json();
    }
}

/// Which shown message each returned one was: the same one, else, between two that stayed, the next of the same role.
fn match_returned(shown: &[Json], returned: &[Json]) -> Vec<Option<usize>> {
    let same = |a: usize, b: usize| shown.get(a).zip(returned.get(b)).is_some_and(|(a, b)| a.same_as(b));
    let mut anchors = common_subsequence(shown.len(), returned.len(), same);
    anchors.push((shown.len(), returned.len()));
    let mut became = vec![None; returned.len()];
    let (mut from_shown, mut from_returned) = (0, 0);
    for (to_shown, to_returned) in anchors {
        let mut candidates = from_shown..to_shown;
        for (place, new) in became.iter_mut().zip(returned).take(to_returned).skip(from_returned) {
            *place = candidates.find(|from| shown.get(*from).is_some_and(|old| role(old) == role(new)));
        }
        if let Some(place) = became.get_mut(to_returned) {
            *place = Some(to_shown);
        }
        (from_shown, from_returned) = (to_shown + 1, to_returned + 1);
    }
    became
}

/// What makes two messages the same for the host: role, text, tool calls. A message of a module goes to the model as the
/// user's.
fn comparison_key(message: &Json) -> String {
    let role = match role(message).as_str() {
        "model" | "assistant" => "assistant",
        "toolResult" | "tool" | "function" => "toolResult",
        _ => "user",
    };
    let call = text_member(message, "toolCallId").unwrap_or_default();
    let mut key = format!("{role}\0{call}\0");
    // A host may write the text of a result in its own way; which call it is of says enough.
    if !call.is_empty() {
        return key;
    }
    for block in blocks_of(message) {
        match text_member(&block, "type").as_deref() {
            Some("text") => key.push_str(&text_member(&block, "text").unwrap_or_default()),
            Some("toolCall") => key.push_str(&format!("\0{}", text_member(&block, "id").unwrap_or_default())),
            _ => {}
        }
    }
    key
}
