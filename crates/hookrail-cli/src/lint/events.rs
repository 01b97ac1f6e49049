//! Names of events in the words of other agents.

use hookrail::dialect::find_event;
use hookrail::{Code, Diagnostic, DialectId, EventKind};
use hookrail_bridge::Agent;

use super::fix::Fix;
use super::{Finding, with_advice};

/// The event that an agent, or a dialect, calls by this name, and what calls it so.
pub(crate) fn in_other_words(name: &str) -> Option<(EventKind, String)> {
    let mut agents = Vec::new();
    let mut kind = None;
    for agent in Agent::ALL {
        if let Some(event) = agent.events().iter().find(|event| event.name.eq_ignore_ascii_case(name)) {
            kind.get_or_insert(event.kind);
            agents.push(agent.title());
        }
    }
    let own = || find_event(name).map(|kind| (kind, "hooks of another kind".to_owned()));
    kind.map(|kind| (kind, listed(&agents))).or_else(own)
}

fn listed(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    }
}

/// Says which event a name of another agent means here.
pub(super) fn translated(mut diagnostic: Diagnostic) -> Diagnostic {
    if let Some((name, here, whose)) = meant(&diagnostic) {
        diagnostic.message = format!("`{name}` is an event of {whose}, not of this file; its hooks will not run");
        diagnostic.hint = Some(format!("write `{here}`"));
    }
    diagnostic
}

/// The name that was written, the event's name in the file's dialect, and what calls it otherwise.
fn meant(diagnostic: &Diagnostic) -> Option<(String, &'static str, String)> {
    let file = &diagnostic.location.as_ref()?.file;
    let name = diagnostic.message.split('`').nth(1)?;
    let is_plugin =
        file.components().any(|part| matches!(part.as_os_str().to_str(), Some(".x-code" | ".x-code-plugin")));
    let dialect = if is_plugin { DialectId::Xcode } else { DialectId::Llxprt };
    let (kind, whose) = in_other_words(name)?;
    Some((name.to_owned(), kind.spec().column(dialect)?.name, whose))
}

/// Returns what to write instead of an event of another agent, if the event that is fired is meant.
pub(crate) fn misnamed_event(diagnostic: &Diagnostic, fired: EventKind) -> Option<String> {
    if diagnostic.code != Code::UnknownEvent {
        return None;
    }
    let (name, here, _) = meant(diagnostic)?;
    (find_event(here) == Some(fired)).then(|| format!("the hooks of `{name}` do not run: write `{here}`"))
}

/// Says which event is meant, and replaces its name.
pub(super) fn with_fix(diagnostic: Diagnostic) -> Finding {
    let diagnostic = with_advice(diagnostic);
    let suggested =
        diagnostic.hint.as_deref().filter(|hint| hint.starts_with("write `") || hint.starts_with("did you"));
    let name = suggested.and_then(|hint| hint.split('`').nth(1));
    let fix = name.zip(diagnostic.location.as_ref()).map(|(name, place)| Fix::Edit {
        file: place.file.to_path_buf(),
        span: place.span.clone(),
        text: format!("\"{name}\""),
    });
    Finding { diagnostic, fix }
}
