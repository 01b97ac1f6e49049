//! The modes of the agent: on a terminal, for one prompt, for a program, from a pipe. They differ in where prompts come
//! from and how output is shown. Hooks can do the same in all of them.

mod command;
mod edit_box;
mod history;
mod hook_commands;
mod interactive;
mod keys;
mod line_editor;
mod lines;
mod painter;
mod plugins;
mod signals;
mod terminal;
mod text_edit;
mod theme;

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hookrail::{HookSystem, Stop};
use tokio::time::Instant;

use crate::agent::{AgentParts, EndReason, ReferenceAgent, SessionOpening, TurnEnd};
use crate::error::AgentError;
use crate::model::Model;
use crate::session::SessionStore;
use crate::settings::AgentSettings;
use crate::tool::Workspace;
use crate::user::{NoUser, User};
use crate::view::{HeadlessView, HookWatch, TerminalView, View};
use signals::Signals;

/// The source of prompts, and the form of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentMode {
    /// The user types prompts on a terminal.
    Interactive,
    /// One prompt, given with the command.
    Prompt(String),
    /// JSON for a program; one prompt given with the command, or one per line on standard input.
    Headless(Option<String>),
    /// One prompt, which is all of standard input.
    Piped,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentExit {
    /// The agent answered, or the user ended it.
    Fine,
    /// The agent failed: the model, the turn limit, the script.
    Failed,
    /// Hooks denied the prompt.
    Denied,
    /// A hook stopped the agent.
    Stopped,
    /// The signal with this number ended the agent.
    Signalled(u8),
}

/// Everything that a run needs, in any mode.
pub struct AgentSetup {
    /// The hooks.
    pub hooks: HookSystem,
    /// The model.
    pub model: Arc<dyn Model>,
    /// The folders that tools may read and write.
    pub place: Workspace,
    /// The store of sessions.
    pub store: SessionStore,
    /// The limits and defaults.
    pub settings: AgentSettings,
    /// The session to start with.
    pub begin: SessionOpening,
    /// The file of typed lines, if they are kept.
    pub history: Option<PathBuf>,
}

impl AgentSetup {
    /// Makes the setup of a new session with default settings.
    #[must_use]
    pub fn new(hooks: HookSystem, model: Arc<dyn Model>, place: Workspace, store: SessionStore) -> Self {
        Self {
            hooks,
            model,
            place,
            store,
            settings: AgentSettings::default(),
            begin: SessionOpening::New,
            history: None,
        }
    }

    fn parts(self, view: Arc<dyn View>, user: Arc<dyn User>) -> AgentParts {
        let mut parts = AgentParts::new(self.hooks, self.model, self.place, self.store, view, user);
        parts.settings = self.settings;
        parts
    }
}

/// Runs the agent until it is done.
///
/// # Errors
/// If the agent cannot start (the session, the terminal, the runtime), or if its output cannot be written.
pub fn run(setup: AgentSetup, mode: AgentMode) -> Result<AgentExit, AgentError> {
    let runtime = hookrail_spawn::start_runtime(tokio::runtime::Builder::new_current_thread().enable_all());
    let runtime = runtime.map_err(|error| AgentError::System(format!("the agent cannot be run: {error}")))?;
    let exit = runtime.block_on(async {
        match mode {
            AgentMode::Interactive => interactive::run(setup).await,
            AgentMode::Prompt(prompt) => once(setup, &prompt, Arc::new(TerminalView::new())).await,
            AgentMode::Headless(Some(prompt)) => once(setup, &prompt, Arc::new(HeadlessView::new())).await,
            AgentMode::Headless(None) => lines::run(setup).await,
            AgentMode::Piped => once(setup, &lines::read_all_input()?, Arc::new(TerminalView::new())).await,
        }
    });
    // A thread may still wait for input from the terminal, and dropping the runtime would wait for that thread.
    runtime.shutdown_background();
    exit
}

