//! The members of a tenant and what each of them may do. A server decides by subjects, so that this is a list of subjects.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::BundleError;
use crate::files::{read_limited, write_atomically};
use crate::machine::MachineId;
use crate::name::Name;
use crate::nats::{AUDIT_STREAM, MemberPublicKey, Subjects};

/// The largest list that is read.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What a member may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum MemberRole {
    /// Ship its own records, follow one channel, and ask workers.
    Machine {
        /// The channel.
        channel: Name,
    },
    /// Answer what machines ask one group.
    Worker {
        /// The group.
        group: Name,
    },
    /// Store bundles and announce them.
    Publisher,
    /// Read the records of all machines.
    Auditor,
    /// Everything in the tenant.
    Administrator,
}

/// A member of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantMember {
    /// Its name, which is part of its subjects.
    pub name: Name,
    /// The key that servers know it by.
    pub key: MemberPublicKey,
    /// The key that signs its checkpoints, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<MemberPublicKey>,
    /// What it may do.
    #[serde(flatten)]
    pub role: MemberRole,
}

/// The members of a tenant, with their files.
#[derive(Debug)]
pub struct Members {
    tenant: Name,
    folder: PathBuf,
    list: Vec<TenantMember>,
}

/// Why a member was not admitted or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MembersError {
    /// The folder has no such tenant.
    #[error("`{}` has no tenant `{tenant}`", folder.display())]
    NoTenant {
        /// The folder.
        folder: PathBuf,
        /// The tenant.
        tenant: Name,
    },
    /// A member of that name has another key.
    #[error("member `{0}` exists with another key; replace it with `--replace`")]
    Exists(Name),
    /// Another member has that key.
    #[error("member `{0}` has this key already")]
    KeyTaken(Name),
    /// The key is not one that servers can know a member by.
    #[error("{0} does not connect: the key of a member begins with `U`")]
    NotConnecting(MemberPublicKey),
    /// There is no member of that name.
    #[error("there is no member `{0}`")]
    Unknown(Name),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] BundleError),
}

/// What happens to a member of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is an error.
    New,
    /// It is replaced: its old key is worth nothing from then on.
    Replacing,
}

#[derive(Default, Serialize, Deserialize)]
struct MembersFile {
    #[serde(default)]
    member: Vec<TenantMember>,
}

impl MemberRole {
    /// Returns the name used in files and messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Machine { .. } => "machine",
            Self::Worker { .. } => "worker",
            Self::Publisher => "publisher",
            Self::Auditor => "auditor",
            Self::Administrator => "administrator",
        }
    }
}

impl TenantMember {
    /// Returns the entry of this member in the configuration of the servers.
    #[must_use]
    pub fn permission_block(&self, tenant: &Name) -> String {
        let subjects = Subjects::new(tenant.clone());
        let id = MachineId::named(&self.name);
        let inbox = format!("{}.>", subjects.inbox(&id));
        let audit = subjects.audit(&id);
        let stream = AUDIT_STREAM;
        let api = |text: &str| format!("$JS.API.{text}");
        let (publish, subscribe, answers) = match &self.role {
            MemberRole::Machine { channel } => {
                let objects = format!("DIRECT.GET.OBJ_{}", Subjects::bucket(channel));
                let publish = vec![
                    audit.clone(),
                    api(&format!("DIRECT.GET.{stream}.{audit}")),
                    api(&objects),
                    api(&format!("{objects}.>")),
                    format!("hr.{tenant}.ask.*"),
                ];
                (publish, vec![subjects.announce(channel), inbox], false)
            }
            MemberRole::Worker { group } => (Vec::new(), vec![subjects.ask(group), inbox], true),
            MemberRole::Publisher => {
                let publish = vec![
                    format!("hr.{tenant}.announce.*"),
                    "$O.*.>".to_owned(),
                    api("STREAM.INFO.*"),
                    api("STREAM.PURGE.*"),
                    api("DIRECT.GET.>"),
                    api("STREAM.MSG.GET.*"),
                ];
                (publish, vec![inbox], false)
            }
            MemberRole::Auditor => {
                let consumer = |what: &str| api(&format!("CONSUMER.{what}.{stream}.>"));
                let publish = vec![
                    api(&format!("STREAM.INFO.{stream}")),
                    api(&format!("CONSUMER.CREATE.{stream}")),
                    consumer("CREATE"),
                    consumer("INFO"),
                    consumer("MSG.NEXT"),
                    consumer("DELETE"),
                    api(&format!("DIRECT.GET.{stream}.>")),
                ];
                (publish, vec![inbox], false)
            }
            MemberRole::Administrator => (vec![">".to_owned()], vec![">".to_owned()], true),
        };
        let list = |subjects: &[String]| {
            let quoted: Vec<String> = subjects.iter().map(|subject| quoted(subject)).collect();
            format!("[{}]", quoted.join(", "))
        };
        // A list of nothing would permit everything.
        let publish =
            if publish.is_empty() { "{ deny: \">\" }".to_owned() } else { format!("{{ allow: {} }}", list(&publish)) };
        let mut text = format!("  # {} {}\n", self.role.name(), self.name);
        let _ = writeln!(text, "  {{ nkey: {}, permissions: {{", self.key);
        let _ = writeln!(text, "      publish: {publish}");
        let _ = writeln!(text, "      subscribe: {{ allow: {} }}", list(&subscribe));
        if answers {
            let _ = writeln!(text, "      allow_responses: {{ max: 1, expires: \"1m\" }}");
        }
        text.push_str("  } }\n");
        text
    }
}

