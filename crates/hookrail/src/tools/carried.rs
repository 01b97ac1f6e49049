//! The calls that a call carries, as far as its arguments say.

use super::Tools;
use super::assembled::{ToolMeaning, ToolTable};
use super::table::{CALL_INPUT, CALL_NAME, CALLS, NeutralTool, ToolAccess};
use crate::event::Event;
use crate::json::{Json, JsonObject};

const NAME: &str = "tool_name";
const INPUT: &str = "tool_input";

/// A rewrite of a carried call that has no place in the call that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hook changes call {at} of several, which has no place for its input", at = self.at + 1)]
pub(crate) struct LostRewrite {
    at: usize,
}

impl ToolTable {
    /// The name and the input of each call that a call of this tool carries. A member that is no call is one of the tool itself,
    /// with that member as its input: hooks see it, whatever the tool makes of it.
    pub(super) fn carried_calls(&self, tool: &NeutralTool, given: &str, members: &JsonObject) -> Vec<(String, Json)> {
        let calls = |name: &str| members.get(name).and_then(Json::as_array);
        let Some(calls) = self.names_of(tool, CALLS).find_map(calls) else { return Vec::new() };
        let member =
            |call: &JsonObject, argument| self.names_of(tool, argument).find_map(|name| call.get(name).cloned());
        let read = |call: Json| {
            let members = call.as_object().unwrap_or_default();
            let name = member(&members, CALL_NAME).and_then(|name| name.as_str());
            let input = member(&members, CALL_INPUT).filter(|input| input.as_object().is_some());
            (name.unwrap_or_else(|| given.to_owned()), input.unwrap_or(call))
        };
        calls.into_iter().map(read).collect()
    }

    /// The input of a call with another input of the call that it carries at a position.
    fn with_carried_input(&self, tool: &NeutralTool, members: &JsonObject, at: usize, input: Json) -> Option<Json> {
        let list = self.names_of(tool, CALLS).find(|name| members.get(name).and_then(Json::as_array).is_some())?;
        let mut calls = members.get(list)?.as_array()?;
        let place = calls.get_mut(at)?;
        let mut call = place.as_object()?;
        let names = || self.names_of(tool, CALL_INPUT);
        let carrier = names().find(|name| call.get(name).is_some()).or_else(|| names().next())?;
        call.set(carrier, input);
        *place = call.to_json();
        let mut members = members.clone();
        members.set(list, Json::of(&calls).ok()?);
        Some(members.to_json())
    }
}

impl Tools {
    fn carrier(&self, event: &Event) -> Option<(&ToolTable, &'static NeutralTool, JsonObject)> {
        let ToolMeaning::Known(tool) = self.meaning(event) else { return None };
        let members = event.field(INPUT).and_then(Json::as_object).unwrap_or_default();
        (tool.access == ToolAccess::Calls).then_some((self.table()?, tool, members))
    }

    /// The event of the call that a call carries at a position.
    pub(crate) fn carried_call(&self, event: &Event, at: usize) -> Option<Event> {
        self.carried(event).into_iter().nth(at).map(|call| of_call(event, call))
    }

    /// The events of the calls that a call carries.
    pub(crate) fn carried_calls(&self, event: &Event) -> Vec<Event> {
        self.carried(event).into_iter().map(|call| of_call(event, call)).collect()
    }

    fn carried(&self, event: &Event) -> Vec<(String, Json)> {
        let Some((table, tool, members)) = self.carrier(event) else { return Vec::new() };
        table.carried_calls(tool, &event.text(NAME).unwrap_or_default(), &members)
    }

    /// Gives the call that the call of an event carries at a position another input.
    pub(crate) fn put_carried_input(&self, event: &mut Event, at: usize, input: Json) -> Result<(), LostRewrite> {
        let changed =
            self.carrier(event).and_then(|(table, tool, members)| table.with_carried_input(tool, &members, at, input));
        event.set(INPUT, changed.ok_or(LostRewrite { at })?);
        Ok(())
    }
}

fn of_call(carrier: &Event, (name, input): (String, Json)) -> Event {
    carrier.clone().with_text(NAME, &name).with(INPUT, input)
}
