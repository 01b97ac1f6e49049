//! Puts a bundle in force. Everything is prepared beside what is in force; one rename then switches, so that a process that is
//! killed at any moment leaves the old bundle or the new one.
//!
//! The file that is renamed, `current.json`, is the only thing that the engine reads of a bundle beside its folder:
//!
//! | member | meaning |
//! |---|---|
//! | `format` | the version of this format |
//! | `bundles` | what is in force: one bundle whose hooks count, one that is tried out beside it, or both |
//! | `bundles[].digest` | its folder below `bundles` |
//! | `bundles[].channel`, `version` | which bundle it is |
//! | `bundles[].shadow` | whether its hooks are only tried out |
//! | `bundles[].applied`, `expires` | times, in seconds since the beginning of 1970 |
//! | `bundles[].manifest`, `signature` | what was verified |
//! | `stale_after`, `expired` | what the channel says: seconds, and `allow`, `ask` or `block` |
//! | `newest` | by channel, the newest version that was in force; an older one is refused |
//! | `kept` | the digests of the bundles that are kept, the newest first |

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::archive::{self, ArchiveLimits};
use crate::config::{ExpiredPolicy, FleetConfig};
use crate::digest::ArchiveDigest;
use crate::error::BundleError;
use crate::files::{create_shared_folder, read_limited, remove_folder, write_through};
use crate::machine::MachineId;
use crate::manifest::{Expected, Manifest, SignedManifest, parse_version};
use crate::name::Name;
use crate::places::FleetPlaces;
use crate::publish::{check_archive, fetch_archive};
use crate::signature;
use crate::source::BundleSource;
use crate::time::Timestamp;

/// The version of the format of `current.json`.
const FORMAT: u32 = 1;

/// How many bundles are kept, the one in force included.
const KEPT: usize = 3;

/// The largest `current.json` that is read.
const LARGEST: u64 = 1024 * 1024;

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledBundles {
    format: u32,
    /// The bundles in force: the one whose hooks count first, then the one that is tried out.
    pub bundles: Vec<BundleInForce>,
    stale_after: u64,
    /// What an expired bundle does to events that can be denied.
    pub expired: ExpiredPolicy,
    newest: BTreeMap<Name, u64>,
    /// The bundles that are kept, the newest first.
    pub kept: Vec<ArchiveDigest>,
}

/// A bundle that is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleInForce {
    /// Its digest.
    pub digest: ArchiveDigest,
    /// The channel of its manifest.
    pub channel: Name,
    /// The version of its manifest.
    pub version: u64,
    /// Whether its hooks are only tried out.
    pub shadow: bool,
    applied: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    manifest: String,
    signature: String,
}

impl InstalledBundles {
    /// Reads what is in force; nothing if no bundle is.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn read(places: &FleetPlaces) -> Result<Option<Self>, BundleError> {
        let file = places.pointer();
        let problem = |problem: String| BundleError::State { file: file.clone(), problem };
        let bytes = match read_limited(&file, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(problem(error.to_string())),
        };
        let read: Self = serde_json::from_slice(&bytes).map_err(|error| problem(error.to_string()))?;
        if read.format != FORMAT {
            return Err(problem(format!("it has format {}, and this hookrail knows format {FORMAT}", read.format)));
        }
        Ok(Some(read))
    }

    /// Returns the bundle that was put in force last.
    #[must_use]
    pub fn newest_bundle(&self) -> Option<&BundleInForce> {
        self.bundles.last()
    }

    /// Returns how long the source may be out of reach before that is reported.
    #[must_use]
    pub fn stale_after(&self) -> Duration {
        Duration::from_secs(self.stale_after)
    }
}

impl BundleInForce {
    /// Returns when it was put in force.
    #[must_use]
    pub fn applied(&self) -> Timestamp {
        Timestamp::from_seconds(self.applied)
    }

    /// Returns when it expires.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.expires.map(Timestamp::from_seconds)
    }

    /// Returns the manifest with its signature.
    #[must_use]
    pub fn signed_manifest(&self) -> SignedManifest {
        SignedManifest { manifest: self.manifest.clone(), signature: self.signature.clone() }
    }
}

