//! The ways to run the agent: on a terminal, for one prompt, for a program, from a pipe. They differ in where prompts come
//! from and how things are shown. What hooks can do is the same in all of them.

mod command;
mod edit_box;
mod history;
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

use crate::agent::{Agent, Begin, EndReason, Parts, TurnEnd};
use crate::error::AgentError;
use crate::model::Model;
use crate::session::SessionStore;
use crate::settings::Settings;
use crate::tool::Place;
use crate::user::{NoUser, User};
use crate::view::{HeadlessView, TerminalView, View, watch};
use signals::Signals;

/// Where prompts come from, and how things are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A person types prompts on a terminal.
    Interactive,
    /// One prompt, given with the command.
    Prompt(String),
    /// A program reads JSON; prompts are given with the command, or come as lines on standard input.
    Headless(Option<String>),
    /// One prompt, which is all of standard input.
    Piped,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Fine,
    /// The agent failed: the model, the turn limit, the script.
    Failed,
    /// Hooks denied the prompt.
    Denied,
    /// A hook stopped the agent.
    Stopped,
    /// A signal of this number ended it.
    Signalled(u8),
}

/// Everything a run needs, whatever its mode.
pub struct Setup {
    /// The hooks.
    pub hooks: HookSystem,
    /// The model.
    pub model: Arc<dyn Model>,
    /// Where tools may read and write.
    pub place: Place,
    /// Where sessions are.
    pub store: SessionStore,
    /// Limits and habits.
    pub settings: Settings,
    /// How the session begins.
    pub begin: Begin,
    /// Where the lines a person typed are kept, if anywhere.
    pub history: Option<PathBuf>,
}

impl Setup {
    /// A new session with default settings.
    #[must_use]
    pub fn new(hooks: HookSystem, model: Arc<dyn Model>, place: Place, store: SessionStore) -> Self {
        Self { hooks, model, place, store, settings: Settings::default(), begin: Begin::New, history: None }
    }

    fn parts(self, view: Arc<dyn View>, user: Arc<dyn User>) -> Parts {
        let mut parts = Parts::new(self.hooks, self.model, self.place, self.store, view, user);
        parts.settings = self.settings;
        parts
    }
}

/// Runs the agent until it is done.
///
/// # Errors
/// When it cannot begin (the session, the terminal, the runtime), or when what it says cannot be written.
pub fn run(setup: Setup, mode: Mode) -> Result<Exit, AgentError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| AgentError::System(format!("the agent cannot be run: {error}")))?;
    let exit = runtime.block_on(async {
        match mode {
            Mode::Interactive => interactive::run(setup).await,
            Mode::Prompt(prompt) => once(setup, &prompt, Arc::new(TerminalView::new())).await,
            Mode::Headless(Some(prompt)) => once(setup, &prompt, Arc::new(HeadlessView::new())).await,
            Mode::Headless(None) => lines::run(setup).await,
            Mode::Piped => once(setup, &lines::all()?, Arc::new(TerminalView::new())).await,
        }
    });
    // A thread may still wait for somebody to type.
    runtime.shutdown_background();
    exit
}

/// One prompt and its answer.
async fn once(setup: Setup, prompt: &str, view: Arc<dyn View>) -> Result<Exit, AgentError> {
    let begin = setup.begin.clone();
    let mut driver = Driver::new(OnInterrupt::EndAll)?;
    let parts = setup.parts(Arc::clone(&view), Arc::new(NoUser));
    let (agent, stop) = match driver.begin(parts, &begin).await? {
        Begun::Agent(agent, stop) => (agent, stop),
        Begun::Interrupted(exit) => return Ok(exit),
    };
    let end = match stop {
        Some(stop) => TurnEnd::Stopped(stop.reason),
        None => driver.drive(&agent, agent.prompt(prompt)).await.unwrap_or(TurnEnd::Cancelled),
    };
    driver.end(&agent, &end, EndReason::Exit).await;
    driver.exit(&agent, &end)
}

/// What came of the beginning.
enum Begun {
    /// The agent, and whether a hook does not want it to work.
    Agent(Arc<Agent>, Option<Stop>),
    /// A signal came first.
    Interrupted(Exit),
}

/// What an interrupt means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnInterrupt {
    /// First the hook, then the turn; the agent goes on.
    EndStep,
    /// Everything ends.
    EndAll,
}

/// Runs pieces of the agent's work, while it shows slow hooks and listens to signals.
struct Driver {
    signals: Signals,
    on_interrupt: OnInterrupt,
    /// The signal that ends the agent, once there was one.
    signal: Option<u8>,
    /// When hooks that still run after such a signal are cancelled.
    patience: Option<Instant>,
    /// When work that goes on all the same is abandoned.
    gives_up: Option<Instant>,
}

