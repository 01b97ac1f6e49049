//! Translates one event into the names of a dialect and back.

use super::names::DialectNames;
use crate::event::Event;
use crate::json::{Json, JsonObject};

impl DialectNames {
    /// The input of a call with the dialect's names of its arguments, without aliases.
    pub(super) fn input_in_dialect(&self, members: &JsonObject) -> JsonObject {
        renamed(members, &self.arguments)
    }

    /// Translates an event into these names. Returns what is needed to translate it back.
    pub(super) fn localize(self, event: &mut Event) -> LocalizedTool {
        let given = event.field("tool_name").cloned();
        event.set("tool_name", Json::string(&self.name));
        let mut localized = LocalizedTool { name: given, ..LocalizedTool::default() };
        if let Some(input) = event.field("tool_input").cloned()
            && let Some(object) = input.as_object()
            // Members that have one name are not told apart here; the event says what is done about them.
            && input.repeated_member().is_none()
        {
            let mut theirs = renamed(&object, &self.arguments);
            localized.aliases.extend(self.aliases.iter().filter_map(|names| Alias::spread(names, &mut theirs)));
            let theirs = theirs.to_json();
            event.set("tool_input", theirs.clone());
            localized.input = Some((input, theirs));
        }
        localized.arguments = self.arguments;
        localized
    }
}

/// An answer that gives two names of one argument different new values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it rewrites `{first}` and `{second}`, which are names of one argument, to different values")]
pub(crate) struct TwoRewrites {
    first: String,
    second: String,
}

/// One value of a tool's input that hooks find under several names.
#[derive(Debug)]
struct Alias {
    /// The names, in their order.
    names: Vec<String>,
    /// The name under which the host's input has the value.
    carrier: String,
    /// What the host's input has under other names of this list, which the tool itself does not read as this value.
    covered: Vec<(String, Json)>,
}

impl Alias {
    /// Gives a value all its names; nothing if the input has it under none of them. What the host has under another one of
    /// them is covered: a guard that reads that name must judge what the tool will read.
    fn spread(names: &[String], input: &mut JsonObject) -> Option<Self> {
        let carrier = names.iter().find(|name| input.get(name).is_some())?.clone();
        let value = input.get(&carrier)?.clone();
        let mut covered = Vec::new();
        for name in names.iter().filter(|name| **name != carrier) {
            covered.extend(input.remove(name).map(|own| (name.clone(), own)));
        }
        let alias = Self { names: names.to_vec(), carrier, covered };
        alias.set_all(input, &value);
        Some(alias)
    }

    /// Sets the value under every name, with the carrier at its place and the others last.
    fn set_all(&self, input: &mut JsonObject, value: &Json) {
        input.set(&self.carrier, value.clone());
        for name in self.names.iter().filter(|name| **name != self.carrier) {
            input.set(name, value.clone());
        }
    }

    /// Makes an answer of a hook say one thing: what it changed of the input it was sent, under all names. An answer that
    /// leaves the value out is left alone.
    fn merge_input(&self, sent: &JsonObject, answered: &JsonObject) -> Result<JsonObject, TwoRewrites> {
        let given = || self.names.iter().filter_map(|name| answered.get(name).map(|value| (name, value)));
        let is_changed = |(name, value): &(&String, &Json)| sent.get(name).is_none_or(|sent| !sent.same_as(value));
        let changed = given().find(is_changed);
        if let Some((first, value)) = changed
            && let Some((second, _)) = given().filter(is_changed).find(|(_, other)| !other.same_as(value))
        {
            return Err(TwoRewrites { first: first.clone(), second: second.clone() });
        }
        let Some((_, value)) = changed.or_else(|| given().next()) else { return Ok(answered.clone()) };
        let mut merged = JsonObject::new();
        for (name, own) in answered.iter() {
            match self.names.iter().any(|known| known == name) {
                true => merged.set(&self.carrier, value.clone()),
                false => merged.set(name, own.clone()),
            }
        }
        self.set_all(&mut merged, value);
        Ok(merged)
    }

    /// Takes the other names away again, and puts back what the host had under them.
    fn gather(&self, input: &mut JsonObject) {
        let Some(value) = self.names.iter().find_map(|name| input.get(name)).cloned() else { return };
        for name in self.names.iter().filter(|name| **name != self.carrier) {
            input.remove(name);
        }
        input.set(&self.carrier, value);
        for (name, own) in &self.covered {
            input.set(name, own.clone());
        }
    }
}

/// What is needed to translate an event back into the host's names.
#[derive(Debug, Default)]
pub(crate) struct LocalizedTool {
    name: Option<Json>,
    /// The input with the host's names, and with the dialect's.
    input: Option<(Json, Json)>,
    arguments: Vec<(String, String)>,
    aliases: Vec<Alias>,
}

impl LocalizedTool {
    /// The tool input of an answer with all names of each argument in step, given the input that the hook was sent.
    /// Nothing if the answer needs no change.
    pub(crate) fn merge_input(&self, sent: &Json, answered: &Json) -> Result<Option<Json>, TwoRewrites> {
        if self.aliases.is_empty() {
            return Ok(None);
        }
        let (Some(sent), Some(answered)) = (sent.as_object(), answered.as_object()) else { return Ok(None) };
        let merged = self.aliases.iter().try_fold(answered, |answered, alias| alias.merge_input(&sent, &answered))?;
        Ok(Some(merged.to_json()))
    }

    /// A tool input with the host's names; nothing if it was not translated.
    pub(super) fn in_hosts_names(&self, theirs: &Json) -> Option<Json> {
        let (original, sent) = self.input.as_ref()?;
        if sent.text() == theirs.text() {
            return Some(original.clone());
        }
        let mut object = theirs.as_object()?;
        self.aliases.iter().for_each(|alias| alias.gather(&mut object));
        let back: Vec<(String, String)> =
            self.arguments.iter().map(|(host, theirs)| (theirs.clone(), host.clone())).collect();
        Some(renamed(&object, &back).to_json())
    }

    /// Translates the event back into the host's names. An input that no hook changed is restored byte for byte.
    pub(crate) fn restore_event(&self, event: &mut Event) {
        let Some(name) = &self.name else { return };
        event.set("tool_name", name.clone());
        if let Some(back) = event.field("tool_input").and_then(|now| self.in_hosts_names(now)) {
            event.set("tool_input", back);
        }
    }
}

/// The object with its members renamed. An undeclared member whose name is needed gets the name that became free, so
/// that no member is lost and the reverse translation restores the object.
fn renamed(object: &JsonObject, pairs: &[(String, String)]) -> JsonObject {
    let new_name = |name: &str| pairs.iter().find(|(from, _)| from == name).map(|(_, to)| to.as_str());
    let old_name = |name: &str| {
        let pair = pairs.iter().find(|(from, to)| to == name && object.get(from).is_some());
        pair.map(|(from, _)| from.as_str())
    };
    let mut members = JsonObject::new();
    for (name, value) in object.iter() {
        let mut free = name;
        if let Some(new) = new_name(name) {
            free = new;
        } else {
            // This ends: a name whose pair is declared in both directions has another name already.
            while let Some(old) = old_name(free) {
                free = old;
            }
        }
        members.set(free, value.clone());
    }
    members
}
