//! Applies the changes of hooks to the host's own model request or response.
//!
//! Hooks see text only. Their messages are aligned with the ones that were sent: a message that was kept or changed keeps
//! its parts that are not text, messages without text keep their place, and no tool call ever loses its response.

use super::model_request::{ModelMessage, ModelRequest, ModelRole};
use super::model_response::response_with_text_and_candidates;
use super::parts::{TextForm, entries_of, is_call, list, object, parts_of, text_of_part};
use crate::json::{Json, JsonKind, JsonObject};

/// Returns the host's request with the changes of hooks. A request that no hook changed comes back identical.
///
/// `base` is the request as the host has it, with `contents`; `changed` is the request in the form of
/// [`ModelRequest::to_json`], for example [`Effects::llm_request`](crate::Effects::llm_request).
#[must_use]
pub fn request_with_changes(changed: &Json, base: &Json) -> Json {
    let (Some(mut request), Some(changed)) = (base.as_object(), changed.as_object()) else { return base.clone() };
    let sent = ModelRequest::read(base).without_others().to_object();
    let differs = |key: &str| changed.get(key).filter(|new| sent.get(key).is_none_or(|old| !old.same_as(new)));
    if let Some(model) = differs("model") {
        request.set("model", model.clone());
    }
    if let Some(tools) = differs("toolConfig") {
        request.set("toolConfig", tools.clone());
    }
    if let Some(config) = differs("config").and_then(Json::as_object) {
        let key = if request.get("generationConfig").is_some() { "generationConfig" } else { "config" };
        request.set(key, merged_config(request.get(key), sent.get("config"), &config));
    }
    let messages = differs("messages").and_then(Json::as_array);
    match changed.get("contents").filter(|_| request.get("contents").is_some()) {
        // The change was made to `contents` itself, and `messages` agrees with it, so nothing has to be aligned.
        Some(contents) => {
            let new: Vec<ModelMessage> = messages.iter().flatten().filter_map(ModelMessage::read).collect();
            if !new.is_empty() {
                let is_system = |message: &ModelMessage| message.role == ModelRole::System;
                set_system(&mut request, &new.into_iter().filter(is_system).collect::<Vec<_>>());
            }
            request.set("contents", contents.clone());
        }
        None => {
            if let Some(messages) = messages {
                set_messages(&mut request, &messages);
            }
        }
    }
    request.to_json()
}

/// Returns the host's response with the changes of hooks. Parts that are not text stay, unless a hook gives tool calls: those
/// replace the calls of the model.
#[must_use]
pub fn response_with_changes(changed: &Json, base: &Json) -> Json {
    let (Some(mut response), Some(changed)) = (base.as_object(), changed.as_object()) else { return changed.clone() };
    let old = response.get("candidates").and_then(Json::as_array).unwrap_or_default();
    let sent = response_with_text_and_candidates(base)
        .and_then(|sent| sent.as_object()?.get("candidates")?.as_array())
        .unwrap_or_default();
    let Some(new) = changed.get("candidates").and_then(Json::as_array) else { return base.clone() };
    let candidates = new.iter().enumerate().map(|(at, new)| match (old.get(at), sent.get(at)) {
        (Some(old), Some(sent)) if sent.same_as(new) => old.clone(),
        (Some(old), _) => with_candidate_text(old, new),
        (None, _) => in_text_form(new, contents_form(&old)),
    });
    response.set("candidates", list(candidates));
    for key in ["text", "usageMetadata"] {
        if let (Some(value), true) = (changed.get(key), response.get(key).is_some()) {
            response.set(key, value.clone());
        }
    }
    response.to_json()
}

/// The host's response with this text in the place of everything that the model said: no tool call is left.
pub(crate) fn response_with_only_text(base: &Json, text: &str) -> Json {
    let mut response = base.as_object().unwrap_or_default();
    let old = response.get("candidates").and_then(Json::as_array).unwrap_or_default();
    let content = contents_form(&old).content("model", text);
    let candidate = object([("content", content), ("finishReason", Json::string("STOP"))]);
    response.set("candidates", list([candidate]));
    if response.get("text").is_some() {
        response.set("text", Json::string(text));
    }
    response.to_json()
}

/// The form of the text parts in candidates.
fn contents_form(candidates: &[Json]) -> TextForm {
    let content = |candidate: &Json| candidate.as_object()?.get("content").cloned();
    TextForm::of_contents(&candidates.iter().filter_map(content).collect::<Vec<_>>())
}

/// A candidate that only a hook gave, with its text in the form that the host uses.
fn in_text_form(candidate: &Json, form: TextForm) -> Json {
    let Some(mut members) = candidate.as_object() else { return candidate.clone() };
    if let Some(content) = members.get("content") {
        let text = text_of_content(content).map(|text| form.part(&text));
        let parts = list(text.into_iter().chain(parts_of(content).into_iter().filter(is_call)));
        members.set("content", object([("role", Json::string("model")), ("parts", parts)]));
    }
    members.to_json()
}

