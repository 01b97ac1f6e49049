//! Examples of rules: lines and calls that a rule matches, and others that it does not. They are tried when the rule is loaded.

use std::ops::Range;

use super::facts::CallFacts;
use super::judge::{RuleVerdict, judge};
use super::rule::Rule;
use super::scene::RuleScene;
use crate::config::{PlacedValue, ValueShape};
use crate::event::{Event, EventKind};
use crate::json::Json;
use crate::tools::Tools;

/// An example.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) call: ExampleCall,
    /// Whether the rule matches it.
    pub(crate) is_match: bool,
    pub(crate) span: Range<usize>,
}

/// What an example is.
#[derive(Clone, Debug)]
pub(crate) enum ExampleCall {
    /// A shell line; for a rule about prompts, a prompt.
    Line(String),
    /// A call of a tool.
    Tool(String, Json),
}

impl Example {
    pub(crate) fn read(value: &PlacedValue, is_match: bool) -> Result<Self, String> {
        let call = match &value.shape {
            ValueShape::Text(line) => ExampleCall::Line(line.clone()),
            ValueShape::Object(_) => {
                let tool = value.get("tool").and_then(PlacedValue::text);
                let input = value.get("input").filter(|input| input.members().is_some());
                let (Some(tool), Some(input)) = (tool, input) else {
                    return Err("an example of a tool is { tool = \"write_file\", input = { file_path = \".env\" } }"
                        .to_owned());
                };
                ExampleCall::Tool(tool.to_owned(), input.to_json())
            }
            ValueShape::Array(_)
            | ValueShape::Number(_)
            | ValueShape::Flag(_)
            | ValueShape::Date(_)
            | ValueShape::Null => {
                return Err(format!("an example is a shell line or a table, not {}", value.described_plainly()));
            }
        };
        Ok(Self { call, is_match, span: value.span.clone() })
    }

    /// The example as it is shown.
    pub(crate) fn shown(&self) -> String {
        match &self.call {
            ExampleCall::Line(line) => line.clone(),
            ExampleCall::Tool(tool, input) => format!("{tool} {}", input.text()),
        }
    }

    /// The event of the example.
    pub(crate) fn event(&self, kind: EventKind, scene: &RuleScene) -> Event {
        let event = Event::new(kind, scene.project.as_str());
        match &self.call {
            ExampleCall::Line(prompt) if kind == EventKind::Prompt => event.with_text("prompt", prompt),
            ExampleCall::Line(line) => {
                let input = Json::from(serde_json::json!({ "command": line }));
                event.with_text("tool_name", "run_shell_command").with("tool_input", input)
            }
            ExampleCall::Tool(tool, input) => event.with_text("tool_name", tool).with("tool_input", input.clone()),
        }
    }
}

/// An example that was tried.
#[derive(Clone, Debug)]
pub struct TriedExample {
    /// The line or the call.
    pub shown: String,
    /// Whether the rule matches it, as it is written.
    pub is_match: bool,
    /// In which way the rule does not do that, if it does not.
    pub problem: Option<String>,
}

/// Tries an example. The error says in which way the rule does not do what the example says.
pub(crate) fn check(rule: &Rule, kind: EventKind, example: &Example, scene: &RuleScene) -> Result<(), String> {
    let (event, tools) = (example.event(kind, scene), Tools::default());
    let facts = CallFacts::new(&event, &tools, scene);
    let matched = judge(rule, &facts);
    let shown = super::explain::short(&example.shown());
    match (matched, example.is_match) {
        (RuleVerdict::Matches(_), true) | (RuleVerdict::DoesNotMatch | RuleVerdict::NotTold(_), false) => Ok(()),
        (RuleVerdict::Matches(found), false) => {
            Err(format!("rule `{}` matches `{shown}`, which it should not: {}", rule.name, found.explanation))
        }
        (RuleVerdict::DoesNotMatch | RuleVerdict::NotTold(_), true) => {
            Err(format!("rule `{}` does not match `{shown}`, which it should", rule.name))
        }
    }
}
