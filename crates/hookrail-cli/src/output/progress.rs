//! One line on the terminal that says what a command waits for. Nothing is shown with `--quiet` or if standard error is not
//! a terminal.

use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use hookrail::HookSystem;
use hookrail::host::{Notification, Notifications};
use hookrail::process::RunId;
use hookrail_app::text::short;

use crate::render::verbosity;

/// The time before the line is first shown.
const FIRST_SHOWN_AFTER: Duration = Duration::from_secs(1);
/// The time between two updates of the line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);
const ERASE_LINE: &str = "\r\x1b[2K";

/// Whether a line can be drawn on standard error, and erased again.
fn is_visible() -> bool {
    !verbosity::is_quiet()
        && std::io::stderr().is_terminal()
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A line that counts.
pub(crate) struct CounterLine {
    is_visible: bool,
    is_drawn: bool,
}

impl CounterLine {
    pub(crate) fn new() -> Self {
        Self { is_visible: is_visible(), is_drawn: false }
    }

    /// Draws the line in the place of what it was.
    pub(crate) fn draw(&mut self, text: &str) {
        if self.is_visible {
            self.is_drawn = true;
            // A terminal that cannot be written to shows no progress.
            let _ = write!(std::io::stderr(), "{ERASE_LINE}{text}");
        }
    }

    /// Erases the line if it is shown.
    pub(crate) fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(std::io::stderr(), "{ERASE_LINE}");
        }
    }
}

/// The line of one fired event, which names the hook for which the command waits, with what the hook says that it does. It is not
/// shown for the first second.
pub(crate) struct ProgressLine {
    /// The notifications of the hook system; none if the line is not shown.
    notifications: Option<Notifications>,
    running: Vec<(RunId, String, Instant)>,
    began: Instant,
    shown: bool,
}

impl ProgressLine {
    /// Subscribes to the notifications of a hook system, if standard error is a terminal that can erase a line.
    pub(crate) fn watch(system: &HookSystem) -> Self {
        let notifications = is_visible().then(|| system.subscribe());
        Self { notifications, running: Vec::new(), began: Instant::now(), shown: false }
    }

    /// Waits until the line must be drawn again. Never returns if the line is not shown.
    pub(crate) async fn wait_for_update(&self) {
        match &self.notifications {
            Some(_) => tokio::time::sleep(UPDATE_INTERVAL).await,
            None => std::future::pending().await,
        }
    }

    /// Draws the line.
    pub(crate) fn draw(&mut self) {
        let Some(notifications) = &mut self.notifications else { return };
        while let Some(notification) = notifications.try_next() {
            match notification {
                Notification::Started { run, hook, .. } => {
                    let says = hook.status_message.as_deref().map(|text| format!(" ({})", short(text, 40)));
                    let name = format!("{}{}", short(&hook.label, 40), says.unwrap_or_default());
                    self.running.push((run, name, Instant::now()));
                }
                Notification::Ended { run, .. } => self.running.retain(|(id, ..)| *id != run),
                _ => {}
            }
        }
        if self.began.elapsed() < FIRST_SHOWN_AFTER {
            return;
        }
        let Some((_, name, since)) = self.running.first() else { return };
        let others = match self.running.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        self.shown = true;
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "{ERASE_LINE}running hook {name}{others} … {} s", since.elapsed().as_secs());
        let _ = stderr.flush();
    }

    /// Erases the line if it is shown.
    pub(crate) fn erase(&mut self) {
        if std::mem::take(&mut self.shown) {
            let mut stderr = std::io::stderr().lock();
            let _ = stderr.write_all(ERASE_LINE.as_bytes());
            let _ = stderr.flush();
        }
    }
}
