//! A publisher's view of the bucket of a channel, which has archives and one entry that says what is published.
//!
//! A publisher names the revision of the entry that it replaces, and the servers refuse every other one.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::header::NATS_ROLLUP;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_nats::jetstream::{self, ErrorCode};
use tokio::time::Instant;

use crate::error::SourceError;
use crate::manifest::{LARGEST_MANIFEST, MANIFEST, SignedManifest};
use crate::name::Name;
use crate::nats::connection::REQUEST_TIMEOUT;
use crate::nats::retry::{is_wrong_sequence, pause};
use crate::nats::{NatsConnection, NatsError, Subjects};
use crate::published_entry::{EntryProblem, PublishedEntry, subject};
use crate::signature::SIGNATURE_ENDING;
use crate::source::fetch_object;

/// How long a publisher waits for servers that cannot do what it asks, such as those without a leader.
const PATIENCE: Duration = Duration::from_secs(60);

/// How replacing the entry ended.
#[derive(Debug)]
pub(crate) enum ReplaceEnd {
    /// The servers have the new one.
    Replaced,
    /// Another publisher replaced it meanwhile.
    Lost(PublishedEntry),
    /// The patience ended without an answer that decides.
    Undecided(NatsError),
}

/// A publisher's view of a bucket. What the servers cannot do now is tried again until the patience ends.
pub(crate) struct ChannelStore<'c> {
    connection: &'c NatsConnection,
    context: jetstream::Context,
    channel: Name,
    bucket: String,
    until: Instant,
}

impl<'c> ChannelStore<'c> {
    pub(crate) fn new(connection: &'c NatsConnection, channel: &Name) -> Self {
        let context = jetstream::ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .build(connection.client().clone());
        let (channel, bucket) = (channel.clone(), Subjects::bucket(channel));
        Self { connection, context, channel, bucket, until: Instant::now() + PATIENCE }
    }

    /// Returns what is published. The leader is asked: a replica may be behind.
    pub(crate) async fn entry(&self) -> Result<PublishedEntry, NatsError> {
        let mut attempts = Attempts::until(self.until);
        loop {
            match self.look().await {
                Err(error) if attempts.may_go_on(&error) => attempts.pause().await,
                end => return end,
            }
        }
    }

