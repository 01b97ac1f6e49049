//! A value of a rules file with its place, whichever format it was written in.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::DeValue;

use crate::config::{PlacedKey as Key, PlacedValue as Node, ValueShape as Shape};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) value: TermValue,
    pub(crate) span: Range<usize>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum TermValue {
    Text(String),
    Flag(bool),
    List(Vec<Term>),
    Table(Vec<Member>),
    /// A number, a date, nothing.
    Other(String),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) at: Range<usize>,
    pub(crate) term: Term,
}

impl Term {
    pub(crate) fn of_toml(value: &Spanned<DeValue<'_>>) -> Self {
        let read = match value.get_ref() {
            DeValue::String(text) => TermValue::Text(text.to_string()),
            DeValue::Boolean(flag) => TermValue::Flag(*flag),
            DeValue::Array(list) => TermValue::List(list.iter().map(Self::of_toml).collect()),
            DeValue::Table(table) => {
                let mut members: Vec<Member> = table
                    .iter()
                    .map(|(key, value)| Member {
                        key: key.get_ref().to_string(),
                        at: key.span(),
                        term: Self::of_toml(value),
                    })
                    .collect();
                // The parser sorts tables by name; findings come in the order of the file.
                members.sort_by_key(|member| member.at.start);
                TermValue::Table(members)
            }
            DeValue::Datetime(date) => TermValue::Other(date.to_string()),
            DeValue::Integer(number) => TermValue::Other(number.as_str().to_owned()),
            DeValue::Float(number) => TermValue::Other(number.as_str().to_owned()),
        };
        Self { value: read, span: value.span() }
    }

    /// A value of a settings file.
    pub(crate) fn of_node(node: &Node) -> Self {
        let value = match &node.shape {
            Shape::Text(text) => TermValue::Text(text.clone()),
            Shape::Flag(flag) => TermValue::Flag(*flag),
            Shape::Number(number) => TermValue::Other(number.clone()),
            Shape::Date(date) => TermValue::Other(date.clone()),
            Shape::Null => TermValue::Other("null".to_owned()),
            Shape::Array(list) => TermValue::List(list.iter().map(Self::of_node).collect()),
            Shape::Object(members) => {
                let member = |(key, value): &(Key, Node)| Member {
                    key: key.name.clone(),
                    at: key.span.clone(),
                    term: Self::of_node(value),
                };
                TermValue::Table(members.iter().map(member).collect())
            }
        };
        Self { value, span: node.span.clone() }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            TermValue::Text(text) => Some(text),
            TermValue::Flag(_) | TermValue::List(_) | TermValue::Table(_) | TermValue::Other(_) => None,
        }
    }

    pub(crate) fn table(&self) -> Option<&[Member]> {
        match &self.value {
            TermValue::Table(members) => Some(members),
            TermValue::Text(_) | TermValue::Flag(_) | TermValue::List(_) | TermValue::Other(_) => None,
        }
    }

    /// The members of a list, or the value itself.
    pub(crate) fn each(&self) -> &[Self] {
        match &self.value {
            TermValue::List(list) => list,
            TermValue::Text(_) | TermValue::Flag(_) | TermValue::Table(_) | TermValue::Other(_) => {
                std::slice::from_ref(self)
            }
        }
    }

    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        self.table()?.iter().find(|member| member.key == key).map(|member| &member.term)
    }

    /// The kind of the value, for messages.
    pub(crate) fn described(&self) -> &'static str {
        match &self.value {
            TermValue::Text(_) => "a text",
            TermValue::Flag(_) => "true or false",
            TermValue::List(_) => "a list",
            TermValue::Table(_) => "a table",
            TermValue::Other(_) => "a number or a date",
        }
    }

    /// The value as JSON, with its members in the order of their names.
    pub(crate) fn to_json(&self) -> Value {
        match &self.value {
            TermValue::Text(text) => Value::from(text.as_str()),
            TermValue::Flag(flag) => Value::from(*flag),
            TermValue::Other(text) => Value::from(text.as_str()),
            TermValue::List(list) => list.iter().map(Self::to_json).collect(),
            TermValue::Table(members) => {
                let mut sorted: Vec<&Member> = members.iter().collect();
                sorted.sort_by(|one, other| one.key.cmp(&other.key));
                sorted
                    .into_iter()
                    .map(|member| (member.key.clone(), member.term.to_json()))
                    .collect::<Map<_, _>>()
                    .into()
            }
        }
    }
}
