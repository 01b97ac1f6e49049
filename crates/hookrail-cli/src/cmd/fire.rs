//! `hookrail fire`: fires one event at real hooks and says what came of it.

use std::pin::pin;

use hookrail::document::outcome_document;
use hookrail::{Builder, Decision, Effects, Event, FireOptions, HookSystem, Outcome};

use crate::args::{EventArgs, EventCommand};
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::Interrupts;
use crate::progress::Progress;
use crate::project::Project;
use crate::{output, render, request};

pub(crate) fn run(args: &EventCommand) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let event = request::event(&args.event, project.root())?;
    let system = builder(&project, args)?.lend_runtime().build();
    if !args.event.no_hooks
        && let Err(failure) = Project::require_modules(&system)
    {
        if args.event.json {
            output::json(&outcome_document(&unguarded(&system, &event)))?;
        }
        return Err(failure);
    }
    let subject = render::outcome::subject(&event);
    let runtime = super::runtime()?;
    let exit = runtime.block_on(async {
        let (mut outcome, signal) = fire(&system, event).await?;
        outcome.report_loading(&system.snapshot());
        let printed = if args.event.json {
            output::json(&outcome_document(&outcome))
        } else {
            output::text(&render::outcome::report(&outcome, &subject, &project.places))
        };
        // Whatever came of printing, processes that have to end are waited for.
        system.shutdown().await;
        printed?;
        Ok(signal.map_or_else(|| exit_of(&outcome), Exit::Signalled))
    });
    // The process ends now, and the system takes everything back at once; piece by piece somebody would wait for it.
    std::mem::forget((system, runtime));
    exit
}

/// The outcome of an event that is not fired because a guard is missing: programs that read it must not go on.
fn unguarded(system: &HookSystem, event: &Event) -> Outcome {
    let mut outcome = Outcome::untouched(event.kind());
    if event.kind().spec().is_gating() {
        outcome.effects = Effects::deny("a module that was named with `--hook` cannot be loaded");
    }
    outcome.report_loading(&system.snapshot());
    outcome
}

/// What the options of `fire` and `explain` describe.
pub(super) fn builder(project: &Project, args: &EventCommand) -> Result<Builder> {
    let EventArgs { dialects, no_hooks, .. } = &args.event;
    let mut builder = project.builder(&args.project)?;
    if *no_hooks {
        builder = builder.hooks_off("`--no-hooks` was given");
    }
    if !dialects.is_empty() {
        builder = builder.only_dialects(dialects.clone());
    }
    Ok(builder)
}

/// Fires the event. A signal cancels the hooks, and the outcome says so.
async fn fire(system: &HookSystem, event: Event) -> Result<(Outcome, Option<u8>)> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })?;
    let mut progress = Progress::of(system);
    let mut signal = None;
    let mut fire = pin!(system.fire_with(event, FireOptions::new().wait_for_all()));
    let outcome = loop {
        tokio::select! {
            outcome = &mut fire => break outcome,
            number = interrupts.next(), if signal.is_none() => {
                signal = Some(number.number());
                fire.cancel();
            }
            () = progress.due() => progress.draw(),
        }
    };
    progress.erase();
    Ok((outcome, signal))
}

/// The exit status that scripts rely on.
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
