//! One run: a single loop over stdin, stdout, stderr, exit, deadline and cancel.
//!
//! This module is independent of the platform; `unix.rs` and `windows.rs` do the system calls.
//!
//! A run ends with the exit of the direct child, not with the end of its output: another process, such as a daemon that
//! the child started, may hold the pipes open for ever. How long such output is still read is a rule of the caller.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep, sleep_until};

use crate::cancel::CancelToken;
use crate::capture::{CapturedStream, Truncation};
use crate::command::{CaptureLimits, ChildCommand};
use crate::end::{ChildEnd, ChildExit, HeldOutput, StartEnd, Survivors};
use crate::error::SpawnError;
use crate::late_output::{AwaitedStreams, LateWait, OutputSoFar, StreamState};
use crate::sys;
use crate::termination::Termination;

/// The result of a run that could be started.
#[derive(Debug)]
pub struct ChildResult {
    /// How the run ended.
    pub end: ChildEnd,
    /// How the direct child ended, if it had by the time of this result.
    ///
    /// It has additional information if [`end`](Self::end) is
    /// [`OutputLimit`](ChildEnd::OutputLimit): a child may write too much and then
    /// exit by itself with a code that matters.
    pub exit: Option<ChildExit>,
    /// The bytes that were read from stdout.
    pub stdout: CapturedStream,
    /// The bytes that were read from stderr.
    pub stderr: CapturedStream,
    /// The time from before the start to this result.
    pub elapsed: Duration,
    /// The process id, or `None` if the run ended before the program was started.
    pub pid: Option<u32>,
    /// The processes that the child left running.
    pub survivors: Survivors,
    /// The output that the rule of [`late_output`](crate::ChildCommand::late_output) did not find complete, because another
    /// process still held it when the wait was over.
    pub held: Option<HeldOutput>,
    /// The rest of the work to end the child, if there is any; dropping it kills the child at once.
    pub termination: Option<Termination>,
}

/// The pauses between attempts to start a program that is open for writing (`ETXTBSY`).
///
/// In most cases no process writes it any more: another thread of the host has just forked, and its child holds a copy of
/// the descriptor that wrote the program until its own `execve`.
const BUSY_PAUSES: [Duration; 4] =
    [Duration::from_millis(1), Duration::from_millis(4), Duration::from_millis(16), Duration::from_millis(64)];

/// The delay after which a missed deadline means that the host was stopped or blocked, and not merely slow.
const HOST_STALL: Duration = Duration::from_millis(100);

/// The additional time for a child that could not continue because the host did not read or write its pipes.
const EXTRA_TIME_AFTER_STALL: Duration = Duration::from_secs(1);

/// How often, and with which pause, a stopped run looks for a child that runs already, and that the thread which has started it
/// is about to hand over.
const HAND_OVER_LOOKS: u32 = 20;
const HAND_OVER_PAUSE: Duration = Duration::from_millis(5);

/// The longest timeout. Added to the current time it is still a valid instant.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// Prepares to start children from this thread, for a program that is about to start its first one and has something else to do
/// until then. The thread must not restrict itself afterwards: its children would not inherit that.
pub fn prepare_to_start() {
    sys::prepare();
}

/// Starts the command, writes its stdin, reads its output, and returns how it ended.
///
/// At the deadline or on cancellation the result is returned at once, with
/// what was read so far, and [`ChildResult::termination`] holds what remains to be
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
pub async fn run(command: &ChildCommand, cancel: &CancelToken) -> Result<ChildResult, SpawnError> {
    let begun = Instant::now();
    let deadline = pin!(sleep_until(deadline_after(begun, command.timeout)));
    let cancelled = pin!(cancel.cancelled());
    let mut stop = StopCondition::new(cancelled, deadline);
    if let Some(end) = over_before_start(command, cancel) {
        return Ok(without_child(end, begun));
    }
    match start_with_retries(command, &mut stop).await? {
        ControlFlow::Continue(mut started) => {
            started.watch().map_err(|error| sys::resource_error(command, error))?;
            Ok(drive_to_end(started, command, &mut stop, begun).await)
        }
        ControlFlow::Break(end) => Ok(without_child(end, begun)),
    }
}