    async fn look(&self) -> Result<PublishedEntry, NatsError> {
        let stream = self.stream().await?;
        let message = match stream.get_last_raw_message_by_subject(&subject(&self.bucket)).await {
            Ok(message) => message,
            Err(error) => {
                return match error.kind() {
                    LastRawMessageErrorKind::NoMessageFound => {
                        Ok(PublishedEntry { revision: 0, id: String::new(), signed: None })
                    }
                    LastRawMessageErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                        Err(NatsError::StreamMissing(self.stream_name()))
                    }
                    _ => Err(self.connection.refusal_or(NatsError::request(ASKING)(error))),
                };
            }
        };
        PublishedEntry::read(message.sequence, &message.payload).map_err(|problem| NatsError::Unreadable {
            what: format!("the entry of bucket {}", self.bucket),
            problem: match problem {
                EntryProblem::TooLarge { limit } => format!("it is larger than {limit} bytes"),
                EntryProblem::Invalid(problem) => problem,
            },
        })
    }

    /// Returns the manifest that a program stored which kept the signature apart, if nothing has replaced it.
    pub(crate) async fn manifest_kept_apart(&self) -> Result<Option<String>, NatsError> {
        let mut attempts = Attempts::until(self.until);
        loop {
            let error = match fetch_object(self.connection, &self.channel, MANIFEST, LARGEST_MANIFEST).await {
                Ok(bytes) => return Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                Err(SourceError::NotFound { .. }) => return Ok(None),
                Err(error) => NatsError::request(ASKING)(error),
            };
            if !attempts.may_go_on(&error) {
                return Err(error);
            }
            attempts.pause().await;
        }
    }

    /// Stores an archive. One that is there under the same digest and of the same size is the same one.
    pub(crate) async fn put_archive(&self, name: &str, bytes: &[u8]) -> Result<(), NatsError> {
        let mut attempts = Attempts::until(self.until);
        loop {
            match self.put_once(name, bytes).await {
                Err(error) if attempts.may_go_on(&error) => attempts.pause().await,
                end => return end,
            }
        }
    }

    async fn put_once(&self, name: &str, mut bytes: &[u8]) -> Result<(), NatsError> {
        let store = self.context.get_object_store(&self.bucket).await.map_err(NatsError::request(STORING))?;
        if store.info(name).await.is_ok_and(|about| !about.deleted && about.size == bytes.len()) {
            return Ok(());
        }
        let stored = store.put(name, &mut bytes).await;
        stored.map(|_| ()).map_err(|error| self.connection.refusal_or(NatsError::request(STORING)(error)))
    }

    /// Replaces the entry if it is still the one that was seen.
    ///
    /// # Errors
    /// If the servers refuse it for another reason than its revision.
    pub(crate) async fn replace(
        &self,
        seen: &PublishedEntry,
        signed: &SignedManifest,
    ) -> Result<ReplaceEnd, NatsError> {
        // The servers may store a message whose acknowledgement is lost. Its name tells it from that of another publisher.
        let id = self.connection.client().new_inbox();
        let payload = PublishedEntry::write(&self.bucket, &id, signed)?;
        let mut headers = HeaderMap::new();
        headers.insert(NATS_ROLLUP, "sub");
        let mut attempts = Attempts::until(self.until);
        loop {
            let message = PublishMessage::build()
                .payload(payload.clone().into())
                .headers(headers.clone())
                .expected_stream(self.stream_name())
                .expected_last_subject_sequence(seen.revision);
            let sent = async { self.context.send_publish(subject(&self.bucket), message).await?.await };
            let error = match sent.await {
                Ok(_) => return Ok(ReplaceEnd::Replaced),
                Err(error) if is_wrong_sequence(&error) => match self.entry().await {
                    Ok(now) if now.id == id => return Ok(ReplaceEnd::Replaced),
                    Ok(now) if now.revision != seen.revision => return Ok(ReplaceEnd::Lost(now)),
                    // A leader that was just elected knows of it, and does not have it yet.
                    Ok(_) => NatsError::request(STORING)(error),
                    Err(error) => return Ok(ReplaceEnd::Undecided(error)),
                },
                Err(error) => match error.kind() {
                    PublishErrorKind::TimedOut => self.connection.silence(&self.bucket),
                    PublishErrorKind::StreamNotFound => {
                        NatsError::Request { what: STORING, problem: "no server leads the stream".to_owned() }
                    }
                    _ => NatsError::request(STORING)(error),
                },
            };
            if attempts.may_go_on(&error) {
                attempts.pause().await;
            } else if is_worth_waiting(&error) {
                return Ok(ReplaceEnd::Undecided(error));
            } else {
                return Err(error);
            }
        }
    }

    /// Removes what a program stored which kept the signature apart. Programs of that kind find nothing then, and say so, instead of
    /// following for ever what is not replaced any more.
    pub(crate) async fn remove_what_was_kept_apart(&self) -> Result<(), NatsError> {
        for name in [MANIFEST.to_owned(), format!("{MANIFEST}.{SIGNATURE_ENDING}")] {
            let mut attempts = Attempts::until(self.until);
            while let Err(error) = self.remove_once(&name).await {
                if !attempts.may_go_on(&error) {
                    return Err(error);
                }
                attempts.pause().await;
            }
        }
        Ok(())
    }

    async fn remove_once(&self, name: &str) -> Result<(), NatsError> {
        let store = self.context.get_object_store(&self.bucket).await.map_err(NatsError::request(STORING))?;
        match store.info(name).await {
            Ok(about) if about.deleted => Ok(()),
            Ok(_) => store.delete(name).await.map_err(NatsError::request(STORING)),
            Err(error) if error.kind() == jetstream::object_store::InfoErrorKind::NotFound => Ok(()),
            Err(error) => Err(NatsError::request(STORING)(error)),
        }
    }

    async fn stream(&self) -> Result<Stream<()>, NatsError> {
        self.context.get_stream_no_info(self.stream_name()).await.map_err(NatsError::request(ASKING))
    }

    fn stream_name(&self) -> String {
        format!("OBJ_{}", self.bucket)
    }
}

/// The attempts at one request.
struct Attempts {
    until: Instant,
    failed: u32,
}

impl Attempts {
    fn until(until: Instant) -> Self {
        Self { until, failed: 0 }
    }

    fn may_go_on(&self, error: &NatsError) -> bool {
        is_worth_waiting(error) && Instant::now() < self.until
    }

    async fn pause(&mut self) {
        self.failed = self.failed.saturating_add(1);
        pause(self.failed).await;
    }
}

const ASKING: &str = "the servers cannot say what is published";
const STORING: &str = "the bundle cannot be stored";

/// Whether a request may succeed soon. A stream that the leader of the cluster does not know was never made.
fn is_worth_waiting(error: &NatsError) -> bool {
    error.is_temporary() && !matches!(error, NatsError::StreamMissing(_))
}
