//! Reads conditions: the tables below `when` and `if`.

use std::ops::Range;

use hookrail_shell::{FlowKind, GitFact};
use regex::{Regex, RegexBuilder};

use super::command_pattern::CommandPattern;
use super::condition::{
    Clause, Condition, ContentPattern, HostCondition, PathCondition, PathKey, SessionCondition, Since,
};
use super::path_pattern::PathPattern;
use crate::config::{PlacedKey, PlacedValue, ValueShape, nearest};
use crate::event::EventKind;

/// What is wrong in a rules file.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// The keys of a condition.
pub(crate) const CONDITION_KEYS: [&str; 16] = [
    "event", "tool", "agent", "commands", "reads", "writes", "deletes", "touches", "executes", "network", "git",
    "flow", "env-dump", "content", "prompt", "session",
];
pub(super) const NOT: &str = "not";

/// The largest regular expression that is compiled, in bytes.
const LARGEST_REGEX: usize = 1 << 20;

/// Collects what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.0.push(Problem { span: span.clone(), message: message.into(), hint: None });
    }

    pub(crate) fn add_with(&mut self, span: &Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem { span: span.clone(), message: message.into(), hint: Some(hint.into()) });
    }

    /// Reports a name that is not known, with the one that was probably meant.
    pub(crate) fn unknown<'n>(
        &mut self,
        span: &Range<usize>,
        what: &str,
        written: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match nearest(written, known.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        self.add_with(span, format!("unknown {what} `{written}`"), hint);
    }
}

/// Reads a condition: a table, or a list of tables of which one must hold.
pub(crate) fn read_condition(value: &PlacedValue, problems: &mut Problems) -> Condition {
    let mut alternatives = Vec::new();
    for table in value.each() {
        let Some(members) = table.members() else {
            problems.add(&table.span, format!("a condition is a table, not {}", table.described_plainly()));
            continue;
        };
        if members.is_empty() {
            problems.add_with(
                &table.span,
                "the condition is empty",
                "name what the rule is about, for example `deletes`",
            );
            continue;
        }
        let mut clauses = Vec::new();
        // Of a key that is repeated the last value is used, as everywhere.
        let is_last = |key: &PlacedKey, value| table.get(&key.name).is_some_and(|last| std::ptr::eq(last, value));
        for (key, value) in members.iter().filter(|(key, value)| is_last(key, value)) {
            clauses.extend(read_clause(key, value, problems));
        }
        alternatives.push(clauses);
    }
    if value.each().is_empty() {
        problems.add(&value.span, "the list of conditions is empty");
    }
    Condition::new(alternatives)
}

fn read_clause(key: &PlacedKey, value: &PlacedValue, problems: &mut Problems) -> Option<Clause> {
    let PlacedKey { name: key, span: at } = key;
    if value.each().is_empty() {
        problems.add(&value.span, format!("the list of `{key}` is empty"));
        return None;
    }
    Some(match key.as_str() {
        "event" => Clause::Event(read_events(value, problems)),
        "tool" => Clause::Tool(texts(key, value, problems)),
        "agent" => Clause::Agent(texts(key, value, problems)),
        "commands" => Clause::Commands(each(value, problems, read_command)),
        "reads" => Clause::Paths(PathKey::Reads, each(value, problems, read_path)),
        "writes" => Clause::Paths(PathKey::Writes, each(value, problems, read_path)),
        "deletes" => Clause::Paths(PathKey::Deletes, each(value, problems, read_path)),
        "touches" => Clause::Paths(PathKey::Touches, each(value, problems, read_path)),
        "executes" => Clause::Executes(texts(key, value, problems)),
        "network" => Clause::Network(each(value, problems, read_host)),
        "git" => {
            let names: Vec<String> = GitFact::ALL.iter().map(|fact| fact.name().replace('_', "-")).collect();
            Clause::Git(each(value, problems, |value, problems| {
                let text = text_of("git", value, problems)?;
                let found = GitFact::ALL.iter().find(|fact| fact.name().replace('_', "-") == text).copied();
                if found.is_none() {
                    problems.unknown(&value.span, "fact of git", text, names.iter().map(String::as_str));
                }
                found
            }))
        }
        "flow" => Clause::Flow(each(value, problems, |value, problems| {
            let text = text_of("flow", value, problems)?;
            let found = FLOWS.into_iter().find(|flow| flow.name() == text);
            if found.is_none() {
                problems.unknown(&value.span, "flow", text, FLOWS.map(FlowKind::name));
            }
            found
        })),
        "env-dump" if value.flag() == Some(true) => Clause::EnvDump,
        "env-dump" => {
            let hint = "write `not = { env-dump = true }` for the opposite";
            problems.add_with(&value.span, "`env-dump` is true or left out", hint);
            return None;
        }
        "content" => {
            Clause::Content(each(value, problems, |value, problems| match text_of("content", value, problems)? {
                "secrets" => Some(ContentPattern::Secrets),
                text => regex(text, &value.span, problems).map(ContentPattern::Fits),
            }))
        }
        "prompt" => Clause::Prompt(each(value, problems, |value, problems| {
            let text = text_of("prompt", value, problems)?;
            regex(text, &value.span, problems)
        })),
        "session" => Clause::Session(read_session(value, problems)),
        NOT => Clause::Not(Box::new(read_condition(value, problems))),
        _ => {
            problems.unknown(at, "key", key, CONDITION_KEYS.into_iter().chain([NOT]));
            return None;
        }
    })
}

