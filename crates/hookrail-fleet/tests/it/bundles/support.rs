//! A publisher's folder and machines in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};

use hookrail_fleet::archive::{self, ArchiveLimits};
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::install::{self, ApplyEnd};
use hookrail_fleet::manifest::Manifest;
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::publish::{self, Content, NewManifest};
use hookrail_fleet::signature::{self, NewKeys, Password};
use hookrail_fleet::source::SourceLocation;
use hookrail_fleet::{ArchiveDigest, BundleError, Timestamp};
use hookrail_testkit::TestProject;

pub(crate) struct Fleet {
    place: TestProject,
    pub(crate) keys: NewKeys,
}

/// What differs from an ordinary bundle.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) tenant: &'static str,
    pub(crate) channel: &'static str,
    pub(crate) version: Option<u64>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) min_hookrail: &'static str,
    pub(crate) percent: u8,
    pub(crate) shadow: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            tenant: "acme",
            channel: "stable",
            version: None,
            expires: None,
            min_hookrail: "0.1.0",
            percent: 100,
            shadow: false,
        }
    }
}

impl Fleet {
    /// A fleet with one key and one enrolled machine.
    pub(crate) fn new() -> Self {
        let fleet = Self { place: TestProject::new(), keys: signature::generate(Password::None).unwrap() };
        fleet.configure("machine", &[]);
        fleet
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        self.place.write_at(name, text)
    }

    /// Writes a machine's configuration, with lines in front of the channel.
    pub(crate) fn configure(&self, machine: &str, lines: &[&str]) {
        let text = format!(
            "tenant = \"acme\"\nkeys = [\"{}\"]\nsource = \"{}\"\nmachine = \"{machine}\"\n{}\n[channel]\nname = \"stable\"\n",
            self.keys.key,
            self.path("dist").display(),
            lines.join("\n"),
        );
        self.write(&format!("{machine}/etc/hookrail/fleet.toml"), text);
    }

    pub(crate) fn places(&self, machine: &str) -> FleetPlaces {
        FleetPlaces::system(&self.path(machine)).unwrap()
    }

    /// Builds and signs a bundle with one settings file of this text.
    pub(crate) fn publish(&self, text: &str, wanted: &Wanted) -> Manifest {
        self.build(text, wanted).unwrap();
        publish::sign(&self.path("dist"), &self.keys.secret, Password::None).unwrap()
    }

    pub(crate) fn build(&self, text: &str, wanted: &Wanted) -> Result<Manifest, BundleError> {
        let content = self.path("content");
        let _ = fs::remove_dir_all(&content);
        self.write("content/settings.json", text);
        let packed = archive::pack(&content, &ArchiveLimits::DEFAULT).unwrap();
        publish::write_bundle(&self.path("dist"), &Content::Packed(&packed), new_manifest(wanted))
    }

    /// Publishes an archive again that was published before.
    pub(crate) fn roll_back(&self, digest: ArchiveDigest, wanted: &Wanted) -> Manifest {
        publish::write_bundle(&self.path("dist"), &Content::Existing(digest), new_manifest(wanted)).unwrap();
        publish::sign(&self.path("dist"), &self.keys.secret, Password::None).unwrap()
    }

    pub(crate) fn apply(&self, machine: &str) -> Result<ApplyEnd, BundleError> {
        self.apply_at(machine, Timestamp::now())
    }

    pub(crate) fn apply_at(&self, machine: &str, now: Timestamp) -> Result<ApplyEnd, BundleError> {
        let places = self.places(machine);
        let config: FleetConfig = places.read_configuration()?;
        let mut source = config.source.open(&self.path("scratch"), Some(&config))?;
        install::apply(&places, &config, &mut *source, now, &|_, _| Ok(()))
    }

    /// The version in force on a machine, and the text of its settings.
    pub(crate) fn in_force(&self, machine: &str) -> Option<(u64, String)> {
        let places = self.places(machine);
        let in_force = install::InstalledBundles::read(&places).unwrap()?;
        let bundle = in_force.newest_bundle()?.clone();
        let settings = fs::read_to_string(places.bundle(&bundle.digest).join("settings.json")).unwrap();
        Some((bundle.version, settings))
    }
}

fn new_manifest(wanted: &Wanted) -> NewManifest {
    NewManifest {
        tenant: wanted.tenant.parse().unwrap(),
        channel: wanted.channel.parse().unwrap(),
        version: wanted.version,
        min_hookrail: hookrail_fleet::parse_version(wanted.min_hookrail).unwrap(),
        issued: Timestamp::now(),
        expires: wanted.expires,
        percent: wanted.percent,
        seed: None,
        shadow: wanted.shadow,
    }
}

pub(crate) fn source(folder: &Path) -> SourceLocation {
    SourceLocation::Folder(folder.to_owned())
}
