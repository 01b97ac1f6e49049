//! The trust in a project's hooks, and what a grant would cover. Commands are shown whole, because the grant covers all
//! of their text.

pub(crate) mod diff;

use std::fmt::Write as _;
use std::sync::Arc;

use hookrail::hook::{Action, ProcessLifetime, SandboxProfile, SandboxRequirement, Trust};
use hookrail::trust::{Digest, Fingerprint};
use hookrail::{EventKind, Hook};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{hanging, one_line, short, visible};
use hookrail_app::trust::{fingerprint, state};
use serde_json::Value;

use super::capabilities;
use super::hooks::{self, NAME};
use super::table::{Cell, Table};
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// The number of digits of a digest that are shown, enough to compare by eye.
const DIGEST: usize = 12;

/// Renders the trust in the project, then in each hook.
pub(crate) fn status(trusted: bool, hooks: &[Arc<Hook>], places: &PathDisplay) -> String {
    let word = if trusted { paint(GOOD, "trusted") } else { paint(CAREFUL, "not trusted") };
    let mut out = format!("{}: {word}\n", paint(HEADING, "project"));
    if hooks.is_empty() {
        out.push_str("the project has no hooks\n");
        return out;
    }
    let mut table = Table::default();
    for hook in hooks {
        let style = match hook.trust {
            _ if matches!(hook.action, Action::Missing(_)) => BAD,
            Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Granted(_) => GOOD,
            Trust::Changed(_) => BAD,
            Trust::Never(_) => CAREFUL,
        };
        table.row([
            Cell::new(state(hook), style),
            Cell::plain(short(&hook.label, NAME)),
            Cell::plain(hook.known_event().map_or("unknown", EventKind::name)),
            Cell::plain(covered(hook, places)),
            Cell::plain(hooks::sandbox(hook)),
            Cell::quiet(places.location(&hook.origin.location)),
        ]);
    }
    let _ = write!(out, "\n{}", table.render(2));
    out.push_str(&capabilities::of_modules(hooks));
    let hint = hooks::trust_hint(hooks.iter());
    if hint.is_empty() { out } else { format!("{out}\n{hint}") }
}

/// Shows everything that a grant would cover.
pub(crate) fn offer(trusted: bool, hooks: &[Arc<Hook>], places: &PathDisplay) -> String {
    let mut out = String::new();
    if !trusted {
        let applies = "its settings will apply, including those that enable and disable hooks";
        let _ = writeln!(out, "{}: {applies}", paint(HEADING, "project"));
    }
    for hook in hooks {
        let changed =
            hook.edit().map(|edit| paint(BAD, format!("  {}", one_line(&edit.to_string())))).unwrap_or_default();
        let _ = writeln!(out, "{}{changed}", paint(HEADING, one_line(&hook.label)));
        out.push_str(&described(hook, places));
    }
    out.push('\n');
    out
}

/// Shows the granted guards that are missing; empty if there are none.
pub(crate) fn removed(missing: &[Arc<Hook>]) -> String {
    let mut out = String::new();
    for hook in missing {
        let _ = writeln!(out, "{}: {}", paint(BAD, "removed"), paint(HEADING, one_line(&hook.label)));
        let matcher = hook.matcher.pattern().filter(|pattern| !pattern.is_empty());
        let matcher = matcher.map(|pattern| format!(" {}", one_line(pattern))).unwrap_or_default();
        line(&mut out, "event", &format!("{}{matcher}", hook.event));
        line(&mut out, "on failure", hook.on_failure.name());
        if let Action::Missing(guard) = &hook.action {
            line(&mut out, "why", &one_line(&format!("it {}", guard.reason())));
        }
    }
    if !missing.is_empty() {
        out.push_str("the grant stays, so a guard that comes back as it was runs again; `hookrail trust revoke HOOK` ends it\n\n");
    }
    out
}

