//! Rules that have no effect: they can never match, or another rule of their file always answers as strictly.

use std::fmt::Debug;

use super::condition::{Clause, Condition, PathCondition, PathKey};
use super::read::ReadRule;
use super::read_condition::Problem;
use super::rule::{Rule, RuleAnswer};
use crate::event::EventKind;

/// How many rules of a file are compared with each other. Each is compared with each whenever the file is read, also that of a
/// project before its grant: thousands of rules would keep every event waiting.
const COMPARED: usize = 200;

/// What can be said about the rules of a file without an event.
pub(super) fn without_effect(rules: &[ReadRule]) -> Vec<Problem> {
    let usable = || rules.iter().enumerate().filter(|(_, read)| read.rule.problem().is_none());
    let mut found = Vec::new();
    for (index, read) in usable() {
        let problem = |message, hint: &str| Problem { span: read.span.clone(), message, hint: Some(hint.to_owned()) };
        let name = read.rule.name();
        if let Some(why) = never_matches(read) {
            found.push(problem(format!("rule `{name}` can never match: {why}"), "change its `when`, or remove it"));
            continue;
        }
        let hides = |(other_index, other): &(usize, &ReadRule)| {
            // Of two rules that say the same the later one is meant.
            other_index != &index && is_hidden(read, other) && (*other_index < index || !is_hidden(other, read))
        };
        if let Some((_, other)) = usable().take_while(|_| index < COMPARED).take(COMPARED).find(hides) {
            let other = other.rule.name();
            let message = format!("rule `{name}` has no effect: `{other}` matches wherever it does, and is as strict");
            found.push(problem(message, "remove it, or make the other one narrower"));
        }
    }
    found
}

