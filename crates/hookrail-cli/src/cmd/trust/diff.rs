//! `hookrail trust diff`: what has changed since it was granted.

use hookrail::Json;
use hookrail::trust::{ChangeKind, Definition, FileState, HookChange};
use hookrail_app::failure::Result;
use hookrail_app::project::Project;

use super::{grants, load, object, place, value};
use crate::args::TrustDiffArgs;
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::hooks::grant_hint;
use crate::render::trust::diff as shown;
use hookrail_app::text_diff::GrantedTexts;

pub(super) fn run(args: &TrustDiffArgs) -> Result<Exit> {
    let (project, hooks) = load(&args.project)?;
    let grants = grants(&project)?;
    let changes = grants.changes(&hooks);
    let store = Project::trust_store()?;
    let texts = GrantedTexts::new(Some(&store), &project.places);
    if args.json {
        let hooks: Vec<Json> = changes.iter().map(|change| document(change, &texts)).collect();
        output::json(&object([
            ("project", value(&project.root().to_string_lossy())),
            ("trusted", Json::boolean(grants.project)),
            ("hooks", value(&hooks)),
        ]))?;
    } else if changes.is_empty() {
        output::text("nothing has changed since it was granted\n")?;
    } else {
        let waiting = hooks.iter().filter(|hook| !hook.trust.allows()).count();
        output::text(&format!("{}\n{}", shown::all(&changes, &texts, &project.places), grant_hint(waiting)))?;
    }
    // A hook that was removed cannot run, so it needs no review.
    let needs_review = changes.iter().any(|change| change.kind != ChangeKind::Gone);
    Ok(if needs_review { Exit::Failed } else { Exit::Fine })
}

fn document(change: &HookChange, texts: &GrantedTexts<'_>) -> Json {
    let (hook, grant) = (change.hook.as_ref(), change.granted.as_ref());
    let label = hook.map(|hook| &*hook.label).or(grant.map(|grant| &*grant.hook));
    let before = grant.and_then(|grant| grant.described.as_ref());
    let after = hook.and_then(|hook| hook.trust.fingerprint()).map(|taken| taken.described());
    let files: Vec<Json> = change
        .files
        .iter()
        .map(|file| {
            object([
                ("path", value(&file.path.to_string_lossy())),
                ("change", Json::string(file.name())),
                ("before", file_digest(&file.before)),
                ("after", file_digest(&file.after)),
                (
                    "diff",
                    value(&texts.difference_of(file).map(|rows| Vec::from_iter(rows.iter().map(ToString::to_string)))),
                ),
            ])
        })
        .collect();
    object([
        ("hook", value(&label)),
        ("change", Json::string(change.kind.name())),
        ("before", definition(before)),
        ("after", definition(after)),
        ("files", value(&files)),
        ("source", hook.map_or_else(Json::null, |hook| place(hook))),
    ])
}

/// Returns the digest of a file's bytes, or null if the file does not exist or cannot be read.
fn file_digest(state: &FileState) -> Json {
    match state {
        FileState::Holds(digest) => Json::string(digest),
        _ => Json::null(),
    }
}

fn definition(definition: Option<&Definition>) -> Json {
    let Some(definition) = definition else { return Json::null() };
    object([
        ("dialect", Json::string(&definition.dialect)),
        ("event", value(&Some(&definition.event).filter(|event| !event.is_empty()))),
        ("matcher", value(&definition.matcher)),
        ("kind", Json::string(&definition.kind)),
        ("command", Json::string(&definition.command)),
        ("life", value(&definition.lifetime)),
        ("plugin", value(&definition.package)),
        ("onFailure", value(&definition.on_failure)),
        ("timeout", value(&definition.timeout)),
    ])
}
