//! Children on Windows, with the same names as `unix.rs`.
//!
//! This is a plain implementation over the standard library with threads for
//! the pipes. What it lacks, compared to Unix:
//!
//! * There is no job object, so only the direct child is ended. Its own
//!   children survive a timeout, and are not counted.
//! * There is no signal like SIGTERM: a child is ended at once, so the grace is not used.
//! * The exit is noticed by a check every few milliseconds.
//! * What the child wrote last is read by a thread. If that takes longer than
//!   the drain grace, it is lost, so the drain grace should not be zero.
//! * A thread that writes or reads a pipe stays until the pipe's other end is
//!   closed, which a survivor may delay.
//! * A child cannot be parked.
//! * Descriptors that the host has marked as inheritable reach the child.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::pin::Pin;
use std::process::{self, Stdio};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::lock::lock_mutex;
use tokio::sync::{mpsc, oneshot};

use crate::command::ChildCommand;
use crate::end::ChildExit;
use crate::end::OutputHolder;
use crate::error::{NulPlace, SpawnError};

/// Starts a console program without a console window.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// System error codes for which the standard library has no kind of their own.
const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
const ERROR_NOT_ENOUGH_MEMORY: i32 = 8;
const ERROR_SHARING_VIOLATION: i32 = 32;
const ERROR_BAD_EXE_FORMAT: i32 = 193;
const ERROR_FILENAME_EXCED_RANGE: i32 = 206;
const ERROR_COMMITMENT_LIMIT: i32 = 1455;

/// The pause between two checks of the waiting thread.
const PAUSE: Duration = Duration::from_millis(3);

/// The size of one read, and the number of chunks in the queue.
const CHUNK: usize = 32 << 10;
const CHUNKS: usize = 4;

/// The number of chunks that are taken before other tasks of the runtime are polled.
const TURNS: usize = 16;

/// Whether a child can be kept before it gets its input and between two inputs. It cannot: a thread that writes a pipe
/// cannot return it.
pub(crate) const CAN_PARK: bool = false;

/// A child that has been started, with the host's ends of its pipes.
#[derive(Debug)]
pub(crate) struct StartedChild {
    pub(crate) child: Child,
    pub(crate) stdin: StdinPipe,
    pub(crate) stdout: OutputPipe,
    pub(crate) stderr: OutputPipe,
}

impl StartedChild {
    /// Does nothing: threads read the pipes, so nothing is registered with a runtime.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns `false`, because only the reading thread knows.
    pub(crate) fn is_quiet(&self) -> bool {
        false
    }

    /// Returns `false`, because a thread that writes a pipe cannot return it.
    pub(crate) fn park(&mut self) -> bool {
        false
    }
}

/// A child that was started while the caller waited.
#[derive(Debug)]
pub(crate) struct Starting(Option<Result<StartedChild, SpawnError>>);

impl Starting {
    pub(crate) fn poll(&mut self, _cx: &mut Context<'_>) -> Poll<Result<StartedChild, SpawnError>> {
        self.0.take().map_or(Poll::Pending, Poll::Ready)
    }

    pub(crate) fn is_handed_over_soon(&self) -> bool {
        false
    }

    pub(crate) fn wait_until(self, _deadline: std::time::Instant) -> Option<Result<StartedChild, SpawnError>> {
        self.0
    }
}

/// Does nothing: children are started on the thread of the caller.
pub(crate) fn prepare() {}

/// Starts the command once. Nothing was written to its stdin.
pub(crate) fn start(command: &ChildCommand) -> Starting {
    Starting(Some(started(command)))
}

fn started(command: &ChildCommand) -> Result<StartedChild, SpawnError> {
    check_for_nul(command)?;
    let mut builder = process::Command::new(&command.program);
    builder
        .args(&command.args)
        .env_clear()
        .envs(command.full_environment().iter())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .creation_flags(CREATE_NO_WINDOW);
    if let Some(cwd) = &command.cwd {
        builder.current_dir(cwd);
    }
    let mut child = builder.spawn().map_err(|error| resource_error(command, error))?;
    let stdin = StdinPipe(child.stdin.take());
    let stdout = OutputPipe::new(child.stdout.take());
    let stderr = OutputPipe::new(child.stderr.take());
    Ok(StartedChild { child: Child::adopt(child), stdin, stdout, stderr })
}

/// Starts the command once and begins to write its input.
pub(crate) fn start_with_input(command: &ChildCommand) -> Starting {
    let fed = started(command).and_then(|mut started| {
        started.stdin.feed(&command.stdin, AfterInput::End).map_err(|error| resource_error(command, error))?;
        Ok(started)
    });
    Starting(Some(fed))
}

