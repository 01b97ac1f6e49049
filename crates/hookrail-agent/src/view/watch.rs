//! Shows the name of a hook that runs for longer than a moment.

use std::future::pending;
use std::time::Duration;

use hookrail::HookSystem;
use hookrail::host::{FireId, Notification};
use hookrail::process::RunId;
use tokio::time::Instant;

use super::{View, ViewEvent};

/// The time after which a running hook is shown.
const SLOW_AFTER: Duration = Duration::from_millis(300);

struct Running {
    run: (FireId, RunId),
    name: String,
    due: Instant,
    shown: bool,
}

/// Shows slow hooks of a hook system until this future is dropped.
pub(crate) async fn watch(hooks: &HookSystem, view: &dyn View) {
    let mut news = hooks.subscribe();
    let mut running: Vec<Running> = Vec::new();
    loop {
        let due = running.iter().filter(|one| !one.shown).map(|one| one.due).min();
        let wait = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => pending().await,
            }
        };
        tokio::select! {
            happened = news.next() => match happened {
                Some(Notification::Started { fire, run, hook }) => {
                    let due = Instant::now() + SLOW_AFTER;
                    running.push(Running { run: (fire, run), name: hook.label.to_string(), due, shown: false });
                }
                Some(Notification::Ended { fire, run, .. }) => {
                    if let Some(at) = running.iter().position(|one| one.run == (fire, run)) {
                        let ended = running.swap_remove(at);
                        if ended.shown {
                            view.show(&ViewEvent::HookEnded { hook: &ended.name });
                        }
                    }
                }
                Some(_) => {}
                None => pending().await,
            },
            () = wait => {
                let now = Instant::now();
                for one in running.iter_mut().filter(|one| !one.shown && one.due <= now) {
                    one.shown = true;
                    view.show(&ViewEvent::HookRunning { hook: &one.name });
                }
            }
        }
    }
}
