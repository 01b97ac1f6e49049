//! The names of a host's tools in the dialects: the names that hooks receive, that matchers are compared with, and that
//! are translated back in arguments that a hook rewrote.
//!
//! Undeclared names pass unchanged. Nothing here knows what a tool does or how a dialect writes it down.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolNames {
    /// The host's name for it.
    pub name: String,
    dialects: Vec<DialectNames>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DialectNames {
    dialect: DialectId,
    name: String,
    /// The host's name of an argument, and the dialect's.
    arguments: Vec<(String, String)>,
}

impl ToolNames {
    /// A tool by the host's name for it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), dialects: Vec::new() }
    }

    /// The tool with its name in a dialect, and pairs of the host's and the dialect's name for arguments that are
    /// called otherwise there. A name can mean one argument only, so a second pair with the same name is ignored.
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
        self.dialects.push(DialectNames { dialect, name: name.into(), arguments: pairs });
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
        let mut spoken = LocalizedTool { name, input: None, arguments: names.arguments.clone() };
        if let Some(input) = event.field("tool_input").cloned()
            && let Some(object) = input.as_object()
        {
            let theirs = renamed(&object, &names.arguments).to_json();
            event.set("tool_input", theirs.clone());
            spoken.input = Some((input, theirs));
        }
        spoken
    }
}

/// What is needed to translate an event back into the host's names.
#[derive(Debug, Default)]
pub(crate) struct LocalizedTool {
    name: Option<Json>,
    /// The input with the host's names, and with the dialect's.
    input: Option<(Json, Json)>,
    arguments: Vec<(String, String)>,
}

impl LocalizedTool {
    /// Translates the event back into the host's names. An input that no hook changed is restored byte for byte.
    pub(crate) fn restore_event(self, event: &mut Event) {
        let Some(name) = self.name else { return };
        event.set("tool_name", name);
        let Some(now) = event.field("tool_input").cloned() else { return };
        let back: Vec<(String, String)> = self.arguments.into_iter().map(|(host, theirs)| (theirs, host)).collect();
        match self.input {
            Some((original, theirs)) if theirs.text() == now.text() => event.set("tool_input", original),
            _ => {
                if let Some(object) = now.as_object() {
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
            let spoken = tools().localize_event(DialectId::Xcode, &mut event);
            assert_eq!(input(&event), theirs);
            assert_eq!(event.text("tool_name").unwrap(), "writeFile");
            spoken.restore_event(&mut event);
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
            let spoken = tools().localize_event(DialectId::Xcode, &mut event);
            event.set("tool_input", Json::parse(rewritten).unwrap());
            spoken.restore_event(&mut event);
            assert_eq!(input(&event), expected);
        }
    }

    #[test]
    fn undeclared_names_pass_unchanged() {
        let original = event(r#"{ "path": 1 }"#);
        let mut same = original.clone();
        let spoken = tools().localize_event(DialectId::Llxprt, &mut same);
        assert_eq!(input(&same), input(&original));
        spoken.restore_event(&mut same);
        assert_eq!(input(&same), input(&original));
        assert_eq!(tools().name_in(DialectId::Xcode, "other"), None);
    }
}
