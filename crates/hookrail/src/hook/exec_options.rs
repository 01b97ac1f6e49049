//! How a command hook is executed: faster ways that its own entry may ask for. None is taken unless the entry asks for it.
//!
//! Nothing here knows how a process is started, or how a dialect spells these options.

use std::num::NonZeroU8;

use crate::text::names::named;

/// What a hook's entry asked for. The default is what every other hook gets: a shell, a pipe, and a process for each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecOptions {
    /// Whether its command line is given to a shell in every case.
    pub shell: ShellUse,
    /// What its standard input is.
    pub stdin: StdinKind,
    /// How long its process lives.
    pub lifetime: ProcessLifetime,
}

impl ExecOptions {
    /// The options of a hook that was configured twice: what only one of the two entries asked for is not taken.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self {
            shell: if self.shell == other.shell { self.shell } else { ShellUse::Always },
            stdin: if self.stdin == other.stdin { self.stdin } else { StdinKind::Pipe },
            lifetime: match (self.lifetime, other.lifetime) {
                (ProcessLifetime::Prewarmed(one), ProcessLifetime::Prewarmed(two)) => {
                    ProcessLifetime::Prewarmed(one.min(two))
                }
                (one, two) if one == two => one,
                _ => ProcessLifetime::Once,
            },
        }
    }

    /// The options that differ from the default, as key and value in the words of a configuration.
    pub fn non_default(&self) -> impl Iterator<Item = (&'static str, String)> {
        let shell = (self.shell != ShellUse::default()).then(|| ("shell", self.shell.name().to_owned()));
        let stdin = (self.stdin != StdinKind::default()).then(|| ("stdin", self.stdin.name().to_owned()));
        let lifetime = match self.lifetime {
            ProcessLifetime::Once => None,
            ProcessLifetime::Worker => Some(("mode", "worker".to_owned())),
            ProcessLifetime::Prewarmed(count) => Some(("prewarm", count.to_string())),
        };
        [shell, stdin, lifetime].into_iter().flatten()
    }
}

named! {
    /// Whether a command line is given to a shell.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ShellUse {
        /// The command line is given to a shell in every case.
        #[default]
        Always = "always",
        /// The program is started directly if neither the hook nor the user can tell the difference.
        Auto = "auto",
    }
}

named! {
    /// What a hook's standard input is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum StdinKind {
        /// A pipe, whatever the size.
        #[default]
        Pipe = "pipe",
        /// A file that all hooks of the event share, where the system has such files; else a pipe.
        File = "file",
    }
}

/// The kind of shell that the command lines of a dialect are written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommandShell {
    /// The shell that the user chose, else `bash` where there is one, else `/bin/sh`.
    #[default]
    Bash,
    /// `/bin/sh`, whatever that is.
    Posix,
}

/// How long the process of a hook lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessLifetime {
    /// It is started for one event and ends with it.
    #[default]
    Once,
    /// It stays, and is asked about one event after the other.
    Worker,
    /// As many as this are started before their event, and each ends with one.
    Prewarmed(NonZeroU8),
}

impl ProcessLifetime {
    /// The largest number of processes that may be started before their event.
    pub const MOST_PREWARMED: u8 = 8;

    /// The name of this lifetime, as it is part of a fingerprint.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Worker => "worker",
            Self::Prewarmed(_) => "prewarmed",
        }
    }
}
