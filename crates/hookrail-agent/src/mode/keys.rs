//! The keys of a terminal. `crossterm` sets raw mode and decodes what the terminal sends; here a thread waits for it.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Input from the terminal.
pub(super) enum Input {
    Key(KeyEvent),
    Pasted(String),
    Resized,
    /// The terminal was closed.
    Closed,
}

/// What happens to keys that were pressed before a listener asked for them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TypedAhead {
    Keep,
    /// Discards them: they cannot be the answer to a question that was not shown yet.
    Discard,
}

/// The keys of the terminal. Keys that one listener does not read are kept for the next.
pub(super) struct Keys {
    to: mpsc::UnboundedSender<Input>,
    from: mpsc::UnboundedReceiver<Input>,
    /// Input that came while only Escape was waited for.
    kept: VecDeque<Input>,
    reader: Option<JoinHandle<()>>,
}

impl Keys {
    pub(super) fn new() -> Self {
        let (to, from) = mpsc::unbounded_channel();
        Self { to, from, kept: VecDeque::new(), reader: None }
    }

    /// Sets raw mode and reads keys until the listener is dropped.
    pub(super) async fn listen(&mut self, typed_ahead: TypedAhead) -> io::Result<KeyListener<'_>> {
        self.last_reader_ended().await;
        let raw = RawMode::enter()?;
        let resized = Resizes::listen()?;
        let (wait, end) = wait::pair()?;
        let (is_ready, ready) = oneshot::channel();
        let to = self.to.clone();
        self.reader = Some(tokio::task::spawn_blocking(move || {
            if typed_ahead == TypedAhead::Discard {
                while matches!(next_event(), Ok(Some(_))) {}
            }
            let _ = is_ready.send(());
            read(&wait, &to);
        }));
        if typed_ahead == TypedAhead::Discard {
            let _ = ready.await;
            while self.from.try_recv().is_ok() {}
            self.kept.clear();
        }
        Ok(KeyListener { _end: end, _raw: raw, resized, keys: self })
    }
}

impl Keys {
    /// Waits for the reader thread of the last listener, which may still hold keys.
    async fn last_reader_ended(&mut self) {
        if let Some(reader) = &mut self.reader {
            let _ = reader.await;
            self.reader = None;
        }
    }

    /// Waits until Escape is pressed, and keeps all other keys for the next listener. The terminal stays as programs expect
    /// it: keys are echoed, and Ctrl-C is a signal.
    ///
    /// # Errors
    /// If the terminal cannot be used, or was closed.
    pub(super) async fn escape(&mut self) -> io::Result<()> {
        self.last_reader_ended().await;
        let _unbuffered = unbuffered::Mode::enter()?;
        let (wait, _end) = wait::pair()?;
        let to = self.to.clone();
        self.reader = Some(tokio::task::spawn_blocking(move || read(&wait, &to)));
        loop {
            match self.from.recv().await {
                Some(Input::Key(key)) if key.code == KeyCode::Esc && key.modifiers.is_empty() => return Ok(()),
                Some(Input::Closed) | None => {
                    self.kept.push_back(Input::Closed);
                    return Err(io::Error::other("the terminal was closed"));
                }
                Some(other) => self.kept.push_back(other),
            }
        }
    }
}

/// A listener. Dropping it ends the reading and raw mode.
pub(super) struct KeyListener<'k> {
    _end: wait::End,
    _raw: RawMode,
    resized: Resizes,
    keys: &'k mut Keys,
}

impl KeyListener<'_> {
    pub(super) async fn next(&mut self) -> Input {
        if let Some(input) = self.keys.kept.pop_front() {
            return input;
        }
        tokio::select! {
            biased;
            input = self.keys.from.recv() => input.unwrap_or(Input::Closed),
            () = self.resized.next() => Input::Resized,
        }
    }
}

/// Raw mode, until it is dropped.
pub(super) struct RawMode;

impl RawMode {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode().map(|()| Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        leave_raw_mode();
    }
}

/// Sets the terminal to the mode it had before raw mode.
pub(super) fn leave_raw_mode() {
    // An error means that the terminal was closed, and then its mode no longer matters.
    let _ = terminal::disable_raw_mode();
}

/// A terminal that passes on each key at once instead of whole lines, and is otherwise as it was.
#[cfg(unix)]
mod unbuffered {
    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// That mode, until it is dropped.
    pub(super) struct Mode(Termios);