/// Describes a hook and what a grant of it would cover.
pub(crate) fn described(hook: &Hook, places: &PathDisplay) -> String {
    let mut out = String::new();
    let pattern = hook.matcher.pattern().filter(|pattern| !pattern.is_empty());
    let matcher = pattern.map(|pattern| format!(" {}", one_line(pattern))).unwrap_or_default();
    let event = hook.known_event().map_or("not known until it runs", EventKind::name);
    line(&mut out, "event", &format!("{event}{matcher}"));
    for (label, text) in what_it_does(&hook.action) {
        line(&mut out, &label, &hanging(&visible(&text), LABEL + 4));
    }
    match &hook.capabilities {
        Some(capabilities) => line(&mut out, "may", &capabilities::described(capabilities)),
        None if matches!(hook.action, Action::Rule(_)) => line(&mut out, "may", "answer, and start nothing"),
        None if matches!(hook.action, Action::Remote(_) | Action::Http(_)) => {
            line(&mut out, "may", "start nothing on this machine");
        }
        None if hook.sandbox.is_none() => line(&mut out, "may", "do everything that you can do (no sandbox)"),
        None => {}
    }
    if hook.lifetime != ProcessLifetime::default() {
        line(&mut out, "options", &hooks::exec_options(hook));
    }
    if let Some(sandbox) = sandboxed(hook) {
        line(&mut out, "sandbox", &sandbox);
    }
    if let Some(definition) = fingerprint(hook).map(Fingerprint::described) {
        let terms = [
            ("on failure", diff::on_failure(definition)),
            ("timeout", diff::timeout(definition)),
            ("enforced", diff::enforced(definition)),
            ("options", one_line(&diff::options(definition))),
        ];
        for (label, term) in terms {
            if !term.is_empty() {
                line(&mut out, label, &term);
            }
        }
    }
    line(&mut out, "source", &places.location(&hook.origin.location));
    for file in fingerprint(hook).map(Fingerprint::files).unwrap_or_default() {
        let digest = file.digest.map_or_else(|| "cannot be read".to_owned(), |digest| short_digest(&digest));
        // A link, or `..` after one, leads to another file than the path suggests, so both are shown.
        let leads = if file.real == file.path { String::new() } else { format!(" → {}", places.path(&file.real)) };
        line(&mut out, "file", &format!("{}{leads}  {}", places.path(&file.path), paint(QUIET, digest)));
    }
    for link in fingerprint(hook).map(Fingerprint::links_outside).unwrap_or_default() {
        let leads = format!("{} → {}", places.path(&link.path), places.path(&link.real));
        line(&mut out, "file", &format!("{leads}  {}", paint(QUIET, "outside of the project")));
    }
    if let Some((taken, why)) = fingerprint(hook).and_then(|taken| Some((taken, taken.open_end()?))) {
        let (which, covered) = if taken.files().is_empty() {
            ("none", "only the text of the command")
        } else {
            ("possibly others", "the text of the command and the files above")
        };
        line(&mut out, "file", &format!("{which} (open-ended: {why}); the grant covers {covered}"));
    }
    out
}

/// Describes the sandbox in which the hook's processes run, if there is one.
fn sandboxed(hook: &Hook) -> Option<String> {
    let shown = |profile: &SandboxProfile| one_line(&profile.to_string());
    let own = hook.sandbox.iter().map(|profile| shown(profile));
    let floors = hook.sandbox_floors.iter().map(|floor| format!("at most: {}", shown(floor)));
    let mut text = own.chain(floors).collect::<Vec<_>>().join("; ");
    if matches!(hook.sandbox_requirement, SandboxRequirement::Required) {
        text.push_str("; the hook does not run if the sandbox cannot be enforced");
    }
    (!text.is_empty()).then_some(text)
}

fn short_digest(digest: &Digest) -> String {
    digest.hex().chars().take(DIGEST).collect()
}

/// The width of the longest label, `on failure`.
const LABEL: usize = 10;

fn line(out: &mut String, label: &str, value: &str) {
    let _ = writeln!(out, "  {}  {value}", paint(QUIET, format!("{label:LABEL$}")));
}

/// Returns the files that a grant covers, in a cell.
fn covered(hook: &Hook, places: &PathDisplay) -> String {
    if let Action::Missing(guard) = &hook.action {
        return one_line(&guard.reason());
    }
    let files = fingerprint(hook).map(Fingerprint::paths).unwrap_or_default();
    if files.is_empty() {
        return "open-ended".to_owned();
    }
    files.iter().map(|file| places.path(file)).collect::<Vec<_>>().join(", ")
}

/// What a hook does, with labels: the parts of a rule, else a command.
fn what_it_does(action: &Action) -> Vec<(String, String)> {
    if let Action::Rule(rule) = action
        && let Ok(Value::Object(parts)) = serde_json::from_str(rule.definition())
    {
        let parts = parts.into_iter().filter(|(key, _)| key != "name");
        return parts.map(|(key, value)| (key, as_in_toml(&value))).collect();
    }
    vec![("command".to_owned(), command(action))]
}

/// A value as the file with the rule has it.
fn as_in_toml(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{key} = {}", as_in_toml(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(as_in_toml).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn command(action: &Action) -> String {
    match action {
        Action::Shell(command) => command.to_string(),
        Action::Program(words) => Vec::from_iter(words.iter().map(|word| format!("{word:?}"))).join(" "),
        Action::Module(path) => format!("the module {}", path.display()),
        Action::Remote(target) => {
            format!("asks the workers of group `{}`: every event that matches leaves this machine", target.group)
        }
        Action::Http(target) => format!("sends every event that matches to {target}"),
        Action::Rule(rule) => format!("the rule {}", rule.definition()),
        Action::NotExecutable(why) | Action::Unusable(why) => format!("nothing: {why}"),
        Action::Missing(guard) => format!("nothing: it {}", guard.reason()),
        Action::Native(_) => "code of the embedding program".to_owned(),
    }
}
