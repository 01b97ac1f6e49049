//! Tells the user about hooks that wait for a grant, or denies while they do.

use std::path::Path;

use hookrail::{Effects, EventKind};
use hookrail_app::project::Project;
use hookrail_bridge::{AgentRequest, EventResult};

use super::firing::Fired;
use super::{project_args, user_notice};
use crate::args::BridgeArgs;

/// Mentions hooks that wait for a grant when a session starts. Under `--strict-trust` they keep everything from happening; only
/// the end of an answer is not denied, because the agent would continue and could not do anything either.
pub(super) fn report(
    fired: &mut Fired,
    args: &BridgeArgs,
    project: &Project,
    passed_over: Option<&Path>,
    request: &AgentRequest,
) {
    let kind = request.kind();
    let is_start = kind == EventKind::SessionStart;
    let denies = args.strict_trust && kind.spec().is_gating() && kind != EventKind::AgentEnd;
    if !is_start && !denies {
        return;
    }
    let waiting = if is_start {
        waiting_hooks(project)
    } else {
        WaitingHooks { never: fired.untrusted.len(), edited: Vec::new() }
    };
    let never = (waiting.never > 0).then(|| waiting_text(waiting.never, project.root()));
    let edited = waiting.edited.iter().map(|edit| edited_text(edit, project.root()));
    let passed_over = passed_over.map(|folder| passed_over_text(folder, project.root()));
    for text in never.into_iter().chain(edited).chain(passed_over) {
        if denies {
            fired.said.push(EventResult { effects: Effects::deny(&text), denied_by: None });
        } else {
            fired.warn(&text);
            user_notice::tell(fired, request, text);
        }
    }
}

/// Hooks that wait for a grant.
#[derive(Default)]
struct WaitingHooks {
    /// How many were never trusted.
    never: usize,
    /// Those that are not what was trusted, each as a sentence without its end.
    edited: Vec<String>,
}

/// The hooks that wait for a grant, whatever event they are for. The configuration is read for it, which only the start of a
/// session can afford.
fn waiting_hooks(project: &Project) -> WaitingHooks {
    let Ok(builder) = project.builder(&project_args(project.root().to_owned())) else { return WaitingHooks::default() };
    let snapshot = builder.build().snapshot();
    let mut waiting = WaitingHooks::default();
    for hook in snapshot.hooks().iter().filter(|hook| !hook.trust.allows()) {
        match hook.edit() {
            Some(edit) => waiting.edited.push(format!("hook `{hook}` {edit}")),
            None => waiting.never += 1,
        }
    }
    waiting
}

fn edited_text(edit: &str, root: &Path) -> String {
    let root = root.display();
    format!("{edit}, so it does not run; look at the change with `hookrail trust diff --project {root}`")
}

fn waiting_text(hooks: usize, root: &Path) -> String {
    let counted = if hooks == 1 { "1 hook".to_owned() } else { format!("{hooks} hooks") };
    let (verb, root) = (if hooks == 1 { "is" } else { "are" }, root.display());
    format!(
        "{counted} of this project {verb} not trusted and did not run; review and grant them with `hookrail trust grant --project {root}`"
    )
}

fn passed_over_text(folder: &Path, root: &Path) -> String {
    let (folder, root) = (folder.display(), root.display());
    format!(
        "{folder} has hooks and no grant, so the hooks of {root} are used; review and grant those of the nearer folder with `hookrail trust grant --project {folder}`"
    )
}
