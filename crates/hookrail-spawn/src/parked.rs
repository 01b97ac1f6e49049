//! Children that are started before they are needed, and children that stay after an answer.
//!
//! A parked child belongs to no runtime: it can be kept in any collection and used from any thread. Its descriptors are
//! registered with the runtime of the caller that uses it, for as long as the use takes.

use std::future::poll_fn;
use std::io;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep, sleep_until};

use crate::cancel::CancelToken;
use crate::capture::CapturedStream;
use crate::command::ChildCommand;
use crate::end::{ChildEnd, ChildExit, StartEnd};
use crate::error::SpawnError;
use crate::run::{ChildResult, StopCause, StopCondition, deadline_after, drive_to_end, start_in_time, without_child};
use crate::sys;
use crate::termination::Termination;

/// The time for which an exchange polls stdin and stdout only, because most answers come at once.
const QUICK_PHASE: Duration = Duration::from_millis(2);

/// A started child that waits for its input. Dropping it kills it, with everything it has started.
#[derive(Debug)]
pub struct ParkedChild(sys::StartedChild);

impl ParkedChild {
    /// Starts a command; its stdin stays open and empty. The command's timeout is the time that the start may take, and its
    /// limits are not used yet.
    ///
    /// This blocks, needs no runtime, and does not try again if the program is open for writing.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, or not in time.
    pub fn start(command: &ChildCommand) -> Result<Self, SpawnError> {
        let until = deadline_after(Instant::now(), command.timeout).into_std();
        let not_in_time = || SpawnError::NotInTime { program: command.program.clone() };
        Self::begin(command)?.wait_until(until).unwrap_or_else(|| Err(not_in_time())).map(Self)
    }

    /// Starts a command as [`start`](Self::start) does, without blocking, until an instant or until it is cancelled.
    ///
    /// # Errors
    ///
    /// If the program cannot be started.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the time driver.
    pub async fn start_until(
        command: &ChildCommand,
        until: tokio::time::Instant,
        cancel: &CancelToken,
    ) -> Result<ControlFlow<StartEnd, Self>, SpawnError> {
        let deadline = pin!(sleep_until(until));
        let cancelled = pin!(cancel.cancelled());
        let mut stop = StopCondition::new(cancelled, deadline);
        Ok(start_in_time(Self::begin(command)?, &mut stop).await?.map_continue(Self))
    }

    fn begin(command: &ChildCommand) -> Result<sys::Starting, SpawnError> {
        if sys::CAN_PARK {
            return Ok(sys::start(command));
        }
        Err(SpawnError::Other { program: command.program.clone(), source: io::ErrorKind::Unsupported.into() })
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0.child.pid()
    }

    /// Whether the direct child has exited.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.0.child.has_exited()
    }

    /// Whether stdout is open and has no unread bytes. After a reply, unread bytes are output that no request asked for.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.0.is_quiet()
    }

    /// Writes the command's input to the child, closes its stdin, and lets it run to its end like [`run`](crate::run).
    ///
    /// The command's timeout, graces and limits apply from this call on.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the child's pipes. It is killed then.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the I/O and time drivers.
    pub async fn finish(self, command: &ChildCommand, cancel: &CancelToken) -> io::Result<ChildResult> {
        let begun = Instant::now();
        let deadline = pin!(sleep_until(deadline_after(begun, command.timeout)));
        let cancelled = pin!(cancel.cancelled());
        let mut stop = StopCondition::new(cancelled, deadline);
        if cancel.is_cancelled() {
            return Ok(without_child(ChildEnd::Cancelled, begun));
        }
        let Self(mut started) = self;
        started.stdin.feed(&command.stdin, sys::AfterInput::End)?;
        // Registered here, where an error is returned. `poll_read` would treat a pipe that cannot be watched as ended, and a
        // host without descriptors would read an empty answer.
        started.watch()?;
        Ok(drive_to_end(started, command, &mut stop, begun).await)
    }

    /// Writes the command's input and waits for one line of stdout, without its line break.
    ///
    /// The command's timeout, graces and limits apply to this exchange; `stdout_keep` is the longest line.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the child's pipes. It is killed then.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the I/O and time drivers.
    pub async fn request_line(self, command: &ChildCommand, cancel: &CancelToken) -> io::Result<Exchange> {
        let begun = Instant::now();
        let Self(mut started) = self;
        // Each pipe is registered with the runtime at its first poll. For a quick answer most are never polled.
        started.stdin.feed(&command.stdin, sys::AfterInput::Open)?;
        let mut exchange = OngoingExchange {
            started,
            line: ReplyLine { text: Vec::new(), more: false, longest: command.limits.stdout_keep },
            stderr: CapturedStream::default(),
            command,
            quick: QuickPhase::NotBegun,
            closed: None,
        };
        let deadline = pin!(sleep_until(deadline_after(begun, command.timeout)));
        let cancelled = pin!(cancel.cancelled());
        let mut stop = StopCondition::new(cancelled, deadline);
        let reply = poll_fn(|cx| exchange.poll(cx, &mut stop)).await;
        Ok(exchange.into_exchange(reply, begun))
    }

    /// Begins to end the child: sends the first signal, closes its stdin, and returns the rest of the work.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with the I/O and time drivers.
    pub fn retire(self, grace: Duration) -> Termination {
        let sys::StartedChild { child, stdin, stdout, stderr } = self.0;
        let termination = Termination::start(child, [stdout, stderr], grace);
        // Closed after the signal: a prestarted child must not read the end of its stdin as an empty input and act on it.
        drop(stdin);
        termination
    }
}

