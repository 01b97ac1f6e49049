//! A parsed file: a tree of values with their places.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::json_hints::{SyntaxCause, explain_open, explain_syntax, explain_word, find_cause};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{LineIndex, Location};
use crate::json::{Json, JsonObject, without_lone_surrogates};

/// A file with its text and its tree.
#[derive(Debug)]
pub(crate) struct Document {
    file: Arc<Path>,
    lines: LineIndex,
    root: Option<Node>,
}

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

/// The kinds of value.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Object(Vec<(Key, Node)>),
    Array(Vec<Node>),
    Text(String),
    /// A number, as it was written.
    Number(String),
    Flag(bool),
    Null,
}

/// A key and its place in the file.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
}

impl Document {
    /// Parses JSON with comments and trailing commas, and nothing looser than that.
    pub(crate) fn parse(file: &Path, text: String) -> Result<Self, Diagnostic> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let file: Arc<Path> = file.into();
        // Half of a surrogate pair is no reason to lose the guards of a file, which agents written in JavaScript read.
        let repaired = match without_lone_surrogates(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(repaired) => Some(repaired),
        };
        let text = repaired.unwrap_or(text);
        let root = match parse_to_ast(&text, &CollectOptions::default(), &options) {
            Ok(parsed) => parsed.value.map(|value| node(&value)),
            Err(error) => {
                let noticed = error.range().start..error.range().end;
                let is_unterminated =
                    matches!(error.kind(), ParseErrorKind::UnterminatedObject | ParseErrorKind::UnterminatedArray);
                let mut problem = lower_first(&error.kind().to_string());
                let (place, hint) = match (find_cause(&text, &noticed, is_unterminated), error.kind()) {
                    (Some(SyntaxCause::OpenString(place)), _) => {
                        problem = "a string is not closed on its line".to_owned();
                        (place, Some("add `\"` at the end of the string".to_owned()))
                    }
                    (Some(SyntaxCause::OpenBracket(place)), _) => (place, explain_open(&text)),
                    (None, ParseErrorKind::ExpectedComma) => {
                        (noticed, Some("add a comma behind this value".to_owned()))
                    }
                    (None, ParseErrorKind::ExpectedColonAfterObjectKey) => {
                        (noticed, Some("write `:` between the key and its value".to_owned()))
                    }
                    (None, ParseErrorKind::UnterminatedCommentBlock) => {
                        (noticed, Some("close the comment with `*/`".to_owned()))
                    }
                    (None, _) => (
                        noticed.clone(),
                        explain_word(&text, &noticed).or_else(|| explain_syntax(&text, noticed.start)),
                    ),
                };
                let location = LineIndex::new(text).location(&file, place);
                let message = format!("not valid JSON: {problem}");
                let finding = Diagnostic::new(Code::FileSyntax, message).at(location);
                return Err(match hint {
                    Some(hint) => finding.hint(hint),
                    None => finding,
                });
            }
        };
        Ok(Self { file, lines: LineIndex::new(text), root })
    }

    /// A file that was read as this tree.
    pub(super) fn of_tree(file: &Path, text: String, root: Node) -> Self {
        Self { file: file.into(), lines: LineIndex::new(text), root: Some(root) }
    }

    /// The text of the whole file.
    pub(crate) fn text(&self) -> &str {
        self.lines.text()
    }

    /// The value of the whole file; none for a file without any.
    pub(crate) fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// The place of a span.
    pub(crate) fn location(&self, span: &Range<usize>) -> Location {
        self.lines.location(&self.file, span.clone())
    }

    /// A finding about a span.
    pub(crate) fn finding(&self, code: Code, span: &Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(self.location(span))
    }

    /// A finding about a value that is of another kind than the message says it must be.
    pub(crate) fn mismatch(&self, code: Code, node: &Node, message: impl std::fmt::Display) -> Diagnostic {
        self.finding(code, &node.span, format!("{message}, not {}", node.described()))
    }

    /// Reports keys of an object that are not known.
    pub(crate) fn unknown_keys(&self, members: &[(Key, Node)], known: &[&str], of: &str, found: &mut Vec<Diagnostic>) {
        for (key, _) in members.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let message = format!("`{}` is not a key of {of} and has no effect", key.name);
            found.push(self.finding(Code::UnknownKey, &key.span, message).suggest(&key.name, known.iter().copied()));
        }
    }

    /// Reports keys that an object anywhere below a node has more than once. The last value is used.
    pub(crate) fn duplicate_keys(&self, node: &Node, found: &mut Vec<Diagnostic>) {
        match &node.shape {
            Shape::Object(members) => {
                let mut seen = std::collections::HashSet::new();
                for (key, value) in members {
                    if !seen.insert(key.name.as_str()) {
                        let message = format!("duplicate key `{}`; the last value is used", key.name);
                        found.push(self.finding(Code::DuplicateKey, &key.span, message));
                    }
                    self.duplicate_keys(value, found);
                }
            }
            Shape::Array(elements) => elements.iter().for_each(|element| self.duplicate_keys(element, found)),
            _ => {}
        }
    }
}

