//! Reads a file of rules. One that is wrong costs itself and not its neighbours.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hookrail_shell::Class;

use super::AddedPrograms;
use super::condition::{CLASSES, ClassSet, Clause, Condition};
use super::examples::{self, Example, TriedExample};
use super::read_condition::{Problem, Problems, only, read_condition};
use super::rule::{Rule, RuleAnswer};
use super::scene::RuleScene;
use crate::config::{Document, PlacedValue, ValueShape};
use crate::event::EventKind;

/// What a file of rules holds.
#[derive(Debug, Default)]
pub(crate) struct RulesFile {
    pub(crate) rules: Vec<ReadRule>,
    pub(crate) exceptions: Vec<RuleException>,
    pub(crate) problems: Vec<Problem>,
    /// What is no mistake and has no effect.
    pub(crate) remarks: Vec<Problem>,
}

/// A rule as its file has it.
#[derive(Debug)]
pub(crate) struct ReadRule {
    pub(crate) rule: Arc<Rule>,
    pub(crate) span: Range<usize>,
    pub(crate) events: Vec<EventKind>,
    pub(crate) is_enforced: bool,
    pub(crate) description: Option<String>,
    pub(crate) examples: Vec<TriedExample>,
}

/// An exception from a rule of the user or of the project.
#[derive(Clone, Debug)]
pub(crate) struct RuleException {
    pub(crate) rule: String,
    pub(crate) when: Condition,
    /// The day after which it is dead, as `2027-01-31`.
    pub(crate) until: Option<String>,
    pub(crate) is_once: bool,
    pub(crate) reason: String,
    pub(crate) span: Range<usize>,
}

pub(super) const RULE_KEYS: [&str; 12] = [
    "name",
    "description",
    "deny",
    "ask",
    "allow",
    "context",
    "stop",
    "when",
    "match",
    "no-match",
    "match-unknown",
    "enforce",
];
pub(super) const EXCEPTION_KEYS: [&str; 5] = ["rule", "when", "until", "once", "reason"];

/// Reads a file, and tries its examples with what was said about programs.
///
/// # Errors
///
/// It is no TOML at all: nothing of it is known.
pub(crate) fn read_rules(text: &str, programs: &AddedPrograms) -> Result<RulesFile, Problem> {
    let scene = RuleScene::of_examples(programs.clone());
    let document = Document::of_toml(Path::new("rules.toml"), text.to_owned()).map_err(|fault| Problem {
        span: fault.location.span,
        message: format!("invalid TOML: {}", fault.why),
        hint: None,
    })?;
    let mut file = RulesFile::default();
    let mut problems = Problems::default();
    for (key, value) in document.root().and_then(PlacedValue::members).unwrap_or_default() {
        match key.name.as_str() {
            "rule" => {
                for rule in tables("rule", value, &mut problems) {
                    let read = read_rule(rule, &scene, &mut problems);
                    let name = &read.rule.name;
                    if file.rules.iter().any(|known| known.rule.name == *name) {
                        problems.add_with(&read.span, format!("there are two rules `{name}`"), "give one another name");
                        let rule = Rule { broken: Some("another rule has its name".into()), ..Rule::clone(&read.rule) };
                        file.rules.push(ReadRule { rule: Arc::new(rule), ..read });
                        continue;
                    }
                    file.rules.push(read);
                }
            }
            "exception" => {
                for exception in tables("exception", value, &mut problems) {
                    file.exceptions.extend(read_exception(exception, &mut problems));
                }
            }
            other => problems.unknown(&key.span, "section", other, ["rule", "exception"]),
        }
    }
    file.rules.sort_by_key(|rule| rule.span.start);
    problems.0.sort_by_key(|problem| problem.span.start);
    file.problems = problems.0;
    file.remarks = super::review::without_effect(&file.rules);
    Ok(file)
}

fn tables<'t>(key: &str, value: &'t PlacedValue, problems: &mut Problems) -> &'t [PlacedValue] {
    value.elements().unwrap_or_else(|| {
        let message = format!("`{key}` is not {}", value.described_plainly());
        problems.add_with(&value.span, message, format!("write `[[{key}]]`"));
        &[]
    })
}

