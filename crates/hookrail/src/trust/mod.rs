//! Trust: nothing a repository contains runs before its user has said so, hook by hook, bound to content.
//!
//! A fingerprint covers a hook's definition and the bytes of the files it names; grants are kept outside the
//! repository; content is verified again immediately before it runs.

mod command;
mod coverage;
mod diff;
mod digest;
mod fingerprint;
mod git_branch;
mod grants;
mod identity;
mod imports;
mod interpreter;
mod loosening;
mod missing;
mod module_memory;
mod node_imports;
mod program_file;
mod project_code;
mod siblings;
mod sourced;
mod store;
mod texts;

pub use command::OpenEnd;
pub(crate) use command::agent_folders;
pub(crate) use coverage::Coverage;
pub use diff::{ChangeKind, FileChange, FileState, HookChange, HookEdit};
pub use digest::Digest;
pub(crate) use fingerprint::files_named_by;
pub use fingerprint::{Definition, Fingerprint, NamedFile};
pub use git_branch::GitPosition;
pub use grants::{Grant, GrantedFile, Grants};
pub(crate) use identity::{FilePlaces, HookIdentity, IdentityCell, NamesakeCounter};
pub(crate) use loosening::{Loosening, line_loosens, words_loosen};
pub use missing::{GuardAbsence, GuardFacts, MissingGuard, NewGuardFacts};
pub(crate) use missing::{GuardSearch, OffByUser};
pub(crate) use module_memory::ModuleMemory;
pub(crate) use project_code::{findings as project_code_findings, protect_python};
pub use store::{FileTrustStore, GuardedProjects, TrustError, TrustStore};

pub use crate::hidden::is_hidden;
