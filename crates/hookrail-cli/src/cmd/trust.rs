//! `hookrail trust`: shows, grants and revokes trust in a project's hooks. Nothing is granted that was not shown.

use std::sync::Arc;

use hookrail::Hook;
use hookrail::hook::Trust;
use hookrail::trust::ChangeKind;
use hookrail_app::failure::Result;
use hookrail_app::foreign_hooks;
use hookrail_app::project::Project;
use hookrail_app::text::counted;
use hookrail_app::text_diff::GrantedTexts;
use hookrail_app::trust::{
    self, changes_document, find_by_name, grants, load, load_with_missing, missing_guard, narrowed, require_coverable,
    status_document,
};

use crate::args::{TrustArgs, TrustCommand, TrustDiffArgs, TrustGrantArgs, TrustRevokeArgs, TrustStatusArgs};
use crate::cmd::consent::{ConsentQuestion, confirm, require_person};
use crate::cmd::exit::Exit;
use crate::output;
use crate::output::journal_warnings::report_recording;
use crate::render::hooks::grant_hint;
use crate::render::style::{GOOD, paint};
use crate::render::{self, trust as shown};

pub(crate) fn run(args: &TrustArgs) -> Result<Exit> {
    match &args.command {
        None => status(&args.status),
        Some(TrustCommand::Status(args)) => status(args),
        Some(TrustCommand::Diff(args)) => diff(args),
        Some(TrustCommand::Grant(args)) => grant(args),
        Some(TrustCommand::Revoke(args)) => revoke(args),
    }
}

fn status(args: &TrustStatusArgs) -> Result<Exit> {
    let (project, hooks) = load_with_missing(&args.project)?;
    let trusted = grants(&project)?.project;
    let foreign = foreign_hooks::diagnostics(project.root());
    if args.json {
        let document = status_document(project.root(), trusted, &hooks);
        output::json(&foreign_hooks::added_to(&document, &foreign))?;
    } else {
        let status = shown::status(trusted, &hooks, &project.places);
        output::text(&format!("{status}{}", render::foreign_hooks::closing_lines(&foreign)))?;
    }
    Ok(Exit::Fine)
}

fn diff(args: &TrustDiffArgs) -> Result<Exit> {
    let (project, hooks) = load(&args.project)?;
    let grants = grants(&project)?;
    let changes = grants.changes(&hooks);
    let store = Project::trust_store()?;
    let texts = GrantedTexts::new(Some(&store), &project.places);
    if args.json {
        output::json(&changes_document(project.root(), grants.project, &changes, &texts))?;
    } else if changes.is_empty() {
        output::text("nothing has changed since it was granted\n")?;
    } else {
        let waiting = hooks.iter().filter(|hook| !hook.trust.allows()).count();
        output::text(&format!("{}\n{}", shown::diff::all(&changes, &texts, &project.places), grant_hint(waiting)))?;
    }
    // A hook that was removed cannot run, so it needs no review.
    let needs_review = changes.iter().any(|change| change.kind != ChangeKind::Gone);
    Ok(if needs_review { Exit::Failed } else { Exit::Fine })
}

fn grant(args: &TrustGrantArgs) -> Result<Exit> {
    let (project, all) = load_with_missing(&args.project)?;
    let trusted = grants(&project)?.project;
    let chosen = find_by_name(&all, &args.names)?;
    let (missing, mut chosen): (Vec<_>, Vec<_>) = chosen.into_iter().partition(|hook| missing_guard(hook).is_some());
    chosen.retain(|hook: &Arc<Hook>| !matches!(hook.trust, Trust::Granted(_)));
    if trusted && chosen.is_empty() && missing.is_empty() {
        output::text("nothing to grant: the project and these hooks are already trusted\n")?;
        return Ok(Exit::Fine);
    }
    let offered: Vec<Arc<Hook>> = chosen.iter().map(|hook| narrowed(hook, args.allow.as_deref())).collect();
    let offer = shown::offer(trusted, &offered, &project.places);
    output::text(&format!("{offer}{}", shown::removed(&missing)))?;
    require_coverable(&chosen)?;
    let text = question(trusted && chosen.is_empty(), missing.is_empty());
    confirm(args.yes, &ConsentQuestion { text, otherwise: "nothing was granted", yes: "grant what is shown above" })?;
    report_recording(trust::grant(&project, &all, &chosen, &missing, args.allow.as_deref())?);
    let mut said = format!("{}: the project and {}\n", paint(GOOD, "granted"), counted(chosen.len(), "hook"));
    if !missing.is_empty() {
        let (count, they) = (counted(missing.len(), "guard"), if missing.len() == 1 { "is" } else { "are" });
        said.push_str(&format!("{}: {count} {they} missing\n", paint(GOOD, "accepted")));
    }
    let foreign = render::foreign_hooks::lines(&foreign_hooks::diagnostics(project.root()));
    output::text(&format!("{said}{foreign}"))?;
    Ok(Exit::Fine)
}

/// Returns what the user is asked.
fn question(nothing_runs: bool, nothing_is_missing: bool) -> &'static str {
    match (nothing_runs, nothing_is_missing) {
        (_, true) => "let these run? [y/N] ",
        (true, false) => "work without what was removed? [y/N] ",
        (false, false) => "let these run, and work without what was removed? [y/N] ",
    }
}

fn revoke(args: &TrustRevokeArgs) -> Result<Exit> {
    // A guard that is not trusted does not run, and one that is missing is not missed any more.
    require_person()?;
    let project = Project::open(&args.project)?;
    let revoked = trust::revoke(&project, &args.names)?;
    report_recording(revoked.recorded);
    let (word, hooks) = (paint(GOOD, "revoked"), counted(revoked.hooks, "hook"));
    let what = match (args.names.is_empty(), revoked.was_trusted || revoked.hooks > 0) {
        (true, false) => "nothing to revoke: nothing of this project is trusted\n".to_owned(),
        (true, true) => format!("{word}: the project and {hooks}\n"),
        (false, _) => format!("{word}: {hooks}\n"),
    };
    output::text(&what)?;
    Ok(Exit::Fine)
}
