//! Reads the event that the options of `fire` and `explain` describe.

use std::io::Read as _;
use std::path::Path;

use hookrail::JsonObject;
use hookrail_app::event_draft::{EventDraft, EventFields, find_kind, make_event, parse_json};
use hookrail_app::failure::{Failure, Result};

use crate::args::EventArgs;

/// Builds the event that the options describe. Options such as `--tool` override the payload's fields.
pub(crate) fn build_event(args: &EventArgs, project: &Path) -> Result<EventDraft> {
    find_kind(&args.name)?;
    let json = |option: &str, text: &Option<String>| text.as_ref().map(|text| parse_json(option, text)).transpose();
    let fields = EventFields {
        name: args.name.clone(),
        payload: args.payload.as_deref().map(read_payload).transpose()?,
        tool: args.tool.clone(),
        tool_input: json("--tool-input", &args.tool_input)?,
        tool_response: json("--tool-response", &args.tool_response)?,
        prompt: args.prompt.clone(),
        session_id: args.session_id.clone(),
        transcript: args.transcript.clone(),
    };
    make_event(&fields, project)
}

/// Reads the value of `--payload`: `-` for standard input, `@FILE` for a file, or the JSON text itself.
fn read_payload(given: &str) -> Result<JsonObject> {
    let (name, text) = match (given, given.strip_prefix('@')) {
        ("-", _) => ("standard input", read_stdin()?),
        (_, Some(file)) => (file, read_payload_file(file)?),
        _ => ("--payload", given.to_owned()),
    };
    let value = parse_json(name, &text)?;
    if let Some(key) = value.repeated_member() {
        return Err(Failure::new(format!("duplicate key `{key}` in the payload")).hint("write every field once"));
    }
    value.as_object().ok_or_else(|| {
        Failure::new(format!("the payload must be an object, not {}", value.kind().described()))
            .hint("give the event's fields as `{\"field\": value}`")
    })
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(|error| {
        Failure::new(format!("standard input cannot be read: {error}"))
            .hint("`--payload -` expects one JSON object in UTF-8")
    })?;
    Ok(text)
}

fn read_payload_file(file: &str) -> Result<String> {
    std::fs::read_to_string(file).map_err(|error| {
        Failure::new(format!("the payload file `{file}` cannot be read: {error}"))
            .hint("`--payload @FILE` expects one JSON object in UTF-8")
    })
}
