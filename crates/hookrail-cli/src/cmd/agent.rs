//! `hookrail agent`: the reference agent. This file only turns arguments into what the agent is made of.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use hookrail_agent::{AgentError, Begin, Mode, Place, Rule, ScriptedModel, SessionStore, Setup, declare};

use super::trust;
use crate::args::AgentArgs;
use crate::errors::{Exit, Failure, Result};
use crate::project::{Project, home};

pub(crate) fn run(args: &AgentArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let model = ScriptedModel::read(&args.script).map_err(|error| failure(&error))?;
    let mut builder = declare(project.builder(&args.project)?);
    if args.no_hooks {
        builder = builder.hooks_off("`--no-hooks` was given");
    }
    let hooks = builder.build();
    let mode = mode(args);
    if !args.no_hooks {
        Project::require_modules(&hooks)?;
        match mode {
            Mode::Interactive => trust::review(&project, &hooks)?,
            Mode::Prompt(_) | Mode::Headless(_) | Mode::Piped => trust::refuse(&hooks),
        }
    }
    let mut place = Place::new(&hooks).map_err(|error| Failure::new(format!("the project cannot be used: {error}")))?;
    for folder in &args.allowed {
        place = place.allow(folder).map_err(|error| {
            Failure::new(format!("`{}` cannot be allowed: {error}", folder.display()))
                .hint("`--allow` takes a folder that exists")
        })?;
    }
    let (sessions, history) = folders(args)?;
    let store = SessionStore::new(&sessions, project.root());
    let mut setup = Setup::new(hooks, Arc::new(model), place, store);
    setup.settings.most_turns = args.max_turns;
    setup.settings.retry_delay = Duration::from_millis(args.retry_delay_ms);
    setup.settings.plugins_off = args.project.no_plugins;
    if let Some(rules) = &args.rules {
        setup.settings.rules = Rule::read(rules).map_err(|error| failure(&error))?;
    }
    let id = args.resume.clone().filter(|id| !id.is_empty());
    setup.begin = match (args.fork, &args.resume) {
        (true, _) => Begin::Fork(id),
        (false, Some(_)) => Begin::Resume(id),
        (false, None) => Begin::New,
    };
    setup.history = Some(history);
    let ended = hookrail_agent::run(setup, mode).map_err(|error| failure(&error))?;
    Ok(match ended {
        hookrail_agent::Exit::Fine => Exit::Fine,
        hookrail_agent::Exit::Denied => Exit::Blocked,
        hookrail_agent::Exit::Stopped => Exit::Stop,
        hookrail_agent::Exit::Signalled(number) => Exit::Signalled(number),
        hookrail_agent::Exit::Failed => Exit::Failed,
    })
}

fn mode(args: &AgentArgs) -> Mode {
    let talks = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    match &args.prompt {
        prompt if args.headless => Mode::Headless(prompt.clone()),
        Some(prompt) => Mode::Prompt(prompt.clone()),
        None if talks => Mode::Interactive,
        None => Mode::Piped,
    }
}

/// Where sessions and the typed lines are kept.
fn folders(args: &AgentArgs) -> Result<(std::path::PathBuf, std::path::PathBuf)> {
    let state = std::env::var_os("XDG_STATE_HOME").map(std::path::PathBuf::from);
    let folder = args.session_dir.clone().or_else(|| SessionStore::default_folder(home().as_deref(), state.as_deref()));
    let folder = folder.ok_or_else(|| {
        Failure::new("there is no place to keep sessions: neither `HOME` nor `XDG_STATE_HOME` is set")
            .hint("name one with `--session-dir DIR`")
    })?;
    let history = folder.join("history");
    Ok((folder, history))
}

fn failure(error: &AgentError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        AgentError::Script { .. } => failure.hint("`hookrail docs agent` describes the form of a script"),
        AgentError::Rules { .. } => failure.hint("rules are a JSON list of {\"name\", \"pattern\", \"message\"}"),
        AgentError::Output(_) => failure.hint("the session has the whole conversation; `--resume` goes on with it"),
        AgentError::NoSession(_) => failure.hint("leave out `--resume` to begin a new session"),
        _ => failure,
    }
}
