//! Hooks that stand for each other: the same command twice, the same name twice, and modules that shadow others.

use hookrail::hook::{Action, Enablement};
use hookrail::{Code, Diagnostic, DialectId, Hook};

use super::Finding;
use super::context::LintContext;

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let hooks: Vec<&Hook> = context.active().map(|seen| &**seen.hook).collect();
    let mut found: Vec<Finding> = Vec::new();
    for (at, hook) in hooks.iter().enumerate() {
        let before = hooks.iter().take(at);
        if let Some(first) = before.clone().find(|other| is_same(other, hook)) {
            found.push(same_work(context, first, hook));
        } else if let Some(first) = before.clone().find(|other| has_same_name(other, hook)) {
            found.push(same_name(context, first, hook));
        }
    }
    found.extend(context.hooks.iter().filter_map(|seen| shadowed(seen.hook)));
    found
}

fn is_same(one: &Hook, other: &Hook) -> bool {
    let same_command = match (&one.action, &other.action) {
        (Action::Shell(one), Action::Shell(other)) => one == other,
        (Action::Program(one), Action::Program(other)) => one == other,
        _ => false,
    };
    let same_owner = one.owner.as_ref().map(|owner| &owner.id) == other.owner.as_ref().map(|owner| &owner.id);
    same_command
        && same_owner
        && (one.event, one.dialect) == (other.event, other.dialect)
        && one.matcher.pattern() == other.matcher.pattern()
}

fn has_same_name(one: &Hook, other: &Hook) -> bool {
    let is_named = |hook: &Hook| match &hook.action {
        Action::Shell(line) => *hook.label != **line,
        Action::Program(words) => words.first().is_some_and(|first| *hook.label != **first),
        _ => false,
    };
    // The same command on several events with one name is one hook for its author.
    let other_command = match (&one.action, &other.action) {
        (Action::Shell(one), Action::Shell(other)) => one != other,
        _ => false,
    };
    one.dialect == DialectId::Llxprt
        && other_command
        && one.dialect == other.dialect
        && one.label == other.label
        && is_named(one)
        && is_named(other)
}

fn place(hook: &Hook) -> String {
    format!("{}:{}", hook.origin.location.file.display(), hook.origin.location.line)
}

fn same_work(context: &LintContext<'_>, first: &Hook, hook: &Hook) -> Finding {
    let effect = if hook.does_work_of(first) { "only one of them runs" } else { "it runs twice" };
    let message = format!("hook `{hook}` is the same as the one at {}; {effect}", place(first));
    let diagnostic = context.about_key(hook, "command", Code::HookDuplicate, message);
    Finding::new(diagnostic.hint("remove one of the two entries"))
}

fn same_name(context: &LintContext<'_>, first: &Hook, hook: &Hook) -> Finding {
    let message = format!(
        "hook `{hook}` has the name of the hook at {}; a list of disabled hooks and `trust grant {hook}` mean both",
        place(first)
    );
    let diagnostic = context.about_key(hook, "name", Code::HookDuplicate, message);
    Finding::new(diagnostic.hint("give each hook a name of its own"))
}

fn shadowed(hook: &Hook) -> Option<Finding> {
    let Enablement::Disabled(why) = &hook.enablement else { return None };
    let Action::Module(path) = &hook.action else { return None };
    let first = why.strip_prefix("the hook of the same name, ")?;
    let message = format!("this module is not loaded: {first} has its place");
    let diagnostic = Diagnostic::new(Code::HookShadowed, message).at(hook.origin.location.clone());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(Finding::new(diagnostic.hint(format!("rename `{name}` if both must run"))))
}

#[cfg(test)]
mod tests {
    use hookrail::EventKind;
    use hookrail::sources::{Origin, SourceKind};

    use super::*;

    #[test]
    fn whether_the_second_of_two_entries_runs_is_what_its_dialect_says() {
        let hook = |dialect: DialectId| {
            let origin = Origin::without_file(SourceKind::User);
            Hook::new(EventKind::BeforeTool, dialect, "x", Action::Shell("x".into()), origin)
        };
        for (dialect, runs_once) in [
            (DialectId::Llxprt, true),
            (DialectId::Gemini, true),
            (DialectId::Claude, true),
            (DialectId::Codex, false),
            (DialectId::Xcode, false),
        ] {
            assert_eq!(hook(dialect).does_work_of(&hook(dialect)), runs_once, "{dialect}");
        }
        assert!(!hook(DialectId::Claude).does_work_of(&hook(DialectId::Gemini)));
    }
}