/// Drives a child whose stdin was written, or is being written, until it ends or is stopped.
pub(crate) async fn drive_to_end<C: Future<Output = ()>>(
    started: sys::StartedChild,
    command: &ChildCommand,
    stop: &mut StopCondition<'_, C>,
    begun: Instant,
) -> ChildResult {
    let mut running = RunningChild::new(started, command.limits, begun);
    let event = poll_fn(|cx| running.poll(cx, stop)).await;
    running.into_result(event, command, stop).await
}

/// Returns the deadline. A timeout that is too long for an instant is shortened to [`LONGEST_TIMEOUT`].
pub(crate) fn deadline_after(begun: Instant, timeout: Duration) -> tokio::time::Instant {
    begun.checked_add(timeout.min(LONGEST_TIMEOUT)).unwrap_or(begun).into()
}

/// Returns the end of a run that must not start anything.
///
/// The timeout is compared with zero instead of polling the timer, which may fire up to a millisecond late.
fn over_before_start(command: &ChildCommand, cancel: &CancelToken) -> Option<ChildEnd> {
    if cancel.is_cancelled() {
        Some(ChildEnd::Cancelled)
    } else if command.timeout.is_zero() {
        Some(ChildEnd::TimedOut)
    } else {
        None
    }
}

/// What has ended a run from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    Cancelled,
    Deadline,
}

impl From<StopCause> for ChildEnd {
    fn from(cause: StopCause) -> Self {
        match cause {
            StopCause::Cancelled => Self::Cancelled,
            StopCause::Deadline => Self::TimedOut,
        }
    }
}

/// What ends a run from outside: a cancellation or the deadline.
pub(crate) struct StopCondition<'a, C> {
    cancelled: Pin<&'a mut C>,
    deadline: Pin<&'a mut Sleep>,
    is_extended: bool,
    is_cancelled: bool,
}

impl<'a, C: Future<Output = ()>> StopCondition<'a, C> {
    pub(crate) fn new(cancelled: Pin<&'a mut C>, deadline: Pin<&'a mut Sleep>) -> Self {
        Self { cancelled, deadline, is_extended: false, is_cancelled: false }
    }

