//! Between a host's own model request, with images and tool calls, and the text-only form that hooks know.

use std::error::Error;

use hookrail::Json;
use hookrail::dialect::llxprt::{from_hook_request, from_hook_response, to_hook_request, to_hook_response};

/// A request of the host: a picture, a tool call and its result among the texts.
const REQUEST: &str = r#"{
  "model": "m-1",
  "contents": [
    { "role": "user", "parts": [{ "text": "what is this?" }, { "inlineData": { "mimeType": "image/png" } }] },
    { "role": "model", "parts": [{ "functionCall": { "name": "look", "args": {} } }] },
    { "role": "user", "parts": [{ "functionResponse": { "name": "look", "response": {} } }] }
  ],
  "generationConfig": { "temperature": 1.0 },
  "tools": [{ "functionDeclarations": [{ "name": "look" }] }]
}"#;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let request = Json::parse(REQUEST)?;

    // region: out
    let shown = to_hook_request(&request);
    assert_eq!(
        shown.text(),
        r#"{"model":"m-1","messages":[{"role":"user","content":"what is this?"}],"config":{"temperature":1.0}}"#
    );
    // endregion

    // region: same
    // A request that no hook changed comes back as it was.
    assert_eq!(from_hook_request(&shown, &request), request);
    // endregion

    // region: back
    // A hook changed a text and a setting. The picture, the call and its result stay where they are.
    let changed = Json::parse(
        r#"{"model":"m-1","messages":[{"role":"user","content":"which bird is this?"}],"config":{"temperature":0}}"#,
    )?;
    let sent = from_hook_request(&changed, &request);
    assert!(sent.text().contains("which bird is this?") && !sent.text().contains("what is this?"));
    for kept in ["inlineData", "functionCall", "functionResponse", "functionDeclarations"] {
        assert!(sent.text().contains(kept));
    }
    // endregion
    assert!(sent.text().contains(r#""temperature":0}"#));

    // region: response
    let response = Json::parse(
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a robin"},{"functionCall":{"name":"sing"}}]}}]}"#,
    )?;
    let shown = to_hook_response(&response);
    assert_eq!(shown.as_object().and_then(|shown| shown.get("text")?.as_str()).as_deref(), Some("a robin"));
    let changed = Json::parse(r#"{"text":"a bird","candidates":[{"content":{"role":"model","parts":["a bird"]}}]}"#)?;
    let used = from_hook_response(&changed, &response);
    assert!(used.text().contains("a bird") && used.text().contains("sing"));
    // endregion
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
