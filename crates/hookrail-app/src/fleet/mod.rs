//! Bundles and fleets: building, verifying and installing bundles, members, and shipping the journal. What a bundle is, when it
//! is accepted, what travels and what counts is decided in `hookrail-fleet`.

mod documents;
mod failures;
mod shipping;
mod trial;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hookrail_fleet::archive::{self, ArchiveLimits, PackedFile};
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::install::{self, ApplyEnd};
use hookrail_fleet::manifest::{Manifest, Name};
use hookrail_fleet::nats::{FleetMember, MemberKey, NatsError, ReconnectPace};
use hookrail_fleet::places::{BundleScope, FleetPlaces};
use hookrail_fleet::publish::{self, Content, NewManifest};
use hookrail_fleet::servers::{MemberRole, TenantMember, create_streams};
use hookrail_fleet::signature::{self, Password, PublicKey};
use hookrail_fleet::source::{SourceError, SourceLocation};
use hookrail_fleet::{ArchiveDigest, BundleError, Timestamp};
use hookrail_spawn::UserFolders;

use crate::failure::{Failure, Result};

pub use documents::{
    change_document, file_document, manifest_document, shipping_document, status_document, verification_document,
};
pub use failures::{bundle_failure, members_failure, nats_failure, publish_failure, ship_failure};
pub use shipping::{ServerStatus, ShippingStatus, ship_once};

/// The variable that names the directory which stands for `/`. The engine reads it too.
const ROOT: &str = "HOOKRAIL_FLEET_ROOT";

/// How long servers may need until streams can be created.
const SETUP_PATIENCE: Duration = Duration::from_secs(30);

/// Which enrolment of this machine a command is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enrolment<'e> {
    /// Whose layer the bundle is a source of; without one, the system's for root, else the user's.
    pub scope: Option<BundleScope>,
    /// The directory that stands for `/`.
    pub root: Option<&'e Path>,
}

/// The places of the enrolment that a command is about.
pub fn places(enrolment: Enrolment<'_>) -> Result<FleetPlaces> {
    let named = std::env::var_os(ROOT).filter(|root| !root.is_empty()).map(PathBuf::from);
    let root = match enrolment.root {
        Some(root) => Some(std::path::absolute(root).map_err(|error| {
            Failure::new(format!("`{}` cannot be used: {error}", root.display())).hint("give an absolute path")
        })?),
        None => named,
    };
    let by_user = if is_root() || root.is_some() { BundleScope::System } else { BundleScope::User };
    let scope = enrolment.scope.unwrap_or(by_user);
    let places = match scope {
        BundleScope::System => FleetPlaces::system(root.as_deref().unwrap_or(Path::new("/"))),
        BundleScope::User => {
            let UserFolders { configuration, state, .. } = UserFolders::of_process();
            let Some((configuration, state)) = configuration.zip(state) else {
                return Err(Failure::new("there is no place for bundles: `HOME` is not set")
                    .hint("set `HOME` to your home directory"));
            };
            FleetPlaces::user(&configuration, &state)
        }
    };
    places.map_err(|problem| bundle_failure(&problem.into()))
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Makes a folder for what a source brings.
fn scratch() -> Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("hookrail-bundle-").tempdir().map_err(|error| {
        Failure::new(format!("no temporary folder can be made: {error}"))
            .hint("check the space below the temporary folder")
    })
}

/// Returns who connects: the member of a file, or the machine that is enrolled.
pub fn member(file: Option<&Path>, enrolment: Enrolment<'_>) -> Result<FleetMember> {
    match file {
        Some(file) => FleetMember::read(file).map_err(|error| bundle_failure(&error)),
        None => {
            let config = places(enrolment)?.read_configuration().map_err(|error| bundle_failure(&error))?;
            FleetMember::of_machine(&config).map_err(|error| nats_failure(&error))
        }
    }
}

/// Reads the configuration, if there is one.
pub fn read_configuration(places: &FleetPlaces) -> std::result::Result<Option<FleetConfig>, BundleError> {
    match places.configuration.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => places.read_configuration().map(Some),
    }
}

/// Verifies the bundle of a source with these keys; without keys, with those of this machine's configuration.
///
/// # Errors
///
/// No source is named, or the configuration cannot be read. The inner error is why the bundle is refused.
pub fn verify_bundle(
    source: Option<&SourceLocation>,
    keys: &[PublicKey],
    enrolment: Enrolment<'_>,
) -> Result<std::result::Result<(Manifest, Vec<PackedFile>), BundleError>> {
    let scratch = scratch()?;
    let config = match (source, keys.is_empty()) {
        (Some(_), false) => None,
        _ => Some(places(enrolment)?.read_configuration().map_err(|error| bundle_failure(&error))?),
    };
    let keys = config.as_ref().filter(|_| keys.is_empty()).map_or(keys, |config| config.keys.as_slice());
    let Some(source) = source.or(config.as_ref().map(|config| &config.source)) else {
        return Err(Failure::new("no source is named").hint("name a folder or an address"));
    };
    let opened = source.open(scratch.path(), config.as_ref()).map_err(BundleError::from);
    Ok(opened.and_then(|mut source| publish::verify(&mut *source, keys)))
}

