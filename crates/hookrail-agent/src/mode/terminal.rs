//! The terminal of the user: a line editor with history, questions, and components that hooks draw.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crossterm::cursor::MoveTo;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType};
use hookrail::guard::Approval;
use hookrail::host::Component;
use hookrail::{HostError, Json};
use hookrail_spawn::{CancelToken, lock_mutex};
use tokio::sync::watch;

use super::edit_box::EditBox;
use super::history::History;
use super::keys::{Input, Keys, TypedAhead, leave_raw_mode};
use super::line_editor::{LineEditor, Pressed};
use super::painter::{self, Widget};
use super::theme;
use crate::text::{limited, readable, visible};
use crate::user::{User, UserFuture};
use crate::view::screen::{Screen, Stream, has_colours};

/// What the user typed.
pub(super) enum TypedInput {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line.
    Closed,
    /// The terminal was closed.
    Gone,
}

/// The terminal.
#[derive(Clone)]
pub(super) struct Terminal {
    screen: Arc<Screen>,
    /// The holder of the lock reads the keys.
    keys: Arc<tokio::sync::Mutex<Keys>>,
    /// The text that the next prompt begins with.
    prefilled: Arc<Mutex<String>>,
    history: Arc<Mutex<History>>,
    /// Ends every question.
    left: CancelToken,
    /// The number of prompts, questions and components that want the keys.
    askers: Arc<watch::Sender<usize>>,
}

/// A prompt, question or component that wants the keys, until it is dropped.
struct Asker(Arc<watch::Sender<usize>>);

