//! The queue of log lines for standard error. Logging must never delay or fail the code that logs.
//!
//! Lines go through a bounded queue to a thread of their own. If nothing reads standard error, or the disk it goes to is
//! full, lines are dropped and counted, and the count is written as soon as something can be.

use std::fs::File;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The highest number of lines in the queue.
const MAX_LINES: usize = 4_096;
/// The highest number of bytes in the queue.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The time that the end of the program waits for lines that are still to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The time before a write is tried again on a non-blocking standard error that is full.
const RETRY_DELAY: Duration = Duration::from_millis(20);

static QUEUE: OnceLock<LogQueue> = OnceLock::new();

struct LogQueue {
    /// None if the writing thread could not be started; everything is dropped then.
    items: Option<SyncSender<LogItem>>,
}

enum LogItem {
    Text(String),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

/// The number of bytes in the queue.
static QUEUED_BYTES: AtomicUsize = AtomicUsize::new(0);
/// The number of dropped lines that are not reported yet.
static LOST_LINES: AtomicU64 = AtomicU64::new(0);

/// Queues text for standard error. Never blocks and never fails.
pub(super) fn put(text: String) {
    let Some(items) = &QUEUE.get_or_init(start_queue).items else { return };
    let bytes = text.len();
    let queued = QUEUED_BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if queued > MAX_BYTES || items.try_send(LogItem::Text(text)).is_err() {
        QUEUED_BYTES.fetch_sub(bytes, Ordering::Relaxed);
        LOST_LINES.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until everything is written, for [`FLUSH_TIMEOUT`] at most.
pub(super) fn finish() {
    let Some(items) = QUEUE.get().and_then(|queue| queue.items.as_ref()) else { return };
    let (done, written) = sync_channel(1);
    if items.try_send(LogItem::Flush(done)).is_ok() {
        let _ = written.recv_timeout(FLUSH_TIMEOUT);
    }
}

fn start_queue() -> LogQueue {
    let (items, waiting) = sync_channel(MAX_LINES);
    let started = standard_error().and_then(|stderr| {
        std::thread::Builder::new().name("hookrail-log".to_owned()).spawn(move || write_items(&waiting, stderr))
    });
    LogQueue { items: started.is_ok().then_some(items) }
}

/// Duplicates the descriptor of standard error. The standard library's handle is behind a lock, and a write that hangs
/// would block every other thread that prints there.
#[cfg(unix)]
fn standard_error() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    io::stderr().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn standard_error() -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    io::stderr().as_handle().try_clone_to_owned().map(File::from)
}

fn write_items(waiting: &Receiver<LogItem>, mut stderr: File) {
    while let Ok(item) = waiting.recv() {
        match item {
            LogItem::Flush(done) => drop(done.try_send(())),
            LogItem::Text(text) => {
                QUEUED_BYTES.fetch_sub(text.len(), Ordering::Relaxed);
                let lost = LOST_LINES.swap(0, Ordering::Relaxed);
                let lines = if lost == 1 { "line was" } else { "lines were" };
                let reported =
                    lost == 0 || write_all(&mut stderr, &format!("hookrail: {lost} log {lines} lost\n")).is_ok();
                let written = reported && write_all(&mut stderr, &text).is_ok();
                let missing = u64::from(!written) + if reported { 0 } else { lost };
                LOST_LINES.fetch_add(missing, Ordering::Relaxed);
            }
        }
    }
}

/// Writes a whole text. If another program has made standard error non-blocking, a full pipe is tried again.
fn write_all(stderr: &mut File, text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match stderr.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(RETRY_DELAY),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
