//! Says which hook keeps everybody waiting, when one does for longer than a moment.

use std::future::pending;
use std::time::Duration;

use hookrail::HookSystem;
use hookrail::host::{FireId, Notification};
use hookrail::process::RunId;
use tokio::time::Instant;

use super::{Shown, View};

/// How long nobody needs to be told anything.
const PATIENCE: Duration = Duration::from_millis(300);

struct Running {
    run: (FireId, RunId),
    name: String,
    due: Instant,
    shown: bool,
}

/// Watches a hook system until it is dropped.
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
                    let due = Instant::now() + PATIENCE;
                    running.push(Running { run: (fire, run), name: hook.label.to_string(), due, shown: false });
                }
                Some(Notification::Ended { fire, run, .. }) => {
                    if let Some(at) = running.iter().position(|one| one.run == (fire, run)) {
                        let ended = running.swap_remove(at);
                        if ended.shown {
                            view.show(&Shown::HookEnded { hook: &ended.name });
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
                    view.show(&Shown::HookRunning { hook: &one.name });
                }
            }
        }
    }
}