impl Asker {
    fn new(askers: &Arc<watch::Sender<usize>>) -> Self {
        askers.send_modify(|count| *count += 1);
        Self(Arc::clone(askers))
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// The time that work has to end in before Escape is waited for, so that the terminal's mode is not changed for nothing.
const ESCAPE_AFTER: Duration = Duration::from_millis(50);

impl Terminal {
    pub(super) fn open(history: Option<PathBuf>) -> Self {
        Self {
            screen: Arc::default(),
            keys: Arc::new(tokio::sync::Mutex::new(Keys::new())),
            prefilled: Arc::default(),
            history: Arc::new(Mutex::new(History::open(history))),
            left: CancelToken::new(),
            askers: Arc::default(),
        }
    }

    /// Waits until the user presses Escape while the agent works. Code that asks the user a question gets the keys first.
    pub(super) async fn escape(&self) {
        tokio::time::sleep(ESCAPE_AFTER).await;
        let mut askers = self.askers.subscribe();
        loop {
            if askers.wait_for(|count| *count == 0).await.is_err() {
                std::future::pending::<()>().await;
            }
            let pressed = async { self.keys.lock().await.escape().await };
            tokio::select! {
                pressed = pressed => match pressed {
                    Ok(()) => return,
                    // Without a terminal there is no key to wait for.
                    Err(_) => std::future::pending().await,
                },
                _ = askers.wait_for(|count| *count > 0) => {}
            }
        }
    }

    /// Returns the screen, for other code that writes on it.
    pub(super) fn screen(&self) -> Arc<Screen> {
        Arc::clone(&self.screen)
    }

    fn prefilled_text(&self) -> MutexGuard<'_, String> {
        lock_mutex(&self.prefilled)
    }

    /// Lets the user type a prompt.
    pub(super) async fn prompt(&self) -> TypedInput {
        let history = lock_mutex(&self.history).clone();
        let typed = self.read("> ", Some(&history)).await;
        if let TypedInput::Line(line) = &typed {
            lock_mutex(&self.history).add(line);
        }
        typed
    }

    /// Reads a line. A line without a history is an answer: it begins empty, and keys that were pressed before are discarded.
    async fn read(&self, prompt: &str, history: Option<&History>) -> TypedInput {
        let _asker = Asker::new(&self.askers);
        let mut keys = tokio::select! {
            keys = self.keys.lock() => keys,
            () = self.left.cancelled() => return TypedInput::Gone,
        };
        let typed_ahead = if history.is_some() { TypedAhead::Keep } else { TypedAhead::Discard };
        let listening = tokio::select! {
            listening = keys.listen(typed_ahead) => listening,
            () = self.left.cancelled() => return TypedInput::Gone,
        };
        let Ok(mut listening) = listening else { return TypedInput::Gone };
        let text = if history.is_some() { std::mem::take(&mut *self.prefilled_text()) } else { String::new() };
        let mut editor = LineEditor::new(prompt, &text, history);
        let _typing = self.screen.typing();
        let _pasting = Pasting::begin(&self.screen);
        let draw = |editor: &LineEditor<'_>| self.screen.draw_prompt(&editor.prompt(), editor.text(), editor.cursor());
        let typed = loop {
            draw(&editor);
            let input = tokio::select! {
                input = listening.next() => input,
                () = self.left.cancelled() => return TypedInput::Gone,
            };
            let pressed = match input {
                Input::Key(key) => editor.press(&key),
                Input::Pasted(text) => {
                    editor.paste(&text);
                    Pressed::Edited
                }
                Input::Resized => Pressed::Edited,
                Input::Closed => return TypedInput::Gone,
            };
            match pressed {
                Pressed::Edited => {}
                Pressed::ClearScreen => {
                    self.screen.control(&Clear(ClearType::All));
                    self.screen.control(&MoveTo(0, 0));
                }
                Pressed::Suspend => suspend(),
                Pressed::Done => break TypedInput::Line(editor.text().to_owned()),
                Pressed::Interrupted => break TypedInput::Interrupted,
                Pressed::Closed => break TypedInput::Closed,
            }
        };
        editor.finish();
        draw(&editor);
        self.screen.control(&Print("\r\n"));
        typed
    }

    /// Restores the mode that the terminal had at the start, even if a question is still open.
    pub(super) fn restore(&self) {
        leave_raw_mode();
    }

    /// Shows lines and lets the user answer on the last one.
    async fn ask_question(&self, question: &str) -> TypedInput {
        let (above, last) = question.rsplit_once('\n').unwrap_or(("", question));
        if !above.is_empty() {
            self.screen.write(Stream::Asides, &format!("{above}\n"));
        }
        self.read(last, None).await
    }

    /// Shows a widget; other output waits until it is closed.
    async fn show(&self, widget: &dyn Widget) -> Result<(), HostError> {
        let _asker = Asker::new(&self.askers);
        let shown = async {
            let mut keys = self.keys.lock().await;
            let mut listening = keys.listen(TypedAhead::Discard).await?;
            let _cover = self.screen.cover();
            painter::show(widget, &mut listening).await
        };
        tokio::select! {
            shown = shown => shown.map_err(|error| painter::terminal_error(&error)),
            () = self.left.cancelled() => Err(HostError::new("the agent ends")),
        }
    }
}

/// Suspends the agent, as a shell's job, until it is continued.
fn suspend() {
    leave_raw_mode();
    #[cfg(unix)]
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
    let _ = crossterm::terminal::enable_raw_mode();
}

/// Bracketed paste, until this is dropped: pasted text is told apart from keys, so that a line break in it does not send
/// the line.
struct Pasting<'s>(&'s Screen);

impl<'s> Pasting<'s> {
    fn begin(screen: &'s Screen) -> Self {
        screen.control(&EnableBracketedPaste);
        Self(screen)
    }
}

impl Drop for Pasting<'_> {
    fn drop(&mut self) {
        self.0.control(&DisableBracketedPaste);
    }
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
            match self.ask_question(&question).await {
                TypedInput::Line(answer) if matches!(answer.trim(), "y" | "Y" | "yes" | "Yes") => Approval::Granted,
                TypedInput::Line(_) | TypedInput::Interrupted | TypedInput::Closed | TypedInput::Gone => {
                    Approval::Refused(String::new())
                }
            }
        })
    }

    fn line<'a>(&'a self, question: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(async move {
            match self.ask_question(&readable(question)).await {
                TypedInput::Line(line) => Some(line),
                TypedInput::Interrupted | TypedInput::Closed | TypedInput::Gone => None,
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
        Box::pin(async move { self.show(&component).await })
    }

    fn leave(&self) {
        self.left.cancel();
    }

    fn prefill(&self, text: &str) {
        text.clone_into(&mut self.prefilled_text());
    }

    fn prefilled(&self) -> String {
        self.prefilled_text().clone()
    }

    fn styled(&self, style: &str, text: &str) -> String {
        if has_colours() { theme::styled(style, text) } else { text.to_owned() }
    }
}
