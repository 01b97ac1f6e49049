//! Waiting for the disk: one wait serves every record that arrived while the one before it was under way.

use std::fs::File;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use hookrail::lock_mutex;
use hookrail::recorder::{RecordError, RecordErrorKind};

/// A thread that waits for the disk. It ends when its sender is gone.
#[derive(Debug)]
pub(crate) struct SyncThread {
    requests: Sender<SyncRequest>,
}

#[derive(Debug)]
struct SyncRequest {
    file: File,
    /// Tells files apart: records of one segment need one wait.
    segment: u64,
    progress: Arc<Mutex<SyncProgress>>,
}

#[derive(Debug, Default)]
struct SyncProgress {
    result: Option<Result<(), RecordError>>,
    waker: Option<Waker>,
}

/// Ready when a record is on the disk.
#[derive(Debug)]
pub(crate) struct Synced(Arc<Mutex<SyncProgress>>);

impl SyncThread {
    pub(crate) fn start() -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel();
        thread::Builder::new().name("hookrail-journal".to_owned()).spawn(move || sync_all(&inbox))?;
        Ok(Self { requests })
    }

    /// Asks for everything that was written to a file so far.
    pub(crate) fn sync(&self, file: File, segment: u64) -> Synced {
        let progress = Arc::new(Mutex::new(SyncProgress::default()));
        let request = SyncRequest { file, segment, progress: Arc::clone(&progress) };
        if self.requests.send(request).is_err() {
            let gone = RecordError::new(RecordErrorKind::Io, "the thread that waits for the disk has ended");
            lock_mutex(&progress).result = Some(Err(gone));
        }
        Synced(progress)
    }
}

fn sync_all(inbox: &Receiver<SyncRequest>) {
    while let Ok(first) = inbox.recv() {
        let mut requests = vec![first];
        requests.extend(inbox.try_iter());
        while let Some(one) = requests.first() {
            let segment = one.segment;
            let result = one.file.sync_data().map_err(|error| {
                RecordError::new(RecordErrorKind::Io, format!("the journal cannot be written to the disk: {error}"))
            });
            let (served, others): (Vec<_>, Vec<_>) =
                requests.into_iter().partition(|request| request.segment == segment);
            for request in served {
                let mut progress = lock_mutex(&request.progress);
                progress.result = Some(result.clone());
                if let Some(waker) = progress.waker.take() {
                    drop(progress);
                    waker.wake();
                }
            }
            requests = others;
        }
    }
}

impl Future for Synced {
    type Output = Result<(), RecordError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut progress = lock_mutex(&self.0);
        match progress.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                progress.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
