//! One run: a single loop over stdin, stdout, stderr, exit, deadline and cancel.
//!
//! This module knows no platform. The hard idea is that a run ends with the
//! exit of the direct child, not with the end of its output: somebody else may
//! hold the pipes for ever.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep, sleep_until};

use crate::cancel::CancelToken;
use crate::capture::{Captured, Truncation};
use crate::command::{Command, Limits};
use crate::error::SpawnError;
use crate::outcome::{End, Exit, Finished, Survivors};
use crate::sys;
use crate::termination::Termination;

/// How long to wait between attempts to start a program that is being written.
///
/// Mostly nobody is writing it: another thread of the host has just forked and
/// for a moment holds a copy of the descriptor that wrote it.
const BUSY_PAUSES: [Duration; 4] =
    [Duration::from_millis(1), Duration::from_millis(4), Duration::from_millis(16), Duration::from_millis(64)];

/// How long a thread waits for a child before it lets the runtime do so.
const SOON: Duration = Duration::from_millis(5);

/// How long after a deadline it must be noticed for the host to have been absent, and not merely slow.
const ABSENCE: Duration = Duration::from_millis(100);

/// The time a child that waited for an absent host has to come to its end.
const AFTER_ABSENCE: Duration = Duration::from_secs(1);

/// Further away than any deadline that can be met, and still a valid instant.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// Starts the command, feeds it, reads it, and says how it ended.
///
/// At the deadline or on cancellation the result is returned at once, with
/// what was read so far, and [`Finished::termination`] holds what remains to be
/// done. SIGTERM has been sent by then; drive [`Termination::finish`] in the
/// background for the rest.
///
/// Dropping the future, at any moment, kills the child's group and everything
/// with its marker with SIGKILL; a short-lived thread reaps the child.
///
/// # Errors
///
/// If the program cannot be started. Nothing is left running then.
///
/// # Panics
///
/// Outside a tokio runtime with the I/O and time drivers.
pub async fn run(command: &Command, cancel: &CancelToken) -> Result<Finished, SpawnError> {
    run_with(command, cancel, Wait::Runtime).await
}

/// Does the same as [`run`] for a thread that has nothing else to do.
///
/// Most children exit soon. So the thread itself waits at first, for a few milliseconds, before anything is handed to the
/// runtime. Other tasks of the runtime stand still for that time, and so does a cancellation.
///
/// # Errors
///
/// If the program cannot be started. Nothing is left running then.
///
/// # Panics
///
/// Outside a tokio runtime with the I/O and time drivers.
pub async fn run_holding_the_thread(command: &Command, cancel: &CancelToken) -> Result<Finished, SpawnError> {
    run_with(command, cancel, Wait::Thread).await
}

/// Who waits for a child at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Runtime,
    Thread,
}

async fn run_with(command: &Command, cancel: &CancelToken, wait: Wait) -> Result<Finished, SpawnError> {
    let begun = Instant::now();
    let deadline = pin!(sleep_until(deadline(begun, command.timeout)));
    let cancelled = pin!(cancel.cancelled());
    let mut stop = Stop::new(cancelled, deadline);
    if let Some(end) = over_before_start(command, cancel) {
        return Ok(without_child(end, begun));
    }
    match start(command, &mut stop).await? {
        ControlFlow::Continue(mut started) => {
            if wait == Wait::Thread && started.exits_within(SOON.min(command.timeout)) {
                let running = Running::new(started, command.limits, begun);
                return Ok(running.after(Event::Exited, command, &mut stop).await);
            }
            started.watch().map_err(|error| sys::on_host(command, error))?;
            Ok(drive(started, command, &mut stop, begun).await)
        }
        ControlFlow::Break(end) => Ok(without_child(end, begun)),
    }
}

/// Takes a child that has its input, or is getting it, to its end.
pub(crate) async fn drive<C: Future<Output = ()>>(
    started: sys::Started,
    command: &Command,
    stop: &mut Stop<'_, C>,
    begun: Instant,
) -> Finished {
    let mut running = Running::new(started, command.limits, begun);
    let event = poll_fn(|cx| running.poll(cx, stop)).await;
    running.after(event, command, stop).await
}

/// When the time is up. No timeout is so long that there is no such instant.
pub(crate) fn deadline(begun: Instant, timeout: Duration) -> tokio::time::Instant {
    begun.checked_add(timeout.min(FAR)).unwrap_or(begun).into()
}

/// Whether nothing must be started at all.
///
/// Asked without the timer, which may be a millisecond late.
fn over_before_start(command: &Command, cancel: &CancelToken) -> Option<End> {
    if cancel.is_cancelled() {
        Some(End::Cancelled)
    } else if command.timeout.is_zero() {
        Some(End::TimedOut)
    } else {
        None
    }
}

