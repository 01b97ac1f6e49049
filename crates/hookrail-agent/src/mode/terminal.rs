//! The terminal of a person: a line editor with history, and the questions they are asked.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hookrail::Json;
use hookrail::guard::Approval;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::error::AgentError;
use crate::text::{limited, visible};
use crate::user::{User, UserFuture};

/// What a person typed.
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line, or the terminal is gone.
    Closed,
}

/// The terminal. Reading a line blocks, so it happens on a thread of its own.
#[derive(Clone)]
pub(super) struct Terminal {
    editor: Arc<Mutex<DefaultEditor>>,
    history: Option<PathBuf>,
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Terminal {
    pub(super) fn open(history: Option<PathBuf>) -> Result<Self, AgentError> {
        let editor = DefaultEditor::new();
        let mut editor = editor.map_err(|error| AgentError::System(format!("the terminal cannot be used: {error}")))?;
        if let Some(file) = &history {
            // The first time there is none.
            let _ = editor.load_history(file);
        }
        Ok(Self {
            editor: Arc::new(Mutex::new(editor)),
            history,
            #[cfg(unix)]
            before: rustix::termios::tcgetattr(std::io::stdin()).ok(),
        })
    }

    /// Lets the person type a prompt.
    pub(super) async fn prompt(&self) -> Typed {
        let typed = self.read("> ").await;
        if let Typed::Line(line) = &typed
            && !line.trim().is_empty()
        {
            let mut editor = self.editor.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = editor.add_history_entry(line);
            if let Some(file) = &self.history {
                let _ = file.parent().map(std::fs::create_dir_all);
                let _ = editor.append_history(file);
            }
        }
        typed
    }

    async fn read(&self, prompt: &str) -> Typed {
        let (editor, prompt) = (Arc::clone(&self.editor), prompt.to_owned());
        let reading = tokio::task::spawn_blocking(move || {
            editor.lock().unwrap_or_else(PoisonError::into_inner).readline(&prompt)
        });
        match reading.await {
            Ok(Ok(line)) => Typed::Line(line),
            Ok(Err(ReadlineError::Interrupted)) => Typed::Interrupted,
            _ => Typed::Closed,
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
            eprintln!("{above}");
        }
        self.read(last).await
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
}
