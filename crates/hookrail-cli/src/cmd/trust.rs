//! `hookrail trust`: shows, grants and revokes trust in a project's hooks. Nothing is granted that was not shown.

mod diff;
mod review;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use hookrail::hook::{Action, SandboxRequirement, Trust};
use hookrail::module::Capabilities;
use hookrail::recorder::{TrustChange, TrustEntry};
use hookrail::trust::{Fingerprint, Grant, Grants, MissingGuard, TrustError, TrustStore as _};
use hookrail::{Hook, Json, JsonObject};

use hookrail::sources::nearest;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::foreign_hooks;
use hookrail_app::journal::trust_in_project;
use hookrail_app::project::Project;
use hookrail_app::text::counted;
use serde::Serialize;

use crate::args::{ProjectArgs, TrustArgs, TrustCommand, TrustGrantArgs, TrustRevokeArgs, TrustStatusArgs};
use crate::cmd::consent::{ask_on_terminal, no_terminal, require_person};
use crate::cmd::exit::Exit;
use crate::output;
use crate::output::journal_warnings::record_trust;
use crate::render::style::{GOOD, paint};
use crate::render::trust::{self as shown, fingerprint};

pub(crate) use review::{offer_review, report_untrusted, review_hooks};

pub(crate) fn run(args: &TrustArgs) -> Result<Exit> {
    match &args.command {
        None => status(&args.status),
        Some(TrustCommand::Status(args)) => status(args),
        Some(TrustCommand::Diff(args)) => diff::run(args),
        Some(TrustCommand::Grant(args)) => grant(args),
        Some(TrustCommand::Revoke(args)) => revoke(args),
    }
}

fn status(args: &TrustStatusArgs) -> Result<Exit> {
    let (project, hooks) = load_with_missing(&args.project)?;
    let trusted = grants(&project)?.project;
    let foreign = foreign_hooks::diagnostics(project.root());
    if args.json {
        output::json(&foreign_hooks::added_to(&document(project.root(), trusted, &hooks), &foreign))?;
    } else {
        let status = shown::status(trusted, &hooks, &project.places);
        output::text(&format!("{status}{}", crate::render::foreign_hooks::closing_lines(&foreign)))?;
    }
    Ok(Exit::Fine)
}

/// Returns what `trust status --json` prints.
#[cfg(feature = "inspect")]
pub(super) fn status_document(args: &ProjectArgs) -> Result<Json> {
    let (project, hooks) = load_with_missing(args)?;
    let trusted = grants(&project)?.project;
    Ok(document(project.root(), trusted, &hooks))
}

