//! `hookrail agent`: the reference agent. This file only turns arguments into the agent's setup.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use hookrail_agent::{
    AgentError, AgentMode, AgentSetup, ScriptedModel, SessionOpening, SessionStore, StreamRule, Workspace, declare,
};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::journal::RecordDefault;
use hookrail_app::project::Project;
use hookrail_app::telemetry::CommandTelemetry;
use hookrail_journal::{Journal, JournalWarning};
use hookrail_spawn::UserFolders;

use crate::args::AgentArgs;
use crate::cmd::exit::Exit;
use crate::cmd::trust_review;
use crate::output::journal_warnings;
use crate::{logging, output, render};

pub(crate) fn run(args: &AgentArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let model = ScriptedModel::read(&args.script).map_err(|error| failure(&error))?;
    let (builder, recording) = project.recorded_builder(&args.project, RecordDefault::On, "hookrail agent")?;
    let journal = journal_warnings::started(recording);
    let mut findings = Vec::new();
    let telemetry = CommandTelemetry::start(&project.configuration(&args.project).telemetry, &mut findings);
    output::errors(&render::diagnostic::all(&findings, &project.places));
    let builder = telemetry.attach(builder, journal.as_ref(), "hookrail agent");
    let mut builder = declare(builder);
    if args.no_hooks {
        builder = builder.hooks_off("`--no-hooks` was given");
    }
    let hooks = builder.build();
    let mode = choose_mode(args);
    if !args.no_hooks {
        Project::require_modules(&hooks)?;
        match mode {
            AgentMode::Interactive => trust_review::offer_review(&project, &hooks)?,
            AgentMode::Prompt(_) | AgentMode::Headless(_) | AgentMode::Piped => trust_review::report_untrusted(&hooks),
        }
    }
    let mut place =
        Workspace::new(&hooks).map_err(|error| Failure::new(format!("the project cannot be used: {error}")))?;
    for folder in &args.allowed {
        place = place.allow(folder).map_err(|error| {
            Failure::new(format!("`{}` cannot be allowed: {error}", folder.display()))
                .hint("`--allow` takes a folder that exists")
        })?;
    }
    let (sessions, history) = session_folders(args)?;
    let store = SessionStore::new(&sessions, project.root());
    let mut setup = AgentSetup::new(hooks, Arc::new(model), place, store);
    setup.settings.most_turns = args.max_turns;
    setup.settings.retry_delay = Duration::from_millis(args.retry_delay_ms);
    setup.settings.plugins_off = args.project.no_plugins;
    if let Some(rules) = &args.rules {
        setup.settings.rules = StreamRule::read(rules).map_err(|error| failure(&error))?;
    }
    let id = args.resume.clone().filter(|id| !id.is_empty());
    setup.begin = match (args.fork, &args.resume) {
        (true, _) => SessionOpening::Fork(id),
        (false, Some(_)) => SessionOpening::Resume(id),
        (false, None) => SessionOpening::New,
    };
    setup.history = Some(history);
    // Beside the session: a large segment takes a moment.
    let of_thread = journal.clone();
    let maintain = |journal: Journal| {
        // Without a thread the next session does it.
        std::thread::Builder::new().name("hookrail-journal".to_owned()).spawn(move || journal.maintain()).ok()
    };
    let maintenance = of_thread.and_then(maintain);
    let ended = hookrail_agent::run(setup, mode);
    // A session of one short prompt would cut it off every time.
    if let Some(Ok(Err(error))) = maintenance.map(std::thread::JoinHandle::join) {
        crate::output::warnings(&format!("warning: {}\n", JournalWarning::NotMaintained(error.to_string())));
    }
    if let Some(journal) = &journal {
        journal_warnings::finish(journal);
    }
    if let Some(lost) = telemetry.finish() {
        logging::write_stderr(format!("warning: {lost}\n"));
    }
    Ok(match ended.map_err(|error| failure(&error))? {
        hookrail_agent::AgentExit::Fine => Exit::Fine,
        hookrail_agent::AgentExit::Denied => Exit::Blocked,
        hookrail_agent::AgentExit::Stopped => Exit::Stop,
        hookrail_agent::AgentExit::Signalled(number) => Exit::Signalled(number),
        hookrail_agent::AgentExit::Failed => Exit::Failed,
    })
}

fn choose_mode(args: &AgentArgs) -> AgentMode {
    let is_interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    match &args.prompt {
        prompt if args.headless => AgentMode::Headless(prompt.clone()),
        Some(prompt) => AgentMode::Prompt(prompt.clone()),
        None if is_interactive => AgentMode::Interactive,
        None => AgentMode::Piped,
    }
}

/// Returns the folder of sessions and the file of typed lines.
fn session_folders(args: &AgentArgs) -> Result<(std::path::PathBuf, std::path::PathBuf)> {
    let default = || UserFolders::of_process().state.map(|state| SessionStore::default_folder(&state));
    let folder = args.session_dir.clone().or_else(default);
    let folder = folder.ok_or_else(|| {
        Failure::new("sessions cannot be stored: neither `HOME` nor `XDG_STATE_HOME` is set")
            .hint("name a directory with `--session-dir DIR`")
    })?;
    let history = folder.join("history");
    Ok((folder, history))
}

fn failure(error: &AgentError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        AgentError::Script { .. } => {
            failure.hint(r#"a script is a JSON document, such as `{"turns": [{"text": "hello"}]}`"#)
        }
        AgentError::Rules { .. } => failure.hint("rules are a JSON list of {\"name\", \"pattern\", \"message\"}"),
        AgentError::Output(_) => failure.hint("the session has the whole conversation; continue it with `--resume`"),
        AgentError::NoSession(_) => failure.hint("omit `--resume` to start a new session"),
        _ => failure,
    }
}
