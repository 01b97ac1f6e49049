//! Bundles over the object store, and announcements.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use hookrail_fleet::announce::{
    Announcement, LookEnd, PublishError, WatchCause, WatchOptions, announce, publish_bundle, watch,
};
use hookrail_fleet::archive::{self, ArchiveLimits};
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::install::{self, ApplyEnd, InstalledBundles};
use hookrail_fleet::manifest::Manifest;
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::publish::{self, Content, NewManifest};
use hookrail_fleet::signature::{self, NewKeys, Password};
use hookrail_fleet::{ArchiveDigest, BundleError, Timestamp};

use crate::nats::support::{Cluster, PATIENCE};

pub(crate) struct Publisher<'c> {
    pub(crate) cluster: &'c Cluster,
    pub(crate) keys: NewKeys,
    /// The folder in which it builds.
    dist: PathBuf,
}

impl<'c> Publisher<'c> {
    pub(crate) fn new(cluster: &'c Cluster) -> Self {
        Self::with_keys(cluster, signature::generate(Password::None).unwrap())
    }

    pub(crate) fn with_keys(cluster: &'c Cluster, keys: NewKeys) -> Self {
        Self::in_folder(cluster, keys, "dist")
    }

    /// One of several publishers, who each have a folder of their own.
    pub(crate) fn in_folder(cluster: &'c Cluster, keys: NewKeys, name: &str) -> Self {
        Self { cluster, keys, dist: cluster.place.path(name) }
    }

    /// Builds and signs a bundle with one settings file of this text.
    pub(crate) fn build(&self, text: &str, version: Option<u64>) -> Manifest {
        self.build_for("stable", text, version)
    }

    pub(crate) fn build_for(&self, channel: &str, text: &str, version: Option<u64>) -> Manifest {
        let content = self.dist.with_extension("content");
        let _ = fs::remove_dir_all(&content);
        fs::create_dir_all(&content).unwrap();
        fs::write(content.join("settings.json"), text).unwrap();
        let packed = archive::pack(&content, &ArchiveLimits::DEFAULT).unwrap();
        let new = NewManifest {
            tenant: "acme".parse().unwrap(),
            channel: channel.parse().unwrap(),
            version,
            min_hookrail: hookrail_fleet::parse_version("0.1.0").unwrap(),
            issued: Timestamp::now(),
            expires: None,
            percent: 100,
            seed: None,
            shadow: false,
        };
        publish::write_bundle(&self.dist, &Content::Packed(&packed), new).unwrap();
        publish::sign(&self.dist, &self.keys.secret, Password::None).unwrap()
    }

    pub(crate) async fn publish(&self, text: &str) -> Manifest {
        self.build(text, None);
        self.publish_built().await.unwrap()
    }

    /// Publishes what was built last.
    pub(crate) async fn publish_built(&self) -> Result<Manifest, PublishError> {
        let member = self.cluster.member("acme", "publisher");
        let connection = self.cluster.connect(&member).await;
        publish_bundle(&member, &connection, &self.dist).await
    }

    /// Writes the configuration of a machine whose member was enrolled.
    pub(crate) fn configure(&self, name: &str) -> (FleetPlaces, FleetConfig) {
        let member = fs::read_to_string(self.cluster.place.path(&format!("members/acme-{name}/member.toml"))).unwrap();
        let servers = member.lines().find(|line| line.starts_with("servers")).unwrap();
        let seed = self.cluster.place.path(&format!("members/acme-{name}/seed"));
        let text = format!(
            "tenant = \"acme\"\nkeys = [\"{}\"]\nsource = \"nats\"\nmachine = \"{name}\"\n[channel]\nname = \"stable\"\n[nats]\n{servers}\nseed = \"{}\"\n",
            self.keys.key,
            seed.display()
        );
        let root = self.cluster.place.path(&format!("machines/{name}"));
        fs::create_dir_all(root.join("etc/hookrail")).unwrap();
        fs::write(root.join("etc/hookrail/fleet.toml"), text).unwrap();
        let places = FleetPlaces::system(&root).unwrap();
        let config = places.read_configuration().unwrap();
        (places, config)
    }
}

/// Applies the newest bundle, as the program does: not on a thread of the runtime.
pub(crate) async fn apply(places: &FleetPlaces, config: &FleetConfig) -> Result<ApplyEnd, BundleError> {
    let (places, config) = (places.clone(), config.clone());
    let applied = tokio::task::spawn_blocking(move || {
        let mut source = config.source.open(&places.state, Some(&config))?;
        install::apply(&places, &config, &mut *source, Timestamp::now(), &|_, _| Ok(()))
    });
    applied.await.unwrap()
}

