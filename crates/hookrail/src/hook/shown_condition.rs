//! What the key `if` of a hook became, for who asks what the hook would do.

use serde_json::{Value, json};

use super::Hook;
use super::condition::HookCondition;
use super::permission_rules::{NAMES_OF, PermissionRules};
use crate::dialect_id::DialectId;
use crate::json::Json;
use crate::tools::ToolTable;

/// What the key `if` of a hook became.
#[derive(Clone, Debug, PartialEq)]
pub enum ShownCondition {
    /// Conditions as `when` of a rule has them: a table, or a list of tables of which one must hold.
    When(Json),
    /// Permission rules: the hook is asked about any of these calls.
    Calls(Vec<RuledCalls>),
    /// It cannot be read, so that the hook is always asked.
    AlwaysAsked {
        /// What cannot be read.
        unreadable: String,
    },
}

/// Calls that a permission rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledCalls {
    /// The tools, by the names that they have in the hook's dialect, or by those of the rule.
    pub tools: Vec<String>,
    /// What must fit of a call.
    pub part: CallPart,
}

/// What a permission rule asks of a call. Of what is not known every rule is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPart {
    /// Nothing.
    Any,
    /// One of the commands of its line, whole; ` *` at the end is anything or nothing.
    Command(String),
    /// A path, or a folder around it.
    Path(String),
    /// The host.
    Host(String),
    /// Another argument.
    Text(String),
}

impl CallPart {
    /// Its key in documents, and what must fit.
    fn named(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Any => None,
            Self::Command(pattern) => Some(("command", pattern)),
            Self::Path(pattern) => Some(("path", pattern)),
            Self::Host(pattern) => Some(("host", pattern)),
            Self::Text(pattern) => Some(("text", pattern)),
        }
    }
}

impl RuledCalls {
    fn sentence(&self) -> String {
        let tools = self.tools.join(" or ");
        match self.part.named() {
            None => tools,
            Some((what, pattern)) => format!("{tools} with the {what} `{pattern}`"),
        }
    }

    fn to_json(&self) -> Value {
        let mut members = json!({ "tools": self.tools });
        if let (Some(members), Some((key, pattern))) = (members.as_object_mut(), self.part.named()) {
            members.insert(key.to_owned(), json!(pattern));
        }
        members
    }
}

impl ShownCondition {
    /// What it says, on one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::When(condition) => condition.text().to_owned(),
            Self::Calls(calls) => calls.iter().map(RuledCalls::sentence).collect::<Vec<_>>().join("; "),
            Self::AlwaysAsked { unreadable } => format!("always: `{unreadable}` cannot be read"),
        }
    }

    /// The document: one member, which says what it became.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::from(match self {
            Self::When(condition) => json!({ "when": condition.to_value() }),
            Self::Calls(calls) => json!({ "calls": calls.iter().map(RuledCalls::to_json).collect::<Vec<_>>() }),
            Self::AlwaysAsked { unreadable } => json!({ "unreadable": unreadable }),
        })
    }

    fn of(condition: &HookCondition, dialect: DialectId) -> Option<Self> {
        match condition {
            HookCondition::ToolEnded(_) | HookCondition::FirstInSession => None,
            HookCondition::Rule(condition) => Json::parse(condition.text()).ok().map(Self::When),
            HookCondition::Permission(rules) => Some(Self::of_permission_rules(rules, dialect)),
        }
    }

    fn of_permission_rules(rules: &PermissionRules, dialect: DialectId) -> Self {
        if let Some(unreadable) = rules.unreadable() {
            return Self::AlwaysAsked { unreadable: unreadable.to_owned() };
        }
        let table = ToolTable::default();
        let name_here = |name: &str| match dialect == NAMES_OF {
            true => name.to_owned(),
            false => table.name_in(dialect, name).unwrap_or(name).to_owned(),
        };
        let calls = rules.meant().map(|(names, part)| {
            let mut tools: Vec<String> = Vec::new();
            for name in names.into_iter().map(name_here) {
                if !tools.contains(&name) {
                    tools.push(name);
                }
            }
            RuledCalls { tools, part }
        });
        Self::Calls(calls.collect())
    }
}

impl Hook {
    /// What the key `if` of its entry became, and of the group around it: all of them must hold.
    pub fn shown_conditions(&self) -> impl Iterator<Item = ShownCondition> {
        self.conditions.iter().filter_map(|condition| ShownCondition::of(condition, self.dialect))
    }
}
