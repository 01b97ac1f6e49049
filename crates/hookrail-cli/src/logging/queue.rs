//! The way of log lines to standard error, which must never hold up or fail what is logged.
//!
//! Lines go through a bounded queue to a thread of their own. If nothing reads standard error, or the disk it goes to is
//! full, lines are dropped and counted, and the count is written as soon as something can be.

use std::fs::File;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// How many lines wait at most, and how many bytes.
const MOST_LINES: usize = 4_096;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How long the end of the program waits for lines that are still to be written.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// How long a standard error that takes nothing at the moment is left alone.
const PAUSE: Duration = Duration::from_millis(20);

static QUEUE: OnceLock<Queue> = OnceLock::new();

struct Queue {
    /// None if there is no thread to write; everything is dropped then.
    items: Option<SyncSender<Item>>,
}

enum Item {
    Text(String),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

/// How many bytes wait, and how many lines were lost.
static WAITING: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);

/// Puts text on its way to standard error. Never blocks and never fails.
pub(super) fn put(text: String) {
    let Some(items) = &QUEUE.get_or_init(start).items else { return };
    let bytes = text.len();
    if WAITING.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_BYTES || items.try_send(Item::Text(text)).is_err() {
        WAITING.fetch_sub(bytes, Ordering::Relaxed);
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until everything is written, but not for long.
pub(super) fn finish() {
    let Some(items) = QUEUE.get().and_then(|queue| queue.items.as_ref()) else { return };
    let (done, written) = sync_channel(1);
    if items.try_send(Item::Flush(done)).is_ok() {
        let _ = written.recv_timeout(LAST_WAIT);
    }
}

fn start() -> Queue {
    let (items, waiting) = sync_channel(MOST_LINES);
    let started = standard_error().and_then(|stderr| {
        std::thread::Builder::new().name("hookrail-log".to_owned()).spawn(move || write(&waiting, stderr))
    });
    Queue { items: started.is_ok().then_some(items) }
}

/// A descriptor of its own: the standard library's is behind a lock, which a write that hangs would keep from everybody
/// else.
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

fn write(waiting: &Receiver<Item>, mut stderr: File) {
    while let Ok(item) = waiting.recv() {
        match item {
            Item::Flush(done) => drop(done.try_send(())),
            Item::Text(text) => {
                WAITING.fetch_sub(text.len(), Ordering::Relaxed);
                let lost = LOST.swap(0, Ordering::Relaxed);
                let lines = if lost == 1 { "line was" } else { "lines were" };
                let told = lost == 0 || write_all(&mut stderr, &format!("hookrail: {lost} log {lines} lost\n")).is_ok();
                let written = told && write_all(&mut stderr, &text).is_ok();
                let missing = u64::from(!written) + if told { 0 } else { lost };
                LOST.fetch_add(missing, Ordering::Relaxed);
            }
        }
    }
}

/// Writes a whole text. A standard error that another program has made non-blocking is tried again.
fn write_all(stderr: &mut File, text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match stderr.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
