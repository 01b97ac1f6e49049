//! The fields of an event: which there are, what they hold, and how they are read.

use std::fmt;

use serde_json::{Map, Value};

/// The reason why the input of a hook is not the event that the hook expects.
#[derive(Debug)]
pub enum InputError {
    /// Standard input had no byte: the program that started the hook has ended or gave no event.
    Empty,
    /// The input is not one JSON object.
    NotAnObject(serde_json::Error),
    /// The event is another one.
    OtherEvent {
        /// The event that the hook handles.
        expected: &'static str,
        /// The value of `hook_event_name`, empty if there is none.
        found: String,
    },
    /// A field is missing or holds something else.
    Field {
        /// The event.
        event: &'static str,
        /// The field.
        name: &'static str,
        /// What it has to hold.
        expected: FieldShape,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no event on standard input"),
            Self::NotAnObject(error) => write!(f, "the input is not one JSON object: {error}"),
            Self::OtherEvent { expected, found } => {
                write!(f, "this hook handles {expected}, but the event is `{found}`; correct the settings")
            }
            Self::Field { event, name, expected } => write!(f, "`{name}` of {event} must be {expected}"),
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotAnObject(error) => Some(error),
            Self::Empty | Self::OtherEvent { .. } | Self::Field { .. } => None,
        }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldShape {
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
    /// An object.
    Object,
}

impl fmt::Display for FieldShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Flag => "true or false",
            Self::Object => "an object",
        })
    }
}

/// A field of an event, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventField {
    /// Its name in the JSON object.
    pub name: &'static str,
    /// What it holds.
    pub shape: FieldShape,
    /// Whether every event of this kind has it.
    pub is_required: bool,
}

/// A Rust type that a field can have.
pub trait FieldValue: Sized {
    /// What the field holds.
    const SHAPE: FieldShape;
    /// Whether the field must be there.
    const IS_REQUIRED: bool;

    /// Reads the field; `None` if it is missing or holds something else.
    fn from_field(value: Option<Value>) -> Option<Self>;
}

impl FieldValue for String {
    const SHAPE: FieldShape = FieldShape::Text;
    const IS_REQUIRED: bool = true;

    fn from_field(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

impl FieldValue for bool {
    const SHAPE: FieldShape = FieldShape::Flag;
    const IS_REQUIRED: bool = true;

    fn from_field(value: Option<Value>) -> Option<Self> {
        value.as_ref().and_then(Value::as_bool)
    }
}

impl FieldValue for Map<String, Value> {
    const SHAPE: FieldShape = FieldShape::Object;
    const IS_REQUIRED: bool = true;

    fn from_field(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::Object(members)) => Some(members),
            _ => None,
        }
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    const SHAPE: FieldShape = T::SHAPE;
    const IS_REQUIRED: bool = false;

    fn from_field(value: Option<Value>) -> Option<Self> {
        match value {
            None | Some(Value::Null) => Some(None),
            some => T::from_field(some).map(Some),
        }
    }
}

/// Takes a field out of the input of an event.
pub(crate) fn take<T: FieldValue>(
    members: &mut Map<String, Value>,
    event: &'static str,
    name: &'static str,
) -> Result<T, InputError> {
    T::from_field(members.remove(name)).ok_or(InputError::Field { event, name, expected: T::SHAPE })
}
