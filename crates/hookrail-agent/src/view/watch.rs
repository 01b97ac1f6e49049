//! Watches hooks from outside of their events: shows the ones that run for longer than a moment, and reports the ones that
//! fail after their event was over.

use std::future::pending;
use std::time::Duration;

use hookrail::HookSystem;
use hookrail::host::{FireId, Notification, Notifications};
use hookrail::process::RunId;
use tokio::time::Instant;

use super::{View, ViewEvent};
use crate::text::{finding_text, hook_name};

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
            Notification::Ended { fire, run, hook, findings, .. } => {
                if let Some(at) = self.running.iter().position(|one| one.run == (fire, run)) {
                    let ended = self.running.swap_remove(at);
                    if ended.shown {
                        view.show(&ViewEvent::HookEnded { hook: &ended.name });
                    }
                }
                let event = hook.event.spec().column(hook.dialect).map_or(hook.event.name(), |column| column.name);
                for finding in findings {
                    let text = format!("in {event}, {}", finding_text(&finding, self.hooks.project()));
                    view.show(&ViewEvent::Warning { code: Some(finding.code.name()), text: &text });
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
