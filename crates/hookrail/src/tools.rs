//! The names of a host's tools in the dialects: the names that hooks receive, that matchers are compared with, and that
//! are translated back in arguments that a hook rewrote.
//!
//! Undeclared names pass unchanged. Nothing here knows what a tool does or how a dialect writes it down.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::dialect::registry::DialectId;
use crate::event::Event;
use crate::json::{Json, JsonObject};

/// One tool of the host, and what dialects call it and its arguments.
///
/// ```
/// use hookrail::{DialectId, ToolNames};
///
/// let names = ToolNames::new("write_file").in_dialect(DialectId::Xcode, "writeFile", [("path", "filePath")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "WrittenToolNames")]
pub struct ToolNames {
    /// The host's name for it.
    pub name: String,
    dialects: Vec<DialectNames>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct DialectNames {
    #[serde(serialize_with = "write_dialect", deserialize_with = "read_dialect")]
    dialect: DialectId,
    name: String,
    /// The host's name of an argument, and the dialect's.
    #[serde(default)]
    arguments: Vec<(String, String)>,
    /// Arguments with more than one name: the dialect's own first, then the others.
    #[serde(default)]
    aliases: Vec<Vec<String>>,
}

/// The names as they were written, which may contradict each other.
#[derive(Deserialize)]
struct WrittenToolNames {
    name: String,
    #[serde(default)]
    dialects: Vec<DialectNames>,
}

impl From<WrittenToolNames> for ToolNames {
    fn from(written: WrittenToolNames) -> Self {
        written.dialects.iter().fold(
            Self::new(written.name),
            |names, DialectNames { dialect, name, arguments, aliases }| {
                let pairs = arguments.iter().map(|(host, theirs)| (host.as_str(), theirs.as_str()));
                let names = names.in_dialect(*dialect, name, pairs);
                aliases.iter().filter_map(|names| names.split_first()).fold(names, |names, (first, others)| {
                    names.aliases_in_dialect(*dialect, first, others.iter().map(String::as_str))
                })
            },
        )
    }
}

fn write_dialect<S: Serializer>(dialect: &DialectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(dialect.name())
}

fn read_dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DialectId, D::Error> {
    let name = String::deserialize(deserializer)?;
    DialectId::from_name(&name).ok_or_else(|| serde::de::Error::custom("unknown dialect"))
}

impl ToolNames {
    /// A tool by the host's name for it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), dialects: Vec::new() }
    }

    /// The tool with its name in a dialect, and pairs of the host's and the dialect's name for arguments that are
    /// called otherwise there. A name can mean one argument only, so a second pair with the same name is ignored. An earlier
    /// declaration for the dialect is replaced, with its aliases.
    #[must_use]
    pub fn in_dialect<'a>(
        mut self,
        dialect: DialectId,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (host, theirs) in arguments {
            if !pairs.iter().any(|(one, other)| one == host || other == theirs) {
                pairs.push((host.to_owned(), theirs.to_owned()));
            }
        }
        self.dialects.retain(|known| known.dialect != dialect);
        self.dialects.push(DialectNames { dialect, name: name.into(), arguments: pairs, aliases: Vec::new() });
        self
    }

    /// The tool with further names of an argument in a dialect, given by the argument's first name there. Hooks of the
    /// dialect find the value under every name. If a hook changes it under one of them, that one counts, and all others
    /// follow before the next hook is asked; if it changes several, the first in this order does. The host gets the value
    /// under the name that it used, and never sees an alias.
    ///
    /// ```
    /// use hookrail::{DialectId, ToolNames};
    ///
    /// let names = ToolNames::new("write_file").aliases_in_dialect(DialectId::Llxprt, "file_path", ["absolute_path"]);
    /// ```
    #[must_use]
    pub fn aliases_in_dialect<'a>(
        mut self,
        dialect: DialectId,
        argument: &str,
        aliases: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        if !self.dialects.iter().any(|known| known.dialect == dialect) {
            let own_name = self.name.clone();
            self = self.in_dialect(dialect, own_name, []);
        }
        let mut names = vec![argument.to_owned()];
        for alias in aliases {
            if !names.iter().any(|name| name == alias) {
                names.push(alias.to_owned());
            }
        }
        if let Some(known) = self.dialects.iter_mut().find(|known| known.dialect == dialect) {
            known.aliases.push(names);
        }
        self
    }
}

/// All tools that were declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools(Vec<ToolNames>);

impl Tools {
    /// Adds a tool, in place of an earlier declaration of it.
    pub(crate) fn declare(&mut self, tool: ToolNames) {
        self.0.retain(|known| known.name != tool.name);
        self.0.push(tool);
    }

    fn find(&self, dialect: DialectId, tool: &str) -> Option<&DialectNames> {
        let tool = self.0.iter().find(|known| known.name == tool)?;
        tool.dialects.iter().find(|names| names.dialect == dialect)
    }

    /// The name of a tool in a dialect, if it was declared.
    pub(crate) fn name_in(&self, dialect: DialectId, tool: &str) -> Option<&str> {
        self.find(dialect, tool).map(|names| names.name.as_str())
    }

