//! The object store of the servers: one bucket for each channel.
//!
//! Objects are read with direct gets. Reading them as the client of NATS does would make a consumer for each machine that reads, and
//! a stream has a limit of 1,000 consumers.

use async_nats::jetstream;
use async_nats::jetstream::object_store::ObjectInfo;
use async_nats::jetstream::stream::{DirectGetError, DirectGetErrorKind, Stream};

use super::{BundleSource, fetch_apart};
use crate::error::SourceError;
use crate::manifest::{MANIFEST, SignedManifest};
use crate::name::Name;
use crate::nats::connection::REQUEST_TIMEOUT;
use crate::nats::error::with_sources;
use crate::nats::{FleetMember, NatsConnection, NatsError, ReconnectPace, Subjects};
use crate::published_entry::{self, EntryProblem, PublishedEntry};

/// How often an object is read anew when it was replaced while it was read.
const ATTEMPTS: usize = 3;

pub(super) struct NatsSource {
    member: FleetMember,
    channel: Name,
    open: Option<OpenSource>,
}

struct OpenSource {
    runtime: tokio::runtime::Runtime,
    connection: NatsConnection,
}

impl NatsSource {
    pub(super) fn new(member: FleetMember, channel: Name) -> Self {
        Self { member, channel, open: None }
    }

    fn connect(&mut self) -> Result<&OpenSource, NatsError> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(NatsError::request("no runtime can be started"))?;
                let connection = runtime.block_on(self.member.connect(ReconnectPace::AtOnce))?;
                OpenSource { runtime, connection }
            }
        };
        Ok(self.open.insert(open))
    }
}

impl BundleSource for NatsSource {
    fn fetch(&mut self, name: &str, limit: u64) -> Result<Vec<u8>, SourceError> {
        let place = place(&self.channel);
        let channel = self.channel.clone();
        let open = self.connect().map_err(|error| SourceError::Unreachable { place, problem: error.to_string() })?;
        open.runtime.block_on(fetch_object(&open.connection, &channel, name, limit))
    }

    /// A program that kept the two apart may have published last; machines are brought up to date before publishers.
    fn signed_manifest(&mut self) -> Result<SignedManifest, SourceError> {
        let (place, channel) = (place(&self.channel), self.channel.clone());
        let open = self.connect().map_err(|error| SourceError::Unreachable { place, problem: error.to_string() })?;
        match open.runtime.block_on(fetch_signed_manifest(&open.connection, &channel)) {
            Err(missing @ SourceError::NotFound { .. }) => match fetch_apart(self) {
                Err(SourceError::NotFound { .. }) => Err(missing),
                fetched => fetched,
            },
            fetched => fetched,
        }
    }
}

fn place(channel: &Name) -> String {
    format!("nats, bucket {}", Subjects::bucket(channel))
}

/// Fetches what is published in a channel: a manifest and the signature that was stored with it.
///
/// # Errors
/// If nothing is published, or the servers cannot be used.
pub async fn fetch_signed_manifest(connection: &NatsConnection, channel: &Name) -> Result<SignedManifest, SourceError> {
    let bucket = Subjects::bucket(channel);
    let not_found = || SourceError::NotFound { place: place(channel), name: MANIFEST.to_owned() };
    let unreachable = |problem: String| SourceError::Unreachable { place: place(channel), problem };
    let stream = open_stream(connection, channel).await?;
    let found = stream.direct_get_last_for_subject(published_entry::subject(&bucket)).await;
    let message = found.map_err(|error| match error.kind() {
        DirectGetErrorKind::NotFound => not_found(),
        DirectGetErrorKind::TimedOut => unreachable(connection.silence(&bucket).to_string()),
        _ => unreachable(with_sources(&error)),
    })?;
    let entry = PublishedEntry::read(message.sequence, &message.payload).map_err(|problem| match problem {
        EntryProblem::TooLarge { limit } => {
            SourceError::TooLarge { place: place(channel), name: MANIFEST.to_owned(), limit }
        }
        EntryProblem::Invalid(problem) => unreachable(problem),
    })?;
    entry.signed.ok_or_else(not_found)
}

async fn open_stream(connection: &NatsConnection, channel: &Name) -> Result<Stream<()>, SourceError> {
    let context = jetstream::ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(connection.client().clone());
    let stream = context.get_stream_no_info(format!("OBJ_{}", Subjects::bucket(channel))).await;
    stream.map_err(|error| SourceError::Unreachable { place: place(channel), problem: with_sources(&error) })
}

/// Fetches an object of a channel's bucket. A connection serves any number of them.
///
/// # Errors
/// If there is no such object, it is too large, or the servers cannot be used.
pub async fn fetch_object(
    connection: &NatsConnection,
    channel: &Name,
    name: &str,
    limit: u64,
) -> Result<Vec<u8>, SourceError> {
    let bucket = Subjects::bucket(channel);
    let unreachable = |problem: String| SourceError::Unreachable { place: place(channel), problem };
    let stream = open_stream(connection, channel).await?;
    let failed = |error: DirectGetError| match error.kind() {
        DirectGetErrorKind::NotFound => SourceError::NotFound { place: place(channel), name: name.to_owned() },
        DirectGetErrorKind::TimedOut => unreachable(connection.silence(&bucket).to_string()),
        _ => unreachable(with_sources(&error)),
    };
    let mut end = None;
    for _ in 0..ATTEMPTS {
        let about = stream.direct_get_last_for_subject(published_entry::object_subject(&bucket, name)).await;
        let about = about.map_err(failed)?;
        let about: ObjectInfo =
            serde_json::from_slice(&about.payload).map_err(|error| unreachable(error.to_string()))?;
        if about.deleted {
            return Err(SourceError::NotFound { place: place(channel), name: name.to_owned() });
        }
        if about.size as u64 > limit {
            return Err(SourceError::TooLarge { place: place(channel), name: name.to_owned(), limit });
        }
        match fetch_chunks(&stream, &bucket, &about).await {
            Ok(bytes) => return Ok(bytes),
            Err(ChunkError::Gone) => end = Some(unreachable("the object is being replaced".to_owned())),
            Err(ChunkError::Failed(error)) => return Err(failed(error)),
        }
    }
    Err(end.unwrap_or(SourceError::NotText))
}

enum ChunkError {
    /// The object was replaced, and what is left of the old one is being removed.
    Gone,
    Failed(DirectGetError),
}

async fn fetch_chunks(stream: &Stream<()>, bucket: &str, about: &ObjectInfo) -> Result<Vec<u8>, ChunkError> {
    let subject = format!("$O.{bucket}.C.{}", about.nuid);
    let mut bytes = Vec::with_capacity(about.size);
    let mut from = 1;
    for _ in 0..about.chunks {
        let chunk = stream.direct_get_builder().next_by_subject(subject.clone()).sequence(from).send().await;
        let chunk = chunk.map_err(|error| match error.kind() {
            DirectGetErrorKind::NotFound => ChunkError::Gone,
            _ => ChunkError::Failed(error),
        })?;
        from = chunk.sequence + 1;
        if bytes.len() + chunk.payload.len() > about.size {
            return Err(ChunkError::Gone);
        }
        bytes.extend_from_slice(&chunk.payload);
    }
    if bytes.len() == about.size { Ok(bytes) } else { Err(ChunkError::Gone) }
}
