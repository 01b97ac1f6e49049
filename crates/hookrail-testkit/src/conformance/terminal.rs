//! The terminal that a case can ask for: a pseudo terminal of some width, on which everything is typed before the program starts.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::termios::{Winsize, tcsetwinsize};

use crate::terminals::open_terminal;

/// A terminal, seen from the side of the person in front of it.
pub(super) struct Terminal {
    /// Held so that the terminal is there until the program has ended.
    _keyboard: File,
    screen: Receiver<Vec<u8>>,
}

impl Terminal {
    /// Opens a terminal, types the text, and makes it all three streams of the command.
    pub(super) fn open(columns: u16, typed: &str, command: &mut Command) -> io::Result<Self> {
        let (mut keyboard, device) = open_terminal()?;
        tcsetwinsize(&keyboard, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        command.stdin(device.try_clone()?).stdout(device.try_clone()?).stderr(device);
        keyboard.write_all(typed.as_bytes())?;
        let mut shown = keyboard.try_clone()?;
        let (send, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of the last program on a terminal is an error to who reads it.
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                if send.send(bytes.get(..count).unwrap_or_default().to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { _keyboard: keyboard, screen })
    }

    /// Everything that was written to it, once no program holds it any more. A program that holds it on is waited for no longer than
    /// this.
    pub(super) fn text(&self, longest: Duration) -> String {
        let mut bytes = Vec::new();
        while let Ok(more) = self.screen.recv_timeout(longest) {
            bytes.extend(more);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
