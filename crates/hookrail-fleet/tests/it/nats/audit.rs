//! Shipping journals and verifying them.

use std::fs;

use hookrail_fleet::audit::{ShipError, Shipper, ShippingAlarm};
use hookrail_fleet::nats::{AUDIT_STREAM, MemberKey};
use hookrail_fleet::servers::MemberRole;
use hookrail_journal::{Filter, ShippingPosition};

use crate::nats::support::{Cluster, PATIENCE, append, append_text, copy, problems};

#[tokio::test(flavor = "multi_thread")]
async fn every_record_is_stored_once_and_verified() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    assert_eq!(cluster.ship(&member, &journal).await.unwrap().records, 0, "an empty journal");
    append(&journal, 0..90);
    let count = cluster.ship(&member, &journal).await.unwrap();
    assert_eq!((count.records, count.slices, count.known), (90, 5, 0));
    assert_eq!(cluster.ship(&member, &journal).await.unwrap().records, 0);
    append(&journal, 90..100);
    assert_eq!(cluster.ship(&member, &journal).await.unwrap().records, 10);
    let found = cluster.verify("acme").await;
    assert!(found.is_sound(), "{found:?}");
    let machine = &found.machines["m1"];
    let head = journal.head().unwrap().unwrap();
    assert_eq!((machine.records, machine.first, machine.last, machine.slices), (100, 1, 100, 6));
    assert_eq!(machine.head, head.hash);
    assert!(cluster.verify("globex").await.machines.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledgement_that_was_lost_doubles_nothing() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..50);
    cluster.ship(&member, &journal).await.unwrap();
    let position = journal.directory().join("shipped.json");
    let old = fs::read(&position).unwrap();
    append(&journal, 50..100);
    cluster.ship(&member, &journal).await.unwrap();
    // The process was killed between the acknowledgement and the position.
    fs::write(&position, old).unwrap();
    append(&journal, 100..110);
    let count = cluster.ship(&member, &journal).await.unwrap();
    assert_eq!((count.records, count.known), (10, 50));
    // The position is gone altogether.
    fs::remove_file(&position).unwrap();
    let count = cluster.ship(&member, &journal).await.unwrap();
    assert_eq!((count.records, count.known), (0, 110));
    let found = cluster.verify("acme").await;
    assert!(found.is_sound() && found.machines["m1"].records == 110, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloned_machine_raises_an_alarm() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..30);
    cluster.ship(&member, &journal).await.unwrap();
    copy(journal.directory(), &cluster.place.path("journals/clone"));
    let clone = cluster.journal("clone");
    append(&journal, 30..40);
    append(&clone, 130..145);
    cluster.ship(&member, &journal).await.unwrap();
    let alarm = cluster.ship(&member, &clone).await.unwrap_err();
    assert!(matches!(alarm, ShipError::Alarm(ShippingAlarm::Forked { seq: 40, .. })), "{alarm}");
    let found = cluster.verify("acme").await;
    assert!(found.is_sound() && found.machines["m1"].records == 40, "nothing of the clone was stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_was_cut_or_written_anew_raises_an_alarm() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..30);
    cluster.ship(&member, &journal).await.unwrap();
    let segment = fs::read_dir(journal.directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .unwrap();
    let whole = fs::read_to_string(&segment).unwrap();
    let cut: String = whole.lines().take(25).map(|line| format!("{line}\n")).collect();
    fs::write(&segment, cut).unwrap();
    let alarm = cluster.ship(&member, &journal).await.unwrap_err();
    assert!(matches!(alarm, ShipError::Alarm(ShippingAlarm::Rewritten { seq: 30, .. })), "{alarm}");
    // Other records take the place of those that were cut.
    let anew = cluster.journal("m1");
    append(&anew, 200..210);
    let alarm = cluster.ship(&member, &anew).await.unwrap_err();
    assert_eq!(alarm.reason(), "rewritten", "{alarm}");
    // Without the position, the stream itself contradicts.
    fs::remove_file(journal.directory().join("shipped.json")).unwrap();
    let alarm = cluster.ship(&member, &anew).await.unwrap_err();
    assert!(matches!(alarm, ShipError::Alarm(ShippingAlarm::Forked { seq: 30, .. })), "{alarm}");
    // A journal that begins again with its first record is no better.
    fs::remove_dir_all(journal.directory()).unwrap();
    let empty = cluster.journal("m1");
    append(&empty, 0..40);
    assert_eq!(cluster.ship(&member, &empty).await.unwrap_err().reason(), "forked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_was_cut_raises_an_alarm() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..10);
    cluster.ship(&member, &journal).await.unwrap();
    let administrator = cluster.connect(&cluster.member("acme", "administrator")).await;
    let context = async_nats::jetstream::new(administrator.client().clone());
    let stream = context.get_stream(AUDIT_STREAM).await.unwrap();
    assert!(stream.purge().await.is_err(), "the stream cannot be emptied");
    assert!(stream.delete_message(1).await.is_err(), "nor can a message be removed");
    // An administrator can still remove the whole stream.
    let config = stream.cached_info().config.clone();
    context.delete_stream(AUDIT_STREAM).await.unwrap();
    context.create_stream(config).await.unwrap();
    append(&journal, 10..20);
    let alarm = cluster.ship(&member, &journal).await.unwrap_err();
    assert!(matches!(alarm, ShipError::Alarm(ShippingAlarm::StreamCut { acknowledged: 1, found: 0 })), "{alarm}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_ships_a_journal() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    let connection = cluster.connect(&member).await;
    let first = Shipper::open(member.clone(), journal.clone(), connection.clone()).unwrap();
    let second = Shipper::open(member.clone(), journal.clone(), connection.clone());
    assert!(matches!(second, Err(ShipError::Busy)));
    drop(first);
    Shipper::open(member, journal, connection).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stored_by_another_hand_is_found() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..40);
    cluster.ship(&member, &journal).await.unwrap();
    let administrator = cluster.connect(&cluster.member("acme", "administrator")).await;
    let context = async_nats::jetstream::new(administrator.client().clone());
    let stream = context.get_stream(AUDIT_STREAM).await.unwrap();
    let stored = stream.direct_get(1).await.unwrap();
    let store = async |subject: &str, change: &dyn Fn(&mut async_nats::HeaderMap, &mut Vec<u8>)| {
        let (mut headers, mut payload) = (stored.headers.clone(), stored.payload.to_vec());
        change(&mut headers, &mut payload);
        // A message keeps only its own headers.
        let mut own = async_nats::HeaderMap::new();
        for (name, values) in headers.iter().filter(|(name, _)| name.to_string().starts_with("Hookrail-")) {
            values.iter().for_each(|value| own.insert(name.clone(), value.clone()));
        }
        context.publish_with_headers(subject.to_owned(), own, payload.into()).await.unwrap().await.unwrap();
    };
    // The same slice again, a copy for another machine, no slice at all, and one whose checkpoint was changed.
    store("hr.acme.audit.m1", &|_, _| {}).await;
    store("hr.acme.audit.m2", &|_, _| {}).await;
    store("hr.acme.audit.m3", &|headers, _| *headers = async_nats::HeaderMap::new()).await;
    store("hr.acme.audit.m4", &|headers, _| {
        let text = headers.get("Hookrail-Checkpoint").unwrap().as_str().replace("\"m1\"", "\"m4\"");
        headers.insert("Hookrail-Checkpoint", text);
    })
    .await;
    let found = cluster.verify("acme").await;
    assert!(!found.is_sound());
    assert_eq!(problems(&found, "m1"), ["fork"]);
    assert_eq!(problems(&found, "m2"), ["other-machine"]);
    assert_eq!(problems(&found, "m3"), ["not-a-slice"]);
    assert_eq!(problems(&found, "m4"), ["bad-signature"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_goes_on_and_a_foreign_one_is_found() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..10);
    cluster.ship(&member, &journal).await.unwrap();
    let role = || MemberRole::Machine { channel: "stable".parse().unwrap() };
    let admit = async |key: &MemberKey| {
        cluster.admit("acme", "m1", role(), key);
        let begin = std::time::Instant::now();
        while member.connect(hookrail_fleet::nats::ReconnectPace::AtOnce).await.is_err() {
            assert!(begin.elapsed() < PATIENCE);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let seed = member.settings().seed.clone();
    let new = MemberKey::rotate(&seed).unwrap();
    assert_eq!(cluster.member("acme", "auditor").id().to_string(), "auditor");
    admit(&new).await;
    append(&journal, 10..20);
    cluster.ship(&member, &journal).await.unwrap();
    let found = cluster.verify("acme").await;
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.machines["m1"].key, Some(new.signing_public()));
    // A key that no earlier one has named.
    fs::remove_file(&seed).unwrap();
    let foreign = MemberKey::generate().unwrap();
    foreign.write_new(&seed).unwrap();
    admit(&foreign).await;
    append(&journal, 20..30);
    cluster.ship(&member, &journal).await.unwrap();
    assert_eq!(problems(&cluster.verify("acme").await, "m1"), ["unknown-key"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_away_gets_everything_in_order() {
    let Some(mut cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..10);
    let connection = cluster.connect(&member).await;
    let mut shipper = Shipper::open(member, journal.clone(), connection).unwrap();
    shipper.ship(PATIENCE).await.unwrap();
    cluster.servers[0].kill();
    // Records are made meanwhile, and nothing waits for the server.
    append(&journal, 10..300);
    let waiting = shipper.ship(std::time::Duration::ZERO).await.unwrap_err();
    assert!(matches!(&waiting, ShipError::Nats(error) if error.is_temporary()), "{waiting}");
    assert_eq!(shipper.position().seq, 10);
    cluster.servers[0].restart();
    shipper.ship(PATIENCE).await.unwrap();
    assert_eq!(shipper.position().seq, 300);
    let found = cluster.verify("acme").await;
    assert!(found.is_sound() && found.machines["m1"].records == 300, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_record_and_old_segments_are_shipped() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let options = hookrail_journal::JournalOptions {
        segment_bytes: 4000,
        ..hookrail_journal::JournalOptions::new(cluster.place.path("journals/small"))
    };
    let journal = hookrail_journal::Journal::new(options);
    append(&journal, 0..60);
    append_text(&journal, &"large ".repeat(100_000));
    append(&journal, 60..120);
    journal.maintain().unwrap();
    let count = cluster.ship(&member, &journal).await.unwrap();
    assert_eq!(count.records, 121);
    append(&journal, 120..130);
    assert_eq!(cluster.ship(&member, &journal).await.unwrap().records, 10);
    let position = ShippingPosition::read(journal.directory()).unwrap().unwrap();
    assert_eq!(position.seq, 131);
    assert_eq!(journal.read(Filter { after: Some(130), ..Filter::default() }).unwrap().count(), 1);
    assert!(cluster.verify("acme").await.is_sound());
}
