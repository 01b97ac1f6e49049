//! The configuration of the servers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::members::{Admission, MemberRole, Members, MembersError, TenantMember, quoted, tenant_folder};
use crate::config::NatsServer;
use crate::error::BundleError;
use crate::files::{create_shared_folder, write_atomically};
use crate::name::Name;
use crate::nats::{MemberKey, MemberKeyProblem};

/// How far the port for other servers is from the port for members.
const ROUTE_PORTS: u16 = 2000;

/// A server that is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedServer {
    /// Its name, which is also that of its file.
    pub name: Name,
    /// Where members and other servers reach it.
    pub host: String,
    /// The port for members.
    pub port: u16,
}

/// What a new fleet looks like.
#[derive(Clone, Debug)]
pub struct FleetPlan {
    /// One server, or three, or five.
    pub servers: Vec<PlannedServer>,
    /// The tenants.
    pub tenants: Vec<Name>,
    /// The folder in which each server has a folder for its streams.
    pub store: PathBuf,
    /// The folder with `ca.pem`, and `NAME.pem` and `NAME-key.pem` of each server.
    pub tls: Option<PathBuf>,
}

/// Why a fleet was not begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A text names no server.
    #[error("`{0}` is no server: use NAME=HOST:PORT")]
    NotAServer(String),
    /// Two servers cannot outvote a lost one, and four no more than three.
    #[error("{0} servers cannot form a cluster that survives the loss of one: use 1, 3 or 5")]
    ServerCount(usize),
    /// A server is named twice.
    #[error("server `{0}` is named twice")]
    NamedTwice(Name),
    /// There is no tenant.
    #[error("no tenant is named")]
    NoTenant,
    /// Servers on other machines need certificates.
    #[error("`{0}` is not this machine, so that the servers need certificates; name their folder with `--tls`")]
    NeedsTls(String),
    /// The folder is in use already.
    #[error("`{}` exists already", .0.display())]
    Exists(PathBuf),
    /// The system gives no random bytes.
    #[error("no secret can be made: {0}")]
    NoSecret(String),
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] MemberKeyProblem),
    /// A list of members cannot be written.
    #[error(transparent)]
    Members(#[from] MembersError),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] BundleError),
}

impl FromStr for PlannedServer {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let refused = || PlanError::NotAServer(text.to_owned());
        let (name, address) = text.split_once('=').ok_or_else(refused)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(refused)?;
        let port: u16 = port.parse().map_err(|_| refused())?;
        format!("nats://{address}").parse::<NatsServer>().map_err(|_| refused())?;
        if port.checked_add(ROUTE_PORTS).is_none() || port == 0 {
            return Err(refused());
        }
        Ok(Self { name: name.parse().map_err(|_| refused())?, host: host.to_owned(), port })
    }
}

impl PlannedServer {
    fn is_loopback(&self) -> bool {
        matches!(self.host.as_str(), "127.0.0.1" | "[::1]" | "localhost")
    }

    fn route_port(&self) -> u16 {
        self.port.saturating_add(ROUTE_PORTS)
    }
}

impl FleetPlan {
    /// Writes the configuration of all servers into a new folder, with the keys of the first members of each tenant.
    ///
    /// # Errors
    /// If the plan cannot work, the folder exists, or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), PlanError> {
        self.check()?;
        if folder.symlink_metadata().is_ok() {
            return Err(PlanError::Exists(folder.to_owned()));
        }
        hookrail_spawn::create_private_folder(folder).map_err(BundleError::at(folder))?;
        let secret = random_text()?;
        for tenant in &self.tenants {
            self.write_tenant(folder, tenant)?;
        }
        let file = folder.join("accounts.conf");
        write_atomically(&file, self.accounts().as_bytes(), 0o644).map_err(BundleError::at(&file))?;
        for server in &self.servers {
            let file = folder.join(format!("{}.conf", server.name));
            let text = self.server_text(server, &secret);
            write_atomically(&file, text.as_bytes(), 0o600).map_err(BundleError::at(&file))?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), PlanError> {
        if !matches!(self.servers.len(), 1 | 3 | 5) {
            return Err(PlanError::ServerCount(self.servers.len()));
        }
        for (number, server) in self.servers.iter().enumerate() {
            if self.servers.iter().skip(number + 1).any(|other| other.name == server.name) {
                return Err(PlanError::NamedTwice(server.name.clone()));
            }
        }
        if self.tenants.is_empty() {
            return Err(PlanError::NoTenant);
        }
        match self.servers.iter().find(|server| !server.is_loopback()) {
            Some(server) if self.tls.is_none() => Err(PlanError::NeedsTls(server.host.clone())),
            _ => Ok(()),
        }
    }

    /// The addresses of the servers for members.
    fn addresses(&self) -> String {
        let scheme = if self.tls.is_some() { "tls" } else { "nats" };
        let quoted: Vec<String> =
            self.servers.iter().map(|server| quoted(&format!("{scheme}://{}:{}", server.host, server.port))).collect();
        format!("[{}]", quoted.join(", "))
    }