/// How long hooks may take to end a turn, and then to end the session, after a signal that ends the agent.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long each further hook may take after that.
const HURRY: Duration = Duration::from_millis(500);
/// How long what cannot be cancelled, such as a model that does not answer, may keep the agent after a signal.
const LONGEST: Duration = Duration::from_secs(15);

impl Driver {
    fn new(on_interrupt: OnInterrupt) -> Result<Self, AgentError> {
        let signals = Signals::listen()
            .map_err(|error| AgentError::System(format!("the agent cannot be made interruptible: {error}")))?;
        // Without the thread that this takes the agent works; only a reader that takes nothing can then keep it from ending.
        let _ = Signals::watch(on_interrupt == OnInterrupt::EndAll);
        Ok(Self { signals, on_interrupt, signal: None, patience: None, gives_up: None })
    }

    /// Does a piece of the agent's work. None if a signal ended the agent and the work did not end in time.
    async fn drive<F: Future>(&mut self, agent: &Agent, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        let mut watching = pin!(watch(agent.hooks(), agent.view()));
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
                    return Some(done);
                }
                () = until(self.gives_up) => return None,
                number = self.signals.next() => {
                    if number == signals::INTERRUPT && self.on_interrupt == OnInterrupt::EndStep {
                        agent.interrupt();
                    } else if number != signals::HANG_UP || self.signal.is_none() {
                        // A terminal that is closed says so to its leader and to its foreground, which can be one
                        // process; the second time must not cut the end of the session short.
                        self.signalled(number);
                        agent.leave();
                    }
                }
                () = until(self.patience) => {
                    self.patience = Some(Instant::now() + HURRY);
                    agent.interrupt_all();
                }
            }
        }
    }

    /// Whether no further prompt is worked on: a signal came, or nothing can be written any more.
    fn is_over(&self, agent: &Agent) -> bool {
        self.signal.is_some() || agent.view().failure().is_some()
    }

    /// Takes note of a signal that ends the agent. The first one is what it ends with.
    fn signalled(&mut self, number: u8) {
        self.signal.get_or_insert(number);
        let now = Instant::now();
        self.patience.get_or_insert(now + PATIENCE);
        self.gives_up.get_or_insert(now + LONGEST);
    }

    /// Lets the agent begin. When a signal comes first its hooks are cancelled, and no session has begun.
    async fn begin(&mut self, parts: Parts, begin: &Begin) -> Result<Begun, AgentError> {
        let (hooks, view) = (parts.hooks.clone(), Arc::clone(&parts.view));
        let begun = {
            let mut work = pin!(Agent::begin(parts, begin));
            let mut watching = pin!(watch(&hooks, &*view));
            loop {
                tokio::select! {
                    biased;
                    () = &mut watching => {}
                    done = &mut work => break done.map(|(agent, stop)| Begun::Agent(agent, stop)),
                    number = self.signals.next() => break Ok(Begun::Interrupted(Exit::Signalled(number))),
                }
            }
        };
        if !matches!(begun, Ok(Begun::Agent(..))) {
            hooks.shutdown().await;
        }
        begun
    }

    /// Ends the session for the reason that fits.
    async fn end(&mut self, agent: &Agent, end: &TurnEnd, otherwise: EndReason) {
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
            (self.patience, self.gives_up) = (Some(now + PATIENCE), Some(now + LONGEST));
            agent.leave();
        }
        self.drive(agent, agent.end(reason)).await;
    }

    /// The status for the end of the last prompt, unless there is a reason that weighs more.
    fn exit(&self, agent: &Agent, end: &TurnEnd) -> Result<Exit, AgentError> {
        let exit = match end {
            TurnEnd::Answered(_) => Exit::Fine,
            TurnEnd::Denied(_) => Exit::Denied,
            TurnEnd::Stopped(_) => Exit::Stopped,
            TurnEnd::Cancelled
            | TurnEnd::Capped(_)
            | TurnEnd::Failed(_)
            | TurnEnd::SignedOut(_)
            | TurnEnd::OutputLost(_) => Exit::Failed,
        };
        self.exit_unless_cut_off(agent, exit)
    }

    /// The status, unless a signal ended the agent or nothing could be written any more.
    fn exit_unless_cut_off(&self, agent: &Agent, exit: Exit) -> Result<Exit, AgentError> {
        match (self.signal, agent.view().failure()) {
            (Some(number), _) => Ok(Exit::Signalled(number)),
            (None, Some(why)) => Err(AgentError::Output(why)),
            (None, None) => Ok(exit),
        }
    }
}

/// Waits until a time; for ever if there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
