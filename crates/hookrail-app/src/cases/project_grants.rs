//! What the user has granted of a project, and how that is carried over to the copies in which cases run.

use std::path::{Path, PathBuf};

use crate::config::{HookrailConfiguration, ProjectFileTrust};
use crate::failure::Result;
use crate::project::{Project, ProjectChoice};
use hookrail::sources::SourceKind;
use hookrail::trust::{Grants, TrustError, TrustStore};
use hookrail::{Builder, Hook, HookSystem, Protect};

/// What the user has said about a project.
#[derive(Debug)]
pub(super) struct ProjectGrants {
    grants: Grants,
    /// The hooks of the project that are not granted as they are now.
    pub(super) not_granted: Vec<String>,
    /// The files and folders that decide which hooks run, the user's own among them. Modules must not change them, and the
    /// engine of a copy knows only those of the copy.
    protected: Vec<PathBuf>,
}

/// What the hooks of a copy need to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyTrust {
    /// The same grants as in the project. A grant is about a hook's definition and the content of its files, wherever the
    /// project is.
    AsGranted,
    /// Nothing: the user has consented to everything that the project contains.
    Everything,
}

impl ProjectGrants {
    /// Finds out what is granted. Nothing of the project is run; modules that were granted are loaded without any
    /// capability.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let choice = ProjectChoice { project: Some(root), ..ProjectChoice::default() };
        let project = Project::open(choice)?;
        let system = project.builder_as_granted(choice)?.build();
        let snapshot = system.snapshot();
        let hooks: Vec<_> = snapshot.hooks().iter().filter(|hook| hook.origin.kind == SourceKind::Project).collect();
        // A store that cannot be used grants nothing.
        let store = Project::trust_store().ok();
        let grants = store.and_then(|store| store.grants(project.root()).ok()).unwrap_or_default();
        let holds = |hook: &Hook| hook.trust.fingerprint().is_none_or(|taken| taken.still_holds(root));
        let is_granted = |hook: &Hook| hook.trust.allows() && holds(hook);
        let mut not_granted: Vec<String> =
            hooks.iter().filter(|hook| !is_granted(hook)).map(|hook| hook.label.to_string()).collect();
        // The switches of a project count only if the project itself is granted.
        if !grants.project && not_granted.is_empty() && !hooks.is_empty() {
            not_granted.push(format!("the project {}", root.display()));
        }
        Ok(Self { grants, not_granted, protected: system.protected_paths() })
    }

    /// Describes the hook system of a copy: with the user's limits, and with the user's own places protected.
    pub(super) fn describe_copy(&self, copy: &Path, trust: CopyTrust) -> Builder {
        let is_trusted = trust == CopyTrust::Everything || self.grants.project;
        let file = if is_trusted { ProjectFileTrust::Trusted } else { ProjectFileTrust::Untrusted };
        let builder = HookrailConfiguration::load(copy, file).apply(HookSystem::builder(copy)).no_bundles();
        let builder = self.protected.iter().fold(builder, |builder, path| builder.described_by(path, Vec::new()));
        // A case is about what hooks answer, not about what the engine says beside them.
        let builder = builder.protect(Protect::Off);
        match trust {
            CopyTrust::AsGranted => builder.trust_store(CopiedGrants(self.grants.clone())),
            CopyTrust::Everything => builder.trust_project(),
        }
    }
}

/// The grants of a project, for a copy of it.
struct CopiedGrants(Grants);

impl TrustStore for CopiedGrants {
    fn grants(&self, _project: &Path) -> std::result::Result<Grants, TrustError> {
        Ok(self.0.clone())
    }
}
