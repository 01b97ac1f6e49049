//! `hookrail plugin list` and `hookrail plugin doctor`.

use std::sync::Arc;

use hookrail::dialect::xcode::{Plugin, Survey};
use hookrail::document::diagnostics_document;
use hookrail::hook::Enablement;
use hookrail::{Diagnostic, Hook, Json, JsonObject, Level};
use hookrail_app::failure::Result;
use hookrail_app::project::Project;

use crate::args::PluginListArgs;
use crate::cmd::exit::Exit;
use crate::{output, render};

pub(super) fn list(args: &PluginListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let survey = super::plugins(&project, &args.project);
    let hooks = hooks(&project, args)?;
    if args.json {
        output::json(&document(&survey, &hooks, &all_problems(&survey)))?;
    } else {
        output::text(&render::plugins::list(&survey, &hooks, &project.places))?;
    }
    Ok(Exit::Fine)
}

pub(super) fn doctor(args: &PluginListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let survey = super::plugins(&project, &args.project);
    let hooks = hooks(&project, args)?;
    let problems = all_problems(&survey);
    let failed = problems.iter().any(|problem| problem.level == Level::Error);
    if args.json {
        output::json(&document(&survey, &hooks, &problems))?;
    } else {
        output::text(&render::plugins::doctor(&survey, &hooks, &problems, &project.places))?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

/// Loads the hooks of plugins, with their trust.
fn hooks(project: &Project, args: &PluginListArgs) -> Result<Vec<Arc<Hook>>> {
    let snapshot = project.builder(&args.project)?.build().snapshot();
    let of_plugins = |hook: &&Arc<Hook>| hook.owner.is_some() && hook.dialect == hookrail::DialectId::Xcode;
    Ok(snapshot.hooks().iter().filter(of_plugins).cloned().collect())
}

fn all_problems(survey: &Survey) -> Vec<Diagnostic> {
    let of_plugins = survey.plugins.iter().flat_map(|plugin| &plugin.problems);
    survey.problems.iter().chain(of_plugins).cloned().collect()
}

fn document(survey: &Survey, hooks: &[Arc<Hook>], problems: &[Diagnostic]) -> Json {
    let plugins: Vec<Json> = survey.plugins.iter().map(|plugin| described(plugin, hooks)).collect();
    let diagnostics = diagnostics_document(problems);
    let diagnostics = diagnostics.as_object().and_then(|document| document.get("diagnostics").cloned());
    object([("plugins", value(&plugins)), ("diagnostics", diagnostics.unwrap_or_else(Json::null))])
}

fn described(plugin: &Plugin, hooks: &[Arc<Hook>]) -> Json {
    let own = render::plugins::hooks_of(plugin, hooks);
    let events: Vec<&str> = own.iter().map(|hook| event_name(hook)).collect();
    let disabled_by = match &plugin.enablement {
        Enablement::Disabled(by) => Json::string(by),
        _ => Json::null(),
    };
    object([
        ("id", Json::string(&plugin.id)),
        ("version", Json::string(&plugin.version)),
        ("scope", Json::string(plugin.scope.name())),
        ("dir", value(&plugin.dir.to_string_lossy())),
        ("description", value(&plugin.description)),
        ("enabled", Json::boolean(plugin.is_enabled())),
        ("disabledBy", disabled_by),
        ("broken", Json::boolean(plugin.is_broken())),
        ("hooks", value(&own.len())),
        ("events", value(&events)),
        ("trusted", Json::boolean(own.iter().all(|hook| hook.trust.allows()))),
    ])
}

fn event_name(hook: &Hook) -> &'static str {
    hook.event.spec().column(hook.dialect).map_or(hook.event.name(), |column| column.name)
}

/// Makes an object whose members stay in this order.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

fn value<T: serde::Serialize + ?Sized>(value: &T) -> Json {
    Json::of(value).unwrap_or_else(|_| Json::null())
}
