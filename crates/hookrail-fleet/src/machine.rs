//! Which machine this is, and whether a staged rollout has reached it.

use std::fmt;
use std::path::Path;

use hookrail::trust::hex;
use sha2::{Digest as _, Sha256};

use crate::error::MachineIdProblem;
use crate::manifest::Rollout;
use crate::name::Name;

/// The name of a machine in its fleet.
///
/// Without a name in the configuration it is made from `/etc/machine-id`. That identifier must not leave the machine, so a
/// digest of it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineId(String);

const MACHINE_ID: &str = "/etc/machine-id";

impl MachineId {
    /// Returns a machine of that name.
    #[must_use]
    pub fn named(name: &Name) -> Self {
        Self(name.as_str().to_owned())
    }

    /// Returns the configured name, or one that is made from the identifier of the system.
    ///
    /// # Errors
    /// If there is no configured name and the system has no identifier.
    pub fn find(configured: Option<&str>) -> Result<Self, MachineIdProblem> {
        if let Some(name) = configured {
            return Ok(Self(name.to_owned()));
        }
        let problem = |source| MachineIdProblem { file: MACHINE_ID, source };
        let id = std::fs::read_to_string(Path::new(MACHINE_ID)).map_err(problem)?;
        let id = id.trim();
        if id.is_empty() {
            return Err(problem(std::io::Error::new(std::io::ErrorKind::InvalidData, "it is empty")));
        }
        let digest = Sha256::new().chain_update(b"hookrail machine\0").chain_update(id).finalize();
        let mut name = hex(digest.as_slice());
        name.truncate(32);
        Ok(Self(name))
    }

    /// Returns whether a rollout has reached this machine. A machine that was reached at one percentage is reached at every
    /// higher one with the same seed.
    #[must_use]
    pub fn is_reached_by(&self, rollout: &Rollout) -> bool {
        let digest = Sha256::new().chain_update(&rollout.seed).chain_update(b"\0").chain_update(&self.0).finalize();
        let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number % 100 < u64::from(rollout.percent)
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(percent: u8, seed: &str) -> Vec<usize> {
        let rollout = Rollout { percent, seed: seed.to_owned() };
        (0..1000).filter(|number| MachineId(format!("m{number}")).is_reached_by(&rollout)).collect()
    }

    #[test]
    fn a_rollout_reaches_its_share_and_only_ever_more_machines() {
        assert!(reached(0, "a").is_empty());
        assert_eq!(reached(100, "a").len(), 1000);
        let (few, many) = (reached(10, "a"), reached(50, "a"));
        assert!((60..140).contains(&few.len()), "{}", few.len());
        assert!((430..570).contains(&many.len()), "{}", many.len());
        assert!(few.iter().all(|machine| many.contains(machine)));
        assert_ne!(few, reached(10, "b"), "another seed chooses other machines");
    }
}
