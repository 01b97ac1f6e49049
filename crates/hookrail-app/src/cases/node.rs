//! A case file as a tree of values with their places, whichever of the two formats it is written in.

use std::ops::Range;
use std::path::Path;

use hookrail::sources::{Location, explain_syntax};
use hookrail::{Code, Diagnostic};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) shape: Shape,
}

/// The kinds of value that both formats have.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Table(Vec<Member>),
    List(Vec<Node>),
    Text(String),
    Number(Number),
    Flag(bool),
    Null,
}

/// A member of a table, with the place of its key.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) span: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    /// Returns what kind of value this is, for messages.
    pub(super) fn described(&self) -> &'static str {
        match &self.shape {
            Shape::Table(_) => "a table",
            Shape::List(_) => "a list",
            Shape::Text(_) => "text",
            Shape::Number(_) => "a number",
            Shape::Flag(_) => "true or false",
            Shape::Null => "null",
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Text(text) => Some(text),
            Shape::Table(_) | Shape::List(_) | Shape::Number(_) | Shape::Flag(_) | Shape::Null => None,
        }
    }

    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.shape {
            Shape::Table(members) => Some(members),
            Shape::List(_) | Shape::Text(_) | Shape::Number(_) | Shape::Flag(_) | Shape::Null => None,
        }
    }

    pub(super) fn count(&self) -> Option<u64> {
        match &self.shape {
            Shape::Number(number) => number.as_u64(),
            Shape::Table(_) | Shape::List(_) | Shape::Text(_) | Shape::Flag(_) | Shape::Null => None,
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self.shape {
            Shape::Flag(flag) => Some(flag),
            Shape::Table(_) | Shape::List(_) | Shape::Text(_) | Shape::Number(_) | Shape::Null => None,
        }
    }

    pub(super) fn elements(&self) -> Option<&[Self]> {
        match &self.shape {
            Shape::List(elements) => Some(elements),
            Shape::Table(_) | Shape::Text(_) | Shape::Number(_) | Shape::Flag(_) | Shape::Null => None,
        }
    }

    /// Returns the value without its place.
    pub(super) fn to_value(&self) -> Value {
        match &self.shape {
            Shape::Table(members) => {
                members.iter().map(|member| (member.key.clone(), member.value.to_value())).collect()
            }
            Shape::List(elements) => elements.iter().map(Self::to_value).collect(),
            Shape::Text(text) => Value::String(text.clone()),
            Shape::Number(number) => Value::Number(number.clone()),
            Shape::Flag(flag) => Value::Bool(*flag),
            Shape::Null => Value::Null,
        }
    }
}

/// Parses the text of a case file. The name of the file says which format it has.
pub(super) fn parse(file: &Path, text: &str) -> Result<Node, Diagnostic> {
    let is_json = file.extension().is_some_and(|extension| extension == "json");
    if is_json { parse_json(file, text) } else { parse_toml(file, text) }
}

fn syntax(file: &Path, text: &str, span: Range<usize>, message: String) -> Diagnostic {
    let hint = "`hookrail docs how-to/test` has examples";
    Diagnostic::new(Code::FileSyntax, message).at(Location::in_text(file, text, span)).hint(hint)
}

fn parse_toml(file: &Path, text: &str) -> Result<Node, Diagnostic> {
    let document = DeTable::parse(text).map_err(|error| {
        let end = text.len();
        let first = error.message().lines().next().unwrap_or_default();
        syntax(file, text, error.span().unwrap_or(end..end), format!("invalid TOML: {first}"))
    })?;
    table(file, text, document.get_ref()).map(|shape| Node { span: 0..text.len(), shape })
}

fn table(file: &Path, text: &str, table: &DeTable<'_>) -> Result<Shape, Diagnostic> {
    let members = table.iter().map(|(key, value)| {
        Ok(Member { key: key.get_ref().to_string(), span: key.span(), value: toml_node(file, text, value)? })
    });
    let mut members: Vec<Member> = members.collect::<Result<_, Diagnostic>>()?;
    // The parser sorts tables by name; cases run, and problems are reported, in the order of the file.
    members.sort_by_key(|member| member.span.start);
    Ok(Shape::Table(members))
}

fn toml_node(file: &Path, text: &str, value: &Spanned<DeValue<'_>>) -> Result<Node, Diagnostic> {
    let span = value.span();
    let refused = |why: &str| syntax(file, text, span.clone(), why.to_owned());
    let shape = match value.get_ref() {
        DeValue::String(text) => Shape::Text(text.to_string()),
        DeValue::Boolean(flag) => Shape::Flag(*flag),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let number =
                i64::from_str_radix(&digits, number.radix()).map_err(|_| refused("this number is too large"))?;
            Shape::Number(number.into())
        }
        DeValue::Float(number) => {
            let parsed: Option<f64> = number.as_str().replace('_', "").parse().ok();
            Shape::Number(parsed.and_then(Number::from_f64).ok_or_else(|| refused("this number is no JSON number"))?)
        }
        DeValue::Datetime(_) => return Err(refused("a date has no place in an event").hint("write it in quotes")),
        DeValue::Array(elements) => Shape::List(
            elements.iter().map(|element| toml_node(file, text, element)).collect::<Result<_, Diagnostic>>()?,
        ),
        DeValue::Table(members) => table(file, text, members)?,
    };
    Ok(Node { span, shape })
}

fn parse_json(file: &Path, text: &str) -> Result<Node, Diagnostic> {
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
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let range = error.range();
        let message = format!("invalid JSON: {}", error.kind().to_string().to_lowercase());
        let problem = syntax(file, text, range.start..range.end, message);
        match explain_syntax(text, range.start) {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    })?;
    match parsed.value {
        Some(value) => json_node(file, text, &value),
        None => Err(syntax(file, text, 0..0, "the file is empty".to_owned())),
    }
}

fn json_node(file: &Path, text: &str, value: &ast::Value<'_>) -> Result<Node, Diagnostic> {
    let range = value.range();
    let span = range.start..range.end;
    let shape = match value {
        ast::Value::StringLit(text) => Shape::Text(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => Shape::Number(
            number.value.parse().map_err(|_| syntax(file, text, span.clone(), "this is no JSON number".to_owned()))?,
        ),
        ast::Value::BooleanLit(flag) => Shape::Flag(flag.value),
        ast::Value::NullKeyword(_) => Shape::Null,
        ast::Value::Array(list) => {
            let elements = list.elements.iter().map(|element| json_node(file, text, element));
            Shape::List(elements.collect::<Result<_, Diagnostic>>()?)
        }
        ast::Value::Object(object) => {
            let mut members: Vec<Member> = Vec::new();
            for property in &object.properties {
                let range = match &property.name {
                    ast::ObjectPropName::String(text) => text.range,
                    ast::ObjectPropName::Word(word) => word.range,
                };
                let (key, span) = (property.name.as_str().to_owned(), range.start..range.end);
                if members.iter().any(|member| member.key == key) {
                    return Err(syntax(file, text, span, format!("duplicate key `{key}`")).hint("write every key once"));
                }
                members.push(Member { key, span, value: json_node(file, text, &property.value)? });
            }
            Shape::Table(members)
        }
    };
    Ok(Node { span, shape })
}
