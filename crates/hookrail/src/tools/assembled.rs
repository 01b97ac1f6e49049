//! The table of tools as a program uses it: the dialects' columns, those of the agents that it knows, and the host's own.

use super::column::{ColumnTool, ToolColumn};
use super::names::DialectNames;
use super::table::{COMMAND, NEUTRAL_TOOLS, NeutralTool, PATH, ToolAccess};
use crate::dialect_id::DialectId;
use crate::json::{Json, JsonKind, JsonObject};
use crate::matcher::{MatchResult, Matcher};
use crate::text::names::named;

named! {
    /// What the user says about a tool that is not in the table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ToolUse {
        /// It reads files.
        Read = "read",
        /// It writes files.
        Write = "write",
        /// It runs commands.
        Run = "run",
        /// It does nothing that a guard of files or commands asks about.
        None = "none",
    }
}

/// One table of tools for everything that asks what a tool is called elsewhere. It always has the dialects' names.
///
/// ```
/// use hookrail::DialectId;
/// use hookrail::tools::ToolTable;
///
/// let table = ToolTable::default();
/// assert_eq!(table.name_in(DialectId::Xcode, "write_file"), Some("writeFile"));
/// assert_eq!(table.name_in(DialectId::Xcode, "deploy"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolTable {
    agents: Vec<&'static ToolColumn>,
    host: Option<&'static ToolColumn>,
    uses: Vec<(String, ToolUse)>,
}

/// What a tool of an event is, as far as the table knows it. A plan depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ToolMeaning {
    /// The table says nothing about it.
    #[default]
    AsGiven,
    /// It is this tool.
    Known(&'static NeutralTool),
    /// It is in no column, and its input carries this.
    Unknown(Carried),
    /// Its name has several meanings, and its input carries this.
    Ambiguous(Carried),
}

/// Which guards are asked about a tool that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    reads: bool,
    writes: bool,
    runs: bool,
}

impl Carried {
    pub(super) fn covers(self, access: ToolAccess) -> bool {
        match access {
            ToolAccess::Read => self.reads,
            ToolAccess::Write => self.writes,
            ToolAccess::Run => self.runs,
            ToolAccess::Fetch | ToolAccess::Patch | ToolAccess::Calls | ToolAccess::Other => false,
        }
    }
}

impl From<ToolUse> for Carried {
    fn from(tool_use: ToolUse) -> Self {
        Self { reads: tool_use == ToolUse::Read, writes: tool_use == ToolUse::Write, runs: tool_use == ToolUse::Run }
    }
}

/// A name of another agent by which a matcher selects a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameElsewhere {
    pub(crate) name: &'static str,
    pub(crate) whose: &'static str,
    pub(crate) tool: &'static NeutralTool,
}

/// The dialects that are no agent's own format.
fn own_formats() -> impl Iterator<Item = DialectId> {
    DialectId::ORDER.into_iter().filter(|dialect| !dialect.needs_enabling())
}

/// The names of a pattern that is nothing but a list of them, such as `Write|Edit`.
#[must_use]
pub fn plain_names(pattern: &str) -> Option<Vec<&str>> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let names: Vec<&str> = pattern.split('|').collect();
    names.iter().all(is_name).then_some(names)
}

/// The names of a list that is anchored as a whole: `^Bash$`, `^(Write|Edit)$`. `^Write|Edit$` is none: it anchors each name at
/// one side only.
fn anchored_names(pattern: &str) -> Option<Vec<&str>> {
    let inside = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let group = inside.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let group = group.map(|group| group.strip_prefix("?:").unwrap_or(group));
    plain_names(group.unwrap_or(inside)).filter(|names| group.is_some() || names.len() == 1)
}

impl ToolTable {
    /// The table with the column of an agent.
    #[must_use]
    pub fn with_agent(mut self, column: &'static ToolColumn) -> Self {
        self.agents.push(column);
        self
    }

    /// The table for a host that is this agent: a name of its column is its tool, whatever the input carries.
    #[must_use]
    pub fn of_host(mut self, column: &'static ToolColumn) -> Self {
        self.host = Some(column);
        self
    }

    /// The table with what the user says about a tool that it does not have.
    #[must_use]
    pub fn with_use(mut self, name: impl Into<String>, tool_use: ToolUse) -> Self {
        self.uses.push((name.into(), tool_use));
        self
    }

