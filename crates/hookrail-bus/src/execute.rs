//! One request from its arrival to its answer.

use std::sync::Arc;
use std::time::Instant;

use hookrail::host::{FireId, Notification, Notifications};
use hookrail::outcome::Refusal;
use hookrail::{Event, FireOptions, HookSystem, Outcome};

use crate::bus::Core;
use crate::error::{BusError, ErrorCode};
use crate::event::{event, kind_of};
use crate::log;
use crate::message::{FromServer, Lifecycle, Phase, Request, Response, Wait};
use crate::outbox::Outbox;
use crate::report::Report;

/// Where to report what happens to a request.
pub(crate) struct Progress {
    pub(crate) outbox: Outbox,
    pub(crate) correlation_id: String,
}

/// Executes a request. Dropping the future ends its hooks.
pub(crate) async fn execute(
    core: Arc<Core>,
    request: Request,
    correlation_id: String,
    stranger: Arc<str>,
    progress: Option<Progress>,
) -> Response {
    let arrived = Instant::now();
    let wait = request.wait;
    let (project, event) = match prepare(&core, request).await {
        Ok(prepared) => prepared,
        Err(error) => return Response::refused(correlation_id, error),
    };
    core.metrics.requested(event.kind());
    let about = log::About::new(&correlation_id, &event, &project.directory);
    // Requests without a session share one turn per connection.
    let session = if event.session_id().is_empty() { stranger } else { event.session_id().into() };
    tell(progress.as_ref(), || (Phase::Queued, None, None, None));
    let place = core.schedule.place(&session).await;
    let queued = arrived.elapsed();
    let started = Instant::now();
    let mut outcome = fire(&project.system, event, wait, progress.as_ref()).await;
    drop(place);
    let snapshot = project.system.snapshot();
    log::executed(&about, &outcome, snapshot.diagnostics());
    // A client that cannot see the configuration has to learn from the answer that a part of it is not in force.
    outcome.report_loading(&snapshot);
    let took = started.elapsed();
    core.metrics.executed(&outcome, queued, took);
    if outcome.refusal == Some(Refusal::SystemUnusable) {
        // A client that only looks at `success` must not take this for a yes either.
        let reason = outcome.effects.reason.unwrap_or_else(|| "the system configuration cannot be used".to_owned());
        return Response::refused(correlation_id, BusError::new(ErrorCode::SystemUnusable, reason));
    }
    Response { correlation_id, result: Ok(Report::of(outcome)), queued, took, truncated: false }
}

async fn prepare(core: &Arc<Core>, request: Request) -> Result<(crate::projects::Lease, Event), BusError> {
    // An event that does not exist is worth no project.
    kind_of(&request.event_name)?;
    let project = core.projects.lease(request.project.as_deref()).await?;
    let event = event(request, &project.directory)?;
    Ok((project, event))
}

async fn fire(system: &HookSystem, event: Event, wait: Wait, progress: Option<&Progress>) -> Outcome {
    // The subscription must exist before there is something to report.
    let mut heard = progress.map(|_| system.subscribe());
    let mut fire = match wait {
        Wait::All => system.fire_with(event, FireOptions::new().wait_for_all()),
        Wait::Answers => system.fire(event),
    };
    let (Some(progress), Some(heard)) = (progress, heard.as_mut()) else { return fire.await };
    let id = fire.id();
    let outcome = loop {
        tokio::select! {
            biased;
            () = hear(id, heard, progress) => {}
            outcome = &mut fire => break outcome,
        }
    };
    // What was told before the outcome is passed on before the answer.
    while let Some(notification) = heard.try_next() {
        pass_on(id, notification, progress);
    }
    outcome
}

async fn hear(id: Option<FireId>, heard: &mut Notifications, progress: &Progress) {
    match heard.next().await {
        Some(notification) => pass_on(id, notification, progress),
        None => std::future::pending().await,
    }
}

fn pass_on(id: Option<FireId>, notification: Notification, progress: &Progress) {
    let progress = Some(progress);
    match notification {
        Notification::Planned { fire, hooks, .. } if Some(fire) == id => {
            let count = u64::try_from(hooks.len()).unwrap_or(u64::MAX);
            tell(progress, || (Phase::Planned, None, Some(count), None));
        }
        Notification::Started { fire, hook, .. } if Some(fire) == id => {
            tell(progress, || (Phase::HookStarted, Some(hook.label.to_string()), None, None));
        }
        Notification::Ended { fire, hook, duration, .. } if Some(fire) == id => {
            tell(progress, || (Phase::HookEnded, Some(hook.label.to_string()), None, Some(duration)));
        }
        _ => {}
    }
}

type News = (Phase, Option<String>, Option<u64>, Option<std::time::Duration>);

fn tell(progress: Option<&Progress>, news: impl FnOnce() -> News) {
    let Some(progress) = progress else { return };
    let (phase, hook, hooks, duration) = news();
    let correlation_id = progress.correlation_id.clone();
    progress.outbox.progress(FromServer::Lifecycle(Lifecycle { correlation_id, phase, hook, hooks, duration }));
}