pub(crate) fn version(places: &FleetPlaces) -> Option<u64> {
    Some(InstalledBundles::read(places).unwrap()?.newest_bundle()?.version)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_comes_from_the_object_store() {
    let Some(cluster) = Cluster::start(1).await else { return };
    cluster.enroll("acme", "m1").await;
    let publisher = Publisher::new(&cluster);
    let (places, config) = publisher.configure("m1");
    let missing = apply(&places, &config).await.unwrap_err();
    assert_eq!(missing.reason(), "not-found", "{missing}");
    // More than one chunk of the store.
    let noise: String = (0..60_000).map(|number: u32| format!("{:x}", number.wrapping_mul(2_654_435_761))).collect();
    publisher.publish(&format!("{{\"x\": \"{noise}\"}}")).await;
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::Switched { from: None, .. })));
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::UpToDate(_))));
    publisher.publish("{}").await;
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::Switched { from: Some(1), .. })));
    // A publisher with another key changes nothing.
    let other = Publisher::new(&cluster);
    other.publish("{\"evil\": true}").await;
    assert_eq!(apply(&places, &config).await.unwrap_err().reason(), "unknown-key");
    assert_eq!(version(&places), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_a_whole_signed_bundle_is_not_published() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let publisher = Publisher::new(&cluster);
    publisher.build("{}", None);
    let dist = cluster.place.path("dist");
    let publish = async |tenant: &str| {
        let member = cluster.member(tenant, "publisher");
        publish_bundle(&member, &cluster.connect(&member).await, &dist).await
    };
    assert!(matches!(publish("globex").await, Err(PublishError::OtherTenant { .. })));
    fs::remove_file(dist.join("manifest.json.minisig")).unwrap();
    assert!(matches!(publish("acme").await, Err(PublishError::NotSigned)));
    fs::remove_file(dist.join("manifest.json")).unwrap();
    assert!(matches!(publish("acme").await, Err(PublishError::Bundle(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announcement_brings_the_newest_bundle_and_a_forged_one_changes_nothing() {
    let Some(mut cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let keys = signature::generate(Password::None).unwrap();
    let (places, config) = Publisher::with_keys(&cluster, keys).configure("m1");
    let keys = {
        // The configuration accepts this publisher's key.
        let publisher = Publisher::new(&cluster);
        publisher.configure("m1");
        publisher.keys
    };
    let config = FleetConfig { keys: vec![keys.key.clone()], ..config };
    let connection = cluster.connect(&member).await;
    let (sender, mut looks) = tokio::sync::mpsc::unbounded_channel();
    let watched = {
        let (places, config) = (places.clone(), config.clone());
        tokio::spawn(async move {
            let options = WatchOptions { jitter: Duration::from_millis(50), interval: Duration::from_secs(3600) };
            let channel = config.channel.name.clone();
            let look = |cause: WatchCause| {
                let (places, config, sender) = (places.clone(), config.clone(), sender.clone());
                async move {
                    let applied = apply(&places, &config).await;
                    let end = if applied.is_ok() { LookEnd::Current } else { LookEnd::Retry };
                    sender.send((cause, version(&places))).unwrap();
                    end
                }
            };
            watch(&member, &connection, &channel, options, look).await
        })
    };
    let mut wait_for = async |wanted: &dyn Fn(WatchCause, Option<u64>) -> bool| loop {
        let (cause, version) = tokio::time::timeout(PATIENCE, looks.recv()).await.unwrap().unwrap();
        if wanted(cause, version) {
            break;
        }
    };
    wait_for(&|cause, _| cause == WatchCause::Started).await;
    let publisher = Publisher::with_keys(&cluster, keys);
    publisher.publish("{\"number\": 1}").await;
    wait_for(&|_, version| version == Some(1)).await;
    // Two in quick succession.
    publisher.publish("{\"number\": 2}").await;
    publisher.publish("{\"number\": 3}").await;
    wait_for(&|_, version| version == Some(3)).await;
    let forger = cluster.member("acme", "publisher");
    let forged = Announcement { version: 99, digest: ArchiveDigest::of(b"evil") };
    let channel = "stable".parse().unwrap();
    announce(&forger, &cluster.connect(&forger).await, &channel, &forged).await.unwrap();
    wait_for(&|cause, version| cause == WatchCause::Announced && version == Some(3)).await;
    let keys = publisher.keys;
    // The machine looks when the server is back. A look that was due anyway, or failed meanwhile, comes in the place of that one.
    cluster.servers[0].restart();
    let is_after_restart = |cause| matches!(cause, WatchCause::Reconnected | WatchCause::Retry | WatchCause::Announced);
    wait_for(&|cause, version| is_after_restart(cause) && version == Some(3)).await;
    Publisher::with_keys(&cluster, keys).publish("{\"number\": 4}").await;
    wait_for(&|_, version| version == Some(4)).await;
    watched.abort();
}
