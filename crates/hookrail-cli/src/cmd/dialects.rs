//! `hookrail enable` and `hookrail disable`: switch the dialects of other agents on and off.

use hookrail_app::dialects::{DialectScope, DialectSurvey, DialectSwitch, SwitchPlan};
use hookrail_app::failure::Result;
use hookrail_app::project::Project;
use hookrail_app::text::counted;

use crate::args::{DialectScopeArg, DisableArgs, EnableArgs};
use crate::cmd::consent::{ConsentQuestion, confirm, require_person};
use crate::cmd::exit::Exit;
use crate::render::style::{GOOD, paint};
use crate::{output, render};

pub(crate) fn enable(args: &EnableArgs) -> Result<Exit> {
    // Hooks that it brings may allow what others leave to the user.
    require_person()?;
    let project = Project::open_named(args.project.as_deref())?;
    let plan = SwitchPlan::new(project.root(), &args.dialect, DialectSwitch::Enable, scope(args))?;
    plan.write()?;
    let file = project.places.path(&plan.file);
    let dialect = &args.dialect;
    let head = match plan.changes() {
        true => format!("{}: {dialect}, in {file}\n", paint(GOOD, "enabled")),
        false => format!("{dialect} is enabled already, in {file}\n"),
    };
    let survey = DialectSurvey::of(&project, dialect)?;
    let findings = render::diagnostic::all(&survey.findings, &project.places);
    let gap = if findings.is_empty() { "" } else { "\n" };
    output::text(&format!("{head}{}{gap}{findings}", summary(&survey)))?;
    Ok(Exit::Fine)
}

pub(crate) fn disable(args: &DisableArgs) -> Result<Exit> {
    let DisableArgs { dialect: chosen, yes } = args;
    let project = Project::open_named(chosen.project.as_deref())?;
    let dialect = &chosen.dialect;
    let plan = SwitchPlan::new(project.root(), dialect, DialectSwitch::Disable, scope(chosen))?;
    let file = project.places.path(&plan.file);
    if !plan.changes() {
        output::text(&format!("{dialect} is not enabled in {file}\n"))?;
        return Ok(Exit::Fine);
    }
    let text = format!("let no guard of {dialect} take part? [y/N] ");
    confirm(*yes, &ConsentQuestion { text: &text, otherwise: "nothing was changed", yes: "disable it" })?;
    plan.write()?;
    output::text(&format!("{}: {dialect}, in {file}\n", paint(GOOD, "disabled")))?;
    Ok(Exit::Fine)
}

fn scope(args: &EnableArgs) -> DialectScope {
    match args.scope {
        DialectScopeArg::User => DialectScope::User,
        DialectScopeArg::System => DialectScope::System,
    }
}

/// Says how many hooks take part now, and what others wait for.
fn summary(survey: &DialectSurvey) -> String {
    let mut text = format!("{} of this project and user can take part\n", counted(survey.active, "hook"));
    if survey.waiting > 0 {
        let hooks = counted(survey.waiting, "hook");
        let wait = if survey.waiting == 1 { "waits" } else { "wait" };
        let line = format!("{hooks} of this project {wait} for a grant: run `hookrail trust grant`");
        text.push_str(&render::hooks::hint(&line));
    }
    text
}
