//! Bringing a bundle to the machines: a publisher stores it and announces it, a machine hears that and fetches it.
//!
//! An announcement only says that it is time to look. What a machine then puts in force is decided by signatures, so that a
//! forged announcement costs one look and changes nothing.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use async_nats::jetstream;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use crate::manifest::{LARGEST_MANIFEST, Manifest, Name};
use crate::nats::connection::REQUEST_TIMEOUT;
use crate::nats::{FleetMember, NatsConnection, NatsError, Subjects};
use crate::random::random_up_to;
use crate::signature::SIGNATURE_ENDING;
use crate::source::{MANIFEST, archive_name};
use crate::{ArchiveDigest, BundleError, publish};

/// What is said about a new bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The version.
    pub version: u64,
    /// The digest of the archive.
    pub digest: ArchiveDigest,
}

/// Why a bundle was not published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The folder holds no whole bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The manifest is not signed.
    #[error("the manifest is not signed")]
    NotSigned,
    /// The bundle is for another tenant.
    #[error("the bundle is for tenant `{found}`, and the key is one of `{expected}`")]
    OtherTenant {
        /// The tenant of the manifest.
        found: Name,
        /// The tenant of the member.
        expected: Name,
    },
    /// The servers could not be used.
    #[error(transparent)]
    Nats(#[from] NatsError),
}

/// Stores the bundle of a publisher's folder in the bucket of its channel: the archive first, the manifest last. Then announces it.
///
/// # Errors
/// If the folder holds no whole signed bundle, or it cannot be stored.
pub async fn publish_bundle(
    member: &FleetMember,
    connection: &NatsConnection,
    folder: &Path,
) -> Result<Manifest, PublishError> {
    let (manifest, _) = publish::inspect(folder)?;
    let expected = member.subjects().tenant();
    if manifest.tenant != *expected {
        return Err(PublishError::OtherTenant { found: manifest.tenant, expected: expected.clone() });
    }
    let read = |name: &str, limit: u64| {
        let file = folder.join(name);
        crate::places::read_limited(&file, limit).map_err(BundleError::at(&file))
    };
    let signature_name = format!("{MANIFEST}.{SIGNATURE_ENDING}");
    if !folder.join(&signature_name).is_file() {
        return Err(PublishError::NotSigned);
    }
    let context = jetstream::ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(connection.client().clone());
    let bucket = Subjects::bucket(&manifest.channel);
    let store =
        context.get_object_store(&bucket).await.map_err(|_| NatsError::StreamMissing(format!("OBJ_{bucket}")))?;
    let archive = archive_name(&manifest.digest);
    let objects = [
        (archive.as_str(), read(&archive, manifest.size)?),
        (signature_name.as_str(), read(&signature_name, LARGEST_MANIFEST)?),
        (MANIFEST, read(MANIFEST, LARGEST_MANIFEST)?),
    ];
    for (name, bytes) in objects {
        // An archive has its digest for its name; one that is there is this one.
        if name == archive && store.info(name).await.is_ok_and(|about| !about.deleted && about.size == bytes.len()) {
            continue;
        }
        let stored = store.put(name, &mut bytes.as_slice()).await;
        stored.map_err(NatsError::request("the bundle cannot be stored"))?;
    }
    announce(
        member,
        connection,
        &manifest.channel,
        &Announcement { version: manifest.version, digest: manifest.digest },
    )
    .await?;
    Ok(manifest)
}

/// Announces a bundle to all machines of a channel.
///
/// # Errors
/// If no server can be reached.
pub async fn announce(
    member: &FleetMember,
    connection: &NatsConnection,
    channel: &Name,
    what: &Announcement,
) -> Result<(), NatsError> {
    let text = serde_json::to_vec(what).map_err(NatsError::request("the announcement cannot be written"))?;
    let client = connection.client();
    let subject = member.subjects().announce(channel);
    client.publish(subject, text.into()).await.map_err(NatsError::request("the announcement cannot be sent"))?;
    client.flush().await.map_err(NatsError::request("the announcement cannot be sent"))
}

/// When a machine looks for a new bundle.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// The longest time between an announcement and the look.
    pub jitter: Duration,
    /// The longest time between two looks without any announcement.
    pub interval: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self { jitter: Duration::from_secs(2), interval: Duration::from_secs(60 * 60) }
    }
}

/// Why a machine looks for a new bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchCause {
    /// Watching began.
    Started,
    /// A bundle was announced.
    Announced,
    /// The connection was lost meanwhile, and an announcement with it perhaps.
    Reconnected,
    /// It is time.
    Interval,
    /// The last look failed.
    Retry,
}

impl WatchCause {
    /// Returns the name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Announced => "announced",
            Self::Reconnected => "reconnected",
            Self::Interval => "interval",
            Self::Retry => "retry",
        }
    }
}

/// How a look ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookEnd {
    /// The machine has what there is.
    Current,
    /// Something failed that may work later.
    Retry,
    /// No further look is wanted.
    Stop,
}

/// The time before a look that failed is repeated.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The longest time before a look that failed several times is repeated.
const LONGEST_RETRY: Duration = Duration::from_secs(5 * 60);

/// Calls `look` whenever there may be a new bundle, one look after the other, until one says that it was the last.
///
/// # Errors
/// If announcements cannot be subscribed to.
pub async fn watch<F, Fut>(
    member: &FleetMember,
    connection: &NatsConnection,
    channel: &Name,
    options: WatchOptions,
    mut look: F,
) -> Result<(), NatsError>
where
    F: FnMut(WatchCause) -> Fut,
    Fut: Future<Output = LookEnd>,
{
    let client = connection.client();
    let subscribed = client.subscribe(member.subjects().announce(channel)).await;
    let mut announcements = subscribed.map_err(NatsError::request("announcements cannot be subscribed to"))?;
    client.flush().await.map_err(NatsError::request("announcements cannot be subscribed to"))?;
    let mut state = connection.state();
    let mut connections = state.borrow_and_update().connections;
    let mut due = (Instant::now(), WatchCause::Started);
    let mut retry_after = RETRY_AFTER;
    loop {
        let sooner = |due: (Instant, WatchCause), cause| {
            let at = Instant::now() + random_up_to(options.jitter);
            if at < due.0 { (at, cause) } else { due }
        };
        tokio::select! {
            heard = announcements.next() => match heard {
                Some(_) => due = sooner(due, WatchCause::Announced),
                None => return Ok(()),
            },
            changed = state.changed() => {
                let now = state.borrow_and_update().connections;
                if changed.is_err() {
                    return Ok(());
                }
                // The first connection may be reported after the subscription.
                if connections > 0 && now > connections {
                    due = sooner(due, WatchCause::Reconnected);
                }
                connections = now;
            },
            () = sleep_until(due.0) => {
                // What was announced until now is seen by this look.
                while let Some(Some(_)) = announcements.next().now_or_never() {}
                due = match look(due.1).await {
                    LookEnd::Current => {
                        retry_after = RETRY_AFTER;
                        // Machines that were started together do not look together for ever.
                        let interval = options.interval / 2 + random_up_to(options.interval / 2);
                        (Instant::now() + interval, WatchCause::Interval)
                    }
                    LookEnd::Retry => {
                        let after = retry_after / 2 + random_up_to(retry_after / 2);
                        retry_after = retry_after.saturating_mul(2).min(LONGEST_RETRY);
                        (Instant::now() + after, WatchCause::Retry)
                    }
                    LookEnd::Stop => return Ok(()),
                };
            }
        }
    }
}