/// What ends a run from outside.
pub(crate) struct Stop<'a, C> {
    cancelled: Pin<&'a mut C>,
    deadline: Pin<&'a mut Sleep>,
    is_extended: bool,
}

impl<'a, C: Future<Output = ()>> Stop<'a, C> {
    pub(crate) fn new(cancelled: Pin<&'a mut C>, deadline: Pin<&'a mut Sleep>) -> Self {
        Self { cancelled, deadline, is_extended: false }
    }

    /// Moves a deadline that has passed unnoticed, once, and says whether it was moved.
    ///
    /// A host that was stopped, or busy with something else, looks at the clock long after the deadline. A child that
    /// could not go on without the host, because a pipe was full, has then not had the time it was promised.
    pub(crate) fn extend_after_absence(&mut self) -> bool {
        let now = tokio::time::Instant::now();
        let was_absent = now.saturating_duration_since(self.deadline.deadline()) > ABSENCE;
        if self.is_extended || !was_absent {
            return false;
        }
        self.is_extended = true;
        self.deadline.as_mut().reset(now + AFTER_ABSENCE);
        true
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        if self.cancelled.as_mut().poll(cx).is_ready() {
            Poll::Ready(End::Cancelled)
        } else {
            self.deadline.as_mut().poll(cx).map(|()| End::TimedOut)
        }
    }
}

/// Starts the command, with some patience if the program is being written.
///
/// A stop during that breaks it off.
async fn start<C: Future<Output = ()>>(
    command: &Command,
    stop: &mut Stop<'_, C>,
) -> Result<ControlFlow<End, sys::Started>, SpawnError> {
    for pause in BUSY_PAUSES {
        match start_once(command) {
            Err(SpawnError::Busy { .. }) => {}
            started => return Ok(ControlFlow::Continue(started?)),
        }
        let mut pause = pin!(sleep(pause));
        let stopped = poll_fn(|cx| match stop.poll(cx) {
            Poll::Ready(end) => Poll::Ready(Some(end)),
            Poll::Pending => pause.as_mut().poll(cx).map(|()| None),
        });
        if let Some(end) = stopped.await {
            return Ok(ControlFlow::Break(end));
        }
    }
    Ok(ControlFlow::Continue(start_once(command)?))
}

/// Starts the command and gives it its input.
fn start_once(command: &Command) -> Result<sys::Started, SpawnError> {
    let mut started = sys::start(command)?;
    started.stdin.feed(&command.stdin, sys::After::End).map_err(|error| sys::on_host(command, error))?;
    Ok(started)
}

/// What a run waits for.
enum Event {
    Stopped(End),
    Flooded,
    Exited,
}

/// A child with its pipes.
struct Running {
    child: sys::Child,
    stdin: sys::Input,
    stdout: Stream,
    stderr: Stream,
    drain: u64,
    begun: Instant,
}

impl Running {
    fn new(started: sys::Started, limits: Limits, begun: Instant) -> Self {
        Self {
            child: started.child,
            stdin: started.stdin,
            stdout: Stream::new(started.stdout, limits.stdout_keep),
            stderr: Stream::new(started.stderr, limits.stderr_keep),
            drain: limits.drain.max(limits.stdout_keep as u64),
            begun,
        }
    }

    /// The result after what has happened.
    async fn after<C: Future<Output = ()>>(
        mut self,
        event: Event,
        command: &Command,
        stop: &mut Stop<'_, C>,
    ) -> Finished {
        let (end, exit) = match event {
            Event::Stopped(end) => (end, None),
            Event::Flooded => (End::OutputLimit, None),
            Event::Exited => {
                let exit = self.exited(command.limits.drain_grace, stop).await;
                // Nothing may be left after a limit, so what the child has left
                // running goes the same way as after a timeout.
                let is_cut = self.stdout.captured.truncation == Truncation::Cut;
                (if is_cut { End::OutputLimit } else { exit.into() }, Some(exit))
            }
        };
        match exit {
            Some(_) if end != End::OutputLimit => self.let_go(end, exit).await,
            _ => self.abandon(end, exit, command.grace_after(end)),
        }
    }

    /// Moves everything that can move, and says when something has happened.
    ///
    /// The stops come first, so that a flood cannot keep them from being seen. At the deadline the child is looked at
    /// before the clock is believed: it may have ended in time while the host was stopped or busy.
    fn poll<C: Future<Output = ()>>(&mut self, cx: &mut Context<'_>, stop: &mut Stop<'_, C>) -> Poll<Event> {
        match stop.poll(cx) {
            Poll::Ready(End::TimedOut) if self.child.has_exited() => return Poll::Ready(Event::Exited),
            Poll::Ready(End::TimedOut) if self.waits_for_the_host() && stop.extend_after_absence() => {
                // Registers the new deadline.
                let _ = stop.poll(cx);
            }
            Poll::Ready(end) => return Poll::Ready(Event::Stopped(end)),
            Poll::Pending => {}
        }
        // The end of the output is not the end of the run.
        let _ = self.poll_outputs(cx);
        self.stdin.poll_feed(cx);
        if self.is_flooded() {
            return Poll::Ready(Event::Flooded);
        }
        self.child.poll_exit(cx).map(|()| Event::Exited)
    }

