//! Children on Windows, with the same names as `unix.rs`.
//!
//! This is a plain implementation over the standard library with threads for
//! the pipes. What it lacks, compared to Unix:
//!
//! * There is no job object, so only the direct child is ended. Its own
//!   children survive a timeout, and are not counted.
//! * There is no gentle signal: asking to end is ending, so the grace is not used.
//! * The exit is noticed by asking every few milliseconds.
//! * What the child wrote last is read by a thread. If that takes longer than
//!   the drain grace, it is lost; a zero drain grace is not wise here.
//! * A thread that writes or reads a pipe stays until the pipe's other end is
//!   closed, which a survivor may delay.
//! * No child is kept for later.
//! * A sealed input is a pipe like any other.
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

use crate::lock::lock;
use tokio::sync::{mpsc, oneshot};

use crate::command::Command;
use crate::error::{NulPlace, SpawnError};
use crate::outcome::Exit;

/// Starts a console program without a console window.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// System error codes that std gives no kind of their own.
const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
const ERROR_NOT_ENOUGH_MEMORY: i32 = 8;
const ERROR_SHARING_VIOLATION: i32 = 32;
const ERROR_BAD_EXE_FORMAT: i32 = 193;
const ERROR_FILENAME_EXCED_RANGE: i32 = 206;
const ERROR_COMMITMENT_LIMIT: i32 = 1455;

/// How often the waiting thread asks.
const PAUSE: Duration = Duration::from_millis(3);

/// How much is read at once, and how many chunks may wait to be taken.
const CHUNK: usize = 32 << 10;
const CHUNKS: usize = 4;

/// How many chunks are taken before others get their turn.
const TURNS: usize = 16;

/// Whether children can wait for their input: a thread that writes a pipe cannot give it back.
pub(crate) const CAN_WAIT: bool = false;

/// A child that has been started, with our ends of its pipes.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) stdin: Input,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
}

impl Started {
    /// Threads read and wait here, so there is nothing to be gained by holding this one.
    pub(crate) fn exits_within(&mut self, _time: Duration) -> bool {
        false
    }

    /// Nothing here has to be handed to a runtime.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Threads read here, so nobody can tell.
    pub(crate) fn is_quiet(&self) -> bool {
        false
    }

    /// A thread that writes a pipe cannot give it back.
    pub(crate) fn park(&mut self) -> bool {
        false
    }
}

/// Starts the command once. Nothing was written to its stdin.
pub(crate) fn start(command: &Command) -> Result<Started, SpawnError> {
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
    let mut child = builder.spawn().map_err(|error| on_host(command, error))?;
    let stdin = Input(child.stdin.take());
    let stdout = Output::new(child.stdout.take());
    let stderr = Output::new(child.stderr.take());
    Ok(Started { child: Child::adopt(child), stdin, stdout, stderr })
}

/// Running children are not recorded here.
pub(crate) mod ledger {
    use std::convert::Infallible;
    use std::io;
    use std::path::Path;

    /// The record of the running children of this program, which there is on Linux only.
    #[derive(Clone, Debug)]
    pub struct RunLedger(Infallible);

    impl RunLedger {
        /// Fails, because nothing can be recorded here.
        ///
        /// # Errors
        ///
        /// Always.
        pub fn open(_directory: &Path) -> io::Result<(Self, LeftBehind)> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// What programs that are gone had left.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LeftBehind {
        /// The number of records of such programs.
        pub records: u32,
        /// The number of processes that were ended.
        pub ended: u32,
    }
}

/// There is no such thing here.
#[derive(Debug)]
pub(crate) struct Sealed(std::convert::Infallible);

