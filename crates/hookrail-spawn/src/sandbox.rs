//! A sandbox for children: rules that the kernel enforces on everything a child and its descendants do.
//!
//! Landlock and seccomp restrict a thread and everything it starts. So a sandbox is one thread that restricts itself once and
//! then starts children: `posix_spawn` stays as it is, no code of ours runs in the child, and no other thread of the host is
//! restricted. Measured on Linux 6.18, a start through such a thread takes as long as one without it; restricting a new thread
//! for each child takes 1.26 times as long, a helper program that restricts itself 2.5 times.
//!
//! What a sandbox is for is not known here.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::private_folders;
use crate::run_id::run_id;
#[cfg(target_os = "linux")]
use crate::sys::sandbox as imp;

/// What children in a sandbox may do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SandboxRules {
    /// What they may read and execute.
    pub read: Readable,
    /// The folders and files they may write beside their temporary folder. A path that does not exist when the sandbox is
    /// started cannot be written.
    pub write: Vec<PathBuf>,
    /// Whether they may open sockets.
    pub network: Network,
}

/// What children in a sandbox may read and execute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Readable {
    /// Every file that their user can read.
    Everything,
    /// The system's own folders, what they may write, and these paths.
    Only(Vec<PathBuf>),
}

/// Whether children in a sandbox may open sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// No socket of any family can be created, also none to a service on the same machine: a socket to a session bus or a
    /// container engine would lead out of the sandbox. Socket pairs work.
    Denied,
    /// Sockets work as outside of the sandbox.
    Allowed,
}

/// A protection that a sandbox consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Protection {
    /// The rules for reading and writing files.
    #[error("file access")]
    Files,
    /// No signals to processes outside of the sandbox.
    #[error("signals to other processes")]
    Signals,
    /// The rule for sockets, and the refusal of system calls that change permissions or the system itself.
    #[error("sockets and other system calls")]
    SystemCalls,
}

/// Why a sandbox could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The temporary folder of the sandbox cannot be made.
    #[error("the sandbox's temporary folder cannot be created in {}", folder.display())]
    TemporaryFolder {
        /// Where it should have been.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The thread that starts the children cannot be made.
    #[error("the sandbox's thread cannot be started")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}

/// A sandbox that children can be started in, see [`Command::sandbox`](crate::Command::sandbox).
///
/// Its temporary folder is removed when it is dropped. Children that still run then stay restricted.
#[derive(Debug)]
pub struct Sandbox {
    #[cfg(target_os = "linux")]
    thread: imp::RestrictedThread,
    temporary: TemporaryFolder,
    missing: Vec<Protection>,
}

impl Sandbox {
    /// Makes a sandbox, with a private temporary folder inside of `temporary`.
    ///
    /// If the system cannot enforce all rules, the others are enforced all the same; [`Sandbox::missing`] says which are
    /// not.
    ///
    /// # Errors
    /// If the temporary folder or the thread cannot be made.
    pub fn start(rules: &SandboxRules, temporary: &Path) -> Result<Self, SandboxError> {
        let temporary = TemporaryFolder::create(temporary)?;
        #[cfg(target_os = "linux")]
        {
            let (thread, missing) = imp::RestrictedThread::start(rules, &temporary.0)?;
            Ok(Self { thread, temporary, missing })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = rules;
            let missing = vec![Protection::Files, Protection::Signals, Protection::SystemCalls];
            Ok(Self { temporary, missing })
        }
    }

    /// The protections that this system cannot enforce, or not in full. An empty list means that the sandbox is complete.
    #[must_use]
    pub fn missing(&self) -> &[Protection] {
        &self.missing
    }

    /// The folder that children may write; they should find it in `TMPDIR`.
    #[must_use]
    pub fn temporary_folder(&self) -> &Path {
        &self.temporary.0
    }

    /// The thread that starts the children.
    #[cfg(target_os = "linux")]
    pub(crate) fn thread(&self) -> &imp::RestrictedThread {
        &self.thread
    }
}

/// A folder that its owner alone can use, and that is removed with this value.
#[derive(Debug)]
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn create(parent: &Path) -> Result<Self, SandboxError> {
        let failed = |source| SandboxError::TemporaryFolder { folder: parent.to_owned(), source };
        // The rules are about real paths.
        let path = parent.canonicalize().map_err(failed)?.join(format!("hookrail-{}", run_id()));
        private_folders().create(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed stays in the system's own temporary folder, which is cleared by the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
