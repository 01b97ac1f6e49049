//! Which servers remote hooks are asked over.
//!
//! The configuration of the machine comes first, if this user can read its key; then that of the user. Nothing of a project is
//! looked at: a project may name a group of workers, and never where its events go.

use std::path::{Path, PathBuf};

use crate::config::FleetConfig;
use crate::error::BundleError;
use crate::nats::{FleetMember, MemberKey};
use crate::places::FleetPlaces;

/// The file of a member that is not enrolled for bundles, beside `fleet.toml`.
const MEMBER_FILE: &str = "member.toml";

/// Where the configuration of a member may be.
#[derive(Clone, Debug, Default)]
pub struct MemberPlaces {
    /// Directories that stand for `/`.
    pub roots: Vec<PathBuf>,
    /// The user's folder for configuration, and the one for state.
    pub user: Option<(PathBuf, PathBuf)>,
}

/// Returns the member that asks; nothing if no servers are configured.
///
/// # Errors
/// If servers are configured, and no configuration of them can be used. The text is for people.
pub fn find_member(places: &MemberPlaces) -> Result<Option<FleetMember>, String> {
    let system = places.roots.iter().map(|root| FleetPlaces::system(root));
    let user = places.user.iter().map(|(configuration, state)| FleetPlaces::user(configuration, state));
    let mut problem = None;
    for found in system.chain(user) {
        let found = found.map_err(BundleError::from).map_err(|error| error.to_string());
        let members = found.map(|places| [enrolled_member(&places), separate_member(&places)]);
        for member in members.unwrap_or_else(|error| [Err(error), Ok(None)]) {
            match member {
                Ok(Some(member)) => return Ok(Some(member)),
                Ok(None) => {}
                // The first problem is that of the most authoritative configuration.
                Err(error) => {
                    problem.get_or_insert(error);
                }
            }
        }
    }
    problem.map_or(Ok(None), Err)
}

/// The member of `fleet.toml`, if it names servers.
fn enrolled_member(places: &FleetPlaces) -> Result<Option<FleetMember>, String> {
    if is_absent(&places.configuration) {
        return Ok(None);
    }
    let config: FleetConfig = places.read_configuration().map_err(|error| error.to_string())?;
    if config.nats.is_none() {
        return Ok(None);
    }
    let member = FleetMember::of_machine(&config).map_err(|error| error.to_string())?;
    with_readable_key(member).map(Some)
}

/// The member of a file of its own.
fn separate_member(places: &FleetPlaces) -> Result<Option<FleetMember>, String> {
    let file = places.configuration.with_file_name(MEMBER_FILE);
    if is_absent(&file) {
        return Ok(None);
    }
    places.require_safe_file(&file).map_err(|problem| problem.to_string())?;
    let member = FleetMember::read(&file).map_err(|error| error.to_string())?;
    with_readable_key(member).map(Some)
}

fn with_readable_key(member: FleetMember) -> Result<FleetMember, String> {
    MemberKey::read(&member.settings().seed).map(|_| member).map_err(|problem| problem.to_string())
}

fn is_absent(file: &Path) -> bool {
    file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}
