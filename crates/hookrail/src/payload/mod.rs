//! Typed views of the neutral payloads: a tool's response, a model request and a model response.
//!
//! An event carries these values as JSON, so that what no hook changed keeps its bytes. Only this folder
//! knows the names of their members; the guard and every dialect read and write them through these types, and each dialect
//! then writes the shape its own hooks know.

mod lay_over;
mod model_request;
mod model_response;
mod parts;
mod tool_response;

pub use lay_over::{request_with_changes, response_with_changes};
pub use model_request::{ModelMessage, ModelRequest, ModelRole};
pub use model_response::ModelResponse;
pub use tool_response::ToolResponse;

pub(crate) use lay_over::{common_subsequence, request_with_contents, response_with_only_text};
pub(crate) use model_response::{
    answered_response, candidate_with_text, has_other_parts, response_with_text_and_candidates, shown_response,
};
pub(crate) use parts::{content_of_texts, entries_of, list, object};