/// Puts the bundle of a source in force; without one, of the source that the configuration names.
pub fn apply_bundle(
    places: &FleetPlaces,
    source: Option<&SourceLocation>,
) -> std::result::Result<ApplyEnd, BundleError> {
    let config = places.read_configuration()?;
    let scratch = scratch().map_err(|failure| BundleError::Content(failure.message().to_owned()))?;
    let mut source = source.unwrap_or(&config.source).open(scratch.path(), Some(&config))?;
    let check = |archive: &[u8], _: &_| trial::check_content(archive, trial::Trial::OfMachine);
    install::apply(places, &config, &mut *source, Timestamp::now(), &check)
}

/// What a bundle is made of.
pub enum BundleContent<'c> {
    /// The files of a folder.
    Folder(&'c Path),
    /// The archive that the bundle has already.
    Archive(ArchiveDigest),
}

/// Builds a bundle in a folder. Returns its manifest and the number of its files.
pub fn build_bundle(
    out: &Path,
    content: &BundleContent<'_>,
    new: NewManifest,
) -> std::result::Result<(Manifest, usize), BundleError> {
    match content {
        BundleContent::Folder(folder) => {
            let packed = archive::pack(folder, &ArchiveLimits::DEFAULT)?;
            trial::check_content(&packed.bytes, trial::Trial::OfPublisher(folder)).map_err(BundleError::Content)?;
            Ok((publish::write_bundle(out, &Content::Packed(&packed), new)?, packed.files.len()))
        }
        BundleContent::Archive(digest) => {
            let manifest = publish::write_bundle(out, &Content::Existing(*digest), new)?;
            let (_, files) = publish::inspect(out)?;
            Ok((manifest, files.len()))
        }
    }
}

/// The files of a new pair of keys.
pub struct WrittenKeys {
    pub secret: PathBuf,
    pub public: PathBuf,
    /// The public key as the configuration names it.
    pub key: String,
}

/// Makes a pair of keys and writes it to two new files, `NAME.key` and `NAME.pub`.
pub fn write_keys(name: &Path, password: Password) -> Result<WrittenKeys> {
    let path = |ending: &str| {
        let mut name = name.to_owned().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let (secret, public) = (path(".key"), path(".pub"));
    if let Some(taken) = [&secret, &public].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(Failure::new(format!("`{}` exists already", taken.display())).hint("choose another name"));
    }
    let keys = signature::generate(password).map_err(|problem| bundle_failure(&problem.into()))?;
    write_new(&secret, &keys.secret, 0o600)?;
    write_new(&public, &keys.public, 0o644)?;
    Ok(WrittenKeys { secret, public, key: keys.key.to_string() })
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::new(format!("`{}` cannot be written: {error}", path.display()))
            .hint("give a name in a folder that exists and that you can write to")
    })
}

/// Creates the streams of a fleet. Servers that were started a moment ago do not listen yet, or have not agreed on a leader.
pub async fn set_up_streams(
    member: &FleetMember,
    replicas: usize,
    channels: &[Name],
) -> std::result::Result<Vec<String>, NatsError> {
    let begin = Instant::now();
    loop {
        let created = match member.connect(ReconnectPace::AtOnce).await {
            Ok(connection) => create_streams(member, &connection, replicas, channels).await,
            Err(error) => Err(error),
        };
        match created {
            Err(error) if error.is_temporary() && begin.elapsed() < SETUP_PATIENCE => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            end => return end,
        }
    }
}

/// Makes a key for this machine. Returns what the list of members needs to admit it.
pub fn enroll(member: &FleetMember, rotate: bool, channel: &Name) -> Result<TenantMember> {
    let seed = &member.settings().seed;
    let made = if rotate {
        MemberKey::rotate(seed)
    } else {
        MemberKey::generate().and_then(|key| key.write_new(seed).map(|()| key))
    };
    let key = made.map_err(|problem| {
        Failure::new(problem.to_string()).hint("`fleet enroll --rotate` replaces the key of a machine")
    })?;
    let name: Name = member.id().to_string().parse().map_err(|error| Failure::new(format!("{error}")))?;
    Ok(TenantMember {
        name,
        key: key.public(),
        signing_key: Some(key.signing_public()),
        role: MemberRole::Machine { channel: channel.clone() },
    })
}

/// Whether the same look may end otherwise a little later: the source was not reached, or a bundle was being published.
pub fn may_work_later(error: &BundleError) -> bool {
    matches!(
        error,
        BundleError::Source(SourceError::Unreachable { .. })
            | BundleError::BadSignature
            | BundleError::WrongDigest { .. }
            | BundleError::WrongSize { .. }
            | BundleError::Io { .. }
    )
}