/// Works on one prompt.
async fn once(setup: AgentSetup, prompt: &str, view: Arc<dyn View>) -> Result<AgentExit, AgentError> {
    let begin = setup.begin.clone();
    let mut driver = Driver::new(OnInterrupt::EndAll)?;
    let parts = setup.parts(Arc::clone(&view), Arc::new(NoUser));
    let (agent, stop) = match driver.begin(parts, &begin).await? {
        AgentStart::Started(agent, stop) => (agent, stop),
        AgentStart::Interrupted(exit) => return Ok(exit),
    };
    let end = match stop {
        Some(stop) => TurnEnd::Stopped(stop.reason),
        None => driver.drive(&agent, agent.prompt(prompt)).await.unwrap_or(TurnEnd::Cancelled),
    };
    driver.end(&agent, &end, EndReason::Exit).await;
    driver.exit(&agent, &end)
}

/// How the start of the agent ended.
enum AgentStart {
    /// The agent started, with the stop that a hook asked for.
    Started(Arc<ReferenceAgent>, Option<Stop>),
    /// A signal came first.
    Interrupted(AgentExit),
}

/// The effect of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnInterrupt {
    /// Ends the hook, or else the turn; the agent continues.
    EndStep,
    /// Ends the agent.
    EndAll,
}

/// Drives the agent's work, shows slow hooks and handles signals.
struct Driver {
    signals: Signals,
    on_interrupt: OnInterrupt,
    /// The first signal that ends the agent.
    signal: Option<u8>,
    /// The time at which hooks that still run after such a signal are cancelled.
    hooks_cancelled_at: Option<Instant>,
    /// The time at which work that still runs is abandoned.
    abandoned_at: Option<Instant>,
    /// The terminal on which Escape interrupts; none if there is no user.
    terminal: Option<terminal::Terminal>,
    /// The hooks as they start and end, from the start of the agent on.
    hook_watch: SharedHookWatch,
}

/// The watch over hooks; none until the agent starts.
type SharedHookWatch = Arc<tokio::sync::Mutex<Option<HookWatch>>>;

/// Shows slow and failed hooks. Never returns.
async fn show_hooks(watch: SharedHookWatch, view: &dyn View) {
    match watch.lock().await.as_mut() {
        Some(watch) => watch.show(view).await,
        None => std::future::pending().await,
    }
}

/// The time that hooks get to end a turn, and then to end the session, after a signal that ends the agent.
const HOOK_GRACE: Duration = Duration::from_secs(5);
/// The time that each further hook gets after that.
const NEXT_HOOK_GRACE: Duration = Duration::from_millis(500);
/// The time after a signal at which work that cannot be cancelled, such as a model that does not answer, is abandoned.
const ABANDON_AFTER: Duration = Duration::from_secs(15);

impl Driver {
    fn new(on_interrupt: OnInterrupt) -> Result<Self, AgentError> {
        let signals =
            Signals::listen().map_err(|error| AgentError::System(format!("signals cannot be handled: {error}")))?;
        // If the thread cannot be started, the agent still works; a reader of its output that reads nothing can then keep
        // it from ending.
        let _ = Signals::watch(on_interrupt == OnInterrupt::EndAll);
        Ok(Self {
            signals,
            on_interrupt,
            signal: None,
            hooks_cancelled_at: None,
            abandoned_at: None,
            terminal: None,
            hook_watch: Arc::default(),
        })
    }

    /// Runs a piece of the agent's work. Returns none if a signal ended the agent and the work did not end in time.
    async fn drive<F: Future>(&mut self, agent: &ReferenceAgent, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        let done = {
            let mut watching = pin!(show_hooks(Arc::clone(&self.hook_watch), agent.view()));
            let mut drawing = pin!(agent.draw_messages());
            loop {
                tokio::select! {
                    biased;
                    () = &mut watching => {}
                    () = &mut drawing => {}
                    done = &mut work => {
                        if self.signal.is_none() {
                            agent.draw_waiting_messages().await;
                        }
                        break Some(done);
                    }
                    () = until(self.abandoned_at) => break None,
                    () = escape(self.terminal.as_ref()) => agent.interrupt(),
                    number = self.signals.next() => {
                        if number == signals::INTERRUPT && self.on_interrupt == OnInterrupt::EndStep {
                            agent.interrupt();
                        } else if number != signals::HANG_UP || self.signal.is_none() {
                            // A closed terminal sends SIGHUP to its session leader and to its foreground group. The agent
                            // can be both, and the second signal must not cut the end of the session short.
                            self.signalled(number);
                            agent.leave();
                        }
                    }
                    () = until(self.hooks_cancelled_at) => {
                        self.hooks_cancelled_at = Some(Instant::now() + NEXT_HOOK_GRACE);
                        agent.interrupt_all();
                    }
                }
            }
        };
        // The last hooks may have ended together with the work.
        if let Some(watch) = self.hook_watch.lock().await.as_mut() {
            watch.show_waiting(agent.view());
        }
        done
    }