    impl Mode {
        pub(super) fn enter() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut mode = before.clone();
            mode.local_modes.remove(LocalModes::ICANON);
            mode.special_codes[SpecialCodeIndex::VMIN] = 1;
            mode.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(io::stdin(), OptionalActions::Now, &mode)?;
            Ok(Self(before))
        }
    }

    impl Drop for Mode {
        fn drop(&mut self) {
            // An error means that the terminal was closed, and then its mode no longer matters.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }
}

#[cfg(not(unix))]
mod unbuffered {
    /// Escape is not waited for here, because the console has no such mode.
    pub(super) struct Mode;

    impl Mode {
        pub(super) fn enter() -> std::io::Result<Self> {
            Err(std::io::ErrorKind::Unsupported.into())
        }
    }
}

/// Sends all input until the wait is ended or the terminal is closed.
fn read(wait: &wait::Wait, to: &mpsc::UnboundedSender<Input>) {
    loop {
        match wait.until_readable() {
            wait::Woken::Ended => return,
            wait::Woken::Readable => {}
            wait::Woken::Gone => {
                let _ = to.send(Input::Closed);
                return;
            }
        }
        loop {
            let input = match next_event() {
                Ok(None) => break,
                Ok(Some(Event::Key(key))) if key.kind != KeyEventKind::Release => Input::Key(key),
                Ok(Some(Event::Paste(text))) => Input::Pasted(text),
                Ok(Some(Event::Resize(..))) => Input::Resized,
                Ok(Some(Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost)) => continue,
                Err(_) => Input::Closed,
            };
            let is_closed = matches!(input, Input::Closed);
            if to.send(input).is_err() || is_closed {
                return;
            }
        }
    }
}

/// Returns the next event that the terminal has already sent. The timeout is 1 ms, because with a timeout of zero
/// `crossterm` does not read the terminal.
fn next_event() -> io::Result<Option<Event>> {
    if event::poll(Duration::from_millis(1))? { event::read().map(Some) } else { Ok(None) }
}

/// Returns the sequence that a terminal sends for a key, which components of modules expect.
pub(super) fn sequence(key: &KeyEvent) -> Option<String> {
    let has = |modifier| key.modifiers.contains(modifier);
    let modifiers = 1
        + u8::from(has(KeyModifiers::SHIFT))
        + 2 * u8::from(has(KeyModifiers::ALT))
        + 4 * u8::from(has(KeyModifiers::CONTROL));
    let escape = if has(KeyModifiers::ALT) { "\u{1b}" } else { "" };
    let letter = |letter: char| match modifiers {
        1 => format!("\u{1b}[{letter}"),
        _ => format!("\u{1b}[1;{modifiers}{letter}"),
    };
    let number = |number: u8| match modifiers {
        1 => format!("\u{1b}[{number}~"),
        _ => format!("\u{1b}[{number};{modifiers}~"),
    };
    Some(match key.code {
        KeyCode::Char(character) if has(KeyModifiers::CONTROL) => format!("{escape}{}", control(character)?),
        KeyCode::Char(character) => format!("{escape}{character}"),
        KeyCode::Enter => format!("{escape}\r"),
        KeyCode::Tab => format!("{escape}\t"),
        KeyCode::Backspace => format!("{escape}\u{7f}"),
        KeyCode::Esc => format!("{escape}\u{1b}"),
        KeyCode::BackTab => "\u{1b}[Z".to_owned(),
        KeyCode::Up => letter('A'),
        KeyCode::Down => letter('B'),
        KeyCode::Right => letter('C'),
        KeyCode::Left => letter('D'),
        KeyCode::Home => letter('H'),
        KeyCode::End => letter('F'),
        KeyCode::Insert => number(2),
        KeyCode::Delete => number(3),
        KeyCode::PageUp => number(5),
        KeyCode::PageDown => number(6),
        KeyCode::F(count @ 1..=4) if modifiers == 1 => format!("\u{1b}O{}", char::from(b'O' + count)),
        KeyCode::F(count @ 1..=5) => number(10 + count),
        KeyCode::F(count @ 6..=10) => number(11 + count),
        KeyCode::F(count @ 11..=12) => number(12 + count),
        // Keys that only terminals with an extended protocol send.
        KeyCode::F(_)
        | KeyCode::Null
        | KeyCode::CapsLock
        | KeyCode::ScrollLock
        | KeyCode::NumLock
        | KeyCode::PrintScreen
        | KeyCode::Pause
        | KeyCode::Menu
        | KeyCode::KeypadBegin
        | KeyCode::Media(_)
        | KeyCode::Modifier(_) => return None,
    })
}

/// Returns the control character of a key.
fn control(character: char) -> Option<char> {
    let code = match character {
        ' ' => 0,
        'a'..='z' => u32::from(character) - u32::from('a') + 1,
        '4'..='7' => u32::from(character) - u32::from('4') + 0x1c,
        _ => return None,
    };
    char::from_u32(code)
}

/// Changes of the terminal's size. They are a signal, which wakes no thread that reads.
struct Resizes {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Resizes {
    #[cfg(unix)]
    fn listen() -> io::Result<Self> {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change())?;
        Ok(Self { signal })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        self.signal.recv().await;
    }

    #[cfg(not(unix))]
    fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        std::future::pending().await
    }
}

