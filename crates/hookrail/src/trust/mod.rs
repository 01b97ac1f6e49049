//! Trust: nothing a repository contains runs before its user has said so, hook by hook, bound to content.
//!
//! A fingerprint covers a hook's definition and the bytes of the files it names; grants are kept outside the
//! repository; content is verified again immediately before it runs.

mod coverage;
mod diff;
mod grants;
mod loosening;
mod missing;
mod module_memory;
pub mod places;
pub(crate) mod project_code;
pub(crate) mod protect;
pub(crate) mod session_facts;
mod store;
mod surroundings;
mod texts;

pub(crate) use coverage::Coverage;
pub use diff::{ChangeKind, FileChange, FileState, HookChange, HookEdit};
pub use grants::Grants;
pub(crate) use loosening::{Loosening, line_loosens, words_loosen};
pub use missing::NewGuardFacts;
pub(crate) use missing::{GuardSearch, OffByUser};
pub(crate) use module_memory::ModuleMemory;
pub(crate) use project_code::{findings as project_code_findings, protect_python};
pub use store::{FileTrustStore, GuardedProjects, TrustError, TrustStore};
pub(crate) use surroundings::KnownSurroundings;

pub use crate::hook::files::command::UncoveredReason;
pub use crate::hook::fingerprint::{Definition, Fingerprint, NamedFile};
pub use crate::hook::git_branch::GitPosition;
pub use crate::hook::grant::{Grant, GrantedFile};
pub(crate) use crate::hook::identity::{FilePlaces, HookIdentity, NamesakeCounter};
pub use crate::hook::missing_guard::{GuardAbsence, GuardFacts, MissingGuard};
pub use crate::text::digest::{Digest, hex};
pub use crate::text::invisible_chars::is_hidden;
