//! Several publishers, servers that have something already, and servers without a leader.

use hookrail_fleet::announce::PublishError;
use hookrail_fleet::install::ApplyEnd;
use hookrail_fleet::signature::{self, NewKeys, Password};
use hookrail_fleet::source::{SignedManifest, SourceError, fetch_signed_manifest};

use crate::nats::bundles::{Publisher, apply, version};
use crate::nats::support::{Cluster, PATIENCE};

fn settings(text: &str) -> String {
    format!("{{\"from\": \"{text}\"}}")
}

/// Two publishers with the same key.
fn two(cluster: &Cluster) -> [Publisher<'_>; 2] {
    let keys = signature::generate(Password::None).unwrap();
    let same = NewKeys { secret: keys.secret.clone(), public: keys.public.clone(), key: keys.key.clone() };
    [Publisher::in_folder(cluster, keys, "one"), Publisher::in_folder(cluster, same, "other")]
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_of_two_publishers_succeeds_and_no_machine_sees_a_mixture() {
    const ROUNDS: u64 = 20;
    let Some(cluster) = Cluster::start(3).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let [one, other] = two(&cluster);
    let keys = vec![one.keys.key.clone()];
    let channel = "stable".parse().unwrap();
    let connection = cluster.connect(&member).await;
    // A machine that looks all the time.
    let (end, mut ended) = tokio::sync::oneshot::channel::<()>();
    let looking = {
        let (connection, keys) = (connection.clone(), keys.clone());
        tokio::spawn(async move {
            let mut looks = 0;
            while ended.try_recv().is_err() {
                match fetch_signed_manifest(&connection, &"stable".parse().unwrap()).await {
                    Ok(SignedManifest { manifest, signature }) => {
                        signature::verify(&manifest, &signature, &keys).unwrap();
                        looks += 1;
                    }
                    Err(SourceError::NotFound { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            looks
        })
    };
    for round in 1..=ROUNDS {
        one.build(&settings(&format!("one, {round}")), Some(round));
        other.build(&settings(&format!("other, {round}")), Some(round));
        let (first, second) = tokio::join!(one.publish_built(), other.publish_built());
        let (won, lost) = match (first, second) {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            ends => panic!("round {round}: {ends:?}"),
        };
        assert!(
            matches!(lost, PublishError::Lost { stored, .. } | PublishError::NotHigher { newest: stored, .. } if stored == round),
            "{lost}"
        );
        // A replica may be behind for a moment.
        let begin = std::time::Instant::now();
        while fetch_signed_manifest(&connection, &channel).await.ok().map(|signed| signed.manifest)
            != Some(won.to_text().unwrap())
        {
            assert!(begin.elapsed() < PATIENCE, "the machine never sees what was published in round {round}");
        }
    }
    end.send(()).unwrap();
    assert!(looking.await.unwrap() > 0, "the machine has seen nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_is_not_higher_than_that_of_the_servers_is_refused() {
    let Some(cluster) = Cluster::start(1).await else { return };
    cluster.enroll("acme", "m1").await;
    let [one, other] = two(&cluster);
    let (places, config) = one.configure("m1");
    one.build(&settings("five"), Some(5));
    one.publish_built().await.unwrap();
    for (text, older) in [("an older one", 4), ("the same with another content", 5)] {
        std::fs::remove_dir_all(cluster.place.path("other")).ok();
        other.build(&settings(text), Some(older));
        let refused = other.publish_built().await.unwrap_err();
        assert!(
            matches!(refused, PublishError::NotHigher { found, newest: 5 } if found == older),
            "version {older}: {refused:?}"
        );
    }
    let again = one.publish_built().await.unwrap_err();
    assert!(matches!(again, PublishError::AlreadyPublished(5)), "{again:?}");
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::Switched { from: None, .. })));
    assert_eq!(version(&places), Some(5));
    other.build(&settings("six"), Some(6));
    other.publish_built().await.unwrap();
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::Switched { from: Some(5), .. })));
}

/// Stores a bundle as programs did that kept the manifest and its signature apart.
async fn publish_apart(publisher: &Publisher<'_>, folder: &std::path::Path) {
    let administrator = publisher.cluster.member("acme", "administrator");
    let connection = publisher.cluster.connect(&administrator).await;
    let context = async_nats::jetstream::new(connection.client().clone());
    let store = context.get_object_store("bundles-stable").await.unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        store.put(entry.file_name().to_str().unwrap(), &mut bytes.as_slice()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_published_in_two_objects_is_read_until_it_is_replaced() {
    let Some(cluster) = Cluster::start(1).await else { return };
    cluster.enroll("acme", "m1").await;
    let publisher = Publisher::new(&cluster);
    let (places, config) = publisher.configure("m1");
    publisher.build(&settings("apart"), Some(3));
    publish_apart(&publisher, &cluster.place.path("dist")).await;
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::Switched { from: None, .. })));
    let [_, other] = two(&cluster);
    other.build(&settings("older"), Some(2));
    let refused = other.publish_built().await.unwrap_err();
    assert!(matches!(refused, PublishError::NotHigher { found: 2, newest: 3 }), "{refused:?}");
    publisher.build(&settings("together"), Some(4));
    publisher.publish_built().await.unwrap();
    assert!(matches!(apply(&places, &config).await, Ok(ApplyEnd::Switched { from: Some(3), .. })));
    // A program that reads the two objects finds none, instead of an old policy for ever.
    let connection = cluster.connect(&cluster.member("acme", "publisher")).await;
    for name in ["manifest.json", "manifest.json.minisig"] {
        let found = hookrail_fleet::source::fetch_object(&connection, &"stable".parse().unwrap(), name, 4096).await;
        assert!(matches!(found, Err(SourceError::NotFound { .. })), "{name}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_waits_while_the_stream_has_no_leader() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let built = {
        let publisher = Publisher::new(&cluster);
        publisher.publish(&settings("one")).await;
        publisher.build(&settings("two"), None)
    };
    // One of three elects no leader.
    cluster.servers[0].kill();
    cluster.servers[1].kill();
    let member = cluster.member("acme", "publisher");
    let connection = cluster.connect(&member).await;
    let dist = cluster.place.path("dist");
    // It waits longer than a publisher does for one answer.
    let context = async_nats::jetstream::ContextBuilder::new()
        .ack_timeout(std::time::Duration::from_secs(10))
        .build(connection.client().clone());
    let publishing =
        tokio::spawn(async move { hookrail_fleet::announce::publish_bundle(&member, &connection, &dist).await });
    let written = context.publish("$O.bundles-stable.M.c29tZXRoaW5n", "".into()).await.unwrap().await;
    assert!(written.is_err(), "one of three servers has stored something: {written:?}");
    cluster.servers[0].restart();
    cluster.servers[1].restart();
    assert_eq!(tokio::time::timeout(PATIENCE * 2, publishing).await.unwrap().unwrap().unwrap(), built);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_without_a_bucket_is_said_at_once() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let publisher = Publisher::new(&cluster);
    publisher.build_for("beta", &settings("beta"), None);
    let missing = publisher.publish_built().await.unwrap_err();
    assert!(missing.to_string().contains("the servers have no stream `OBJ_bundles-beta`"), "{missing}");
}