/// The result of one request to a parked child.
#[derive(Debug)]
pub struct Exchange {
    /// How the exchange ended.
    pub reply: ExchangeReply,
    /// The bytes that were read from stderr since the previous exchange.
    pub stderr: CapturedStream,
    /// The time from the request to the reply.
    pub elapsed: Duration,
    /// The child, if it can take another request.
    pub parked: Option<ParkedChild>,
    /// The rest of the work to end the child, if it cannot; dropping it kills the child at once.
    pub termination: Option<Termination>,
}

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeReply {
    /// The child wrote a line.
    Line(Vec<u8>),
    /// The child exited without a whole line.
    Exited(ChildExit),
    /// The child closed its stdout without a whole line.
    Closed,
    /// The line is longer than the limit.
    TooLong,
    /// The deadline passed first.
    TimedOut,
    /// The exchange was cancelled.
    Cancelled,
}

/// Whether an exchange is still in the time of a quick answer.
enum QuickPhase {
    /// The exchange was not polled yet.
    NotBegun,
    /// Until this timer fires.
    Until(Pin<Box<Sleep>>),
    Over,
}

/// An exchange that has not ended yet.
struct OngoingExchange<'c> {
    started: sys::StartedChild,
    line: ReplyLine,
    stderr: CapturedStream,
    command: &'c ChildCommand,
    quick: QuickPhase,
    /// The drain grace after stdout was closed, in which the child is expected to exit.
    closed: Option<Pin<Box<Sleep>>>,
}

