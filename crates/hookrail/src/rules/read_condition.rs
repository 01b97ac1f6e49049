//! Reads conditions: the tables below `when` and `if`.

use std::ops::Range;

use hookrail_shell::{FlowKind, GitFact};
use regex::{Regex, RegexBuilder};

use super::command_pattern::CommandPattern;
use super::condition::{
    Clause, Condition, ContentPattern, HostCondition, PathCondition, PathKey, SessionCondition, Since,
};
use super::path_pattern::PathPattern;
use super::term::{Term, TermValue};
use crate::config::nearest;
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
const NOT: &str = "not";

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
pub(crate) fn read_condition(term: &Term, problems: &mut Problems) -> Condition {
    let mut alternatives = Vec::new();
    for table in term.each() {
        let Some(members) = table.table() else {
            problems.add(&table.span, format!("a condition is a table, not {}", table.described()));
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
        for member in members {
            clauses.extend(read_clause(&member.key, &member.at, &member.term, problems));
        }
        alternatives.push(clauses);
    }
    if term.each().is_empty() {
        problems.add(&term.span, "the list of conditions is empty");
    }
    Condition::new(alternatives)
}

fn read_clause(key: &str, at: &Range<usize>, term: &Term, problems: &mut Problems) -> Option<Clause> {
    if term.each().is_empty() {
        problems.add(&term.span, format!("the list of `{key}` is empty"));
        return None;
    }
    Some(match key {
        "event" => Clause::Event(read_events(term, problems)),
        "tool" => Clause::Tool(texts(key, term, problems)),
        "agent" => Clause::Agent(texts(key, term, problems)),
        "commands" => Clause::Commands(each(term, problems, read_command)),
        "reads" => Clause::Paths(PathKey::Reads, each(term, problems, read_path)),
        "writes" => Clause::Paths(PathKey::Writes, each(term, problems, read_path)),
        "deletes" => Clause::Paths(PathKey::Deletes, each(term, problems, read_path)),
        "touches" => Clause::Paths(PathKey::Touches, each(term, problems, read_path)),
        "executes" => Clause::Executes(texts(key, term, problems)),
        "network" => Clause::Network(each(term, problems, read_host)),
        "git" => {
            let names: Vec<String> = GitFact::ALL.iter().map(|fact| fact.name().replace('_', "-")).collect();
            Clause::Git(each(term, problems, |term, problems| {
                let text = text_of("git", term, problems)?;
                let found = GitFact::ALL.iter().find(|fact| fact.name().replace('_', "-") == text).copied();
                if found.is_none() {
                    problems.unknown(&term.span, "fact of git", text, names.iter().map(String::as_str));
                }
                found
            }))
        }
        "flow" => Clause::Flow(each(term, problems, |term, problems| {
            let text = text_of("flow", term, problems)?;
            let found = FLOWS.into_iter().find(|flow| flow.name() == text);
            if found.is_none() {
                problems.unknown(&term.span, "flow", text, FLOWS.map(FlowKind::name));
            }
            found
        })),
        "env-dump" => match term.value {
            TermValue::Flag(true) => Clause::EnvDump,
            _ => {
                problems.add_with(
                    &term.span,
                    "`env-dump` is true or left out",
                    "write `not = { env-dump = true }` for the opposite",
                );
                return None;
            }
        },
        "content" => {
            Clause::Content(each(term, problems, |term, problems| match text_of("content", term, problems)? {
                "secrets" => Some(ContentPattern::Secrets),
                text => regex(text, &term.span, problems).map(ContentPattern::Fits),
            }))
        }
        "prompt" => Clause::Prompt(each(term, problems, |term, problems| {
            let text = text_of("prompt", term, problems)?;
            regex(text, &term.span, problems)
        })),
        "session" => Clause::Session(read_session(term, problems)),
        NOT => Clause::Not(Box::new(read_condition(term, problems))),
        _ => {
            problems.unknown(at, "key", key, CONDITION_KEYS.into_iter().chain([NOT]));
            return None;
        }
    })
}

/// The kinds of flows.
const FLOWS: [FlowKind; 2] = [FlowKind::NetToExec, FlowKind::SecretToNet];

fn each<T>(term: &Term, problems: &mut Problems, read: impl Fn(&Term, &mut Problems) -> Option<T>) -> Vec<T> {
    term.each().iter().filter_map(|term| read(term, problems)).collect()
}

fn text_of<'t>(key: &str, term: &'t Term, problems: &mut Problems) -> Option<&'t str> {
    if term.text().is_none() {
        problems.add(&term.span, format!("`{key}` is a text or a list of texts, not {}", term.described()));
    }
    term.text()
}