/// Returns a text as configurations of servers have it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Members {
    /// Begins the list of a new tenant.
    pub(super) fn begin(fleet: &Path, tenant: Name) -> Self {
        Self { folder: tenant_folder(fleet, &tenant), tenant, list: Vec::new() }
    }

    /// Reads the members of a tenant in the folder of a fleet.
    ///
    /// # Errors
    /// If there is no such tenant, or the list cannot be read.
    pub fn read(fleet: &Path, tenant: &Name) -> Result<Self, MembersError> {
        let folder = tenant_folder(fleet, tenant);
        let file = folder.join("members.toml");
        let bytes = match read_limited(&file, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(MembersError::NoTenant { folder: fleet.to_owned(), tenant: tenant.clone() });
            }
            Err(error) => return Err(BundleError::at(&file)(error).into()),
        };
        let problem = |problem: String| BundleError::Configuration { file: file.clone(), problem };
        let text = std::str::from_utf8(&bytes).map_err(|error| problem(error.to_string()))?;
        let MembersFile { member } = toml::from_str(text).map_err(|error| problem(error.to_string()))?;
        Ok(Self { tenant: tenant.clone(), folder, list: member })
    }

    /// Returns the members.
    #[must_use]
    pub fn list(&self) -> &[TenantMember] {
        &self.list
    }

    /// Admits a member. A member whose key is admitted again stays what it is.
    ///
    /// # Errors
    /// If the name or the key is taken.
    pub fn admit(&mut self, member: TenantMember, admission: Admission) -> Result<(), MembersError> {
        if !member.key.is_connecting() {
            return Err(MembersError::NotConnecting(member.key));
        }
        if let Some(other) = self.list.iter().find(|known| known.key == member.key && known.name != member.name) {
            return Err(MembersError::KeyTaken(other.name.clone()));
        }
        let known = self.list.iter_mut().find(|known| known.name == member.name);
        match known {
            Some(known) if known.key == member.key || admission == Admission::Replacing => *known = member,
            Some(known) => return Err(MembersError::Exists(known.name.clone())),
            None => self.list.push(member),
        }
        Ok(())
    }

    /// Removes a member. Its key is worth nothing once the servers have read the list again.
    ///
    /// # Errors
    /// If there is no such member.
    pub fn remove(&mut self, name: &Name) -> Result<TenantMember, MembersError> {
        let place = self.list.iter().position(|known| known.name == *name);
        place.map(|place| self.list.remove(place)).ok_or_else(|| MembersError::Unknown(name.clone()))
    }

    /// Writes the list, and what servers read of it.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self) -> Result<(), MembersError> {
        let file = self.folder.join("members.toml");
        let text = toml::to_string(&MembersFile { member: self.list.clone() })
            .map_err(|error| BundleError::Configuration { file: file.clone(), problem: error.to_string() })?;
        write_atomically(&file, text.as_bytes(), 0o644).map_err(BundleError::at(&file))?;
        let mut users = String::from("# Written by `hookrail fleet admit` from members.toml.\nusers: [\n");
        for member in &self.list {
            users.push_str(&member.permission_block(&self.tenant));
        }
        users.push_str("]\n");
        let file = self.folder.join("users.conf");
        Ok(write_atomically(&file, users.as_bytes(), 0o644).map_err(BundleError::at(&file))?)
    }
}

/// Returns the folder of a tenant.
pub(super) fn tenant_folder(fleet: &Path, tenant: &Name) -> PathBuf {
    fleet.join("tenants").join(tenant.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nats::MemberKey;

    fn machine(name: &str) -> TenantMember {
        let key = MemberKey::generate().unwrap();
        TenantMember {
            name: name.parse().unwrap(),
            key: key.public(),
            signing_key: Some(key.signing_public()),
            role: MemberRole::Machine { channel: "stable".parse().unwrap() },
        }
    }

    #[test]
    fn a_machine_may_publish_its_own_records_only() {
        let block = machine("m1").permission_block(&"acme".parse().unwrap());
        assert!(block.contains("\"hr.acme.audit.m1\"") && !block.contains("audit.*"), "{block}");
        assert!(block.contains("\"$JS.API.DIRECT.GET.HR_AUDIT.hr.acme.audit.m1\""), "{block}");
        assert!(!block.contains("_INBOX"), "{block}");
    }

    #[test]
    fn names_and_keys_belong_to_one_member() {
        let folder = tempfile::tempdir().unwrap();
        let mut members = Members::begin(folder.path(), "acme".parse().unwrap());
        let (first, second) = (machine("m1"), machine("m1"));
        members.admit(first.clone(), Admission::New).unwrap();
        members.admit(first.clone(), Admission::New).unwrap();
        assert!(matches!(members.admit(second.clone(), Admission::New), Err(MembersError::Exists(_))));
        let same_key = TenantMember { name: "m2".parse().unwrap(), ..first.clone() };
        assert!(matches!(members.admit(same_key, Admission::New), Err(MembersError::KeyTaken(_))));
        members.admit(second.clone(), Admission::Replacing).unwrap();
        assert_eq!(members.list(), [second]);
        let wrong = TenantMember { key: first.signing_key.clone().unwrap(), ..first };
        assert!(matches!(members.admit(wrong, Admission::Replacing), Err(MembersError::NotConnecting(_))));
        crate::files::create_shared_folder(&members.folder).unwrap();
        members.write().unwrap();
        let read = Members::read(folder.path(), &"acme".parse().unwrap()).unwrap();
        assert_eq!(read.list(), members.list());
        members.remove(&"m1".parse().unwrap()).unwrap();
        assert!(matches!(members.remove(&"m1".parse().unwrap()), Err(MembersError::Unknown(_))));
        let missing = Members::read(folder.path(), &"globex".parse().unwrap());
        assert!(matches!(missing, Err(MembersError::NoTenant { .. })));
    }
}