fn read_rule(value: &PlacedValue, scene: &RuleScene, problems: &mut Problems) -> ReadRule {
    let mut own = Problems::default();
    only(value, "key of a rule", &RULE_KEYS, &mut own);
    // The place of a table is its header; that of its name says more.
    let first = value.members().and_then(<[_]>::first);
    let span = first.map_or(value.span.clone(), |(key, value)| key.span.start..value.span.end);
    let name = match value.get("name").map(|name| (name, name.text())) {
        Some((_, Some(name))) if !name.trim().is_empty() => name.to_owned(),
        Some((at, _)) => {
            own.add(&at.span, "a rule's `name` is a text");
            "unnamed".to_owned()
        }
        None => {
            own.add_with(&span, "a rule has no `name`", "a name is how it is switched off, excepted from and reported");
            "unnamed".to_owned()
        }
    };
    let (answer, text) = read_answer(value, &span, &mut own);
    let when = match value.get("when") {
        Some(when) => read_condition(when, &mut own),
        None => {
            own.add_with(
                &span,
                format!("rule `{name}` has no `when`"),
                "write for example `when = { deletes = \".git/**\" }`",
            );
            Condition::default()
        }
    };
    let match_unknown = value.get("match-unknown").map(|classes| read_classes(classes, &mut own));
    let is_enforced = value.get("enforce").is_none_or(|enforce| {
        enforce.flag().unwrap_or_else(|| {
            own.add(&enforce.span, "`enforce` is true or false");
            true
        })
    });
    let events = events_of(&when);
    let examples = read_examples(value, &mut own);
    let broken = own.0.first().map(|problem| problem.message.clone());
    let mut rule = Rule {
        name: name.into(),
        answer,
        text: text.into(),
        definition: definition(value),
        when,
        match_unknown,
        broken: broken.map(Into::into),
    };
    let mut tried = Vec::new();
    if rule.broken.is_none() {
        let event = events.first().copied().unwrap_or(EventKind::BeforeTool);
        for example in examples {
            let problem = examples::check(&rule, event, &example, scene).err();
            if let Some(why) = problem.as_deref().filter(|_| own.0.is_empty()) {
                own.add_with(&example.span, why, "`hookrail rules test` tries all examples");
            }
            tried.push(TriedExample { shown: example.shown(), is_match: example.is_match, problem });
        }
        rule.broken = own.0.first().map(|problem| problem.message.as_str().into());
    }
    if rule.broken.is_some() {
        rule.when = applicability(&rule.when);
    }
    problems.0.append(&mut own.0);
    let description = value.get("description").and_then(PlacedValue::text).map(str::to_owned);
    ReadRule { rule: Arc::new(rule), span, events, is_enforced, description, examples: tried }
}

/// What a grant covers: all of a rule but what describes and tests it.
fn definition(value: &PlacedValue) -> Arc<str> {
    let mut covered = value.to_covered_json();
    if let Some(members) = covered.as_object_mut() {
        for key in ["description", "match", "no-match"] {
            members.remove(key);
        }
    }
    covered.to_string().into()
}

fn read_answer(value: &PlacedValue, span: &Range<usize>, problems: &mut Problems) -> (RuleAnswer, String) {
    let given: Vec<(RuleAnswer, &PlacedValue)> =
        RuleAnswer::ALL.into_iter().filter_map(|answer| Some((answer, value.get(answer.name())?))).collect();
    match given.as_slice() {
        [] => {
            problems.add_with(
                span,
                "the rule has no answer",
                "write one of deny, ask, allow, context and stop, with its text",
            );
            // It may be a guard whose answer was misspelled.
            (RuleAnswer::Ask, String::new())
        }
        [(answer, text)] => match text.text() {
            Some(text) if !text.trim().is_empty() => (*answer, text.to_owned()),
            _ => {
                problems.add(&text.span, format!("`{answer}` is a text: the reason that people and the model read"));
                (*answer, String::new())
            }
        },
        [(first, _), (second, at), ..] => {
            problems.add(&at.span, format!("the rule has two answers, `{first}` and `{second}`"));
            let strictest =
                if given.iter().any(|(answer, _)| *answer == RuleAnswer::Deny) { RuleAnswer::Deny } else { *first };
            (strictest, String::new())
        }
    }
}

fn read_classes(value: &PlacedValue, problems: &mut Problems) -> ClassSet {
    let mut classes = Vec::new();
    for class in value.each() {
        let Some(text) = class.text() else {
            problems.add(&class.span, "`match-unknown` is a list of texts");
            continue;
        };
        match CLASSES.into_iter().find(|known| known.name() == text) {
            Some(known) => classes.push(known),
            None => problems.unknown(&class.span, "class", text, CLASSES.map(Class::name)),
        }
    }
    ClassSet::of(&classes)
}

