//! The tools that a request offers to a model, and which of them a name means.

use super::Tools;
use crate::dialect_id::DialectId;
use crate::json::Json;

/// The names of the tools that a request declares.
pub(crate) fn offered_tools(request: &Json) -> Vec<String> {
    let tools = request.as_object().and_then(|request| request.get("tools")?.as_array()).unwrap_or_default();
    tools.iter().flat_map(names).collect()
}

fn names(tool: &Json) -> Vec<String> {
    let declarations = tool.as_object().and_then(|tool| tool.get("functionDeclarations")?.as_array());
    match declarations {
        Some(declarations) => declarations.iter().filter_map(declared_name).collect(),
        None => declared_name(tool).into_iter().collect(),
    }
}

/// The name of a declaration: its `name`, or that of the object in `function`.
pub(crate) fn declared_name(declaration: &Json) -> Option<String> {
    let object = declaration.as_object()?;
    let inner = object.get("function").and_then(Json::as_object);
    inner.as_ref().unwrap_or(&object).get("name")?.as_str()
}

impl Tools {
    /// What the host calls the tool that a hook of a dialect names: a name that is offered or that the host declared stays; else
    /// it is the tool's name among those that are offered, or the host's, or the dialect's. None if no table has the name, or if it
    /// has several meanings.
    pub(crate) fn offered_as(&self, name: &str, dialect: DialectId, offered: &[String]) -> Option<String> {
        if offered.iter().any(|known| known == name) || self.declared(name).is_some() {
            return Some(name.to_owned());
        }
        let declares = |names: &super::names::DialectNames| names.dialect == dialect && names.name == name;
        if let Some(tool) = self.declared.iter().find(|tool| tool.dialects.iter().any(declares)) {
            return Some(tool.name.clone());
        }
        self.table()?.offered_as(name, dialect, offered)
    }
}