/// The name of a pipe, which none has here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PipeName(std::convert::Infallible);

/// What follows the bytes that are written to stdin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterInput {
    End,
    Open,
}

/// A started child. Unless it was released, dropping it kills it.
#[derive(Debug)]
pub(crate) struct Child {
    process: Arc<Mutex<process::Child>>,
    pid: u32,
    exited: Option<oneshot::Receiver<()>>,
    released: bool,
}

impl Child {
    fn adopt(process: process::Child) -> Self {
        let pid = process.id();
        let process = Arc::new(Mutex::new(process));
        let (sender, receiver) = oneshot::channel();
        let watched = Arc::clone(&process);
        let thread = std::thread::Builder::new().name("hookrail-wait".into()).spawn(move || {
            while matches!(lock_mutex(&watched).try_wait(), Ok(None)) {
                std::thread::sleep(PAUSE);
            }
            // This fails if the run was dropped meanwhile.
            let _ = sender.send(());
        });
        // Without a thread the receiver becomes ready at once, the run ends
        // with an unknown status, and the drop kills the child.
        drop(thread);
        Self { process, pid, exited: Some(receiver), released: false }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Ready when the direct child has exited.
    pub(crate) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(receiver) = &mut self.exited {
            if Pin::new(receiver).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.exited = None;
        }
        Poll::Ready(())
    }

    /// Whether the direct child has exited.
    pub(crate) fn has_exited(&self) -> bool {
        !matches!(lock_mutex(&self.process).try_wait(), Ok(None))
    }

    /// Returns how the direct child ended, once [`poll_exit`](Self::poll_exit) was ready.
    pub(crate) fn exit(&self) -> ChildExit {
        match lock_mutex(&self.process).try_wait() {
            Ok(Some(status)) => status.code().map_or(ChildExit::Unknown, ChildExit::Code),
            _ => ChildExit::Unknown,
        }
    }

    /// Does nothing: relatives are not known without a job object.
    pub(crate) fn note_descendants(&self) {}

    /// Does nothing: relatives are not known without a job object.
    pub(crate) async fn note_descendants_off_thread(&self) {}

    /// Kills the child, because Windows has no signal like SIGTERM for every program.
    pub(crate) fn terminate(&self) {
        self.kill();
    }

    /// Ends the direct child.
    pub(crate) fn kill(&self) {
        // A failure means that it has exited.
        let _ = lock_mutex(&self.process).kill();
    }

    /// Returns 0: only the direct child is known, and it is not counted.
    pub(crate) async fn count_group(&self) -> Option<u32> {
        Some(0)
    }

    /// Returns `None`: relatives are not known without a job object.
    pub(crate) async fn count_relatives(&self) -> Option<u32> {
        None
    }

    /// Returns none: the holders of a pipe are not known.
    pub(crate) async fn pipe_holders(&self, _pipes: Vec<PipeName>) -> Vec<OutputHolder> {
        Vec::new()
    }

    /// Kills nothing: relatives are not known without a job object.
    pub(crate) async fn sweep(&self) -> Option<(u32, u32)> {
        Some((0, 0))
    }

    /// Marks the child as one that is not killed when this value is dropped.
    pub(crate) fn release(&mut self) {
        self.released = true;
    }

    /// Returns `false`: groups are not known without a job object.
    pub(crate) fn group_exists(&self) -> bool {
        false
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.released {
            self.kill();
        }
    }
}

/// A child's stdin; a thread writes it.
#[derive(Debug)]
pub(crate) struct StdinPipe(Option<process::ChildStdin>);

impl StdinPipe {
    /// Writes the input in a thread, then closes stdin.
    pub(crate) fn feed(&mut self, payload: &Arc<[u8]>, _after: AfterInput) -> io::Result<()> {
        let Some(mut pipe) = self.0.take() else { return Ok(()) };
        let payload = Arc::clone(payload);
        // An error means that the child has closed its stdin. A program need not read its input.
        let write = move || drop(pipe.write_all(&payload));
        // Without a thread the pipe is dropped, and the child reads an empty stdin.
        drop(std::thread::Builder::new().name("hookrail-stdin".into()).spawn(write));
        Ok(())
    }

