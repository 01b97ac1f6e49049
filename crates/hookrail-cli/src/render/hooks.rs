//! Lists of hooks: what is configured, and what did not run.

use std::fmt::Write as _;
use std::sync::Arc;

use hookrail::hook::{Action, Enablement, SandboxProfile, SandboxRequirement};
use hookrail::module::CommandOffer;
use hookrail::plan::{SkipReason, Skips, Snapshot};
use hookrail::{EventKind, Hook, Level};
use hookrail_app::lint::MatcherFix;
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{count_by_level, counted, one_line, short};

use super::runs::what_runs;
use super::table::{Cell, Table};

use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, HINT, QUIET, paint};
use crate::render::verbosity;

/// The length of the longest hook name that is not shortened.
pub(super) const NAME: usize = 48;

/// Lists every hook, by event, and the commands of modules.
pub(crate) fn list(snapshot: &Snapshot, commands: &[CommandOffer], places: &PathDisplay) -> String {
    let mut out = String::new();
    let is_empty = snapshot.hooks().is_empty() && commands.is_empty();
    if is_empty {
        out.push_str("no hooks are configured\n");
    }
    for event in EventKind::all().map(Some).chain([None]) {
        let mut table = Table::default();
        for hook in snapshot.hooks().iter().filter(|hook| hook.known_event() == event) {
            let (state, style, why) = enablement(hook);
            table.row([
                Cell::new(state, style),
                Cell::plain(short(&hook.label, NAME)),
                Cell::plain(hook.matcher.pattern().map_or_else(|| "*".to_owned(), |pattern| short(pattern, NAME))),
                Cell::plain(hook.dialect.name()),
                Cell::plain(exec_options(hook)),
                Cell::plain(sandbox(hook)),
                Cell::quiet(places.location(&hook.origin.location)),
                Cell::quiet(one_line(&places.sentence(&why))),
            ]);
            if verbosity::is_detailed() {
                table.note(paint(QUIET, places.sentence(&what_runs(hook))));
            }
        }
        let rows = table.render(2);
        if !rows.is_empty() {
            let _ = write!(out, "{}\n{rows}\n", paint(HEADING, event.map_or("event unknown", EventKind::name)));
        }
    }
    out.push_str(&command_list(commands, places));
    out.push_str(&list_hints(snapshot));
    let is_broken = || snapshot.diagnostics().iter().any(|finding| finding.level == Level::Error);
    if is_empty && !is_broken() {
        out.push_str(&hint("run `hookrail init` to create a first one"));
    }
    out + &trust_hint(snapshot.hooks().iter())
}

/// Lists the commands that modules offer; empty if there are none.
fn command_list(commands: &[CommandOffer], places: &PathDisplay) -> String {
    let mut table = Table::default();
    for command in commands {
        table.row([
            Cell::plain(short(&format!("/{}", command.name), NAME)),
            Cell::plain(one_line(command.description.as_deref().unwrap_or_default())),
            Cell::quiet(places.path(&command.module)),
        ]);
    }
    let rows = table.render(2);
    if rows.is_empty() { rows } else { format!("{}\n{rows}\n", paint(HEADING, "commands")) }
}

/// Returns the execution options of a hook that are not the default, such as `mode`, in a cell; for a remote hook the group
/// that it asks.
pub(super) fn exec_options(hook: &Hook) -> String {
    let remote = match &hook.action {
        Action::Remote(target) => Some(format!("remote: {}", target.group)),
        _ => None,
    };
    let options = hook.lifetime.configured().map(|(key, value)| format!("{key}: {value}"));
    remote.into_iter().chain(options).collect::<Vec<_>>().join(", ")
}

/// Returns the sandbox profiles that apply to a hook's processes, in a cell. A profile that is not `guard` is shown as it
/// is written.
pub(super) fn sandbox(hook: &Hook) -> String {
    let name = |profile: &SandboxProfile| one_line(&profile.to_json().to_string().replace('"', ""));
    let own = hook.sandbox.as_ref().map(|profile| format!("sandbox: {}", name(profile)));
    let required = matches!(hook.sandbox_requirement, SandboxRequirement::Required).then(|| "required".to_owned());
    let floors = hook.sandbox_floors.iter().map(|floor| format!("sandbox floor: {}", name(floor)));
    own.into_iter().chain(required).chain(floors).collect::<Vec<_>>().join(", ")
}

