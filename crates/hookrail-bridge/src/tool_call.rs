//! One call of a tool, in the agent's words.

use hookrail::{Json, JsonObject};

/// The member that carries an input that is not an object: hooks get objects.
const WRAPPED: &str = "input";

/// A tool call in the agent's words.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentToolCall {
    /// The agent's name for the tool.
    pub name: String,
    /// The agent's input.
    pub agent_input: Json,
    /// The input that hooks get: an object.
    pub input: Json,
}

impl AgentToolCall {
    /// Reads a call.
    #[must_use]
    pub fn read(name: &str, agent_input: Json) -> Self {
        let input = match agent_input.as_object() {
            Some(_) => agent_input.clone(),
            None => [(WRAPPED.to_owned(), agent_input.clone())].into_iter().collect::<JsonObject>().to_json(),
        };
        Self { name: name.to_owned(), agent_input, input }
    }

    /// What hooks made of the input, as the agent has to get it.
    #[must_use]
    pub fn to_agent(&self, input: &Json) -> Json {
        if self.input.same_as(input) {
            return self.agent_input.clone();
        }
        match input.as_object() {
            Some(members) if self.agent_input.as_object().is_none() => {
                members.get(WRAPPED).filter(|_| members.iter().count() == 1).unwrap_or(input).clone()
            }
            _ => input.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_is_not_an_object_is_wrapped_for_hooks_and_unwrapped_again() {
        let call = AgentToolCall::read("BrandNewTool", Json::string("go"));
        assert_eq!(call.input.text(), r#"{"input":"go"}"#);
        assert_eq!(call.to_agent(&call.input).text(), r#""go""#);
        assert_eq!(call.to_agent(&Json::parse(r#"{"input":"stay"}"#).unwrap()).text(), r#""stay""#);
    }
}
