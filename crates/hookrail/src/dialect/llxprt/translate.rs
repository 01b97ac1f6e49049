//! Between a host's own model request or response and the text-only form that hooks of this dialect see.

use super::model;
use crate::json::Json;
use crate::payload::{ModelRequest, request_with_changes, response_with_changes};

/// The request as hooks know it: `model`, `messages`, `config`, `toolConfig`.
#[must_use]
pub fn to_hook_request(request: &Json) -> Json {
    ModelRequest::read(request).without_others().to_json()
}

/// The response as hooks know it: `text`, `candidates`, `usageMetadata`.
#[must_use]
pub fn to_hook_response(response: &Json) -> Json {
    model::response_on_stdin(response)
}

/// The host's request with what hooks made of it. A request that no hook changed comes back identical.
#[must_use]
pub fn from_hook_request(changed: &Json, base: &Json) -> Json {
    request_with_changes(changed, base)
}

/// The host's response with what hooks made of it; parts that are not text stay.
#[must_use]
pub fn from_hook_response(changed: &Json, base: &Json) -> Json {
    response_with_changes(changed, base)
}
