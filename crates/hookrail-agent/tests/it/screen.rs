//! What a person sees: the agent on a pseudo-terminal, with a terminal emulator in front of it.

use std::io::Read as _;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{Expect as _, Session};

use crate::world::World;

const COLUMNS: u16 = 70;
const ROWS: u16 = 24;

pub(crate) struct Screen {
    session: OsSession,
    parser: vt100::Parser,
    written: Receiver<Vec<u8>>,
}

impl Screen {
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.agent(args);
        command
            .stdin(std::process::Stdio::inherit())
            .stdout(std::process::Stdio::inherit())
            .stderr(std::process::Stdio::inherit());
        let mut session = Session::spawn(command).unwrap();
        session.get_process_mut().set_window_size(COLUMNS, ROWS).unwrap();
        let mut terminal = session.get_process().get_raw_handle().unwrap();
        let (send, written) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of the agent is an error here, as it is for every terminal.
            while let Ok(count @ 1..) = terminal.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let screen = Self { session, parser: vt100::Parser::new(ROWS, COLUMNS, 500), written };
        screen.then("type a prompt")
    }

    /// The lines that are on the screen, without what fills them.
    pub(crate) fn lines(&self) -> Vec<String> {
        let contents = self.parser.screen().contents();
        contents.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Everything on the screen, as text.
    pub(crate) fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// Waits until the screen is as wanted. The time is a guard against a hang, nothing more.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&str) -> bool) {
        let began = Instant::now();
        while !holds(&self.text()) {
            match self.written.recv_timeout(Duration::from_secs(60).saturating_sub(began.elapsed())) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(_) => panic!("{what} never came:\n{}", self.text()),
            }
        }
    }

    #[track_caller]
    pub(crate) fn then(mut self, text: &str) -> Self {
        self.sees(text);
        self
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    /// Waits until the last line, in which the user types, begins with this text.
    #[track_caller]
    pub(crate) fn asks(&mut self, last: &str) {
        self.until(last, |screen| screen.lines().last().is_some_and(|line| line.trim_end() == last.trim_end()));
    }

    pub(crate) fn keys(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.asks(">");
        self.keys(&format!("{text}\r"));
    }

    /// Ends the agent, which has to end well.
    #[track_caller]
    pub(crate) fn exit(mut self) {
        self.line("/exit");
        let status = self.session.get_process().wait().unwrap();
        assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}\n{}", self.text());
    }
}