impl Node {
    /// What kind of value this is, for messages.
    pub(crate) fn described(&self) -> &'static str {
        match &self.shape {
            Shape::Object(_) => "an object",
            Shape::Array(_) => "a list",
            Shape::Text(_) => "a string",
            Shape::Number(_) => "a number",
            Shape::Flag(_) => "a boolean",
            Shape::Null => "null",
        }
    }

    /// The member of that name; the last one if there are several.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.member(name).map(|(_, value)| value)
    }

    /// The member of that name with its key.
    pub(crate) fn member(&self, name: &str) -> Option<&(Key, Node)> {
        self.members()?.iter().rev().find(|(key, _)| key.name == name)
    }

    /// The members, when this is an object.
    pub(crate) fn members(&self) -> Option<&[(Key, Node)]> {
        match &self.shape {
            Shape::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements, when this is a list.
    pub(crate) fn elements(&self) -> Option<&[Node]> {
        match &self.shape {
            Shape::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The value without its place.
    pub(crate) fn to_json(&self) -> Json {
        let json = match &self.shape {
            Shape::Object(members) => {
                let members = members.iter().map(|(key, value)| (key.name.clone(), value.to_json()));
                return members.collect::<JsonObject>().to_json();
            }
            Shape::Array(elements) => Json::of(&elements.iter().map(Self::to_json).collect::<Vec<_>>()),
            Shape::Number(number) => Json::parse(number),
            Shape::Text(text) => Json::of(text),
            Shape::Flag(flag) => Json::of(flag),
            Shape::Null => Ok(Json::null()),
        };
        json.unwrap_or_else(|_| Json::null())
    }

    /// The text, when this is a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn node(value: &ast::Value<'_>) -> Node {
    let range = value.range();
    let shape = match value {
        ast::Value::StringLit(text) => Shape::Text(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => Shape::Number(number.value.to_owned()),
        ast::Value::BooleanLit(flag) => Shape::Flag(flag.value),
        ast::Value::NullKeyword(_) => Shape::Null,
        ast::Value::Array(list) => Shape::Array(list.elements.iter().map(node).collect()),
        ast::Value::Object(object) => Shape::Object(object.properties.iter().map(member).collect()),
    };
    Node { span: range.start..range.end, shape }
}

fn member(property: &ast::ObjectProp<'_>) -> (Key, Node) {
    let range = match &property.name {
        ast::ObjectPropName::String(text) => text.range,
        ast::ObjectPropName::Word(word) => word.range,
    };
    let key = Key { name: property.name.as_str().to_owned(), span: range.start..range.end };
    (key, node(&property.value))
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, Diagnostic> {
        Document::parse(Path::new("f.json"), text.to_owned())
    }

    #[test]
    fn comments_and_trailing_commas_are_fine_and_positions_are_kept() {
        let document = parse("// c\n{\n  \"a\": [1, /* x */ 2,],\n}\n").unwrap();
        let a = document.root().unwrap().get("a").unwrap();
        let place = document.location(&a.span);
        assert_eq!((place.line, place.column), (3, 8));
        assert_eq!(a.elements().unwrap().len(), 2);
    }

    #[test]
    fn anything_looser_is_an_error_with_a_place() {
        for text in ["{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":0x1}", "{\"a\":", "{} {}"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.code, Code::FileSyntax, "{text}");
            assert_eq!(error.location.unwrap().line, 1, "{text}");
        }
    }

    #[test]
    fn a_repeated_key_is_reported_and_the_last_one_counts() {
        let document = parse("{\"a\":1,\n\"a\":2}").unwrap();
        let mut found = Vec::new();
        document.duplicate_keys(document.root().unwrap(), &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].location.as_ref().unwrap().line, 2);
        assert!(matches!(&document.root().unwrap().get("a").unwrap().shape, Shape::Number(n) if n == "2"));
    }
}
