//! What takes minutes: servers that are killed under load, a thousand machines, servers that are out of reach. Ignored unless
//! `scripts/fleet-chaos.sh` asks for it, which prints the lines that begin with `chaos:`.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use hookrail_fleet::ArchiveDigest;
use hookrail_fleet::announce::{LookEnd, PublishError, WatchOptions, publish_bundle, watch};
use hookrail_fleet::audit::Shipper;
use hookrail_fleet::manifest::Manifest;
use hookrail_fleet::nats::{AUDIT_STREAM, FleetMember, MemberKey, NatsConnection, ReconnectPace};
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::servers::{Admission, MemberRole, Members, TenantMember};
use hookrail_fleet::signature::{self, NewKeys, Password};
use hookrail_fleet::source::{SignedManifest, SourceError, archive_name, fetch_object, fetch_signed_manifest};
use hookrail_testkit::RunningProgram;

use crate::nats::bundles::{Publisher, version};
use crate::nats::support::{Cluster, append};

/// A limit that nothing reaches.
const HANG: Duration = Duration::from_secs(15 * 60);

/// The number of the server that leads a stream, once all three have the same.
async fn leader(connection: &NatsConnection, stream: &str) -> usize {
    let context = jetstream::new(connection.client().clone());
    loop {
        if let Ok(stream) = context.get_stream(stream).await
            && let Some(cluster) = &stream.cached_info().cluster
            && let Some(leader) = &cluster.leader
            && cluster.replicas.len() == 2
            && cluster.replicas.iter().all(|replica| replica.current && !replica.offline)
        {
            return leader.trim_start_matches('n').parse::<usize>().unwrap() - 1;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; run by scripts/fleet-chaos.sh"]
async fn the_leader_of_the_stream_is_killed_while_records_are_shipped() {
    const RECORDS: u64 = 100_000;
    const KILLS: u32 = 30;
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let member = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..RECORDS);
    let connection = cluster.connect(&member).await;
    let begin = Instant::now();
    let mut shipper = Shipper::open(member, journal.clone(), connection).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    // There is always something to ship until the last server was killed.
    let shipping = tokio::spawn(async move {
        let mut made = RECORDS;
        loop {
            shipper.ship(HANG).await.unwrap();
            if over.load(Ordering::Relaxed) && shipper.position().seq == made {
                return (shipper.count(), made);
            }
            let journal = journal.clone();
            tokio::task::spawn_blocking(move || append(&journal, made..made + 500)).await.unwrap();
            made += 500;
        }
    });
    let administrator = cluster.connect(&cluster.member("acme", "administrator")).await;
    let mut kills = 0;
    while kills < KILLS {
        let number = tokio::time::timeout(HANG, leader(&administrator, AUDIT_STREAM)).await.unwrap();
        assert!(!shipping.is_finished(), "shipping ended after {kills} kills");
        cluster.servers[number].kill();
        kills += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
        cluster.servers[number].restart();
    }
    is_over.store(true, Ordering::Relaxed);
    let (count, made) = tokio::time::timeout(HANG, shipping).await.unwrap().unwrap();
    let took = begin.elapsed().as_secs();
    let found = cluster.verify("acme").await;
    let machine = &found.machines["m1"];
    assert!(found.is_sound(), "{found:?}");
    assert_eq!((machine.records, machine.first, machine.last), (made, 1, made));
    assert_eq!(count.records + count.known, made);
    println!(
        "chaos: leader killed {kills} times during {made} records in {} messages, {took} s: {} stored, 0 missing, 0 twice, {} found to be stored already",
        machine.slices, machine.records, count.known
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; run by scripts/fleet-chaos.sh"]
async fn publishers_compete_while_the_leader_of_the_bucket_is_killed() {
    const ROUNDS: u64 = 20;
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let keys = signature::generate(Password::None).unwrap();
    let administrator = cluster.connect(&cluster.member("acme", "administrator")).await;
    let member = cluster.member("acme", "publisher");
    let mut longest = Duration::ZERO;
    let mut faster = 0;
    for round in 1..=ROUNDS {
        for name in ["one", "other"] {
            let same = NewKeys { secret: keys.secret.clone(), public: keys.public.clone(), key: keys.key.clone() };
            Publisher::in_folder(&cluster, same, name).build(&format!("{{\"{name}\": {round}}}"), Some(round));
        }
        let number = tokio::time::timeout(HANG, leader(&administrator, "OBJ_bundles-stable")).await.unwrap();
        let publish = |name: &str| {
            let (member, dist) = (member.clone(), cluster.place.path(name));
            tokio::spawn(async move {
                let connection = member.connect(ReconnectPace::AtOnce).await?;
                publish_bundle(&member, &connection, &dist).await
            })
        };
        let begin = Instant::now();
        let ends = [publish("one"), publish("other")];
        cluster.servers[number].kill();
        let [one, other] = ends;
        let (one, other) = (one.await.unwrap(), other.await.unwrap());
        longest = longest.max(begin.elapsed());
        match (&one, &other) {
            (Ok(_), Err(PublishError::Lost { .. } | PublishError::NotHigher { .. })) => faster += 1,
            (Err(PublishError::Lost { .. } | PublishError::NotHigher { .. }), Ok(_)) => {}
            ends => panic!("round {round}: {ends:?}"),
        }
        cluster.servers[number].restart();
    }
    println!(
        "chaos: two publishers while the leader of the bucket is killed, {ROUNDS} rounds: one succeeded in each ({faster} times the first), after at most {:.1} s",
        longest.as_secs_f64()
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; run by scripts/fleet-chaos.sh"]
async fn servers_that_do_not_answer_delay_and_lose_nothing() {
    let Some(cluster) = Cluster::start(3).await else { return };
    cluster.enroll("acme", "m1").await;
    let member = cluster.write_member_with(&cluster.place.path("members/acme-m1"), "acme", "m1", "");
    let journal = cluster.journal("m1");
    append(&journal, 0..1_000);
    let connection = cluster.connect(&member).await;
    let mut shipper = Shipper::open(member, journal.clone(), connection).unwrap();
    shipper.ship(HANG).await.unwrap();
    let away = Duration::from_secs(120);
    cluster.servers.iter().for_each(hookrail_testkit::NatsServerProcess::suspend);
    let begin = Instant::now();
    let (mut made, mut longest) = (1_000, Duration::ZERO);
    let shipping = tokio::spawn(async move {
        shipper.ship(HANG).await.unwrap();
        shipper
    });
    while begin.elapsed() < away {
        let started = Instant::now();
        append(&journal, made..made + 50);
        longest = longest.max(started.elapsed() / 50);
        made += 50;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    cluster.servers.iter().for_each(hookrail_testkit::NatsServerProcess::resume);
    let back = Instant::now();
    let mut shipper = tokio::time::timeout(HANG, shipping).await.unwrap().unwrap();
    shipper.ship(HANG).await.unwrap();
    let delivered = back.elapsed();
    let found = cluster.verify("acme").await;
    assert!(found.is_sound() && found.machines["m1"].records == made, "{found:?}");
    println!(
        "chaos: no server answered for {} s: {made} records made, at most {} µs each, delivered in order {:.1} s after",
        away.as_secs(),
        longest.as_micros(),
        delivered.as_secs_f64()
    );
}

/// What was received and verified. A thousand machines would verify with a thousand processors; here the first one does, and the
/// others compare every byte with what it has.
#[derive(Default)]
struct Verified(Mutex<HashSet<Vec<u8>>>);

impl Verified {
    fn holds(&self, bytes: Vec<u8>, verify: impl FnOnce() -> bool) -> bool {
        if self.0.lock().unwrap().contains(&bytes) {
            return true;
        }
        let holds = verify();
        if holds {
            self.0.lock().unwrap().insert(bytes);
        }
        holds
    }
}

/// Fetches and verifies what the store offers, as a machine does before it installs it.
async fn receive(connection: &NatsConnection, keys: &[signature::PublicKey], verified: &Verified) -> Received {
    match fetch_signed_manifest(connection, &"stable".parse().unwrap()).await {
        Ok(signed) => {
            let version = receive_archive(connection, keys, verified, signed).await;
            version.map_or(Received::Failed, Received::Version)
        }
        Err(SourceError::NotFound { .. }) => Received::NothingPublished,
        Err(_) => Received::Failed,
    }
}

/// How a look ended.
enum Received {
    Version(u64),
    NothingPublished,
    Failed,
}

async fn receive_archive(
    connection: &NatsConnection,
    keys: &[signature::PublicKey],
    verified: &Verified,
    signed: SignedManifest,
) -> Option<u64> {
    let channel = "stable".parse().ok()?;
    let SignedManifest { manifest, signature: signed } = signed;
    let both = format!("{signed}{manifest}").into_bytes();
    if !verified.holds(both, || signature::verify(&manifest, &signed, keys).is_ok()) {
        return None;
    }
    let manifest = Manifest::parse(&manifest).ok()?;
    let archive = fetch_object(connection, &channel, &archive_name(&manifest.digest), manifest.size).await.ok()?;
    let named = [manifest.digest.to_string().as_bytes(), archive.as_slice()].concat();
    verified.holds(named, || ArchiveDigest::of(&archive) == manifest.digest).then_some(manifest.version)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; run by scripts/fleet-chaos.sh"]
async fn a_thousand_machines_receive_a_bundle() {
    const MACHINES: usize = 950;
    const PROCESSES: usize = 50;
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let mut members: Vec<FleetMember> = enroll_many(&cluster, MACHINES + PROCESSES).await;
    members.truncate(MACHINES);
    let publisher = Publisher::new(&cluster);
    let processes: Vec<MachineProcess> =
        (MACHINES..MACHINES + PROCESSES).map(|number| MachineProcess::start(&publisher, number)).collect();
    let keys = vec![publisher.keys.key.clone()];
    let versions: Arc<Vec<AtomicU64>> = Arc::new((0..MACHINES).map(|_| AtomicU64::new(0)).collect());
    let looks = Arc::new(AtomicU64::new(0));
    let started: Arc<Vec<AtomicBool>> = Arc::new((0..MACHINES).map(|_| AtomicBool::new(false)).collect());
    let verified = Arc::new(Verified::default());
    // The signatures of all machines are made by the processors of this one.
    let turns = Arc::new(tokio::sync::Semaphore::new(4));
    for (number, member) in members.into_iter().enumerate() {
        let (versions, keys, looks, started) =
            (Arc::clone(&versions), keys.clone(), Arc::clone(&looks), Arc::clone(&started));
        let (verified, turns) = (Arc::clone(&verified), Arc::clone(&turns));
        tokio::spawn(async move {
            let turn = turns.acquire().await.unwrap();
            let connection = loop {
                match member.connect(ReconnectPace::Spread).await {
                    Ok(connection) => break connection,
                    Err(error) => assert!(error.is_temporary(), "{error}"),
                }
            };
            drop(turn);
            let options = WatchOptions { jitter: Duration::from_secs(2), interval: Duration::from_secs(3600) };
            let channel = "stable".parse().unwrap();
            let look = |_| {
                let (connection, versions, keys) = (connection.clone(), Arc::clone(&versions), keys.clone());
                let (looks, started, verified) = (Arc::clone(&looks), Arc::clone(&started), Arc::clone(&verified));
                async move {
                    looks.fetch_add(1, Ordering::Relaxed);
                    match receive(&connection, &keys, &verified).await {
                        Received::Version(version) => {
                            versions[number].store(version, Ordering::Relaxed);
                            LookEnd::Current
                        }
                        Received::NothingPublished => {
                            started[number].store(true, Ordering::Relaxed);
                            LookEnd::Current
                        }
                        Received::Failed => LookEnd::Retry,
                    }
                }
            };
            watch(&member, &connection, &channel, options, look).await.unwrap();
        });
    }
    let wait = async |what: &str, is_true: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !is_true() {
            assert!(begin.elapsed() < Duration::from_secs(300), "never: {what}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        begin.elapsed()
    };
    let all_have = |version: u64| {
        versions.iter().all(|have| have.load(Ordering::Relaxed) == version)
            && processes.iter().all(|process| process.version() == Some(version))
    };
    let tasks_have = |version: u64| versions.iter().all(|have| have.load(Ordering::Relaxed) == version);
    wait("all machines are connected", &|| started.iter().all(|started| started.load(Ordering::Relaxed))).await;
    // A bundle of about 200 KB, which does not compress.
    let noise: String = (0..30_000).map(|number: u32| format!("{:x}", number.wrapping_mul(2_654_435_761))).collect();
    publisher.publish(&format!("{{\"x\": \"{noise}\"}}")).await;
    let took = wait("all connections have the bundle", &|| tasks_have(1)).await;
    let more = wait("all processes have it in force", &|| all_have(1)).await;
    println!(
        "chaos: {MACHINES} machines received a bundle within {:.2} s of its announcement, {PROCESSES} more that are processes had it in force within {:.2} s",
        took.as_secs_f64(),
        (took + more).as_secs_f64()
    );
    publisher.publish("{\"number\": 2}").await;
    publisher.publish("{\"number\": 3}").await;
    let took = wait("all machines have the newer one", &|| all_have(3)).await;
    println!(
        "chaos: two bundles in quick succession: all machines on the newer one within {:.2} s",
        took.as_secs_f64()
    );
    let keys = publisher.keys;
    let before = looks.load(Ordering::Relaxed);
    cluster.servers[0].restart();
    let begin = Instant::now();
    // About a third of the machines were connected to it.
    wait("the machines of the server look again", &|| looks.load(Ordering::Relaxed) >= before + MACHINES as u64 / 5)
        .await;
    let first_looks = begin.elapsed();
    Publisher::with_keys(&cluster, keys).publish("{\"number\": 4}").await;
    let took = wait("all machines have the next one", &|| all_have(4)).await;
    println!(
        "chaos: a server was killed and restarted: its machines came back over {:.1} s, the next bundle was everywhere within {:.2} s",
        first_looks.as_secs_f64(),
        took.as_secs_f64()
    );
}

/// Admits many machines at once.
async fn enroll_many(cluster: &Cluster, count: usize) -> Vec<FleetMember> {
    let mut members = Members::read(&cluster.fleet(), &"acme".parse().unwrap()).unwrap();
    let mut machines = Vec::new();
    for number in 0..count {
        let name = format!("machine-{number}");
        let folder = cluster.place.path(&format!("members/acme-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        let key = MemberKey::generate().unwrap();
        key.write_new(&folder.join("seed")).unwrap();
        let member = TenantMember {
            name: name.parse().unwrap(),
            key: key.public(),
            signing_key: Some(key.signing_public()),
            role: MemberRole::Machine { channel: "stable".parse().unwrap() },
        };
        members.admit(member, Admission::New).unwrap();
        machines.push(cluster.write_member(&folder, "acme", &name));
    }
    members.write().unwrap();
    cluster.servers.iter().for_each(hookrail_testkit::NatsServerProcess::reload);
    cluster.wait_for(machines.last().unwrap()).await;
    machines
}

/// A machine that is a process with folders of its own: `hookrail fleet watch`.
struct MachineProcess {
    _program: RunningProgram,
    places: FleetPlaces,
}

impl MachineProcess {
    fn start(publisher: &Publisher<'_>, number: usize) -> Self {
        let name = format!("machine-{number}");
        let (places, _) = publisher.configure(&name);
        let root = publisher.cluster.place.path(&format!("machines/{name}"));
        let program = std::env::var_os("HOOKRAIL_PROGRAM").expect("the script names the program");
        let log = std::fs::File::create(root.join("watch.log")).unwrap();
        let mut command = std::process::Command::new(program);
        command
            .args(["fleet", "watch"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &root)
            .env("HOOKRAIL_FLEET_ROOT", &root)
            .stdin(std::process::Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        Self { _program: RunningProgram::start(&mut command), places }
    }

    fn version(&self) -> Option<u64> {
        version(&self.places)
    }
}
