//! Watches hooks from outside of their events: shows the ones that run for longer than a moment, and reports the ones that
//! fail after their event was over.

use std::future::pending;
use std::time::Duration;

use hookrail::event::Stage;
use hookrail::host::{FireId, Notification, Notifications};
use hookrail::process::{RawEnd, RunId};
use hookrail::{Code, Hook, HookSystem};
use tokio::time::Instant;

use super::{View, ViewEvent};
use crate::text::hook_name;

/// The time after which a running hook is shown.
const SLOW_AFTER: Duration = Duration::from_millis(300);

struct Running {
    run: (FireId, RunId),
    name: String,
    status_message: Option<String>,
    due: Instant,
    shown: bool,
}

/// The hooks of a hook system as they start and end. It keeps what happens while nothing shows it.
pub(crate) struct HookWatch {
    hooks: HookSystem,
    notifications: Notifications,
    running: Vec<Running>,
}

impl HookWatch {
    pub(crate) fn new(hooks: &HookSystem) -> Self {
        Self { hooks: hooks.clone(), notifications: hooks.subscribe(), running: Vec::new() }
    }

    /// Shows slow hooks and failed ones until this future is dropped.
    pub(crate) async fn show(&mut self, view: &dyn View) {
        loop {
            let due = self.running.iter().filter(|one| !one.shown).map(|one| one.due).min();
            let wait = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                happened = self.notifications.next() => match happened {
                    Some(happened) => self.show_notification(view, happened),
                    None => pending().await,
                },
                () = wait => self.show_slow(view),
            }
        }
    }

    /// Shows what has happened already.
    pub(crate) fn show_waiting(&mut self, view: &dyn View) {
        while let Some(happened) = self.notifications.try_next() {
            self.show_notification(view, happened);
        }
    }

    fn show_notification(&mut self, view: &dyn View, happened: Notification) {
        match happened {
            Notification::Started { fire, run, hook, .. } => self.running.push(Running {
                run: (fire, run),
                name: hook_name(&hook.label, self.hooks.project()),
                status_message: hook.status_message.as_deref().map(str::to_owned),
                due: Instant::now() + SLOW_AFTER,
                shown: false,
            }),
            Notification::Ended { fire, run, hook, how, .. } => {
                if let Some(at) = self.running.iter().position(|one| one.run == (fire, run)) {
                    let ended = self.running.swap_remove(at);
                    if ended.shown {
                        view.show(&ViewEvent::HookEnded { hook: &ended.name });
                    }
                }
                // Every other hook is in the receipt of its operation.
                if is_detached(&hook)
                    && let Some((code, what)) = failure(&how)
                {
                    let name = hook_name(&hook.label, self.hooks.project());
                    let event = hook.event.spec().column(hook.dialect).map_or(hook.event.name(), |column| column.name);
                    let text = format!("hook `{name}` {what}, in {event}");
                    view.show(&ViewEvent::Warning { code: Some(code.name()), text: &text });
                }
            }
            _ => {}
        }
    }

    fn show_slow(&mut self, view: &dyn View) {
        let now = Instant::now();
        for one in self.running.iter_mut().filter(|one| !one.shown && one.due <= now) {
            one.shown = true;
            view.show(&ViewEvent::HookRunning { hook: &one.name, status_message: one.status_message.as_deref() });
        }
    }
}

/// Returns whether no event waits for this hook.
pub(crate) fn is_detached(hook: &Hook) -> bool {
    hook.event.spec().column(hook.dialect).is_some_and(|column| column.stage == Stage::Detached)
}

/// Returns how a run failed. A run that was cancelled is reported by the shutdown that cancelled it.
fn failure(how: &RawEnd) -> Option<(Code, String)> {
    Some(match how {
        RawEnd::Exited(0) | RawEnd::Returned(_) | RawEnd::Decided(_) | RawEnd::Cancelled => return None,
        RawEnd::Exited(127) => (Code::CommandNotFound, "was not found (exit status 127)".to_owned()),
        RawEnd::Exited(126) => (Code::CommandNotRunnable, "cannot be executed (exit status 126)".to_owned()),
        RawEnd::Exited(status) => (Code::HookExited, format!("exited with status {status}")),
        RawEnd::Signalled(signal) => (Code::HookSignalled, format!("was ended by signal {signal}")),
        RawEnd::TimedOut(after) => {
            (Code::HookTimedOut, format!("was ended after its timeout of {} ms", after.as_millis()))
        }
        RawEnd::SpawnFailed(why) => (Code::SpawnFailed, format!("could not be started: {why}")),
        RawEnd::OutputLimit => (Code::OutputLimit, "wrote more to standard output than is read".to_owned()),
        RawEnd::Threw(message) => (Code::HookThrew, format!("threw: {message}")),
        RawEnd::OverLimit(limit) => (Code::HookLimit, format!("went over its limit: {limit}")),
        RawEnd::HeldBack => (Code::OutputHeld, "gave no answer while another process held its output".to_owned()),
        RawEnd::BrokeProtocol(why) => (Code::BadOutput, format!("gave no answer: {why}")),
        RawEnd::ContentChanged => {
            let what = "was edited since you trusted it and was not run; `hookrail trust diff` shows the change";
            (Code::TrustChanged, what.to_owned())
        }
        RawEnd::Missing(guard) => (Code::GuardMissing, guard.reason()),
        RawEnd::Unusable(why) => (Code::GuardUnusable, format!("cannot be used: {why}")),
        RawEnd::ValueRefused(why) => (Code::VariableUnsafe, format!("was not run: {why}")),
        _ => (Code::HookExited, "did not end well".to_owned()),
    })
}