/// Returns the host's settings with the changes of hooks. A key that was sent to hooks and that they removed is removed.
fn merged_config(base: Option<&Json>, sent: Option<&Json>, new: &JsonObject) -> Json {
    let mut config = base.and_then(Json::as_object).unwrap_or_default();
    for (key, _) in sent.and_then(Json::as_object).unwrap_or_default().iter() {
        if new.get(key).is_none() {
            config.remove(key);
        }
    }
    config.merge(new);
    config.to_json()
}

fn set_messages(request: &mut JsonObject, messages: &[Json]) {
    let new: Vec<ModelMessage> = messages.iter().filter_map(ModelMessage::read).collect();
    let Some(contents) = request.get("contents").map(entries_of) else {
        // A request without `contents` has no parts that could be lost.
        request.set("messages", list(messages.iter().cloned()));
        return;
    };
    let (system, rest): (Vec<_>, Vec<_>) = new.into_iter().partition(|message| message.role == ModelRole::System);
    set_system(request, &system);
    request.set("contents", list(align_contents(&contents, &rest)));
}

fn set_system(request: &mut JsonObject, system: &[ModelMessage]) {
    let text: String = system.iter().map(|message| message.text.as_str()).collect();
    let old = request.get("systemInstruction").and_then(text_of_content);
    if old.unwrap_or_default() == text {
        return;
    }
    match request.get("systemInstruction").cloned() {
        Some(old) if !text.is_empty() => request.set("systemInstruction", with_text(&old, &text)),
        None if !text.is_empty() => {
            let contents = request.get("contents").map(entries_of).unwrap_or_default();
            request.set("systemInstruction", TextForm::of_contents(&contents).content("system", &text));
        }
        _ => {
            request.remove("systemInstruction");
        }
    }
}

/// The host's contents with the new messages in the place of the old ones.
fn align_contents(contents: &[Json], new: &[ModelMessage]) -> Vec<Json> {
    let visible: Vec<Option<ModelMessage>> = contents.iter().map(ModelMessage::read_content).collect();
    let sent: Vec<&ModelMessage> = visible.iter().flatten().collect();
    let mut positions = new_positions(&sent, new).into_iter();
    let form = TextForm::of_contents(contents);
    let message = |message: &ModelMessage| form.content(message.role.name(), &message.text);
    let mut result = Vec::new();
    let mut inserted = 0;
    for (entry, visible) in contents.iter().zip(&visible) {
        let Some(old) = visible else {
            result.push(entry.clone());
            continue;
        };
        let Some(to) = positions.next().flatten() else {
            result.extend(tool_parts_only(entry));
            continue;
        };
        // New messages keep their place before the message that follows them.
        result.extend(new.get(inserted..to).unwrap_or_default().iter().map(message));
        inserted = to + 1;
        let changed = new.get(to).filter(|new| *new != old);
        result.push(changed.map_or_else(|| entry.clone(), |new| with_text(entry, &new.text)));
    }
    result.extend(new.get(inserted..).unwrap_or_default().iter().map(message));
    result
}

fn text_of_content(entry: &Json) -> Option<String> {
    ModelMessage::read_content(entry).map(|message| message.text)
}

/// Returns for each sent message the position of the new message that corresponds to it, or `None` if it was removed. Equal
/// messages are paired first, by the longest common subsequence. Between two such pairs, messages of the same role are paired
/// in order.
fn new_positions(sent: &[&ModelMessage], new: &[ModelMessage]) -> Vec<Option<usize>> {
    let mut positions = vec![None; sent.len()];
    let mut anchors = common_subsequence(sent.len(), new.len(), |a, b| sent.get(a).copied() == new.get(b));
    anchors.push((sent.len(), new.len()));
    let (mut from_sent, mut from_new) = (0, 0);
    for (to_sent, to_new) in anchors {
        let mut candidates = from_new..to_new;
        for (place, sent) in positions.iter_mut().zip(sent).take(to_sent).skip(from_sent) {
            *place = candidates.find(|to| new.get(*to).is_some_and(|new| new.role == sent.role));
        }
        if let Some(place) = positions.get_mut(to_sent) {
            *place = Some(to_new);
        }
        (from_sent, from_new) = (to_sent + 1, to_new + 1);
    }
    positions
}