fn enablement(hook: &Hook) -> (&'static str, anstyle::Style, String) {
    if !hook.trust.allows() {
        return ("untrusted", CAREFUL, hook.edit().map(|edit| edit.to_string()).unwrap_or_default());
    }
    if let Action::Missing(guard) = &hook.action {
        return ("missing", BAD, guard.reason());
    }
    match &hook.enablement {
        Enablement::Active if hook.is_shadow() => ("shadow", CAREFUL, "has no effect: `enforce` is false".to_owned()),
        Enablement::Active => ("on", GOOD, String::new()),
        Enablement::Disabled(by) => ("off", QUIET, format!("disabled by {by}")),
        Enablement::SwitchedOff(by) => ("off", QUIET, format!("hooks are switched off by {by}")),
        Enablement::NeverSwitchedOn => ("off", QUIET, "no settings file switches hooks on".to_owned()),
        Enablement::OwnBridge => ("off", QUIET, "calls `hookrail bridge`".to_owned()),
        Enablement::RunByAgent => ("off", QUIET, "the agent runs it itself".to_owned()),
    }
}

fn list_hints(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    if let Some(found) = count_by_level(snapshot.diagnostics()) {
        out.push_str(&hint(&format!("{found} in the configuration; run `hookrail check` for details")));
    }
    out
}

/// Lists the hooks that did not run, with the reason and the fix if one is known; empty if there are none.
pub(crate) fn skipped(skipped: &Skips, heading: &str, fixes: &[MatcherFix], places: &PathDisplay) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let mut table = Table::default();
    for skipped in skipped {
        table.row([
            Cell::plain(short(&skipped.hook.label, NAME)),
            Cell::new(skipped.why.name(), CAREFUL),
            Cell::plain(one_line(&places.sentence(&skipped.detail))),
            Cell::quiet(places.location(&skipped.hook.origin.location)),
        ]);
        let fix = fixes.iter().find(|fix| Arc::ptr_eq(&fix.hook, &skipped.hook));
        if let Some(fix) = fix.filter(|_| skipped.why == SkipReason::Matcher) {
            table.note(format!("{}: {}", paint(HINT, "fix"), one_line(&fix.text)));
        }
    }
    format!("\n{}\n{}", paint(HEADING, heading), table.render(2))
}

/// Returns the hints about hooks that are not trusted, and about those that are not what was trusted; empty if all are.
pub(crate) fn trust_hint<'h>(hooks: impl Iterator<Item = &'h Arc<Hook>>) -> String {
    let waiting = hooks.filter(|hook| !hook.trust.allows());
    let (edited, never): (Vec<_>, Vec<_>) = waiting.partition(|hook| hook.edit().is_some());
    let next = "run `hookrail trust diff` to look at the change, then `hookrail trust grant`";
    let edited = edited.into_iter().filter_map(|hook| Some((hook, hook.edit()?)));
    let edited = edited.map(|(hook, edit)| hint(&one_line(&format!("`{}` {edit}; {next}", hook.label))));
    grant_hint(never.len()) + &edited.collect::<String>()
}

/// Returns the hint about a number of hooks that wait for a grant; empty if there are none.
pub(crate) fn grant_hint(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => hint("1 hook is not trusted; run `hookrail trust grant` to look at it and trust it"),
        count => hint(&format!(
            "{} are not trusted; run `hookrail trust grant` to look at them and trust them",
            counted(count, "hook")
        )),
    }
}

/// Formats a hint line; nothing with `--quiet`.
pub(crate) fn hint(text: &str) -> String {
    if verbosity::is_quiet() {
        return String::new();
    }
    format!("{}: {text}\n", paint(HINT, "hint"))
}
