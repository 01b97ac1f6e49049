//! Executes one request: opens its project, waits for a slot, fires the event and makes the response. Reading and writing
//! messages is done elsewhere.

use std::sync::Arc;
use std::time::Instant;

use hookrail::host::{FireId, Notification, Notifications};
use hookrail::{Event, FireOptions, HookSystem, Outcome};

use crate::bus_core::{BusCore, WithoutHooks};
use crate::configuration::Readiness;
use crate::error::{BusError, ErrorCode};
use crate::event::{MissingFields, find_kind, make_event};
use crate::log;
use crate::message::FromServer;
use crate::outbox::Outbox;
use crate::payload::{Lifecycle, Phase, Request, Response, WaitFor};
use crate::report::HookReport;

/// Where the progress of a request is reported, and under which id.
pub(crate) struct Progress {
    pub(crate) outbox: Outbox,
    pub(crate) correlation_id: String,
}

/// Executes a request. Dropping the future ends its hooks.
pub(crate) async fn execute(
    core: Arc<BusCore>,
    request: Request,
    correlation_id: String,
    default_session: Arc<str>,
    progress: Option<Progress>,
) -> Response {
    let arrived = Instant::now();
    let wait = request.wait;
    let (project, event) = match prepare_event(&core, request, &correlation_id).await {
        Ok(prepared) => prepared,
        Err(error) => return Response::refused(correlation_id, error),
    };
    core.metrics.requested(event.kind());
    let request_log = log::RequestLog::new(&correlation_id, &event, &project.directory);
    // Requests without a session share the default session of their connection.
    let session = if event.session_id().is_empty() { default_session } else { event.session_id().into() };
    report_progress(progress.as_ref(), || (Phase::Queued, None, None, None));
    let slot = core.schedule.acquire_slot(&session).await;
    let queued = arrived.elapsed();
    let started = Instant::now();
    let mut outcome = fire(&project.system, event, wait, progress.as_ref()).await;
    drop(slot);
    let snapshot = project.system.snapshot();
    log::executed(&request_log, &outcome, snapshot.diagnostics());
    // A client cannot see the configuration, so the answer reports which parts of it are not in force.
    outcome.report_loading(&snapshot);
    let took = started.elapsed();
    core.metrics.executed(&outcome, queued, took);
    if crate::configuration::is_system_refusal(outcome.refusal) {
        // An error, so that a client that only checks `success` does not take the operation for allowed.
        let reason = outcome.effects.reason.unwrap_or_else(|| "the system configuration cannot be used".to_owned());
        return Response::refused(correlation_id, BusError::new(ErrorCode::SystemUnusable, reason));
    }
    Response {
        correlation_id,
        result: Ok(HookReport::from_outcome(outcome)),
        queued,
        took,
        truncated: false,
        record: None,
    }
}

async fn prepare_event(
    core: &Arc<BusCore>,
    mut request: Request,
    correlation_id: &str,
) -> Result<(crate::projects::Lease, Event), BusError> {
    // Checked first, so that an unknown event does not open a project.
    find_kind(&request.event_name)?;
    let caller = request.caller.take();
    // A caller is answered as it would answer itself, also about an event that lacks a field.
    let missing = if caller.is_some() { MissingFields::Allowed } else { MissingFields::Refused };
    let project = core.projects.lease(request.project.as_deref(), caller).await?;
    require_hooks(core, &project.system)?;
    let event = make_event(request, &project.directory, missing)?;
    // A caller records what it told its own host, also if it did not wait for the answer, so it has to know the name.
    let event = if missing == MissingFields::Allowed { event.recorded_as(correlation_id) } else { event };
    Ok((project, event))
}

/// Refuses to answer for hooks that are not there, if this server is one that others rely on.
fn require_hooks(core: &BusCore, system: &HookSystem) -> Result<(), BusError> {
    if core.without_hooks == WithoutHooks::Answered {
        return Ok(());
    }
    match Readiness::of(system) {
        Readiness::Ready => Ok(()),
        missing @ (Readiness::NoHooks | Readiness::Unusable(_)) => {
            Err(BusError::new(ErrorCode::InternalError, format!("this server cannot answer for its hooks: {missing}")))
        }
    }
}

async fn fire(system: &HookSystem, event: Event, wait: WaitFor, progress: Option<&Progress>) -> Outcome {
    // Subscribed before the event is fired, so that no notification is missed.
    let mut notifications = progress.map(|_| system.subscribe());
    let mut fire = match wait {
        WaitFor::All => system.fire_with(event, FireOptions::new().wait_for_all()),
        WaitFor::Answers => system.fire(event),
    };
    let (Some(progress), Some(notifications)) = (progress, notifications.as_mut()) else { return fire.await };
    let id = fire.id();
    let outcome = loop {
        tokio::select! {
            biased;
            () = forward_next(id, notifications, progress) => {}
            outcome = &mut fire => break outcome,
        }
    };
    // Notifications from before the outcome are sent before the answer.
    while let Some(notification) = notifications.try_next() {
        forward_notification(id, notification, progress);
    }
    outcome
}

/// Forwards the next notification. If there will be none, it waits forever, so that the caller waits for the outcome alone.
async fn forward_next(id: Option<FireId>, notifications: &mut Notifications, progress: &Progress) {
    match notifications.next().await {
        Some(notification) => forward_notification(id, notification, progress),
        None => std::future::pending().await,
    }
}

/// Reports a notification if it belongs to this event. The subscription receives those of all events of the system.
fn forward_notification(id: Option<FireId>, notification: Notification, progress: &Progress) {
    let progress = Some(progress);
    match notification {
        Notification::Planned { fire, hooks, .. } if Some(fire) == id => {
            let count = u64::try_from(hooks.len()).unwrap_or(u64::MAX);
            report_progress(progress, || (Phase::Planned, None, Some(count), None));
        }
        Notification::Started { fire, hook, .. } if Some(fire) == id => {
            report_progress(progress, || (Phase::HookStarted, Some(hook.label.to_string()), None, None));
        }
        Notification::Ended { fire, hook, duration, .. } if Some(fire) == id => {
            report_progress(progress, || (Phase::HookEnded, Some(hook.label.to_string()), None, Some(duration)));
        }
        _ => {}
    }
}

/// The phase, the hook, the number of hooks and the duration of a progress report.
type ProgressFields = (Phase, Option<String>, Option<u64>, Option<std::time::Duration>);

fn report_progress(progress: Option<&Progress>, fields: impl FnOnce() -> ProgressFields) {
    let Some(progress) = progress else { return };
    let (phase, hook, hooks, duration) = fields();
    let correlation_id = progress.correlation_id.clone();
    progress.outbox.progress(FromServer::Lifecycle(Lifecycle { correlation_id, phase, hook, hooks, duration }));
}
