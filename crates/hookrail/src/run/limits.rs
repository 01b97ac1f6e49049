//! The limits of hooks: those of all hooks, and the lower ones of hooks that a project brought.
//!
//! Where these numbers come from is not known here.

use hookrail_spawn::CaptureLimits;

use crate::hook::Trust;
use crate::hook::capabilities::Capabilities;

/// How much of what a hook process writes is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes of standard output. A longer answer is not used. Default 8 MiB.
    pub stdout: usize,
    /// Bytes of standard error. What is longer is cut. Default 1 MiB.
    pub stderr: usize,
}

impl OutputLimits {
    /// The lower of both limits.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self { stdout: self.stdout.min(other.stdout), stderr: self.stderr.min(other.stderr) }
    }

    pub(crate) fn for_spawn(self) -> CaptureLimits {
        CaptureLimits { stdout_keep: self.stdout, stderr_keep: self.stderr, ..CaptureLimits::default() }
    }
}

impl Default for OutputLimits {
    fn default() -> Self {
        let CaptureLimits { stdout_keep, stderr_keep, .. } = CaptureLimits::default();
        Self { stdout: stdout_keep, stderr: stderr_keep }
    }
}

/// What one hook may use and do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// How much of its output is kept.
    pub output: OutputLimits,
    /// What it may do, when it is a module.
    pub capabilities: Capabilities,
}

impl RunLimits {
    /// The lower limits, and the capabilities that both allow.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            output: self.output.intersection(other.output),
            capabilities: self.capabilities.intersection(&other.capabilities),
        }
    }
}

/// The limits of a whole hook system.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineLimits {
    pub(crate) all_hooks: RunLimits,
    /// The limits of the project's hooks, which are never higher than those of all hooks.
    pub(crate) project: Option<RunLimits>,
}

impl EngineLimits {
    /// The limits of a hook. A hook that needs trust is one that a project brought.
    pub(crate) fn for_trust(&self, trust: &Trust) -> RunLimits {
        match (trust, &self.project) {
            (Trust::NotNeeded, _) | (_, None) => self.all_hooks.clone(),
            (_, Some(left)) => self.all_hooks.intersection(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Capabilities, EngineLimits, OutputLimits, RunLimits};
    use crate::hook::Trust;
    use crate::run::CapabilityScope;

    #[test]
    fn a_project_has_never_more_than_all_hooks_and_others_lose_nothing() {
        let all_hooks =
            RunLimits { output: OutputLimits { stdout: 100, stderr: 10 }, capabilities: Capabilities::LOOK };
        let wide = Capabilities { network: CapabilityScope::Everything, ..Capabilities::default() };
        let project = Some(RunLimits { output: OutputLimits { stdout: 50, stderr: 1000 }, capabilities: wide });
        let limits = EngineLimits { all_hooks: all_hooks.clone(), project };
        assert_eq!(limits.for_trust(&Trust::NotNeeded), all_hooks);
        let hook = crate::hook::Hook::new(
            crate::event::EventKind::BeforeTool,
            crate::dialect::DialectId::Native,
            "hook",
            crate::hook::Action::Shell("true".into()),
            crate::config::source::Origin {
                kind: crate::config::source::SourceKind::Project,
                location: crate::config::source::Location::whole_file(std::path::Path::new("/p/s")),
            },
        );
        let trusted = Trust::ForThisRun(crate::trust::Fingerprint::take(std::path::Path::new("/p"), &hook));
        assert_eq!(
            limits.for_trust(&trusted),
            RunLimits { output: OutputLimits { stdout: 50, stderr: 10 }, capabilities: Capabilities::LOOK }
        );
        assert_eq!(EngineLimits { all_hooks: all_hooks.clone(), project: None }.for_trust(&trusted), all_hooks);
    }
}
