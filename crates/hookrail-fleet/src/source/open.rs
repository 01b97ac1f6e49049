//! Opens the source that a configuration names.

use std::path::Path;

use super::{BundleSource, file, git, https, nats};
use crate::config::{FleetConfig, SourceLocation};
use crate::error::SourceError;
use crate::nats::FleetMember;

impl SourceLocation {
    /// Opens the source. Files that it needs meanwhile go into a folder that the caller removes. The object store needs the
    /// configuration of the machine.
    ///
    /// # Errors
    /// If it is the object store, and the configuration names no servers and no key.
    pub fn open(&self, scratch: &Path, config: Option<&FleetConfig>) -> Result<Box<dyn BundleSource>, SourceError> {
        match self {
            Self::Folder(folder) => Ok(Box::new(file::FolderSource::new(folder))),
            Self::Https(url) => Ok(Box::new(https::HttpsSource::new(url))),
            Self::Git { url, reference, folder } => {
                Ok(Box::new(git::GitSource::new(url, reference, folder, &scratch.join("repository"))))
            }
            Self::Nats(server) => {
                let not_configured = || SourceError::NotConfigured(self.to_string());
                let config = config.ok_or_else(not_configured)?;
                let mut member = FleetMember::of_machine(config).map_err(|_| not_configured())?;
                if let Some(server) = server {
                    member.use_server(server.clone());
                }
                Ok(Box::new(nats::NatsSource::new(member, config.channel.name.clone())))
            }
        }
    }
}
