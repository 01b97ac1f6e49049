//! The plan of an event: which hooks would run, and why others would not.

use std::fmt::Write as _;

use hookrail::OnFailure;
use hookrail::event::Stage;
use hookrail::plan::{AskedAbout, PartPlan, Plan, PlannedHook};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::counted;
use hookrail_app::text::{one_line, short};

use super::hooks::{self, NAME};
use super::table::{Cell, Table};

use super::{diagnostic, outcome};
use crate::render::style::{CAREFUL, GOOD, HEADING, QUIET, paint};

/// Renders the whole report, and after it that of each call that the event's call carries.
pub(crate) fn report(plan: &Plan, subject: &str, places: &PathDisplay) -> String {
    let mut out = report_alone(plan, subject, places);
    for (at, call) in plan.calls.iter().enumerate() {
        let subject = format!("{subject}, call {}: {}", at + 1, one_line(&call.tool));
        let _ = write!(out, "\n{}", report(&call.plan, &subject, places));
    }
    out
}

fn report_alone(plan: &Plan, subject: &str, places: &PathDisplay) -> String {
    let changed = plan.hooks().filter(|(_, planned)| planned.is_changed()).count();
    let count = plan.hooks().count() - changed;
    let mut out = match count {
        0 => format!("{}  {}\n", paint(QUIET, "no hook would run"), paint(HEADING, subject)),
        _ => {
            let would = format!("{} would run", counted(count, "hook"));
            format!("{}  {}\n", paint(GOOD, would), paint(HEADING, subject))
        }
    };
    if changed > 0 {
        let would = format!("{} would not run and would be treated as failed", counted(changed, "edited guard"));
        let _ = writeln!(out, "{}", paint(CAREFUL, would));
    }
    let mut number = 0;
    for part in &plan.parts {
        let _ = write!(out, "\n{}\n{}", paint(HEADING, title(part)), rows(part, &mut number, places));
    }
    if !plan.shadow.is_empty() {
        let _ = writeln!(out, "\n{}", paint(HEADING, "would run without an effect (`enforce` is false)"));
        for part in &plan.shadow {
            out.push_str(&rows(part, &mut number, places));
        }
    }
    out.push_str(&hooks::skipped(&plan.skipped, "would not run", &[], places));
    if !plan.diagnostics.is_empty() {
        let _ = write!(out, "\n{}", diagnostic::all(&plan.diagnostics, places).trim_end());
        out.push('\n');
    }
    let planned = plan.hooks().map(|(_, planned)| &planned.hook);
    let hint = hooks::trust_hint(plan.skipped.iter().map(|skipped| &skipped.hook).chain(planned));
    if hint.is_empty() { out } else { format!("{out}\n{hint}") }
}

/// Something that hooks can ask for and an agent does not do as they mean it.
pub(crate) struct PlannedLoss {
    /// The stable name.
    pub(crate) what: String,
    /// What happens instead.
    pub(crate) detail: String,
    /// The hooks that can ask for it.
    pub(crate) hooks: Vec<String>,
}

/// What an agent does not do as these hooks could mean it.
pub(crate) fn losses(agent: &str, losses: &[PlannedLoss]) -> String {
    if losses.is_empty() {
        return format!("\n{}\n", paint(GOOD, format!("{agent} honours everything that these hooks can ask for")));
    }
    let mut table = Table::default();
    for loss in losses {
        table.row([
            Cell::new(loss.what.clone(), CAREFUL),
            Cell::plain(loss.detail.clone()),
            Cell::quiet(short(&loss.hooks.join(", "), NAME)),
        ]);
    }
    format!("\n{}\n{}", paint(HEADING, format!("what {agent} cannot honour")), table.render(2))
}

fn title(part: &PartPlan) -> String {
    let how = match part.stage {
        Stage::Parallel => "all at once",
        Stage::Chain => "one after the other",
        Stage::Detached => "all at once; the host does not wait",
    };
    let about = match part.about {
        AskedAbout::Event => "",
        AskedAbout::EachFile => "; about each file of the patch",
        AskedAbout::Patch => "; about the call as a patch of its file",
    };
    format!("{} ({}): {how}{about}", part.dialect, part.stage.name())
}

fn rows(part: &PartPlan, number: &mut usize, places: &PathDisplay) -> String {
    let mut table = Table::default();
    for planned in &part.hooks {
        let PlannedHook { hook, timeout, on_failure, .. } = planned;
        *number += 1;
        let changed = hook.edit().map(|edit| format!("{edit}: does not run, is treated as failed")).unwrap_or_default();
        let on_failure = match on_failure {
            OnFailure::Allow => String::new(),
            other => format!("on failure: {}", other.name()),
        };
        table.row([
            Cell::quiet(format!("{number}.")),
            Cell::plain(short(&hook.label, NAME)),
            Cell::plain(format!("timeout: {}", outcome::duration(*timeout))),
            Cell::new(on_failure, CAREFUL),
            Cell::new(one_line(&changed), CAREFUL),
            Cell::plain(hooks::exec_options(hook)),
            Cell::plain(hooks::sandbox(hook)),
            Cell::quiet(places.location(&hook.origin.location)),
        ]);
        for condition in hook.shown_conditions() {
            table.note(format!("{} {}", paint(QUIET, "if"), one_line(&condition.sentence())));
        }
    }
    table.render(2)
}
