//! What the matchers of each dialect are compared with, and which hooks of the event they select.

use std::sync::Arc;

use super::rules::MatchedRules;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::snapshot::{Snapshot, Subscribers};
use crate::dialect_id::DialectId;
use crate::event::{Event, EventKind, Occurrences};
use crate::hook::{Action, Hook};
use crate::matcher::MatchResult;
use crate::tools::{NameElsewhere, NeutralTool, ToolAccess, ToolMeaning, ToolTable};

/// The field with the name of a tool.
const TOOL_NAME: &str = "tool_name";

/// A name that no tool has. A matcher that matches it too, such as one that names what it leaves out, knows no tool by its name.
pub(super) const NO_TOOL: &str = "\u{1}";

/// What the hooks of a part are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedAbout {
    /// The event.
    Event,
    /// Each file of a patch.
    EachFile,
    /// A call of a file tool, as a patch of that file.
    Patch,
}

/// Everything of an event that its plan depends on.
pub(super) struct PlanInput {
    pub(super) event: EventKind,
    /// Whether every dialect takes part in this occurrence of the event.
    for_all: bool,
    /// The text that matchers are compared with, if there are any. One is kept with every plan, so it holds nothing that can be
    /// found again.
    text: Option<Box<str>>,
    /// The dialects whose matchers are compared with another text.
    other_texts: Vec<(DialectId, Box<str>)>,
    tool: ToolMeaning,
    /// The rules that match; nothing if there is nothing to say about rules.
    rules: Option<Box<MatchedRules>>,
}

/// What the matchers of one dialect are compared with.
pub(super) struct Subject<'a> {
    pub(super) field: &'static str,
    pub(super) text: &'a str,
    /// The name of the same tool in the dialect, if the host has declared one or the tool is known. A matcher may match either.
    pub(super) in_dialect: Option<&'a str>,
    /// The name of a known tool in the table, which a matcher may match too.
    pub(super) in_table: Option<&'a str>,
    /// Further names by which matchers of the dialect select the tool.
    matched_as: &'static [&'static str],
    tool: ToolMeaning,
    table: Option<&'a ToolTable>,
}

/// What the matchers of a dialect are compared with if a call is shown as something else.
pub(super) struct Otherwise<'a> {
    pub(super) about: AskedAbout,
    pub(super) tool: &'static NeutralTool,
    /// Nothing if hooks of the dialect have no matchers.
    pub(super) subject: Option<Subject<'a>>,
}

/// Why a hook is asked about a tool that its matcher does not name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// The matcher names the tool as another agent does.
    Elsewhere(NameElsewhere),
    /// The hook is a guard of this tool, and a tool that is not known may do the same.
    Guard(&'static str),
}

impl Reach {
    pub(super) fn note(self, hook: &Hook, subject: &Subject<'_>) -> Option<Diagnostic> {
        let (pattern, tool) = (hook.matcher_in_force().pattern()?, subject.text);
        let finding = match self {
            Self::Elsewhere(NameElsewhere { name, whose, .. }) => {
                let message =
                    format!("`{pattern}` of hook `{hook}` matches `{tool}` because {whose} calls it `{name}`");
                let own = subject.in_dialect.unwrap_or(tool);
                Diagnostic::new(Code::MatcherElsewhere, message).hint(format!("the name here is `{own}`"))
            }
            Self::Guard(covered) => {
                let message = format!(
                    "`{tool}` is in no table of tools; hook `{hook}` is asked because it guards `{covered}` and the input could mean the same"
                );
                let hint = format!("say what it is in the user's `config.toml`: `[tools]`, `{tool} = \"none\"`");
                Diagnostic::new(Code::ToolUnknown, message).hint(hint)
            }
        };
        Some(finding.at(hook.origin.location.clone()))
    }
}

impl<'a> Subject<'a> {
    /// The subject as matchers of a dialect are compared with it.
    fn compared_by(self, dialect: DialectId) -> Self {
        match (self.tool, self.in_dialect) {
            (ToolMeaning::Known(_), Some(own)) if dialect.contract().matches_own_names_only() => {
                let matched_as = dialect.contract().matched_as(own);
                Self { text: own, in_dialect: None, in_table: None, matched_as, tool: ToolMeaning::AsGiven, ..self }
            }
            _ if self.field == TOOL_NAME => Self { matched_as: dialect.contract().matched_as(self.text), ..self },
            _ => self,
        }
    }