/// The kinds of flows.
const FLOWS: [FlowKind; 2] = [FlowKind::NetToExec, FlowKind::SecretToNet];

fn each<T>(
    value: &PlacedValue,
    problems: &mut Problems,
    read: impl Fn(&PlacedValue, &mut Problems) -> Option<T>,
) -> Vec<T> {
    value.each().iter().filter_map(|value| read(value, problems)).collect()
}

fn text_of<'t>(key: &str, value: &'t PlacedValue, problems: &mut Problems) -> Option<&'t str> {
    if value.text().is_none() {
        problems.add(&value.span, format!("`{key}` is a text or a list of texts, not {}", value.described_plainly()));
    }
    value.text()
}

fn texts(key: &str, value: &PlacedValue, problems: &mut Problems) -> Vec<String> {
    each(value, problems, |value, problems| text_of(key, value, problems).map(str::to_owned))
}

fn regex(text: &str, span: &Range<usize>, problems: &mut Problems) -> Option<Regex> {
    match RegexBuilder::new(text).size_limit(LARGEST_REGEX).build() {
        Ok(regex) => Some(regex),
        Err(error) => {
            let why = error.to_string();
            let last = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            problems.add(span, format!("`{text}` is no regular expression: {last}"));
            None
        }
    }
}

pub(crate) fn read_events(value: &PlacedValue, problems: &mut Problems) -> Vec<EventKind> {
    each(value, problems, |value, problems| {
        let text = text_of("event", value, problems)?;
        let found = EventKind::all().find(|kind| kind.name() == text);
        if found.is_none() {
            problems.unknown(&value.span, "event", text, EventKind::all().map(EventKind::name));
        }
        found
    })
}

fn read_command(value: &PlacedValue, problems: &mut Problems) -> Option<CommandPattern> {
    let (words, about) = match &value.shape {
        ValueShape::Text(text) => (text.as_str(), None),
        ValueShape::Object(_) => {
            only(value, "key", &["words", "text"], problems);
            let Some(words) = value.get("words").and_then(PlacedValue::text) else {
                problems
                    .add(&value.span, "a command has `words`, for example { words = \"psql\", text = \"(?i)drop\" }");
                return None;
            };
            let about = match value.get("text") {
                Some(about) => {
                    let text = text_of("text", about, problems)?;
                    Some(regex(text, &about.span, problems)?)
                }
                None => None,
            };
            (words, about)
        }
        ValueShape::Array(_) | ValueShape::Number(_) | ValueShape::Flag(_) | ValueShape::Date(_) | ValueShape::Null => {
            problems.add(&value.span, format!("a command is a text or a table, not {}", value.described_plainly()));
            return None;
        }
    };
    CommandPattern::read(words, about).map_err(|why| problems.add(&value.span, why)).ok()
}