    /// Does nothing: the thread writes.
    pub(crate) fn poll_feed(&mut self, _cx: &mut Context<'_>) {}

    /// Returns `true`: a thread writes, so a child is never blocked by the host.
    pub(crate) fn is_written(&self) -> bool {
        true
    }

    /// Does nothing: the thread ends with the child.
    pub(crate) fn close(&mut self) {}
}

/// A child's stdout or stderr; a thread reads it into a short queue.
#[derive(Debug)]
pub(crate) struct OutputPipe {
    /// `None` once the end was read.
    chunks: Option<mpsc::Receiver<Vec<u8>>>,
}

impl OutputPipe {
    fn new<R: Read + Send + 'static>(pipe: Option<R>) -> Self {
        let (sender, receiver) = mpsc::channel(CHUNKS);
        if let Some(pipe) = pipe {
            // Without a thread the sender is dropped, which reads as the end.
            let thread =
                std::thread::Builder::new().name("hookrail-read".into()).spawn(move || forward_chunks(pipe, &sender));
            drop(thread);
        }
        Self { chunks: Some(receiver) }
    }

    /// Whether the stream is open. Only the reading thread knows whether there are bytes, so the caller has to read.
    pub(crate) fn has_bytes(&self) -> bool {
        self.chunks.is_some()
    }

    /// Returns `None`: pipes have no names.
    pub(crate) fn name(&self) -> Option<PipeName> {
        None
    }

    /// Whether the end of the stream was read.
    pub(crate) fn has_ended(&self) -> bool {
        self.chunks.is_none()
    }

    /// Passes what was read to `sink`; ready at the end of the stream.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
        let Some(chunks) = &mut self.chunks else {
            return Poll::Ready(());
        };
        for _ in 0..TURNS {
            match chunks.poll_recv(cx) {
                Poll::Ready(Some(chunk)) => sink(&chunk),
                Poll::Ready(None) => {
                    self.chunks = None;
                    return Poll::Ready(());
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Passes what the thread has read by now to `sink`, without waiting.
    pub(crate) fn drain(&mut self, sink: &mut dyn FnMut(&[u8])) {
        let Some(chunks) = &mut self.chunks else {
            return;
        };
        for _ in 0..=CHUNKS {
            match chunks.try_recv() {
                Ok(chunk) => sink(&chunk),
                Err(mpsc::error::TryRecvError::Empty) => return,
                Err(mpsc::error::TryRecvError::Disconnected) => {
                    self.chunks = None;
                    return;
                }
            }
        }
    }
}

/// Reads to the end of the stream, or until the receiver of the chunks is dropped.
fn forward_chunks(mut pipe: impl Read, sender: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => buffer.get(..count).unwrap_or(&[]).to_owned(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if sender.blocking_send(chunk).is_err() {
            return;
        }
    }
}

fn check_for_nul(command: &ChildCommand) -> Result<(), SpawnError> {
    let refuse = |place| Err(SpawnError::NulByte { place });
    if has_nul(&command.program) {
        return refuse(NulPlace::Program);
    }
    if let Some(index) = command.args.iter().position(|arg| has_nul(arg)) {
        return refuse(NulPlace::Argument(index + 1));
    }
    if command.cwd.as_ref().is_some_and(|cwd| has_nul(cwd.as_os_str())) {
        return refuse(NulPlace::WorkingDirectory);
    }
    let environment = command.full_environment();
    match environment.iter().find(|(name, value)| has_nul(name) || has_nul(value)) {
        Some((name, _)) => refuse(NulPlace::Variable(name.to_owned())),
        None => Ok(()),
    }
}

fn has_nul(text: &OsStr) -> bool {
    text.encode_wide().any(|unit| unit == 0)
}

/// Returns `true`: on Windows only the attempt shows it.
fn may_execute(_path: &Path) -> bool {
    true
}

/// Returns the cause of a failed start.
pub(crate) fn resource_error(command: &ChildCommand, error: io::Error) -> SpawnError {
    let program = command.program.clone();
    match error.raw_os_error() {
        Some(ERROR_BAD_EXE_FORMAT) => return SpawnError::BadFormat { program },
        Some(ERROR_FILENAME_EXCED_RANGE) => return SpawnError::ArgumentListTooLong { program },
        Some(ERROR_SHARING_VIOLATION) => return SpawnError::Busy { program },
        Some(ERROR_TOO_MANY_OPEN_FILES | ERROR_NOT_ENOUGH_MEMORY | ERROR_COMMITMENT_LIMIT) => {
            return SpawnError::Resources { source: error };
        }
        _ => {}
    }
    if let Err(error) = command.check_directory(may_execute) {
        return error;
    }
    match error.kind() {
        io::ErrorKind::NotFound => SpawnError::ProgramNotFound { program },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
        _ => SpawnError::Other { program, source: error },
    }
}
