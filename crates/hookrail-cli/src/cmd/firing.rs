//! Firing one event until it has ended or a signal cancels it: the one mechanism behind `fire`, `try` and `dev`.

use std::pin::pin;

use hookrail::{Decision, Event, FireOptions, HookSystem, Outcome};
use hookrail_app::as_agent::{self, ToldAgent};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::fired_event::FiredEvent;
use hookrail_app::path_display::PathDisplay;
use hookrail_app::run_trace::TraceCollector;
use hookrail_bridge::AgentRequest;

use crate::cmd::exit::Exit;
use crate::output::progress::ProgressLine;
use crate::render;
use crate::render::outcome::Ending;
use hookrail_app::signals::{Interrupts, Signal};

/// How much is shown of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// How it ended.
    Summary,
    /// What it received and wrote as well.
    Everything,
}

/// Handles signals from now on.
pub(super) fn listen() -> Result<Interrupts> {
    Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })
}

/// How an event of a command ended.
pub(super) struct Fired {
    pub(super) event: FiredEvent,
    /// The signal that cancelled it.
    pub(super) signal: Option<Signal>,
    /// What the agent is told, if the event was fired as its bridge would.
    pub(super) told: Option<ToldAgent>,
}

/// Fires an event. A signal cancels the hooks.
pub(super) async fn fire(system: &HookSystem, event: Event, interrupts: &mut Interrupts, detail: Detail) -> Fired {
    let subject = render::outcome::subject(&event);
    let mut progress = ProgressLine::watch(system);
    let mut trace = (detail == Detail::Everything).then(|| TraceCollector::begin(system));
    let mut signal = None;
    let mut fire = pin!(system.fire_with(event, FireOptions::new().wait_for_all()));
    let outcome = loop {
        tokio::select! {
            outcome = &mut fire => break outcome,
            received = interrupts.next(), if signal.is_none() => {
                signal = Some(received);
                fire.cancel();
            }
            () = progress.wait_for_update() => progress.draw(),
        }
        if let Some(trace) = &mut trace {
            trace.collect();
        }
    };
    progress.erase();
    Fired { event: FiredEvent::new(subject, outcome, trace.map(TraceCollector::finish)), signal, told: None }
}

/// Fires the events of a bridge's request, and lays what the agent is told over their common outcome.
pub(super) async fn fire_as_agent(
    system: &HookSystem,
    request: &AgentRequest,
    interrupts: &mut Interrupts,
    detail: Detail,
) -> Fired {
    let mut outcomes = Vec::new();
    let mut all: Option<Fired> = None;
    for event in &request.events {
        let one = fire(system, event.clone(), interrupts, detail).await;
        outcomes.push(one.event.outcome.clone());
        let is_over = one.signal.is_some();
        all = Some(match all {
            Some(earlier) => Fired { event: earlier.event.joined(one.event), ..one },
            None => one,
        });
        if is_over {
            break;
        }
    }
    // A request of a bridge has at least one event.
    let mut all = match all {
        Some(all) => all,
        None => fire(system, Event::new(request.kind(), &request.cwd), interrupts, detail).await,
    };
    all.told = Some(as_agent::tell(request, &outcomes, &mut all.event.outcome));
    all
}

impl Fired {
    /// Renders the event for people.
    pub(super) fn report(&self, system: &HookSystem, places: &PathDisplay) -> String {
        let ending = if self.signal.is_some() { Ending::Interrupted } else { Ending::Complete };
        render::fire::report(&self.event, ending, system, places)
    }

    /// Returns the exit status. Scripts rely on it.
    pub(super) fn exit(&self) -> Exit {
        match self.signal {
            Some(signal) => Exit::Signalled(signal.number()),
            None => exit_of(&self.event.outcome),
        }
    }
}

/// Returns the exit status of an outcome.
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
