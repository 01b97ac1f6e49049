//! Reads a settings file as its agent does, and as an editor does that has to find its way in it.

use std::path::Path;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::agents::Agent;
use crate::settings::{EditError, SettingsSyntax};

/// Reads a settings file as its agent does.
///
/// # Errors
///
/// The agent could not read the file.
pub fn read_settings(text: &str, syntax: SettingsSyntax) -> Result<Value, EditError> {
    check_syntax(text, syntax)?;
    root(text).map(|root| to_value(&ast::Value::Object(root)))
}

/// Reads a file in which an agent looks for hooks, as the agent does. An empty file says nothing.
///
/// # Errors
///
/// The agent could not read the file.
pub fn read_agent_file(agent: Agent, path: &Path, text: &str) -> Result<Value, EditError> {
    let document = if path.extension().is_some_and(|extension| extension == "toml") {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            syntax_error(text, at, error.message().to_owned())
        })?
    } else if text.trim().is_empty() {
        Value::Null
    } else {
        read_settings(text, SettingsSyntax::of(agent))?
    };
    Ok((agent.spec().install.document)(path, document))
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

/// Checks that an agent can read a settings file.
pub(super) fn check_syntax(text: &str, syntax: SettingsSyntax) -> Result<(), EditError> {
    if text.starts_with('\u{feff}') {
        return Err(EditError::ByteOrderMark);
    }
    match syntax {
        SettingsSyntax::StrictJson => check_json(text),
        SettingsSyntax::JsonWithComments => check_json(&without_comments(text)?),
        SettingsSyntax::LenientJson => root(text).map(|_| ()),
    }
}

fn check_json(text: &str) -> Result<(), EditError> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(()),
        Ok(_) => Err(EditError::Shape { key: "the file".to_owned(), expected: "an object" }),
        Err(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            Err(EditError::Syntax { line: error.line(), message })
        }
    }
}

/// The text with blanks in place of its comments, which is how agents read it that allow them. Lines keep their numbers.
fn without_comments(text: &str) -> Result<String, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: false };
    let parsed = parse_to_ast(text, &collect, &ParseOptions::default());
    let parsed = parsed.map_err(|error| syntax_error(text, error.range().start, error.kind().to_string()))?;
    let comments = parsed.comments.iter().flat_map(|comments| comments.values()).flat_map(|list| list.iter());
    let ranges: Vec<_> = comments.map(|comment| comment.start()..comment.end()).collect();
    let blank = |(at, character): (usize, char)| match character {
        '\n' | '\r' => character,
        _ if ranges.iter().any(|range| range.contains(&at)) => ' ',
        _ => character,
    };
    Ok(text.char_indices().map(blank).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Claude Code and Codex CLI take JSON only, Gemini CLI and Qwen Code take comments too. A trailing comma ends Gemini CLI.
    #[test]
    fn a_file_is_read_as_its_agent_reads_it() {
        for (text, strict, comments, lenient) in [
            ("{}", true, true, true),
            (" {\n\"a\": [1, {\"b\": \"// no comment\"}]}\n", true, true, true),
            ("{ // mine: 'a', }\n /* one\ntwo */ \"a\": 1 }", false, true, true),
            ("// mine\n{}// mine", false, true, true),
            ("{\"a\": 1,}", false, false, true),
            ("{\"a\": [1, // mine\n]}", false, false, true),
            ("{a: 1}", false, false, true),
            ("{'a': 1}", false, false, true),
            ("{\"a\": 1 \"b\": 2}", false, false, true),
            ("{\"a\": 0x10}", false, false, true),
            ("{\"a\": +1}", false, false, true),
            ("{\"a\": .5}", false, false, true),
            ("{\"a\": NaN}", false, false, true),
            ("{\"a\": \"\\x41\"}", false, false, true),
            ("[]", false, false, false),
            ("{", false, false, false),
            ("", false, false, false),
            ("\u{feff}{}", false, false, false),
        ] {
            for (syntax, is_read) in [
                (SettingsSyntax::StrictJson, strict),
                (SettingsSyntax::JsonWithComments, comments),
                (SettingsSyntax::LenientJson, lenient),
            ] {
                assert_eq!(read_settings(text, syntax).is_ok(), is_read, "{syntax:?}: {text}");
            }
        }
        let error = read_settings("{\n  // é\n  \"a\": 1,\n}", SettingsSyntax::JsonWithComments).unwrap_err();
        assert_eq!(error.to_string(), "line 4: trailing comma");
        let error = read_settings("\u{feff}{}", SettingsSyntax::StrictJson).unwrap_err();
        assert_eq!(error, EditError::ByteOrderMark);
    }
}