fn texts(key: &str, term: &Term, problems: &mut Problems) -> Vec<String> {
    each(term, problems, |term, problems| text_of(key, term, problems).map(str::to_owned))
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

pub(crate) fn read_events(term: &Term, problems: &mut Problems) -> Vec<EventKind> {
    each(term, problems, |term, problems| {
        let text = text_of("event", term, problems)?;
        let found = EventKind::all().find(|kind| kind.name() == text);
        if found.is_none() {
            problems.unknown(&term.span, "event", text, EventKind::all().map(EventKind::name));
        }
        found
    })
}

fn read_command(term: &Term, problems: &mut Problems) -> Option<CommandPattern> {
    let (words, about) = match &term.value {
        TermValue::Text(text) => (text.as_str(), None),
        TermValue::Table(_) => {
            only(term, &["words", "text"], problems);
            let Some(words) = term.member("words").and_then(Term::text) else {
                problems
                    .add(&term.span, "a command has `words`, for example { words = \"psql\", text = \"(?i)drop\" }");
                return None;
            };
            let about = match term.member("text") {
                Some(about) => {
                    let text = text_of("text", about, problems)?;
                    Some(regex(text, &about.span, problems)?)
                }
                None => None,
            };
            (words, about)
        }
        TermValue::Flag(_) | TermValue::List(_) | TermValue::Other(_) => {
            problems.add(&term.span, format!("a command is a text or a table, not {}", term.described()));
            return None;
        }
    };
    CommandPattern::read(words, about).map_err(|why| problems.add(&term.span, why)).ok()
}

fn only(term: &Term, known: &[&str], problems: &mut Problems) {
    for member in term.table().unwrap_or_default() {
        if !known.contains(&member.key.as_str()) {
            problems.unknown(&member.at, "key", &member.key, known.iter().copied());
        }
    }
}

fn read_pattern(term: &Term, problems: &mut Problems) -> Option<PathPattern> {
    let text = text_of("path", term, problems)?;
    PathPattern::read(text).map_err(|why| problems.add(&term.span, why)).ok()
}

fn read_path(term: &Term, problems: &mut Problems) -> Option<PathCondition> {
    if term.text().is_some() {
        return Some(PathCondition { globs: vec![read_pattern(term, problems)?], ..PathCondition::default() });
    }
    if term.table().is_none() {
        problems.add(&term.span, format!("a path is a text or a table, not {}", term.described()));
        return None;
    }
    only(term, &["glob", "outside", "inside", "except", "places"], problems);
    let mut condition = PathCondition::default();
    if let Some(globs) = term.member("glob") {
        condition.globs = each(globs, problems, read_pattern);
    }
    if let Some(except) = term.member("except") {
        condition.except = each(except, problems, read_pattern);
    }
    if let Some(outside) = term.member("outside") {
        condition.outside = each(outside, problems, read_root);
    }
    if let Some(inside) = term.member("inside") {
        condition.inside = each(inside, problems, read_root);
    }
    if let Some(places) = term.member("places") {
        if places.text() == Some("guards") {
            condition.is_guard_place = true;
        } else {
            problems.add_with(&places.span, "unknown places", "the only places with a name are \"guards\"");
        }
    }
    if term.table().is_some_and(<[_]>::is_empty) {
        problems.add(&term.span, "the path is empty");
    }
    Some(condition)
}

/// Reads a folder: `project`, `home`, or a path.
fn read_root(term: &Term, problems: &mut Problems) -> Option<PathPattern> {
    let text = match text_of("folder", term, problems)? {
        "project" => ".",
        "home" => "~",
        other => other,
    };
    PathPattern::read(text).map_err(|why| problems.add(&term.span, why)).ok()
}

fn read_host(term: &Term, problems: &mut Problems) -> Option<HostCondition> {
    if let Some(text) = term.text() {
        return Some(HostCondition::Fits(text.to_ascii_lowercase()));
    }
    only(term, &["except"], problems);
    match term.member("except") {
        Some(except) => {
            let hosts = texts("except", except, problems);
            Some(HostCondition::Except(hosts.iter().map(|host| host.to_ascii_lowercase()).collect()))
        }
        None => {
            problems.add(&term.span, "a host is a text such as \"*.example.com\", or { except = [\"localhost\"] }");
            None
        }
    }
}

fn read_session(term: &Term, problems: &mut Problems) -> SessionCondition {
    let mut condition = SessionCondition::default();
    if term.table().is_none() {
        problems.add(&term.span, format!("`session` is a table, not {}", term.described()));
        return condition;
    }
    only(term, &["read", "wrote", "ran", "since"], problems);
    if let Some(read) = term.member("read") {
        condition.read = each(read, problems, read_pattern);
    }
    if let Some(wrote) = term.member("wrote") {
        condition.wrote = each(wrote, problems, read_pattern);
    }
    if let Some(ran) = term.member("ran") {
        condition.ran = each(ran, problems, read_command);
    }
    if let Some(since) = term.member("since") {
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
        problems.add(&term.span, "`session` has `read`, `wrote` or `ran`");
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
