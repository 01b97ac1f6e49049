//! Plugins: the list, their problems, and what an installation would let run.

use std::fmt::Write as _;
use std::sync::Arc;

use hookrail::dialect::xcode::{Plugin, Survey};
use hookrail::hook::{Action, Enablement};
use hookrail::{Diagnostic, Hook};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::plugin::{all_problems, hooks_of};
use hookrail_app::text::{count_by_level, counted, hanging, one_line, short, visible};

use super::table::{Cell, Table};

use super::{diagnostic, hooks};
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// Lists every plugin.
pub(crate) fn list(survey: &Survey, hooks: &[Arc<Hook>], places: &PathDisplay) -> String {
    if survey.plugins.is_empty() && survey.problems.is_empty() {
        return format!("no plugins were found\n{}", hooks::hint("run `hookrail plugin install DIR` to install one"));
    }
    let mut out = table(survey, hooks, places).render(0);
    if let Some(found) = count_by_level(&all_problems(survey)) {
        out.push_str(&hooks::hint(&format!("{found}; run `hookrail plugin doctor` for details")));
    }
    out + &hooks::trust_hint(hooks.iter())
}

/// Reports the problems of plugins, and why one of their hooks would not run.
pub(crate) fn doctor(survey: &Survey, hooks: &[Arc<Hook>], problems: &[Diagnostic], places: &PathDisplay) -> String {
    let mut out = diagnostic::all(problems, places);
    out.push_str(&table(survey, hooks, places).render(0));
    let plugins = counted(survey.plugins.len(), "plugin");
    let verdict = match count_by_level(problems) {
        Some(found) => format!("{}: {plugins}", paint(CAREFUL, found)),
        None => format!("{}: {plugins}", paint(GOOD, "no problems")),
    };
    let _ = writeln!(out, "{verdict}");
    out + &hooks::trust_hint(hooks.iter())
}

fn table(survey: &Survey, hooks: &[Arc<Hook>], places: &PathDisplay) -> Table {
    let mut table = Table::default();
    for plugin in &survey.plugins {
        let own = hooks_of(plugin, hooks);
        let untrusted = own.iter().any(|hook| !hook.trust.allows());
        let (state, style, why) = match &plugin.enablement {
            Enablement::Disabled(by) => ("off", QUIET, format!("disabled by {by}")),
            _ if plugin.is_broken() => ("broken", BAD, String::new()),
            _ if untrusted => ("untrusted", CAREFUL, String::new()),
            Enablement::Active => ("on", GOOD, String::new()),
            _ => ("off", QUIET, String::new()),
        };
        table.row([
            Cell::new(state, style),
            Cell::plain(one_line(&plugin.id)),
            Cell::plain(one_line(&plugin.version)),
            Cell::plain(counted(own.len(), "hook")),
            Cell::plain(plugin.scope.name()),
            Cell::quiet(places.path(&plugin.dir)),
            Cell::quiet(one_line(&places.sentence(&why))),
        ]);
    }
    table
}

/// Shows everything that an installation would let run.
pub(crate) fn offer(plugin: &Plugin, places: &PathDisplay) -> String {
    let mut out = format!("{} {}\n", paint(HEADING, one_line(&plugin.id)), one_line(&plugin.version));
    if let Some(description) = &plugin.description {
        let _ = writeln!(out, "  {}", one_line(description));
    }
    if plugin.hooks.is_empty() {
        out.push_str("  the plugin has no hooks\n");
    }
    for hook in &plugin.hooks {
        let event = hook.event.spec().column(hook.dialect).map_or(hook.event.name(), |column| column.name);
        let matcher = hook.matcher.pattern().map(|pattern| format!(" {}", short(pattern, 48))).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {}{matcher}  {}",
            paint(QUIET, event),
            paint(QUIET, places.location(&hook.origin.location))
        );
        if let Action::Shell(command) = &hook.action {
            let _ = writeln!(out, "    {}", hanging(&visible(command), 4));
        }
    }
    if !plugin.problems.is_empty() {
        let _ = write!(out, "\n{}", diagnostic::all(&plugin.problems, places));
    }
    out.push('\n');
    out
}