    /// Moves a deadline that has passed unnoticed, once, and returns whether it was moved.
    ///
    /// A host that was stopped, or busy with something else, reads the clock long after the deadline. A child that was
    /// blocked on a full pipe meanwhile has not had the time it was promised. Without the extension, an answer larger
    /// than a pipe was lost, and the operation that a guard had denied was allowed. The duration of the absence itself is
    /// not known: it cannot be told from ordinary waiting.
    pub(crate) fn extend_after_absence(&mut self) -> bool {
        let now = tokio::time::Instant::now();
        let host_was_stalled = now.saturating_duration_since(self.deadline.deadline()) > HOST_STALL;
        if self.is_extended || !host_was_stalled {
            return false;
        }
        self.is_extended = true;
        self.deadline.as_mut().reset(now + EXTRA_TIME_AFTER_STALL);
        true
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<StopCause> {
        // The future must not be polled again after its end.
        self.is_cancelled = self.is_cancelled || self.cancelled.as_mut().poll(cx).is_ready();
        if self.is_cancelled {
            Poll::Ready(StopCause::Cancelled)
        } else {
            self.deadline.as_mut().poll(cx).map(|()| StopCause::Deadline)
        }
    }
}

/// Starts the command, and tries again if the program is open for writing.
///
/// A cancellation or the deadline ends the attempts.
async fn start_with_retries<C: Future<Output = ()>>(
    command: &ChildCommand,
    stop: &mut StopCondition<'_, C>,
) -> Result<ControlFlow<ChildEnd, sys::StartedChild>, SpawnError> {
    for pause in BUSY_PAUSES {
        match start_in_time(sys::start_with_input(command), stop).await {
            Err(SpawnError::Busy { .. }) => {}
            started => return started.map(|started| started.map_break(ChildEnd::from)),
        }
        let mut pause = pin!(sleep(pause));
        let stopped = poll_fn(|cx| match stop.poll(cx) {
            Poll::Ready(cause) => Poll::Ready(Some(cause)),
            Poll::Pending => pause.as_mut().poll(cx).map(|()| None),
        });
        match stopped.await {
            Some(StopCause::Deadline) => return Ok(ControlFlow::Break(ChildEnd::NotStarted)),
            Some(StopCause::Cancelled) => return Ok(ControlFlow::Break(ChildEnd::Cancelled)),
            None => {}
        }
    }
    let started = start_in_time(sys::start_with_input(command), stop).await?;
    Ok(started.map_break(ChildEnd::from))
}

/// Waits for a start, until a cancellation or the deadline ends it. Dropping it then kills the child.
pub(crate) async fn start_in_time<C: Future<Output = ()>>(
    mut starting: sys::Starting,
    stop: &mut StopCondition<'_, C>,
) -> Result<ControlFlow<StartEnd, sys::StartedChild>, SpawnError> {
    let (mut looks, mut next_look) = (HAND_OVER_LOOKS, pin!(sleep(Duration::ZERO)));
    poll_fn(|cx| {
        // Looked at first: the child may have been started in time while the host was stopped or busy.
        if let Poll::Ready(started) = starting.poll(cx) {
            return Poll::Ready(started.map(ControlFlow::Continue));
        }
        let end = match stop.poll(cx) {
            Poll::Ready(StopCause::Deadline) if stop.extend_after_absence() => {
                // A moved timer wakes this task only after it was polled again.
                let _ = stop.poll(cx);
                return Poll::Pending;
            }
            Poll::Ready(StopCause::Deadline) => StartEnd::NotInTime,
            Poll::Ready(StopCause::Cancelled) => StartEnd::Cancelled,
            Poll::Pending => return Poll::Pending,
        };
        // A child that runs is ended as all others, with its grace.
        while looks > 0 && starting.is_handed_over_soon() {
            if next_look.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            looks -= 1;
            next_look.as_mut().reset(tokio::time::Instant::now() + HAND_OVER_PAUSE);
        }
        Poll::Ready(Ok(ControlFlow::Break(end)))
    })
    .await
}

/// What ends the wait of a run.
enum RunEvent {
    Stopped(ChildEnd),
    Flooded,
    Exited,
}

/// A child with its pipes.
struct RunningChild {
    child: sys::Child,
    stdin: sys::StdinPipe,
    stdout: CapturedPipe,
    stderr: CapturedPipe,
    drain: u64,
    begun: Instant,
}

impl RunningChild {
    fn new(started: sys::StartedChild, limits: CaptureLimits, begun: Instant) -> Self {
        Self {
            child: started.child,
            stdin: started.stdin,
            stdout: CapturedPipe::new(started.stdout, limits.stdout_keep),
            stderr: CapturedPipe::new(started.stderr, limits.stderr_keep),
            drain: limits.drain.max(limits.stdout_keep as u64),
            begun,
        }
    }

    /// Makes the result of a run after the event that ended its wait.
    async fn into_result<C: Future<Output = ()>>(
        mut self,
        event: RunEvent,
        command: &ChildCommand,
        stop: &mut StopCondition<'_, C>,
    ) -> ChildResult {
        let mut waited = None;
        let (end, exit) = match event {
            RunEvent::Stopped(end) => (end, None),
            RunEvent::Flooded => (ChildEnd::OutputLimit, None),
            RunEvent::Exited => {
                let exit = self.read_rest_after_exit();
                if !self.streams_have_ended() {
                    waited = self.read_late_output(exit, command, stop).await;
                }
                // No process of the child may be left after a limit. So the processes it left are ended as after a
                // timeout, although the child itself has exited.
                let is_cut = self.stdout.captured.truncation == Truncation::Cut;
                (if is_cut { ChildEnd::OutputLimit } else { exit.into() }, Some(exit))
            }
        };
        match exit {
            Some(_) if end != ChildEnd::OutputLimit => self.finish_after_exit(end, exit, waited).await,
            _ => self.finish_after_stop(end, exit, command.grace_after(end)),
        }
    }