impl OngoingExchange<'_> {
    fn poll<C: Future<Output = ()>>(
        &mut self,
        cx: &mut Context<'_>,
        stop: &mut StopCondition<'_, C>,
    ) -> Poll<ExchangeReply> {
        match stop.poll(cx) {
            Poll::Ready(StopCause::Cancelled) => return Poll::Ready(ExchangeReply::Cancelled),
            // The answer or the exit may have come in time while the host was stopped or busy, so both are checked before
            // the exchange counts as timed out.
            Poll::Ready(StopCause::Deadline) => match self.look_for_reply() {
                Some(reply) => return Poll::Ready(reply),
                None if !self.line.text.is_empty() && stop.extend_after_absence() => {
                    let _ = stop.poll(cx);
                }
                None => return Poll::Ready(ExchangeReply::TimedOut),
            },
            Poll::Pending => {}
        }
        if self.is_quick(cx) {
            return self.poll_answer(cx).map_or(Poll::Pending, Poll::Ready);
        }
        // The end of stderr does not matter, but a full pipe would block the child.
        let keep = self.command.limits.stderr_keep;
        let _ = self.started.stderr.poll_read(cx, &mut |chunk| self.stderr.add(chunk, keep));
        if let Some(reply) = self.poll_answer(cx) {
            return Poll::Ready(reply);
        }
        let closed = self.started.stdout.has_ended();
        if self.started.child.poll_exit(cx).is_ready()
            && let Some(reply) = self.look_for_reply()
        {
            return Poll::Ready(reply);
        }
        if closed {
            // Most children that close stdout are about to exit, and an exit status says more than `Closed`.
            let grace = self.command.limits.drain_grace;
            let waiting = self.closed.get_or_insert_with(|| Box::pin(sleep(grace)));
            return waiting.as_mut().poll(cx).map(|()| ExchangeReply::Closed);
        }
        Poll::Pending
    }

    /// Returns the reply that is available now, asking the system and not the runtime.
    fn look_for_reply(&mut self) -> Option<ExchangeReply> {
        // The exit is checked first: everything that the child wrote before its exit is then in the pipe.
        let has_exited = self.started.child.has_exited();
        self.started.stdout.drain(&mut |chunk| self.line.add(chunk));
        match self.line.take_reply() {
            None if has_exited => Some(ExchangeReply::Exited(self.started.child.exit())),
            reply => reply,
        }
    }

    /// Whether the answer may still be a quick one. For that time only stdin and stdout are polled: most answers come at
    /// once, and registering every pipe with the runtime costs more than they do. A child that has exited, or is blocked on
    /// a full stderr, is noticed right afterwards.
    fn is_quick(&mut self, cx: &mut Context<'_>) -> bool {
        if matches!(self.quick, QuickPhase::NotBegun) {
            self.quick = QuickPhase::Until(Box::pin(sleep(QUICK_PHASE)));
        }
        let QuickPhase::Until(quick) = &mut self.quick else { return false };
        let is_quick = quick.as_mut().poll(cx).is_pending() && !self.started.stdout.has_ended();
        if !is_quick {
            self.quick = QuickPhase::Over;
        }
        is_quick
    }

    /// Writes stdin and reads stdout as far as possible; returns the reply when it is complete.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Option<ExchangeReply> {
        self.started.stdin.poll_feed(cx);
        let closed = self.started.stdout.poll_read(cx, &mut |chunk| self.line.add(chunk)).is_ready();
        let reply = self.line.take_reply();
        if closed && reply.is_none() && matches!(self.quick, QuickPhase::Until(_)) {
            // No answer can come from a closed stdout, so the next poll also checks the exit.
            self.quick = QuickPhase::Over;
            cx.waker().wake_by_ref();
        }
        reply
    }

    fn into_exchange(mut self, reply: ExchangeReply, begun: Instant) -> Exchange {
        // What the child wrote to stderr before the reply belongs to it, although the reactor may not have reported it.
        if self.started.stderr.has_bytes() {
            let keep = self.command.limits.stderr_keep;
            self.started.stderr.drain(&mut |chunk| self.stderr.add(chunk, keep));
        }
        let (stderr, elapsed) = (self.stderr, begun.elapsed());
        let grace = match reply {
            ExchangeReply::Cancelled => self.command.grace_after(ChildEnd::Cancelled),
            _ => self.command.grace,
        };
        if matches!(reply, ExchangeReply::Line(_)) && !self.line.more && self.started.park() {
            return Exchange { reply, stderr, elapsed, parked: Some(ParkedChild(self.started)), termination: None };
        }
        self.started.stdin.close();
        let termination = ParkedChild(self.started).retire(grace);
        Exchange { reply, stderr, elapsed, parked: None, termination: Some(termination) }
    }
}

/// The line that is read as the reply.
struct ReplyLine {
    /// What was read of the line, with its line break.
    text: Vec<u8>,
    /// Whether bytes follow the line. They would be read as the reply to the next request, so the child is then ended.
    more: bool,
    longest: usize,
}

impl ReplyLine {
    /// Adds the part of a chunk that belongs to the line.
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

    /// Returns the reply once the line is complete or too long.
    fn take_reply(&mut self) -> Option<ExchangeReply> {
        if self.text.len() > self.longest {
            return Some(ExchangeReply::TooLong);
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
            return Some(ExchangeReply::Line(std::mem::take(&mut self.text)));
        }
        None
    }
}
