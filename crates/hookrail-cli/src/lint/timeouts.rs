//! Timeouts in the wrong unit, and timeouts that no host waits for.

use std::time::Duration;

use hookrail::{Code, EventKind, Hook};

use super::Finding;
use super::fix::Fix;
use super::scene::Scene;

/// Shorter timeouts end before an interpreter has started.
const SHORTEST_USEFUL: Duration = Duration::from_millis(100);

/// How long a host waits for hooks when a session ends.
const SESSION_END_GRACE: Duration = Duration::from_millis(1500);

/// The longest time that an agent waits for a hook before it shows the user a failure, by the documentation of the agents.
const LONGEST_USEFUL: Duration = Duration::from_secs(600);

pub(super) fn look(scene: &Scene<'_>) -> Vec<Finding> {
    let with_timeout = scene.active().map(|seen| &**seen.hook).filter(|hook| scene.has_key(hook, "timeout"));
    with_timeout.filter_map(|hook| short(scene, hook).or_else(|| long(scene, hook))).collect()
}

fn short(scene: &Scene<'_>, hook: &Hook) -> Option<Finding> {
    if hook.timeout >= SHORTEST_USEFUL {
        return None;
    }
    let ms = hook.timeout.as_secs_f64() * 1000.0;
    let message =
        format!("the timeout of hook `{hook}` is {ms} ms, in which no program starts; `timeout` is in milliseconds");
    let diagnostic = scene.about_key(hook, "timeout", Code::TimeoutShort, message);
    let meant = ms * 1000.0;
    let diagnostic = diagnostic.hint(format!("for {ms} s write `\"timeout\": {meant}`"));
    Some(Finding { diagnostic, fix: Fix::replace_value(scene, hook, "timeout", &meant.to_string()) })
}

fn long(scene: &Scene<'_>, hook: &Hook) -> Option<Finding> {
    let (limit, what) = match hook.event {
        EventKind::SessionEnd => (SESSION_END_GRACE, "a host ends hooks of this event after 1.5 s"),
        _ => (LONGEST_USEFUL, "agents wait for a hook for 10 minutes at most"),
    };
    if hook.timeout <= limit {
        return None;
    }
    let seconds = hook.timeout.as_secs_f64();
    let message = format!("the timeout of hook `{hook}` is {seconds} s, but {what}");
    let hint = match hook.event {
        EventKind::SessionEnd => "do less, or start a process of its own that goes on",
        _ => "`timeout` is in milliseconds; write for example `\"timeout\": 60000` for a minute",
    };
    Some(Finding::new(scene.about_key(hook, "timeout", Code::TimeoutLong, message).hint(hint)))
}
