//! Text about installations and their removal.

use hookrail_app::install::{
    Advice, ChangeSummary, EventChange, EventChangeKind, FailureEffect, RemainingCall, SettingsChange,
};
use hookrail_app::text::visible;
use hookrail_bridge::Agent;

use super::table::{Cell, Table};
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, paint};
use crate::render::verbosity;

/// What is asked about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The user is asked whether to write it.
    Asked,
    /// The user has agreed to it.
    Confirmed,
}

/// Renders the summary, and with `--verbose` every line that changes. With `--quiet` a question is not asked about nothing.
pub(crate) fn summary(summary: &ChangeSummary, changes: &[SettingsChange], question: Question) -> String {
    let mut text = String::new();
    if !verbosity::is_quiet() || question == Question::Asked {
        text.push_str(&paint(HEADING, format!("{}\n", summary.headline)));
    }
    if !verbosity::is_quiet() {
        let mut events = Table::default();
        for change in &summary.events {
            events.row(event_row(change));
        }
        text.push_str(&events.render(2));
        text.extend(summary.others.iter().map(|other| format!("  {}  {other}\n", paint(CAREFUL, "~"))));
    }
    if verbosity::is_detailed() {
        text.push_str(&difference(changes));
    }
    text
}

fn event_row(change: &EventChange) -> [Cell; 5] {
    let (mark, style, parts) = match &change.kind {
        EventChangeKind::Added => ("+", GOOD, String::new()),
        EventChangeKind::Changed(parts) => ("~", CAREFUL, format!("other {}", parts.join(", "))),
        EventChangeKind::Removed => ("-", BAD, String::new()),
    };
    let failure = match (&change.kind, change.failure) {
        (EventChangeKind::Removed, _) | (_, FailureEffect::None) => "",
        (_, FailureEffect::Blocks) => "blocks on failure",
        (_, FailureEffect::Passes) => "passes if hookrail is missing",
    };
    [
        Cell::new(mark, style),
        Cell::plain(&change.event),
        Cell::plain(&change.call),
        Cell::plain(failure),
        Cell::quiet(parts),
    ]
}

/// Returns what changes, line by line.
fn difference(changes: &[SettingsChange]) -> String {
    let mut text = String::new();
    for change in changes {
        text.push_str(&paint(HEADING, change.path.display()));
        text.push('\n');
        let before = change.before.as_deref().unwrap_or_default();
        let after = change.after.as_deref().unwrap_or_default();
        for (mark, line) in different_lines(before, after) {
            let (style, mark) = match mark {
                LineMark::Added => (GOOD, '+'),
                LineMark::Removed => (BAD, '-'),
            };
            text.push_str(&paint(style, format!("{mark} {}", visible(line))));
            text.push('\n');
        }
    }
    text
}

enum LineMark {
    Added,
    Removed,
}

/// The lines between the common beginning and the common end.
fn different_lines<'a>(before: &'a str, after: &'a str) -> Vec<(LineMark, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = |lines: &[&'a str]| lines.get(first..).unwrap_or_default().to_vec();
    let (old, new) = (rest(&old), rest(&new));
    let last = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let old = old.iter().take(old.len() - last).map(|line| (LineMark::Removed, *line));
    let new = new.iter().take(new.len() - last).map(|line| (LineMark::Added, *line));
    old.chain(new).collect()
}

/// Renders what is left to do after an installation.
pub(crate) fn advice(agent: Agent, advice: &[Advice]) -> String {
    let mut text: String = advice.iter().map(|advice| advice_line(agent, advice)).collect();
    text.push_str(&format!(
        "check it with `hookrail doctor {agent}`; take it back with `hookrail uninstall {agent}`\n"
    ));
    text
}

fn advice_line(agent: Agent, advice: &Advice) -> String {
    let title = agent.title();
    let warning = |hook: &str, event, why: String| {
        format!("{}: hook `{}` waits for {event}, {why}\n", paint(BAD, "warning"), visible(hook))
    };
    match advice {
        Advice::EventNotFired { hook, event } => {
            warning(hook, event, format!("which {title} does not fire; it never runs there"))
        }
        Advice::EventFiltered { hook, event } => {
            let why = format!("which {title} fires before every model call; it runs there only with `--noisy`");
            warning(hook, event, why)
        }
        Advice::OfAgent(advice) => format!("{advice}\n"),
    }
}

/// Renders what calls hookrail after a removal.
pub(crate) fn remaining_calls(agent: Agent, left: &[RemainingCall]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let heading = format!("{} still calls hookrail", agent.title());
    let mut text = format!("{}, by what this installation did not write:\n", paint(BAD, heading));
    for call in left {
        text.push_str(&format!("  {}:{}: {}\n", call.path.display(), call.line, visible(&call.what)));
    }
    text.push_str(&format!("remove these lines, or run `hookrail uninstall {agent}` again\n"));
    text
}