    fn write_tenant(&self, folder: &Path, tenant: &Name) -> Result<(), PlanError> {
        let place = tenant_folder(folder, tenant);
        create_shared_folder(&place).map_err(BundleError::at(&place))?;
        let mut members = Members::begin(folder, tenant.clone());
        let first = [
            ("administrator", MemberRole::Administrator),
            ("publisher", MemberRole::Publisher),
            ("auditor", MemberRole::Auditor),
        ];
        for (name, role) in first {
            let key = MemberKey::generate()?;
            key.write_new(&place.join(format!("{name}.seed")))?;
            let mut text = format!(
                "tenant = \"{tenant}\"\nmember = \"{name}\"\n\n[nats]\nservers = {}\nseed = \"{name}.seed\"\n",
                self.addresses()
            );
            if let Some(tls) = &self.tls {
                let _ = writeln!(text, "ca = {}", quoted(&tls.join("ca.pem").display().to_string()));
            }
            let file = place.join(format!("{name}.toml"));
            write_atomically(&file, text.as_bytes(), 0o644).map_err(BundleError::at(&file))?;
            let name: Name = name.parse().map_err(|_| PlanError::NoTenant)?;
            members.admit(TenantMember { name, key: key.public(), signing_key: None, role }, Admission::New)?;
        }
        Ok(members.write()?)
    }

    fn accounts(&self) -> String {
        let mut text =
            String::from("# One account for each tenant: no subject of one is visible in another.\naccounts {\n");
        for tenant in &self.tenants {
            let _ = writeln!(
                text,
                "  {tenant} {{\n    jetstream: enabled\n    include \"tenants/{tenant}/users.conf\"\n  }}"
            );
        }
        text.push_str("}\n");
        text
    }

    fn server_text(&self, server: &PlannedServer, secret: &str) -> String {
        let store = self.store.join(server.name.as_str());
        let mut text = String::from("# Written by `hookrail fleet init`. Start it with: nats-server -c FILE\n");
        let _ = writeln!(text, "server_name: {}", server.name);
        let _ = writeln!(text, "listen: {}", quoted(&format!("{}:{}", server.host, server.port)));
        // One slice is mostly far smaller; a single large record must still fit.
        let _ = writeln!(text, "max_payload: 8MB");
        let _ = writeln!(text, "\njetstream {{\n  store_dir: {}", quoted(&store.display().to_string()));
        let _ = writeln!(text, "  # What is acknowledged is on the disk of most servers.\n  sync_interval: always\n}}");
        if let Some(tls) = &self.tls {
            let _ = writeln!(text, "\ntls {}", tls_text(tls, &server.name));
        }
        if self.servers.len() > 1 {
            let routes: Vec<String> = self
                .servers
                .iter()
                .filter(|other| other.name != server.name)
                .map(|other| quoted(&format!("nats-route://route:{secret}@{}:{}", other.host, other.route_port())))
                .collect();
            let _ = writeln!(text, "\ncluster {{\n  name: hookrail");
            let _ = writeln!(text, "  listen: {}", quoted(&format!("{}:{}", server.host, server.route_port())));
            let _ = writeln!(text, "  authorization {{ user: route, password: {} }}", quoted(secret));
            let _ = writeln!(text, "  routes: [{}]", routes.join(", "));
            if let Some(tls) = &self.tls {
                let _ = writeln!(text, "  tls {}", tls_text(tls, &server.name));
            }
            text.push_str("}\n");
        }
        text.push_str("\ninclude accounts.conf\n");
        text
    }
}

fn tls_text(folder: &Path, server: &Name) -> String {
    let file = |name: String| quoted(&folder.join(name).display().to_string());
    format!(
        "{{ cert_file: {}, key_file: {}, ca_file: {} }}",
        file(format!("{server}.pem")),
        file(format!("{server}-key.pem")),
        file("ca.pem".to_owned())
    )
}

fn random_text() -> Result<String, PlanError> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|error| PlanError::NoSecret(error.to_string()))?;
    Ok(hookrail::trust::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(servers: &[&str], tls: Option<&str>) -> FleetPlan {
        FleetPlan {
            servers: servers.iter().map(|text| text.parse().unwrap()).collect(),
            tenants: vec!["acme".parse().unwrap()],
            store: "/var/lib/nats".into(),
            tls: tls.map(PathBuf::from),
        }
    }

    #[test]
    fn what_cannot_work_is_not_written() {
        for text in ["n1", "n1=host", "n1=host:0", "n1=host:65000", "N1=host:4222", "n1=a b:4222"] {
            assert!(text.parse::<PlannedServer>().is_err(), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("fleet");
        let wrong = |plan: FleetPlan| plan.write(&target).unwrap_err();
        let two = ["a=127.0.0.1:1", "b=127.0.0.1:2"];
        assert!(matches!(wrong(plan(&two, None)), PlanError::ServerCount(2)));
        assert!(matches!(
            wrong(plan(&["a=127.0.0.1:1", "b=127.0.0.1:2", "a=127.0.0.1:3"], None)),
            PlanError::NamedTwice(_)
        ));
        assert!(matches!(wrong(plan(&["a=n1.example.com:4222"], None)), PlanError::NeedsTls(_)));
        assert!(!target.exists());
        plan(&["a=n1.example.com:4222"], Some("/etc/nats/tls")).write(&target).unwrap();
        assert!(matches!(wrong(plan(&["a=127.0.0.1:1"], None)), PlanError::Exists(_)));
        let text = std::fs::read_to_string(target.join("a.conf")).unwrap();
        assert!(
            text.contains("cert_file: \"/etc/nats/tls/a.pem\"") && text.contains("sync_interval: always"),
            "{text}"
        );
    }
}