/// The events of a condition: those it names, else the one that it is about.
fn events_of(when: &Condition) -> Vec<EventKind> {
    let mut events = Vec::new();
    let clauses = || when.alternatives.iter().flatten();
    for clause in clauses() {
        if let Clause::Event(named) = clause {
            events.extend(named.iter().copied().filter(|event| !events.contains(event)).collect::<Vec<_>>());
        }
    }
    if events.is_empty() {
        let is_about_prompts = clauses().any(|clause| matches!(clause, Clause::Prompt(_)));
        events.push(if is_about_prompts { EventKind::Prompt } else { EventKind::BeforeTool });
    }
    events
}

/// What a rule that cannot be used applies to: the events and tools that it names, else calls that run a command or write.
fn applicability(when: &Condition) -> Condition {
    let named = when.alternatives.iter().map(|clauses| {
        let kept = clauses.iter().filter(|clause| matches!(clause, Clause::Event(_) | Clause::Tool(_)));
        kept.cloned().collect::<Vec<_>>()
    });
    let named: Vec<Vec<Clause>> = named.collect();
    if named.is_empty() || named.iter().any(Vec::is_empty) {
        return Condition::new(vec![vec![Clause::RunsOrWrites]]);
    }
    Condition::new(named)
}

fn read_examples(value: &PlacedValue, problems: &mut Problems) -> Vec<Example> {
    let mut examples = Vec::new();
    for (key, is_match) in [("match", true), ("no-match", false)] {
        for example in value.get(key).map(PlacedValue::each).unwrap_or_default() {
            match Example::read(example, is_match) {
                Ok(example) => examples.push(example),
                Err(why) => problems.add(&example.span, why),
            }
        }
    }
    examples
}

fn read_exception(value: &PlacedValue, problems: &mut Problems) -> Option<RuleException> {
    let before = problems.0.len();
    only(value, "key of an exception", &EXCEPTION_KEYS, problems);
    let text = |key: &str| value.get(key).and_then(PlacedValue::text).map(str::to_owned);
    let rule = text("rule");
    if rule.is_none() {
        problems.add(&value.span, "an exception names its `rule`");
    }
    let reason = text("reason");
    if reason.is_none() {
        problems.add(&value.span, "an exception has a `reason`");
    }
    let until = match value.get("until") {
        None => None,
        Some(PlacedValue { shape: ValueShape::Date(date) | ValueShape::Text(date), .. }) if is_day(date) => {
            Some(date.clone())
        }
        Some(other) => {
            problems.add_with(&other.span, "`until` is no day", "write a date such as 2027-01-31");
            None
        }
    };
    let when = match value.get("when") {
        Some(when) => read_condition(when, problems),
        None => {
            problems.add_with(&value.span, "an exception has no `when`", "say what it is for, as narrowly as you can");
            return None;
        }
    };
    let is_once = value.get("once").and_then(PlacedValue::flag) == Some(true);
    if until.is_none() && !is_once {
        problems.add_with(&value.span, "an exception ends", "write `until = 2027-01-31` or `once = true`");
    }
    // One that is not understood lifts nothing.
    if problems.0.len() > before {
        return None;
    }
    Some(RuleException { rule: rule?, when, until, is_once, reason: reason?, span: value.span.clone() })
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_number = |part: &&str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.as_slice(), [year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_covers_members_by_name_and_an_example_keeps_its_values() {
        let text = "[[rule]]\nname = \"a\"\nwhen = { tool = [\"t\"], event = \"before-tool\" }\ndeny = \"x\"\nenforce = false\n\
            match = { tool = \"t\", input = { n = 1_0, on = true, a = [\"x\"] } }\n";
        let file = read_rules(text, &AddedPrograms::default()).unwrap();
        let [read] = file.rules.as_slice() else { panic!("{file:?}") };
        let covered = r#"{"deny":"x","enforce":false,"name":"a","when":{"event":"before-tool","tool":["t"]}}"#;
        assert_eq!(&*read.rule.definition, covered);
        assert_eq!(read.examples[0].shown, r#"t {"n":10,"on":true,"a":["x"]}"#);
        assert!(!read.is_enforced && read.rule.broken.is_none(), "{read:?}");
    }

    #[test]
    fn what_is_no_toml_is_reported_where_it_was_noticed() {
        let problem = read_rules("[[rule]]\nname = \n", &AddedPrograms::default()).unwrap_err();
        assert!(problem.message.starts_with("invalid TOML: ") && problem.span.start >= 16, "{problem:?}");
    }
}
