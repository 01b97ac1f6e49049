//! `hookrail dev`: fires an event again whenever a hook is saved, and shows everything about the runs and what has changed.
//!
//! One hook system lives as long as the command, so trust holds as it does in an agent: a hook that is not granted, or that
//! has changed since, does not run. Nothing is recorded.

mod keys;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use hookrail::event::timestamp;
use hookrail::trust::Fingerprint;
use hookrail::{Diagnostic, HookSystem, Level, Outcome};
use hookrail_app::as_agent::{self, ToldAgent};
use hookrail_app::author::{ChosenEvent, EventWish, choose_event};
use hookrail_app::failure::Result;
use hookrail_app::project::Project;
use hookrail_bridge::AgentRequest;
use hookrail_bus::PathWatcher;

use super::firing::{self, Detail};
use crate::args::DevArgs;
use crate::cmd::exit::Exit;
use crate::cmd::trust_review::review_hooks;
use crate::output::{self, Reader};
use crate::render;
use crate::render::outcome::plain_verdict;
use crate::render::style::{BAD, GOOD, HEADING, PLAIN, QUIET, paint};
use crate::render::verbosity;
use hookrail_app::signals::{Interrupts, Signal};
use hookrail_app::text_diff::{DiffSign, difference};
use keys::{Key, Keys};

/// How often in a row an event is fired again because files changed while its hooks ran. A hook that writes to a file that is
/// watched would otherwise start itself without end.
const MOST_IN_A_ROW: usize = 3;

pub(crate) fn run(args: &DevArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let (hook, event) = (args.name.as_deref(), args.event.as_deref());
    let wish = EventWish { hook, event, fields: args.sample.fields()?, agent: args.agent };
    let (system, chosen) = choose_event(wish, &project, &args.project)?;
    let asked = args.agent.map(|agent| as_agent::request_of(agent, &chosen.event)).transpose()?;
    hookrail_app::runtime::runtime()?.block_on(async {
        let mut session = Session {
            args,
            project,
            system,
            chosen,
            asked,
            interrupts: firing::listen()?,
            keys: if args.once { Keys::none() } else { Keys::of_terminal() },
            watcher: PathWatcher::new(),
            before: None,
        };
        let ended = session.run().await;
        let findings = session.system.shutdown().await;
        output::warnings(&render::diagnostic::all(&findings, &session.project.places));
        ended
    })
}

/// What made the event fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Start,
    /// A file was saved, or a hook was granted.
    Change,
    /// The user wants to see it again.
    Key,
}

/// How the command goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Fire(Cause),
    Wait,
    End(Exit),
}

struct Session<'a> {
    args: &'a DevArgs,
    project: Project,
    system: HookSystem,
    chosen: ChosenEvent,
    /// The request of the bridge that fires it, if one does.
    asked: Option<AgentRequest>,
    interrupts: Interrupts,
    keys: Keys,
    watcher: PathWatcher,
    /// What the last event came to, in words, without times.
    before: Option<String>,
}