fn grant(args: &TrustGrantArgs) -> Result<Exit> {
    let (project, all) = load_with_missing(&args.project)?;
    let before = grants(&project)?;
    let trusted = before.project;
    let chosen = find_by_name(&all, &args.names)?;
    let (missing, mut chosen): (Vec<_>, Vec<_>) = chosen.into_iter().partition(|hook| missing_guard(hook).is_some());
    chosen.retain(|hook| !matches!(hook.trust, Trust::Granted(_)));
    if trusted && chosen.is_empty() && missing.is_empty() {
        output::text("nothing to grant: the project and these hooks are already trusted\n")?;
        return Ok(Exit::Fine);
    }
    let offer = shown::offer(trusted, &narrowed(&chosen, args.allow.as_deref()), &project.places);
    output::text(&format!("{offer}{}", shown::removed(&missing)))?;
    if let Some(hook) = chosen.iter().find(|hook| fingerprint(hook).is_none_or(|taken| taken.content().is_none())) {
        return Err(Failure::new(format!(
            "`{}` names a file that cannot be read or is too large to be trusted",
            hook.label
        ))
        .hint("grant the other hooks by name, as in `hookrail trust grant HOOK`"));
    }
    confirm(args.yes, question(trusted && chosen.is_empty(), missing.is_empty()))?;
    // Grants of earlier versions of these hooks are removed: only what was just shown stays granted.
    let superseded: Vec<Grant> = before
        .changes(&all)
        .into_iter()
        .filter_map(|change| {
            let hook = change.hook?;
            change.granted.filter(|_| chosen.iter().any(|chosen| Arc::ptr_eq(chosen, &hook)))
        })
        .collect();
    let is_replaced = |guard: &Arc<Hook>| chosen.iter().any(|hook| hook.label == guard.label);
    let change = |grants: &mut Grants| {
        grants.project = true;
        superseded.iter().for_each(|old| grants.forget(old));
        for guard in &missing {
            match missing_guard(guard) {
                Some(missing) if is_replaced(guard) => grants.forget_missing(missing),
                Some(missing) => grants.accept_missing(missing),
                None => {}
            }
        }
        for hook in &chosen {
            if let Some(fingerprint) = fingerprint(hook) {
                grants.grant(hook, fingerprint);
                if let (Some(allowed), Action::Module(_)) = (&args.allow, &hook.action) {
                    grants.narrow(fingerprint, allowed);
                }
            }
        }
    };
    Project::trust_store()?.change(project.root(), change).map_err(store_failure)?;
    record_grants(&project, &chosen, &missing);
    let mut said = format!("{}: the project and {}\n", paint(GOOD, "granted"), counted(chosen.len(), "hook"));
    if !missing.is_empty() {
        let (count, they) = (counted(missing.len(), "guard"), if missing.len() == 1 { "is" } else { "are" });
        said.push_str(&format!("{}: {count} {they} missing\n", paint(GOOD, "accepted")));
    }
    let foreign = crate::render::foreign_hooks::lines(&foreign_hooks::diagnostics(project.root()));
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

/// Returns why a granted guard is missing, if the hook stands for one.
fn missing_guard(hook: &Hook) -> Option<&MissingGuard> {
    match &hook.action {
        Action::Missing(guard) => Some(guard),
        Action::Shell(_)
        | Action::Program(_)
        | Action::Module(_)
        | Action::Native(_)
        | Action::Remote(_)
        | Action::NotExecutable(_)
        | Action::Unusable(_) => None,
    }
}

/// Records what was granted.
fn record_grants(project: &Project, hooks: &[Arc<Hook>], missing: &[Arc<Hook>]) {
    let content = |hook: &Arc<Hook>| Some(fingerprint(hook)?.content()?.hex());
    let named: Vec<(&Arc<Hook>, Option<String>)> = hooks.iter().map(|hook| (hook, content(hook))).collect();
    let of_hooks = named.iter().map(|(hook, content)| TrustEntry {
        change: TrustChange::Granted,
        hook: Some(&hook.label),
        event: hook.known_event().map(hookrail::EventKind::name),
        content: content.as_deref(),
    });
    let accepted = missing.iter().map(|hook| TrustEntry {
        change: TrustChange::AcceptedMissing,
        hook: Some(&hook.label),
        event: hook.known_event().map(hookrail::EventKind::name),
        content: None,
    });
    let whole = std::iter::once(trust_in_project(TrustChange::Granted));
    let all: Vec<TrustEntry<'_>> = whole.chain(of_hooks).chain(accepted).collect();
    record_trust(project.root(), &all);
}

/// Records what was revoked.
fn record_revocations(project: &Project, before: &Grants, is_whole: bool, is_revoked: impl Fn(&String) -> bool) {
    let revoked = before.hooks.iter().filter(|grant| is_revoked(&grant.hook)).map(|grant| TrustEntry {
        change: TrustChange::Revoked,
        hook: Some(&grant.hook),
        event: Some(&grant.event),
        content: Some(&grant.content),
    });
    let whole = (before.project && is_whole).then(|| trust_in_project(TrustChange::Revoked));
    record_trust(project.root(), &whole.into_iter().chain(revoked).collect::<Vec<_>>());
}

/// Returns the hooks with the capabilities that a grant with `--allow` would leave them.
fn narrowed(hooks: &[Arc<Hook>], allowed: Option<&[String]>) -> Vec<Arc<Hook>> {
    let Some(allowed) = allowed.map(|texts| Capabilities::parse(texts.iter().map(String::as_str))) else {
        return hooks.to_vec();
    };
    let allowed = allowed.unwrap_or(Capabilities::NONE);
    let narrow = |hook: &Arc<Hook>| {
        let mut hook = Hook::clone(hook);
        hook.capabilities = hook.capabilities.map(|capabilities| capabilities.intersection(&allowed));
        Arc::new(hook)
    };
    hooks.iter().map(narrow).collect()
}

fn revoke(args: &TrustRevokeArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let before = grants(&project)?;
    if let Some(name) = args.names.iter().find(|name| !before.hooks.iter().any(|grant| grant.hook == **name)) {
        let known: Vec<&str> = before.hooks.iter().map(|grant| grant.hook.as_str()).collect();
        return Err(unknown_name(name, "is not granted in this project", &known));
    }
    let is_revoked = |name: &String| args.names.is_empty() || args.names.contains(name);
    let revoked = before.hooks.iter().filter(|grant| is_revoked(&grant.hook)).count();
    let change = |grants: &mut Grants| {
        grants.project &= !args.names.is_empty();
        grants.hooks.retain(|grant| !is_revoked(&grant.hook));
    };
    Project::trust_store()?.change(project.root(), change).map_err(store_failure)?;
    record_revocations(&project, &before, args.names.is_empty(), is_revoked);
    let what = match (args.names.is_empty(), before.project || revoked > 0) {
        (true, false) => "nothing to revoke: nothing of this project is trusted\n".to_owned(),
        (true, true) => format!("{}: the project and {}\n", paint(GOOD, "revoked"), counted(revoked, "hook")),
        (false, _) => format!("{}: {}\n", paint(GOOD, "revoked"), counted(revoked, "hook")),
    };
    output::text(&what)?;
    Ok(Exit::Fine)
}

/// Loads the project and those of its hooks that need a grant, with the trust that the store gives them.
fn load(args: &ProjectArgs) -> Result<(Project, Vec<Arc<Hook>>)> {
    let (project, mut hooks) = load_with_missing(args)?;
    hooks.retain(|hook| fingerprint(hook).is_some());
    Ok((project, hooks))
}

/// Like [`load`], with the granted guards that are missing.
fn load_with_missing(args: &ProjectArgs) -> Result<(Project, Vec<Arc<Hook>>)> {
    let project = Project::open(args)?;
    let snapshot = project.builder_as_granted(args)?.build().snapshot();
    let concerns_trust = |hook: &&Arc<Hook>| fingerprint(hook).is_some() || missing_guard(hook).is_some();
    let hooks = snapshot.hooks().iter().filter(concerns_trust).cloned().collect();
    Ok((project, hooks))
}

fn grants(project: &Project) -> Result<Grants> {
    Project::trust_store()?.grants(project.root()).map_err(store_failure)
}

/// Returns the hooks with these names, or all hooks if no name is given.
fn find_by_name(hooks: &[Arc<Hook>], names: &[String]) -> Result<Vec<Arc<Hook>>> {
    if let Some(name) = names.iter().find(|name| !hooks.iter().any(|hook| *hook.label == ***name)) {
        let known: Vec<&str> = hooks.iter().map(|hook| &*hook.label).collect();
        return Err(unknown_name(name, "is not a hook of this project", &known));
    }
    let chosen = |hook: &&Arc<Hook>| names.is_empty() || names.iter().any(|name| **name == *hook.label);
    Ok(hooks.iter().filter(chosen).cloned().collect())
}

fn unknown_name(name: &str, problem: &str, known: &[&str]) -> Failure {
    let failure = Failure::new(format!("`{name}` {problem}"));
    match nearest(name, known.iter().copied()) {
        Some(known) => failure.hint(format!("did you mean `{known}`?")),
        None => failure.hint("run `hookrail trust status` to see the hooks and their names"),
    }
}

/// Asks for confirmation on the terminal. Fails if there is no terminal or the answer is not yes.
fn confirm(yes: bool, question: &str) -> Result<()> {
    if yes {
        return require_person();
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let problem = "nothing was granted: there is no terminal to ask on";
        return Err(no_terminal(problem, "pass `--yes` to grant what is shown above"));
    }
    if ask_on_terminal(question) {
        return Ok(());
    }
    Err(Failure::new("nothing was granted").hint("answer `y` to grant what is shown"))
}

fn store_failure(error: TrustError) -> Failure {
    Failure::new(error.to_string()).hint(error.repair())
}

fn document(project: &Path, trusted: bool, hooks: &[Arc<Hook>]) -> Json {
    let hooks: Vec<Json> = hooks.iter().map(|hook| described(hook)).collect();
    object([
        ("project", value(&project.to_string_lossy())),
        ("trusted", Json::boolean(trusted)),
        ("hooks", value(&hooks)),
    ])
}

fn described(hook: &Hook) -> Json {
    let taken = fingerprint(hook);
    let files = taken.map(Fingerprint::paths).unwrap_or_default();
    let event =
        hook.known_event().map(|event| event.spec().column(hook.dialect).map_or(event.name(), |column| column.name));
    let members = [
        ("hook", Json::string(&hook.label)),
        ("event", value(&event)),
        ("state", Json::string(&shown::state(hook).replace(' ', "-"))),
        ("files", value(&files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>())),
        ("openEnded", Json::boolean(taken.is_some_and(Fingerprint::is_open_ended))),
        ("sandbox", value(&hook.sandbox.as_ref().map(|profile| profile.to_json()))),
        ("sandboxRequired", Json::boolean(hook.sandbox_requirement == SandboxRequirement::Required)),
        ("source", place(hook)),
    ];
    // Only modules have capabilities.
    let capabilities =
        hook.capabilities.as_ref().map(|capabilities| ("capabilities", value(&capabilities.described())));
    members.into_iter().chain(capabilities).collect::<JsonObject>().to_json()
}

/// Returns the place where a hook is configured.
fn place(hook: &Hook) -> Json {
    let origin = &hook.origin;
    object([
        ("kind", Json::string(origin.kind.name())),
        ("file", value(&origin.location.file.to_string_lossy())),
        ("line", value(&origin.location.line)),
    ])
}

/// Makes an object whose members stay in this order.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

fn value<T: Serialize + ?Sized>(value: &T) -> Json {
    Json::of(value).unwrap_or_else(|_| Json::null())
}
