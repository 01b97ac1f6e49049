//! How a command hook is executed: how long its process lives, and which kind of shell its command line is written for.
//!
//! Nothing here knows how a process is started, or how a dialect spells these options.

use crate::text::names::named;

/// The kind of shell that the command lines of a dialect are written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommandShell {
    /// The shell that the user chose, else `bash` where there is one, else `/bin/sh`.
    #[default]
    Bash,
    /// `/bin/sh`, whatever that is.
    Posix,
}

impl CommandShell {
    /// The name in what a grant covers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Posix => "sh",
        }
    }
}

named! {
    /// How long the process of a hook lives.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ProcessLifetime {
        /// It is started for one event and ends with it.
        #[default]
        Once = "once",
        /// It stays, and is asked about one event after the other.
        Worker = "worker",
    }
}

impl ProcessLifetime {
    /// The lifetime of a hook that was configured twice: a worker only if both entries ask for one.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        if self == other { self } else { Self::Once }
    }

    /// The key and the value that ask for this in a configuration; none for the default.
    #[must_use]
    pub fn configured(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Once => None,
            Self::Worker => Some(("mode", self.name())),
        }
    }
}
