//! Reads the event that options describe.

use std::io::Read as _;

use hookrail::{Json, JsonObject};
use hookrail_app::event_draft::{EventFields, find_kind, parse_json, parse_payload};
use hookrail_app::failure::{Failure, Result};

use super::EventArgs;

impl EventArgs {
    /// Reads the fields of the event. Its name may be the one that the agent of the options has for it.
    pub(crate) fn fields(&self) -> Result<EventFields> {
        let of_agent = self.agent.and_then(|agent| agent.find_event(&self.name));
        let name = of_agent.map_or_else(|| self.name.clone(), |event| event.kind.name().to_owned());
        find_kind(&name)?;
        Ok(EventFields {
            name,
            payload: self.payload.as_deref().map(read_payload).transpose()?,
            tool: self.tool.clone(),
            tool_input: read_json("--tool-input", self.tool_input.as_deref())?,
            tool_response: read_json("--tool-response", self.tool_response.as_deref())?,
            prompt: self.prompt.clone(),
            session_id: self.session_id.clone(),
            transcript: self.transcript.clone(),
        })
    }
}

/// Reads the value of an option: `@FILE` for a file, or the JSON text itself.
pub(super) fn read_json(option: &str, given: Option<&str>) -> Result<Option<Json>> {
    let read = |given: &str| match given.strip_prefix('@') {
        Some(file) => parse_json(file, &read_file(option, file)?),
        None => parse_json(option, given),
    };
    given.map(read).transpose()
}

/// Reads the value of `--payload`: `-` for standard input, `@FILE` for a file, or the JSON text itself.
pub(super) fn read_payload(given: &str) -> Result<JsonObject> {
    let (name, text) = match (given, given.strip_prefix('@')) {
        ("-", _) => ("standard input", read_stdin()?),
        (_, Some(file)) => (file, read_file("--payload", file)?),
        _ => ("--payload", given.to_owned()),
    };
    parse_payload(name, &text)
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(|error| {
        Failure::new(format!("standard input cannot be read: {error}"))
            .hint("`--payload -` expects one JSON object in UTF-8")
    })?;
    Ok(text)
}

fn read_file(option: &str, file: &str) -> Result<String> {
    std::fs::read_to_string(file).map_err(|error| {
        Failure::new(format!("the file `{file}` cannot be read: {error}"))
            .hint(format!("`{option} @FILE` expects one JSON object in UTF-8"))
    })
}
