//! The arguments of tools, and the check of a call's arguments.

use hookrail::{Json, JsonKind, JsonObject};

use crate::message::{list, object};

/// One argument.
#[derive(Debug)]
pub(super) struct Parameter {
    name: &'static str,
    kind: Kind,
    required: bool,
    description: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Flag,
    Todos,
}

pub(super) const fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Text, required: true, description }
}

pub(super) const fn number(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Number, required: true, description }
}

pub(super) const fn flag(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, required: true, description }
}

pub(super) const fn todos(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Todos, required: true, description }
}

impl Parameter {
    pub(super) const fn optional(self) -> Self {
        Self { required: false, ..self }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Number => "integer",
            Self::Flag => "boolean",
            Self::Todos => "array",
        }
    }

    fn fits(self, value: &Json) -> bool {
        match self {
            Self::Text => value.kind() == JsonKind::String,
            Self::Number => value.decode::<u64>().is_some(),
            Self::Flag => value.as_bool().is_some(),
            Self::Todos => value.as_array().is_some_and(|todos| todos.iter().all(is_todo)),
        }
    }
}

fn is_todo(value: &Json) -> bool {
    let Some(todo) = value.as_object() else { return false };
    let text = |name: &str| todo.get(name).and_then(Json::as_str);
    text("content").is_some() && matches!(text("status").as_deref(), Some("pending" | "in_progress" | "completed"))
}

/// Returns the JSON Schema of a tool's arguments.
pub(super) fn declaration(parameters: &[Parameter]) -> Json {
    let properties: JsonObject = parameters
        .iter()
        .map(|parameter| {
            let kind = Json::string(parameter.kind.name());
            (parameter.name, object([("type", kind), ("description", Json::string(parameter.description))]))
        })
        .collect();
    let required: Vec<Json> = parameters
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| Json::string(parameter.name))
        .collect();
    object([
        ("type", Json::string("object")),
        ("properties", properties.to_json()),
        ("required", list(&required)),
        ("additionalProperties", Json::boolean(false)),
    ])
}

/// Checks that the arguments are an object with all required members, of the right types, and no others.
pub(super) fn check(parameters: &[Parameter], input: &Json) -> Result<JsonObject, String> {
    let arguments =
        input.as_object().ok_or_else(|| format!("they must be an object, not {}", input.kind().described()))?;
    for (name, value) in arguments.iter() {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
            return Err(format!("it has no argument `{name}`"));
        };
        if !parameter.kind.fits(value) {
            return Err(format!("`{name}` must be of type {}", parameter.kind.name()));
        }
    }
    match parameters.iter().find(|parameter| parameter.required && arguments.get(parameter.name).is_none()) {
        Some(missing) => Err(format!("`{}` is missing", missing.name)),
        None => Ok(arguments),
    }
}

/// Arguments that were checked.
pub(super) struct Arguments(JsonObject);

impl Arguments {
    pub(super) fn new(checked: JsonObject) -> Self {
        Self(checked)
    }

    /// Returns a text; empty if it is missing.
    pub(super) fn text(&self, name: &str) -> String {
        self.0.get(name).and_then(Json::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Json::decode)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Json::as_bool).unwrap_or_default()
    }
}
