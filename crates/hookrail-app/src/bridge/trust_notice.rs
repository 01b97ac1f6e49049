//! Tells the user about hooks that wait for a grant, or denies while they do.

use std::path::Path;

use hookrail::{Effects, EventKind};
use hookrail_bridge::{AgentRequest, EventResult};

use super::fire::Fired;
use super::notices::{Notices, told_user};
use super::open::OpenedProject;
use super::{BridgeCall, WaitingHooksPolicy};
use crate::project::Project;

/// Mentions hooks that wait for a grant when a session starts. With [`WaitingHooksPolicy::Deny`] they keep everything from
/// happening; only the end of an answer is not denied, because the agent would continue and could not do anything either.
pub(super) fn trust_notices(
    call: &BridgeCall,
    fired: &Fired,
    opened: &OpenedProject,
    request: &AgentRequest,
) -> Notices {
    let (kind, project) = (request.kind(), &opened.project);
    let is_start = kind == EventKind::SessionStart;
    let denies = call.waiting == WaitingHooksPolicy::Deny && kind.spec().is_gating() && kind != EventKind::AgentEnd;
    if !is_start && !denies {
        return Notices::default();
    }
    let waiting = if is_start {
        waiting_hooks(project)
    } else {
        WaitingHooks { never: fired.untrusted.len(), edited: Vec::new() }
    };
    let never = (waiting.never > 0).then(|| waiting_text(waiting.never, project.root()));
    let edited = waiting.edited.iter().map(|edit| edited_text(edit, project.root()));
    let passed_over = opened.passed_over.as_deref().map(|folder| passed_over_text(folder, project.root()));
    let mut notices = Notices::default();
    for text in never.into_iter().chain(edited).chain(passed_over) {
        if denies {
            notices.results.push(EventResult { effects: Effects::deny(&text), ..EventResult::default() });
        } else {
            notices.results.push(told_user(request, &text));
            notices.warnings.push(text);
        }
    }
    notices
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
    let Ok(builder) = project.builder(project.root()) else { return WaitingHooks::default() };
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