    /// The further names that a matcher is compared with.
    pub(super) fn other_names(&self) -> Vec<&'a str> {
        let names = self.in_dialect.into_iter().chain(self.in_table.filter(|name| Some(*name) != self.in_dialect));
        names.filter(|name| *name != self.text).chain(self.matched_as.iter().copied()).collect()
    }

    /// Whether the hook names the tool as another agent does.
    fn is_named_elsewhere(&self, hook: &Hook) -> bool {
        match (self.tool, self.table, hook.matcher_in_force().pattern()) {
            (ToolMeaning::Known(tool), Some(table), Some(pattern)) => {
                table.name_elsewhere(hook.dialect, pattern, tool).is_some()
            }
            _ => false,
        }
    }

    /// Why a hook is asked although its matcher does not match; nothing if it is not.
    pub(super) fn reach(&self, hook: &Hook, event: EventKind) -> Option<Reach> {
        let table = self.table.filter(|_| self.field == TOOL_NAME)?;
        let matcher = hook.matcher_in_force();
        match self.tool {
            ToolMeaning::AsGiven => None,
            ToolMeaning::Known(tool) => {
                table.name_elsewhere(hook.dialect, matcher.pattern()?, tool).map(Reach::Elsewhere)
            }
            ToolMeaning::Unknown(carried) | ToolMeaning::Ambiguous(carried) => {
                let covered = || table.covered_tool(hook.dialect, matcher, carried);
                if hook.guards(event) { covered().map(Reach::Guard) } else { None }
            }
        }
    }
}

pub(super) fn ambiguous(table: &ToolTable, name: &str) -> Diagnostic {
    let meanings: Vec<String> =
        table.meanings_of(name).into_iter().map(|(tool, whose)| format!("`{tool}` ({whose})")).collect();
    let message = format!("`{name}` has several meanings: {}; it is not translated", meanings.join(", "));
    Diagnostic::new(Code::ToolAmbiguous, message).hint("name the agent with `--agent`")
}

impl PlanInput {
    pub(super) fn new(snapshot: &Snapshot, event: &Event, tool: ToolMeaning, rules: MatchedRules) -> Self {
        let mut text: Option<Box<str>> = None;
        let mut other_texts = Vec::new();
        for dialect in snapshot.subscribed(event.kind()) {
            let Some(field) = event.kind().spec().matched_on(dialect) else { continue };
            let compared = dialect.contract().matcher_subject(event, field).into_boxed_str();
            match &text {
                None => text = Some(compared),
                Some(text) if *text == compared => {}
                Some(_) => other_texts.push((dialect, compared)),
            }
        }
        let rules = (!rules.is_empty()).then(|| Box::new(rules));
        Self { event: event.kind(), for_all: event.is_for_all(), text, other_texts, tool, rules }
    }

    /// The rules that match, if there is anything to say about rules.
    pub(super) fn rules(&self) -> Option<&MatchedRules> {
        self.rules.as_deref()
    }

    /// Whether a hook is a rule that does not match, or has a condition that does not hold.
    pub(super) fn is_unmet(&self, hook: &Arc<Hook>) -> bool {
        let is_matched = || self.rules().is_some_and(|rules| rules.of_hook(hook).is_some());
        let is_excluded = self.rules().is_some_and(|rules| rules.excludes(hook));
        is_excluded || matches!(hook.action, Action::Rule(_)) && !is_matched()
    }

    /// Whether the dialect takes part in this occurrence of the event.
    pub(super) fn concerns(&self, dialect: DialectId) -> bool {
        self.for_all || self.occurrences(dialect) == Occurrences::All
    }

    /// Which occurrences of the event the dialect takes part in.
    pub(super) fn occurrences(&self, dialect: DialectId) -> Occurrences {
        self.event.spec().column(dialect).map_or(Occurrences::All, |column| column.occurrences)
    }

    /// The text that the dialect's matchers are compared with; nothing if its hooks for the event have no matchers.
    pub(super) fn subject_for<'a>(&'a self, snapshot: &'a Snapshot, dialect: DialectId) -> Option<Subject<'a>> {
        let other = self.other_texts.iter().find(|(other, _)| *other == dialect).map(|(_, text)| &**text);
        let text = other.or(self.text.as_deref())?;
        let field = self.event.spec().matched_on(dialect)?;
        let tools = &snapshot.tools;
        let in_dialect = if field == TOOL_NAME { tools.name_in(dialect, text, self.tool) } else { None };
        let in_table = match self.tool {
            ToolMeaning::Known(tool) if field == TOOL_NAME => Some(tool.name),
            _ => None,
        };
        let subject =
            Subject { field, text, in_dialect, in_table, matched_as: &[], tool: self.tool, table: tools.table() };
        Some(subject.compared_by(dialect))
    }

