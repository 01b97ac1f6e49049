//! One line on the terminal about the hook that keeps everybody waiting. Nothing for the first second, and nothing
//! at all where standard error is not a terminal.

use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use hookrail::HookSystem;
use hookrail::host::{Notification, Notifications};
use hookrail::process::RunId;

use crate::render::text::short;

/// How long nobody needs to be told anything.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(250);
const ERASE_LINE: &str = "\r\x1b[2K";

pub(crate) struct Progress {
    /// What happens; none where nobody looks.
    news: Option<Notifications>,
    running: Vec<(RunId, String, Instant)>,
    began: Instant,
    shown: bool,
}

impl Progress {
    /// Watches a hook system from now on.
    pub(crate) fn of(system: &HookSystem) -> Self {
        let visible = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let news = visible.then(|| system.subscribe());
        Self { news, running: Vec::new(), began: Instant::now(), shown: false }
    }

    /// Waits until the line has to be drawn anew; for ever where there is none.
    pub(crate) async fn due(&self) {
        match &self.news {
            Some(_) => tokio::time::sleep(BETWEEN).await,
            None => std::future::pending().await,
        }
    }

    /// Draws the line.
    pub(crate) fn draw(&mut self) {
        let Some(news) = &mut self.news else { return };
        while let Some(happened) = news.try_next() {
            match happened {
                Notification::Started { run, hook, .. } => {
                    self.running.push((run, short(&hook.label, 40), Instant::now()));
                }
                Notification::Ended { run, .. } => self.running.retain(|(id, ..)| *id != run),
                _ => {}
            }
        }
        if self.began.elapsed() < PATIENCE {
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

    /// Takes the line away.
    pub(crate) fn erase(&mut self) {
        if std::mem::take(&mut self.shown) {
            let mut stderr = std::io::stderr().lock();
            let _ = stderr.write_all(ERASE_LINE.as_bytes());
            let _ = stderr.flush();
        }
    }
}