/// Reports keys of a table that are not known.
pub(crate) fn only(value: &PlacedValue, what: &str, known: &[&str], problems: &mut Problems) {
    for (key, _) in value.members().unwrap_or_default() {
        if !known.contains(&key.name.as_str()) {
            problems.unknown(&key.span, what, &key.name, known.iter().copied());
        }
    }
}

fn read_pattern(value: &PlacedValue, problems: &mut Problems) -> Option<PathPattern> {
    let text = text_of("path", value, problems)?;
    PathPattern::read(text).map_err(|why| problems.add(&value.span, why)).ok()
}

fn read_path(value: &PlacedValue, problems: &mut Problems) -> Option<PathCondition> {
    if value.text().is_some() {
        return Some(PathCondition { globs: vec![read_pattern(value, problems)?], ..PathCondition::default() });
    }
    if value.members().is_none() {
        problems.add(&value.span, format!("a path is a text or a table, not {}", value.described_plainly()));
        return None;
    }
    only(value, "key", &["glob", "outside", "inside", "except", "places"], problems);
    let mut condition = PathCondition::default();
    if let Some(globs) = value.get("glob") {
        condition.globs = each(globs, problems, read_pattern);
    }
    if let Some(except) = value.get("except") {
        condition.except = each(except, problems, read_pattern);
    }
    if let Some(outside) = value.get("outside") {
        condition.outside = each(outside, problems, read_root);
    }
    if let Some(inside) = value.get("inside") {
        condition.inside = each(inside, problems, read_root);
    }
    if let Some(places) = value.get("places") {
        if places.text() == Some("guards") {
            condition.is_guard_place = true;
        } else {
            problems.add_with(&places.span, "unknown places", "the only places with a name are \"guards\"");
        }
    }
    if value.members().is_some_and(<[_]>::is_empty) {
        problems.add(&value.span, "the path is empty");
    }
    Some(condition)
}

/// Reads a folder: `project`, `home`, or a path.
fn read_root(value: &PlacedValue, problems: &mut Problems) -> Option<PathPattern> {
    let text = match text_of("folder", value, problems)? {
        "project" => ".",
        "home" => "~",
        other => other,
    };
    PathPattern::read(text).map_err(|why| problems.add(&value.span, why)).ok()
}

fn read_host(value: &PlacedValue, problems: &mut Problems) -> Option<HostCondition> {
    if let Some(text) = value.text() {
        return Some(HostCondition::Fits(text.to_ascii_lowercase()));
    }
    only(value, "key", &["except"], problems);
    match value.get("except") {
        Some(except) => {
            let hosts = texts("except", except, problems);
            Some(HostCondition::Except(hosts.iter().map(|host| host.to_ascii_lowercase()).collect()))
        }
        None => {
            problems.add(&value.span, "a host is a text such as \"*.example.com\", or { except = [\"localhost\"] }");
            None
        }
    }
}

fn read_session(value: &PlacedValue, problems: &mut Problems) -> SessionCondition {
    let mut condition = SessionCondition::default();
    if value.members().is_none() {
        problems.add(&value.span, format!("`session` is a table, not {}", value.described_plainly()));
        return condition;
    }
    only(value, "key", &["read", "wrote", "ran", "since"], problems);
    if let Some(read) = value.get("read") {
        condition.read = each(read, problems, read_pattern);
    }
    if let Some(wrote) = value.get("wrote") {
        condition.wrote = each(wrote, problems, read_pattern);
    }
    if let Some(ran) = value.get("ran") {
        condition.ran = each(ran, problems, read_command);
    }
    if let Some(since) = value.get("since") {
        match since.text().and_then(read_since) {
            Some(read) => condition.since = read,
            None => problems.add_with(
                &since.span,
                "`since` is no time",
                "write \"session\", or for example \"10m\" or \"2h\"",
            ),
        }
    }
    if condition.read.is_empty() && condition.wrote.is_empty() && condition.ran.is_empty() {
        problems.add(&value.span, "`session` has `read`, `wrote` or `ran`");
    }
    condition
}

fn read_since(text: &str) -> Option<Since> {
    if text == "session" {
        return Some(Since::Session);
    }
    let unit = text.chars().next_back()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    Some(Since::Seconds(number.saturating_mul(seconds)))
}