impl Sealed {
    pub(crate) fn new<'b>(_pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// What follows the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
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
            while matches!(lock(&watched).try_wait(), Ok(None)) {
                std::thread::sleep(PAUSE);
            }
            // The run may have been dropped meanwhile.
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
        !matches!(lock(&self.process).try_wait(), Ok(None))
    }

    /// How the direct child ended, once [`poll_exit`](Self::poll_exit) was ready.
    pub(crate) fn exit(&self) -> Exit {
        match lock(&self.process).try_wait() {
            Ok(Some(status)) => status.code().map_or(Exit::Unknown, Exit::Code),
            _ => Exit::Unknown,
        }
    }

    /// Relatives are not known without a job object.
    pub(crate) fn note_descendants(&self) {}

    /// Relatives are not known without a job object.
    pub(crate) async fn note_descendants_off_thread(&self) {}

    /// There is nothing gentle that every program hears.
    pub(crate) fn terminate(&self) {
        self.kill();
    }

    /// Ends the direct child.
    pub(crate) fn kill(&self) {
        // A failure means that it has exited.
        let _ = lock(&self.process).kill();
    }

    /// Only the direct child is known, and it is not counted.
    pub(crate) async fn count_group(&self) -> Option<u32> {
        Some(0)
    }

    /// Relatives are not known without a job object.
    pub(crate) async fn count_relatives(&self) -> Option<u32> {
        None
    }

    /// Relatives are not known without a job object.
    pub(crate) async fn sweep(&self) -> Option<(u32, u32)> {
        Some((0, 0))
    }

    /// Lets the child be.
    pub(crate) fn release(&mut self) {
        self.released = true;
    }

    /// Groups are not known without a job object.
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
pub(crate) struct Input(Option<process::ChildStdin>);

impl Input {
    /// Writes the input, which ends with that.
    pub(crate) fn feed(&mut self, payload: &Arc<[u8]>, _after: After) -> io::Result<()> {
        let Some(mut pipe) = self.0.take() else { return Ok(()) };
        let payload = Arc::clone(payload);
        // A child that does not want its input is in its right.
        let write = move || drop(pipe.write_all(&payload));
        // Without a thread the pipe is dropped, and the child reads an empty stdin.
        drop(std::thread::Builder::new().name("hookrail-stdin".into()).spawn(write));
        Ok(())
    }

    /// The thread needs no help.
    pub(crate) fn poll_feed(&mut self, _cx: &mut Context<'_>) {}

    /// A thread writes, so a child never waits for the host.
    pub(crate) fn is_written(&self) -> bool {
        true
    }

    /// The thread ends with the child.
    pub(crate) fn close(&mut self) {}
}

/// A child's stdout or stderr; a thread reads it into a short queue.
#[derive(Debug)]
pub(crate) struct Output {
    /// None once the end was read.
    chunks: Option<mpsc::Receiver<Vec<u8>>>,
}

impl Output {
    fn new<R: Read + Send + 'static>(pipe: Option<R>) -> Self {
        let (sender, receiver) = mpsc::channel(CHUNKS);
        if let Some(pipe) = pipe {
            // Without a thread the sender is dropped, which reads as the end.
            let thread = std::thread::Builder::new().name("hookrail-read".into()).spawn(move || forward(pipe, &sender));
            drop(thread);
        }
        Self { chunks: Some(receiver) }
    }

    /// Only the thread knows, so somebody has to look.
    pub(crate) fn has_bytes(&self) -> bool {
        self.chunks.is_some()
    }

    /// Whether the end was read: nobody can write any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.chunks.is_none()
    }

    /// Hands out what there is to read; ready at the end of the stream.
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

    /// Hands out what the thread has read by now, without waiting.
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

/// Reads to the end, or until nobody takes the chunks any more.
fn forward(mut pipe: impl Read, sender: &mpsc::Sender<Vec<u8>>) {
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

fn check_for_nul(command: &Command) -> Result<(), SpawnError> {
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

/// Nothing but an attempt tells.
pub(crate) fn may_execute(_path: &Path) -> bool {
    true
}

/// Finds out what an error of a failed start was about.
pub(crate) fn on_host(command: &Command, error: io::Error) -> SpawnError {
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
    if let Err(error) = command.check_directory() {
        return error;
    }
    match error.kind() {
        io::ErrorKind::NotFound => SpawnError::ProgramNotFound { program },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
        _ => SpawnError::Other { program, source: error },
    }
}
