//! The servers of a fleet: a configuration for them that works, who may do what on them, and the streams they need.
//!
//! | file | what it is |
//! |---|---|
//! | `NAME.conf` | the configuration of one server |
//! | `accounts.conf` | one account for each tenant, included by all servers |
//! | `tenants/TENANT/members.toml` | the members of a tenant |
//! | `tenants/TENANT/users.conf` | the same for the servers; written anew whenever a member is admitted or removed |
//! | `tenants/TENANT/ROLE.toml`, `ROLE.seed` | what the administrator, the publisher and the auditor connect with |

mod members;
mod plan;
mod streams;

pub use members::{Admission, MemberRole, Members, MembersError, TenantMember};
pub use plan::{FleetPlan, PlanError, PlannedServer};
pub use streams::create_streams;