    /// Reads and writes what is possible without blocking; ready when the run is over.
    ///
    /// Cancellation and deadline are polled first, so that a child that floods its output cannot delay them. At the
    /// deadline the child's exit is checked before the run counts as timed out: the child may have exited in time while
    /// the host was stopped or busy.
    fn poll<C: Future<Output = ()>>(
        &mut self,
        cx: &mut Context<'_>,
        stop: &mut StopCondition<'_, C>,
    ) -> Poll<RunEvent> {
        match stop.poll(cx) {
            Poll::Ready(StopCause::Deadline) if self.child.has_exited() => return Poll::Ready(RunEvent::Exited),
            Poll::Ready(StopCause::Deadline) if self.waits_for_the_host() && stop.extend_after_absence() => {
                // A moved timer wakes this task only after it was polled again.
                let _ = stop.poll(cx);
            }
            Poll::Ready(cause) => return Poll::Ready(RunEvent::Stopped(cause.into())),
            Poll::Pending => {}
        }
        // The end of the output does not end the run: a child may close its streams and keep working.
        let _ = self.poll_outputs(cx);
        self.stdin.poll_feed(cx);
        if self.is_flooded() {
            return Poll::Ready(RunEvent::Flooded);
        }
        self.child.poll_exit(cx).map(|()| RunEvent::Exited)
    }

    /// Reads what is available; ready when both streams have ended.
    fn poll_outputs(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let stdout = self.stdout.poll(cx);
        let stderr = self.stderr.poll(cx);
        if stdout.is_ready() && stderr.is_ready() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether the child may be blocked on a pipe that the host has not read or written.
    fn waits_for_the_host(&self) -> bool {
        !self.stdin.is_written() || self.stdout.output.has_bytes() || self.stderr.output.has_bytes()
    }

    fn is_flooded(&self) -> bool {
        self.stdout.captured.total > self.drain
    }

    /// Reads what is left in the pipes after the exit, and returns how the child ended.
    fn read_rest_after_exit(&mut self) -> ChildExit {
        self.stdin.close();
        // All that the child itself wrote is in the pipes by now. This does
        // not wait, so neither a stop nor a zero grace can lose it.
        self.stdout.drain();
        self.stderr.drain();
        self.child.exit()
    }

    /// Reads what other processes still write after the exit, for as long as the rule of the command says. Returns how long
    /// it waited for an output that did not become complete.
    async fn read_late_output<C: Future<Output = ()>>(
        &mut self,
        exit: ChildExit,
        command: &ChildCommand,
        stop: &mut StopCondition<'_, C>,
    ) -> Option<Duration> {
        let (begun, silence) = (tokio::time::Instant::now(), command.limits.drain_grace);
        let wait = match command.late_output {
            Some(rule) => rule.wait_after(exit),
            None => LateWait { longest: silence, streams: AwaitedStreams::Both },
        };
        let mut over = pin!(sleep_until(begun + wait.longest));
        let mut silent = pin!(sleep(silence));
        let (mut read, mut was_asked) = (self.bytes_read(wait.streams), false);
        let is_over = poll_fn(|cx| {
            let ended = self.poll_outputs(cx).is_ready();
            if ended || self.is_flooded() {
                return Poll::Ready(false);
            }
            let read_now = self.bytes_read(wait.streams);
            if read_now != read {
                (read, was_asked) = (read_now, false);
                silent.as_mut().reset(tokio::time::Instant::now() + silence);
            }
            if !was_asked && silent.as_mut().poll(cx).is_ready() {
                was_asked = true;
                if command.late_output.is_some_and(|rule| rule.is_complete(exit, self.output_so_far())) {
                    return Poll::Ready(false);
                }
            }
            // The result is decided by the exit; a cancellation or the deadline only ends the wait.
            if stop.poll(cx).is_ready() { Poll::Ready(true) } else { over.as_mut().poll(cx).map(|()| true) }
        })
        .await;
        let rule = command.late_output.filter(|_| is_over)?;
        (!rule.is_complete(exit, self.output_so_far())).then(|| begun.elapsed())
    }

    fn bytes_read(&self, streams: AwaitedStreams) -> u64 {
        match streams {
            AwaitedStreams::Stdout => self.stdout.captured.total,
            AwaitedStreams::Both => self.stdout.captured.total + self.stderr.captured.total,
        }
    }

    fn output_so_far(&self) -> OutputSoFar<'_> {
        let stdout_state = if self.stdout.output.has_ended() { StreamState::Ended } else { StreamState::Held };
        OutputSoFar { stdout: &self.stdout.captured, stdout_state, stderr: &self.stderr.captured }
    }

