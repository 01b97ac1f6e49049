//! The answers of the scripted model, as data.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::RequestKind;

/// The answers of the model, turn after turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The agent's own turns. After the last one the model says "done".
    #[serde(default)]
    pub steps: Vec<ScriptStep>,
    /// The answer to every other request.
    #[serde(default = "default_side")]
    pub side: String,
}

fn default_side() -> String {
    "ok".to_owned()
}

/// One turn of the model: a text, tool calls, or both.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// Its text.
    #[serde(default)]
    pub text: Option<String>,
    /// Its tool calls.
    #[serde(default)]
    pub calls: Vec<ModelCall>,
    /// In how many pieces a text is streamed, in the Gemini format.
    #[serde(default)]
    pub pieces: Option<usize>,
    /// The length of the conversation that the model reports, in tokens.
    #[serde(default)]
    pub input_tokens: Option<u64>,
}

impl ScriptStep {
    /// A turn with a text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    /// A turn with one call.
    #[must_use]
    pub fn call(call: ModelCall) -> Self {
        Self { calls: vec![call], ..Self::default() }
    }
}

/// One tool call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCall {
    /// The agent's name for the tool.
    pub name: String,
    /// The arguments; a text in a custom call.
    pub input: Value,
    /// Whether it is a custom tool call of the Responses format.
    #[serde(default)]
    pub custom: bool,
    /// The id, if it must be a certain one.
    #[serde(default)]
    pub id: Option<String>,
    /// The namespace of the tool, in the Responses format.
    #[serde(default)]
    pub namespace: Option<String>,
}

impl ModelCall {
    /// A call of a tool.
    #[must_use]
    pub fn new(name: &str, input: Value) -> Self {
        Self { name: name.to_owned(), input, custom: false, id: None, namespace: None }
    }
}

impl Script {
    /// Whether a request is the agent's own turn: it offers a tool that the script calls, or any tool if the script
    /// calls none. Agents also ask the model for titles, summaries and checks of a quota, and those must not use up a
    /// step.
    pub(super) fn kind_of(&self, body: &Value) -> RequestKind {
        let offered = offered_tools(body);
        let mut called = self.steps.iter().flat_map(|step| &step.calls).peekable();
        let is_own = match called.peek() {
            Some(_) => called.any(|call| offered.contains(call.name.as_str())),
            None => !offered.is_empty(),
        };
        if is_own { RequestKind::Main } else { RequestKind::Side }
    }
}

/// The names of all tools that a request offers, in any of the formats.
fn offered_tools(body: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    collect_names(body.get("tools"), &mut names);
    // Codex may offer its tools as an item of the input.
    let items = body.get("input").and_then(Value::as_array).into_iter().flatten();
    for item in items.filter(|item| item.get("type").and_then(Value::as_str) == Some("additional_tools")) {
        collect_names(item.get("tools"), &mut names);
    }
    names
}

fn collect_names<'v>(tools: Option<&'v Value>, names: &mut BTreeSet<&'v str>) {
    for tool in tools.and_then(Value::as_array).into_iter().flatten() {
        let own = tool.get("name").or_else(|| tool.get("function")?.get("name"));
        names.extend(own.and_then(Value::as_str));
        for group in ["tools", "functionDeclarations", "function_declarations"] {
            collect_names(tool.get(group), names);
        }
    }
}