    /// Returns whether the agent takes no further prompt: a signal came, or the output cannot be written.
    fn is_over(&self, agent: &ReferenceAgent) -> bool {
        self.signal.is_some() || agent.view().failure().is_some()
    }

    /// Records a signal that ends the agent. The first one sets the exit status.
    fn signalled(&mut self, number: u8) {
        self.signal.get_or_insert(number);
        let now = Instant::now();
        self.hooks_cancelled_at.get_or_insert(now + HOOK_GRACE);
        self.abandoned_at.get_or_insert(now + ABANDON_AFTER);
    }

    /// Starts the agent. If a signal comes first, its hooks are cancelled and no session is started.
    async fn begin(&mut self, parts: AgentParts, begin: &SessionOpening) -> Result<AgentStart, AgentError> {
        let (hooks, view) = (parts.hooks.clone(), Arc::clone(&parts.view));
        *self.hook_watch.lock().await = Some(HookWatch::new(&hooks));
        let begun = {
            let mut work = pin!(ReferenceAgent::begin(parts, begin));
            let mut watching = pin!(show_hooks(Arc::clone(&self.hook_watch), &*view));
            loop {
                tokio::select! {
                    biased;
                    () = &mut watching => {}
                    done = &mut work => break done.map(|(agent, stop)| AgentStart::Started(agent, stop)),
                    number = self.signals.next() => break Ok(AgentStart::Interrupted(AgentExit::Signalled(number))),
                }
            }
        };
        if !matches!(begun, Ok(AgentStart::Started(..))) {
            hooks.shutdown().await;
        }
        begun
    }

    /// Ends the session, with the reason that fits the end of the last prompt.
    async fn end(&mut self, agent: &ReferenceAgent, end: &TurnEnd, otherwise: EndReason) {
        let reason = match end {
            _ if self.signal.is_some() => EndReason::Other,
            TurnEnd::SignedOut(_) => EndReason::Logout,
            TurnEnd::Answered(_)
            | TurnEnd::Denied(_)
            | TurnEnd::Stopped(_)
            | TurnEnd::Cancelled
            | TurnEnd::Capped(_)
            | TurnEnd::Failed(_)
            | TurnEnd::OutputLost(_) => otherwise,
        };
        if self.signal.is_some() {
            let now = Instant::now();
            (self.hooks_cancelled_at, self.abandoned_at) = (Some(now + HOOK_GRACE), Some(now + ABANDON_AFTER));
            agent.leave();
        }
        self.drive(agent, agent.end(reason)).await;
    }

    /// Returns the exit status for the end of the last prompt. A signal or lost output takes precedence.
    fn exit(&self, agent: &ReferenceAgent, end: &TurnEnd) -> Result<AgentExit, AgentError> {
        let exit = match end {
            TurnEnd::Answered(_) => AgentExit::Fine,
            TurnEnd::Denied(_) => AgentExit::Denied,
            TurnEnd::Stopped(_) => AgentExit::Stopped,
            TurnEnd::Cancelled
            | TurnEnd::Capped(_)
            | TurnEnd::Failed(_)
            | TurnEnd::SignedOut(_)
            | TurnEnd::OutputLost(_) => AgentExit::Failed,
        };
        self.exit_unless_cut_off(agent, exit)
    }

    /// Returns the exit status, unless a signal ended the agent or the output could not be written.
    fn exit_unless_cut_off(&self, agent: &ReferenceAgent, exit: AgentExit) -> Result<AgentExit, AgentError> {
        match (self.signal, agent.view().failure()) {
            (Some(number), _) => Ok(AgentExit::Signalled(number)),
            (None, Some(why)) => Err(AgentError::Output(why)),
            (None, None) => Ok(exit),
        }
    }
}

/// Waits until Escape is pressed. Never returns without a terminal.
async fn escape(terminal: Option<&terminal::Terminal>) {
    match terminal {
        Some(terminal) => terminal.escape().await,
        None => std::future::pending().await,
    }
}

/// Waits until a time. Never returns if there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
