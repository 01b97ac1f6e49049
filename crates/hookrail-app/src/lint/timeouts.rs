//! Timeouts in the wrong unit, and timeouts that no host waits for.

use std::time::Duration;

use hookrail::{Code, DialectId, EventKind, Hook};

use super::Finding;
use super::context::LintContext;
use super::fix::Fix;

/// Shorter timeouts end before an interpreter has started.
const SHORTEST_USEFUL: Duration = Duration::from_millis(100);

/// How long a host waits for hooks of plugins when a session ends.
const SESSION_END_GRACE: Duration = Duration::from_millis(1500);

/// A timeout of so many seconds, in a file that counts in seconds, was meant in milliseconds.
const MEANT_AS_MILLISECONDS: Duration = Duration::from_secs(1000);

/// A longer timeout is more often a mistake of the unit than meant: the agent does nothing else while a hook runs.
const LONGEST_USEFUL: Duration = Duration::from_secs(600);

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let with_timeout = context.active().map(|seen| &**seen.hook).filter(|hook| context.has_key(hook, "timeout"));
    with_timeout
        .filter_map(|hook| {
            short(context, hook).or_else(|| in_wrong_unit(context, hook)).or_else(|| long(context, hook))
        })
        .collect()
}

fn short(context: &LintContext<'_>, hook: &Hook) -> Option<Finding> {
    if hook.timeout >= SHORTEST_USEFUL {
        return None;
    }
    let ms = hook.timeout.as_secs_f64() * 1000.0;
    let message =
        format!("the timeout of hook `{hook}` is {ms} ms, in which no program starts; `timeout` is in milliseconds");
    let diagnostic = context.about_key(hook, "timeout", Code::TimeoutShort, message);
    let meant = ms * 1000.0;
    let diagnostic = diagnostic.hint(format!("for {ms} s write `\"timeout\": {meant}`"));
    Some(Finding { diagnostic, fix: Fix::replace_value(context, hook, "timeout", &meant.to_string()) })
}

/// Whether the dialect of a hook writes its timeouts in seconds.
fn counts_seconds(hook: &Hook) -> bool {
    matches!(hook.dialect, DialectId::Claude | DialectId::Codex)
}

/// A number that was meant as milliseconds, where seconds are written.
fn in_wrong_unit(context: &LintContext<'_>, hook: &Hook) -> Option<Finding> {
    if !counts_seconds(hook) || hook.timeout < MEANT_AS_MILLISECONDS {
        return None;
    }
    let seconds = hook.timeout.as_secs();
    let message = format!("the timeout of hook `{hook}` is {seconds} s; `timeout` is in seconds here");
    let meant = (seconds / 1000).to_string();
    let diagnostic = context.about_key(hook, "timeout", Code::TimeoutLong, message);
    let diagnostic = diagnostic.hint(format!("for {seconds} ms write `\"timeout\": {meant}`"));
    Some(Finding { diagnostic, fix: Fix::replace_value(context, hook, "timeout", &meant) })
}

fn long(context: &LintContext<'_>, hook: &Hook) -> Option<Finding> {
    let is_cut_off = hook.event == EventKind::SessionEnd && hook.dialect == DialectId::Xcode;
    let (limit, what) = if is_cut_off {
        (SESSION_END_GRACE, "but a host ends hooks of this event after 1.5 s")
    } else {
        (LONGEST_USEFUL, "and the agent waits all that time if the hook hangs")
    };
    if hook.timeout <= limit {
        return None;
    }
    let seconds = hook.timeout.as_secs_f64();
    let message = format!("the timeout of hook `{hook}` is {seconds} s, {what}");
    let hint = if is_cut_off {
        "do less, or start a process of its own that goes on"
    } else if counts_seconds(hook) {
        "`timeout` is in seconds; write for example `\"timeout\": 60` for a minute"
    } else {
        "`timeout` is in milliseconds; write for example `\"timeout\": 60000` for a minute"
    };
    Some(Finding::new(context.about_key(hook, "timeout", Code::TimeoutLong, message).hint(hint)))
}
