//! A sandbox for children: rules that the kernel enforces on everything a child and its descendants do.
//!
//! Landlock and seccomp restrict a thread and everything it starts. So a sandbox is one thread that restricts itself once and
//! then starts others, which start children: `posix_spawn` stays as it is, no code of ours runs in the child, and no other thread of the host is
//! restricted. Measured on Linux 6.18, a start through such a thread takes as long as one without it; restricting a new thread
//! for each child takes 1.26 times as long, a helper program that restricts itself 2.5 times.
//!
//! This module does not know what a sandbox is used for.

#[cfg(target_os = "linux")]
mod restricted_threads;
#[cfg(target_os = "linux")]
mod system_calls;

use std::io;
use std::path::{Path, PathBuf};

use crate::files::private_folders;
use crate::run_id::run_id;
#[cfg(target_os = "linux")]
use restricted_threads::RestrictedThreads;

/// The rules for children in a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SandboxRules {
    /// The files they may read and execute.
    pub read: Readable,
    /// The folders and files they may write, in addition to their temporary folder. A path that does not exist when the
    /// sandbox is started cannot be written.
    pub write: Vec<PathBuf>,
    /// Whether they may open sockets.
    pub network: Network,
}

/// The files that children in a sandbox may read and execute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Readable {
    /// Every file that their user can read.
    Everything,
    /// The system's own folders, the paths they may write, and these paths.
    Only(Vec<PathBuf>),
}

/// Whether children in a sandbox may open sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// No socket of any family can be created, not even to a service on the same machine: a socket to a session bus or a
    /// container engine would be a way out of the sandbox. Pairs of connected sockets work.
    Denied,
    /// Sockets work as outside of the sandbox.
    Allowed,
}

/// One of the protections of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Protection {
    /// The rules for reading and writing files.
    #[error("file access")]
    Files,
    /// No signals to processes outside of the sandbox.
    #[error("signals to other processes")]
    Signals,
    /// The rule for sockets, and the refusal of system calls that are not known to be harmless.
    #[error("sockets and other system calls")]
    SystemCalls,
}

/// The reason why a sandbox could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The temporary folder of the sandbox cannot be created.
    #[error("cannot create the sandbox's temporary folder in {}", folder.display())]
    TemporaryFolder {
        /// The folder in which it should be created.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The thread that starts the children cannot be started.
    #[error("cannot start the sandbox's thread")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}

/// A sandbox in which children can be started, see [`ChildCommand::sandbox`](crate::ChildCommand::sandbox).
///
/// Its temporary folder is removed when it is dropped. Children that still run stay restricted.
#[derive(Debug)]
pub struct Sandbox {
    #[cfg(target_os = "linux")]
    threads: RestrictedThreads,
    temporary: TemporaryFolder,
    missing: Vec<Protection>,
}

impl Sandbox {
    /// Creates a sandbox, with a private temporary folder inside `temporary`.
    ///
    /// If the system cannot enforce some of the rules, the others are still enforced; [`Sandbox::missing`] returns those
    /// that are not.
    ///
    /// # Errors
    /// If the temporary folder or the thread cannot be created.
    pub fn start(rules: &SandboxRules, temporary: &Path) -> Result<Self, SandboxError> {
        let temporary = TemporaryFolder::create(temporary)?;
        #[cfg(target_os = "linux")]
        {
            let (threads, missing) = RestrictedThreads::start(rules, &temporary.0)?;
            Ok(Self { threads, temporary, missing })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = rules;
            let missing = vec![Protection::Files, Protection::Signals, Protection::SystemCalls];
            Ok(Self { temporary, missing })
        }
    }

    /// Returns the protections that this system cannot enforce in full. If the list is empty, the sandbox is complete.
    #[must_use]
    pub fn missing(&self) -> &[Protection] {
        &self.missing
    }

    /// Returns the folder that children may write. The caller should pass it to them in `TMPDIR`.
    #[must_use]
    pub fn temporary_folder(&self) -> &Path {
        &self.temporary.0
    }

    /// Returns the threads that start the children.
    #[cfg(target_os = "linux")]
    pub(crate) fn threads(&self) -> &RestrictedThreads {
        &self.threads
    }
}

/// A folder with access for its owner only, which is removed when this value is dropped.
#[derive(Debug)]
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn create(parent: &Path) -> Result<Self, SandboxError> {
        let failed = |source| SandboxError::TemporaryFolder { folder: parent.to_owned(), source };
        // The rules apply to real paths, so links in the path are resolved first.
        let path = parent.canonicalize().map_err(failed)?.join(format!("hookrail-{}", run_id()));
        private_folders().create(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If this fails, the folder stays in the system's temporary folder, which the system clears.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