/// The longest common subsequence of two lists of these lengths, as pairs of positions. Equal beginnings and endings are
/// paired first, so that the table stays small for the usual change in one place. If the rest is too large for a table, nothing
/// in it is paired.
pub(crate) fn common_subsequence(sent: usize, new: usize, equal: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    const MOST_CELLS: usize = 4_000_000;
    let shortest = sent.min(new);
    let head = (0..shortest).take_while(|at| equal(*at, *at)).count();
    let tail = (0..shortest - head).take_while(|at| equal(sent - 1 - at, new - 1 - at)).count();
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let (rows, columns) = (sent - head - tail, new - head - tail);
    if rows.saturating_mul(columns) <= MOST_CELLS {
        let middle = longest_common_subsequence(rows, columns, |a, b| equal(head + a, head + b));
        pairs.extend(middle.into_iter().map(|(a, b)| (head + a, head + b)));
    }
    pairs.extend((0..tail).rev().map(|at| (sent - 1 - at, new - 1 - at)));
    pairs
}

fn longest_common_subsequence(
    rows: usize,
    columns: usize,
    equal: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let width = columns + 1;
    let mut lengths = vec![0_u32; (rows + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    let get = |lengths: &[u32], row: usize, column: usize| lengths.get(at(row, column)).copied().unwrap_or(0);
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let best = if equal(row, column) {
                get(&lengths, row + 1, column + 1) + 1
            } else {
                get(&lengths, row + 1, column).max(get(&lengths, row, column + 1))
            };
            if let Some(cell) = lengths.get_mut(at(row, column)) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < rows && column < columns {
        if equal(row, column) {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if get(&lengths, row + 1, column) >= get(&lengths, row, column + 1) {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Returns the entry with its first text replaced and its other texts removed. The other parts keep their order.
fn with_text(entry: &Json, text: &str) -> Json {
    let Some(mut object) = entry.as_object() else {
        return TextForm::of_contents(std::slice::from_ref(entry)).content("user", text);
    };
    let parts = object.get("parts").and_then(Json::as_array).unwrap_or_default();
    let mut placed = false;
    let mut kept = Vec::new();
    for part in parts {
        if text_of_part(&part).is_none() {
            kept.push(part);
        } else if !placed {
            placed = true;
            kept.push(text_part_like(&part, text));
        }
    }
    if !placed {
        kept.insert(0, TextForm::of_contents(std::slice::from_ref(entry)).part(text));
    }
    object.set("parts", list(kept));
    object.to_json()
}

/// A text part in the shape of another one.
fn text_part_like(part: &Json, text: &str) -> Json {
    match part.as_object() {
        Some(mut object) => {
            object.set("text", Json::string(text));
            object.to_json()
        }
        None => Json::string(text),
    }
}

/// Returns what stays of a removed message: its tool calls and tool responses. A call and its response are in different
/// messages, and no call may lose its response.
fn tool_parts_only(entry: &Json) -> Option<Json> {
    let mut object = entry.as_object()?;
    let parts = object.get("parts").and_then(Json::as_array)?;
    let paired = |part: &Json| {
        part.as_object()
            .is_some_and(|part| part.get("functionCall").is_some() || part.get("functionResponse").is_some())
    };
    let kept: Vec<Json> = parts.into_iter().filter(paired).collect();
    (!kept.is_empty()).then(|| {
        object.set("parts", list(kept));
        object.to_json()
    })
}

/// Returns the content with these tool calls in the place of its own.
fn with_calls(content: &Json, calls: Vec<Json>) -> Json {
    let Some(mut object) = content.as_object() else { return content.clone() };
    let others = parts_of(content).into_iter().filter(|part| !is_call(part));
    object.set("parts", list(others.chain(calls)));
    object.to_json()
}

fn with_candidate_text(old: &Json, new: &Json) -> Json {
    let (Some(mut candidate), Some(changed)) = (old.as_object(), new.as_object()) else { return new.clone() };
    let text = changed.get("content").and_then(text_of_content).unwrap_or_default();
    if let Some(content) = candidate.get("content").filter(|content| content.kind() == JsonKind::Object).cloned() {
        candidate.set("content", with_text(&content, &text));
    } else {
        candidate.set("content", TextForm::Object.content("model", &text));
    }
    let calls: Vec<Json> =
        changed.get("content").map(parts_of).unwrap_or_default().into_iter().filter(is_call).collect();
    if let Some(content) = candidate.get("content").filter(|_| !calls.is_empty()) {
        candidate.set("content", with_calls(content, calls));
    }
    if let Some(reason) = changed.get("finishReason") {
        candidate.set("finishReason", reason.clone());
    }
    candidate.to_json()
}

/// The rewritten request with the host's own `contents` updated to match it, if the host gave those: hooks of later
/// dialects see tool calls and images too.
pub(crate) fn request_with_contents(request: Json, current: &Json) -> Json {
    let has_contents = current.as_object().is_some_and(|current| current.get("contents").is_some());
    let with_changes = has_contents.then(|| request_with_changes(&request, current)).and_then(|full| full.as_object());
    match (request.as_object(), with_changes.and_then(|full| full.get("contents").cloned())) {
        (Some(mut members), Some(contents)) => {
            members.set("contents", contents);
            members.to_json()
        }
        _ => request,
    }
}
