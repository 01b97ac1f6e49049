//! `hookrail fire`: fires one event at the configured hooks and prints the outcome.

use std::pin::pin;

use hookrail::document::outcome_document;
use hookrail::{Builder, Decision, Diagnostic, Effects, Event, FireOptions, HookSystem, Outcome};

use crate::args::{EventArgs, FireCommand};
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::Interrupts;
use crate::journal::{RecordDefault, survive_file_size_limit};
use crate::lint::{explain_failures, with_advice};
use crate::progress::ProgressLine;
use crate::project::Project;
use crate::render::outcome::Ending;
use crate::request::RequestedEvent;
use crate::{output, render, request};

pub(crate) fn run(command: &FireCommand) -> Result<Exit> {
    let args = &command.command;
    let project = Project::open(&args.project)?;
    let RequestedEvent { event, fields } = request::build_event(&args.event, project.root())?;
    let default = if command.journal { RecordDefault::On } else { RecordDefault::Off };
    let (builder, journal) = project.recorded_builder(&args.project, default, "hookrail fire")?;
    let system = narrow(builder, &args.event).lend_runtime().build();
    if !args.event.no_hooks
        && let Err(failure) = Project::require_modules(&system)
    {
        if args.event.json {
            output::json(&outcome_document(&missing_module_outcome(&system, &event)))?;
        }
        return Err(failure);
    }
    let subject = render::outcome::subject(&event);
    let runtime = super::runtime()?;
    let exit = runtime.block_on(async {
        if journal.is_some() {
            survive_file_size_limit();
        }
        let (mut outcome, signal) = fire(&system, event).await?;
        explain_failures(&system, &mut outcome);
        let findings = fields.into_findings(outcome.skipped.iter().map(|skipped| skipped.why));
        outcome.diagnostics.extend(findings);
        if args.event.json {
            outcome.report_loading(&system.snapshot());
        }
        let configuration = render::diagnostic::summary(&new_findings(&outcome, &system));
        let found = std::mem::take(&mut outcome.diagnostics);
        outcome.diagnostics = found.into_iter().map(with_advice).collect();
        let printed = if args.event.json {
            output::json(&outcome_document(&outcome))
        } else {
            let ending = if signal.is_some() { Ending::Interrupted } else { Ending::Complete };
            let report = render::outcome::report(&outcome, &subject, ending, &project.places);
            let configuration =
                configuration.map(|counts| format!("\nconfiguration: {counts}; run `hookrail check`\n"));
            output::text(&format!("{report}{}", configuration.unwrap_or_default()))
        };
        // The shutdown comes before a printing error is returned: processes that must end are waited for in any case.
        let findings = system.shutdown().await;
        output::warnings(&render::diagnostic::all(&findings, &project.places));
        printed?;
        Ok(signal.map_or_else(|| exit_of(&outcome), Exit::Signalled))
    });
    // The process ends now and the operating system frees everything at once. Dropping each part would only delay the
    // caller, who waits for this process before every tool call.
    std::mem::forget((system, runtime));
    exit
}

/// Returns what loading found and the outcome does not say. All of it with every event would hide the outcome.
fn new_findings(outcome: &Outcome, system: &HookSystem) -> Vec<Diagnostic> {
    let snapshot = system.snapshot();
    snapshot.diagnostics().iter().filter(|finding| !outcome.diagnostics.contains(finding)).cloned().collect()
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

/// Returns the builder with the options of `fire` and `explain` that leave hooks out.
pub(super) fn narrow(mut builder: Builder, args: &EventArgs) -> Builder {
    let EventArgs { dialects, no_hooks, .. } = args;
    if *no_hooks {
        builder = builder.hooks_off("`--no-hooks` was given");
    }
    if !dialects.is_empty() {
        builder = builder.only_dialects(dialects.clone());
    }
    builder
}

/// Fires the event. A signal cancels the hooks, and its number is returned with the outcome.
async fn fire(system: &HookSystem, event: Event) -> Result<(Outcome, Option<u8>)> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })?;
    let mut progress = ProgressLine::watch(system);
    let mut signal = None;
    let mut fire = pin!(system.fire_with(event, FireOptions::new().wait_for_all()));
    let outcome = loop {
        tokio::select! {
            outcome = &mut fire => break outcome,
            received = interrupts.next(), if signal.is_none() => {
                signal = Some(received.number());
                fire.cancel();
            }
            () = progress.wait_for_update() => progress.draw(),
        }
    };
    progress.erase();
    Ok((outcome, signal))
}

/// Returns the exit status of an outcome. Scripts rely on it.
fn exit_of(outcome: &Outcome) -> Exit {
    let gating = outcome.event.spec().is_gating();
    match outcome.effects.decision {
        _ if outcome.effects.stop.is_some() => Exit::Stop,
        Some(Decision::Ask) => Exit::Ask,
        Some(Decision::Allow) | None => Exit::Fine,
        // A decision that this program does not know may be a refusal.
        Some(_) => {
            if gating {
                Exit::Blocked
            } else {
                Exit::Fine
            }
        }
    }
}
