//! A fleet with real servers, its members, and journals of machines.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookrail::recorder::{Entry, EntryKind, TrustChange, TrustEntry};
use hookrail_fleet::audit::{FleetVerification, ShipError, ShippedCount, Shipper, VerifyOptions, verify_fleet};
use hookrail_fleet::nats::{FleetMember, MemberKey, NatsConnection, NatsError, ReconnectPace};
use hookrail_fleet::servers::{Admission, FleetPlan, MemberRole, Members, PlannedServer, TenantMember, create_streams};
use hookrail_journal::{Journal, JournalOptions};
use hookrail_testkit::{NatsServerProcess, TestProject, free_server_ports, nats_server_program};

pub(crate) struct Cluster {
    pub(crate) place: TestProject,
    pub(crate) servers: Vec<NatsServerProcess>,
    ports: Vec<u16>,
}

/// How long something is tried before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

impl Cluster {
    /// Starts servers for the tenants `acme` and `globex`; none if nats-server is missing.
    pub(crate) async fn start(count: usize) -> Option<Self> {
        let program = nats_server_program()?;
        let place = TestProject::new();
        let ports = free_server_ports(count);
        let servers: Vec<PlannedServer> = ports
            .iter()
            .enumerate()
            .map(|(number, port)| format!("n{}=127.0.0.1:{port}", number + 1).parse().unwrap())
            .collect();
        let tenants = vec!["acme".parse().unwrap(), "globex".parse().unwrap()];
        let plan = FleetPlan { servers, tenants, store: place.path("store"), tls: None };
        plan.write(&place.path("fleet")).unwrap();
        let servers = ports
            .iter()
            .enumerate()
            .map(|(number, port)| {
                let file = place.path(&format!("fleet/n{}.conf", number + 1));
                NatsServerProcess::start(&program, &file, *port)
            })
            .collect();
        let cluster = Self { place, servers, ports };
        for tenant in ["acme", "globex"] {
            let administrator = cluster.member(tenant, "administrator");
            let connection = cluster.connect(&administrator).await;
            let replicas = if count >= 3 { 3 } else { 1 };
            // A cluster needs a moment to agree on who leads it.
            let begin = std::time::Instant::now();
            loop {
                let created = create_streams(&administrator, &connection, replicas, &["stable".parse().unwrap()]).await;
                match created {
                    Ok(streams) => break assert_eq!(streams.len(), 2),
                    Err(error) => assert!(begin.elapsed() < PATIENCE, "{error}"),
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Some(cluster)
    }

    pub(crate) fn fleet(&self) -> PathBuf {
        self.place.path("fleet")
    }

    /// A member that `fleet init` made.
    pub(crate) fn member(&self, tenant: &str, role: &str) -> FleetMember {
        FleetMember::read(&self.fleet().join(format!("tenants/{tenant}/{role}.toml"))).unwrap()
    }

    /// Makes a key for a machine, admits it and returns it.
    pub(crate) async fn enroll(&self, tenant: &str, name: &str) -> FleetMember {
        self.enroll_as(tenant, name, MemberRole::Machine { channel: "stable".parse().unwrap() }).await
    }

    pub(crate) async fn enroll_as(&self, tenant: &str, name: &str, role: MemberRole) -> FleetMember {
        let folder = self.place.path(&format!("members/{tenant}-{name}"));
        fs::create_dir_all(&folder).unwrap();
        let key = MemberKey::generate().unwrap();
        key.write_new(&folder.join("seed")).unwrap();
        self.admit(tenant, name, role, &key);
        let member = self.write_member(&folder, tenant, name);
        self.wait_for(&member).await;
        member
    }

    pub(crate) fn write_member(&self, folder: &Path, tenant: &str, name: &str) -> FleetMember {
        self.write_member_with(folder, tenant, name, "slice_records = 20")
    }

    /// Writes the file of a member, with these lines in `[audit]`.
    pub(crate) fn write_member_with(&self, folder: &Path, tenant: &str, name: &str, audit: &str) -> FleetMember {
        let servers: Vec<String> = self.ports.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let text = format!(
            "tenant = \"{tenant}\"\nmember = \"{name}\"\n[nats]\nservers = [{}]\nseed = \"seed\"\n[audit]\n{audit}\n",
            servers.join(", ")
        );
        fs::write(folder.join("member.toml"), text).unwrap();
        FleetMember::read(&folder.join("member.toml")).unwrap()
    }

    /// Lets the servers know a key.
    pub(crate) fn admit(&self, tenant: &str, name: &str, role: MemberRole, key: &MemberKey) {
        let mut members = Members::read(&self.fleet(), &tenant.parse().unwrap()).unwrap();
        let member = TenantMember {
            name: name.parse().unwrap(),
            key: key.public(),
            signing_key: Some(key.signing_public()),
            role,
        };
        members.admit(member, Admission::Replacing).unwrap();
        members.write().unwrap();
        self.servers.iter().for_each(NatsServerProcess::reload);
    }

    /// Waits until all servers have read that a member was admitted.
    pub(crate) async fn wait_for(&self, member: &FleetMember) {
        let begin = std::time::Instant::now();
        let mut accepted = 0;
        // Connections go to servers at random.
        while accepted < self.servers.len() * 4 {
            match member.connect(ReconnectPace::AtOnce).await {
                Ok(_) => accepted += 1,
                Err(NatsError::Refused(_)) => {
                    accepted = 0;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error}"),
            }
            assert!(begin.elapsed() < PATIENCE, "the servers do not accept the key");
        }
    }

    pub(crate) async fn connect(&self, member: &FleetMember) -> NatsConnection {
        member.connect(ReconnectPace::AtOnce).await.unwrap()
    }

    pub(crate) fn journal(&self, name: &str) -> Journal {
        Journal::new(JournalOptions::new(self.place.path(&format!("journals/{name}"))))
    }

    /// Ships a journal once.
    pub(crate) async fn ship(&self, member: &FleetMember, journal: &Journal) -> Result<ShippedCount, ShipError> {
        let connection = self.connect(member).await;
        let mut shipper = Shipper::open(member.clone(), journal.clone(), connection)?;
        shipper.ship(PATIENCE).await?;
        Ok(shipper.count())
    }

    pub(crate) async fn verify(&self, tenant: &str) -> FleetVerification {
        let auditor = self.member(tenant, "auditor");
        let connection = self.connect(&auditor).await;
        verify_fleet(&auditor, &connection, &VerifyOptions::default()).await.unwrap()
    }
}

/// Appends records with numbers in their texts.
pub(crate) fn append(journal: &Journal, texts: impl IntoIterator<Item = u64>) {
    for text in texts {
        append_text(journal, &text.to_string());
    }
}

pub(crate) fn append_text(journal: &Journal, text: &str) {
    let entry = TrustEntry { change: TrustChange::Granted, hook: Some(text), event: None, content: None };
    let kind = EntryKind::Trust(entry);
    let entry = Entry { at: SystemTime::now(), host: None, project: Path::new("/p"), kind };
    journal.record_blocking(&entry).unwrap();
}

/// The names of all problems of a machine.
pub(crate) fn problems(found: &FleetVerification, machine: &str) -> Vec<&'static str> {
    found.machines[machine].problems.iter().map(|problem| problem.kind.name()).collect()
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