    /// Reads what there is; ready when both streams have ended.
    fn poll_outputs(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let stdout = self.stdout.poll(cx);
        let stderr = self.stderr.poll(cx);
        if stdout.is_ready() && stderr.is_ready() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether the child may have been kept from going on by a pipe that the host did not move.
    fn waits_for_the_host(&self) -> bool {
        !self.stdin.is_written() || self.stdout.output.has_bytes() || self.stderr.output.has_bytes()
    }

    fn is_flooded(&self) -> bool {
        self.stdout.captured.total > self.drain
    }

    /// Reads what is left after the exit, and for a moment what others still write.
    async fn exited<C: Future<Output = ()>>(&mut self, drain_grace: Duration, stop: &mut Stop<'_, C>) -> Exit {
        self.stdin.close();
        // All that the child itself wrote is in the pipes by now. This does
        // not wait, so neither a stop nor a zero grace can lose it.
        self.stdout.drain();
        self.stderr.drain();
        if !self.streams_have_ended() {
            let mut late = pin!(sleep(drain_grace));
            poll_fn(|cx| {
                // The outcome is fixed by the exit; a stop only ends the wait.
                let over = stop.poll(cx).is_ready() || late.as_mut().poll(cx).is_ready();
                let ended = self.poll_outputs(cx).is_ready();
                if over || ended || self.is_flooded() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        self.child.exit()
    }

    fn streams_have_ended(&self) -> bool {
        self.stdout.output.has_ended() && self.stderr.output.has_ended()
    }

    /// The result after an exit.
    async fn let_go(self, end: End, exit: Option<Exit>) -> Finished {
        let pid = self.child.pid();
        let held = !self.streams_have_ended();
        let survivors = survivors(self.child, held).await;
        let (stdout, stderr) = (self.stdout.captured, self.stderr.captured);
        Finished { exit, stdout, stderr, pid: Some(pid), survivors, ..without_child(end, self.begun) }
    }

    /// The result at a stop: what was read so far, and the termination on its way.
    fn abandon(mut self, end: End, exit: Option<Exit>, grace: Duration) -> Finished {
        self.stdin.close();
        // What was written before the stop is part of the answer, and is in
        // the pipes although the reactor may not have told yet.
        self.stdout.drain();
        self.stderr.drain();
        let pid = self.child.pid();
        let termination = Termination::start(self.child, [self.stdout.output, self.stderr.output], grace);
        let (stdout, stderr) = (self.stdout.captured, self.stderr.captured);
        let survivors = Survivors::LeftToTermination;
        let termination = Some(termination);
        Finished { exit, stdout, stderr, pid: Some(pid), survivors, termination, ..without_child(end, self.begun) }
    }
}

/// Lets go of a child that has exited, and counts what it left running.
async fn survivors(mut child: sys::Child, held: bool) -> Survivors {
    // As long as the child is not reaped its number cannot belong to anybody
    // else, so where a count is due anyway it is made before.
    let counted = if held { child.count_relatives().await } else { None };
    child.release();
    let counted = match (held, counted) {
        (false, _) if !child.group_exists() => return Survivors::NoneSeen,
        (false, _) => child.count_relatives().await,
        (true, counted) => counted,
    };
    match counted {
        Some(count) if count > 0 => Survivors::Seen(count),
        // Someone held a pipe; an empty count then means that it is a stranger.
        _ if held => Survivors::Unknown,
        Some(_) => Survivors::NoneSeen,
        None => Survivors::Unknown,
    }
}

/// The result without anything of a child, as it is when the run was over before it began.
pub(crate) fn without_child(end: End, begun: Instant) -> Finished {
    Finished {
        end,
        exit: None,
        stdout: Captured::default(),
        stderr: Captured::default(),
        elapsed: begun.elapsed(),
        pid: None,
        survivors: Survivors::NoneSeen,
        termination: None,
    }
}

/// One output pipe and what was read of it.
struct Stream {
    output: sys::Output,
    keep: usize,
    captured: Captured,
}

impl Stream {
    fn new(output: sys::Output, keep: usize) -> Self {
        Self { output, keep, captured: Captured::default() }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.output.poll_read(cx, &mut |chunk| self.captured.add(chunk, self.keep))
    }

    fn drain(&mut self) {
        self.output.drain(&mut |chunk| self.captured.add(chunk, self.keep));
    }
}
