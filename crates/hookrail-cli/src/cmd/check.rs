//! `hookrail check`: all problems of the configuration and of what the hooks run.

use hookrail::document::diagnostics_document;
use hookrail::plan::Snapshot;
use hookrail::{Diagnostic, GuardEffect, HookSystem, Level};
use hookrail_app::failure::Result;
use hookrail_app::lint::fix::FixReport;
use hookrail_app::lint::{Finding, find_problems, fix, format};
use hookrail_app::project::Project;
use hookrail_app::telemetry;
use hookrail_app::text::{count_by_level, counted};

use crate::args::{CheckArgs, CheckFormat};
use crate::cmd::exit::Exit;
use crate::render::style::{BAD, CAREFUL, GOOD, paint};
use crate::render::verbosity;
use crate::{output, render};

/// How often fixes are made and looked for again. Each round repairs what it can, so few are needed; a fix that does not
/// make its problem go away must not be made for ever.
const MOST_ROUNDS: usize = 8;

pub(crate) fn run(args: &CheckArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let mut system = project.builder(&args.project)?.build();
    let mut findings = find_problems(&system);
    if args.fix {
        let mut report = FixReport::default();
        // A fix may show what it hid: an event that was misnamed has hooks now, whose matchers are looked at.
        for _ in 0..MOST_ROUNDS {
            let round = fix::apply(project.root(), &findings);
            let fixed = round.fixed;
            report.add(round);
            if fixed == 0 {
                break;
            }
            system = project.builder(&args.project)?.build();
            findings = find_problems(&system);
        }
        output::warnings(&told(&report, &project));
    }
    let fixable = fix::count_possible(project.root(), &findings);
    let mut found: Vec<Diagnostic> = findings.into_iter().map(|Finding { diagnostic, .. }| diagnostic).collect();
    found.extend(telemetry::unusable_setting(&project.configuration(&args.project).telemetry));
    let failed = found.iter().any(|diagnostic| fails(args, diagnostic));
    match if args.json { CheckFormat::Json } else { args.format } {
        CheckFormat::Json => output::json(&diagnostics_document(&found))?,
        CheckFormat::Github => output::text(&format::github(&found, project.root()))?,
        CheckFormat::Sarif => output::json(&format::sarif(&found, project.root()))?,
        CheckFormat::Text => {
            let is_shown = |found: &&Diagnostic| !verbosity::is_quiet() || fails(args, found);
            let shown: Vec<Diagnostic> = found.iter().filter(is_shown).cloned().collect();
            let shown = render::diagnostic::all(&shown, &project.places);
            let advice = match fixable {
                0 => String::new(),
                _ if args.fix => String::new(),
                count => format!("; `hookrail check --fix` can repair {count}"),
            };
            output::text(&format!("{shown}{}{advice}\n", summary(&system, &found, failed)))?;
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

fn fails(args: &CheckArgs, diagnostic: &Diagnostic) -> bool {
    let lowest = if args.deny_warnings { Level::Warning } else { Level::Error };
    diagnostic.level >= lowest || args.strict && diagnostic.guard_effect() == GuardEffect::PassesSilently
}

/// Returns what became of the fixes. A hook whose files changed has to be trusted again.
fn told(report: &FixReport, project: &Project) -> String {
    let mut text = String::new();
    if report.fixed > 0 {
        text = format!(
            "repaired {}; look at the change, then run `hookrail trust grant`\n",
            counted(report.fixed, "problem")
        );
    }
    for (file, why) in &report.refused {
        text.push_str(&format!("not changed: {}: {why}\n", project.places.path(file)));
    }
    text
}

fn summary(system: &HookSystem, found: &[Diagnostic], failed: bool) -> String {
    let size = size(&system.snapshot(), system.commands().len());
    match count_by_level(found) {
        Some(found) => format!("{}: {size}", paint(if failed { BAD } else { CAREFUL }, found)),
        None => format!("{}: {size}", paint(GOOD, "no problems")),
    }
}

fn size(snapshot: &Snapshot, commands: usize) -> String {
    let hooks = snapshot.hooks();
    let mut files: Vec<_> = hooks.iter().map(|hook| &hook.origin.location.file).collect();
    files.sort_unstable();
    files.dedup();
    // "0 hooks in 0 files" would read as if no file had been found, although the findings above may be about one.
    if hooks.is_empty() && commands > 0 {
        format!("no hooks, {} of modules", counted(commands, "command"))
    } else if hooks.is_empty() {
        "no hooks are configured".to_owned()
    } else {
        format!("{} in {}", counted(hooks.len(), "hook"), counted(files.len(), "file"))
    }
}
