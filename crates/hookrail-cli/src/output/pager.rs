//! The pager, for output that may be longer than a terminal.
//!
//! It is looked for in the system's own folders: a part of `PATH` may lie inside of a project that is not trusted.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anstream::{AutoStream, ColorChoice};
use hookrail_app::failure::Result;

use crate::output::{self, Reader};
use crate::render::width;

/// Where a name without a folder is looked for.
const FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Where long text goes.
#[derive(Debug)]
pub(crate) enum LongOutput {
    /// To standard output.
    Direct,
    /// To a pager, if there is more of it than the terminal has rows.
    Planned {
        command: PagerCommand,
        rows: usize,
        waiting: String,
    },
    Paged(Pager),
}

/// The words that start a pager.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PagerCommand {
    program: PathBuf,
    arguments: Vec<String>,
}

/// A pager that runs.
#[derive(Debug)]
pub(crate) struct Pager {
    child: Child,
    input: ChildStdin,
}

impl LongOutput {
    /// Plans a pager if standard output is a terminal and there is one.
    pub(crate) fn paged() -> Self {
        let given = std::env::var("PAGER").ok();
        let rows = width::rows_of_stdout().filter(|_| io::stdin().is_terminal());
        match rows.and_then(|rows| Some((rows, PagerCommand::of(given.as_deref())?))) {
            Some((rows, command)) => Self::Planned { command, rows, waiting: String::new() },
            None => Self::Direct,
        }
    }

    /// Writes text for people, as [`output::text_to_reader`] does.
    pub(crate) fn text(&mut self, text: &str) -> Result<Reader> {
        match self {
            Self::Paged(pager) => Ok(pager.write(text)),
            Self::Direct if text.is_empty() => Ok(Reader::Present),
            Self::Direct => output::text_to_reader(text),
            Self::Planned { command, rows, waiting } => {
                waiting.push_str(text);
                if broken_for_terminal(waiting).lines().count() < *rows {
                    return Ok(Reader::Present);
                }
                let text = std::mem::take(waiting);
                *self = command.start().map_or(Self::Direct, Self::Paged);
                self.text(&text)
            }
        }
    }

    /// Writes what fits without a pager, or waits until the user has left it.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Direct => {}
            Self::Planned { waiting, .. } => output::text(&waiting)?,
            Self::Paged(Pager { mut child, input }) => {
                drop(input);
                let _ = child.wait();
            }
        }
        Ok(())
    }
}

/// Text with lines that fit into the terminal.
fn broken_for_terminal(text: &str) -> Cow<'_, str> {
    width::of_stdout().map_or(Cow::Borrowed(text), |columns| Cow::Owned(width::broken(text, columns)))
}

impl PagerCommand {
    /// The pager that the user names, else `less`; none for an empty name, `cat`, or what is not there.
    fn of(given: Option<&str>) -> Option<Self> {
        let mut words = given.unwrap_or("less").split_whitespace().map(str::to_owned);
        let program = words.next().filter(|program| program != "cat")?;
        let program = match Path::new(&program) {
            path if path.is_absolute() => path.to_owned(),
            // A path that begins in the current folder.
            path if path.components().count() > 1 => return None,
            name => FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())?,
        };
        Some(Self { program, arguments: words.collect() })
    }

    fn start(&self) -> Option<Pager> {
        outlive_interrupts();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped());
        // The text stays on the screen, and has colours and characters beyond ASCII.
        for (name, value) in [("LESS", "FRX"), ("LESSCHARSET", "utf-8")] {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take()?;
        Some(Pager { child, input })
    }
}

impl Pager {
    fn write(&mut self, text: &str) -> Reader {
        let text = broken_for_terminal(text);
        let written = if AutoStream::choice(&io::stdout()) == ColorChoice::Never {
            write!(self.input, "{}", anstream::adapter::strip_str(&text))
        } else {
            self.input.write_all(text.as_bytes())
        };
        // The user has left it.
        if written.is_err() { Reader::Gone } else { Reader::Present }
    }
}

/// Keeps Ctrl-C, which a pager handles itself, from ending this process before the pager: the terminal would be left to both the
/// pager and the shell. A handled signal is not inherited, an ignored one would be.
fn outlive_interrupts() {
    #[cfg(unix)]
    if let Ok(runtime) = hookrail_app::runtime::runtime() {
        let _entered = runtime.enter();
        // Without it Ctrl-C ends the process, as it does elsewhere.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pager_is_a_program_of_the_system_or_has_a_whole_path() {
        let program = |given| PagerCommand::of(Some(given)).map(|command| command.program);
        assert_eq!(program("/opt/my pager"), Some(PathBuf::from("/opt/my")));
        assert!(program("sh -c x").is_some_and(|path| path.is_absolute()));
        for none in ["", " ", "cat", "./less", "bin/less", "no-such-pager"] {
            assert_eq!(program(none), None, "{none}");
        }
    }
}
