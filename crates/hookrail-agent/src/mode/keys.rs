//! A terminal that gives every key as it is pressed: raw mode, a thread that reads, and what one key is.

use std::io;

use tokio::sync::mpsc;

/// Splits what a terminal sent into keys: escape sequences, and characters one by one.
fn split(text: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\u{1b}' { sequence(rest) } else { first.len_utf8() };
        let (key, after) = rest.split_at(length.min(rest.len()));
        keys.push(key.to_owned());
        rest = after;
    }
    keys
}

/// The length of the escape sequence at the beginning of a text.
fn sequence(text: &str) -> usize {
    let mut rest = text.char_indices().skip(1);
    match rest.next() {
        Some((at, '[' | 'O')) => {
            rest.find(|(_, character)| ('@'..='~').contains(character)).map_or(at + 1, |(at, _)| at + 1)
        }
        // Alt and a key. An escape that an escape follows is a key of its own.
        Some((_, '\u{1b}')) | None => 1,
        Some((at, other)) => at + other.len_utf8(),
    }
}

/// Keys, until it is dropped. Then the terminal is as it was, and what was typed after is somebody else's.
pub(super) struct Keys {
    pub(super) pressed: mpsc::UnboundedReceiver<String>,
    #[cfg(unix)]
    _raw: unix::Raw,
    #[cfg(unix)]
    reader: unix::Reader,
}

#[cfg(unix)]
impl Keys {
    pub(super) fn listen() -> io::Result<Self> {
        let (to, pressed) = mpsc::unbounded_channel();
        let raw = unix::Raw::enter()?;
        let reader = unix::Reader::start(move |text| split(text).into_iter().all(|key| to.send(key).is_ok()))?;
        Ok(Self { pressed, _raw: raw, reader })
    }
}

#[cfg(unix)]
impl Drop for Keys {
    fn drop(&mut self) {
        self.reader.stop();
    }
}

#[cfg(not(unix))]
impl Keys {
    pub(super) fn listen() -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "keys cannot be read one by one on this system"))
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::thread::JoinHandle;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    /// The terminal in raw mode.
    pub(super) struct Raw(Termios);

    impl Raw {
        pub(super) fn enter() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut raw = before.clone();
            raw.make_raw();
            tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
            Ok(Self(before))
        }
    }

    impl Drop for Raw {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }

    /// The thread that reads. It waits for keys or for the end of a pipe, whichever comes first, so that it never takes
    /// a key that is meant for whoever comes next.
    pub(super) struct Reader {
        end: Option<OwnedFd>,
        thread: Option<JoinHandle<()>>,
    }

    impl Reader {
        pub(super) fn start(mut heard: impl FnMut(&str) -> bool + Send + 'static) -> io::Result<Self> {
            let (ended, end) = rustix::pipe::pipe()?;
            let body = move || {
                let mut unfinished = Vec::new();
                loop {
                    let stdin = io::stdin();
                    let mut waits = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
                    if let Err(error) = poll(&mut waits, None) {
                        if error == rustix::io::Errno::INTR {
                            continue;
                        }
                        return;
                    }
                    let [keys, end] = &waits;
                    if !end.revents().is_empty() || !keys.revents().contains(PollFlags::IN) {
                        return;
                    }
                    let mut bytes = [0; 1024];
                    let Ok(count @ 1..) = rustix::io::read(&stdin, &mut bytes) else { return };
                    unfinished.extend(bytes.iter().take(count));
                    let whole = match std::str::from_utf8(&unfinished) {
                        Ok(text) => text.len(),
                        // A character that is cut off waits for its rest; what is none is thrown away.
                        Err(error) if error.error_len().is_none() => error.valid_up_to(),
                        Err(_) => unfinished.len(),
                    };
                    let text: Vec<u8> = unfinished.drain(..whole).collect();
                    if !heard(&String::from_utf8_lossy(&text)) {
                        return;
                    }
                }
            };
            let thread = std::thread::Builder::new().name("hookrail-keys".to_owned()).spawn(body)?;
            Ok(Self { end: Some(end), thread: Some(thread) })
        }

        pub(super) fn stop(&mut self) {
            drop(self.end.take());
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn keys_are_told_apart() {
        assert_eq!(split("aé\u{1b}[Ab\u{1b}"), ["a", "é", "\u{1b}[A", "b", "\u{1b}"]);
        assert_eq!(
            split("\u{1b}[1;5C\u{1b}OA\u{1b}x\u{1b}\u{1b}[B"),
            ["\u{1b}[1;5C", "\u{1b}OA", "\u{1b}x", "\u{1b}", "\u{1b}[B"]
        );
        assert_eq!(split("\u{3}\r"), ["\u{3}", "\r"]);
    }
}