    /// Whose tools the host has, if it is an agent of the table.
    pub(crate) fn host_name(&self) -> Option<&'static str> {
        self.host.map(|host| host.whose)
    }

    /// The tools that the user said something about.
    pub fn own_tools(&self) -> impl Iterator<Item = &str> {
        self.uses.iter().map(|(name, _)| name.as_str())
    }

    /// Every column, the host's first.
    fn columns(&self) -> impl Iterator<Item = &'static ToolColumn> {
        let dialects = DialectId::ORDER.into_iter().filter_map(dialect_column);
        self.host.into_iter().chain(dialects).chain(self.agents.clone())
    }

    /// Every name that a tool has in some column.
    pub(crate) fn names_of_tool(&self, tool: &NeutralTool) -> Vec<&'static str> {
        let entries = self.columns().flat_map(|column| column.tools).filter(|entry| entry.tool == tool.name);
        let mut names: Vec<&'static str> = entries.map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Every entry with a name, with whose it is.
    fn entries_called(&self, name: &str) -> impl Iterator<Item = (&'static ToolColumn, &'static ColumnTool)> {
        let called = |column: &'static ToolColumn| Some((column, column.called(name)?));
        self.columns().filter_map(called).collect::<Vec<_>>().into_iter()
    }

    /// The names that hooks of a dialect know, of tools that are in the table and of others.
    #[must_use]
    pub fn names_known_in(&self, dialect: DialectId) -> Vec<&'static str> {
        dialect_column(dialect).map(|column| column.names().collect()).unwrap_or_default()
    }

    /// What a dialect calls the tool that any agent calls so; none if no agent does or the dialect has no such tool.
    #[must_use]
    pub fn name_in(&self, dialect: DialectId, name: &str) -> Option<&'static str> {
        let column = dialect_column(dialect)?;
        let tool = self.entries_called(name).find_map(|(_, entry)| NeutralTool::find(entry.tool))?;
        column.entry_of(tool).map(|entry| entry.name)
    }

    /// A call in the words of a dialect: the name of its tool and its input. A tool that is not known, or that the dialect does
    /// not have, is left as it is.
    #[must_use]
    pub fn call_in(&self, dialect: DialectId, name: &str, input: &Json) -> (String, Json) {
        let translated = dialect_column(dialect).and_then(|column| self.call_for(column, name, input));
        translated.unwrap_or_else(|| (name.to_owned(), input.clone()))
    }

    /// A call in the words of a column; none if the tool is not known or the column does not have it.
    #[must_use]
    pub fn call_for(&self, column: &'static ToolColumn, name: &str, input: &Json) -> Option<(String, Json)> {
        let ToolMeaning::Known(tool) = self.meaning(name, Some(input)) else { return None };
        let members = input.as_object()?;
        let names = self.names_for_call(column, tool, name, &members)?;
        Some((names.name.clone(), names.input_in_dialect(&members).to_json()))
    }

    /// What a tool is. A name of another agent is only that agent's tool if the input carries the main argument of it, or if
    /// there is no input.
    pub(crate) fn meaning(&self, name: &str, input: Option<&Json>) -> ToolMeaning {
        let members = input.map(|input| input.as_object().unwrap_or_default());
        self.meaning_among(name, members.as_ref())
    }

    /// The same, for an input whose members are known.
    pub(crate) fn meaning_among(&self, name: &str, members: Option<&JsonObject>) -> ToolMeaning {
        if let Some(tool) = self.host.and_then(|host| NeutralTool::find(host.called(name)?.tool)) {
            return ToolMeaning::Known(tool);
        }
        let mut meant: Vec<&'static NeutralTool> = Vec::new();
        for tool in self.entries_called(name).filter_map(|(_, entry)| NeutralTool::find(entry.tool)) {
            let is_carried = members.is_none_or(|members| self.carries_main(tool, members));
            if is_carried && !meant.contains(&tool) {
                meant.push(tool);
            }
        }
        match *meant {
            [tool] => ToolMeaning::Known(tool),
            [] => self.unknown(name, members),
            _ => ToolMeaning::Ambiguous(members.map(|members| self.carried(members)).unwrap_or_default()),
        }
    }

    fn unknown(&self, name: &str, members: Option<&JsonObject>) -> ToolMeaning {
        let said = self.uses.iter().rev().find(|(known, _)| known == name).map(|(_, tool_use)| *tool_use);
        let carried = match said {
            Some(tool_use) => tool_use.into(),
            None => members.map(|members| self.carried(members)).unwrap_or_default(),
        };
        if carried == Carried::default() { ToolMeaning::AsGiven } else { ToolMeaning::Unknown(carried) }
    }

    fn carried(&self, members: &JsonObject) -> Carried {
        let has = |argument| carrier_among(self.names_anywhere(argument), members).is_some();
        let has_path = has(PATH);
        Carried { reads: has_path, writes: has_path, runs: has(COMMAND) }
    }

    fn carries_main(&self, tool: &NeutralTool, members: &JsonObject) -> bool {
        tool.main_argument().is_some_and(|main| self.names_of(tool, main).any(|name| members.get(name).is_some()))
    }

    /// Every name of an argument of a tool.
    pub(super) fn names_of(&self, tool: &NeutralTool, argument: &str) -> impl Iterator<Item = &'static str> {
        let entries = self.columns().flat_map(|column| column.tools).filter(|entry| entry.tool == tool.name);
        entries.flat_map(|entry| entry.names_of(argument).iter().copied())
    }

    /// Every name of an argument of any tool, without those that say nothing at a tool that is not known.
    pub(super) fn names_anywhere(&self, argument: &str) -> impl Iterator<Item = &'static str> {
        let entries = self.columns().flat_map(|column| column.tools);
        entries.flat_map(|entry| entry.names_of(argument).iter().copied()).filter(|name| !VAGUE.contains(name))
    }

    /// The names of a call in a dialect; none if the dialect has no such tool.
    pub(super) fn names_in_dialect(
        &self,
        dialect: DialectId,
        tool: &'static NeutralTool,
        given: &str,
        members: &JsonObject,
    ) -> Option<DialectNames> {
        self.names_for_call(dialect_column(dialect)?, tool, given, members)
    }

    fn names_for_call(
        &self,
        column: &'static ToolColumn,
        tool: &'static NeutralTool,
        given: &str,
        members: &JsonObject,
    ) -> Option<DialectNames> {
        let theirs = column.called(given).filter(|entry| entry.tool == tool.name).or_else(|| column.entry_of(tool))?;
        let hosts = self.entries_at_hosts(tool, given);
        let mut names = DialectNames::new(theirs.name);
        for argument in tool.arguments {
            let of_dialect = theirs.names_of(argument);
            let first = || hosts.iter().find_map(|entry| entry.names_of(argument).first()).or(of_dialect.first());
            let Some(host) = self.carrier(tool, argument, &hosts, members).or_else(|| first().copied()) else {
                continue;
            };
            names.add_argument(host, of_dialect);
        }
        Some(names)
    }

    /// The entries of a tool where it is called so: the host's own first, then those of other agents.
    pub(super) fn entries_at_hosts(&self, tool: &NeutralTool, given: &str) -> Vec<&'static ColumnTool> {
        self.entries_called(given).map(|(_, entry)| entry).filter(|entry| entry.tool == tool.name).collect()
    }

    /// The name under which a call has an argument.
    pub(super) fn carrier(
        &self,
        tool: &NeutralTool,
        argument: &str,
        hosts: &[&'static ColumnTool],
        members: &JsonObject,
    ) -> Option<&'static str> {
        let of_hosts = hosts.iter().flat_map(|entry| entry.names_of(argument)).copied();
        carrier_among(of_hosts.chain(self.names_of(tool, argument)), members)
    }

    /// The names of a call of a tool that is not known: its own, with the dialect's names of a path or command as aliases.
    pub(super) fn names_for_unknown(
        &self,
        dialect: DialectId,
        given: &str,
        members: &JsonObject,
    ) -> Option<DialectNames> {
        let column = dialect_column(dialect)?;
        let mut names = DialectNames::new(given);
        for argument in [PATH, COMMAND] {
            let of_dialect = column.tools.iter().map(|entry| entry.names_of(argument)).find(|names| !names.is_empty());
            if let Some((carrier, of_dialect)) = carrier_among(self.names_anywhere(argument), members).zip(of_dialect) {
                names.add_aliases(carrier, of_dialect);
            }
        }
        Some(names)
    }

    /// The name of another agent by which a matcher of a dialect selects a tool, if the matcher is a plain list of names, none
    /// of which is the dialect's or the host's. An anchored list must also have no name of another dialect: `^write$` is written
    /// to leave `write_file` alone.
    pub(crate) fn name_elsewhere(
        &self,
        dialect: DialectId,
        pattern: &str,
        tool: &'static NeutralTool,
    ) -> Option<NameElsewhere> {
        let own = dialect_column(dialect)?;
        let (names, others) = match plain_names(pattern) {
            Some(names) => (names, Vec::new()),
            None => (anchored_names(pattern)?, own_formats().filter_map(dialect_column).collect()),
        };
        let mut excluded = self.host.into_iter().chain([own]).chain(others).flat_map(ToolColumn::names);
        if excluded.any(|name| names.contains(&name)) {
            return None;
        }
        let meant = |name: &&str| {
            let found = self.entries_called(name).find(|(_, entry)| entry.tool == tool.name);
            found.map(|(column, entry)| NameElsewhere { name: entry.name, whose: column.whose, tool })
        };
        names.iter().find_map(meant)
    }

    /// The tools of other agents that a matcher of a dialect selects by their names there.
    #[must_use]
    pub fn selected_elsewhere(&self, dialect: DialectId, pattern: &str) -> Vec<(&'static str, &'static str)> {
        let found = NEUTRAL_TOOLS.iter().filter_map(|tool| self.name_elsewhere(dialect, pattern, tool));
        found
            .map(|NameElsewhere { name, tool, .. }| (name, self.name_in(dialect, tool.name).unwrap_or(tool.name)))
            .collect()
    }

    /// The host's tools that a list of other agents' names would select, and does not because one of the names is the host's own.
    #[must_use]
    pub fn hidden_by_own_name(&self, dialect: DialectId, matcher: &Matcher) -> Vec<&'static str> {
        let (Some(host), Some(pattern)) = (self.host, matcher.pattern()) else { return Vec::new() };
        if dialect.contract().matches_own_names_only() {
            return Vec::new();
        }
        let elsewhere = Self { host: None, ..self.clone() };
        let hidden = |tool: &&'static NeutralTool| {
            let shown: Vec<&'static NeutralTool> =
                NEUTRAL_TOOLS.iter().filter(|other| tool.is_shown_as(other)).collect();
            let of_host = host.tools.iter().filter(|entry| entry.tool == tool.name).map(|entry| entry.name);
            let of_dialect = shown.iter().filter_map(|tool| self.name_in(dialect, tool.name));
            let mut names = of_host.chain(of_dialect).chain(shown.iter().map(|tool| tool.name));
            let reached =
                |table: &Self| shown.iter().any(|tool| table.name_elsewhere(dialect, pattern, tool).is_some());
            !names.any(|name| matcher.test(name).is_match()) && !reached(self) && reached(&elsewhere)
        };
        NEUTRAL_TOOLS.iter().filter(hidden).filter_map(|tool| Some(host.entry_of(tool)?.name)).collect()
    }

    /// The tool that a matcher of a dialect selects and that does what a tool that is not known may do.
    pub(crate) fn covered_tool(&self, dialect: DialectId, matcher: &Matcher, carried: Carried) -> Option<&'static str> {
        let column = dialect_column(dialect)?;
        let covered = NEUTRAL_TOOLS.iter().filter(|tool| carried.covers(tool.access));
        let selected = |tool: &'static NeutralTool| {
            let name = column.entry_of(tool)?.name;
            let is_selected = matcher.test(name) == MatchResult::Matches;
            let is_elsewhere = || self.name_elsewhere(dialect, matcher.pattern()?, tool);
            (is_selected || is_elsewhere().is_some()).then_some(name)
        };
        covered.into_iter().find_map(selected)
    }

    /// What a dialect calls the tools that a tool of another kind stands for.
    pub(crate) fn stands_for(&self, dialect: DialectId, meaning: ToolMeaning) -> Vec<&'static str> {
        let does = |access: ToolAccess| match meaning {
            ToolMeaning::AsGiven => false,
            ToolMeaning::Known(tool) => tool.access == ToolAccess::Patch && access == ToolAccess::Write,
            ToolMeaning::Unknown(carried) | ToolMeaning::Ambiguous(carried) => carried.covers(access),
        };
        let column = dialect_column(dialect);
        let name = |tool: &'static NeutralTool| Some(column?.entry_of(tool)?.name);
        NEUTRAL_TOOLS.iter().filter(|tool| does(tool.access)).filter_map(name).collect()
    }

    /// What the tool that any agent calls so is called among these, else by the host, else by a dialect.
    pub(super) fn offered_as(&self, name: &str, dialect: DialectId, offered: &[String]) -> Option<String> {
        let ToolMeaning::Known(tool) = self.meaning(name, None) else { return None };
        let entries = self.columns().flat_map(|column| column.tools).filter(|entry| entry.tool == tool.name);
        let known = |entry: &ColumnTool| offered.iter().any(|name| name == entry.name);
        let of_host = || self.host.and_then(|host| host.entry_of(tool));
        let of_dialect = || dialect_column(dialect)?.entry_of(tool);
        let entry = entries.into_iter().find(|entry| known(entry)).or_else(of_host).or_else(of_dialect);
        entry.map(|entry| entry.name.to_owned())
    }

    /// The meanings of a name that has several, each with whose it is.
    pub(crate) fn meanings_of(&self, name: &str) -> Vec<(&'static str, &'static str)> {
        self.entries_called(name).map(|(column, entry)| (entry.tool, column.whose)).collect()
    }
}

/// Names of a command line that many tools have for something else.
pub(super) const VAGUE: [&str; 2] = ["input", "chars"];

pub(super) fn dialect_column(dialect: DialectId) -> Option<&'static ToolColumn> {
    dialect.contract().tools()
}

/// The first name under which an input has a value.
pub(super) fn carrier_among(
    mut names: impl Iterator<Item = &'static str>,
    members: &JsonObject,
) -> Option<&'static str> {
    names.find(|name| members.get(name).is_some_and(|value| value.kind() != JsonKind::Null))
}
