//! `hookrail plugin`: lists, checks, enables, disables, installs and uninstalls plugins. Nothing is installed that was not shown.

use hookrail::Level;
use hookrail::hook::Enablement;
use hookrail_app::failure::Result;
use hookrail_app::plugin::{
    PluginSettings, all_problems, find_plugin_folder, install_plugin, plugin_hooks, plugins, plugins_document,
    preview_plugin, switch_plugin, uninstall_plugin,
};
use hookrail_app::project::Project;

use crate::args::{
    PluginArgs, PluginCommand, PluginInstallArgs, PluginListArgs, PluginSwitchArgs, PluginUninstallArgs, Scope,
};
use crate::cmd::consent::{ConsentQuestion, confirm, require_person};
use crate::cmd::exit::Exit;
use crate::render::style::{GOOD, paint};
use crate::{output, render};

pub(crate) fn run(args: &PluginArgs) -> Result<Exit> {
    match &args.command {
        PluginCommand::List(args) => list(args),
        PluginCommand::Doctor(args) => doctor(args),
        PluginCommand::Enable(args) => set_enabled(args, true),
        PluginCommand::Disable(args) => set_enabled(args, false),
        PluginCommand::Install(args) => install(args),
        PluginCommand::Uninstall(args) => uninstall(args),
    }
}

fn list(args: &PluginListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let survey = plugins(&project, &args.project);
    let hooks = plugin_hooks(&project, &args.project)?;
    if args.json {
        output::json(&plugins_document(&survey, &hooks, &all_problems(&survey)))?;
    } else {
        output::text(&render::plugins::list(&survey, &hooks, &project.places))?;
    }
    Ok(Exit::Fine)
}

fn doctor(args: &PluginListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let survey = plugins(&project, &args.project);
    let hooks = plugin_hooks(&project, &args.project)?;
    let problems = all_problems(&survey);
    let failed = problems.iter().any(|problem| problem.level == Level::Error);
    if args.json {
        output::json(&plugins_document(&survey, &hooks, &problems))?;
    } else {
        output::text(&render::plugins::doctor(&survey, &hooks, &problems, &project.places))?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

fn set_enabled(args: &PluginSwitchArgs, enabled: bool) -> Result<Exit> {
    require_person()?;
    let project = Project::open(&args.project)?;
    let settings = match args.scope {
        Scope::User => PluginSettings::OfUser,
        Scope::Project => PluginSettings::OfProject,
    };
    let switched = switch_plugin(&project, &args.project, &args.id, settings, enabled)?;
    let word = if enabled { "enabled" } else { "disabled" };
    let file = project.places.path(&switched.settings);
    let mut text = format!("{}: {} in {file}\n", paint(GOOD, word), switched.id);
    if let Some(Enablement::Disabled(by)) = switched.still_off.filter(|_| enabled) {
        text.push_str(&render::hooks::hint(&format!("it is still disabled by {}", project.places.sentence(&by))));
    }
    text.push_str(&render::hooks::hint("a running agent applies this after `/plugin refresh`"));
    output::text(&text)?;
    Ok(Exit::Fine)
}

fn install(args: &PluginInstallArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let dir = find_plugin_folder(&project, &args.project, &args.dir)?;
    output::text(&render::plugins::offer(&preview_plugin(&dir)?, &project.places))?;
    let text = "install this, and let its hooks run? [y/N] ";
    confirm(
        args.yes,
        &ConsentQuestion { text, otherwise: "nothing was installed", yes: "install what is shown above" },
    )?;
    let (plugin, left_out) = install_plugin(&project, &dir)?;
    let at = project.places.path(&plugin.dir);
    let mut text = format!("{}: {} {} in {at}\n", paint(GOOD, "installed"), plugin.id, plugin.version);
    for path in left_out {
        let shown = project.places.path(&path);
        let why = "it is a symbolic link or not a regular file";
        text.push_str(&render::hooks::hint(&format!("`{shown}` was not installed: {why}")));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
}

fn uninstall(args: &PluginUninstallArgs) -> Result<Exit> {
    require_person()?;
    let project = Project::open(&args.project)?;
    let (id, data) = uninstall_plugin(&project, &args.project, &args.id)?;
    let mut text = format!("{}: {id}\n", paint(GOOD, "uninstalled"));
    if let Some(data) = data {
        text.push_str(&render::hooks::hint(&format!("its data remains in {}", project.places.path(&data))));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
}
