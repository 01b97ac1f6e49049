//! The review of a project's hooks before an agent starts: every hook that may not run is shown, with what changed since
//! it was granted, and the user decides. Nothing is granted that was not shown.

use std::io::{self, BufRead as _, Write as _};

use hookrail::HookSystem;
use hookrail::trust::{ChangeKind, HookChange};
use hookrail_app::failure::Result;
use hookrail_app::project::Project;
use hookrail_app::text::counted;
use hookrail_app::text_diff::GrantedTexts;
use hookrail_app::trust::{changes_to_review, grant_reviewed, grants, is_grantable, untrusted};

use crate::cmd::consent::discard_typed_ahead;
use crate::output::journal_warnings::report_recording;
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, paint};
use crate::render::trust::{described, diff};

/// The user's answer about one hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewAnswer {
    Yes,
    No,
    /// Yes to this hook and to all that remain.
    All,
    /// No to this hook and to all that remain.
    Skip,
}

/// Asks whether the user wants to review the hooks that may not run. Until then nothing that they name is looked for: what
/// looks like a path of a script may be a place that acts when it is looked up, such as a share of another machine.
pub(crate) fn offer_review(project: &Project, hooks: &HookSystem) -> Result<()> {
    if untrusted(hooks).is_empty() {
        return Ok(());
    }
    report_untrusted(hooks);
    let mut out = anstream::stderr().lock();
    match ask(&mut out, "look at them now? [y]es, [N]o: ") {
        ReviewAnswer::Yes | ReviewAnswer::All => {
            drop(out);
            review_hooks(project, hooks)
        }
        ReviewAnswer::No | ReviewAnswer::Skip => {
            let _ = writeln!(out, "nothing was granted\n");
            Ok(())
        }
    }
}

/// Shows the hooks that may not run, asks about each, and reloads the hook system if any was granted.
pub(crate) fn review_hooks(project: &Project, hooks: &HookSystem) -> Result<()> {
    if untrusted(hooks).is_empty() {
        return Ok(());
    }
    let mut out = anstream::stderr().lock();
    let changes = match grants(project) {
        Ok(grants) => changes_to_review(&grants, hooks),
        // A store that cannot be used grants nothing, but it does not keep the agent from starting.
        Err(failure) => {
            drop(out);
            crate::output::failure(&failure);
            report_untrusted(hooks);
            return Ok(());
        }
    };
    let (this, they) = (counted(changes.len(), "hook"), if changes.len() == 1 { "is" } else { "are" });
    let heading = paint(CAREFUL, format!("this project has {this} that {they} not trusted"));
    let _ = writeln!(out, "{heading}: a hook runs only after you grant it\n");
    let mut chosen: Vec<&HookChange> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        show(&mut out, project, change);
        if !is_grantable(change) {
            let refused = paint(BAD, "cannot be granted");
            let _ = writeln!(out, "{refused}: one of its files cannot be read or is too large\n");
            continue;
        }
        match ask(&mut out, "let it run? [y]es, [N]o, [a]ll, [s]kip the rest: ") {
            ReviewAnswer::Yes => chosen.push(change),
            ReviewAnswer::No => {}
            ReviewAnswer::Skip => break,
            ReviewAnswer::All => {
                let rest = changes.get(at + 1..).unwrap_or_default();
                rest.iter().for_each(|change| show(&mut out, project, change));
                let all = counted(rest.len() + 1, "hook");
                // The remaining hooks were not on the screen when the user answered "all", so the user confirms once
                // more after seeing them.
                let question = format!("let all {all} run? [y]es, [N]o: ");
                if rest.is_empty() || ask(&mut out, &question) == ReviewAnswer::Yes {
                    chosen.push(change);
                    chosen.extend(rest.iter().filter(|change| is_grantable(change)));
                }
                break;
            }
        }
    }
    if chosen.is_empty() {
        let _ = writeln!(out, "nothing was granted\n");
        return Ok(());
    }
    let count = counted(chosen.len(), "hook");
    report_recording(grant_reviewed(project, &chosen)?);
    let _ = writeln!(out, "{}: the project and {count}\n", paint(GOOD, "granted"));
    hooks.reload();
    Ok(())
}

/// Reports that untrusted hooks will not run, in modes without a user who could be asked.
pub(crate) fn report_untrusted(hooks: &HookSystem) {
    let count = untrusted(hooks).len();
    if count > 0 {
        let what = counted(count, "hook");
        let note = paint(CAREFUL, "note");
        let they = if count == 1 { "is" } else { "are" };
        let _ = writeln!(
            anstream::stderr().lock(),
            "{note}: {what} of this project {they} not trusted and will not run; run `hookrail trust grant` to review"
        );
    }
}

fn show(out: &mut impl io::Write, project: &Project, change: &HookChange) {
    let store = Project::trust_store().ok();
    let texts = GrantedTexts::new(store.as_ref(), &project.places);
    let mut text = diff::one(change, &texts, &project.places);
    // A changed hook is shown as a difference and then whole, because the grant covers all of it.
    if let (ChangeKind::Changed, Some(hook)) = (change.kind, &change.hook) {
        text = format!("{text}{}\n{}", paint(HEADING, "as it is now"), described(hook, &project.places));
    }
    let _ = writeln!(out, "{text}");
}

/// Asks until there is an answer. The end of input is read as "skip".
fn ask(out: &mut impl io::Write, question: &str) -> ReviewAnswer {
    loop {
        discard_typed_ahead();
        let _ = write!(out, "{question}").and_then(|()| out.flush());
        let mut typed = String::new();
        match io::stdin().lock().read_line(&mut typed) {
            Ok(0) | Err(_) => return ReviewAnswer::Skip,
            Ok(_) => {}
        }
        match typed.trim().to_lowercase().as_str() {
            "y" | "yes" => return ReviewAnswer::Yes,
            "n" | "no" | "" => return ReviewAnswer::No,
            "a" | "all" => return ReviewAnswer::All,
            "s" | "skip" => return ReviewAnswer::Skip,
            _ => {}
        }
    }
}
