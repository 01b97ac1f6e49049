//! Who connects: a machine, or one who works for its tenant.

use std::path::Path;

use serde::Deserialize;

use super::connection::{NatsConnection, ReconnectPace, connect};
use super::{NatsError, Subjects};
use crate::config::{AuditSettings, FleetConfig, NatsServer, NatsSettings};
use crate::error::BundleError;
use crate::files::read_limited;
use crate::machine::MachineId;
use crate::name::Name;

/// The largest file that is read.
const LARGEST: u64 = 1024 * 1024;

/// A member of a tenant, with what it needs to connect.
#[derive(Clone, Debug)]
pub struct FleetMember {
    subjects: Subjects,
    id: MachineId,
    settings: NatsSettings,
    audit: AuditSettings,
    channel: Option<Name>,
}

/// The file of a member that is not enrolled for bundles: a publisher, an auditor, an administrator, or a user with a
/// journal of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberFile {
    tenant: Name,
    member: Name,
    nats: NatsSettings,
    #[serde(default)]
    audit: AuditSettings,
}

impl FleetMember {
    /// Returns the machine that a configuration enrols.
    ///
    /// # Errors
    /// If the configuration names no servers, or the machine has no name.
    pub fn of_machine(config: &FleetConfig) -> Result<Self, NatsError> {
        let settings = config.nats.clone().ok_or(NatsError::NotConfigured)?;
        let id = MachineId::find(config.machine.as_ref().map(Name::as_str))?;
        let subjects = Subjects::new(config.tenant.clone());
        Ok(Self { subjects, id, settings, audit: config.audit.clone(), channel: Some(config.channel.name.clone()) })
    }

    /// Reads the file of a member: `tenant`, `member` and `[nats]`.
    ///
    /// # Errors
    /// If it cannot be read or is not valid.
    pub fn read(file: &Path) -> Result<Self, BundleError> {
        let problem = |problem: String| BundleError::Configuration { file: file.to_owned(), problem };
        let bytes = read_limited(file, LARGEST).map_err(BundleError::at(file))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| problem(error.to_string()))?;
        let read: MemberFile = toml::from_str(text).map_err(|error| problem(error.to_string()))?;
        let mut settings = read.nats;
        // Files of a member stand together, and are copied together.
        let folder = file.parent().unwrap_or(Path::new("."));
        settings.seed = folder.join(&settings.seed);
        for path in [&mut settings.ca, &mut settings.certificate, &mut settings.certificate_key].into_iter().flatten() {
            *path = folder.join(&*path);
        }
        Ok(Self {
            subjects: Subjects::new(read.tenant),
            id: MachineId::named(&read.member),
            settings,
            audit: read.audit,
            channel: None,
        })
    }

    /// Returns the name of the member.
    #[must_use]
    pub fn id(&self) -> &MachineId {
        &self.id
    }

    /// Returns the subjects of its tenant.
    #[must_use]
    pub fn subjects(&self) -> &Subjects {
        &self.subjects
    }

    /// Returns how it connects.
    #[must_use]
    pub fn settings(&self) -> &NatsSettings {
        &self.settings
    }

    /// Returns the channel that it follows, if it follows one.
    #[must_use]
    pub fn channel(&self) -> Option<&Name> {
        self.channel.as_ref()
    }

    /// Returns how it ships its journal.
    #[must_use]
    pub fn audit(&self) -> &AuditSettings {
        &self.audit
    }

    /// Connects to one server only.
    pub(crate) fn use_server(&mut self, server: NatsServer) {
        self.settings.servers = vec![server];
    }

    /// Connects.
    ///
    /// # Errors
    /// As [`connect`].
    pub async fn connect(&self, pace: ReconnectPace) -> Result<NatsConnection, NatsError> {
        connect(&self.settings, &self.subjects, &self.id, pace).await
    }
}
