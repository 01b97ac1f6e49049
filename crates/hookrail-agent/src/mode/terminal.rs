//! The terminal of a person: a line editor with history, the questions they are asked, and what hooks draw on it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hookrail::guard::Approval;
use hookrail::{Component, HostError, Json};
use hookrail_spawn::{CancelToken, lock};
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;

use super::edit_box::EditBox;
use super::prompt::Prompt;
use super::{painter, theme};
use crate::error::AgentError;
use crate::text::{limited, visible};
use crate::user::{User, UserFuture};
use crate::view::screen::{Screen, Stream, has_colours};

/// What a person typed.
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line.
    Closed,
    /// The terminal is not there any more.
    Gone,
}

/// The terminal. Reading a line blocks, so it happens on a thread of its own.
#[derive(Clone)]
pub(super) struct Terminal {
    editor: Arc<Mutex<Editor<Prompt, FileHistory>>>,
    line: Prompt,
    screen: Arc<Screen>,
    /// Whoever has this reads the keys.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// What the next prompt begins with.
    prefilled: Arc<Mutex<String>>,
    history: Option<PathBuf>,
    /// Ends every question.
    left: CancelToken,
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Terminal {
    pub(super) fn open(history: Option<PathBuf>) -> Result<Self, AgentError> {
        let editor = Editor::<Prompt, FileHistory>::new();
        let mut editor = editor.map_err(|error| AgentError::System(format!("the terminal cannot be used: {error}")))?;
        if let Some(file) = &history {
            // The first time there is none.
            let _ = editor.load_history(file);
        }
        let screen = Arc::new(Screen::default());
        let line = Prompt::default();
        editor.set_helper(Some(line.clone()));
        screen.set_above(Box::new(line.clone()));
        Ok(Self {
            editor: Arc::new(Mutex::new(editor)),
            line,
            screen,
            turn: Arc::default(),
            prefilled: Arc::default(),
            history,
            left: CancelToken::new(),
            #[cfg(unix)]
            before: rustix::termios::tcgetattr(std::io::stdin()).ok(),
        })
    }

    /// The screen, for whoever else writes on it.
    pub(super) fn screen(&self) -> Arc<Screen> {
        Arc::clone(&self.screen)
    }

    /// Lets the person type a prompt.
    pub(super) async fn prompt(&self) -> Typed {
        let typed = self.read("> ", Begins::AsHooksWish).await;
        if let Typed::Line(line) = &typed
            && !line.trim().is_empty()
        {
            let mut editor = lock(&self.editor);
            let _ = editor.add_history_entry(line);
            if let Some(file) = &self.history {
                let _ = file.parent().map(hookrail_spawn::create_private_folder);
                let _ = editor.append_history(file);
            }
        }
        typed
    }

    async fn read(&self, prompt: &str, begins: Begins) -> Typed {
        let _turn = tokio::select! {
            turn = self.turn.lock() => turn,
            () = self.left.cancelled() => return Typed::Gone,
        };
        let (editor, prompt) = (Arc::clone(&self.editor), prompt.to_owned());
        let text = match begins {
            Begins::Empty => String::new(),
            Begins::AsHooksWish => std::mem::take(&mut *lock(&self.prefilled)),
        };
        self.line.begin(&prompt, &text);
        let _typing = self.screen.typing();
        let reading = tokio::task::spawn_blocking(move || lock(&editor).readline_with_initial(&prompt, (&text, "")));
        let read = tokio::select! {
            read = reading => read,
            () = self.left.cancelled() => return Typed::Gone,
        };
        match read {
            Ok(Ok(line)) => Typed::Line(line),
            Ok(Err(ReadlineError::Interrupted)) => Typed::Interrupted,
            // A terminal that was closed reads like Ctrl-D, but it cannot be asked for its settings.
            Ok(Err(ReadlineError::Eof)) if is_there() => Typed::Closed,
            _ => Typed::Gone,
        }
    }

    /// Leaves the terminal as it was found, also when somebody was still to type something.
    pub(super) fn restore(&self) {
        #[cfg(unix)]
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, before);
        }
    }

    /// Shows lines and lets the person answer on the last one.
    async fn ask(&self, question: &str) -> Typed {
        let (above, last) = question.rsplit_once('\n').unwrap_or(("", question));
        if !above.is_empty() {
            self.screen.write(Stream::Asides, &format!("{above}\n"));
        }
        self.read(last, Begins::Empty).await
    }

    /// Shows a component in place of everything else.
    async fn show(&self, component: &dyn Component) -> Result<(), HostError> {
        let _turn = self.turn.lock().await;
        let _cover = self.screen.cover();
        tokio::select! {
            shown = painter::show(component) => shown,
            () = self.left.cancelled() => Err(HostError::new("the agent ends")),
        }
    }
}

#[cfg(unix)]
fn is_there() -> bool {
    rustix::termios::tcgetattr(std::io::stdin()).is_ok()
}

#[cfg(not(unix))]
fn is_there() -> bool {
    true
}

/// What stands in a line before anybody typed something.
enum Begins {
    Empty,
    AsHooksWish,
}

impl User for Terminal {
    fn is_there(&self) -> bool {
        true
    }

    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> UserFuture<'a, Approval> {
        Box::pin(async move {
            let reason = reason.map(|reason| format!("  a hook says: {}\n", limited(reason))).unwrap_or_default();
            let question = format!(
                "permission is needed for {}\n  with {}\n{reason}allow this once? [y/N] ",
                visible(operation),
                visible(input.text())
            );
            match self.ask(&question).await {
                Typed::Line(answer) if matches!(answer.trim(), "y" | "Y" | "yes" | "Yes") => Approval::Granted,
                _ => Approval::Refused(String::new()),
            }
        })
    }

    fn line<'a>(&'a self, question: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(async move {
            match self.ask(&visible(question)).await {
                Typed::Line(line) => Some(line),
                _ => None,
            }
        })
    }

    fn edit<'a>(&'a self, title: &'a str, text: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(async move {
            let edit = EditBox::new(title, text);
            self.show(&edit).await.ok().and_then(|()| edit.text())
        })
    }

    fn show<'a>(&'a self, component: &'a dyn Component) -> UserFuture<'a, Result<(), HostError>> {
        Box::pin(self.show(component))
    }

    fn leave(&self) {
        self.left.cancel();
    }

    fn prefill(&self, text: &str) {
        text.clone_into(&mut lock(&self.prefilled));
    }

    fn prefilled(&self) -> String {
        lock(&self.prefilled).clone()
    }

    fn styled(&self, style: &str, text: &str) -> String {
        if has_colours() { theme::styled(style, text) } else { text.to_owned() }
    }
}
