//! What an event is for a hook, and what answers to it can do. An answer has its methods by these traits, and every event
//! declares which of them it has.

use serde_json::{Map, Value};

use crate::field::{EventField, InputError};

/// An event that a hook can handle.
pub trait HookEvent: Sized {
    /// The name in settings files and in `hook_event_name`.
    const NAME: &'static str;
    /// The event's own fields.
    const FIELDS: &'static [EventField];
    /// The members of `hookSpecificOutput` that have an effect.
    const ANSWERS: &'static [&'static str];

    /// Reads the input of a hook.
    ///
    /// # Errors
    ///
    /// The input is another event, or a field is missing or holds something else.
    fn from_input(input: Map<String, Value>) -> Result<Self, InputError>;
}

/// The event can be denied.
pub trait Denies: HookEvent {}
/// An answer can give the model additional text.
pub trait AddsContext: HookEvent {}
/// An answer can replace the input of the tool.
pub trait RewritesToolInput: HookEvent {}
/// An answer can replace parts of the request to the model.
pub trait RewritesRequest: HookEvent {}
/// An answer can give a response in place of the model's.
pub trait GivesResponse: HookEvent {}
/// An answer can limit the tools that the model may call.
pub trait ChoosesTools: HookEvent {}
/// An answer can clear the conversation.
pub trait ClearsContext: HookEvent {}
