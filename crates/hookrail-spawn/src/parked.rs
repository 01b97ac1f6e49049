//! Children that are started before they are needed, and children that stay after an answer.
//!
//! A parked child belongs to no runtime: it can be kept in any collection and taken from any thread. It enters the
//! runtime of whoever uses it, for as long as that takes.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep, sleep_until};

use crate::cancel::CancelToken;
use crate::capture::Captured;
use crate::command::Command;
use crate::error::SpawnError;
use crate::outcome::{End, Exit, Finished};
use crate::run::{Stop, deadline, drive, without_child};
use crate::sys;
use crate::termination::Termination;

/// How long an answer counts as a quick one.
const QUICK: Duration = Duration::from_millis(2);

/// A started child that waits for its input. Dropping it kills it, with everything it has started.
#[derive(Debug)]
pub struct Parked(sys::Started);

impl Parked {
    /// Starts a command; its stdin stays open and empty. Timeout and limits of the command play no part yet.
    ///
    /// This needs no runtime, and does not wait for a program that is being written.
    ///
    /// # Errors
    ///
    /// If the program cannot be started.
    pub fn start(command: &Command) -> Result<Self, SpawnError> {
        if !sys::CAN_WAIT {
            return Err(SpawnError::Other {
                program: command.program.clone(),
                source: io::ErrorKind::Unsupported.into(),
            });
        }
        sys::start(command).map(Self)
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0.child.pid()
    }

    /// Whether the direct child has exited.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.0.child.has_exited()
    }

    /// Whether the child is there, has written nothing to stdout that nobody has read, and has not closed it.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.0.is_quiet()
    }

    /// Gives the child the command's input and the end of it, and lets it run to its end like [`run`](crate::run).
    ///
    /// The command's timeout, graces and limits count, from now on.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the child's pipes. It is killed then.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the I/O and time drivers.
    pub async fn finish(self, command: &Command, cancel: &CancelToken) -> io::Result<Finished> {
        let begun = Instant::now();
        let deadline = pin!(sleep_until(deadline(begun, command.timeout)));
        let cancelled = pin!(cancel.cancelled());
        let mut stop = Stop::new(cancelled, deadline);
        if cancel.is_cancelled() {
            return Ok(without_child(End::Cancelled, begun));
        }
        let Self(mut started) = self;
        started.stdin.feed(&command.stdin, sys::After::End)?;
        // A pipe that cannot be watched must not pass for a child that wrote nothing.
        started.watch()?;
        Ok(drive(started, command, &mut stop, begun).await)
    }

    /// Writes the command's input and waits for one line of stdout, without its line break.
    ///
    /// The command's timeout and graces count for this exchange. So do its limits: `stdout_keep` is the longest line.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the child's pipes. It is killed then.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the I/O and time drivers.
    pub async fn ask(self, command: &Command, cancel: &CancelToken) -> io::Result<Exchange> {
        let begun = Instant::now();
        let Self(mut started) = self;
        // Each pipe enters the runtime when somebody waits for it, and for a quick answer nobody waits for most.
        started.stdin.feed(&command.stdin, sys::After::Open)?;
        let mut talking = Talking {
            started,
            line: Line { text: Vec::new(), more: false, longest: command.limits.stdout_keep },
            stderr: Captured::default(),
            command,
            quick: Quick::NotBegun,
            closed: None,
        };
        let deadline = pin!(sleep_until(deadline(begun, command.timeout)));
        let cancelled = pin!(cancel.cancelled());
        let mut stop = Stop::new(cancelled, deadline);
        let reply = poll_fn(|cx| talking.poll(cx, &mut stop)).await;
        Ok(talking.conclude(reply, begun))
    }

    /// Ends the child: its stdin ends, and the termination does the rest.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the I/O and time drivers.
    pub fn retire(self, grace: Duration) -> Termination {
        let sys::Started { child, stdin, stdout, stderr } = self.0;
        let termination = Termination::start(child, [stdout, stderr], grace);
        // Only now: a child that was not asked must not take the end for an empty input.
        drop(stdin);
        termination
    }
}

/// What came of a question.
#[derive(Debug)]
pub struct Exchange {
    /// What there was instead of silence.
    pub reply: Reply,
    /// What was read of stderr since the exchange before.
    pub stderr: Captured,
    /// From the question to the reply.
    pub elapsed: Duration,
    /// The child, when it can be asked again.
    pub parked: Option<Parked>,
    /// What is still to be done to end the child, when it cannot; dropping it kills at once.
    pub termination: Option<Termination>,
}

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The child wrote a line.
    Line(Vec<u8>),
    /// The child exited without a whole line.
    Exited(Exit),
    /// The child closed its stdout without a whole line.
    Closed,
    /// The line is longer than it may be.
    TooLong,
    /// The deadline passed first.
    TimedOut,
    /// The exchange was cancelled.
    Cancelled,
}

/// Whether an answer would be a quick one.
enum Quick {
    /// Nobody has waited for it yet.
    NotBegun,
    /// For as long as this runs.
    Until(Pin<Box<Sleep>>),
    Over,
}

/// An exchange that goes on.
struct Talking<'c> {
    started: sys::Started,
    line: Line,
    stderr: Captured,
    command: &'c Command,
    /// Runs as long as the answer would be a quick one.
    quick: Quick,
    /// Runs since stdout was closed.
    closed: Option<Pin<Box<Sleep>>>,
}