    /// Whether hooks of a dialect know the call only as something else, and so are asked about nothing else: its agent has patches in
    /// the place of file tools, or file tools in the place of patches.
    pub(super) fn is_known_otherwise(&self, snapshot: &Snapshot, dialect: DialectId) -> bool {
        let (ToolMeaning::Known(given), Some(table)) = (self.tool, snapshot.tools.table()) else { return false };
        let other = match given.access {
            ToolAccess::Patch => "write_file",
            ToolAccess::Write => "apply_patch",
            ToolAccess::Read | ToolAccess::Run | ToolAccess::Fetch | ToolAccess::Calls | ToolAccess::Other => {
                return false;
            }
        };
        let has = |tool: &str| table.name_in(dialect, tool).is_some();
        dialect.contract().matches_own_names_only() && !has(given.name) && has(other)
    }

    /// What else the call can be shown as to hooks of a dialect: the files of a patch, or the patch of a file.
    pub(super) fn subjects_otherwise<'a>(&'a self, snapshot: &'a Snapshot, dialect: DialectId) -> Vec<Otherwise<'a>> {
        let (ToolMeaning::Known(given), Some(table)) = (self.tool, snapshot.tools.table()) else { return Vec::new() };
        let (about, names): (AskedAbout, &[&str]) = match given.access {
            ToolAccess::Patch => (AskedAbout::EachFile, &["write_file", "replace"]),
            ToolAccess::Write => (AskedAbout::Patch, &["apply_patch"]),
            ToolAccess::Read | ToolAccess::Run | ToolAccess::Fetch | ToolAccess::Calls | ToolAccess::Other => {
                return Vec::new();
            }
        };
        if dialect.contract().tools().is_none() || snapshot.subscribers(self.event, dialect).is_none() {
            return Vec::new();
        }
        let has_matchers = self.event.spec().matched_on(dialect) == Some(TOOL_NAME);
        let otherwise = |tool: &'static NeutralTool| {
            let text = table.name_in(dialect, tool.name).unwrap_or(tool.name);
            let meaning = ToolMeaning::Known(tool);
            let subject = Subject {
                field: TOOL_NAME,
                text,
                in_dialect: Some(text),
                in_table: Some(tool.name),
                matched_as: &[],
                tool: meaning,
                table: Some(table),
            };
            Otherwise { about, tool, subject: has_matchers.then_some(subject.compared_by(dialect)) }
        };
        // Hooks that know their own agent's tools alone are shown a call only as one of these.
        let is_known = |tool: &&'static NeutralTool| {
            !dialect.contract().matches_own_names_only() || table.name_in(dialect, tool.name).is_some()
        };
        names.iter().filter_map(|name| NeutralTool::find(name)).filter(is_known).map(otherwise).collect()
    }
}

/// Whether a hook names the tool that it is asked about.
pub(super) fn knows(hook: &Hook, subject: Option<&Subject<'_>>) -> bool {
    let (Some(subject), matcher) = (subject, hook.matcher_in_force()) else { return false };
    let is_named = || [subject.text].into_iter().chain(subject.other_names()).any(|name| matcher.test(name).is_match());
    !matcher.test(NO_TOOL).is_match() && (is_named() || subject.is_named_elsewhere(hook))
}

/// The hooks that match, in order.
pub(super) fn matching<'a>(
    subscribers: &'a Subscribers,
    subject: Option<&Subject<'_>>,
    event: EventKind,
) -> Vec<(&'a Arc<Hook>, MatchResult, Option<Reach>)> {
    let Some(subject) = subject else {
        return subscribers.hooks.iter().map(|hook| (hook, MatchResult::Matches, None)).collect();
    };
    let by_name = subscribers.matching(subject.text, &subject.other_names()).into_iter();
    let mut by_name = by_name.map(|(hook, verdict)| (hook, verdict, None)).peekable();
    if subject.tool == ToolMeaning::AsGiven {
        return by_name.collect();
    }
    let reached = |hook| {
        let found = by_name.next_if(|(named, ..)| Arc::ptr_eq(named, hook));
        found.or_else(|| Some((hook, MatchResult::Matches, Some(subject.reach(hook, event)?))))
    };
    subscribers.hooks.iter().filter_map(reached).collect()
}