/// How an attempt ended that was not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyEnd {
    /// Another bundle is in force now.
    Switched {
        /// The version that was in force before.
        from: Option<u64>,
        /// What is in force now.
        to: Box<Manifest>,
    },
    /// The newest bundle is in force already.
    UpToDate(Box<Manifest>),
    /// The rollout has not reached this machine yet.
    NotReached(Box<Manifest>),
}

/// Decides whether the engine can use the content of an archive; otherwise it says why not.
pub type ContentCheck<'c> = dyn Fn(&[u8], &Manifest) -> Result<(), String> + 'c;

/// Fetches the newest bundle of a source, and puts it in force if every rule allows that.
///
/// # Errors
/// If the bundle is refused or a step fails. What is in force stays in force then.
pub fn apply(
    places: &FleetPlaces,
    config: &FleetConfig,
    source: &mut dyn BundleSource,
    now: Timestamp,
    check: &ContentCheck<'_>,
) -> Result<ApplyEnd, BundleError> {
    places.create_state()?;
    let _lock = lock(places)?;
    // What a killed process left behind is of no use.
    let staging = places.staging();
    empty_folder(&staging).map_err(BundleError::at(&staging))?;
    let before = InstalledBundles::read(places)?;
    let signed = source.signed_manifest()?;
    signature::verify(&signed.manifest, &signed.signature, &config.keys)?;
    let manifest = Manifest::parse(&signed.manifest)?;
    let hookrail = parse_version(env!("CARGO_PKG_VERSION"))?;
    let expected = Expected { tenant: &config.tenant, channel: &config.channel.name, now, hookrail: &hookrail };
    manifest.check(&expected)?;
    let is_in_force = is_in_force(&manifest, before.as_ref())?;
    let machine = MachineId::find(config.machine.as_ref().map(Name::as_str))?;
    // A machine without any bundle denies, so it takes the one that is offered.
    if before.is_some() && !is_in_force && !machine.is_reached_by(&manifest.rollout) {
        record_check(places, now)?;
        return Ok(ApplyEnd::NotReached(Box::new(manifest)));
    }
    if !places.bundle(&manifest.digest).is_dir() {
        let bytes = fetch_archive(source, &manifest)?;
        check_archive(&manifest, &bytes)?;
        check(&bytes, &manifest).map_err(BundleError::Content)?;
        install_archive(places, &bytes, &manifest.digest)?;
    }
    record_check(places, now)?;
    let next = next_state(before.as_ref(), &manifest, signed, config, now, is_in_force);
    if before.as_ref() != Some(&next) {
        let text = serde_json::to_vec_pretty(&next)
            .map_err(|error| BundleError::State { file: places.pointer(), problem: error.to_string() })?;
        write_through(&staging, &places.pointer(), &text, 0o644).map_err(BundleError::at(&places.pointer()))?;
    }
    prune(places, &next.kept)?;
    if is_in_force {
        return Ok(ApplyEnd::UpToDate(Box::new(manifest)));
    }
    let from = before.as_ref().and_then(InstalledBundles::newest_bundle).map(|bundle| bundle.version);
    Ok(ApplyEnd::Switched { from, to: Box::new(manifest) })
}

/// Returns whether the manifest is the newest one in force already.
fn is_in_force(manifest: &Manifest, before: Option<&InstalledBundles>) -> Result<bool, BundleError> {
    let Some(before) = before else { return Ok(false) };
    let newest = before.newest.get(&manifest.channel).copied();
    if let Some(newest) = newest.filter(|newest| manifest.version < *newest) {
        return Err(BundleError::OlderVersion { found: manifest.version, newest });
    }
    let is_same = |bundle: &&BundleInForce| bundle.channel == manifest.channel && bundle.version == manifest.version;
    match before.newest_bundle().filter(is_same) {
        None => Ok(false),
        Some(bundle) if Manifest::parse(&bundle.manifest)?.is_same_but_for_rollout(manifest) => Ok(true),
        Some(_) => Err(BundleError::VersionReused(manifest.version)),
    }
}

