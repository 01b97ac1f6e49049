//! `hookrail fire`: fires one event at the configured hooks and prints the outcome.

use hookrail::document::outcome_document;
use hookrail::{Builder, Effects, Event, HookSystem, Outcome};
use hookrail_app::as_agent::{self, ToldAgent};
use hookrail_app::bridge::with_session_memory;
use hookrail_app::event_draft::{EventDraft, make_event};
use hookrail_app::failure::Result;
use hookrail_app::foreign_hooks;
use hookrail_app::journal::{RecordDefault, survive_file_size_limit};
use hookrail_app::project::{Project, host_of};

use super::firing::{self, Detail};
use crate::args::{EventArgs, FireCommand};
use crate::cmd::exit::Exit;
use crate::output::journal_warnings;
use crate::render::verbosity;
use crate::{output, render};

pub(crate) fn run(command: &FireCommand) -> Result<Exit> {
    hookrail_spawn::share_one_heap();
    let args = &command.command;
    let project = Project::open(&args.project)?;
    let EventDraft { event, agent: sender, fields } = make_event(&args.event.fields()?, project.root())?;
    let asked = args.event.agent.map(|agent| as_agent::request_of(agent, &event)).transpose()?;
    let default = if command.journal { RecordDefault::On } else { RecordDefault::Off };
    // What a bridge would do is tried out, so nothing of it is recorded.
    let (builder, journal) = match &asked {
        Some(_) => (project.builder(&args.project)?, None),
        None => {
            let (builder, recording) = project.recorded_builder(&args.project, default, "hookrail fire")?;
            (builder, journal_warnings::started(recording))
        }
    };
    let builder = as_agent::sent_by(narrow(builder, &args.event), sender);
    let system = host_of(builder, project.root(), args.event.agent).lend_runtime().build();
    if !args.event.no_hooks
        && let Err(failure) = Project::require_modules(&system)
    {
        if args.event.json {
            output::json(&outcome_document(&missing_module_outcome(&system, &event)))?;
        }
        return Err(failure);
    }
    if system.has_hooks_for(event.kind()) {
        hookrail_spawn::prepare_to_start();
    }
    let runtime = hookrail_app::runtime::runtime()?;
    let exit = runtime.block_on(async {
        if journal.is_some() {
            survive_file_size_limit();
        }
        let is_shown = !args.event.json && verbosity::is_detailed();
        let detail = if is_shown { Detail::Everything } else { Detail::Summary };
        let mut interrupts = firing::listen()?;
        let named = event.clone();
        let fired = async {
            match &asked {
                Some(asked) => firing::fire_as_agent(&system, asked, &mut interrupts, detail).await,
                None => firing::fire(&system, event, &mut interrupts, detail).await,
            }
        };
        // What is shown beside the outcome is looked for while the hooks run.
        let found = async {
            tokio::task::yield_now().await;
            if args.event.json {
                system.find_versions(&named);
            }
            foreign_hooks::diagnostics(project.root())
        };
        let (mut fired, foreign) = tokio::join!(fired, found);
        fired.event.explain(&system, fields);
        if args.event.json {
            fired.event.outcome.report_loading(&system.snapshot());
        }
        fired.event.advise(&system);
        let printed = if args.event.json {
            fired.event.outcome.diagnostics.extend(foreign);
            let document = outcome_document(&fired.event.outcome);
            output::json(&fired.told.as_ref().map_or_else(|| document.clone(), |told| told.add_to(&document)))
        } else {
            let report = fired.report(&system, &project.places);
            let told = fired.told.as_ref().map(ToldAgent::report).unwrap_or_default();
            output::text(&format!("{report}{}{told}", render::foreign_hooks::closing_lines(&foreign)))
        };
        // The shutdown comes before a printing error is returned: processes that must end are waited for in any case.
        let findings = system.shutdown().await;
        output::warnings(&render::diagnostic::all(&findings, &project.places));
        printed?;
        Ok(fired.exit())
    });
    if let Some(journal) = &journal {
        journal_warnings::finish(journal);
    }
    // The process ends now and the operating system frees everything at once. Dropping each part would only delay the
    // caller, who waits for this process before every tool call.
    std::mem::forget((system, runtime));
    exit
}

/// Returns the outcome of an event that is not fired because a module of the command line is missing. It denies a gating
/// event, so that a program that reads only the document does not treat it as allowed.
fn missing_module_outcome(system: &HookSystem, event: &Event) -> Outcome {
    let mut outcome = Outcome::untouched(event.kind());
    if event.kind().spec().is_gating() {
        outcome.effects = Effects::deny("a module that was named with `--hook` cannot be loaded");
    }
    outcome.report_loading(&system.snapshot());
    outcome
}

/// Returns the builder with the options of `fire` and `explain` that leave hooks out, and with the memory of a session that they name.
pub(super) fn narrow(mut builder: Builder, args: &EventArgs) -> Builder {
    let EventArgs { dialects, no_hooks, session_id, agent, .. } = args;
    // What a bridge would do is tried out, and leaves nothing behind.
    if session_id.is_some() && agent.is_none() {
        builder = with_session_memory(builder);
    }
    if *no_hooks {
        builder = builder.hooks_off("`--no-hooks` was given");
    }
    if !dialects.is_empty() {
        builder = builder.only_dialects(dialects.clone());
    }
    builder
}
