//! Firing one event and showing what came of it: the one mechanism behind `fire`, `try` and `dev`.

use std::pin::pin;

use hookrail::plan::SkipReason;
use hookrail::{Decision, Diagnostic, Event, FireOptions, HookSystem, Outcome};
use hookrail_app::event_draft::FieldReport;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::lint::{MatcherFix, explain_failures, matcher_fixes, misnamed_event, with_advice};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::count_by_level;
use hookrail_bridge::AgentRequest;

use super::as_agent::{self, ToldAgent};
use crate::cmd::exit::Exit;
use crate::output::progress::ProgressLine;
use crate::render;
use crate::render::outcome::{Ending, OutcomeReport};
use crate::render::trace::{RunTrace, TraceCollector};
use hookrail_app::signals::{Interrupts, Signal};

/// How much is shown of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// How it ended.
    Summary,
    /// What it received and wrote as well.
    Everything,
}

/// An event that was fired.
pub(super) struct FiredEvent {
    pub(super) outcome: Outcome,
    /// The event with its subject.
    subject: String,
    /// The signal that cancelled the event.
    pub(super) signal: Option<Signal>,
    trace: Option<RunTrace>,
    /// Problems of the configuration, in words, that the outcome does not name.
    configuration: Option<String>,
}

/// Handles signals from now on.
pub(super) fn listen() -> Result<Interrupts> {
    Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })
}

/// Fires an event. A signal cancels the hooks.
pub(super) async fn fire(system: &HookSystem, event: Event, interrupts: &mut Interrupts, detail: Detail) -> FiredEvent {
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
    FiredEvent { outcome, subject, signal, trace: trace.map(TraceCollector::finish), configuration: None }
}

/// Fires the events of a bridge's request, and lays what the agent is told over their common outcome.
pub(super) async fn fire_as_agent(
    system: &HookSystem,
    request: &AgentRequest,
    interrupts: &mut Interrupts,
    detail: Detail,
) -> (FiredEvent, Option<ToldAgent>) {
    let mut outcomes = Vec::new();
    let mut all: Option<FiredEvent> = None;
    for event in &request.events {
        let one = fire(system, event.clone(), interrupts, detail).await;
        outcomes.push(one.outcome.clone());
        let is_over = one.signal.is_some();
        all = Some(match all {
            Some(earlier) => earlier.joined(one),
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
    let told = as_agent::tell(request, &outcomes, &mut all.outcome);
    (all, Some(told))
}

impl FiredEvent {
    /// One event of this and another about the same call, such as two files of one patch: the stricter decision stands.
    fn joined(self, other: Self) -> Self {
        let (mut first, second) = match other.outcome.effects.decision > self.outcome.effects.decision {
            true => (other, self),
            false => (self, other),
        };
        first.outcome.runs.extend(second.outcome.runs);
        for finding in second.outcome.diagnostics {
            if !first.outcome.diagnostics.contains(&finding) {
                first.outcome.diagnostics.push(finding);
            }
        }
        first.signal = first.signal.or(second.signal);
        first
    }

    /// Adds the causes of failures, and what there is to report about the event's fields, to the diagnostics of the
    /// outcome.
    pub(super) fn explain(&mut self, system: &HookSystem, fields: FieldReport) {
        explain_failures(system, &mut self.outcome);
        let findings = fields.into_findings(self.outcome.skipped.iter().map(|skipped| skipped.why));
        self.outcome.diagnostics.extend(findings);
    }

    /// Adds the usual fix to diagnostics that have none. Nothing is added to the outcome afterwards.
    pub(super) fn advise(&mut self, system: &HookSystem) {
        self.configuration = count_by_level(&self.new_findings(system));
        let found = std::mem::take(&mut self.outcome.diagnostics);
        self.outcome.diagnostics = found.into_iter().map(with_advice).collect();
    }

    /// Returns what loading found and the outcome does not say. All of it with every event would hide the outcome.
    fn new_findings(&self, system: &HookSystem) -> Vec<Diagnostic> {
        let known = &self.outcome.diagnostics;
        system.snapshot().diagnostics().iter().filter(|finding| !known.contains(finding)).cloned().collect()
    }

    /// Shows everything about the runs of this hook only, if one is named.
    pub(super) fn show_only(&mut self, hook: Option<&str>) {
        if let (Some(trace), Some(hook)) = (&mut self.trace, hook) {
            trace.show_only(hook);
        }
    }

    /// Renders the event for people.
    pub(super) fn report(&self, system: &HookSystem, places: &PathDisplay) -> String {
        let ending = if self.signal.is_some() { Ending::Interrupted } else { Ending::Complete };
        let report = OutcomeReport {
            outcome: &self.outcome,
            subject: &self.subject,
            ending,
            trace: self.trace.as_ref(),
            fixes: &self.matcher_fixes(system),
            places,
        };
        let mut text = report.render();
        if crate::render::verbosity::is_quiet() {
            return text;
        }
        for finding in system.snapshot().diagnostics() {
            if let Some(fix) = misnamed_event(finding, self.outcome.event) {
                let place = finding.location.as_ref().map(|place| places.location(place)).unwrap_or_default();
                text.push_str(&format!("\n{place}: {}\n", hookrail_app::text::one_line(&fix)));
            }
        }
        if let Some(counts) = &self.configuration {
            text.push_str(&format!("\nconfiguration: {counts}; run `hookrail check`\n"));
        }
        text
    }

    fn matcher_fixes(&self, system: &HookSystem) -> Vec<MatcherFix> {
        // The lints read files, so they look only if there is something to look for.
        match self.outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Matcher) {
            true => matcher_fixes(system),
            false => Vec::new(),
        }
    }

    /// Returns the exit status. Scripts rely on it.
    pub(super) fn exit(&self) -> Exit {
        match self.signal {
            Some(signal) => Exit::Signalled(signal.number()),
            None => exit_of(&self.outcome),
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