fn next_state(
    before: Option<&InstalledBundles>,
    manifest: &Manifest,
    signed: SignedManifest,
    config: &FleetConfig,
    now: Timestamp,
    is_in_force: bool,
) -> InstalledBundles {
    let known = before.map(|before| before.bundles.clone()).unwrap_or_default();
    let bundles = if is_in_force {
        known
    } else {
        // What is tried out stands beside the bundle whose hooks count, so that no guard is missing meanwhile.
        let enforced = known.into_iter().filter(|bundle| manifest.shadow && !bundle.shadow);
        let new = BundleInForce {
            digest: manifest.digest,
            channel: manifest.channel.clone(),
            version: manifest.version,
            shadow: manifest.shadow,
            applied: now.seconds(),
            expires: manifest.expires.map(Timestamp::seconds),
            manifest: signed.manifest,
            signature: signed.signature,
        };
        enforced.chain([new]).collect()
    };
    let mut newest = before.map(|before| before.newest.clone()).unwrap_or_default();
    newest.insert(manifest.channel.clone(), manifest.version);
    let earlier = before.into_iter().flat_map(|before| before.kept.iter().copied());
    let mut kept: Vec<ArchiveDigest> = Vec::new();
    for digest in bundles.iter().rev().map(|bundle| bundle.digest).chain(earlier) {
        if kept.len() < KEPT && !kept.contains(&digest) {
            kept.push(digest);
        }
    }
    InstalledBundles {
        format: FORMAT,
        bundles,
        stale_after: config.channel.stale_after.as_secs(),
        expired: config.channel.expired,
        newest,
        kept,
    }
}

/// Unpacks an archive beside the others, and gives it its name when it is whole and durable.
fn install_archive(places: &FleetPlaces, bytes: &[u8], digest: &ArchiveDigest) -> Result<(), BundleError> {
    let staging = places.staging();
    let folder = staging.join(digest.to_string());
    create_shared_folder(&folder).map_err(BundleError::at(&folder))?;
    archive::unpack(bytes, &folder, &ArchiveLimits::DEFAULT)?;
    let target = places.bundle(digest);
    fs::rename(&folder, &target).map_err(BundleError::at(&target))?;
    let bundles = places.bundles();
    hookrail_spawn::sync_folder(&bundles).map_err(BundleError::at(&bundles))
}

/// Removes the bundles that are not kept. A folder is renamed first, so that one with a digest for its name is always whole.
fn prune(places: &FleetPlaces, kept: &[ArchiveDigest]) -> Result<(), BundleError> {
    let bundles = places.bundles();
    let names: Vec<String> = kept.iter().map(ArchiveDigest::to_string).collect();
    for entry in fs::read_dir(&bundles).map_err(BundleError::at(&bundles))? {
        let entry = entry.map_err(BundleError::at(&bundles))?;
        let name = entry.file_name();
        if names.iter().any(|kept| name == kept.as_str()) {
            continue;
        }
        let aside = places.staging().join(&name);
        remove_folder(&aside).map_err(BundleError::at(&aside))?;
        fs::rename(entry.path(), &aside).map_err(BundleError::at(&entry.path()))?;
    }
    let staging = places.staging();
    empty_folder(&staging).map_err(BundleError::at(&staging))
}

fn empty_folder(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_folder(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn record_check(places: &FleetPlaces, now: Timestamp) -> Result<(), BundleError> {
    let file = places.checked();
    write_through(&places.staging(), &file, now.seconds().to_string().as_bytes(), 0o644).map_err(BundleError::at(&file))
}

/// Lets one process at a time change the state. The lock ends with the process.
fn lock(places: &FleetPlaces) -> Result<File, BundleError> {
    let path = places.state.join("lock");
    let file = hookrail_spawn::private_file_options().read(true).write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(BundleError::at(&path))?;
    file.lock().map_err(BundleError::at(&path))?;
    Ok(file)
}
