//! What is said about a rule that matches: the words of the line, what they do, and to what.

use hookrail_shell::{CommandFact, Fact, Flow, FlowKind, PathUse, Span, Unknown};

use super::condition::PathCondition;
use super::facts::FactPart;
use super::judge::is_of_a_line;
use super::path_pattern::below;
use super::scene::RuleScene;

/// The longest words that are shown, in characters.
const LONGEST: usize = 120;

/// A text on one line, cut to a readable length.
pub(crate) fn short(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if line.chars().count() <= LONGEST {
        return line;
    }
    let head: String = line.chars().take(LONGEST).collect();
    format!("{head}…")
}

/// The text of a span.
pub(crate) fn text(part: &FactPart, span: Span) -> &str {
    part.text.get(span.start as usize..span.end as usize).filter(|_| is_of_a_line(span)).unwrap_or(&part.text)
}

/// The text of a span, as it is shown.
pub(crate) fn words(part: &FactPart, span: Span) -> String {
    short(text(part, span))
}

/// A command with what runs it: `` `sudo rm x`: `rm` (through sudo) ``.
fn subject(part: &FactPart, command: Option<usize>, span: Span) -> String {
    if let Some(tool) = &part.tool {
        return format!("`{tool}`");
    }
    let Some(fact) = command.and_then(|index| part.accesses.commands.get(index)) else {
        return format!("`{}`", words(part, span));
    };
    let whole = outermost(part, fact);
    let via = if fact.via.is_empty() { String::new() } else { format!(" (through {})", fact.via.join(", ")) };
    format!("`{}`: `{}`{via}", words(part, whole), short(&fact.program))
}

/// The words of the command that runs this one.
fn outermost(part: &FactPart, fact: &CommandFact) -> Span {
    let holds = |other: &&CommandFact| {
        other.via.is_empty() && other.span.start <= fact.span.start && fact.span.end <= other.span.end
    };
    part.accesses.commands.iter().find(holds).map_or(fact.span, |outer| outer.span)
}

/// Says what a command does to something.
pub(crate) fn action(part: &FactPart, command: Option<usize>, span: Span, verb: &str, object: &str) -> String {
    format!("{} {verb} `{}`", subject(part, command, span), short(object))
}

/// Says which command a pattern fits.
pub(crate) fn command(part: &FactPart, index: usize, pattern: &str) -> String {
    let span = part.accesses.commands.get(index).map_or(Span::new(0, 0), |command| command.span);
    format!("{} is `{pattern}`", subject(part, Some(index), span))
}

/// Says what happens to a path.
pub(crate) fn path(
    part: &FactPart,
    fact: &Fact<PathUse>,
    verb: &str,
    condition: &PathCondition,
    scene: &RuleScene,
) -> String {
    let inside = below(&fact.what.path, &scene.project).filter(|inside| !inside.is_empty());
    let shown = inside.unwrap_or(&fact.what.path);
    let mut sentence = action(part, fact.command, fact.span, verb, shown);
    if !condition.outside.is_empty() {
        let of_project = condition.outside.iter().any(|root| root.holds(&scene.project, scene));
        if of_project {
            sentence.push_str(&format!(", outside `{}`", scene.project));
        }
    }
    if condition.is_guard_place {
        sentence.push_str(", which decides which hooks run");
    }
    sentence
}

/// Says what flows where.
pub(crate) fn flow(part: &FactPart, flow: &Flow) -> String {
    let words = words(part, flow.span);
    match flow.kind {
        FlowKind::NetToExec => format!("`{words}` runs what comes from the network"),
        FlowKind::SecretToNet => format!("`{words}` sends a secret to the network"),
    }
}

/// Says what is not known.
pub(crate) fn unknown(part: &FactPart, unknown: &Unknown) -> String {
    let Unknown { why, span, .. } = unknown;
    format!("cannot tell what `{}` at {}–{} does: {}", words(part, *span), span.start, span.end, why.text())
}

/// A command that was remembered as a text.
pub(crate) fn command_of_text(text: &str) -> CommandFact {
    let mut words = text.split(' ').map(str::to_owned);
    CommandFact {
        program: words.next().unwrap_or_default(),
        subcommand: None,
        args: words.collect(),
        via: Vec::new(),
        fed: None,
        span: Span::new(0, 0),
    }
}