    fn streams_have_ended(&self) -> bool {
        self.stdout.output.has_ended() && self.stderr.output.has_ended()
    }

    /// Makes the result of a child that has exited. `waited` is the time that an incomplete output was awaited.
    async fn finish_after_exit(self, end: ChildEnd, exit: Option<ChildExit>, waited: Option<Duration>) -> ChildResult {
        let pid = self.child.pid();
        let is_held = !self.streams_have_ended();
        let held = match waited {
            Some(waited) => {
                let pipes = [&self.stdout, &self.stderr].into_iter().filter_map(|pipe| pipe.output.name()).collect();
                Some(HeldOutput { waited, holders: self.child.pipe_holders(pipes).await })
            }
            None => None,
        };
        let survivors = release_and_count(self.child, is_held).await;
        let (stdout, stderr) = (self.stdout.captured, self.stderr.captured);
        ChildResult { exit, stdout, stderr, pid: Some(pid), survivors, held, ..without_child(end, self.begun) }
    }

    /// Makes the result of a run that was stopped: what was read so far, and the termination, which has begun.
    fn finish_after_stop(mut self, end: ChildEnd, exit: Option<ChildExit>, grace: Duration) -> ChildResult {
        self.stdin.close();
        // What the child wrote before the stop is part of the result. It is in the pipes, although the reactor may not
        // have reported it yet.
        self.stdout.drain();
        self.stderr.drain();
        let pid = self.child.pid();
        let termination = Termination::start(self.child, [self.stdout.output, self.stderr.output], grace);
        let (stdout, stderr) = (self.stdout.captured, self.stderr.captured);
        let survivors = Survivors::LeftToTermination;
        let termination = Some(termination);
        ChildResult { exit, stdout, stderr, pid: Some(pid), survivors, termination, ..without_child(end, self.begun) }
    }
}

/// Reaps a child that has exited, and counts the processes it left.
///
/// `held` says that a process still holds one of the output pipes.
async fn release_and_count(mut child: sys::Child, held: bool) -> Survivors {
    // The kernel does not reuse a pid before its process is reaped, so a count that is needed anyway is made first. In the
    // usual case no pipe is held, and whether the group is empty shows only after the reaping: until then the zombie is a
    // member of it.
    let counted = if held { child.count_relatives().await } else { None };
    child.release();
    let counted = match (held, counted) {
        (false, _) if !child.group_exists() => return Survivors::NoneSeen,
        (false, _) => child.count_relatives().await,
        (true, counted) => counted,
    };
    match counted {
        Some(count) if count > 0 => Survivors::Seen(count),
        // A process holds a pipe but is not found, so an empty count does not prove that there is none.
        _ if held => Survivors::Unknown,
        Some(_) => Survivors::NoneSeen,
        None => Survivors::Unknown,
    }
}

/// Makes the result of a run that was over before a child was started.
pub(crate) fn without_child(end: ChildEnd, begun: Instant) -> ChildResult {
    ChildResult {
        end,
        exit: None,
        stdout: CapturedStream::default(),
        stderr: CapturedStream::default(),
        elapsed: begun.elapsed(),
        pid: None,
        survivors: Survivors::NoneSeen,
        held: None,
        termination: None,
    }
}

/// One output pipe and the bytes that were read from it.
struct CapturedPipe {
    output: sys::OutputPipe,
    keep: usize,
    captured: CapturedStream,
}

impl CapturedPipe {
    fn new(output: sys::OutputPipe, keep: usize) -> Self {
        Self { output, keep, captured: CapturedStream::default() }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.output.poll_read(cx, &mut |chunk| self.captured.add(chunk, self.keep))
    }

    fn drain(&mut self) {
        self.output.drain(&mut |chunk| self.captured.add(chunk, self.keep));
    }
}
