//! Bringing a bundle to the machines: a publisher stores it and announces it, a machine hears that and fetches it.
//!
//! An announcement only says that it is time to look. What a machine then puts in force is decided by signatures, so that a
//! forged announcement costs one look and changes nothing.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use crate::digest::ArchiveDigest;
use crate::error::BundleError;
use crate::manifest::{LARGEST_MANIFEST, MANIFEST, Manifest, SignedManifest, archive_name};
use crate::name::Name;
use crate::nats::{FleetMember, NatsConnection, NatsError};
use crate::publish;
use crate::random::random_up_to;
use crate::signature::SIGNATURE_ENDING;
use crate::store::{ChannelStore, ReplaceEnd};

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
    /// The servers have this version or a later one.
    #[error("version {found} is not higher than version {newest}, which the servers have")]
    NotHigher {
        /// The version of the manifest.
        found: u64,
        /// The version that the servers have.
        newest: u64,
    },
    /// The servers have exactly this bundle.
    #[error("version {0} is published already, with this content")]
    AlreadyPublished(u64),
    /// Another publisher was faster.
    #[error("another publisher stored version {stored} at the same time; version {found} is not published")]
    Lost {
        /// The version of the manifest.
        found: u64,
        /// The version that the servers have now.
        stored: u64,
    },
    /// No server said in time whether the bundle was stored.
    #[error("no server has confirmed version {found}, which may be published or not: {problem}")]
    Undecided {
        /// The version of the manifest.
        found: u64,
        /// What the last server said.
        problem: NatsError,
    },
    /// The bundle is published; programs of before may go on with an older one.
    #[error("version {found} is published, but what machines of before read cannot be removed: {problem}")]
    OldFormLeft {
        /// The version of the manifest.
        found: u64,
        /// Why it cannot be removed.
        problem: NatsError,
    },
    /// The servers could not be used.
    #[error(transparent)]
    Nats(#[from] NatsError),
}

/// Stores the bundle of a publisher's folder in the bucket of its channel: the archive first, the manifest with its signature last.
/// Then announces it. Of several publishers that replace the same bundle one succeeds.
///
/// # Errors
/// If the folder holds no whole signed bundle, the servers have one that is as new, or it cannot be stored.
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
        crate::files::read_limited(&file, limit).map_err(BundleError::at(&file))
    };
    let text = |name: &str| {
        let invalid = |error: std::string::FromUtf8Error| BundleError::ManifestInvalid(error.to_string());
        String::from_utf8(read(name, LARGEST_MANIFEST)?).map_err(invalid)
    };
    let signature_name = format!("{MANIFEST}.{SIGNATURE_ENDING}");
    if !folder.join(&signature_name).is_file() {
        return Err(PublishError::NotSigned);
    }
    let signed = SignedManifest { manifest: text(MANIFEST)?, signature: text(&signature_name)? };
    let archive = archive_name(&manifest.digest);
    let found = manifest.version;
    let store = ChannelStore::new(connection, &manifest.channel);
    let seen = store.entry().await?;
    let kept_apart = if seen.signed.is_some() { None } else { store.manifest_kept_apart().await? };
    let before = seen.signed.as_ref().map(|signed| signed.manifest.clone()).or(kept_apart);
    if let Some(newest) = before.as_deref().map(published_version).transpose()? {
        if seen.signed.as_ref() == Some(&signed) {
            return Err(PublishError::AlreadyPublished(found));
        }
        if found <= newest {
            return Err(PublishError::NotHigher { found, newest });
        }
    }
    store.put_archive(&archive, &read(&archive, manifest.size)?).await?;
    match store.replace(&seen, &signed).await? {
        ReplaceEnd::Replaced => {}
        ReplaceEnd::Lost(now) => {
            let stored = now.signed.map(|signed| published_version(&signed.manifest)).transpose()?;
            return Err(PublishError::Lost { found, stored: stored.unwrap_or_default() });
        }
        ReplaceEnd::Undecided(problem) => return Err(PublishError::Undecided { found, problem }),
    }
    let what = Announcement { version: found, digest: manifest.digest };
    announce(member, connection, &manifest.channel, &what).await?;
    let removed = store.remove_what_was_kept_apart().await;
    removed.map_err(|problem| PublishError::OldFormLeft { found, problem })?;
    Ok(manifest)
}

/// Returns the version of a manifest that the servers have. Without it no version can be said to be higher.
fn published_version(manifest: &str) -> Result<u64, NatsError> {
    let unreadable =
        |error: BundleError| NatsError::Unreadable { what: "what is published".to_owned(), problem: error.to_string() };
    Manifest::parse(manifest).map(|manifest| manifest.version).map_err(unreadable)
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
