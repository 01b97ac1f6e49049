//! Reads a settings file as its agent does, and as an editor does that has to find its way in it.

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::edit::EditError;
use super::entries::SettingsSyntax;

/// Reads a settings file as its agent does.
///
/// # Errors
///
/// The agent could not read the file.
pub fn read_settings(text: &str, syntax: SettingsSyntax) -> Result<Value, EditError> {
    check_syntax(text, syntax)?;
    root(text).map(|root| to_value(&ast::Value::Object(root)))
}

pub(super) fn to_value(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(text) => Value::from(text.value.as_ref()),
        ast::Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        ast::Value::BooleanLit(boolean) => Value::from(boolean.value),
        ast::Value::Object(object) => {
            let members = object.properties.iter();
            Value::Object(members.map(|member| (member.name.as_str().to_owned(), to_value(&member.value))).collect())
        }
        ast::Value::Array(array) => Value::Array(array.elements.iter().map(to_value).collect()),
        ast::Value::NullKeyword(_) => Value::Null,
    }
}

pub(super) fn syntax_error(text: &str, at: usize, message: String) -> EditError {
    let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    EditError::Syntax { line, message }
}

pub(super) fn check_syntax(text: &str, syntax: SettingsSyntax) -> Result<(), EditError> {
    match syntax {
        SettingsSyntax::JsonWithComments => root(text).map(|_| ()),
        SettingsSyntax::StrictJson => match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => Ok(()),
            Ok(_) => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
            Err(error) => Err(EditError::Syntax { line: error.line(), message: error.to_string() }),
        },
    }
}

pub(super) fn root(text: &str) -> Result<ast::Object<'_>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| syntax_error(text, error.range().start, error.kind().to_string()))?;
    match parsed.value {
        Some(ast::Value::Object(object)) => Ok(object),
        _ => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
    }
}

/// The member that counts: the last one of its name.
pub(super) fn member<'a, 'b>(object: &'b ast::Object<'a>, name: &str) -> Option<&'b ast::Value<'a>> {
    object.properties.iter().rfind(|property| property.name.as_str() == name).map(|property| &property.value)
}
