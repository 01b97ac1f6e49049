//! `hookrail plugin enable`, `disable`, `install` and `uninstall`. Nothing is installed that was not shown.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use hookrail::dialect::xcode::{self, PluginError, PluginScope};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;

use crate::args::{PluginInstallArgs, PluginSwitchArgs, PluginUninstallArgs, Scope};
use crate::cmd::consent::{ask_on_terminal, no_terminal, require_person};
use crate::cmd::exit::Exit;
use crate::render::style::{GOOD, paint};
use crate::{output, render};

pub(super) fn set_enabled(args: &PluginSwitchArgs, enabled: bool) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let survey = super::plugins(&project, &args.project);
    let places = super::places(project.root());
    let id = super::find_id(&args.id, &survey)?;
    let mut named = survey.plugins.iter().filter(|plugin| plugin.id == id);
    let settings: PathBuf = match args.scope {
        Scope::User => places.user_settings.ok_or_else(|| failure(&PluginError::NoPlace))?,
        Scope::Project if !named.any(|plugin| plugin.scope == PluginScope::Project) => {
            return Err(Failure::new(format!("`{}` is not a plugin of this project", id))
                .hint("project settings apply only to plugins of the project; omit `--scope project`"));
        }
        Scope::Project => project.root().join(".x-code/settings.local.json"),
    };
    xcode::set_enabled(&settings, &id, enabled).map_err(|error| failure(&error))?;
    let word = if enabled { "enabled" } else { "disabled" };
    let mut text = format!("{}: {} in {}\n", paint(GOOD, word), id, project.places.path(&settings));
    let now = super::plugins(&project, &args.project);
    let still_off = now.plugins.iter().filter(|plugin| plugin.id == id).find(|plugin| !plugin.is_enabled());
    if let Some(plugin) = still_off.filter(|_| enabled)
        && let hookrail::hook::Enablement::Disabled(by) = &plugin.enablement
    {
        text.push_str(&render::hooks::hint(&format!("it is still disabled by {}", project.places.sentence(by))));
    }
    text.push_str(&render::hooks::hint("a running agent applies this after `/plugin refresh`"));
    output::text(&text)?;
    Ok(Exit::Fine)
}

pub(super) fn install(args: &PluginInstallArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let environment = super::environment();
    let dir = find_dir(args, &project)?;
    let plugin = xcode::preview(&dir, &environment).map_err(|error| failure(&error))?;
    output::text(&render::plugins::offer(&plugin, &project.places))?;
    confirm(args.yes)?;
    let places = super::places(project.root());
    let (plugin, left_out) = xcode::install(&dir, &places, &environment).map_err(|error| failure(&error))?;
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

/// Returns the directory of the plugin to install: the one that is named, else that of a plugin of the project.
fn find_dir(args: &PluginInstallArgs, project: &Project) -> Result<PathBuf> {
    let named = args.dir.to_string_lossy();
    let unreadable = match args.dir.canonicalize() {
        Ok(dir) => return Ok(dir),
        Err(error) => error,
    };
    if is_url(&named) {
        return Err(Failure::new(format!("`{named}` is a URL, and plugins are installed from a directory")).hint(
            "fetch it first, so that you can read what it runs: `git clone URL DIR`, then `hookrail plugin install DIR`",
        ));
    }
    let survey = super::plugins(project, &args.project);
    let Ok(id) = super::find_id(&named, &survey) else {
        return Err(Failure::new(format!("`{named}` cannot be read: {unreadable}"))
            .hint("give the directory that holds the plugin's manifest")
            .hint("`hookrail new --dialect xcode` creates a plugin"));
    };
    let of_project = |plugin: &&xcode::Plugin| plugin.id == id && plugin.scope == PluginScope::Project;
    match survey.plugins.iter().find(of_project) {
        Some(plugin) => Ok(plugin.dir.to_path_buf()),
        None => Err(Failure::new(format!("`{id}` is installed already"))
            .hint("give the directory of another version to replace it")),
    }
}

/// Returns whether a text names something on another machine.
fn is_url(text: &str) -> bool {
    let is_secure_copy = || text.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
    text.contains("://") || is_secure_copy()
}

pub(super) fn uninstall(args: &PluginUninstallArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let places = super::places(project.root());
    let survey = super::plugins(&project, &args.project);
    let id = super::find_id(&args.id, &survey).unwrap_or_else(|_| args.id.clone());
    match xcode::uninstall(&id, &places) {
        Err(PluginError::NotInstalled(_)) => {
            let of_project = |plugin: &xcode::Plugin| plugin.id == id && plugin.scope == PluginScope::Project;
            if let Some(plugin) = survey.plugins.iter().find(|plugin| of_project(plugin)) {
                return Err(Failure::new(format!("`{id}` is not installed: it is part of the project"))
                    .hint(format!("remove `{}` from the project", project.places.path(&plugin.dir))));
            }
            return Err(super::find_id(&args.id, &survey).err().unwrap_or_else(|| super::unknown_plugin(&id, &survey)));
        }
        result => result.map_err(|error| failure(&error))?,
    }
    let mut text = format!("{}: {id}\n", paint(GOOD, "uninstalled"));
    if let Some(data) = places.data(&id).filter(|data| data.is_dir()) {
        text.push_str(&render::hooks::hint(&format!("its data remains in {}", project.places.path(&data))));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
}

/// Asks for confirmation on the terminal. Fails if there is no terminal or the answer is not yes.
fn confirm(yes: bool) -> Result<()> {
    if yes {
        return require_person();
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let problem = "nothing was installed: there is no terminal to ask on";
        return Err(no_terminal(problem, "pass `--yes` to install what is shown above"));
    }
    if ask_on_terminal("install this, and let its hooks run? [y/N] ") {
        return Ok(());
    }
    Err(Failure::new("nothing was installed").hint("answer `y` to install what is shown"))
}

fn failure(error: &PluginError) -> Failure {
    let hint = match error {
        PluginError::NotAPlugin(problem) => problem
            .hint
            .clone()
            .unwrap_or_else(|| "fix its manifest; `hookrail new --dialect xcode` creates a plugin".to_owned()),
        PluginError::HooksCannotRun { problem, .. } => {
            problem.hint.clone().unwrap_or_else(|| "fix the hooks of the plugin first".to_owned())
        }
        PluginError::NoPlace => "set `HOME` to your home directory".to_owned(),
        PluginError::Blocked(_) => "an administrator put it there".to_owned(),
        PluginError::TooLarge(_) => "remove the files that the plugin does not need to run".to_owned(),
        PluginError::Broken { .. } => "fix the file first; nothing was changed".to_owned(),
        _ => "check the permissions of the file and its folders".to_owned(),
    };
    Failure::new(error.to_string()).hint(hint)
}