/// Why no event can make a rule match.
fn never_matches(read: &ReadRule) -> Option<String> {
    let mut reasons = read.rule.when.alternatives.iter().map(|clauses| {
        clauses.iter().find_map(|clause| match clause {
            Clause::Prompt(_) if !read.events.contains(&EventKind::Prompt) => {
                Some("`prompt` is about prompts, and its events have none".to_owned())
            }
            Clause::Paths(_, conditions) if conditions.iter().all(contradicts_itself) => {
                Some("no path is both inside and outside of a folder".to_owned())
            }
            clause if is_about_calls(clause) && !read.events.iter().any(|event| has_call(*event)) => {
                Some("it is about tool calls, and its events have none".to_owned())
            }
            _ => None,
        })
    });
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

fn is_about_calls(clause: &Clause) -> bool {
    match clause {
        Clause::Tool(_)
        | Clause::Commands(_)
        | Clause::Paths(..)
        | Clause::Executes(_)
        | Clause::Network(_)
        | Clause::Git(_)
        | Clause::Flow(_)
        | Clause::EnvDump => true,
        Clause::Event(_)
        | Clause::RunsOrWrites
        | Clause::Agent(_)
        | Clause::Content(_)
        | Clause::Prompt(_)
        | Clause::Session(_)
        | Clause::Not(_) => false,
    }
}

fn has_call(event: EventKind) -> bool {
    matches!(event, EventKind::BeforeTool | EventKind::AfterTool | EventKind::PermissionRequest)
}

fn contradicts_itself(condition: &PathCondition) -> bool {
    !condition.inside.is_empty() && condition.inside.iter().all(|folder| condition.outside.contains(folder))
}

/// Whether a rule answers nothing that another one does not answer as strictly.
fn is_hidden(read: &ReadRule, by: &ReadRule) -> bool {
    let (rule, other) = (&read.rule, &by.rule);
    let is_as_strict = matches!(
        (other.answer(), rule.answer()),
        (RuleAnswer::Deny, RuleAnswer::Deny | RuleAnswer::Ask | RuleAnswer::Allow)
            | (RuleAnswer::Ask, RuleAnswer::Ask | RuleAnswer::Allow)
            | (RuleAnswer::Allow, RuleAnswer::Allow)
    );
    is_as_strict && by.is_enforced && read.is_enforced && is_within(&read.events, &by.events) && covers(other, rule)
}

fn covers(rule: &Rule, other: &Rule) -> bool {
    rule.matched_classes().includes(other.matched_classes()) && condition_covers(&rule.when, &other.when)
}

/// Whether a condition holds wherever another one does, as far as it can be seen.
fn condition_covers(condition: &Condition, other: &Condition) -> bool {
    let is_covered = |clauses: &Vec<Clause>| {
        let covers_all = |alternative: &Vec<Clause>| {
            alternative.iter().all(|clause| clauses.iter().any(|other| clause_covers(clause, other)))
        };
        condition.alternatives.iter().any(covers_all)
    };
    !other.alternatives.is_empty() && other.alternatives.iter().all(is_covered)
}

fn clause_covers(clause: &Clause, other: &Clause) -> bool {
    match (clause, other) {
        (Clause::Event(one), Clause::Event(other)) => is_within(other, one),
        (Clause::Tool(one), Clause::Tool(other))
        | (Clause::Agent(one), Clause::Agent(other))
        | (Clause::Executes(one), Clause::Executes(other)) => is_within(other, one),
        (Clause::Commands(one), Clause::Commands(other)) => is_within(other, one),
        (Clause::Paths(key, one), Clause::Paths(other_key, other)) => {
            (key == other_key || *key == PathKey::Touches) && is_within(other, one)
        }
        (Clause::Network(one), Clause::Network(other)) => is_within(other, one),
        (Clause::Git(one), Clause::Git(other)) => is_within(other, one),
        (Clause::Flow(one), Clause::Flow(other)) => is_within(other, one),
        (Clause::Content(one), Clause::Content(other)) => is_within(other, one),
        (Clause::Prompt(one), Clause::Prompt(other)) => is_within(other, one),
        (one, other) => format!("{one:?}") == format!("{other:?}"),
    }
}

/// Whether all of some values are among others. Patterns are the same if they are written the same.
fn is_within<T: Debug>(some: &[T], all: &[T]) -> bool {
    let shown = |value: &T| format!("{value:?}");
    some.iter().all(|value| all.iter().any(|other| shown(value) == shown(other)))
}

#[cfg(test)]
mod tests {
    use super::super::AddedPrograms;
    use super::super::read::read_rules;

    fn remarks(rules: &str) -> Vec<String> {
        let read = read_rules(rules, &AddedPrograms::default()).unwrap();
        assert!(read.problems.is_empty(), "{:?}", read.problems);
        read.remarks.into_iter().map(|remark| remark.message).collect()
    }

    fn rule(name: &str, rest: &str) -> String {
        format!("[[rule]]\nname = \"{name}\"\n{rest}\n")
    }

    #[test]
    fn as_many_rules_are_compared_as_can_be_in_time() {
        let all =
            (0..3_000).map(|at| rule(&format!("r{at}"), &format!("deny = \"x\"\nwhen = {{ commands = \"c{at}\" }}")));
        let same = rule("same", "deny = \"x\"\nwhen = { commands = \"c1\" }");
        let rules = Vec::from_iter(all);
        assert_eq!(remarks(&(rules.concat() + &same)), [""; 0]);
        assert_eq!(remarks(&(rules[..100].concat() + &same)).len(), 1);
    }

    #[test]
    fn a_rule_that_can_never_match_is_named() {
        for (rest, is_named) in [
            ("deny = \"x\"\nwhen = { event = \"session-start\", commands = \"rm\" }", true),
            ("deny = \"x\"\nwhen = { event = \"prompt\", writes = \"a\" }", true),
            ("deny = \"x\"\nwhen = { event = \"before-tool\", prompt = \"a\" }", true),
            ("deny = \"x\"\nwhen = { deletes = { inside = \"project\", outside = \"project\" } }", true),
            ("deny = \"x\"\nwhen = [{ event = \"prompt\", git = \"push\" }, { prompt = \"a\" }]", false),
            ("deny = \"x\"\nwhen = { commands = \"rm\" }", false),
            ("deny = \"x\"\nwhen = { prompt = \"a\" }", false),
            ("deny = \"x\"\nwhen = { deletes = { inside = \"project\", outside = \"/tmp\" } }", false),
        ] {
            let found = remarks(&rule("a", rest));
            assert_eq!(found.iter().any(|text| text.contains("can never match")), is_named, "{rest}: {found:?}");
        }
    }

    #[test]
    fn a_rule_that_another_one_hides_is_named() {
        let narrow = "when = { writes = \"a\", tool = \"write_file\" }";
        let wide = "when = { touches = [\"a\", \"b\"] }";
        for (one, other, hidden) in [
            (format!("deny = \"x\"\n{wide}"), format!("ask = \"x\"\n{narrow}"), vec!["`b`"]),
            (format!("deny = \"x\"\n{narrow}"), format!("deny = \"x\"\n{wide}"), vec!["`a`"]),
            (format!("deny = \"x\"\n{wide}"), format!("deny = \"y\"\n{wide}"), vec!["`b`"]),
            (format!("ask = \"x\"\n{wide}"), format!("deny = \"x\"\n{narrow}"), vec![]),
            (format!("deny = \"x\"\n{wide}\nenforce = false"), format!("deny = \"x\"\n{narrow}"), vec![]),
            (format!("deny = \"x\"\n{wide}\nmatch-unknown = []"), format!("deny = \"x\"\n{narrow}"), vec![]),
            (format!("deny = \"x\"\n{wide}"), format!("context = \"x\"\n{narrow}"), vec![]),
        ] {
            let found = remarks(&(rule("a", &one) + &rule("b", &other)));
            let named: Vec<bool> = hidden
                .iter()
                .map(|name| found.iter().any(|text| text.starts_with(&format!("rule {name} has no effect"))))
                .collect();
            assert!(found.len() == hidden.len() && named.iter().all(|named| *named), "{one}\n{other}: {found:?}");
        }
    }
}