impl Session<'_> {
    async fn run(&mut self) -> Result<Exit> {
        if !verbosity::is_quiet() {
            output::text(&self.introduction())?;
        }
        let mut next = Next::Fire(Cause::Start);
        let mut in_a_row = 0;
        loop {
            next = match next {
                Next::End(exit) => return Ok(exit),
                Next::Wait => {
                    in_a_row = 0;
                    self.wait().await?
                }
                Next::Fire(cause) => {
                    // The paths are followed before they are read, so that no change is missed.
                    self.watcher.follow(self.watched_paths());
                    let next = self.show(cause).await?;
                    let has_changed = self.watcher.has_changed();
                    self.watcher.follow(self.watched_paths());
                    in_a_row += 1;
                    match next {
                        Next::Wait if self.args.once => Next::End(Exit::Fine),
                        Next::Wait if has_changed && in_a_row <= MOST_IN_A_ROW => Next::Fire(Cause::Change),
                        next => next,
                    }
                }
            };
        }
    }

    /// Waits for a change, a key or a signal.
    async fn wait(&mut self) -> Result<Next> {
        tokio::select! {
            () = self.watcher.wait_for_change() => Ok(Next::Fire(Cause::Change)),
            signal = self.interrupts.next() => Ok(Next::End(exit_of(signal))),
            key = self.keys.next() => match key {
                Key::Fire => Ok(Next::Fire(Cause::Key)),
                Key::End => Ok(Next::End(Exit::Fine)),
                Key::Review => {
                    self.system.reload();
                    review_hooks(&self.project, &self.system)?;
                    Ok(Next::Fire(Cause::Change))
                }
            },
        }
    }

    /// Loads what has changed, fires the event, and shows what came of it.
    async fn show(&mut self, cause: Cause) -> Result<Next> {
        let found = if cause == Cause::Start { Vec::new() } else { self.system.reload() };
        let heading = self.heading(cause);
        if !self.system.configuration().kept.is_empty() {
            // The last good version is in force. Running it would show a verdict that is not that of the file.
            let problems: Vec<Diagnostic> = found.into_iter().filter(|found| found.level == Level::Error).collect();
            let shown = render::diagnostic::all(&problems, &self.project.places);
            let text = format!("{heading}{}\n\n{shown}", paint(BAD, "not fired: what was saved cannot be used"));
            return self.print(&text);
        }
        let (system, interrupts) = (&self.system, &mut self.interrupts);
        let mut fired = match &self.asked {
            Some(asked) => firing::fire_as_agent(system, asked, interrupts, Detail::Everything).await,
            None => firing::fire(system, self.chosen.event.clone(), interrupts, Detail::Everything).await,
        };
        fired.event.explain(&self.system, self.chosen.fields.clone());
        fired.event.advise(&self.system);
        fired.event.show_only(self.chosen.hook.as_deref());
        let mut text = format!("{heading}{}", fired.report(&self.system, &self.project.places));
        if let Some(signal) = fired.signal {
            output::text(&text)?;
            return Ok(Next::End(exit_of(signal)));
        }
        text.push_str(&fired.told.as_ref().map(ToldAgent::report).unwrap_or_default());
        text.push_str(&self.compared(&fired.event.outcome));
        self.print(&text)
    }

    fn print(&self, text: &str) -> Result<Next> {
        match output::text_to_reader(&format!("{text}\n"))? {
            Reader::Present => Ok(Next::Wait),
            Reader::Gone => Ok(Next::End(Exit::Fine)),
        }
    }

    /// Says what differs from the outcome before; nothing for the first one.
    fn compared(&mut self, outcome: &Outcome) -> String {
        let now = plain_verdict(outcome);
        let Some(before) = self.before.replace(now.clone()) else { return String::new() };
        let rows = difference(&before, &now);
        if rows.is_empty() {
            return format!("\n{}\n", paint(QUIET, "the same verdict as before"));
        }
        let mut text = format!("\n{}\n", paint(HEADING, "changed since the last run"));
        for row in rows.iter().filter(|row| row.sign != DiffSign::Place) {
            let style = match row.sign {
                DiffSign::Removed => BAD,
                DiffSign::Added => GOOD,
                DiffSign::Same | DiffSign::Place => PLAIN,
            };
            let _ = writeln!(text, "  {}", paint(style, row));
        }
        text
    }

    fn introduction(&self) -> String {
        let ChosenEvent { event, source, .. } = &self.chosen;
        let mut text = format!("{}  {source}\n", paint(HEADING, render::outcome::subject(event)));
        if !self.args.once {
            let keys = match self.keys {
                Keys::Terminal { .. } => "Enter fires again, `t` and Enter reviews changes, Ctrl-C ends",
                Keys::Missing => "Ctrl-C ends",
            };
            let _ = writeln!(text, "{}", paint(QUIET, format!("fired again when a hook is saved; {keys}")));
        }
        text.push('\n');
        text
    }

    fn heading(&self, cause: Cause) -> String {
        let why = match cause {
            Cause::Start => return String::new(),
            Cause::Change => "saved",
            Cause::Key => "again",
        };
        let now = timestamp(SystemTime::now());
        let time = now.get(11..19).unwrap_or_default();
        format!("{}\n", paint(QUIET, format!("── {why} at {time} UTC ──")))
    }

    /// Everything whose change may change what is shown: the configuration, the grants, and the files that hooks run.
    fn watched_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.system.watched_paths();
        for hook in self.system.snapshot().hooks() {
            match hook.trust.fingerprint() {
                Some(taken) => paths.extend(taken.paths()),
                None => paths.extend(Fingerprint::take(self.project.root(), hook).paths()),
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }
}

/// Ctrl-C is the usual end of this command, not a failure.
fn exit_of(signal: Signal) -> Exit {
    match signal {
        Signal::Interrupt => Exit::Fine,
        #[cfg(unix)]
        Signal::Terminate | Signal::HangUp | Signal::Quit => Exit::Signalled(signal.number()),
    }
}
