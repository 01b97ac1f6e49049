//! Messages and blocks of modules in the forms of the host's request.

use super::members::{blocks_of, member, role, text_member};
use super::shown::ShownMessage;
use crate::json::{Json, JsonObject};
use crate::payload::{list, object};

/// The result of a tool that a module wrote or changed, as a part of the provider. A tool that the module did not rename keeps
/// the name that the host knows it by.
pub(super) fn result_part(message: &Json, listed: Option<&Json>, own: Option<&Json>) -> Json {
    let failed = member(message, "isError").is_some_and(|failed| failed.text() == "true");
    let blocks = blocks_of(message);
    let output = match blocks.as_slice() {
        [block] => text_member(block, "text").map_or_else(|| list(blocks.clone()), |text| Json::string(&text)),
        _ => list(blocks),
    };
    let response = object([(if failed { "error" } else { "output" }, output)]);
    let given = member(message, "toolName").unwrap_or_else(Json::null);
    let is_renamed = listed.and_then(|listed| member(listed, "toolName")).is_none_or(|name| !name.same_as(&given));
    let name = own.and_then(|own| member(own, "name")).filter(|_| !is_renamed).unwrap_or(given);
    let id = member(message, "toolCallId").unwrap_or_else(Json::null);
    object([("functionResponse", object([("id", id), ("name", name), ("response", response)]))])
}

/// A tool call that a module saw under its own names, with those of the host: as it was, or with the arguments that the module
/// changed.
pub(super) fn renamed_call(shown: &ShownMessage, listed: Option<&Json>, block: &Json) -> Option<Json> {
    let id = text_member(block, "id").filter(|_| text_member(block, "type").as_deref() == Some("toolCall"))?;
    let has_id = |known: &Json| text_member(known, "id").as_deref() == Some(&*id);
    let own = shown.blocks.iter().find(|(_, known)| has_id(known)).map(|(part, _)| part)?;
    let listed = blocks_of(listed?).into_iter().find(has_id)?;
    if listed.same_as(block) {
        return Some(own.clone());
    }
    let mut part = own.as_object()?;
    let mut call = part.get("functionCall")?.as_object()?;
    let members = |value: Option<Json>| value.and_then(|value| value.as_object()).unwrap_or_default();
    let (before, own_args) = (members(member(&listed, "arguments")), members(call.get("args").cloned()));
    // The host lists the arguments in their order, under other names.
    let own_name = |name: &str| {
        let at = before.iter().position(|(known, _)| known == name)?;
        own_args.iter().nth(at).map(|(own, _)| own.to_owned())
    };
    let args = members(member(block, "arguments"));
    let args: JsonObject =
        args.iter().map(|(name, value)| (own_name(name).unwrap_or_else(|| name.to_owned()), value.clone())).collect();
    if member(&listed, "name").zip(member(block, "name")).is_none_or(|(before, now)| !before.same_as(&now)) {
        call.set("name", member(block, "name")?);
    }
    call.set("args", args.to_json());
    part.set("functionCall", call.to_json());
    Some(part.to_json())
}

/// A block that a module wrote, as a part of the provider.
pub(super) fn part_of(block: &Json) -> Json {
    let of = |key: &str| member(block, key).unwrap_or_else(Json::null);
    let text = || text_member(block, "text").unwrap_or_else(|| block.as_str().unwrap_or_default());
    match text_member(block, "type").as_deref() {
        Some("toolCall") => {
            let call = object([("id", of("id")), ("name", of("name")), ("args", of("arguments"))]);
            object([("functionCall", call)])
        }
        Some("image") => {
            let data = object([("mimeType", of("mimeType")), ("data", of("data"))]);
            object([("inlineData", data)])
        }
        Some("thinking") => object([("text", of("thinking")), ("thought", Json::boolean(true))]),
        _ => object([("text", Json::string(&text()))]),
    }
}

/// A message as `{role, content: "text"}`. Only text goes to a model this way; what a module adds itself counts as the
/// user's.
pub(super) fn as_text_message(message: &Json) -> Json {
    let text: String = blocks_of(message).iter().filter_map(|block| text_member(block, "text")).collect();
    object([("role", Json::string(&request_role(message))), ("content", Json::string(&text))])
}

/// A message with the content that a module gave it, in the place of one whose content was more than text.
pub(super) fn as_own_message(own: &Json, message: &Json) -> Json {
    let Some(mut members) = own.as_object() else { return message.clone() };
    members.set("content", member(message, "content").unwrap_or_else(Json::null));
    members.to_json()
}

fn request_role(message: &Json) -> String {
    match role(message).as_str() {
        "assistant" => "model".to_owned(),
        role @ ("user" | "model") => role.to_owned(),
        _ => "user".to_owned(),
    }
}
