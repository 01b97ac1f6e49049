//! What tools are called: by the host, by the dialects, by agents.
//!
//! `table` has the neutral tools and `column` is how one dialect or agent names them; `assembled` puts the columns together
//! and says what the tool of an event is. `accesses` says what a call does with files, `patch` reads patches, `carried` has the
//! calls that a call carries, and `offered` what a model is offered. `names` is what
//! a host declares about its own tools, and `localize` translates an event into a dialect's names and back; `shown` shows it as a
//! patch, or file by file, to a hook that knows only that. Without a table undeclared names pass unchanged.

mod accesses;
mod assembled;
mod carried;
mod column;
mod localize;
mod names;
mod offered;
mod patch;
mod shown;
mod table;
mod targets;

pub use accesses::{CallAccess, UnreadablePatch};
pub use assembled::{ToolTable, ToolUse, plain_names};
pub use column::{ColumnTool, ToolColumn};
pub use names::ToolNames;
pub use table::{NEUTRAL_TOOLS, NeutralTool, ToolAccess};

pub(crate) use assembled::{NameElsewhere, ToolMeaning};
pub(crate) use offered::{declared_name, offered_tools};
pub(crate) use shown::{ShownTool, View};
pub(crate) use targets::{CallTargets, GivenCommand, SoughtTargets};

use localize::LocalizedTool;
use std::sync::{Arc, OnceLock};

use crate::dialect_id::DialectId;
use crate::event::Event;
use crate::json::{Json, JsonObject};
use targets::TargetNames;

/// Everything that is known about tools: what the host declared, and the table that it chose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    declared: Vec<ToolNames>,
    table: Option<Arc<ToolTable>>,
    target_names: OnceLock<TargetNames>,
}

impl Tools {
    /// Adds a tool, in place of an earlier declaration of it.
    pub(crate) fn declare(&mut self, tool: ToolNames) {
        self.declared.retain(|known| known.name != tool.name);
        self.declared.push(tool);
    }

    pub(crate) fn set_table(&mut self, table: Option<Arc<ToolTable>>) {
        self.table = table;
        self.target_names = OnceLock::new();
    }

    pub(crate) fn table(&self) -> Option<&ToolTable> {
        self.table.as_deref()
    }

    fn declared(&self, tool: &str) -> Option<&ToolNames> {
        self.declared.iter().find(|known| known.name == tool)
    }

    /// What the tool of an event is. A tool that the host declared itself is what the host says.
    pub(crate) fn meaning(&self, event: &Event) -> ToolMeaning {
        let Some(table) = &self.table else { return ToolMeaning::AsGiven };
        let Some(name) = event.field("tool_name").and_then(Json::as_str) else { return ToolMeaning::AsGiven };
        match self.declared(&name) {
            Some(_) => ToolMeaning::AsGiven,
            None => table.meaning(&name, event.field("tool_input")),
        }
    }

    /// What a tool is, for an input whose members are known.
    pub(crate) fn meaning_among(&self, name: &str, members: Option<&JsonObject>) -> ToolMeaning {
        match &self.table {
            Some(table) if self.declared(name).is_none() => table.meaning_among(name, members),
            Some(_) | None => ToolMeaning::AsGiven,
        }
    }

    /// What the call of an event does, if its tool is this.
    pub(crate) fn targets(&self, event: &Event, meaning: ToolMeaning, sought: SoughtTargets) -> CallTargets {
        let Some(input) = event.field("tool_input") else { return CallTargets::default() };
        let table = || self.table.as_deref().map_or_else(|| TargetNames::of(&ToolTable::default()), TargetNames::of);
        let names = self.target_names.get_or_init(table);
        let declared = || self.declared(&event.field("tool_name").and_then(Json::as_str)?);
        match meaning {
            ToolMeaning::AsGiven if self.declared.is_empty() => CallTargets::default(),
            ToolMeaning::AsGiven => {
                declared().map_or_else(CallTargets::default, |tool| names.declared_targets(tool, input, sought))
            }
            ToolMeaning::Known(_) | ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_) => {
                names.targets(meaning, input, sought)
            }
        }
    }

    /// The name of a tool in a dialect, if it was declared or is known.
    pub(crate) fn name_in(&self, dialect: DialectId, tool: &str, meaning: ToolMeaning) -> Option<&str> {
        match (meaning, &self.table) {
            (ToolMeaning::Known(known), Some(table)) => table.name_in(dialect, known.name),
            (ToolMeaning::AsGiven, _) => {
                let names = self.declared(tool)?.dialects.iter().find(|names| names.dialect == dialect)?;
                Some(&names.name)
            }
            (ToolMeaning::Known(_) | ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_), _) => None,
        }
    }

    /// What a dialect calls the tools that a tool stands for: the file tools of a patch, and what a tool that is not known may be.
    pub(crate) fn stands_for(&self, dialect: DialectId, meaning: ToolMeaning) -> Vec<&'static str> {
        self.table.as_ref().map_or_else(Vec::new, |table| table.stands_for(dialect, meaning))
    }

    /// Translates an event into a dialect's names. Returns what is needed to translate it back.
    fn localize_event(&self, dialect: DialectId, meaning: ToolMeaning, event: &mut Event) -> LocalizedTool {
        let names = || {
            let tool = event.field("tool_name").and_then(Json::as_str)?;
            let members = || event.field("tool_input").and_then(Json::as_object).unwrap_or_default();
            match (meaning, &self.table) {
                (ToolMeaning::AsGiven, _) | (_, None) => {
                    self.declared(&tool)?.dialects.iter().find(|names| names.dialect == dialect).cloned()
                }
                (ToolMeaning::Known(known), Some(table)) => table.names_in_dialect(dialect, known, &tool, &members()),
                (ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_), Some(table)) => {
                    table.names_for_unknown(dialect, &tool, &members())
                }
            }
        };
        match names() {
            Some(names) => names.localize(event),
            None => LocalizedTool::default(),
        }
    }
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
            let localized = tools().localize_event(DialectId::Xcode, ToolMeaning::AsGiven, &mut event);
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
            let localized = tools().localize_event(DialectId::Xcode, ToolMeaning::AsGiven, &mut event);
            event.set("tool_input", Json::parse(rewritten).unwrap());
            localized.restore_event(&mut event);
            assert_eq!(input(&event), expected);
        }
    }

    #[test]
    fn undeclared_names_pass_unchanged() {
        let original = event(r#"{ "path": 1 }"#);
        let mut same = original.clone();
        let localized = tools().localize_event(DialectId::Llxprt, ToolMeaning::AsGiven, &mut same);
        assert_eq!(input(&same), input(&original));
        localized.restore_event(&mut same);
        assert_eq!(input(&same), input(&original));
        assert_eq!(tools().name_in(DialectId::Xcode, "other", ToolMeaning::AsGiven), None);
    }
}
