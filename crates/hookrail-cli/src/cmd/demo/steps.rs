//! Pauses between the steps of the demonstration: a key on a terminal, none elsewhere.

use std::io::{self, IsTerminal as _, Write as _};

/// What the user wants after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Next,
    Quit,
}

const QUESTION: &str = "Enter: next step   q: quit ";
const ERASE_LINE: &str = "\r\x1b[2K";

/// Whether the demonstration is shown in steps: a user is at the keyboard and sees what is printed.
pub(super) fn are_wanted() -> bool {
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    on_terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Waits for a key. Enter and space go to the next step, `q` and the end of input quit, every other key is ignored.
///
/// The terminal is as it was before when the future has ended or was dropped.
pub(super) async fn ask() -> Choice {
    // A terminal that cannot be read key by key is no reason to fail: the rest is shown without pauses.
    keyboard::choice().await.unwrap_or(Choice::Next)
}

/// The line with the question, which is erased when this value is dropped.
struct QuestionLine;

impl QuestionLine {
    fn show() -> Self {
        say(QUESTION);
        Self
    }
}

impl Drop for QuestionLine {
    fn drop(&mut self) {
        say(ERASE_LINE);
    }
}

/// Writes past the stream that removes styles, because the line has to go without colours too.
fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

#[cfg(unix)]
mod keyboard {
    use std::io;
    use std::thread;

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
    use tokio::sync::oneshot;

    use super::{Choice, QuestionLine};

    /// A terminal that gives each key at once and does not show it. Signals of the keyboard stay, so that Ctrl-C ends the
    /// demonstration as it ends every command.
    struct KeyByKey {
        before: Termios,
    }

    impl KeyByKey {
        fn start() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut modes = before.clone();
            modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(io::stdin(), OptionalActions::Now, &modes)?;
            Ok(Self { before })
        }
    }

    impl Drop for KeyByKey {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }

    pub(super) async fn choice() -> io::Result<Choice> {
        // In this order: a key that is pressed as soon as the question is there must not be shown.
        let _modes = KeyByKey::start()?;
        let _line = QuestionLine::show();
        let (sender, receiver) = oneshot::channel();
        // A thread of its own, because a runtime waits for its own threads when it ends: after a signal this one still
        // reads, and the program has to end nevertheless.
        thread::Builder::new().name("hookrail-demo-keys".to_owned()).spawn(move || sender.send(read_choice()))?;
        receiver.await.unwrap_or(Ok(Choice::Quit))
    }

    fn read_choice() -> io::Result<Choice> {
        loop {
            let mut key = [0];
            // Read past the buffer of the standard library, which would keep keys that belong to what comes after.
            let count = rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut key))?;
            match (count, key) {
                (0, _) | (_, [b'q' | b'Q' | 4]) => return Ok(Choice::Quit),
                (_, [b'\r' | b'\n' | b' ']) => return Ok(Choice::Next),
                _ => {}
            }
        }
    }
}

#[cfg(not(unix))]
mod keyboard {
    use std::io;

    use super::{Choice, QuestionLine};

    pub(super) async fn choice() -> io::Result<Choice> {
        let _line = QuestionLine::show();
        let mut line = String::new();
        let count = io::stdin().read_line(&mut line)?;
        Ok(if count == 0 || line.trim().eq_ignore_ascii_case("q") { Choice::Quit } else { Choice::Next })
    }
}
