//! What is in force on a machine, how old it is, and whether it is still what was signed.

use crate::config::FleetConfig;
use crate::error::BundleError;
use crate::files::read_limited;
use crate::install::{BundleInForce, InstalledBundles};
use crate::manifest::Manifest;
use crate::places::FleetPlaces;
use crate::signature;
use crate::time::Timestamp;

/// The state of an enrolment.
#[derive(Debug)]
pub struct FleetStatus {
    /// What is in force, if anything is.
    pub in_force: Option<InstalledBundles>,
    /// When the source was last reached.
    pub checked: Option<Timestamp>,
    /// How it stands.
    pub condition: Condition,
}

/// How an enrolment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is no configuration and no bundle.
    NotEnrolled,
    /// There is a configuration and no bundle, so the engine denies.
    Missing,
    /// The bundle is current.
    Current,
    /// The source was not reached for too long.
    Stale,
    /// The bundle has expired.
    Expired,
}

impl Condition {
    /// Returns the name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotEnrolled => "not-enrolled",
            Self::Missing => "missing",
            Self::Current => "current",
            Self::Stale => "stale",
            Self::Expired => "expired",
        }
    }
}

/// Reads the state of an enrolment, and verifies the manifest in force once more if there is a configuration with keys.
///
/// # Errors
/// If the state cannot be read, is not safe, or is not what was signed.
pub fn read_status(
    places: &FleetPlaces,
    config: Option<&FleetConfig>,
    now: Timestamp,
) -> Result<FleetStatus, BundleError> {
    places.require_safe_state()?;
    let in_force = InstalledBundles::read(places)?;
    if let (Some(in_force), Some(config)) = (&in_force, config) {
        in_force.bundles.iter().try_for_each(|bundle| verify(places, bundle, config))?;
    }
    let checked = read_check(places);
    let has_expired = |bundle: &BundleInForce| bundle.expires().is_some_and(|at| at <= now);
    let last_check = |in_force: &InstalledBundles| checked.or(in_force.newest_bundle().map(BundleInForce::applied));
    let is_stale =
        |in_force: &InstalledBundles| last_check(in_force).is_none_or(|at| at.after(in_force.stale_after()) <= now);
    let condition = match &in_force {
        None if config.is_some() => Condition::Missing,
        None => Condition::NotEnrolled,
        Some(in_force) if in_force.bundles.is_empty() => Condition::Missing,
        Some(in_force) if in_force.bundles.iter().any(has_expired) => Condition::Expired,
        Some(in_force) if is_stale(in_force) => Condition::Stale,
        Some(_) => Condition::Current,
    };
    Ok(FleetStatus { in_force, checked, condition })
}

fn verify(places: &FleetPlaces, bundle: &BundleInForce, config: &FleetConfig) -> Result<(), BundleError> {
    let signed = bundle.signed_manifest();
    signature::verify(&signed.manifest, &signed.signature, &config.keys)?;
    let manifest = Manifest::parse(&signed.manifest)?;
    let fits = manifest.digest == bundle.digest
        && manifest.channel == bundle.channel
        && manifest.version == bundle.version
        && manifest.shadow == bundle.shadow
        && manifest.expires == bundle.expires();
    let problem = |problem: &str| BundleError::State { file: places.pointer(), problem: problem.to_owned() };
    if !fits {
        return Err(problem("it differs from the signed manifest in it"));
    }
    if !places.bundle(&bundle.digest).is_dir() {
        return Err(problem("the folder of a bundle is missing"));
    }
    Ok(())
}

fn read_check(places: &FleetPlaces) -> Option<Timestamp> {
    let bytes = read_limited(&places.checked(), 64).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok().map(Timestamp::from_seconds)
}