/// Waiting for keys or for the end of a pipe, whichever comes first. `crossterm` alone never returns from a terminal that
/// was closed, and cannot be told to stop.
#[cfg(unix)]
mod wait {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::event::{PollFd, PollFlags, poll};

    pub(super) struct Wait(OwnedFd);
    pub(super) struct End(#[expect(dead_code, reason = "what ends the wait is that it is closed")] OwnedFd);

    pub(super) enum Woken {
        Readable,
        Ended,
        Gone,
    }

    pub(super) fn pair() -> io::Result<(Wait, End)> {
        let (ended, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        Ok((Wait(ended), End(end)))
    }

    impl Wait {
        pub(super) fn until_readable(&self) -> Woken {
            let stdin = io::stdin();
            loop {
                let mut waits = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
                match poll(&mut waits, None) {
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(_) => return Woken::Gone,
                    Ok(_) => {}
                }
                let [keys, end] = &waits;
                if !end.revents().is_empty() {
                    return Woken::Ended;
                }
                let is_gone = keys.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
                return if is_gone { Woken::Gone } else { Woken::Readable };
            }
        }
    }
}

#[cfg(not(unix))]
mod wait {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    pub(super) struct Wait(Arc<AtomicBool>);
    pub(super) struct End(Arc<AtomicBool>);

    pub(super) enum Woken {
        Readable,
        Ended,
        Gone,
    }

    pub(super) fn pair() -> io::Result<(Wait, End)> {
        let ended = Arc::new(AtomicBool::new(false));
        Ok((Wait(Arc::clone(&ended)), End(ended)))
    }

    impl Drop for End {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl Wait {
        pub(super) fn until_readable(&self) -> Woken {
            while !self.0.load(Ordering::Relaxed) {
                match crossterm::event::poll(Duration::from_millis(50)) {
                    Ok(true) => return Woken::Readable,
                    Ok(false) => {}
                    Err(_) => return Woken::Gone,
                }
            }
            Woken::Ended
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_gets_what_a_terminal_sends() {
        let sent = |code, modifiers| sequence(&KeyEvent::new(code, modifiers)).unwrap();
        let none = KeyModifiers::NONE;
        assert_eq!(sent(KeyCode::Char('é'), none), "é");
        assert_eq!(sent(KeyCode::Char('A'), KeyModifiers::SHIFT), "A");
        assert_eq!(sent(KeyCode::Char('c'), KeyModifiers::CONTROL), "\u{3}");
        assert_eq!(sent(KeyCode::Char('x'), KeyModifiers::ALT), "\u{1b}x");
        assert_eq!(sent(KeyCode::Enter, none), "\r");
        assert_eq!(sent(KeyCode::Esc, none), "\u{1b}");
        assert_eq!(sent(KeyCode::Up, none), "\u{1b}[A");
        assert_eq!(sent(KeyCode::Right, KeyModifiers::CONTROL), "\u{1b}[1;5C");
        assert_eq!(sent(KeyCode::Delete, none), "\u{1b}[3~");
        assert_eq!(sent(KeyCode::F(1), none), "\u{1b}OP");
        assert_eq!(sent(KeyCode::F(5), none), "\u{1b}[15~");
        assert_eq!(sent(KeyCode::F(12), none), "\u{1b}[24~");
    }
}
