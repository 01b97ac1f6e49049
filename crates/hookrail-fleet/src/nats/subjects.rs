//! The names of subjects, streams and buckets. Each has the tenant in it, so that a message in a log says whose it is;
//! what keeps tenants apart is that each has an account of its own.

use crate::machine::MachineId;
use crate::name::Name;

/// The stream that keeps the records of all machines of a tenant.
pub const AUDIT_STREAM: &str = "HR_AUDIT";

/// The subjects of a tenant.
///
/// ```
/// use hookrail_fleet::nats::Subjects;
///
/// let subjects = Subjects::new("acme".parse().unwrap());
/// assert_eq!(subjects.announce(&"stable".parse().unwrap()), "hr.acme.announce.stable");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    tenant: Name,
}

impl Subjects {
    /// Returns the subjects of a tenant.
    #[must_use]
    pub fn new(tenant: Name) -> Self {
        Self { tenant }
    }

    /// Returns the tenant.
    #[must_use]
    pub fn tenant(&self) -> &Name {
        &self.tenant
    }

    /// Returns the subject of a machine's records. The machine alone may publish to it.
    #[must_use]
    pub fn audit(&self, machine: &MachineId) -> String {
        format!("hr.{}.audit.{machine}", self.tenant)
    }

    /// Returns the pattern of all machines' records, which the stream keeps.
    #[must_use]
    pub fn every_audit(&self) -> String {
        format!("hr.{}.audit.*", self.tenant)
    }

    /// Returns the machine whose records have this subject.
    #[must_use]
    pub fn machine_of_audit<'s>(&self, subject: &'s str) -> Option<&'s str> {
        let rest = subject.strip_prefix("hr.")?.strip_prefix(self.tenant.as_str())?.strip_prefix(".audit.")?;
        (!rest.is_empty() && !rest.contains('.')).then_some(rest)
    }

    /// Returns the subject on which new bundles of a channel are announced.
    #[must_use]
    pub fn announce(&self, channel: &Name) -> String {
        format!("hr.{}.announce.{channel}", self.tenant)
    }

    /// Returns the subject on which a group of workers is asked.
    #[must_use]
    pub fn ask(&self, group: &Name) -> String {
        format!("hr.{}.ask.{group}", self.tenant)
    }

    /// Returns what the subjects of answers to a member begin with. No other member may read them.
    #[must_use]
    pub fn inbox(&self, member: &MachineId) -> String {
        format!("hr.{}.inbox.{member}", self.tenant)
    }

    /// Returns the name of the bucket with the bundles of a channel.
    #[must_use]
    pub fn bucket(channel: &Name) -> String {
        format!("bundles-{channel}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_says_whose_it_is() {
        let subjects = Subjects::new("acme".parse().unwrap());
        let machine = MachineId::named(&"m1".parse().unwrap());
        assert_eq!(subjects.audit(&machine), "hr.acme.audit.m1");
        assert_eq!(subjects.every_audit(), "hr.acme.audit.*");
        assert_eq!(subjects.ask(&"guards".parse().unwrap()), "hr.acme.ask.guards");
        assert_eq!(subjects.inbox(&machine), "hr.acme.inbox.m1");
        assert_eq!(Subjects::bucket(&"stable".parse().unwrap()), "bundles-stable");
        assert_eq!(subjects.machine_of_audit("hr.acme.audit.m1"), Some("m1"));
        for other in
            ["hr.acme.audit.", "hr.acme.audit.m1.x", "hr.acme2.audit.m1", "hr.other.audit.m1", "hr.acme.ask.m1"]
        {
            assert_eq!(subjects.machine_of_audit(other), None, "{other}");
        }
    }
}