    /// Translates an event into a dialect's names. Returns what is needed to translate it back.
    pub(crate) fn localize_event(&self, dialect: DialectId, event: &mut Event) -> LocalizedTool {
        let name = event.field("tool_name").cloned();
        let Some(names) = name.as_ref().and_then(Json::as_str).and_then(|tool| self.find(dialect, &tool)) else {
            return LocalizedTool::default();
        };
        event.set("tool_name", Json::string(&names.name));
        let mut localized =
            LocalizedTool { name, input: None, arguments: names.arguments.clone(), aliases: Vec::new() };
        if let Some(input) = event.field("tool_input").cloned()
            && let Some(object) = input.as_object()
        {
            let mut theirs = renamed(&object, &names.arguments);
            localized.aliases.extend(names.aliases.iter().filter_map(|names| Alias::spread(names, &mut theirs)));
            let theirs = theirs.to_json();
            event.set("tool_input", theirs.clone());
            localized.input = Some((input, theirs));
        }
        localized
    }
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
    fn settle(&self, sent: &JsonObject, answered: &JsonObject) -> JsonObject {
        let given = || self.names.iter().filter_map(|name| answered.get(name).map(|value| (name, value)));
        let is_changed = |(name, value): &(&String, &Json)| sent.get(name).is_none_or(|sent| !sent.same_as(value));
        let Some((_, value)) = given().find(is_changed).or_else(|| given().next()) else { return answered.clone() };
        let mut settled = JsonObject::new();
        for (name, own) in answered.iter() {
            match self.names.iter().any(|known| known == name) {
                true => settled.set(&self.carrier, value.clone()),
                false => settled.set(name, own.clone()),
            }
        }
        self.set_all(&mut settled, value);
        settled
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
    pub(crate) fn settle(&self, sent: &Json, answered: &Json) -> Option<Json> {
        if self.aliases.is_empty() {
            return None;
        }
        let (sent, answered) = (sent.as_object()?, answered.as_object()?);
        let settled = self.aliases.iter().fold(answered, |answered, alias| alias.settle(&sent, &answered));
        Some(settled.to_json())
    }

    /// Translates the event back into the host's names. An input that no hook changed is restored byte for byte.
    pub(crate) fn restore_event(self, event: &mut Event) {
        let Some(name) = self.name else { return };
        event.set("tool_name", name);
        let Some(now) = event.field("tool_input").cloned() else { return };
        let back: Vec<(String, String)> = self.arguments.into_iter().map(|(host, theirs)| (theirs, host)).collect();
        match self.input {
            Some((original, theirs)) if theirs.text() == now.text() => event.set("tool_input", original),
            _ => {
                if let Some(mut object) = now.as_object() {
                    self.aliases.iter().for_each(|alias| alias.gather(&mut object));
                    event.set("tool_input", renamed(&object, &back).to_json());
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;

    fn tools() -> Tools {
        let mut tools = Tools::default();
        let pairs = [("path", "filePath"), ("a", "b"), ("b", "c")];
        tools.declare(ToolNames::new("write_file").in_dialect(DialectId::Xcode, "writeFile", pairs));
        tools
    }

    fn event(input: &str) -> Event {
        let event = Event::new(EventKind::BeforeTool, "/p").with_text("tool_name", "write_file");
        event.with("tool_input", Json::parse(input).unwrap())
    }

    fn input(event: &Event) -> String {
        event.field("tool_input").unwrap().text().to_owned()
    }

    #[test]
    fn arguments_are_renamed_and_nothing_is_lost() {
        for (host, theirs) in [
            (r#"{"path":1.0,"x":2}"#, r#"{"filePath":1.0,"x":2}"#),
            (r#"{"path":1,"filePath":2}"#, r#"{"filePath":1,"path":2}"#),
            (r#"{"a":1,"b":2,"c":3}"#, r#"{"b":1,"c":2,"a":3}"#),
            (r#"{"b":2,"c":3}"#, r#"{"c":2,"b":3}"#),
            (r#"{"c":3}"#, r#"{"c":3}"#),
            ("{}", "{}"),
        ] {
            let mut event = event(host);
            let localized = tools().localize_event(DialectId::Xcode, &mut event);
            assert_eq!(input(&event), theirs);
            assert_eq!(event.text("tool_name").unwrap(), "writeFile");
            localized.restore_event(&mut event);
            assert_eq!(event.field("tool_input").unwrap().text(), Json::parse(host).unwrap().text());
            assert_eq!(event.text("tool_name").unwrap(), "write_file");
        }
    }

    #[test]
    fn a_rewrite_comes_back_in_the_hosts_words() {
        for (rewritten, expected) in [
            (r#"{"filePath":"x","new":1}"#, r#"{"path":"x","new":1}"#),
            (r#"{"path":"x"}"#, r#"{"path":"x"}"#),
            (r#"{"b":1,"c":2,"a":3}"#, r#"{"a":1,"b":2,"c":3}"#),
        ] {
            let mut event = event(r#"{"path":"y"}"#);
            let localized = tools().localize_event(DialectId::Xcode, &mut event);
            event.set("tool_input", Json::parse(rewritten).unwrap());
            localized.restore_event(&mut event);
            assert_eq!(input(&event), expected);
        }
    }

    #[test]
    fn undeclared_names_pass_unchanged() {
        let original = event(r#"{ "path": 1 }"#);
        let mut same = original.clone();
        let localized = tools().localize_event(DialectId::Llxprt, &mut same);
        assert_eq!(input(&same), input(&original));
        localized.restore_event(&mut same);
        assert_eq!(input(&same), input(&original));
        assert_eq!(tools().name_in(DialectId::Xcode, "other"), None);
    }
}