impl Talking<'_> {
    fn poll<C: Future<Output = ()>>(&mut self, cx: &mut Context<'_>, stop: &mut Stop<'_, C>) -> Poll<Reply> {
        match stop.poll(cx) {
            Poll::Ready(End::Cancelled) => return Poll::Ready(Reply::Cancelled),
            // The answer, or the end of the child, may have come in time while the host was stopped or busy.
            Poll::Ready(_) => match self.look() {
                Some(reply) => return Poll::Ready(reply),
                None if !self.line.text.is_empty() && stop.extend_after_absence() => {
                    let _ = stop.poll(cx);
                }
                None => return Poll::Ready(Reply::TimedOut),
            },
            Poll::Pending => {}
        }
        if self.is_quick(cx) {
            return self.poll_answer(cx).map_or(Poll::Pending, Poll::Ready);
        }
        // The end of stderr changes nothing, but a full pipe would stop the child.
        let keep = self.command.limits.stderr_keep;
        let _ = self.started.stderr.poll_read(cx, &mut |chunk| self.stderr.add(chunk, keep));
        if let Some(reply) = self.poll_answer(cx) {
            return Poll::Ready(reply);
        }
        let closed = self.started.stdout.has_ended();
        if self.started.child.poll_exit(cx).is_ready()
            && let Some(reply) = self.look()
        {
            return Poll::Ready(reply);
        }
        if closed {
            // Most that close it are about to exit, and then there is a status to tell.
            let grace = self.command.limits.drain_grace;
            let waiting = self.closed.get_or_insert_with(|| Box::pin(sleep(grace)));
            return waiting.as_mut().poll(cx).map(|()| Reply::Closed);
        }
        Poll::Pending
    }

    /// The reply that is there at this moment, whatever the runtime has told so far.
    fn look(&mut self) -> Option<Reply> {
        // Asked first, because what it wrote before its end is in the pipe then.
        let has_exited = self.started.child.has_exited();
        self.started.stdout.drain(&mut |chunk| self.line.add(chunk));
        match self.line.complete() {
            None if has_exited => Some(Reply::Exited(self.started.child.exit())),
            reply => reply,
        }
    }

    /// Whether the answer may still be a quick one. As long as that is so only the answer is waited for: most come at once,
    /// and handing every pipe to the runtime and back costs more than they do. A child that has gone or is stopped by a full
    /// pipe is noticed right after.
    fn is_quick(&mut self, cx: &mut Context<'_>) -> bool {
        if matches!(self.quick, Quick::NotBegun) {
            self.quick = Quick::Until(Box::pin(sleep(QUICK)));
        }
        let Quick::Until(quick) = &mut self.quick else { return false };
        let is_quick = quick.as_mut().poll(cx).is_pending() && !self.started.stdout.has_ended();
        if !is_quick {
            self.quick = Quick::Over;
        }
        is_quick
    }

    /// Writes what the child takes and reads what it says; the reply, when that is whole.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Option<Reply> {
        self.started.stdin.poll_feed(cx);
        let closed = self.started.stdout.poll_read(cx, &mut |chunk| self.line.add(chunk)).is_ready();
        let reply = self.line.complete();
        if closed && reply.is_none() && matches!(self.quick, Quick::Until(_)) {
            // There is nothing to be quick about any more, so the next look is a whole one.
            self.quick = Quick::Over;
            cx.waker().wake_by_ref();
        }
        reply
    }

    fn conclude(mut self, reply: Reply, begun: Instant) -> Exchange {
        // What was written to stderr before the reply belongs to it, although the reactor may not have told yet.
        if self.started.stderr.has_bytes() {
            let keep = self.command.limits.stderr_keep;
            self.started.stderr.drain(&mut |chunk| self.stderr.add(chunk, keep));
        }
        let (stderr, elapsed) = (self.stderr, begun.elapsed());
        let grace = match reply {
            Reply::Cancelled => self.command.grace_after(End::Cancelled),
            _ => self.command.grace,
        };
        if matches!(reply, Reply::Line(_)) && !self.line.more && self.started.park() {
            return Exchange { reply, stderr, elapsed, parked: Some(Parked(self.started)), termination: None };
        }
        self.started.stdin.close();
        let termination = Parked(self.started).retire(grace);
        Exchange { reply, stderr, elapsed, parked: None, termination: Some(termination) }
    }
}

/// The first line of an answer.
struct Line {
    /// What was read of it, with its line break.
    text: Vec<u8>,
    /// Whether something follows the line, which nobody has asked for.
    more: bool,
    longest: usize,
}

impl Line {
    /// Takes what belongs to the line.
    fn add(&mut self, chunk: &[u8]) {
        if self.text.last() == Some(&b'\n') {
            self.more = true;
            return;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n').map_or(chunk.len(), |at| at + 1);
        self.more |= end < chunk.len();
        let room = self.longest.saturating_add(2).saturating_sub(self.text.len()).min(end);
        self.text.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
    }

    /// The reply, once the line is whole or too long.
    fn complete(&mut self) -> Option<Reply> {
        if self.text.len() > self.longest {
            return Some(Reply::TooLong);
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
            return Some(Reply::Line(std::mem::take(&mut self.text)));
        }
        None
    }
}
