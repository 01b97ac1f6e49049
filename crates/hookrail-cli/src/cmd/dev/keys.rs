//! What the user types while `dev` waits: whole lines, so that the terminal stays as it is.

use std::io::{self, IsTerminal as _};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Fire the event again.
    Fire,
    /// Look at the hooks that are not trusted, and trust them.
    Review,
    /// End the command.
    End,
}

/// Reads keys from the terminal.
pub(super) enum Keys {
    /// There is no terminal.
    Missing,
    Terminal {
        /// Asks the thread for one more line. It reads none unasked, because a question may be waiting for the answer.
        ask: std::sync::mpsc::Sender<()>,
        typed: UnboundedReceiver<Key>,
        /// Whether a line was asked for and has not come yet.
        is_asked: bool,
    },
}

impl Keys {
    /// Reads no keys.
    pub(super) fn none() -> Self {
        Self::Missing
    }

    /// Reads from the terminal; nothing if standard input or output is not a terminal.
    pub(super) fn of_terminal() -> Self {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Self::Missing;
        }
        let (ask, asked) = std::sync::mpsc::channel::<()>();
        let (sender, typed) = unbounded_channel();
        let read = move || {
            while asked.recv().is_ok() {
                if sender.send(read_key()).is_err() {
                    return;
                }
            }
        };
        // Without the thread there are no keys, and saving still works.
        match std::thread::Builder::new().name("hookrail-keys".to_owned()).spawn(read) {
            Ok(_) => Self::Terminal { ask, typed, is_asked: false },
            Err(_) => Self::Missing,
        }
    }

    /// Returns the next key. Waits forever if there is no terminal. If it is dropped, the key is kept for the next call.
    pub(super) async fn next(&mut self) -> Key {
        match self {
            Self::Missing => std::future::pending().await,
            Self::Terminal { ask, typed, is_asked } => {
                if !*is_asked {
                    *is_asked = ask.send(()).is_ok();
                }
                match typed.recv().await {
                    Some(key) => {
                        *is_asked = false;
                        key
                    }
                    None => std::future::pending().await,
                }
            }
        }
    }
}

fn read_key() -> Key {
    let mut line = String::new();
    loop {
        line.clear();
        match io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => return Key::End,
            Ok(_) => match line.trim() {
                "" => return Key::Fire,
                "t" => return Key::Review,
                "q" => return Key::End,
                _ => {}
            },
        }
    }
}
